"""Calibration of scores into probabilities for each label."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from spmld._validation import StrOptions
from spmld.labels import Labels
from spmld.model_selection._cross_fitted import CrossFittedClassifier

_Floats = NDArray[np.float64]


def fit_sigmoids(scores: _Floats, signs: NDArray[np.int8], max_iter: int = 100) -> tuple[_Floats, _Floats]:
    r"""Fit sigmoids from scores to probabilities, for all labels at once (Platt 2000).

    For each label the slope a and the intercept b minimize, over its observed entries with scores s,

    .. math:: -\sum t \log p + (1 - t) \log(1 - p), \qquad p = \frac{1}{1 + e^{-(a s + b)}},

    where the target t is :math:`(P + 1) / (P + 2)` for the P positives and :math:`1 / (N + 2)` for the N negatives.
    The objective is convex with a finite minimum. The solver is Newton's method with backtracking. scikit-learn's
    sigmoid calibration fits one label at a time, and stops early if the scores are far from 0.

    Parameters
    ----------
    scores, signs
        As in `spmld.model_selection.thresholds.f1_thresholds`.
    max_iter : int, default=100
        Maximum number of Newton iterations.

    Returns
    -------
    slopes, intercepts : ndarray of shape (n_labels,)

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.model_selection.calibration import fit_sigmoids
    >>> slope, intercept = fit_sigmoids(np.array([[-1.0], [1.0]]), np.array([[-1], [1]]))
    >>> slope.round(4), abs(intercept.round(4))
    (array([0.6931]), array([0.]))
    """
    observed = (signs != 0).T.astype(float)
    n_observed = observed.sum(axis=1)
    positives, negatives = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    targets = np.where(signs > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2)).T
    mean = (observed * scores.T).sum(axis=1) / n_observed
    Z = observed * (scores.T - mean[:, None])
    scale = np.sqrt((Z**2).sum(axis=1) / n_observed)
    scale[scale == 0] = 1
    Z /= scale[:, None]
    start = np.zeros(len(Z)), np.log((positives + 1) / (negatives + 1))
    a, b = _minimize(_PlattLoss(Z, targets, observed), *start, max_iter)
    return a / scale, b - a * mean / scale


@dataclass(frozen=True)
class _PlattLoss:
    """Platt's objective for all labels, with standardized scores Z of shape (n_labels, n_samples)."""

    Z: _Floats
    targets: _Floats
    observed: _Floats

    def evaluate(self, a: _Floats, b: _Floats) -> tuple[_Floats, _Floats]:
        """Return the loss of each label, and the probabilities."""
        margin = a[:, None] * self.Z + b[:, None]
        small = np.exp(-np.abs(margin))
        loss = np.maximum(margin, 0) + np.log1p(small) - self.targets * margin
        return np.einsum("ij,ij->i", self.observed, loss), np.where(margin >= 0, 1, small) / (1 + small)

    def newton_step(self, p: _Floats) -> tuple[_Floats, _Floats, _Floats]:
        """Return the steps of a and b at probabilities p, and the decrease that they predict."""
        residual, weight = self.observed * (p - self.targets), self.observed * p * (1 - p)
        ga, gb = np.einsum("ij,ij->i", residual, self.Z), residual.sum(axis=1)
        # The slope of equal scores is undetermined; a tiny ridge keeps it at 0.
        haa, hbb = np.einsum("ij,ij,ij->i", weight, self.Z, self.Z) + 1e-12, weight.sum(axis=1) + 1e-12
        hab = np.einsum("ij,ij->i", weight, self.Z)
        determinant = haa * hbb - hab**2
        step_a, step_b = (hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant
        return step_a, step_b, ga * step_a + gb * step_b


def _minimize(problem: _PlattLoss, a: _Floats, b: _Floats, max_iter: int) -> tuple[_Floats, _Floats]:
    """Minimize the loss by Newton steps that are halved, label by label, until the loss does not increase."""
    loss, p = problem.evaluate(a, b)
    for _ in range(max_iter):
        step_a, step_b, decrease = problem.newton_step(p)
        if (decrease < 1e-18 * problem.observed.sum(axis=1)).all():
            break
        length = np.ones(len(a))
        for _ in range(30):
            new_loss, p = problem.evaluate(a - length * step_a, b - length * step_b)
            increased = new_loss > loss * (1 + 1e-14)
            if not increased.any():
                break
            length[increased] /= 2
        a, b, loss = a - length * step_a, b - length * step_b, new_loss
    return a, b


@dataclass(kw_only=True, eq=False, repr=False)
class CalibratedClassifier(CrossFittedClassifier):
    """Classifier with calibrated probabilities for each label, fitted on out-of-fold scores.

    Clones of the base estimator are fitted on the training samples of each fold and score the test samples. For each
    label, a calibrator is fitted on the scores of the observed entries. Then the base estimator is fitted on all
    samples.

    Parameters
    ----------
    estimator : estimator
        Base estimator with `decision_function` (preferred) or `predict_proba`. It must accept NaN in Y if labels are
        missing.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        "sigmoid" fits two parameters for each label, see `fit_sigmoids`. "isotonic" fits a non-decreasing function
        with values from 1 / (m + 2) to (m + 1) / (m + 2) for m observed entries; it needs many of them.
    cv, n_jobs, random_state
        As in `ThresholdClassifier`.

    Attributes
    ----------
    estimator_, response_method_, classes_, n_features_in_, feature_names_in_
        As in `ThresholdClassifier`.
    tuned_ : ndarray of bool of shape (n_labels,)
        Calibrated labels. Labels without an observed positive or an observed negative in the training samples of a fold
        keep the probabilities of the base estimator or, if it has no `predict_proba`, get the constant probability in
        `priors_`; a UserWarning names them.
    slopes_, intercepts_ : ndarray of shape (n_labels,)
        Parameters of the sigmoids with "sigmoid", NaN for labels that are not calibrated.
    calibrators_ : list of IsotonicRegression or None
        Fitted functions with "isotonic", None for labels that are not calibrated.
    priors_ : ndarray of shape (n_labels,)
        (P + 1) / (P + N + 2) for the P observed positives and N observed negatives of each label.

    Notes
    -----
    There is no `decision_function`, so that ranking metrics use the calibrated probabilities.

    See Also
    --------
    ThresholdClassifier : Tuned thresholds; it accepts this classifier as base estimator.

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
        "method": [StrOptions({"sigmoid", "isotonic"})],
    }

    method: Literal["sigmoid", "isotonic"] = "sigmoid"

    def _fit_scores(self, scores: Any, signs: Any, labels: Labels) -> None:
        has_probabilities = hasattr(self.estimator_, "predict_proba")
        source = "probabilities of the base estimator" if has_probabilities else "smoothed fractions of positives"
        self._warn_of_untuned(labels, f"the {source} are used")
        self.priors_ = ((labels.signs > 0).sum(axis=0) + 1) / ((labels.signs != 0).sum(axis=0) + 2)
        if self.method == "sigmoid":
            self.slopes_, self.intercepts_ = np.full((2, len(self.tuned_)), np.nan)
            sigmoids = fit_sigmoids(scores[:, self.tuned_], signs[:, self.tuned_])
            self.slopes_[self.tuned_], self.intercepts_[self.tuned_] = sigmoids
        else:
            self.calibrators_: list[Any] = [
                _fit_isotonic(*label) if tuned else None
                for *label, tuned in zip(scores.T, signs.T, self.tuned_, strict=True)
            ]

    def predict_proba(self, X: Any) -> _Floats:
        """Return the calibrated probability of each label or, if `y` was a vector, of its two classes.

        Parameters
        ----------
        X
            As in `predict`.
        """
        P = self._probabilities(X)
        return np.hstack([1 - P, P]) if self._form.one_dimensional else P

    def _predict_positive(self, X: Any) -> NDArray[np.bool_]:
        return self._probabilities(X) > 0.5

    def _probabilities(self, X: Any) -> _Floats:
        scores = self._estimator_scores(X)
        tuned = self.tuned_
        if tuned.all():
            P = np.empty(scores.shape)
        elif hasattr(self.estimator_, "predict_proba"):
            P = self._estimator_scores(X, "predict_proba")
        else:
            P = np.tile(self.priors_, (len(scores), 1))
        if self.method == "sigmoid":
            P[:, tuned] = expit(self.slopes_[tuned] * scores[:, tuned] + self.intercepts_[tuned])
        else:
            for j in np.flatnonzero(tuned):
                P[:, j] = self.calibrators_[j].predict(scores[:, j])
        return P


def _fit_isotonic(scores: _Floats, signs: NDArray[np.int8]) -> IsotonicRegression:
    observed = signs != 0
    low = 1 / (observed.sum() + 2)
    return IsotonicRegression(y_min=low, y_max=1 - low, out_of_bounds="clip").fit(scores[observed], signs[observed] > 0)
