"""A model and the data it is used on: features and labels brought together by their names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from spmld._io import need
from spmld._response import Predictions, as_frame, predict_all
from spmld.cli.source import given, load, take_part
from spmld.datasets import read_columns
from spmld.datasets.files import table_kind
from spmld.persistence import ModelInfo, model_info
from spmld.persistence import load as load_model

__all__ = ["Matched", "Predictions", "as_frame", "data_name", "frames", "match", "open_model", "predict_all"]


@dataclass(frozen=True)
class Matched:
    """Features in the order of a model, and labels likewise, where they were asked for."""

    X: Any
    Y: Any
    label_names: list[str]


def open_model(path: str, trusted: tuple[str, ...] = ()) -> tuple[Any, ModelInfo]:
    """A model and what its file says of it."""
    return load_model(path, trusted=trusted), model_info(path)


def match(
    source: str, options: dict[str, Any], part: str | None, path: str, info: ModelInfo, *, labels: bool
) -> Matched:
    """The data of a command, as the model of the file `path` takes it.

    Tables are read for the columns that the model needs and no others, label columns only if `labels`. Where the model
    has no names, order decides, and numbers must agree.
    """
    names = info.label_names or [f"y{i}" for i in range(info.n_labels or 0)]
    kind = table_kind(source, options.get("format"))
    if kind is not None and info.feature_names is not None and (info.label_names is not None or not labels):
        if part not in (None, "all"):
            raise ValueError(f"{source} has no official split, so that --part {part} means nothing")
        X, Y = _from_table(source, kind, options, info, labels)
        return Matched(_checked(X, source, path, info), Y, names)
    data = take_part(load(source, **options), part, "test")
    X = data.X if info.feature_names is None else data.X[:, _order(source, path, "features", data, info)]
    X = _checked(X, source, path, info)
    if not labels:
        return Matched(X, None, names)
    if info.label_names is not None:
        return Matched(X, data.Y[:, _order(source, path, "labels", data, info)], names)
    if info.n_labels is not None and data.Y.shape[1] != info.n_labels:
        raise ValueError(f"{source} has {data.Y.shape[1]} labels, but {path} was fitted on {info.n_labels}")
    return Matched(X, data.Y, names)


def _from_table(source: str, kind: str, options: dict[str, Any], info: ModelInfo, labels: bool) -> tuple[Any, Any]:
    chosen = given(options)
    told = chosen.get("labels")
    if labels and told is not None and set(told) != set(info.label_names or ()):
        raise ValueError(
            f"--label must name the labels of the model, {_some(info.label_names or [])}, got {_some(told)}"
        )
    return read_columns(
        source,
        info.feature_names or [],
        (info.label_names or []) if labels else None,
        prefix=chosen.get("prefix") or info.summary.get("prefix") or "label_",
        kind=kind,
        encoding=chosen.get("encoding", "utf-8"),
    )


def _order(source: str, path: str, what: str, data: Any, info: ModelInfo) -> list[int]:
    """Places of the model's features or labels in the data."""
    singular = what.removesuffix("s")
    wanted, there = getattr(info, f"{singular}_names"), list(getattr(data, f"{singular}_names"))
    place = {name: i for i, name in enumerate(there)}
    absent = [name for name in wanted if name not in place]
    if absent or (what == "labels" and len(there) != len(wanted)):
        unknown = [name for name in there if name not in set(wanted)]
        lacking = f"it lacks {_some(absent)}" if absent else f"{path} does not know {_some(unknown)}"
        raise ValueError(f"{source} has {len(there)} {what}, {path} was fitted on {len(wanted)}: {lacking}")
    return [place[name] for name in wanted]


def _checked(X: Any, source: str, path: str, info: ModelInfo) -> Any:
    if info.n_features is not None and X.shape[1] != info.n_features:
        raise ValueError(f"{source} has {X.shape[1]} features, but {path} was fitted on {info.n_features}")
    return X


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def frames(data: Any) -> tuple[Any, Any]:
    """Features and labels with their names, for a fit that is to know them; sparse features have no frame."""
    pandas = need("pandas")
    X = data.X if sp.issparse(data.X) else pandas.DataFrame(data.X, columns=list(data.feature_names))
    return X, pandas.DataFrame(data.Y, columns=list(data.label_names))


def data_name(source: str) -> str:
    """What to call data in a summary: the name of the file without its folders."""
    return Path(source).name
