"""Calibration: functions from scores to probabilities, fitted on out-of-fold scores."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from spmld._validation import NonNegative, Positive, Validated
from spmld.core.losses import LOSSES, Loss
from spmld.noise.likelihood import NoiseRates

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]


@dataclass(kw_only=True, eq=False, repr=False)
class PooledCalibration(Validated):
    r"""Calibration with one slope for all labels and a shrunk shift of each label.

    The probability of label j is

    .. math:: p_{ij} = \frac{1}{1 + e^{-(a s_{ij} + b + b_j)}}

    for scores s. The slope :math:`a \ge 0`, the shift b and the shifts :math:`b_j` minimize, over the observed
    entries,

    .. math:: -\sum_{ij} t_{ij} \log p_{ij} + (1 - t_{ij}) \log(1 - p_{ij}) + \frac{\lambda}{2} \sum_j b_j^2,

    where the target t is :math:`(P + 1) / (P + 2)` for the P positives and :math:`1 / (N + 2)` for the N negatives
    (Platt 2000), so that the minimum is finite even if the scores separate them. Rare labels, with too few positives
    for a calibration of their own, borrow from all others. The order of the scores of a label is kept. With noise
    rates, p is the probability of the true label, and the likelihood is that of `NoisyLogistic`.

    Parameters
    ----------
    penalty : float, default=10.0
        :math:`\lambda`.
    min_slope : float, default=0.0
        Lower bound of the slope. A number above 0 keeps the order of scores that do not predict the observed labels.

    Attributes
    ----------
    slopes_ : ndarray of shape (n_labels,)
        a for each label.
    intercepts_ : ndarray of shape (n_labels,)
        :math:`b + b_j` for each label.
    slope_, shift_ : float
        a and b.
    label_shifts_ : ndarray of shape (n_labels,)
        :math:`b_j`.

    Notes
    -----
    Without an observed positive or without an observed negative, scores are taken as log-odds: a is 1, b is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise import PooledCalibration
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(size=(2000, 5)) - 1
    >>> signs = np.where(rng.random((2000, 5)) < 1 / (1 + np.exp(-log_odds)), 1, -1)
    >>> calibration = PooledCalibration().fit(3 * log_odds + 1, signs)
    >>> bool(np.allclose(calibration.transform(3 * log_odds + 1), log_odds, atol=0.3))
    True
    """

    penalty: Positive = 10.0
    min_slope: NonNegative = 0.0

    def fit(
        self, scores: _Floats, signs: _Signs, entry_weight: _Floats | None = None, rates: NoiseRates | None = None
    ) -> Self:
        """Fit the slope and the shifts.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Out-of-fold scores; scores of models fitted on the samples are overconfident.
        signs : ndarray of shape (n_samples, n_labels)
            +1, -1, and 0 where missing.
        entry_weight : ndarray of shape (n_samples, n_labels), optional
            Weights of the entries, by default 1.
        rates : NoiseRates, optional
            Noise rates of the labels or, if they have the shape of the scores, of the entries; by default 0.

        Returns
        -------
        self
        """
        self._validate_params()
        n_labels = signs.shape[1]
        weights = (signs != 0) * np.asarray(1.0 if entry_weight is None else entry_weight, dtype=float)
        rows, labels = np.nonzero(weights)
        weight = weights[rows, labels]
        positive = signs[rows, labels] > 0
        score = scores[rows, labels].astype(float)
        self.slopes_ = np.ones(n_labels)
        self.intercepts_ = np.zeros(n_labels)
        self.slope_ = 1.0
        self.shift_ = 0.0
        self.label_shifts_ = np.zeros(n_labels)
        if positive.all() or not positive.any():
            return self
        n_positives = weight @ positive
        n_negatives = weight @ ~positive
        targets = np.where(positive, (n_positives + 1) / (n_positives + 2), 1 / (n_negatives + 2))
        mean = np.average(score, weights=weight)
        scale = np.sqrt(np.average((score - mean) ** 2, weights=weight)) or 1.0
        start = 0.0, float(np.log((n_positives + 1) / (n_negatives + 1))), np.zeros(n_labels)
        noisy = None if rates is None else NoiseRates(*(np.broadcast_to(r, signs.shape)[rows, labels] for r in rates))
        likelihood = LOSSES["logistic"] if noisy is None else noisy.loss()
        loss = _PooledLoss((score - mean) / scale, labels, targets, weight, self.penalty, likelihood)
        slope, shift, shifts = _minimize(loss, start)
        if slope < 0:
            slope, shift, shifts = _minimize(replace(loss, z=np.zeros(len(score))), start)
        self.slope_ = max(slope / scale, self.min_slope)
        self.shift_ = shift - self.slope_ * mean
        self.label_shifts_ = shifts
        self.slopes_ *= self.slope_
        self.intercepts_ += self.shift_ + shifts
        return self

    def transform(self, scores: _Floats) -> _Floats:
        """Return calibrated log-odds.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Scores.
        """
        return self.slopes_ * scores + self.intercepts_

    def probabilities(self, scores: _Floats) -> _Floats:
        """Return calibrated probabilities.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Scores.
        """
        return np.asarray(expit(self.transform(scores)))


def has_both_classes(signs: _Signs) -> NDArray[np.bool_]:
    """Return which labels have an observed positive and an observed negative.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise.calibration import has_both_classes
    >>> has_both_classes(np.array([[1, 1], [-1, 0]]))
    array([ True, False])
    """
    return np.logical_and((signs > 0).any(axis=0), (signs < 0).any(axis=0))


def trusted_weight(signs: _Signs, trusted: NDArray[np.bool_] | None) -> _Floats:
    """Return weights with which verified entries together weigh at least as much as the others.

    Noise rates may differ from sample to sample; verified entries do not depend on them.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise.calibration import trusted_weight
    >>> trusted_weight(np.array([[1, -1, 1, -1]]), np.array([[True, False, False, False]]))
    array([[3., 1., 1., 1.]])
    """
    checked = np.zeros(signs.shape, dtype=bool) if trusted is None else trusted & (signs != 0)
    n_checked = int(checked.sum())
    n_others = int(((signs != 0) & ~checked).sum())
    return np.where(checked, max(n_others / max(n_checked, 1), 1.0), 1.0)


@dataclass(frozen=True)
class _PooledLoss:
    """The objective of `PooledCalibration`, with a value of z (standardized score), label, target and weight per entry.

    Its arguments are the slope a, the shift b and the shifts c of the labels.
    """

    z: _Floats
    labels: NDArray[np.intp]
    targets: _Floats
    weights: _Floats
    penalty: float
    likelihood: Loss

    def value(self, a: float, b: float, c: _Floats) -> float:
        log_odds = a * self.z + b + c[self.labels]
        return float(self.weights @ self.likelihood.soft_value(self.targets, log_odds) + self.penalty / 2 * c @ c)

    def newton_step(self, a: float, b: float, c: _Floats) -> tuple[float, float, _Floats, float]:
        """Return the steps of a, b and c, and the decrease that they predict.

        The Hessian is diagonal in c, which is eliminated.
        """
        slope, curvature = self.likelihood.soft_derivatives(self.targets, a * self.z + b + c[self.labels])
        residual, curvature = self.weights * slope, self.weights * curvature

        def sums(values: _Floats) -> _Floats:
            return np.asarray(np.bincount(self.labels, values, minlength=len(c)), dtype=float)

        gradient = np.array([residual @ self.z, residual.sum()])
        gradient_c = sums(residual) + self.penalty * c
        cross = np.stack([sums(curvature * self.z), sums(curvature)])
        diagonal = cross[1] + self.penalty
        # The slope of equal scores is undetermined; a tiny ridge keeps it at 0.
        corner = np.array([[curvature @ self.z**2, cross[0].sum()], [cross[0].sum(), curvature.sum()]])
        corner += 1e-12 * self.weights.sum() * np.eye(2)
        reduced = corner - (cross / diagonal) @ cross.T
        step = np.linalg.solve(reduced, gradient - cross @ (gradient_c / diagonal))
        step_c = (gradient_c - step @ cross) / diagonal
        return step[0], step[1], step_c, float(gradient @ step + gradient_c @ step_c)


def _minimize(loss: _PooledLoss, start: tuple[float, float, _Floats]) -> tuple[float, float, _Floats]:
    """Minimize the loss by Newton steps that are halved until the loss does not increase, as long as they can be."""
    a, b, c = start
    value = loss.value(a, b, c)
    for _ in range(100):
        step_a, step_b, step_c, decrease = loss.newton_step(a, b, c)
        if decrease < 1e-16 * loss.weights.sum():
            break
        length = 1.0
        for _ in range(30):
            candidate = a - length * step_a, b - length * step_b, c - length * step_c
            new_value = loss.value(*candidate)
            if new_value <= value * (1 + 1e-14):
                break
            length /= 2
        else:
            break
        a, b, c = candidate
        value = new_value
    return a, b, c
