"""Tables: reading CSV and Excel files, the roles of columns, and from columns to features."""

from spmld.tables.errors import TableError, TableWarning
from spmld.tables.reading import read_table
from spmld.tables.roles import TableRoles
from spmld.tables.table_encoder import TableEncoder

__all__ = ["TableEncoder", "TableError", "TableRoles", "TableWarning", "read_table"]
