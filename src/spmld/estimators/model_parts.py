"""The parts of a fitted model: the models inside it, its names of features and labels, and linear coefficients."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaseEnsemble
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import to_numpy
from spmld.estimators import (
    LabelPrior,
    MultiLabelEstimator,
    PerLabelClassifier,
    SelfPacedClassifier,
    ThresholdClassifier,
)
from spmld.estimators.outputs import log_odds
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


_Floats = NDArray[np.float64]


def linear_coefficients(model: Any) -> tuple[_Floats, _Floats]:
    """Return coefficients and intercepts with which the scores of a model are ``X @ coef.T + intercept``.

    The scores of a `ThresholdClassifier` are the log-odds of its probabilities. Other models raise ValueError.
    """
    check_is_fitted(model)
    if isinstance(model, FrozenEstimator):
        return linear_coefficients(model.estimator)
    if isinstance(model, ThresholdClassifier) and model.response_method_ == "decision_function":
        coef, intercept = linear_coefficients(model.estimator_)
        slopes = model.calibration_.slopes_
        return slopes[:, None] * coef, slopes * intercept + model.calibration_.intercepts_
    if isinstance(model, SelfPacedClassifier):
        return linear_coefficients(model.estimator_)
    if isinstance(model, PerLabelClassifier):
        return _per_label(model)
    if isinstance(model, LabelPrior):
        return np.zeros((model.n_labels_, model.n_features_in_)), log_odds(model.prior_)
    if isinstance(model, MultiLabelEstimator) and hasattr(model, "coef_") and hasattr(model, "intercept_"):
        return to_numpy(model.coef_).astype(float), to_numpy(model.intercept_).astype(float)
    raise _not_linear(type(model).__name__)


def _per_label(model: PerLabelClassifier) -> tuple[_Floats, _Floats]:
    coef = np.zeros((model.n_labels_, model.n_features_in_))
    intercept = log_odds(model.prior_)
    for j, part in enumerate(model.estimators_):
        if part is None:  # a constant score
            continue
        # The probabilities of another classifier need not be the logistic function of its scores.
        linear = isinstance(part, LogisticRegression) or not hasattr(part, "predict_proba")
        weights = np.ravel(getattr(part, "coef_", ()))  # of shape (1, n_features) or (n_features,)
        if not linear or len(weights) != model.n_features_in_:
            raise _not_linear(f"a PerLabelClassifier of {type(part).__name__}")
        coef[j] = weights
        intercept[j] = np.ravel(part.intercept_)[0]
    return coef, intercept


def _not_linear(got: str) -> ValueError:
    return ValueError(
        f"the model must be linear, MaskedBoosting, LabelBoosting or MaskedForest, got {got}. Linear models are SPMLD, "
        "GLOCAL, LEML, MLLRC, MaskedLogistic, MaskedRidge, LabelPrior, PerLabelClassifier of linear classifiers, and "
        "SelfPacedClassifier or ThresholdClassifier of these"
    )
