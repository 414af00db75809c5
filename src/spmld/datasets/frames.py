"""Data sets from and to pandas DataFrames."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need
from spmld.datasets.dataset import Dataset

PREFIX = "label_"
_WORDS = {"false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}


def from_frame(
    frame: Any, *, labels: Sequence[str] | None = None, prefix: str = PREFIX, drop: Sequence[str] = (), name: str = ""
) -> Dataset:
    """Convert a DataFrame to a data set.

    Parameters
    ----------
    frame : DataFrame
        Columns of numbers or booleans; None, NaN or ``pd.NA`` where missing.
    labels : sequence of str, optional
        Names of the label columns. By default, the columns whose names start with `prefix`.
    prefix : str, optional
        Prefix of the names of label columns, by default ``label_``. It is not part of the names of the labels.
    drop : sequence of str, default=()
        Columns to ignore, such as identifiers.
    name : str, default=""
        Name of the data set.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld.datasets import from_frame
    >>> data = from_frame(pd.DataFrame({"pitch": [0.5, 0.1], "label_sad": [1, None], "label_calm": [0, 1]}))
    >>> data.label_names
    ['sad', 'calm']
    >>> data.Y
    array([[ 1.,  0.],
           [nan,  1.]])
    """
    frame = frame.rename(columns=str)
    columns = list(frame.columns)
    absent = [column for column in (*drop, *(labels or ())) if column not in columns]
    if absent:
        raise ValueError(f"column {absent[0]!r} is not among the {len(columns)} columns: {_first(columns)}")
    columns = [column for column in columns if column not in set(drop)]
    if labels is not None:
        label_columns = label_names = list(labels)
    else:
        label_columns = [column for column in columns if column.startswith(prefix)]
        label_names = [column.removeprefix(prefix) for column in label_columns]
    if not label_columns:
        raise ValueError(f"no column starts with {prefix!r}: pass labels or prefix. Columns: {_first(columns)}")
    features = [column for column in columns if column not in set(label_columns)]
    if not features:
        raise ValueError("all columns are labels; at least one feature column is required")
    return Dataset(_to_array(frame, features), _to_array(frame, label_columns), features, label_names, name)


def select_columns(frame: Any, columns: dict[str, str | None], kind: str) -> NDArray[np.float64]:
    """Return the columns of features or labels by name; a column that is None raises an error."""
    absent = [name for name, column in columns.items() if column is None]
    if absent:
        raise ValueError(
            f"the file lacks {len(absent)} of the {len(columns)} {kind}s, {_first(absent)}; "
            f"it has {len(frame.columns)} columns: {_first(list(frame.columns))}"
        )
    if frame.shape[0] == 0:
        raise ValueError("the file has no samples")
    return _to_array(frame, list(columns.values()))


def to_frame(data: Dataset) -> Any:
    """Convert a data set to a DataFrame: features, then labels with the prefix "label_"."""
    pandas = need("pandas")
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    taken = [name for name in data.feature_names if name.startswith(PREFIX)]
    if taken:
        raise ValueError(f"the feature {taken[0]!r} would be read as a label, since its name starts with {PREFIX!r}")
    labels = pandas.DataFrame(data.Y, columns=[PREFIX + name for name in data.label_names]).astype("Int8")
    return pandas.concat([pandas.DataFrame(X, columns=list(data.feature_names)), labels], axis=1)


def to_number(value: Any) -> float:
    """Convert a number, or a truth value as bool or text, to float; None and empty text become NaN."""
    if value is None:
        return float("nan")
    if not isinstance(value, str):
        return float(value)
    word = value.strip().lower()
    if not word:
        return float("nan")
    return _WORDS[word] if word in _WORDS else float(word)


def _to_array(frame: Any, columns: Sequence[str | None]) -> NDArray[np.float64]:
    arrays = [_column_to_floats(frame[column]) for column in columns]
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
                "with pandas.get_dummies, or drop it"
            ) from None
    return floats


def _first(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
