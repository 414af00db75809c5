"""Kinds of the columns of a table, and their conversion to numbers, categories, dates and text."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import need
from spmld.labels.words import to_number

DATE_FORMATS = (
    "ISO8601",
    *("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y"),
    *("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
    *("%m/%d/%y", "%d/%m/%y"),
    *("%d-%m-%Y", "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
"""Formats of dates, of which the first that matches is used; see `date_format` for the order of month and day."""
IGNORED_KINDS = {
    "identifier": "looks like an identifier",
    "row number": "contains the numbers of the rows",
    "empty": "is empty",
    "constant": "has the same value in all samples",
    "nested": "contains lists or objects",
}
"""Kinds of columns that are not features, with the reasons."""
MIN_FRACTION = 0.9
"""Fraction of the values of a text column that must be numbers or dates; the others are missing values."""
MIN_SAMPLES = 20
"""Number of samples from which distinct values are evidence of an identifier."""
MIN_WORDS = 3
"""Mean number of words from which a column is text and not a category."""
_ID_NAME = re.compile(r"(?:^|[_\W])(?i:id|uuid|guid|key|index|nr|no|number|nummer)\W*$|[a-z](?:Id|ID)$|#\s*$")
_UNNAMED = re.compile(r"Unnamed: \d+(_level_\d+)?$")


def column_kind(column: Any) -> str:
    """Return the kind of a column: number, category, date, text, or one of IGNORED_KINDS.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import column_kind
    >>> columns = [1.5, None, 2.5], ["2024-01-31", "2024-02-29", None], ["red", "blue", "red"], ["3,5", "1,2", "7"]
    >>> [column_kind(pd.Series(values)) for values in columns]
    ['number', 'date', 'category', 'number']
    """
    kind = getattr(column.dtype, "kind", "O")
    if kind in "biufm":
        return _number_kind(to_numbers(column).to_numpy(), str(column.name))
    values = column.dropna()
    if len(values) == 0:
        return "empty"
    if kind == "M":
        return "date"
    if any(isinstance(value, (list, tuple, dict, set, np.ndarray)) for value in values):
        return "nested"
    texts = values.astype(str)
    if _fraction_of_numbers(texts) >= MIN_FRACTION:
        return _number_kind(to_numbers(column).to_numpy(), str(column.name))
    if date_format(values) is not None:
        return "date"
    return _text_kind(texts, str(column.name), len(column))


def _number_kind(numbers: NDArray[np.float64], name: str) -> str:
    """Return "number", or the kind of a column that is empty or has whole numbers that are all different."""
    n = len(numbers)
    missing = np.isnan(numbers)
    if missing.all():
        return "empty"
    if missing.any() or n < 2 or (numbers != np.round(numbers)).any() or len(np.unique(numbers)) < n:
        return "number"
    consecutive = numbers[0] in (0, 1) and bool((np.diff(numbers) == 1).all())
    if consecutive and (_UNNAMED.match(name) or n >= MIN_SAMPLES):
        return "row number"
    return "identifier" if _has_id_name(name) else "number"


def _text_kind(texts: Any, name: str, n_samples: int) -> str:
    n_words, n_unique = texts.str.split().str.len().mean(), texts.nunique()
    distinct = n_unique == len(texts) and n_samples > 1
    if distinct and n_words < MIN_WORDS and (_has_id_name(name) or n_samples >= MIN_SAMPLES):
        return "identifier"
    if n_unique == 1 and len(texts) == n_samples and n_samples > 1:
        return "constant"
    return "text" if n_words >= MIN_WORDS and n_unique > 0.1 * len(texts) else "category"


def _has_id_name(name: str) -> bool:
    return _ID_NAME.search(name) is not None


def _fraction_of_numbers(texts: Any) -> float:
    return float(to_numbers(texts).notna().mean())


def to_numbers(column: Any) -> Any:
    """Return a column as floats, NaN where it is missing, infinite or not a number.

    Text may have a decimal point or a decimal comma; yes and no become 1 and 0.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import to_numbers
    >>> to_numbers(pd.Series(["3,5", "1e3", "yes", "about 4", None])).tolist()
    [3.5, 1000.0, 1.0, nan, nan]
    """
    pandas = need("pandas")
    kind = getattr(column.dtype, "kind", "O")
    if kind == "m":
        column = column / np.timedelta64(1, "s")
    if kind not in "biufm":
        column = column.map(_to_number, na_action="ignore").astype(float)
    plain = isinstance(column.dtype, np.dtype)
    numbers = column.to_numpy(dtype=float) if plain else column.to_numpy(dtype=float, na_value=np.nan)
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    return pandas.Series(numbers, index=column.index, name=column.name)


def _to_number(value: Any) -> float:
    try:
        return to_number(value)
    except (TypeError, ValueError):
        pass
    text = str(value).strip()
    try:
        return float(text.replace(",", ".")) if text.count(",") == 1 and "." not in text else np.nan
    except ValueError:
        return np.nan


def date_format(values: Any, *, day_first: bool = False) -> str | None:
    """Return the format of dates in a column of text; None if they are not dates.

    Of the formats with the month and with the day first, the one that more values match is used; if equally many do, it
    is the one with the month first, unless `day_first`.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import date_format
    >>> date_format(pd.Series(["01/02/2024", "03/04/2024"])), date_format(pd.Series(["01/02/2024", "31/01/2024"]))
    ('%m/%d/%Y', '%d/%m/%Y')
    """
    if not values.astype(str).str.contains(r"\d").mean() >= MIN_FRACTION:
        return None
    sample = values.iloc[:1000]
    for form in DATE_FORMATS:
        if all(_fraction_of_dates(part, form) >= MIN_FRACTION for part in (sample, values)):
            return _order_day_and_month(values, form, day_first)
    return None


def _fraction_of_dates(values: Any, form: str) -> float:
    return float(to_dates(values, form).notna().mean())


def _order_day_and_month(values: Any, form: str, day_first: bool) -> str:
    other = form.replace("%m/%d", "%d/%m")
    if other == form:
        return form
    month_matches, day_matches = _fraction_of_dates(values, form), _fraction_of_dates(values, other)
    return other if day_matches > month_matches or (day_first and day_matches == month_matches) else form


def is_ambiguous(values: Any, form: str) -> bool:
    """Return whether all dates of a format with the month first could have the day first.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.columns import is_ambiguous
    >>> is_ambiguous(pd.Series(["01/02/2024"]), "%m/%d/%Y"), is_ambiguous(pd.Series(["01/31/2024"]), "%m/%d/%Y")
    (True, False)
    """
    return "%m/%d" in form and _order_day_and_month(values, form, True) != form


def to_dates(column: Any, form: str) -> Any:
    """Return a column as dates without time zone, NaT where it does not have the format."""
    dates = need("pandas").to_datetime(column, format=form, errors="coerce", utc=True)
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


def to_texts(column: Any) -> Any:
    """Return a column as text; missing values are empty."""
    return column.astype(object).where(column.notna(), "").astype(str)


def to_categories(column: Any) -> Any:
    """Return a column as text without surrounding spaces; missing values are a category of their own, "missing"."""
    return column.astype(object).where(column.notna(), "missing").astype(str).str.strip()
