"""Tables in binary files whose fields can be changed: sheets of Excel files, and Parquet files."""

import io
from typing import Any

from spmld._io import need
from spmld.app.review.text_tables import EditableTable, read_rows
from spmld.labels.words import to_number


class ExcelTable(EditableTable):
    """One sheet of an Excel file. Other cells, formats, formulas and sheets stay the same.

    Parameters
    ----------
    content : bytes
        Content of the file.
    sheet : str, optional
        Name of the sheet. By default, the first.

    Examples
    --------
    See `CsvTable`.
    """

    def __init__(self, content: bytes, sheet: str | None = None):
        self._content = content
        book = need("openpyxl", "files").load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        worksheet = book.worksheets[0] if sheet is None else book[sheet]
        worksheet.reset_dimensions()
        columns, rows, self._lines = read_rows(worksheet.iter_rows(values_only=True))
        book.close()
        super().__init__(columns, rows)
        self._sheet = worksheet.title

    def content(self) -> bytes:
        """Return the content of the file, or raise ValueError if a value would replace a formula."""
        load = need("openpyxl", "files").load_workbook
        macros = b"vbaProject.bin" in self._content
        book = load(io.BytesIO(self._content), keep_vba=macros, rich_text=True)
        buffer = io.BytesIO()
        for (row, place), value in self._changes.items():
            cell = book[self._sheet].cell(self._lines[row] + 1, place + 1)
            if cell.data_type == "f":
                raise ValueError(
                    f"cell {cell.coordinate} has a formula, which a new label would replace; save a copy with values "
                    "only"
                )
            cell.value = value
            if isinstance(value, str):
                cell.data_type = "s"  # a tag such as =1+1 is no formula
        book.save(buffer)
        return buffer.getvalue()


class ParquetTable(EditableTable):
    """A Parquet file. Columns without changes keep their types and values.

    Parameters
    ----------
    content : bytes
        Content of the file.

    Examples
    --------
    See `spmld.app.review.text_tables.CsvTable`.
    """

    def __init__(self, content: bytes):
        self._table = need("pyarrow.parquet").read_table(io.BytesIO(content))
        values = zip(*(column.to_pylist() for column in self._table.columns), strict=True)
        rows = [[None if value != value else value for value in row] for row in values]
        super().__init__([name.strip() for name in self._table.column_names], rows)

    def set(self, row: int, column: str, value: Any) -> None:
        """Replace a value by another one, in the type of its column."""
        place = self.columns.index(column)
        kind = self._table.schema.types[place]
        types = need("pyarrow").types
        if types.is_boolean(kind):
            value = bool(to_number(value))
        elif types.is_integer(kind) or types.is_floating(kind):
            value = to_number(value)
        super().set(row, column, value)

    def content(self) -> bytes:
        """Return the content of the file."""
        table = self._table
        buffer = io.BytesIO()
        for place in {place for _, place in self._changes}:
            field = table.schema.field(place)
            values = [row[place] for row in self._rows]
            table = table.set_column(place, field, need("pyarrow").array(values, type=field.type))
        need("pyarrow.parquet").write_table(table.replace_schema_metadata(self._table.schema.metadata), buffer)
        return buffer.getvalue()
