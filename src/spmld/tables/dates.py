"""Dates in columns of text: their formats, the order of day and month, and their features."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import need
from spmld.labels.words import clean_spelling
from spmld.tables.problems import TableProblem

DATE_FORMATS = (
    "ISO8601",
    *("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y"),
    *("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%y", "%d-%m-%Y"),
    *("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y.%m.%d"),
)
"""Formats of dates, which are tried in this order. Those with slashes and hyphens may have day and month swapped."""
_PAIRS = {form: form.replace("%m/%d", "%d/%m") for form in DATE_FORMATS if "%m/%d/" in form} | {"%d-%m-%Y": "%m-%d-%Y"}
_SWAPPED = _PAIRS | {second: first for first, second in _PAIRS.items()}
_DATE_PARTS = {
    **{"%d": "day", "%m": "month", "%b": "abbreviated month", "%B": "full month"},
    **{"%Y": "year", "%y": "two-digit year", "%H:%M:%S": "time with seconds", "%H:%M": "time"},
}
FIRST_VALUES = 1000
"""Number of values that are tested before all are."""


def to_dates(column: Any, forms: Sequence[str]) -> Any:
    """Return a column as dates without time zone, NaT where it has none of the formats. Spaces around are ignored."""
    return _parse(_clean(column), forms)


def _clean(column: Any) -> Any:
    """Return a column whose texts have no surrounding spaces or invisible characters."""
    if getattr(column.dtype, "kind", "O") in "iufM":
        return column
    return column.map(lambda value: clean_spelling(value) if isinstance(value, str) else value)


def _parse(column: Any, forms: Sequence[str]) -> Any:
    """Return a column of clean texts as dates."""
    pandas = need("pandas")
    if getattr(column.dtype, "kind", "O") in "iuf":
        column = column.map("{:.0f}".format, na_action="ignore")  # such as 20240131
    dates = pandas.Series(pandas.NaT, index=column.index, dtype="datetime64[us, UTC]")
    for form in forms:
        dates = dates.fillna(pandas.to_datetime(column[dates.isna()], format=form, errors="coerce", utc=True))
    return dates.dt.tz_localize(None)


def date_formats(values: Any, *, day_first: bool = False) -> list[str]:
    """Return the formats of the dates in a column of text, none if there are no dates.

    If a date such as 03/04/2024 can be read with the month and with the day first, the order is the one that more
    values have; if equally many do, the month is first in dates with slashes, unless `day_first`.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.dates import date_formats
    >>> date_formats(pd.Series(["01/02/2024", "03/04/2024"])), date_formats(pd.Series(["01/02/2024", "31/01/2024"]))
    (['%m/%d/%Y'], ['%d/%m/%Y'])
    """
    rest = values = _clean(values).drop_duplicates()
    if not values.astype(str).str.contains(r"\d").mean() > 0.5:
        return []
    if len(values) > FIRST_VALUES and not date_formats(values.iloc[:FIRST_VALUES], day_first=day_first):
        return []
    forms: list[str] = []
    for form in DATE_FORMATS:
        other = _SWAPPED.get(form, form)
        if other != form:
            n_first, n_other = (_parse(values, [order]).notna().sum() for order in (form, other))
            preferred = day_first and other.startswith("%d")
            form = other if n_other > n_first or (preferred and n_other == n_first) else form
        matches = _parse(rest, [form]).notna().to_numpy()
        forms += [form] if matches.any() else []
        rest = rest[~matches]
        if len(rest) == 0:
            break
    return forms


def date_notes(values: Any, name: str, forms: Sequence[str], *, day_first: bool) -> list[TableProblem]:
    """Return notes about several formats of dates, and about dates with day and month in either order.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.dates import date_notes
    >>> date_notes(pd.Series(["01/02/2024"]), "day", ["%m/%d/%Y"], day_first=False)[0].text
    "dates of column 'day', such as '01/02/2024', are read as month/day/year"
    >>> date_notes(pd.Series(["01/02/2024", "01/31/2024"]), "day", ["%m/%d/%Y"], day_first=False)
    []
    """
    notes = []
    if len(forms) > 1:
        text = f"dates of column {name!r} have {len(forms)} formats: {', '.join(map(describe_format, forms))}"
        notes.append(TableProblem(text, (("category", name),)))
    for form in [] if day_first else [form for form in forms if form in _SWAPPED]:
        dates = values[to_dates(values, [form]).notna().to_numpy()]
        if to_dates(dates, [_SWAPPED[form]]).notna().all():
            text = f"dates of column {name!r}, such as {str(dates.iloc[0])!r}, are read as {describe_format(form)}"
            notes.append(TableProblem(text, (("day_first", "True"),)))
    return notes


def describe_format(form: str) -> str:
    """Return a format of dates in words.

    Examples
    --------
    >>> from spmld.tables.dates import describe_format
    >>> describe_format("%d.%m.%Y %H:%M")
    'day.month.year time'
    >>> describe_format("%d.%m.%y"), describe_format("%d %b %Y")
    ('day.month.two-digit year', 'day abbreviated month year')
    """
    for sign, word in _DATE_PARTS.items():
        form = form.replace(sign, word)
    return form.replace("ISO8601", "ISO 8601")


def date_parts(dates: Any, name: str, *, hours: bool) -> dict[str, NDArray[np.float64]]:
    """Return numbers for dates: days, and sine and cosine of the day of the year, of the week, and of the time of day.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.dates import date_parts
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
