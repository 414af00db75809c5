"""Excel files: one of their sheets, and notes about cells whose values the file does not have."""

import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spmld._io import need
from spmld._validation import did_you_mean, list_names, plural
from spmld.tables.csv_files import warn_of_repeated
from spmld.tables.problems import TableProblem, TableWarning


def read_excel(file: Path, n_rows: int | None, *, sheet: str | None = None) -> Iterator[Any]:
    """Yield a sheet of an Excel file as a DataFrame, by default the first one."""
    need("openpyxl")
    pandas = need("pandas")
    with pandas.ExcelFile(file, engine="openpyxl") as book:
        names = [str(name) for name in book.sheet_names]
        if sheet is not None and sheet not in names:
            hint = did_you_mean(sheet, names) or f"; the sheets are {', '.join(names)}"
            raise ValueError(f"sheet {sheet!r} does not exist{hint}")
        if sheet is None and len(names) > 1:
            text = f"sheet {names[0]!r} is used; the other sheets are {', '.join(map(repr, names[1:]))}"
            warnings.warn(TableWarning(TableProblem(text, (("sheet", names[1]),))), stacklevel=2)
        sheet = names[0] if sheet is None else sheet
        head = pandas.read_excel(book, sheet_name=sheet, header=None, nrows=1)
        if len(head) == 0:
            raise ValueError(f"sheet {sheet!r} is empty")
        warn_of_repeated("" if name != name else str(name) for name in head.iloc[0])
        for text in _absent_values(book.book[sheet]):
            warnings.warn(TableWarning(TableProblem(text)), stacklevel=2)
        yield pandas.read_excel(book, sheet_name=sheet, dtype=object).infer_objects()  # text such as 007 is no number


def _absent_values(sheet: Any) -> list[str]:
    """Return notes about formulas without values, errors and merged cells, which pandas reads as missing."""
    formulas: list[str] = []
    errors: list[str] = []
    merged: list[str] = []
    with sheet._get_source() as source:  # openpyxl returns either the formulas or their values, not both
        for _, element in ET.iterparse(source):  # nosec B314
            kind = element.tag.rpartition("}")[2]
            place = element.get("r", "a cell")
            if kind == "mergeCell":
                merged.append(element.get("ref", ""))
            if kind == "c":
                formula = element.find("{*}f")
                value = element.findtext("{*}v")
                content = element.get("t")
                if content == "e" and value != "#N/A":
                    errors.append(f"{place} ({value})")
                if formula is not None and not value and content != "str":  # "str" is the empty text
                    formulas.append(f"{place} (={(formula.text or '...')[:80]})")
            if kind in ("c", "row"):
                element.clear()
    of_sheet = f"of sheet {sheet.title!r}"
    notes = []
    if formulas:
        text = f"{_missing_cells(formulas, 'formula', of_sheet)}, since the file does not store their values"
        notes.append(f"{text}; open it in a spreadsheet program and save it")
    if errors:
        notes.append(_missing_cells(errors, "error", of_sheet))
    if merged:
        text = f"all but the first of the merged cells {list_names(merged)} {of_sheet} are treated as missing"
        notes.append(f"{text}; unmerge them and fill in their values")
    return notes


def _missing_cells(cells: list[str], kind: str, of_sheet: str) -> str:
    verb = "is" if len(cells) == 1 else "are"
    return f"{plural(len(cells), kind)} {of_sheet} {verb} treated as missing, such as {cells[0]}"
