"""Data sets from and to data frames."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._frames import to_pandas
from spmld._io import need
from spmld._validation import list_names
from spmld.datasets.dataset import Dataset
from spmld.datasets.roles import PREFIX, LabelColumns, TableRoles, read_label_columns
from spmld.labels.words import to_number
from spmld.preprocessing import TableEncoder
from spmld.preprocessing.columns import IGNORED_KINDS, column_kind, duplicated_rows, is_typed, to_numbers
from spmld.preprocessing.numbers import parse_number
from spmld.preprocessing.problems import TableError, TableProblem, TableWarning, column_notes, describe_columns


def from_frame(
    frame: Any,
    *,
    name: str = "",
    source: str = "",
    encode: bool = True,
    trusted: str | None = None,
    **roles: Any,
) -> Dataset:
    """Convert a DataFrame to a data set.

    If all features are numbers without missing values, they are used unchanged. Otherwise they are encoded by
    `spmld.preprocessing.TableEncoder`, which is the attribute `encoder` of the result.

    Parameters
    ----------
    frame : DataFrame
        Table with a row for each sample, of pandas, polars or another library that narwhals supports.
    name : str, default=""
        Name of the data set.
    source : str, default=""
        Name of the table in error messages.
    encode : bool, default=True
        Whether to encode features. If False, they must be numbers, and missing values are NaN.
    trusted : str, optional
        Column with 1 or yes for each sample whose labels are verified.
    **roles
        Roles of the columns, such as ``labels``, ``tags``, ``id``, ``text``, ``number`` and ``drop``; see `TableRoles`.

    Raises
    ------
    TableError
        With all problems of the table.

    Warns
    -----
    TableWarning
        For columns that are not used as features, such as identifiers, for guesses about the values of columns, and
        for duplicate rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.datasets import from_frame
    >>> data = from_frame(pd.DataFrame({"pitch": [0.5, 0.1], "label_sad": [1, None], "label_calm": ["no", "yes"]}))
    >>> data.label_names
    ['sad', 'calm']
    >>> data.Y
    array([[ 1.,  0.],
           [nan,  1.]])
    >>> songs = pd.DataFrame({"nr": ["a1", "a2"], "review": ["slow and sad", "loud"], "tags": ["sad", "rock; loud"]})
    >>> from_frame(songs, text="review", tags="tags", id="nr").label_names
    ['loud', 'rock', 'sad']
    """
    table = TableRoles(**roles)
    frame = to_pandas(frame, "frame").rename(columns=str)
    problems = table.find_problems(list(frame.columns))
    if len(frame) == 0:
        problems.append(TableProblem("the table has no samples"))
    labels = read_label_columns(frame, table) if len(frame) else LabelColumns()
    problems += labels.problems
    used = {*labels.columns, *table.drop, table.id, table.tags, trusted}
    features = frame[[column for column in frame.columns if column not in used]]
    absent = {column for column in labels.columns if column not in frame.columns}
    if features.shape[1] == 0 and not absent:
        problems.append(TableProblem("no column is left for features; at least one feature column is required"))
    verified = None if trusted is None else _read_trusted(frame, trusted, problems)
    if problems:
        raise TableError(problems, source)
    try:
        if encode:
            X = encode_features(features, table)
        else:
            X = TableFeatures(numeric_columns(features, features.columns), list(features.columns), {})
    except TableError as error:
        raise TableError(error.problems, source) from None
    except ValueError as error:
        raise TableError([TableProblem(str(error))], source) from error
    notes = [*labels.notes, *_notes(X, features, table), *_id_notes(frame, table), *_duplicate_notes(frame, X, table)]
    for note in notes:
        warnings.warn(TableWarning(note), stacklevel=2)
    table = replace(table, tag_sep=labels.tag_sep or table.tag_sep)
    return Dataset(
        X.values,
        labels.Y,
        X.names,
        labels.names,
        name,
        trusted=verified,
        sample_names=sample_names(frame, table),
        encoder=X.encoder,
        roles=table,
        columns=describe_columns(X.kinds, X.encoder),
    )


@dataclass(frozen=True)
class TableFeatures:
    """Features as an array, their names, the kinds of the columns, and the encoder, None for unchanged numbers."""

    values: Any
    names: list[str]
    kinds: dict[str, str]
    encoder: TableEncoder | None = None


def encode_features(features: Any, roles: TableRoles) -> TableFeatures:
    """Return features as an array; they are unchanged if they are numbers without missing values."""
    declared: dict[str, Any] = {kind: list(getattr(roles, kind)) for kind in ("text", "number", "category", "date")}
    unchanged = _plain_numbers(
        features, {name for kind, names in declared.items() if kind != "number" for name in names}
    )
    if unchanged is not None:
        return unchanged
    encoder = TableEncoder(**declared, day_first=roles.day_first, decimal=roles.decimal, strict=roles.strict)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)  # the notes have these values, and the options for them
        values = encoder.fit(features).transform(features)
    return TableFeatures(values, list(encoder.get_feature_names_out()), encoder.kinds_, encoder)


def _plain_numbers(features: Any, encoded: set[str]) -> TableFeatures | None:
    """Return features that are numbers without missing values; None if another column has to be encoded."""
    kinds: dict[str, str] = {}
    for name in sorted(features.columns, key=lambda name: features[name].dtype.kind in "biuf"):  # the others first
        kinds[name] = "encoded" if name in encoded else column_kind(features[name])
        if kinds[name] not in IGNORED_KINDS and (kinds[name] != "number" or features[name].dtype.kind not in "biuf"):
            return None
    used = [name for name in features.columns if kinds[name] not in IGNORED_KINDS]
    if not used:
        return None
    values = np.column_stack([to_numbers(features[name]).to_numpy() for name in used])
    missing = np.isnan(values).any()
    return None if missing else TableFeatures(values, used, {name: kinds[name] for name in features.columns})


def sample_names(frame: Any, roles: TableRoles) -> list[Any] | None:
    """Return the values of the identifier column, None if there is none."""
    if roles.id is None or roles.id not in frame.columns:
        return None
    column = frame[roles.id]
    return column.astype(object).where(column.notna(), "").tolist()


def identifier_text(value: Any) -> str:
    """Return an identifier as text; 7, 7.0 and 007 are equal, since formats store numbers in different ways.

    Examples
    --------
    >>> from spmld.datasets.frames import identifier_text
    >>> identifier_text(7.0), identifier_text("007"), identifier_text(" S7 ")
    ('7', '7', 'S7')
    """
    text = str(value).strip()
    return str(int(text.removesuffix(".0"))) if text.removesuffix(".0").isdecimal() else text


def _notes(X: TableFeatures, features: Any, roles: TableRoles) -> list[TableProblem]:
    """Return notes about columns that are ignored or detected as text, and about guesses."""
    notes: list[TableProblem] = []
    for name, kind in X.kinds.items():
        if kind in IGNORED_KINDS:
            options: list[tuple[str, str]] = []
            if kind in ("identifier", "row number") and not name.startswith("Unnamed"):
                options += [("id", name)] if roles.id is None else []
                other = "number" if is_typed(features[name]) else "category"
                options += [(other, name)] if kind == "identifier" else []
            text = f"column {name!r} {IGNORED_KINDS[kind]} and is not used as a feature"
            notes.append(TableProblem(text, tuple(options)))
        elif kind == "text" and name not in roles.text:
            notes.append(TableProblem(f"column {name!r} is encoded as text", (("text", name), ("drop", name))))
        if X.encoder is not None:
            notes += column_notes(features[name], X.encoder)
    return notes


def _duplicate_notes(frame: Any, X: TableFeatures, roles: TableRoles) -> list[TableProblem]:
    """Return a note with the number of rows that are equal to another one in all columns but identifiers."""
    names = [
        name for name in frame.columns if name != roles.id and X.kinds.get(name) not in ("identifier", "row number")
    ]
    n_duplicates = int(duplicated_rows(frame[names]).sum())
    if not n_duplicates:
        return []
    duplicates = "is a duplicate" if n_duplicates == 1 else "are duplicates"
    text = f"{n_duplicates} of {len(frame)} rows {duplicates} of another row"
    return [TableProblem(f"{text}; held-out quality is too high if copies are in several folds")]


def _id_notes(frame: Any, roles: TableRoles) -> list[TableProblem]:
    if roles.id is None or frame[roles.id].is_unique:
        return []
    repeated = frame[roles.id][frame[roles.id].duplicated()].iloc[0]
    return [TableProblem(f"the identifiers in {roles.id!r} are not unique: {repeated!r} occurs more than once")]


def _read_trusted(frame: Any, column: str, problems: list[TableProblem]) -> NDArray[np.bool_]:
    if column not in frame.columns:
        text = f"column {column!r} of trusted does not exist; the columns are {list_names(frame.columns)}"
        problems.append(TableProblem(text))
        return np.zeros(len(frame), dtype=bool)
    values = to_numbers(frame[column]).to_numpy()
    invalid = frame[column][(frame[column].notna() & np.isnan(values)) | ~np.isin(values, (0, 1)) & ~np.isnan(values)]
    if len(invalid):
        text = f"column {column!r} of trusted must contain 1/0, true/false or yes/no, got {str(invalid.iloc[0])!r}"
        problems.append(TableProblem(text))
    return values == 1


def to_frame(data: Dataset) -> Any:
    """Convert a data set to a DataFrame: features, then labels with the prefix "label_"."""
    pandas = need("pandas")
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    taken = [name for name in data.feature_names if name.startswith(PREFIX)]
    if taken:
        raise ValueError(f"the feature {taken[0]!r} would be read as a label, since its name starts with {PREFIX!r}")
    labels = pandas.DataFrame(data.Y, columns=[PREFIX + name for name in data.label_names]).astype("Int8")
    return pandas.concat([pandas.DataFrame(X, columns=list(data.feature_names)), labels], axis=1)


def numeric_columns(frame: Any, columns: Sequence[str], decimal: str | None = None) -> NDArray[np.float64]:
    """Return columns as an array of numbers, NaN where missing.

    `decimal` is the decimal separator of text such as 1,234, which raises an error without it.
    """
    arrays = [_column_to_floats(frame[column], decimal) for column in columns]
    return np.column_stack(arrays) if arrays else np.empty((len(frame), 0))


def _column_to_floats(column: Any, decimal: str | None) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
        return column.to_numpy(dtype=float)
    floats = np.empty(len(column))
    for i, value in enumerate(column.astype(object).where(column.notna(), None)):
        try:
            floats[i] = to_number(value)
        except (TypeError, ValueError):
            number = parse_number(value)
            if number is None or (number.decimal == "?" and decimal is None) or number.unit or number.bound:
                raise ValueError(
                    f"column {column.name!r} contains {value!r}, which is not a number, or could be two numbers: "
                    "pass the decimal separator (--decimal), encode the column, for example with "
                    "spmld.preprocessing.TableEncoder, or drop it"
                ) from None
            floats[i] = number.comma if decimal == "," else number.point
    return floats
