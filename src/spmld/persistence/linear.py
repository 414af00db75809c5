"""Linear predictors: coefficients, intercepts, thresholds and the link to probabilities; export to NumPy archives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import to_dense, to_numpy
from spmld._io import StrPath, writing
from spmld.estimators import LabelPrior, MultiLabelEstimator, PerLabelClassifier, SelfPacedClassifier
from spmld.estimators.probabilities import log_odds
from spmld.model_selection import ThresholdClassifier
from spmld.persistence.model_parts import check_names, feature_names_of, label_names_of

_Floats = NDArray[np.float64]
_ACCEPTED = (
    "SPMLD, GLOCAL, LEML, MLLRC, MaskedLogistic, MaskedRidge or LabelPrior, PerLabelClassifier of linear classifiers, "
    "SelfPacedClassifier of any of these, or ThresholdClassifier of them"
)


@dataclass(frozen=True)
class Linear:
    """A linear predictor, with scores ``X @ coef.T + intercept``.

    Attributes
    ----------
    coef : ndarray of shape (n_labels, n_features)
        Coefficients.
    intercept : ndarray of shape (n_labels,)
        Intercepts.
    thresholds : ndarray of shape (n_labels,)
        A label is predicted if its score is above its threshold.
    link : {"logistic", "bent"}
        Map from a score s to a probability: 1 / (1 + e^-s) for "logistic"; (1 + s) / 2, with a smooth approach to
        0 and 1 for scores beyond -0.95 and 0.95, for "bent".
    feature_names, label_names : list of str or None
        Names of the features and labels.
    center : ndarray of shape (n_features,) or None
        Means of the training samples, if known. In single precision, ``(X - center) @ coef.T`` is more accurate.

    Examples
    --------
    See `linear_predictor`.
    """

    coef: _Floats
    intercept: _Floats
    thresholds: _Floats
    link: Literal["logistic", "bent"]
    feature_names: list[str] | None = None
    label_names: list[str] | None = None
    center: _Floats | None = None


def linear_predictor(model: Any, *, decisions: bool = True) -> Linear:
    """Return a fitted model as a linear predictor.

    Parameters
    ----------
    model : fitted estimator
        `SPMLD`, `GLOCAL`, `LEML`, `MLLRC`, `MaskedLogistic`, `MaskedRidge` or `LabelPrior`; `PerLabelClassifier` of
        linear classifiers; `SelfPacedClassifier` of any of these; and `ThresholdClassifier` around any
        of these, unless thresholds depend on the sample.
    decisions : bool, default=True
        Whether a model whose thresholds depend on the sample raises an error. Otherwise its thresholds are NaN.

    Returns
    -------
    Linear
        The scores of a calibrated model are the log-odds of its probabilities.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.persistence import linear_predictor
    >>> model = MaskedLogistic().fit([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> linear_predictor(model).coef.shape
    (2, 1)
    """
    check_is_fitted(model)
    predictor, center = _linear(model, decisions), _center(model)
    return replace(predictor, feature_names=feature_names_of(model), label_names=label_names_of(model), center=center)


def export_npz(
    model: Any, path: StrPath, *, label_names: Sequence[str] | None = None, feature_names: Sequence[str] | None = None
) -> None:
    """Write a linear predictor to a NumPy archive, for programs without spmld.

    The arrays are ``coef``, ``intercept``, ``thresholds``, ``label_names``, ``feature_names`` and ``link``, see
    `spmld.persistence.Linear`: scores are ``X @ coef.T + intercept``, and a label is positive above its threshold.

    Parameters
    ----------
    model : fitted estimator
        Any model that `spmld.persistence.linear_predictor` accepts.
    path : str or path-like
        File to write.
    label_names, feature_names : sequence of str, optional
        Names of the labels and features. By default, those seen during fit, or y0, y1, ... and x0, x1, ...

    Examples
    --------
    >>> import tempfile, numpy as np, spmld
    >>> model = spmld.MaskedLogistic().fit([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spmld.export_npz(model, folder + "/model.npz")
    ...     with np.load(folder + "/model.npz") as arrays:
    ...         scores = [[0.5]] @ arrays["coef"].T + arrays["intercept"]
    >>> bool(np.allclose(scores, model.decision_function([[0.5]])))
    True
    """
    predictor = linear_predictor(model)
    l, d = predictor.coef.shape
    predictor = replace(
        predictor,
        label_names=check_names(label_names, l, "label") or predictor.label_names or [f"y{j}" for j in range(l)],
        feature_names=check_names(feature_names, d, "feature")
        or predictor.feature_names
        or [f"x{j}" for j in range(d)],
    )
    arrays = {name: np.array(getattr(predictor, name)) for name in Linear.__dataclass_fields__ if name != "center"}
    with writing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _linear(model: Any, decisions: bool) -> Linear:
    if isinstance(model, ThresholdClassifier):
        return _calibrated(model, decisions)
    if isinstance(model, SelfPacedClassifier):
        return _linear(model.estimator_, decisions)
    if isinstance(model, PerLabelClassifier):
        return _per_label(model)
    if isinstance(model, LabelPrior):
        intercept = log_odds(model.prior_)
        return _make(np.zeros((len(intercept), model.n_features_in_)), intercept, "logistic")
    if isinstance(model, MultiLabelEstimator) and hasattr(model, "coef_") and hasattr(model, "intercept_"):
        coef = to_dense(model.coef_, "coef_")
        return _make(coef, model.intercept_, "logistic" if model.loss == "logistic" else "bent")
    raise _not_linear(type(model).__name__)


def _center(model: Any) -> _Floats | None:
    while isinstance(model, ThresholdClassifier):
        model = model.estimator_
    return getattr(model, "_feature_means", None)


def _not_linear(got: str) -> ValueError:
    hint = "Pass the last step of a pipeline, pipeline[-1]. " if got == "Pipeline" else ""
    return ValueError(
        f"the model must be a linear predictor, got {got}. Accepted: {_ACCEPTED}. export_onnx and explain also accept "
        f"SelfPacedEnsemble and pipelines. {hint}Use spmld.save for other models"
    )


def _make(coef: Any, intercept: Any, link: Literal["logistic", "bent"]) -> Linear:
    W, b = (np.asarray(to_numpy(part), dtype=float) for part in (coef, intercept))
    return Linear(W, b, np.zeros(len(b)), link)


def _per_label(model: PerLabelClassifier) -> Linear:
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
        coef[j], intercept[j] = weights, np.ravel(part.intercept_)[0]
    return _make(coef, intercept, "logistic")


def _calibrated(model: ThresholdClassifier, decisions: bool) -> Linear:
    inner, name = _linear(model.estimator_, decisions), type(model).__name__
    if model.response_method_ != "decision_function":
        raise _not_linear(f"a {name} of a model without decision_function")
    thresholds = model.decision_rule_.thresholds_
    if thresholds is None and decisions:
        raise ValueError(
            f"the model must have a threshold for each label, got {name}(decision={model.decision_rule_.decision!r}). "
            'Use decision="micro_f1", decision="macro_f1" or a number in (0, 1)'
        )
    slopes, shifts = model.calibration_.slopes_, model.calibration_.intercepts_
    calibrated = _make(slopes[:, None] * inner.coef, slopes * inner.intercept + shifts, "logistic")
    return replace(calibrated, thresholds=logit(np.full(len(slopes), np.nan) if thresholds is None else thresholds))
