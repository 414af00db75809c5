"""Loading of data sets and models."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from spmld._io import need
from spmld.cli.trusted import add_trusted
from spmld.datasets import Dataset, load_dataset, read_columns
from spmld.datasets.files import table_kind

if TYPE_CHECKING:
    from spmld.persistence import ModelInfo


@dataclass(frozen=True)
class MatchedData:
    """Features and labels in the order of a model; Y is None if labels were not requested."""

    X: Any
    Y: Any
    label_names: list[str]


@dataclass(frozen=True)
class Source:
    """Data set of a command.

    It has a file or name, the part of the official split and its default, the options of the reader, and the column or
    file of verified entries.
    """

    path: str
    part: Literal["all", "train", "test"] | None
    default_part: str
    options: dict[str, Any]
    trusted: str | None = None

    @property
    def name(self) -> str:
        """Name of the file without its folders."""
        return Path(self.path).name

    def load(self) -> Dataset:
        """Load all samples."""
        data = load_dataset(self.path, progress=sys.stderr.isatty(), **self.options)
        return data if self.trusted is None else add_trusted(data, self.path, self.trusted, self.options)

    def load_part(self, folds: int | None = None) -> Dataset:
        """Load the samples to fit on: the part, or all if there is no official split."""
        data = self._select(self.load(), self.default_part)
        self.check_features(data)
        if folds is not None and folds > data.X.shape[0]:
            n = data.X.shape[0]
            raise ValueError(f"--folds must be at most the number of samples in {self.path}, {n}, got {folds}")
        return data

    def check_features(self, data: Dataset) -> None:
        """Raise ValueError if a feature is not finite, since no method of the commands imputes features."""
        if np.isfinite(data.X.data if sp.issparse(data.X) else data.X).all():
            return
        rows, columns = np.nonzero(~np.isfinite(data.X.toarray() if sp.issparse(data.X) else data.X))
        raise ValueError(
            f"{self.path}: features must be finite numbers, but {len(rows)} are empty or infinite, the first in sample "
            f"{rows[0]}, feature {list(data.feature_names)[columns[0]]}: fill them, or remove the column with --drop"
        )

    def match(self, path: str, info: ModelInfo, *, labels: bool) -> MatchedData:
        """Load data in the form that the model in the file `path` expects.

        Only the columns of a table that the model needs are read, and label columns only if `labels`. Columns are
        matched by name. If the model has no names they are matched by position, and their numbers must agree.
        """
        kind = table_kind(self.path, self.options.get("format"))
        if kind is not None and info.feature_names is not None and (info.label_names is not None or not labels):
            if self.part not in (None, "all"):
                raise ValueError(f"--part {self.part} needs an official split, which {self.path} does not have")
            X, Y = self._read_table(kind, info, labels)
        else:
            data = self._select(self.load(), "test")
            X = data.X[:, self._order("feature", data.feature_names, info.feature_names, path)]
            Y = data.Y[:, self._order("label", data.label_names, info.label_names, path)] if labels else None
            if labels and info.n_labels is not None:
                self._check_count("labels", Y, info.n_labels, path)
        if info.n_features is not None:
            self._check_count("features", X, info.n_features, path)
        return MatchedData(X, Y, info.label_names or [f"y{i}" for i in range(info.n_labels or 0)])

    def _select(self, data: Dataset, default: Any) -> Dataset:
        return data.part(self.part or (default if data.train is not None else "all"))

    def _read_table(self, kind: str, info: ModelInfo, labels: bool) -> tuple[Any, Any]:
        names, columns = info.label_names or [], self.options.get("labels")
        if labels and columns is not None and set(columns) != set(names):
            raise ValueError(f"--label must name the labels of the model, {_shorten(names)}, got {_shorten(columns)}")
        prefix = self.options.get("prefix") or info.summary.get("prefix") or "label_"
        options = {"prefix": prefix, "kind": kind, "encoding": self.options.get("encoding", "utf-8")}
        return read_columns(self.path, info.feature_names or [], names if labels else None, **options)

    def _order(self, kind: str, names: Any, expected: list[str] | None, path: str) -> Any:
        """Return the indices in the data of the model's features or labels."""
        if expected is None:
            return slice(None)
        index = {name: i for i, name in enumerate(names)}
        missing = [name for name in expected if name not in index]
        if missing or (kind == "label" and len(index) != len(expected)):
            extra = [name for name in index if name not in set(expected)]
            reason = f"missing {_shorten(missing)}" if missing else f"not in {path}: {_shorten(extra)}"
            raise ValueError(
                f"{self.path} has {len(index)} {kind}s, but {path} was fitted on {len(expected)}: {reason}"
            )
        return [index[name] for name in expected]

    def _check_count(self, kind: str, values: Any, expected: int, path: str) -> None:
        if values.shape[1] != expected:
            raise ValueError(f"{self.path} has {values.shape[1]} {kind}, but {path} was fitted on {expected}")


def frames(data: Dataset) -> tuple[Any, Any]:
    """Return features and labels as DataFrames, so that a model stores their names; sparse features are unchanged."""
    pandas = need("pandas")
    X = data.X if sp.issparse(data.X) else pandas.DataFrame(data.X, columns=list(data.feature_names))
    return X, pandas.DataFrame(data.Y, columns=list(data.label_names))


def open_model(path: str, trusted: tuple[str, ...] = ()) -> tuple[Any, ModelInfo]:
    """Return the model in a file, and the description of it."""
    from spmld.persistence import load, model_info

    return load(path, trusted=trusted), model_info(path)


def _shorten(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
