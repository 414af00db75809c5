"""Calibration of each label: from scores to probabilities."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from spmld.model_selection._meta import CrossFitted

__all__ = ["CalibratedClassifier", "fit_sigmoids"]

_Floats = NDArray[np.float64]


def fit_sigmoids(scores: _Floats, signs: NDArray[np.int8], max_iter: int = 100) -> tuple[_Floats, _Floats]:
    r"""Sigmoids from scores to probabilities, of all labels at once (Platt 2000).

    For each label the slope a and the intercept b minimise, over its observed entries with scores s,

    .. math:: -\sum t \log p + (1 - t) \log(1 - p), \qquad p = \frac{1}{1 + e^{-(a s + b)}},

    where the target t is :math:`(P + 1) / (P + 2)` for the P positives and :math:`1 / (N + 2)` for the N negatives.
    It is convex with a finite minimum, found by Newton steps that are halved while they do not descend.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Finite scores.
    signs : ndarray of shape (n_samples, n_labels)
        +1, -1, and 0 where unobserved; at least one entry of each label is observed.
    max_iter : int
        Newton steps at most.

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
    seen = (signs != 0).T.astype(float)
    observed = seen.sum(axis=1)
    positives, negatives = (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)
    targets = np.where(signs > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2)).T
    mean = (seen * scores.T).sum(axis=1) / observed
    Z = seen * (scores.T - mean[:, None])
    scale = np.sqrt((Z**2).sum(axis=1) / observed)
    scale[scale == 0] = 1
    Z /= scale[:, None]

    def evaluate(a: _Floats, b: _Floats) -> tuple[_Floats, _Floats]:
        """The sum to be minimised for each label, and the probabilities."""
        margin = a[:, None] * Z + b[:, None]
        small = np.exp(-np.abs(margin))
        loss = np.maximum(margin, 0) + np.log1p(small) - targets * margin
        return np.einsum("ij,ij->i", seen, loss), np.where(margin >= 0, 1, small) / (1 + small)

    a, b = np.zeros(len(Z)), np.log((positives + 1) / (negatives + 1))
    loss, p = evaluate(a, b)
    for _ in range(max_iter):
        residual, weight = seen * (p - targets), seen * p * (1 - p)
        ga, gb = np.einsum("ij,ij->i", residual, Z), residual.sum(axis=1)
        # Equal scores leave the slope open, and a tiny ridge keeps it at 0.
        haa, hbb = np.einsum("ij,ij,ij->i", weight, Z, Z) + 1e-12, weight.sum(axis=1) + 1e-12
        hab = np.einsum("ij,ij->i", weight, Z)
        determinant = haa * hbb - hab**2
        step_a, step_b = (hbb * ga - hab * gb) / determinant, (haa * gb - hab * ga) / determinant
        if (ga * step_a + gb * step_b < 1e-18 * observed).all():
            break
        length = np.ones(len(a))
        for _ in range(30):
            new_loss, p = evaluate(a - length * step_a, b - length * step_b)
            worse = new_loss > loss * (1 + 1e-14)
            if not worse.any():
                break
            length[worse] /= 2
        a, b, loss = a - length * step_a, b - length * step_b, new_loss
    return a / scale, b - a * mean / scale


