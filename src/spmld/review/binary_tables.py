"""Tables in binary files whose fields can be changed: sheets of Excel files, and Parquet files."""

import io
from typing import Any

from spmld._io import need
from spmld.labels.words import to_number
from spmld.review.text_tables import EditableTable, column_names


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
        rows = enumerate(worksheet.iter_rows(values_only=True), start=1)
        filled = {number: list(row) for number, row in rows if any(value not in (None, "") for value in row)}
        book.close()
        if not filled:
            raise ValueError("the sheet has no header")
        (_, header), *samples = filled.items()
        self.columns, self._sheet = column_names(header), worksheet.title
        self._changes: dict[tuple[int, int], Any] = {}  # by number of the row and of the column in the sheet
        self._numbers = [number for number, _ in samples]
        self._rows = [row + [None] * (len(self.columns) - len(row)) for _, row in samples]

    def __len__(self) -> int:
        return len(self._rows)

    def values(self, row: int) -> list[Any]:
        """Return the values of a row, None for empty cells."""
        return self._rows[row]

    def set(self, row: int, column: str, value: Any) -> None:
        """Replace the value of a cell."""
        place = self.columns.index(column)
        self._rows[row][place] = self._changes[self._numbers[row], place + 1] = value

    def content(self) -> bytes:
        """Return the content of the file, or raise ValueError if a value would replace a formula."""
        load, macros = need("openpyxl", "files").load_workbook, b"vbaProject.bin" in self._content
        book, buffer = load(io.BytesIO(self._content), keep_vba=macros, rich_text=True), io.BytesIO()
        for (number, place), value in self._changes.items():
            cell = book[self._sheet].cell(number, place)
            if cell.data_type == "f":
                raise ValueError(
                    f"cell {cell.coordinate} has a formula, which a new label would replace; save a copy with values "
                    "only"
                )
            cell.value = value
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
    See `spmld.review.text_tables.CsvTable`.
    """

    def __init__(self, content: bytes):
        self._table = need("pyarrow.parquet").read_table(io.BytesIO(content))
        self.columns = [name.strip() for name in self._table.column_names]
        self._values = [[None if v != v else v for v in column.to_pylist()] for column in self._table.columns]
        self._changed: set[int] = set()

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def values(self, row: int) -> list[Any]:
        """Return the values of a row, None where missing."""
        return [values[row] for values in self._values]

    def set(self, row: int, column: str, value: Any) -> None:
        """Replace a value by another one, in the type of its column."""
        place = self.columns.index(column)
        kind, types = self._table.schema.types[place], need("pyarrow").types
        if types.is_boolean(kind):
            value = bool(to_number(value))
        elif types.is_integer(kind) or types.is_floating(kind):
            value = to_number(value)
        self._values[place][row] = value
        self._changed.add(place)

    def content(self) -> bytes:
        """Return the content of the file."""
        table, buffer = self._table, io.BytesIO()
        for place in self._changed:
            field = table.schema.field(place)
            table = table.set_column(place, field, need("pyarrow").array(self._values[place], type=field.type))
        need("pyarrow.parquet").write_table(table.replace_schema_metadata(self._table.schema.metadata), buffer)
        return buffer.getvalue()
