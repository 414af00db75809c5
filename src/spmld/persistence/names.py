"""What a fitted model knows of its features and labels, wherever it keeps it."""

from __future__ import annotations

from typing import Any

__all__ = ["feature_names_of", "label_names_of", "shape_of"]


def feature_names_of(model: Any) -> list[str] | None:
    """Names of the features, if the fit was given any.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.names import feature_names_of
    >>> feature_names_of(LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]])) is None
    True
    """
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def label_names_of(model: Any) -> list[str] | None:
    """Names of the labels, if the fit was given any; a model around another may leave them to that.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.names import label_names_of
    >>> label_names_of(LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]])) is None
    True
    """
    form = getattr(model, "_labels", None) or getattr(model, "_form", None)
    if form is not None and form.names is not None:
        return [str(name) for name in form.names]
    inner = _inner(model)
    return None if inner is None else label_names_of(inner)


def shape_of(model: Any) -> tuple[int | None, int | None]:
    """Numbers of features and labels, None where the model does not say.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.names import shape_of
    >>> shape_of(LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]]))
    (1, 2)
    """
    form = getattr(model, "_labels", None) or getattr(model, "_form", None)
    features = getattr(model, "n_features_in_", None)
    labels = None if form is None else int(form.signs.shape[1])
    inner = _inner(model)
    if labels is None and inner is not None:
        labels = shape_of(inner)[1]
    return None if features is None else int(features), labels


def _inner(model: Any) -> Any:
    """The model inside: of a meta-estimator, or the last step of a pipeline."""
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else getattr(model, "estimator_", None)
