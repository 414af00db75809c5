"""Tables: reading CSV and Excel files, the roles of columns, and from columns to features."""

from spmld.tables.errors import TableError, TableWarning
from spmld.tables.reading import read_table
from spmld.tables.roles import TableRoles
from spmld.tables.table_encoder import TableEncoder
from spmld.tables.text_embedder import TextEmbedder

__all__ = ["TableEncoder", "TableError", "TableRoles", "TableWarning", "TextEmbedder", "read_table"]