class CalibratedClassifier(CrossFitted):
    """Probabilities of each label, calibrated on scores of rows the estimator was not fitted on.

    The estimator is cloned and fitted on the training rows of each fold, and scores the rows left out; a calibrator of
    each label is fitted on these scores, at the observed entries alone. Then the estimator is fitted on all rows.

    Parameters
    ----------
    estimator : estimator
        With `decision_function` (taken if there) or `predict_proba`. It must accept NaN in Y if there is any.
    method : {"sigmoid", "isotonic"}
        "sigmoid" fits two numbers to each label, see `fit_sigmoids`. "isotonic" fits any rising function with values
        from 1 / (m + 2) to (m + 1) / (m + 2), as m observed entries make nothing certain; it needs many of them.
    cv : int, splitter, iterable of splits or "prefit"
        How to cross-fit. An integer is the number of folds of `spmld.model_selection.MultilabelStratifiedKFold`. With "prefit"
        the estimator is already fitted, and all rows given to `fit` serve to calibrate.
    n_jobs : int or None
        Folds fitted at the same time.
    random_state : int, RandomState or None
        Seed of the folds, if `cv` is an integer.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all rows.
    tuned_ : ndarray of bool of shape (n_labels,)
        Which labels are calibrated. A label without an observed positive or an observed negative, in all or in the
        training rows of a fold, is not: it keeps the probabilities of the estimator or, where that has none, the
        share (P + 1) / (P + N + 2) from its P observed positives and N observed negatives; a UserWarning names it.
    slopes_, intercepts_ : ndarray of shape (n_labels,)
        The sigmoids, NaN for labels that are not calibrated; with "sigmoid".
    calibrators_ : list of IsotonicRegression or None
        The rising functions, None for labels that are not calibrated; with "isotonic".
    priors_ : ndarray of shape (n_labels,)
        (P + 1) / (P + N + 2) for each label.
    classes_ : ndarray of shape (2,)
        How a negative and a positive are written.
    n_features_in_, feature_names_in_
        Those of `estimator_`, if it has them.

    Notes
    -----
    There is no `decision_function`: metrics of ranking then take the calibrated probabilities.

    See Also
    --------
    ThresholdClassifier : Decisions instead of probabilities; may be put around this.

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

    def __init__(
        self,
        estimator: Any,
        *,
        method: Literal["sigmoid", "isotonic"] = "sigmoid",
        cv: Any = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, mask: Any = None) -> CalibratedClassifier:
        """Fit the calibrators and the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : labels in any form of `spmld.labels.read_labels`
            NaN where missing.
        mask : array-like of bool of the shape of `y`, optional
            True where a label is observed.

        Returns
        -------
        CalibratedClassifier
        """
        if self.method not in ("sigmoid", "isotonic"):
            raise ValueError(f'method must be "sigmoid" or "isotonic", got {self.method!r}')
        labels, scores, signs = self._fit_estimator(X, y, mask, cross_fit=True)
        own = hasattr(self.estimator_, "predict_proba")
        self._warn_of_untuned(
            labels,
            "the probabilities of the estimator are kept" if own else "the share of positives is the probability",
        )
        self.priors_ = ((labels.signs > 0).sum(axis=0) + 1) / ((labels.signs != 0).sum(axis=0) + 2)
        if self.method == "sigmoid":
            self.slopes_, self.intercepts_ = np.full((2, len(self.tuned_)), np.nan)
            fitted = fit_sigmoids(scores[:, self.tuned_], signs[:, self.tuned_])
            self.slopes_[self.tuned_], self.intercepts_[self.tuned_] = fitted
        else:
            self.calibrators_: list[Any] = [
                _fit_isotonic(*pair) if tuned else None
                for *pair, tuned in zip(scores.T, signs.T, self.tuned_, strict=True)
            ]
        return self

    def predict_proba(self, X: Any) -> _Floats:
        """Calibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Of each label being positive. For a fit on a vector y: of shape (n_samples, 2), of negative and positive.
        """
        P = self._probabilities(X)
        return np.hstack([1 - P, P]) if self._form.one_dimensional else P

    def _positive(self, X: Any) -> NDArray[np.bool_]:
        return self._probabilities(X) > 0.5

    def _probabilities(self, X: Any) -> _Floats:
        scores = self._scores(X)
        tuned = self.tuned_
        if tuned.all():
            P = np.empty(scores.shape)
        elif hasattr(self.estimator_, "predict_proba"):
            P = self._scores(X, response="predict_proba")
        else:
            P = np.tile(self.priors_, (len(scores), 1))
        if self.method == "sigmoid":
            P[:, tuned] = expit(self.slopes_[tuned] * scores[:, tuned] + self.intercepts_[tuned])
        else:
            for j in np.flatnonzero(tuned):
                P[:, j] = self.calibrators_[j].predict(scores[:, j])
        return P


def _fit_isotonic(scores: _Floats, signs: NDArray[np.int8]) -> IsotonicRegression:
    seen = signs != 0
    least = 1 / (seen.sum() + 2)
    return IsotonicRegression(y_min=least, y_max=1 - least, out_of_bounds="clip").fit(scores[seen], signs[seen] > 0)
