"""Classifier with calibrated probabilities."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from spmld._validation import StrOptions
from spmld.model_selection._cross_fitted import CrossFittedClassifier
from spmld.model_selection.thresholds import Decision
from spmld.noise.calibration import CALIBRATIONS


@dataclass(kw_only=True, eq=False, repr=False)
class CalibratedClassifier(CrossFittedClassifier):
    """Classifier with calibrated probabilities, fitted on out-of-fold scores.

    Clones of the base estimator are fitted on the training samples of each fold and score the test samples. The
    calibration is fitted on the scores of the observed entries. Then the base estimator is fitted on all samples.
    Labels with probabilities above 0.5 are predicted.

    Parameters
    ----------
    estimator : estimator
        Base estimator with `decision_function` (preferred) or `predict_proba`. It must accept NaN in Y if labels are
        missing.
    method : {"pooled", "sigmoid", "isotonic"}, default="pooled"
        "pooled" fits one slope for all labels and a shrunk shift of each label, see `PooledCalibration`. "sigmoid" fits
        a slope and a shift for each label (Platt 2000). "isotonic" fits a non-decreasing function for each label, with
        values from 1 / (m + 2) to (m + 1) / (m + 2) for m observed entries; it needs many of them.
    cv : int, splitter, iterable of splits or "prefit", default=5
        Folds. An integer is the number of folds of `MultilabelStratifiedKFold`. With "prefit" the base estimator is
        already fitted, and its scores of all samples are used.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState or None, default=None
        Seed for the folds, if `cv` is an integer.

    Attributes
    ----------
    estimator_ : estimator
        Base estimator fitted on all samples.
    response_method_ : str
        Method of the base estimator that returns the scores. Those of `predict_proba` are converted to log-odds.
    calibration_ : PooledCalibration
        The fitted calibration. With "sigmoid" and "isotonic", labels without an observed positive or an observed
        negative use the pooled calibration, and a UserWarning names them.
    decision_rule_ : DecisionRule
        The rule that predicts labels from probabilities.
    classes_ : ndarray of shape (2,)
        Negative and positive class.
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Notes
    -----
    Entries of a fold are left out of the calibration of a label that has no observed positive or no observed negative
    in the training samples of the fold. If nothing is left, scores are used as log-odds, with a UserWarning.

    There is no `decision_function`, so that ranking metrics use the calibrated probabilities.

    See Also
    --------
    ThresholdClassifier : Calibrated probabilities and decisions with a high F1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from spmld.model_selection import CalibratedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> Y = (X + rng.normal(size=(200, 2)) > 1).astype(int)
    >>> model = CalibratedClassifier(RidgeClassifier(), random_state=0).fit(X, Y)
    >>> bool(np.allclose(model.predict_proba(X).mean(axis=0), Y.mean(axis=0), atol=0.02))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CrossFittedClassifier._parameter_constraints,
        "method": [StrOptions(set(CALIBRATIONS))],
    }

    method: Literal["pooled", "sigmoid", "isotonic"] = "pooled"

    def _settings(self) -> tuple[str, Decision]:
        return self.method, 0.5
