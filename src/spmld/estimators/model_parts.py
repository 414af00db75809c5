"""The parts of a fitted model: the models inside it, and the names of its features and labels."""

from collections.abc import Iterator
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaseEnsemble

from spmld.tables import TableEncoder


def feature_names_of(model: Any) -> list[str] | None:
    """Return the names of the features, or None if the model was fitted without names.

    Those of a model that begins with an encoder of tables are the columns of the table that it uses.
    """
    names = getattr(encoder_of(model) or model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def encoder_of(model: Any) -> TableEncoder | ColumnTransformer | None:
    """Return the transformer of the columns of tables with which a model begins; None without one."""
    first = first_step(model)
    return first if isinstance(first, (TableEncoder, ColumnTransformer)) else None


def first_step(model: Any) -> Any:
    """Return the first step of a pipeline, which can be inside a meta-estimator or a search; or else the model."""
    for part in nested_models(model):
        if getattr(part, "steps", None):
            return first_step(part.steps[0][1])
    return part


def nested_models(model: Any) -> Iterator[Any]:
    """Yield a model, and the models inside it: of meta-estimators and searches, and the last steps of pipelines."""
    while model is not None:
        yield model
        if isinstance(model, BaseEnsemble):  # its estimator_ is not fitted
            return
        steps = getattr(model, "steps", None)
        model = steps[-1][1] if steps else getattr(model, "estimator_", getattr(model, "best_estimator_", None))


def find_part(model: Any, attribute: str) -> Any:
    """Return the model, or the first model inside it, that has an attribute; None if there is none."""
    return next((part for part in nested_models(model) if getattr(part, attribute, None) is not None), None)


def label_names_of(model: Any) -> list[str] | None:
    """Return the names of the labels, or None if the model was fitted without names."""
    named = [labels.names for labels in _labels_of(model) if labels.names is not None]
    return [str(name) for name in named[0]] if named else None


def check_names(names: Any, count: int | None, kind: str) -> list[str] | None:
    """Return names as a list of strings; raise an error if there are not `count` of them."""
    if names is None:
        return None
    names = [str(name) for name in names]
    if count is not None and len(names) != count:
        raise ValueError(f"{kind}_names must have {count} names, one for each {kind} of the model, got {len(names)}")
    return names


def shape_of(model: Any) -> tuple[int | None, int | None]:
    """Return the numbers of features and labels, None if they are unknown."""
    n_features = getattr(model, "n_features_in_", None)
    n_labels = [int(labels.signs.shape[1]) for labels in _labels_of(model)]
    return None if n_features is None else int(n_features), n_labels[0] if n_labels else None


def _labels_of(model: Any) -> list[Any]:
    """Return the `Labels` that a model and the models inside it have seen during fit, without samples."""
    seen = [getattr(part, "_labels", None) or getattr(part, "_form", None) for part in nested_models(model)]
    return [labels for labels in seen if labels is not None]
