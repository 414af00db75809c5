"""Data sets of OpenML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from spmld._io import need, number
from spmld.datasets.dataset import Dataset
from spmld.datasets.tables import from_frame

__all__ = ["read_openml"]


def read_openml(
    source: int | str,
    *,
    version: int | None = None,
    labels: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    cache: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Download a data set from OpenML, or take it from the cache of an earlier download.

    Parameters
    ----------
    source : int or str
        Its number, or its name.
    version : int, optional
        With a name: which version of it. By default the active one.
    labels : sequence of str, optional
        Names of the label columns. By default those that OpenML names as targets.
    drop : sequence of str
        Columns to leave out.
    cache : str or path, optional
        Folder to keep it in. By default scikit-learn's.

    Returns
    -------
    Dataset

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
        found = fetch_openml(**which, target_column=targets, data_home=cache and Path(cache), as_frame="auto")
    except OSError as error:
        raise ConnectionError(
            f"OpenML's data set {source!r} could not be downloaded ({error}). Without network, download it elsewhere "
            "as ARFF or Parquet and give the file to spmld.datasets.read_dataset"
        ) from error
    except (KeyError, ValueError) as error:
        raise ValueError(f"OpenML's data set {source!r} cannot be read: {error}") from error
    names, name = list(found.target_names), found.details["name"]
    if not names:
        raise ValueError(f"OpenML names no targets for the data set {source!r}: give labels")
    try:
        if found.frame is not None:
            return from_frame(found.frame, labels=names, drop=drop, name=name)
        Y = np.vectorize(number, otypes=[float])(np.asarray(found.target, dtype=object).reshape(-1, len(names)))
        kept = [i for i, feature in enumerate(found.feature_names) if feature not in set(drop)]
        return Dataset(found.data[:, kept], Y, [found.feature_names[i] for i in kept], names, name)
    except ValueError as error:
        raise ValueError(f"OpenML's data set {source!r} cannot be used: {error}") from error
