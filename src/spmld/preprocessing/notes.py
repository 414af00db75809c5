"""What was guessed about the columns of a table: a description of each column, and notes with the options to decide."""

import re
from typing import Any

from spmld.preprocessing.columns import IGNORED_KINDS, find_unreadable, is_typed, to_numbers, without_missing_words
from spmld.preprocessing.dates import is_ambiguous, to_dates
from spmld.preprocessing.numbers import NumberFormat, NumberTexts
from spmld.preprocessing.problems import TableProblem
from spmld.preprocessing.table_encoder import TableEncoder

_DATE_PARTS = {"%d": "day", "%m": "month", "%b": "month", "%B": "month", "%Y": "year", "%y": "year"}


def describe_columns(kinds: dict[str, str], encoder: TableEncoder | None = None) -> dict[str, str]:
    """Return the kind of each column, and how its values are read.

    Parameters
    ----------
    kinds : dict
        Kinds of the columns.
    encoder : TableEncoder, optional
        The fitted encoder of the table; None if its numbers are unchanged.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing import TableEncoder
    >>> from spmld.preprocessing.notes import describe_columns
    >>> songs = pd.DataFrame({"price": ["1,50 €", "2 €"], "released": ["31.1.2024", "1.2.2024"], "song_id": ["a", "b"]})
    >>> encoder = TableEncoder().fit(songs)
    >>> describe_columns(encoder.kinds_, encoder)
    {'price': 'number (decimal comma, unit €)', 'released': 'date (day.month.year)', 'song_id': 'identifier (not used)'}
    """
    result = {}
    for name, kind in kinds.items():
        details: list[str] = []
        if kind in (*IGNORED_KINDS, "dropped"):
            details = ["not used"]
        elif kind == "number" and encoder is not None and name in encoder.number_formats_:
            form = encoder.number_formats_[name]
            details = ["yes/no"] if form.words else ["decimal comma"] * (form.decimal == ",")
            details += [f"unit {form.unit}"] if form.unit else []
        elif kind == "date" and encoder is not None:
            details = [_describe_format(form) for form in encoder.date_formats_[name][0]]
        result[name] = f"{kind} ({', '.join(details)})" if details else kind
    return result


def _describe_format(form: str) -> str:
    for sign, word in _DATE_PARTS.items():
        form = form.replace(sign, word)
    return re.sub("%H:%M(:%S)?", "time", form).replace("ISO8601", "ISO 8601")


def column_notes(column: Any, encoder: TableEncoder) -> list[TableProblem]:
    """Return notes about guesses and about values of a column that cannot be read.

    Parameters
    ----------
    column : Series
        Column of the table that the encoder was fitted on.
    encoder : TableEncoder
        Fitted encoder.
    """
    name = str(column.name)
    kind = encoder.kinds_[name]
    if kind == "date":
        return _date_notes(column, name, encoder)
    if kind == "number":
        return _number_notes(column, name, encoder)
    return _unit_notes(column, name) if kind in ("category", "identifier") and name not in encoder.category else []


def _number_notes(column: Any, name: str, encoder: TableEncoder) -> list[TableProblem]:
    form = encoder.number_formats_.get(name, NumberFormat())
    notes: list[TableProblem] = []
    if not is_typed(column):
        texts = NumberTexts(column, encoder.decimal)
        notes += [*_separator_notes(texts, name), *_form_notes(texts, name), *_missing_notes(column, name, "number")]
    unreadable = find_unreadable(column, to_numbers(column, form, decimal=encoder.decimal), "number")
    return notes + [values.problem(("category", name)) for values in unreadable]


