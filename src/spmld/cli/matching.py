"""Matching of the features and labels of a data set with those of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spmld.cli.loading import load
from spmld.cli.options import used_options
from spmld.datasets import Dataset, read_columns
from spmld.datasets.files import table_kind
from spmld.persistence import ModelInfo

__all__ = ["MatchedData", "match"]


@dataclass(frozen=True)
class MatchedData:
    """Features and labels in the order of a model; Y is None if labels were not requested."""

    X: Any
    Y: Any
    label_names: list[str]


def match(source: str, options: dict[str, Any], part: Any, path: str, info: ModelInfo, *, labels: bool) -> MatchedData:
    """Load data in the form that the model in the file `path` expects.

    Only the columns of a table that the model needs are read, and label columns only if `labels`. Columns are matched
    by name. If the model has no names they are matched by position, and their numbers must agree.
    """
    names = info.label_names or [f"y{i}" for i in range(info.n_labels or 0)]
    kind = table_kind(source, options.get("format"))
    if kind is not None and info.feature_names is not None and (info.label_names is not None or not labels):
        if part not in (None, "all"):
            raise ValueError(f"--part {part} needs an official split, which {source} does not have")
        X, Y = _read_table(source, kind, options, info, labels)
    else:
        data = load(source, options)
        data = data.part(part or ("test" if data.train is not None else "all"))
        X = data.X if info.feature_names is None else data.X[:, _order(source, path, "features", data, info)]
        Y = _labels(source, path, data, info) if labels else None
    if info.n_features is not None and X.shape[1] != info.n_features:
        raise ValueError(f"{source} has {X.shape[1]} features, but {path} was fitted on {info.n_features}")
    return MatchedData(X, Y, names)


def _labels(source: str, path: str, data: Dataset, info: ModelInfo) -> Any:
    if info.label_names is not None:
        return data.Y[:, _order(source, path, "labels", data, info)]
    if info.n_labels is not None and data.Y.shape[1] != info.n_labels:
        raise ValueError(f"{source} has {data.Y.shape[1]} labels, but {path} was fitted on {info.n_labels}")
    return data.Y


def _read_table(source: str, kind: str, options: dict[str, Any], info: ModelInfo, labels: bool) -> tuple[Any, Any]:
    reader_options = used_options(options)
    label_names, columns = info.label_names or [], reader_options.get("labels")
    if labels and columns is not None and set(columns) != set(label_names):
        raise ValueError(f"--label must name the labels of the model, {_shorten(label_names)}, got {_shorten(columns)}")
    return read_columns(
        source,
        info.feature_names or [],
        label_names if labels else None,
        prefix=reader_options.get("prefix") or info.summary.get("prefix") or "label_",
        kind=kind,
        encoding=reader_options.get("encoding", "utf-8"),
    )


def _order(source: str, path: str, what: str, data: Dataset, info: ModelInfo) -> list[int]:
    """Return the indices in the data of the model's features or labels."""
    singular = what.removesuffix("s")
    expected, names = getattr(info, f"{singular}_names"), list(getattr(data, f"{singular}_names"))
    index = {name: i for i, name in enumerate(names)}
    missing = [name for name in expected if name not in index]
    if missing or (what == "labels" and len(names) != len(expected)):
        extra = [name for name in names if name not in set(expected)]
        reason = f"missing {_shorten(missing)}" if missing else f"not in {path}: {_shorten(extra)}"
        raise ValueError(f"{source} has {len(names)} {what}, but {path} was fitted on {len(expected)}: {reason}")
    return [index[name] for name in expected]


def _shorten(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
