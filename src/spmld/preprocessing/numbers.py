"""Numbers in columns of text: decimal and thousands separators, units, bounds, and yes/no."""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spmld.labels.words import MISSING_WORDS, NEGATIVE_WORDS, POSITIVE_WORDS, clean_spelling, fold_spelling

MISSING = MISSING_WORDS | {
    *("-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "n.a.", "n/d", "nd", "nil"),
    *("missing", "unknown", "not available", "unbekannt", "fehlt", "keine angabe", "k.a.", "inconnu", "desconocido"),
    *("desconhecido", "sconosciuto", "onbekend", "okänd", "ukendt", "nieznane", "neznámé"),
    *("неизвестно", "不明", "未知"),
}
"""Words for missing values in columns of numbers and dates."""
_LONGEST = max(map(len, MISSING))
NESTED = (list, tuple, dict, set, np.ndarray)
_CURRENCIES = "$€£¥₹₽₩₺₴₦₫₪฿₱₿¢"
_NUMBER = re.compile(
    rf"(?P<bound>[<>≤≥~≈]=?)? ?(?P<sign>[+-])? ?(?P<before>[{_CURRENCIES}]|[A-Z]{{3}} )? ?(?P<inner>[+-])?"
    r"(?P<body>\d+(?:[ '’.,]\d+)*[.,]?|[.,]\d+)(?P<exponent>[eE][+-]?\d+)? ?(?P<after>[^\s\d_.,;:/+<>='’()-].*)?",  # noqa: RUF001
)
_GROUPED = {sign: re.compile(rf"\d{{1,3}}(?:{re.escape(sign)}\d{{3}})+") for sign in ".,' "}


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
    >>> from spmld.preprocessing.numbers import parse_number
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
    text = unicodedata.normalize("NFKC", clean_spelling(value)).replace("\u2212", "-")
    match = _NUMBER.fullmatch(text)
    if match is None or (match["sign"] and match["inner"]):
        return None
    body = match["body"].replace("’", "'")  # noqa: RUF001
    decimal, *digits = _read_body(body)
    if decimal is None:
        return None
    sign, exponent = match["sign"] or match["inner"] or "", match["exponent"] or ""
    units = [unit.strip() for unit in (match["before"], match["after"]) if unit]
    if len(units) > 1:
        return None
    grouped = any(separator in body for separator in " '") or (decimal != "?" and len(re.findall("[.,]", body)) > 1)
    point, comma = (float(sign + text + exponent) for text in digits)
    return ParsedNumber(point, comma, decimal, units[0] if units else "", match["bound"] is not None, grouped)


def _read_body(body: str) -> tuple[str | None, str, str]:
    """Return the decimal separator and the digits with a decimal point, for both decimal separators."""
    for group in " '":
        if group in body:  # what remains is a decimal separator
            whole, *rest = re.split("[.,]", body)
            if len(rest) > 1 or not _GROUPED[group].fullmatch(whole):
                return None, "", ""
            digits = ".".join([whole.replace(group, ""), *rest])
            return (body[len(whole)] if rest else ""), digits, digits
    present = [sign for sign in ".," if sign in body]
    if not present:
        return "", body, body
    last = max(present, key=body.rfind)
    other = "," if last == "." else "."
    whole, _, fraction = body.rpartition(last)
    if last in whole:  # 1,234,567
        valid = other not in body and _GROUPED[last].fullmatch(body)
        digits = body.replace(last, "")
        return (other, digits, digits) if valid else (None, "", "")
    if other in whole:  # 1.234,5
        valid = _GROUPED[other].fullmatch(whole)
        digits = f"{whole.replace(other, '')}.{fraction}"
        return (last, digits, digits) if valid else (None, "", "")
    as_decimal = f"{whole}.{fraction}"
    if len(fraction) != 3 or not 1 <= len(whole) <= 3 or whole.startswith("0"):
        return last, as_decimal, as_decimal
    point, comma = (as_decimal if last == sign else whole + fraction for sign in ".,")
    return "?", point, comma


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
    >>> from spmld.preprocessing.numbers import NumberTexts
    >>> texts = NumberTexts(pd.Series(["1.052,5 €", "980 €", "1.200 €", "unknown", "on request"]))
    >>> texts.format
    NumberFormat(decimal=',', unit='€', words=False)
    >>> texts.values(texts.format).tolist()
    [1052.5, 980.0, 1200.0, nan, nan]
    """

    def __init__(self, column: Any, decimal: str | None = None) -> None:
        objects = column.astype(object)
        self.objects = objects.map(lambda value: str(value) if isinstance(value, NESTED) else value)
        self.counts = self.objects.value_counts(sort=False)
        parsed = {value: parse_number(value) for value in self.counts.index}
        self.parsed = {value: number for value, number in parsed.items() if number is not None}
        self.distinct, self.decimal, numbers = list(parsed), decimal, list(self.parsed.values())
        n_shown = [sum(number.decimal == sign for number in numbers) for sign in ".,"]
        self.shown = "" if not any(n_shown) else "." if n_shown[0] >= n_shown[1] else ","
        unclear = [number for number in numbers if number.decimal == "?"]
        self.is_clear = not unclear or decimal is not None or sum(map(bool, n_shown)) == 1
        plausible = decimal or self.shown or _plausible_decimal(numbers, unclear)
        self.format = NumberFormat(plausible, self._find_unit(), self._are_words())

    def _are_words(self) -> bool:
        words = {fold_spelling(str(value)) for value in self.distinct if not is_missing_word(value)}
        return bool(words) and words <= POSITIVE_WORDS | NEGATIVE_WORDS and not words <= {"0", "1"}

    def _find_unit(self) -> str:
        """Return the most frequent unit."""
        units: Counter[str] = Counter()
        for value, number in self.parsed.items():
            if number.unit:
                units[number.unit] += int(self.counts[value])
        return units.most_common(1)[0][0] if units else ""

    def values(self, form: NumberFormat) -> Any:
        """Return the numbers in a format as a Series, NaN where a value is missing or not a number.

        The decimal separator that the values themselves show takes precedence over that of the format, which may be
        known from other data.
        """
        decimal = self.decimal or self.shown or form.decimal
        numbers = {value: self._read(value, replace(form, decimal=decimal)) for value in self.distinct}
        return self.objects.map(numbers).astype(float)

    def _read(self, value: Any, form: NumberFormat) -> float:
        if form.words and isinstance(value, str):
            word = fold_spelling(value)
            return 1.0 if word in POSITIVE_WORDS else 0.0 if word in NEGATIVE_WORDS else np.nan
        number = self.parsed.get(value)
        if number is None or number.unit not in ("", form.unit):
            return np.nan
        result = number.point if form.decimal == "." else number.comma
        return result if np.isfinite(result) else np.nan

    def select(self, test: Any) -> list[Any]:
        """Return the values whose `ParsedNumber` passes a test."""
        return [value for value, number in self.parsed.items() if test(number)]

    def count(self, values: list[Any]) -> int:
        """Return how often values occur."""
        return int(self.counts[values].sum())


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
