"""Loading of data sets and models."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spmld._io import need
from spmld.cli.options import used_options
from spmld.datasets import Dataset, load_dataset
from spmld.persistence import ModelInfo, model_info
from spmld.persistence import load as load_model

__all__ = ["check_features", "data_name", "frames", "load", "load_part", "open_model"]


def load(source: str, options: dict[str, Any]) -> Dataset:
    """Load a data set with the options of `source_options`."""
    return load_dataset(source, progress=sys.stderr.isatty(), **used_options(options))


def load_part(source: str, options: dict[str, Any], part: Any, default: Any, *, folds: int | None = None) -> Dataset:
    """Load the samples to fit on: `part`, or `default` if there is an official split, or else all."""
    data = load(source, options)
    data = check_features(data.part(part or (default if data.train is not None else "all")), source)
    if folds is not None and folds > data.X.shape[0]:
        raise ValueError(f"--folds must be at most the number of samples in {source}, {data.X.shape[0]}, got {folds}")
    return data


def check_features(data: Dataset, source: str) -> Dataset:
    """Raise ValueError if a feature is not finite, since no method of the commands imputes features."""
    if not np.isfinite(data.X.data if sp.issparse(data.X) else data.X).all():
        rows, columns = np.nonzero(~np.isfinite(data.X.toarray() if sp.issparse(data.X) else data.X))
        raise ValueError(
            f"{source}: features must be finite numbers, but {len(rows)} are empty or infinite, the first in sample "
            f"{rows[0]}, feature {list(data.feature_names)[columns[0]]}: fill them, or remove the column with --drop"
        )
    return data


def frames(data: Dataset) -> tuple[Any, Any]:
    """Return features and labels as DataFrames, so that a model stores their names; sparse features are unchanged."""
    pandas = need("pandas")
    X = data.X if sp.issparse(data.X) else pandas.DataFrame(data.X, columns=list(data.feature_names))
    return X, pandas.DataFrame(data.Y, columns=list(data.label_names))


def open_model(path: str, trusted: tuple[str, ...] = ()) -> tuple[Any, ModelInfo]:
    """Return the model in a file, and the description of it."""
    return load_model(path, trusted=trusted), model_info(path)


def data_name(source: str) -> str:
    """Return the name of a file without its folders."""
    return Path(source).name
