"""Names and numbers of the features and labels of a fitted model."""

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaseEnsemble

from spmld.preprocessing import TableEncoder


def feature_names_of(model: Any) -> list[str] | None:
    """Return the names of the features, or None if the model was fitted without names.

    Those of a model that begins with an encoder of tables are the columns of the table that it uses.
    """
    names = getattr(encoder_of(model) or model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def encoder_of(model: Any) -> TableEncoder | ColumnTransformer | None:
    """Return the transformer of the columns of tables with which a model begins; None without one.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.names import encoder_of
    >>> from spmld.preprocessing import TableEncoder
    >>> encoder_of(make_pipeline(TableEncoder(), LabelPrior())), encoder_of(LabelPrior())
    (TableEncoder(), None)
    """
    first = first_step(model)
    return first if isinstance(first, (TableEncoder, ColumnTransformer)) else None


def first_step(model: Any) -> Any:
    """Return the first step of a pipeline, which can be inside a meta-estimator or a search; or else the model."""
    steps = getattr(model, "steps", None)
    inner = steps[0][1] if steps else _inner(model)
    return model if inner is None else first_step(inner)


def label_names_of(model: Any) -> list[str] | None:
    """Return the names of the labels, or None if the model was fitted without names.

    Examples
    --------
    >>> import pandas as pd
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.names import label_names_of
    >>> label_names_of(LabelPrior().fit([[0], [1]], pd.DataFrame({"sad": [1, 0], "calm": [0, 1]})))
    ['sad', 'calm']
    """
    form = _labels_of(model)
    if form is not None and form.names is not None:
        return [str(name) for name in form.names]
    inner = _inner(model)
    return None if inner is None else label_names_of(inner)


def check_names(names: Any, count: int | None, kind: str) -> list[str] | None:
    """Return names as a list of strings; raise an error if there are not `count` of them."""
    if names is None:
        return None
    names = [str(name) for name in names]
    if count is not None and len(names) != count:
        raise ValueError(f"{kind}_names must have {count} names, one for each {kind} of the model, got {len(names)}")
    return names


def shape_of(model: Any) -> tuple[int | None, int | None]:
    """Return the numbers of features and labels, None if they are unknown.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.persistence.names import shape_of
    >>> shape_of(LabelPrior().fit([[0], [1]], [[1, 0], [0, 1]]))
    (1, 2)
    """
    form, inner = _labels_of(model), _inner(model)
    n_features = getattr(model, "n_features_in_", None)
    n_labels = None if form is None else int(form.signs.shape[1])
    if n_labels is None and inner is not None:
        n_labels = shape_of(inner)[1]
    return None if n_features is None else int(n_features), n_labels


def _labels_of(model: Any) -> Any:
    """Return the `Labels` seen during fit, without samples."""
    return getattr(model, "_labels", None) or getattr(model, "_form", None)


def _inner(model: Any) -> Any:
    """Return the model inside a meta-estimator or search, or the last step of a pipeline."""
    if isinstance(model, BaseEnsemble):  # its estimator_ is not fitted
        return None
    steps = getattr(model, "steps", None)
    return steps[-1][1] if steps else getattr(model, "estimator_", getattr(model, "best_estimator_", None))
