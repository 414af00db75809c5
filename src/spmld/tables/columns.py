"""Kinds of the columns of a table, their conversion to numbers, dates, categories and text, and notes about them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spmld._frames import Series
from spmld._io import need
from spmld._validation import plural
from spmld.labels.words import clean_spelling
from spmld.tables.errors import TableProblem
from spmld.tables.numbers import NESTED, NumberFormat, NumberTexts, is_missing_word

if TYPE_CHECKING:
    from spmld.tables.table_encoder import TableEncoder

IGNORED_KINDS = {
    "identifier": "looks like an identifier",
    "row number": "contains the numbers of the rows",
    "empty": "is empty",
    "constant": "has the same value in all samples",
    "nested": "contains lists or objects",
    "dropped": "is dropped",
}
"""Kinds of columns that are not features, with the reasons."""
MIN_READABLE = 0.9
"""Fraction of the values, or of the distinct values, that must be numbers, dates, or those of an identifier."""
MIN_IDENTIFIERS = 20
"""Number of samples from which distinct values are evidence of an identifier."""
MIN_WORDS = 3
"""Mean number of words from which a column is text and not a category."""
MIN_DISTINCT = 0.1
"""Fraction of distinct values above which a column of several words is text and not a category."""
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


_ID_NAME = re.compile(r"(?:^|[_\W])(?i:id|uuid|guid|key|index|nr|no|number|nummer)\W*$|[a-z](?:Id|ID)$|#\s*$")
_UNNAMED = re.compile(r"Unnamed: \d+(_level_\d+)?$")


def column_kind(column: Any, *, decimal: str | None = None) -> str:
    """Return the kind of a column: number, category, date, text, or one of IGNORED_KINDS.

    Text is a number or a date if nine of ten values are; or if most values are, and nine of ten distinct values, so
    that a word such as "sold out" may be frequent. Words for missing values are ignored.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.columns import column_kind
    >>> columns = [1.5, None, 2.5], ["2024-01-31", "2024-02-29", None], ["red", "blue", "red"], ["3,5", "1,2 kg", "n/a"]
    >>> [column_kind(pd.Series(values)) for values in columns]
    ['number', 'date', 'category', 'number']
    """
    if is_typed(column):
        return _number_kind(to_numbers(column).to_numpy(), str(column.name))
    values = column.dropna()
    if len(values) and getattr(column.dtype, "kind", "O") == "M":
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
    """Return which rows of a table are equal to an earlier one, by their hashes, which also suit thousands of columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.columns import duplicated_rows
    >>> duplicated_rows(pd.DataFrame({"tempo": [60, 80, 60], "tags": [["sad"], [], ["sad"]]}))
    array([False, False,  True])
    """
    pandas = need("pandas")
    columns = {name: column.map(_as_key) if is_nested(column) else column for name, column in frame.items()}
    return pandas.util.hash_pandas_object(pandas.DataFrame(columns), index=False).duplicated().to_numpy()


def _as_key(value: Any) -> str | bytes:
    """Return a list or another container as text or, for speed, an array as its bytes."""
    return value.tobytes() if isinstance(value, np.ndarray) else str(value)


def without_missing_words(values: Any) -> Series:
    """Return the values that are not missing, nor words for it such as "unknown"."""
    if is_typed(values):
        return values
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
    return "identifier" if _ID_NAME.search(name) else "number"


def _text_kind(texts: Any, name: str, n_samples: int) -> str:
    n_words = texts.str.split().str.len().mean()
    n_unique = texts.nunique()
    distinct = n_unique > 1 and n_unique >= (MIN_READABLE if n_samples >= MIN_IDENTIFIERS else 1) * len(texts)
    if distinct and n_words < MIN_WORDS and (_ID_NAME.search(name) or n_samples >= MIN_IDENTIFIERS):
        return "identifier"
    if n_unique == 1 and len(texts) == n_samples and n_samples > 1:
        return "constant"
    return "text" if n_words >= MIN_WORDS and n_unique > MIN_DISTINCT * len(texts) else "category"


def to_numbers(column: Any, form: NumberFormat | None = None, *, decimal: str | None = None) -> Series:
    """Return a column as floats, NaN where it is missing, infinite or not a number.

    Text is read in a format of `spmld.tables.numbers`, by default the one of the column itself.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables.columns import to_numbers
    >>> to_numbers(pd.Series(["3,5", "1e3", "1.200", "about 4", None])).tolist()
    [3.5, 1000.0, 1200.0, nan, nan]
    """
    if not is_typed(column):
        texts = NumberTexts(column, decimal)
        return texts.values(form or texts.format)
    if column.dtype.kind == "m":
        column = column / np.timedelta64(1, "s")
    numbers = column.to_numpy(dtype=float, na_value=np.nan)
    return need("pandas").Series(np.where(np.isfinite(numbers), numbers, np.nan), index=column.index, name=column.name)


def to_categories(column: Any) -> Series:
    """Return a column as text without surrounding spaces; missing values are a category of their own, "missing".

    Whole numbers are written without decimals, since a column of them has decimals only if another value is missing.
    """
    texts = column.astype(object).where(column.notna(), "missing").astype(str).str.strip()
    return texts.str.removesuffix(".0") if is_typed(column) else texts


def find_unreadable(column: Any, result: Any, kind: str, *options: tuple[str, str]) -> list[TableProblem]:
    """Return a problem if values are neither missing nor words for it, although the number or date is missing."""
    failed = without_missing_words(column[column.notna().to_numpy() & result.isna().to_numpy()])
    if len(failed) == 0:
        return []
    name = str(column.name)
    n_values = len(failed) + int(result.notna().sum())
    text = f"values of column {name!r} cannot be read as {kind}s, such as {str(failed.iloc[0])!r}"
    return [TableProblem(text, options, name, len(failed), n_values)]


def find_too_large(frame: Any) -> list[TableProblem]:
    """Return a problem for each column of numbers whose variance may overflow."""
    limit = float(np.sqrt(np.finfo(float).max / max(1, len(frame)))) / 2  # a difference may be twice as large
    largest = frame.select_dtypes("number").abs().max()
    text = "column {!r} has numbers up to {:.3g}, which are too large to scale"
    return [TableProblem(text.format(name, x), (), name) for name, x in largest.items() if x > limit]


def describe_column(name: str, kind: str, encoder: "TableEncoder | None" = None) -> str:
    """Return the kind of a column, and how its values are read by a fitted encoder.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.tables import TableEncoder
    >>> from spmld.tables.columns import describe_column
    >>> songs = pd.DataFrame({"price": ["1,50 €", "2 €"], "released": ["31.1.2024", "1.2.2024"], "song_id": ["a", "b"]})
    >>> encoder = TableEncoder().fit(songs)
    >>> [describe_column(name, kind, encoder) for name, kind in encoder.kinds_.items()]
    ['number (decimal comma, unit €)', 'date (day.month.year)', 'identifier (not used)']
    """
    details: list[str] = []
    if kind in IGNORED_KINDS:
        details = ["not used"]
    elif kind == "number" and encoder is not None and name in encoder.number_formats_:
        form = encoder.number_formats_[name]
        details = ["yes/no"] if form.words else ["decimal comma"] * (form.decimal == ",")
        details += [f"unit {form.unit}"] if form.unit else []
    elif kind == "date" and encoder is not None:
        details = [describe_format(form) for form in encoder.date_formats_[name][0]]
    elif kind == "vectors" and encoder is not None:
        details = [plural(encoder.vector_sizes_[name], "number")]
    return f"{kind} ({', '.join(details)})" if details else kind


def column_notes(column: Any, encoder: "TableEncoder") -> list[TableProblem]:
    """Return notes about guesses and about values of a column, that the encoder was fitted on, that cannot be read."""
    name = str(column.name)
    values = column.dropna()
    kind = encoder.kinds_[name]
    category = ("category", name)
    notes = []
    if kind == "date":
        forms, _ = encoder.date_formats_[name]
        notes = date_notes(values, name, forms, day_first=encoder.day_first)
        result = to_dates(column, forms)
    elif kind == "number":
        notes = [] if is_typed(column) else NumberTexts(column, encoder.decimal).notes(name)
        result = to_numbers(column, encoder.number_formats_.get(name, NumberFormat()), decimal=encoder.decimal)
    elif kind in ("category", "identifier") and name not in encoder.category:
        return NumberTexts(without_missing_words(values)).unit_notes(name)
    else:
        return []
    texts = values[:0].astype(object) if is_typed(values) else values
    words = texts[~texts.isin(without_missing_words(texts).unique())].astype(str)
    words = words[words.str.strip() != ""]
    if len(words):
        text = f"{len(words)} values of the {kind} column {name!r}, such as {words.iloc[0]!r}, are treated as missing"
        notes.append(TableProblem(text, (category,)))
    return [*notes, *as_missing(find_unreadable(column, result, kind, category))]


def as_missing(problems: list[TableProblem]) -> list[TableProblem]:
    """Return problems of unreadable values as notes that the values are treated as missing."""
    return [replace(problem, text=f"{problem.text}; they are treated as missing") for problem in problems]


def to_dates(column: Any, forms: Sequence[str]) -> Series:
    """Return a column as dates without time zone, NaT where it has none of the formats. Spaces around are ignored."""
    return _parse(_clean(column), forms)


def _clean(column: Any) -> Series:
    """Return a column whose texts have no surrounding spaces or invisible characters."""
    if getattr(column.dtype, "kind", "O") in "iufM":
        return column
    return column.map(lambda value: clean_spelling(value) if isinstance(value, str) else value)


def _parse(column: Any, forms: Sequence[str]) -> Series:
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
    >>> from spmld.tables.columns import date_formats
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
    >>> from spmld.tables.columns import date_notes
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
    >>> from spmld.tables.columns import describe_format
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
    >>> from spmld.tables.columns import date_parts
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
