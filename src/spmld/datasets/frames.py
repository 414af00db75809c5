"""Data sets from and to pandas DataFrames."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need
from spmld.datasets.dataset import Dataset
from spmld.datasets.problems import TableError, TableProblem, TableWarning
from spmld.datasets.roles import PREFIX, LabelColumns, TableRoles, first, read_label_columns
from spmld.labels.words import to_number
from spmld.preprocessing import TableEncoder
from spmld.preprocessing.columns import IGNORED_KINDS, column_kind, is_ambiguous, to_numbers


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
        Table with a row for each sample.
    name : str, default=""
        Name of the data set.
    source : str, default=""
        Name of the table in error messages.
    encode : bool, default=True
        Whether to encode features. If False, they must be numbers, and missing values are NaN.
    trusted : str, optional
        Column with 1 or yes for each sample whose labels are verified.
    **roles
        Roles of the columns: ``labels``, ``prefix``, ``tags``, ``tag_sep``, ``untagged``, ``empty_is``, ``id``,
        ``text``, ``drop``, ``tag_case`` and ``day_first``; see `TableRoles`.

    Raises
    ------
    TableError
        With all problems of the table.

    Warns
    -----
    TableWarning
        For columns that are not used as features, such as identifiers.

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
    frame = frame.rename(columns=str)
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
            X = encode_features(features, list(table.text), day_first=table.day_first)
        else:
            X = TableFeatures(_to_array(features), list(features.columns), {})
    except ValueError as error:
        raise TableError([TableProblem(str(error))], source) from error
    for note in [*labels.notes, *_notes(X, features, table), *_id_notes(frame, table)]:
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
    )


@dataclass(frozen=True)
class TableFeatures:
    """Features as an array, their names, the kinds of the columns, and the encoder, None for unchanged numbers."""

    values: Any
    names: list[str]
    kinds: dict[str, str]
    encoder: TableEncoder | None = None


def encode_features(features: Any, text: list[str], *, day_first: bool = False) -> TableFeatures:
    """Return features as an array; they are unchanged if they are numbers without missing values."""
    kinds = {name: "text" if name in text else column_kind(features[name]) for name in features.columns}
    used = [name for name, kind in kinds.items() if kind not in IGNORED_KINDS]
    if used and all(getattr(features[name].dtype, "kind", "O") in "biuf" for name in used):
        values = np.column_stack([to_numbers(features[name]).to_numpy() for name in used])
        if not np.isnan(values).any():
            return TableFeatures(values, used, kinds)
    encoder = TableEncoder(text=text, day_first=day_first).fit(features)
    return TableFeatures(encoder.transform(features), list(encoder.get_feature_names_out()), encoder.kinds_, encoder)


def sample_names(frame: Any, roles: TableRoles) -> list[Any] | None:
    """Return the values of the identifier column, None if there is none."""
    if roles.id is None or roles.id not in frame.columns:
        return None
    column = frame[roles.id]
    return column.astype(object).where(column.notna(), "").tolist()


def _notes(X: TableFeatures, features: Any, roles: TableRoles) -> list[TableProblem]:
    """Return notes about columns that are ignored, detected as text, or have values that are not clear."""
    notes: list[TableProblem] = []
    for name, kind in X.kinds.items():
        column = features[name]
        if kind in IGNORED_KINDS:
            named = kind in ("identifier", "row number") and roles.id is None and not name.startswith("Unnamed")
            options = (("id", name),) if named else ()
            notes.append(TableProblem(f"column {name!r} {IGNORED_KINDS[kind]} and is not used as a feature", options))
        elif kind == "text" and name not in roles.text:
            notes.append(TableProblem(f"column {name!r} is encoded as text", (("text", name), ("drop", name))))
        elif kind == "number" and getattr(column.dtype, "kind", "O") not in "biufm":
            invalid = column[column.notna() & to_numbers(column).isna()]
            if len(invalid):
                text = f"{len(invalid)} values of column {name!r} are not numbers, such as {str(invalid.iloc[0])!r}"
                notes.append(TableProblem(f"{text}; they are treated as missing"))
        elif kind == "date" and X.encoder is not None and not roles.day_first:
            values = column.dropna()
            if is_ambiguous(values, X.encoder.date_formats_[name][0]):
                text = f"dates of column {name!r}, such as {str(values.iloc[0])!r}, are read as month/day/year"
                notes.append(TableProblem(text, (("day_first", "True"),)))
    return notes


def _id_notes(frame: Any, roles: TableRoles) -> list[TableProblem]:
    if roles.id is None or frame[roles.id].is_unique:
        return []
    repeated = frame[roles.id][frame[roles.id].duplicated()].iloc[0]
    return [TableProblem(f"the identifiers in {roles.id!r} are not unique: {repeated!r} occurs more than once")]


def _read_trusted(frame: Any, column: str, problems: list[TableProblem]) -> NDArray[np.bool_]:
    values = to_numbers(frame[column]).to_numpy()
    invalid = frame[column][(frame[column].notna() & np.isnan(values)) | ~np.isin(values, (0, 1)) & ~np.isnan(values)]
    if len(invalid):
        text = f"column {column!r} of --trusted must contain 1/0, true/false or yes/no, got {str(invalid.iloc[0])!r}"
        problems.append(TableProblem(text))
    return values == 1


def select_columns(frame: Any, columns: dict[str, str | None], kind: str) -> NDArray[np.float64]:
    """Return the columns of features or labels by name; a column that is None raises an error."""
    absent = [name for name, column in columns.items() if column is None]
    if absent:
        raise ValueError(
            f"the file lacks {len(absent)} of the {len(columns)} {kind}s, {first(absent)}; "
            f"it has {len(frame.columns)} columns: {first(list(frame.columns))}"
        )
    if frame.shape[0] == 0:
        raise ValueError("the file has no samples")
    return _to_array(frame[list(columns.values())])


def to_frame(data: Dataset) -> Any:
    """Convert a data set to a DataFrame: features, then labels with the prefix "label_"."""
    pandas = need("pandas")
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    taken = [name for name in data.feature_names if name.startswith(PREFIX)]
    if taken:
        raise ValueError(f"the feature {taken[0]!r} would be read as a label, since its name starts with {PREFIX!r}")
    labels = pandas.DataFrame(data.Y, columns=[PREFIX + name for name in data.label_names]).astype("Int8")
    return pandas.concat([pandas.DataFrame(X, columns=list(data.feature_names)), labels], axis=1)


def _to_array(frame: Any) -> NDArray[np.float64]:
    arrays = [_column_to_floats(frame[column]) for column in frame.columns]
    return np.column_stack(arrays) if arrays else np.empty((len(frame), 0))


def _column_to_floats(column: Any) -> NDArray[np.float64]:
    if column.dtype.kind in "biuf" and isinstance(column.dtype, np.dtype):
        return column.to_numpy(dtype=float)
    floats = np.empty(len(column))
    for i, value in enumerate(column.astype(object).where(column.notna(), None)):
        try:
            floats[i] = to_number(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"column {column.name!r} contains {value!r}, which is not a number: encode the column, for example "
                "with spmld.preprocessing.TableEncoder, or drop it"
            ) from None
    return floats
