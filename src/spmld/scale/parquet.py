"""Directories of Parquet files as Dask arrays, with the roles of columns of `spmld.datasets`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._io import StrPath, need
from spmld.datasets import Dataset, TableError, TableRoles, from_frame
from spmld.datasets.frames import numeric_columns
from spmld.datasets.roles import read_label_columns
from spmld.datasets.tables import with_clean_names
from spmld.labels.tags import split_tags, tag_names

SAMPLE_ROWS = 20_000
"""Number of rows of the sample from which the kinds of columns and the encoder are learned."""


@dataclass(frozen=True)
class DaskTable:
    """Features and labels of a table as Dask arrays.

    Attributes
    ----------
    X : dask.array.Array of shape (n_samples, n_features)
        Features. The number of rows is not known before they are computed.
    Y : dask.array.Array of shape (n_samples, n_labels)
        Labels, NaN where missing.
    sample : Dataset
        A sample of the rows, with the names of the features and labels, the encoder of the table, and the roles of its
        columns.

    Examples
    --------
    See `read_parquet`.
    """

    X: Any
    Y: Any
    sample: Dataset


def read_parquet(path: StrPath, **roles: Any) -> DaskTable:
    """Read a Parquet file, or a directory of them, as Dask arrays.

    The kinds of the columns are detected, and the encoder of the features is fitted, on a sample of 20,000 rows from
    all partitions. Labels are all columns of labels, or all tags.

    Parameters
    ----------
    path : str or path-like
        File or directory that the workers can read.
    **roles
        Roles of the columns, as in `spmld.datasets.from_frame`, such as ``labels``, ``tags``, ``id``, ``text`` and
        ``drop``.

    Returns
    -------
    DaskTable

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from spmld.scale import read_parquet
    >>> songs = pd.DataFrame({"review": ["slow and sad", "loud", "sad"], "tags": ["sad", "rock; loud", None]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     songs[:2].to_parquet(folder + "/0.parquet")
    ...     songs[2:].to_parquet(folder + "/1.parquet")
    ...     table = read_parquet(folder, text="review", tags="tags")
    ...     table.Y.compute(scheduler="sync")
    array([[ 0.,  0.,  1.],
           [ 1.,  1.,  0.],
           [nan, nan, nan]])
    >>> table.sample.label_names
    ['loud', 'rock', 'sad']
    """
    delayed = need("dask", "dask").delayed
    frame = need("dask.dataframe", "dask").read_parquet(str(path))
    parts = [delayed(with_clean_names)(part) for part in frame.to_delayed(optimize_graph=False)]
    sample = _read_sample(str(path), parts, roles)
    names, table = sample.label_names, sample.roles
    features = [delayed(_read_features)(part, sample.encoder, sample.feature_names) for part in parts]
    labels = [delayed(_read_labels)(part, table, names, str(path)) for part in parts]
    return DaskTable(_stack(features, sample.X), _stack(labels, sample.Y), sample)


def _read_sample(path: str, parts: Sequence[Any], roles: dict[str, Any]) -> Dataset:
    """Return the first rows of each partition as a data set, with the labels of all partitions."""
    dask, rows = need("dask", "dask"), -(-SAMPLE_ROWS // len(parts))
    heads = dask.compute(*(part.head(rows) for part in parts))
    frame = need("pandas").concat([head for head in heads if len(head)] or heads[:1], ignore_index=True)
    sample = from_frame(frame, source=path, **roles)
    if sample.roles.tags is None:
        return sample
    counts = dask.compute(*(dask.delayed(_count_tags)(part, sample.roles) for part in parts))
    names = tag_names(sum(counts, Counter()), sample.roles.tag_case)
    return replace(sample, Y=_read_labels(frame, sample.roles, names, path), label_names=names)


def _count_tags(frame: Any, roles: TableRoles) -> Counter[str]:
    column = frame[roles.tags].astype(object).where(frame[roles.tags].notna(), None)
    return Counter(tag for value in column for tag in split_tags(value, roles.tag_sep) or ())


def _read_features(frame: Any, encoder: Any, names: Sequence[str]) -> Any:
    if len(frame) == 0:
        empty = np.zeros((0, len(names)))
        return empty if encoder is None else sp.csr_array(empty)
    if encoder is None:
        return numeric_columns(frame, names)
    return encoder.transform(frame)


def _read_labels(frame: Any, roles: TableRoles, names: Sequence[str], path: str) -> Any:
    if len(frame) == 0:
        return np.zeros((0, len(names)))
    labels = read_label_columns(frame, roles, names)
    if labels.Y is None:  # labels that are all missing in a partition are no problem
        raise TableError(labels.problems, path)
    return labels.Y


def _stack(blocks: Sequence[Any], like: Any) -> Any:
    """Return an array of blocks with unknown numbers of rows, of the type of an array."""
    arrays, shape = need("dask.array", "dask"), (np.nan, like.shape[1])
    return arrays.concatenate([arrays.from_delayed(block, shape, meta=like[:0]) for block in blocks])
