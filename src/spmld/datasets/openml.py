"""Data sets from OpenML."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from spmld._io import StrPath, need
from spmld.datasets.dataset import Dataset
from spmld.datasets.frames import from_frame
from spmld.labels.words import to_number


def read_openml(
    source: int | str,
    *,
    version: int | None = None,
    labels: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    cache: StrPath | None = None,
) -> Dataset:
    """Download a data set from OpenML, or load it from the cache.

    Parameters
    ----------
    source : int or str
        Number or name of the data set.
    version : int, optional
        Version of a data set given by name. By default, the active version.
    labels : sequence of str, optional
        Names of the label columns. By default, OpenML's targets.
    drop : sequence of str, default=()
        Columns to ignore.
    cache : str or path-like, optional
        Cache folder. By default, scikit-learn's.

    Examples
    --------
    >>> from spmld.datasets import read_openml
    >>> read_openml("yeast", version=4)  # doctest: +SKIP
    Dataset 'yeast': 2417 samples, 103 dense features, 14 labels
    """
    need("pandas")
    from sklearn.datasets import fetch_openml

    which = {"data_id": int(source)} if str(source).isdigit() else {"name": source, "version": version or "active"}
    targets = "default-target" if labels is None else list(labels)
    try:
        content = fetch_openml(**which, target_column=targets, data_home=cache and Path(cache), as_frame="auto")
    except OSError as error:
        raise ConnectionError(
            f"OpenML data set {source!r} could not be downloaded ({error}). Without network access, copy it to this "
            "machine as ARFF or Parquet and read it with spmld.datasets.read_dataset"
        ) from error
    except (KeyError, ValueError) as error:
        raise ValueError(f"OpenML data set {source!r} cannot be read: {error}") from error
    names, name = list(content.target_names), content.details["name"]
    if not names:
        raise ValueError(f"OpenML data set {source!r} has no targets: pass labels=")
    try:
        if content.frame is not None:
            return from_frame(content.frame, labels=names, drop=drop, name=name)
        Y = np.vectorize(to_number, otypes=[float])(np.asarray(content.target, dtype=object).reshape(-1, len(names)))
        kept = [i for i, feature in enumerate(content.feature_names) if feature not in set(drop)]
        return Dataset(content.data[:, kept], Y, [content.feature_names[i] for i in kept], names, name)
    except ValueError as error:
        raise ValueError(f"OpenML data set {source!r} cannot be used: {error}") from error
