"""Kinds of the columns of a table, and their conversion to numbers, dates, categories and text."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import need
from spmld.preprocessing.numbers import NESTED, NumberFormat, NumberTexts, is_missing_word

IGNORED_KINDS = {
    "identifier": "looks like an identifier",
    "row number": "contains the numbers of the rows",
    "empty": "is empty",
    "constant": "has the same value in all samples",
    "nested": "contains lists or objects",
}
"""Kinds of columns that are not features, with the reasons."""
MIN_READABLE = 0.9
"""Fraction of the values, or of the distinct values, that must be numbers, dates, or those of an identifier."""
MIN_IDENTIFIERS = 20
"""Number of samples from which distinct values are evidence of an identifier."""
FIRST_VALUES = 1000
"""Number of values that are tested before all are."""
MIN_WORDS = 3
"""Mean number of words from which a column is text and not a category."""
_ID_NAME = re.compile(r"(?:^|[_\W])(?i:id|uuid|guid|key|index|nr|no|number|nummer)\W*$|[a-z](?:Id|ID)$|#\s*$")
_UNNAMED = re.compile(r"Unnamed: \d+(_level_\d+)?$")
DATE_FORMATS = (
    "ISO8601",
    *("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y"),
    *("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%y", "%d-%m-%Y"),
    *("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y.%m.%d"),
)
"""Formats of dates, which are tried in this order. Those with slashes and hyphens may have day and month swapped."""
_SWAPS = ("%m/%d", "%d/%m"), ("%d-%m", "%m-%d")


def column_kind(column: Any, *, decimal: str | None = None) -> str:
    """Return the kind of a column: number, category, date, text, or one of IGNORED_KINDS.

    Text is a number or a date if nine of ten values are; or if most values are, and nine of ten distinct values, so
    that a word such as "sold out" may be frequent. Words for missing values are ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import column_kind
    >>> columns = [1.5, None, 2.5], ["2024-01-31", "2024-02-29", None], ["red", "blue", "red"], ["3,5", "1,2 kg", "n/a"]
    >>> [column_kind(pd.Series(values)) for values in columns]
    ['number', 'date', 'category', 'number']
    """
    if is_typed(column):
        return _number_kind(to_numbers(column).to_numpy(), str(column.name))
    values = column.dropna()
    if len(values) == 0:
        return "empty"
    if getattr(column.dtype, "kind", "O") == "M":
        return "date"
    if is_nested(values):
        return "nested"
    observed = without_missing_words(values)
    if len(observed) == 0:
        return "empty"
    if _are_numbers(observed[:FIRST_VALUES], decimal) and _are_numbers(observed, decimal):
        return _number_kind(to_numbers(column, decimal=decimal).to_numpy(), str(column.name))
    if _is_most(to_dates(observed, date_formats(observed)).notna(), observed):
        return "date"
    return _text_kind(values.astype(str), str(column.name), len(column))


def _are_numbers(values: Any, decimal: str | None) -> bool:
    texts = NumberTexts(values, decimal)
    return _is_most(texts.values(texts.format).notna(), values)


def is_typed(column: Any) -> bool:
    """Return whether a column has numbers, truth values or durations, and not text."""
    return getattr(column.dtype, "kind", "O") in "biufm"


def is_nested(column: Any) -> bool:
    """Return whether a value of a column is a list or another container."""
    return column.dtype == object and any(isinstance(value, NESTED) for value in column)


def duplicated_rows(frame: Any) -> NDArray[np.bool_]:
    """Return which rows of a table are equal to an earlier one.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import duplicated_rows
    >>> duplicated_rows(pd.DataFrame({"tempo": [60, 80, 60], "tags": [["sad"], [], ["sad"]]}))
    array([False, False,  True])
    """
    dtypes = frame.dtypes
    numbers = [name for name, dtype in dtypes.items() if dtype in (float, int, bool)]
    others = [frame[name] for name, dtype in dtypes.items() if dtype not in (float, int, bool)]
    others = [column.astype(str) if is_nested(column) else column for column in others]
    # Rows of numbers are compared as bytes, since pandas takes seconds for thousands of columns.
    rows = np.ascontiguousarray(frame[numbers].to_numpy(dtype=float))
    columns = [*others, [row.tobytes() for row in rows]]
    return need("pandas").DataFrame(dict(enumerate(columns)), index=frame.index).duplicated().to_numpy()


def without_missing_words(values: Any) -> Any:
    """Return the values that are not missing, nor words for it such as "unknown"."""
    missing = {value: is_missing_word(value) for value in values.unique()}
    return values[~values.map(missing).to_numpy(dtype=bool)]


def _is_most(readable: Any, values: Any) -> bool:
    """Return whether nine of ten values, or most values and nine of ten distinct values, can be read."""
    fraction = readable.mean()
    distinct = readable[~values.duplicated().to_numpy()].mean()
    return bool(fraction >= MIN_READABLE or (fraction > 0.5 and distinct >= MIN_READABLE))


def _number_kind(numbers: NDArray[np.float64], name: str) -> str:
    """Return "number", or the kind of a column that is empty or has whole numbers that are all different."""
    n = len(numbers)
    missing = np.isnan(numbers)
    if missing.all():
        return "empty"
    if missing.any() or n < 2 or (numbers != np.round(numbers)).any() or len(np.unique(numbers)) < n:
        return "number"
    consecutive = numbers[0] in (0, 1) and bool((np.diff(numbers) == 1).all())
    if consecutive and (_UNNAMED.match(name) or n >= MIN_IDENTIFIERS):
        return "row number"
    return "identifier" if _has_id_name(name) else "number"


def _text_kind(texts: Any, name: str, n_samples: int) -> str:
    n_words, n_unique = texts.str.split().str.len().mean(), texts.nunique()
    distinct = n_unique > 1 and n_unique >= (MIN_READABLE if n_samples >= MIN_IDENTIFIERS else 1) * len(texts)
    if distinct and n_words < MIN_WORDS and (_has_id_name(name) or n_samples >= MIN_IDENTIFIERS):
        return "identifier"
    if n_unique == 1 and len(texts) == n_samples and n_samples > 1:
        return "constant"
    return "text" if n_words >= MIN_WORDS and n_unique > 0.1 * len(texts) else "category"


def _has_id_name(name: str) -> bool:
    return _ID_NAME.search(name) is not None


def to_numbers(column: Any, form: NumberFormat | None = None, *, decimal: str | None = None) -> Any:
    """Return a column as floats, NaN where it is missing, infinite or not a number.

    Text is read in a format of `spmld.preprocessing.numbers`, by default the one of the column itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import to_numbers
    >>> to_numbers(pd.Series(["3,5", "1e3", "1.200", "about 4", None])).tolist()
    [3.5, 1000.0, 1200.0, nan, nan]
    """
    pandas = need("pandas")
    if not is_typed(column):
        texts = NumberTexts(column, decimal)
        return texts.values(form or texts.format)
    if column.dtype.kind == "m":
        column = column / np.timedelta64(1, "s")
    plain = isinstance(column.dtype, np.dtype)
    numbers = column.to_numpy(dtype=float) if plain else column.to_numpy(dtype=float, na_value=np.nan)
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    return pandas.Series(numbers, index=column.index, name=column.name)


def to_texts(column: Any) -> Any:
    """Return a column as text; missing values are empty."""
    return column.astype(object).where(column.notna(), "").astype(str)


def to_categories(column: Any) -> Any:
    """Return a column as text without surrounding spaces; missing values are a category of their own, "missing".

    Whole numbers are written without decimals, since a column of them has decimals only if another value is missing.
    """
    texts = column.astype(object).where(column.notna(), "missing").astype(str).str.strip()
    return texts.str.removesuffix(".0") if is_typed(column) else texts


def date_formats(values: Any, *, day_first: bool = False) -> list[str]:
    """Return the formats of the dates in a column of text, none if there are no dates.

    If a date such as 03/04/2024 can be read with the month and with the day first, the order is the one that more
    values have; if equally many do, the month is first in dates with slashes, unless `day_first`.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import date_formats
    >>> date_formats(pd.Series(["01/02/2024", "03/04/2024"])), date_formats(pd.Series(["01/02/2024", "31/01/2024"]))
    (['%m/%d/%Y'], ['%d/%m/%Y'])
    """
    rest = values = values.drop_duplicates()
    if not values.astype(str).str.contains(r"\d").mean() > 0.5:
        return []
    if len(values) > FIRST_VALUES and not date_formats(values.iloc[:FIRST_VALUES], day_first=day_first):
        return []
    forms: list[str] = []
    for candidate in DATE_FORMATS:
        form = _order_day_and_month(values, candidate, day_first)
        matches = to_dates(rest, [form]).notna().to_numpy()
        forms += [form] if matches.any() else []
        rest = rest[~matches]
        if len(rest) == 0:
            break
    return forms


def _fraction_of_dates(values: Any, form: str) -> float:
    return float(to_dates(values, [form]).notna().mean())


def _swap(form: str) -> str:
    """Return a format with day and month in the other order; the same format if only one order is usual."""
    for first, second in _SWAPS:
        if first in form or second in form:
            return form.replace(first, second) if first in form else form.replace(second, first)
    return form


def _order_day_and_month(values: Any, form: str, day_first: bool) -> str:
    other = _swap(form)
    if other == form:
        return form
    matches, other_matches = _fraction_of_dates(values, form), _fraction_of_dates(values, other)
    preferred = day_first and other.startswith("%d")
    return other if other_matches > matches or (preferred and other_matches == matches) else form


def is_ambiguous(values: Any, form: str) -> bool:
    """Return whether all dates of a format could have day and month in the other order.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import is_ambiguous
    >>> is_ambiguous(pd.Series(["01/02/2024"]), "%m/%d/%Y"), is_ambiguous(pd.Series(["01/31/2024"]), "%m/%d/%Y")
    (True, False)
    """
    dates = to_dates(values, [form]).notna().to_numpy()
    return _swap(form) != form and bool(dates.any()) and _fraction_of_dates(values[dates], _swap(form)) == 1


def to_dates(column: Any, forms: Sequence[str]) -> Any:
    """Return a column as dates without time zone, NaT where it has none of the formats."""
    pandas = need("pandas")
    if getattr(column.dtype, "kind", "O") in "iuf":
        column = column.map("{:.0f}".format, na_action="ignore")  # such as 20240131
    dates = pandas.Series(pandas.NaT, index=column.index, dtype="datetime64[us, UTC]")
    for form in forms:
        dates = dates.fillna(pandas.to_datetime(column[dates.isna()], format=form, errors="coerce", utc=True))
    return dates.dt.tz_localize(None)


def date_parts(dates: Any, name: str, *, hours: bool) -> dict[str, NDArray[np.float64]]:
    """Return numbers for dates: days, and sine and cosine of the day of the year, of the week, and of the time of day.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import date_parts
    >>> sorted(date_parts(pd.Series(pd.to_datetime(["2024-01-31"])), "date", hours=False))
    ['date_day', 'date_weekday_cos', 'date_weekday_sin', 'date_year_cos', 'date_year_sin']
    """
    days = (dates - need("pandas").Timestamp(1970, 1, 1)) / np.timedelta64(1, "D")
    cycles = {"year": dates.dt.day_of_year / 365.25, "weekday": dates.dt.day_of_week / 7}
    if hours:
        cycles["hour"] = days % 1
    parts = {f"{name}_day": days.to_numpy(dtype=float)}
    for cycle, phase in cycles.items():
        angle = 2 * np.pi * phase.to_numpy(dtype=float)
        parts |= {f"{name}_{cycle}_sin": np.sin(angle), f"{name}_{cycle}_cos": np.cos(angle)}
    return parts
