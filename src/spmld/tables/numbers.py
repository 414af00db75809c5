"""Numbers in columns of text: decimal and thousands separators, units, bounds, and yes/no."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spmld._frames import Series
from spmld.labels.words import MISSING_WORDS, NEGATIVE_WORDS, POSITIVE_WORDS, clean_spelling, fold_spelling
from spmld.tables.errors import TableProblem

MISSING = MISSING_WORDS | {
    *("-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "n.a.", "n/d", "nd", "nil"),
    *("missing", "unknown", "not available", "unbekannt", "fehlt", "keine angabe", "k.a.", "inconnu", "desconocido"),
    *("desconhecido", "sconosciuto", "onbekend", "okänd", "ukendt", "nieznane", "neznámé"),
    *("неизвестно", "不明", "未知"),
}
"""Words for missing values in columns of numbers and dates."""
MAX_EXACT = 2**53
"""Integers below it are exact as floats."""
MAX_UNIT = 30
"""Maximum number of characters of a unit; longer ones are text beside a number."""
_LONGEST = max(map(len, MISSING))
NESTED = (list, tuple, dict, set, np.ndarray)
_CURRENCIES = "$€£¥₹₽₩₺₴₦₫₪฿₱₿¢"
_NUMBER = re.compile(
    rf"(?P<bound>[<>≤≥~≈]=?)? ?(?P<sign>[+-])? ?(?P<before>[{_CURRENCIES}]|[A-Z]{{3}} )? ?(?P<inner>[+-])?"
    r"(?P<whole>\d{1,3}(?P<group>[ '.,])\d{3}(?:(?P=group)\d{3})*|\d*)(?:(?P<decimal>[.,])(?P<fraction>\d*))?"
    r"(?P<exponent>[eE][+-]?\d+)? ?(?P<after>[^\s\d_.,;:/+<>='()-].*)?"
)


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : {".", ","}
        Decimal separator of the values that could be read with either, such as 1,234.
    unit : str
        Unit before or after the numbers.
    words : bool
        Whether the values are yes and no.

    Examples
    --------
    See `NumberTexts`.
    """

    decimal: str = "."
    unit: str = ""
    words: bool = False


@dataclass(frozen=True)
class ParsedNumber:
    """A text as number: its value with a decimal point and with a decimal comma, and how it is written.

    `decimal` is the decimal separator that the text shows, "" if it has no separator, and "?" if its separator may be
    the decimal or the thousands separator.
    """

    point: float
    comma: float
    decimal: str = ""
    unit: str = ""
    bound: bool = False
    grouped: bool = False


def parse_number(value: Any) -> ParsedNumber | None:
    """Return a value as number; None if it is not one.

    Examples
    --------
    >>> from spmld.tables.numbers import parse_number
    >>> parse_number("1.424,5 €")
    ParsedNumber(point=1424.5, comma=1424.5, decimal=',', unit='€', bound=False, grouped=True)
    >>> parse_number("1,234").decimal, parse_number("1.2.3")
    ('?', None)
    """
    if not isinstance(value, str):
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return ParsedNumber(number, number)
    text = unicodedata.normalize("NFKC", clean_spelling(value)).replace("\u2212", "-").replace("’", "'")  # noqa: RUF001
    match = _NUMBER.fullmatch(text)
    if match is None or not (match["whole"] or match["fraction"]):
        return None
    whole = match["whole"]
    group = match["group"]
    decimal = match["decimal"]
    units = [unit.strip() for unit in (match["before"], match["after"]) if unit]
    if (
        len(units) > 1
        or max(map(len, units), default=0) > MAX_UNIT
        or (match["sign"] and match["inner"])
        or (group and group == decimal)
    ):
        return None
    sign = match["sign"] or match["inner"] or ""
    exponent = match["exponent"] or ""
    digits = whole.replace(group, "") if group else whole
    point = comma = float(f"{sign}{digits}.{match['fraction'] or ''}{exponent}")
    shown = decimal or {".": ",", ",": "."}.get(group or "", "")
    grouped = group is not None
    if group in (".", ",") and not decimal and whole.count(group) == 1:  # three digits after the only separator
        as_decimal = float(f"{sign}{whole.replace(group, '.')}{exponent}")
        shown = "?"
        grouped = False
        if whole.startswith("0"):
            point = as_decimal
            comma = as_decimal
            shown = group
        else:
            point, comma = (as_decimal, comma) if group == "." else (point, as_decimal)
    return ParsedNumber(point, comma, shown, units[0] if units else "", match["bound"] is not None, grouped)