def _separator_notes(texts: NumberTexts, name: str) -> list[TableProblem]:
    """Return a note if a separator may be that of decimals or of thousands, or if thousands are separated."""
    unclear = texts.select(lambda number: number.decimal == "?")
    point, other = texts.format.decimal == ".", "," if texts.format.decimal == "." else "."
    if not texts.is_clear:
        number = texts.parsed[unclear[0]]
        read, could = (number.point, number.comma) if point else (number.comma, number.point)
        text = f"values of column {name!r} such as {unclear[0]!r} are read as {read:g}, but could also be {could:g}"
        return [TableProblem(text, (("decimal", other),))]
    grouped = texts.select(lambda number: number.grouped) or [
        value for value in unclear if abs(_value(texts, value)) >= 1000
    ]
    if not grouped:
        return []
    example = f"{grouped[0]!r} is read as {_value(texts, grouped[0]):.10g}"
    return [TableProblem(f"column {name!r} has thousands separators: {example}", (("category", name),))]


def _form_notes(texts: NumberTexts, name: str) -> list[TableProblem]:
    """Return notes about units and bounds."""
    notes, unit = [], texts.format.unit
    with_unit = texts.select(lambda number: unit and number.unit == unit)
    if with_unit:
        example = f"{with_unit[0]!r} is read as {_value(texts, with_unit[0]):.10g}"
        n_without = texts.count(texts.select(lambda number: not number.unit))
        without = f", and {n_without} values have no unit" if n_without else ""
        notes.append(TableProblem(f"column {name!r} has the unit {unit!r}: {example}{without}", (("category", name),)))
    bounds = texts.select(lambda number: number.bound)
    if bounds:
        text = f"{texts.count(bounds)} values of column {name!r} are bounds, such as {bounds[0]!r}, which is read as"
        notes.append(TableProblem(f"{text} {_value(texts, bounds[0]):.10g}", (("category", name),)))
    return notes


def _value(texts: NumberTexts, value: Any) -> float:
    number = texts.parsed[value]
    return number.point if texts.format.decimal == "." else number.comma


def _missing_notes(column: Any, name: str, kind: str) -> list[TableProblem]:
    """Return a note about words for missing values."""
    values = column.dropna()
    words = values[~values.isin(without_missing_words(values).unique())]
    words = words[words.astype(str).str.strip() != ""]
    if len(words) == 0:
        return []
    text = f"{len(words)} values of the {kind} column {name!r}, such as {str(words.iloc[0])!r}, are treated as missing"
    return [TableProblem(text, (("category", name),))]


def _unit_notes(column: Any, name: str) -> list[TableProblem]:
    """Return a note if all values are numbers, with several units."""
    texts = NumberTexts(without_missing_words(column.dropna()))
    numbers = texts.select(lambda number: True)
    examples = {texts.parsed[value].unit: value for value in reversed(numbers)}
    if len(numbers) < len(texts.distinct) or len(examples) < 2:
        return []
    first, second = list(examples.values())[-1], list(examples.values())[-2]
    text = (
        f"values of column {name!r} have several units, such as {first!r} and {second!r}, and are not read as numbers"
    )
    return [TableProblem(text, (("number", name),))]


def _date_notes(column: Any, name: str, encoder: TableEncoder) -> list[TableProblem]:
    forms, _ = encoder.date_formats_[name]
    values, notes = column.dropna(), []
    if len(forms) > 1:
        text = f"dates of column {name!r} have {len(forms)} formats: {', '.join(map(_describe_format, forms))}"
        notes.append(TableProblem(text, (("category", name),)))
    for form in [] if encoder.day_first else forms:
        if is_ambiguous(values, form):
            example = str(values[to_dates(values, [form]).notna().to_numpy()].iloc[0])
            text = f"dates of column {name!r}, such as {example!r}, are read as {_describe_format(form)}"
            notes.append(TableProblem(text, (("day_first", "True"),)))
    if not is_typed(column) and column.dtype.kind != "M":
        notes += _missing_notes(column, name, "date")
    unreadable = find_unreadable(column, to_dates(column, forms), "date")
    return notes + [values.problem(("category", name)) for values in unreadable]
