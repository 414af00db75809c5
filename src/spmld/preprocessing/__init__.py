"""Preprocessing of tables: from columns of numbers, categories, dates and text to features."""

from spmld.preprocessing.table_encoder import TableEncoder

__all__ = ["TableEncoder"]