class NumberTexts:
    """The values of a column of text that are numbers.

    Parameters
    ----------
    column : Series
        Column with text, which may also contain numbers and missing values.
    decimal : {".", ","}, optional
        Decimal separator of values such as 1,234. By default, it is decided by the other values.

    Attributes
    ----------
    format : NumberFormat
        How the numbers are written.
    shown : {".", ",", ""}
        Decimal separator that most of the numbers show, such as 1,5 and 1,052.00 do.
    is_clear : bool
        Whether values such as 1,234 are read by a decimal separator that was passed or that all others show.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.numbers import NumberTexts
    >>> texts = NumberTexts(pd.Series(["1.052,5 €", "980 €", "1.200 €", "unknown", "on request"]))
    >>> texts.format
    NumberFormat(decimal=',', unit='€', words=False)
    >>> texts.values(texts.format).tolist()
    [1052.5, 980.0, 1200.0, nan, nan]
    """

    def __init__(self, column: Any, decimal: str | None = None) -> None:
        objects = column.astype(object)
        self.objects = objects.map(lambda value: str(value) if isinstance(value, NESTED) else value)
        self.counts: dict[Any, int] = self.objects.value_counts(sort=False).to_dict()
        parsed = {value: parse_number(value) for value in self.counts}
        self.parsed = {value: number for value, number in parsed.items() if number is not None}
        self.distinct = list(parsed)
        self.decimal = decimal
        numbers = list(self.parsed.values())
        n_shown = [sum(number.decimal == sign for number in numbers) for sign in ".,"]
        self.shown = "" if not any(n_shown) else "." if n_shown[0] >= n_shown[1] else ","
        unclear = [number for number in numbers if number.decimal == "?"]
        self.is_clear = not unclear or decimal is not None or sum(map(bool, n_shown)) == 1
        units: Counter[str] = Counter()
        for value, number in self.parsed.items():
            units[number.unit] += self.counts[value] if number.unit else 0
        words = {fold_spelling(str(value)) for value in self.distinct if not is_missing_word(value)}
        are_words = bool(words) and words <= POSITIVE_WORDS | NEGATIVE_WORDS and not words <= {"0", "1"}
        plausible = decimal or self.shown or _plausible_decimal(numbers, unclear)
        self.format = NumberFormat(plausible, max(units, key=lambda unit: units[unit], default=""), are_words)

    def values(self, form: NumberFormat) -> Series:
        """Return the numbers in a format as a Series, NaN where a value is missing or not a number.

        The decimal separator that the values themselves show takes precedence over that of the format, which may be
        known from other data.
        """
        form = replace(form, decimal=self.decimal or self.shown or form.decimal)
        return self.objects.map({value: self._read(value, form) for value in self.distinct}).astype(float)

    def _read(self, value: Any, form: NumberFormat) -> float:
        if form.words and isinstance(value, str):
            word = fold_spelling(value)
            return 1.0 if word in POSITIVE_WORDS else 0.0 if word in NEGATIVE_WORDS else np.nan
        number = self.parsed.get(value)
        if number is None or number.unit not in ("", form.unit):
            return np.nan
        result = number.point if form.decimal == "." else number.comma
        return result if np.isfinite(result) else np.nan

    def notes(self, name: str) -> list[TableProblem]:
        """Return notes about separators, units and bounds."""
        form = self.format
        notes = []
        category = (("category", name),)
        numbers = {value: (number, self._read(value, form)) for value, number in self.parsed.items()}
        unclear = [value for value, (number, _) in numbers.items() if number.decimal == "?"]
        thousands = [v for v, (number, x) in numbers.items() if number.grouped or (v in unclear and abs(x) >= 1000)]
        with_unit = [value for value, (number, _) in numbers.items() if form.unit and number.unit == form.unit]
        bounds = [value for value, (number, _) in numbers.items() if number.bound]
        if not self.is_clear:
            number, read = numbers[unclear[0]]
            could, other = (number.comma, ",") if form.decimal == "." else (number.point, ".")
            text = f"values of column {name!r} such as {unclear[0]!r} are read as {read:g}, but could also be {could:g}"
            notes.append(TableProblem(text, (("decimal", other),)))
        elif thousands:
            example = f"{thousands[0]!r} is read as {numbers[thousands[0]][1]:.10g}"
            notes.append(TableProblem(f"column {name!r} has thousands separators: {example}", category))
        if with_unit:
            example = f"{with_unit[0]!r} is read as {numbers[with_unit[0]][1]:.10g}"
            n_without = sum(self.counts[value] for value, (number, _) in numbers.items() if not number.unit)
            without = f", and {n_without} values have no unit" if n_without else ""
            notes.append(TableProblem(f"column {name!r} has the unit {form.unit!r}: {example}{without}", category))
        if bounds:
            example = f"{bounds[0]!r}, which is read as {numbers[bounds[0]][1]:.10g}"
            text = (
                f"{sum(self.counts[value] for value in bounds)} values of column {name!r} are bounds, such as {example}"
            )
            notes.append(TableProblem(text, category))
        return notes

    def unit_notes(self, name: str) -> list[TableProblem]:
        """Return a note if all values are numbers, with several units."""
        examples: dict[str, Any] = {}
        for value, number in self.parsed.items():
            examples.setdefault(number.unit, value)
        if len(self.parsed) < len(self.distinct) or len(examples) < 2:
            return []
        shown = " and ".join(map(repr, list(examples.values())[:2]))
        text = f"values of column {name!r} have several units, such as {shown}, and are not read as numbers"
        return [TableProblem(text, (("number", name),))]


def _plausible_decimal(numbers: list[ParsedNumber], unclear: list[ParsedNumber]) -> str:
    """Return the decimal separator for which the unclear numbers are closer to those without a separator, in ratio.

    Beside 800 and 900, 1,000 is a thousand; beside 1 and 2, 1.125 is close to one. Without others, it is a point.
    """
    plain = [abs(number.point) for number in numbers if not number.decimal and number.point]
    if not unclear or not plain:
        return "."
    ratios = [np.array([abs(getattr(number, name)) for number in unclear]) for name in ("point", "comma")]
    point, comma = (np.median(np.abs(np.log(ratio / np.median(plain)))) for ratio in ratios)
    return "." if point <= comma else ","


def is_missing_word(value: Any) -> bool:
    """Return whether a value of a column of numbers or dates is missing, or a word for it."""
    if not isinstance(value, str):
        return value is None
    text = value.strip()
    return len(text) <= _LONGEST and fold_spelling(text) in MISSING
