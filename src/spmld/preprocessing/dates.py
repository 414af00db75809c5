"""Dates in columns of text: their formats, and numbers for the day, the year, the week and the time of day."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import need

DATE_FORMATS = (
    "ISO8601",
    *("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y"),
    *("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%y", "%d-%m-%Y"),
    *("%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y.%m.%d"),
)
"""Formats of dates, which are tried in this order. Those with slashes and hyphens may have day and month swapped."""
SAMPLE = 1000
"""Number of values that are tested for dates before all are."""
_SWAPS = ("%m/%d", "%d/%m"), ("%d-%m", "%m-%d")


def date_formats(values: Any, *, day_first: bool = False) -> list[str]:
    """Return the formats of the dates in a column of text, none if there are no dates.

    If a date such as 03/04/2024 can be read with the month and with the day first, the order is the one that more
    values have; if equally many do, the month is first in dates with slashes, unless `day_first`.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.preprocessing.dates import date_formats
    >>> date_formats(pd.Series(["01/02/2024", "03/04/2024"])), date_formats(pd.Series(["01/02/2024", "31/01/2024"]))
    (['%m/%d/%Y'], ['%d/%m/%Y'])
    """
    rest = values = values.drop_duplicates()
    if not values.astype(str).str.contains(r"\d").mean() > 0.5:
        return []
    if len(values) > SAMPLE and not date_formats(values.iloc[:SAMPLE], day_first=day_first):
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
    >>> from spmld.preprocessing.dates import is_ambiguous
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
    >>> from spmld.preprocessing.dates import date_parts
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
