"""Coefficients and intercepts of linear models, for explanations and exports."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
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
from spmld.estimators.probabilities import log_odds

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
        f"the model must be linear, a MaskedBoosting or a MaskedForest, got {got}. Linear models are SPMLD, GLOCAL, "
        "LEML, MLLRC, MaskedLogistic, MaskedRidge, LabelPrior, PerLabelClassifier of linear classifiers, and "
        "SelfPacedClassifier or ThresholdClassifier of these"
    )
