"""Calibration: functions from scores to probabilities, fitted on out-of-fold scores."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from spmld._validation import NonNegative, Positive, Validated
from spmld.core.losses import LOSSES, Loss
from spmld.noise.likelihood import NoiseRates

_Floats = NDArray[np.float64]
_Signs = NDArray[np.int8]

N_ROUNDS = 3
"""Number of alternations of the lines of the labels and their distribution."""
MAX_PRIOR_STEPS = 100
"""Maximum number of steps for the variances in each of them."""
PRIOR_TOLERANCE = 1e-3
"""Relative change of the variances at which they stop, and inverse of their largest precision, likewise."""
MIN_PRECISION = 1e-4
"""Least precision of slopes and shifts: log-odds of a hundred are those of certain labels."""
_NEGLIGIBLE = 1e-12
"""Number of labels that is negligible."""
MAX_STEPS = 100
"""Maximum number of Newton steps."""
MAX_LINE_HALVINGS = 30
"""Maximum number of halvings of a Newton step."""


@dataclass(kw_only=True, eq=False, repr=False)
class PooledCalibration(Validated):
    r"""Calibration with a slope and a shift of each label, which are shrunk to those of all labels.

    The probability of label j is

    .. math:: p_{ij} = \frac{1}{1 + e^{-(a_j s_{ij} + b_j)}}

    for scores s. The slopes :math:`a_j \ge 0` and the shifts :math:`b_j` are drawn from normal distributions, whose
    means and variances are estimated from all labels: if labels are alike, they share one slope, and if they differ,
    each label has its own (empirical Bayes). Rare labels, with too few positives for a calibration of their own, borrow
    from all others. Given the distributions, slopes and shifts minimize, over the observed entries,

    .. math:: -\sum_{ij} t_{ij} \log p_{ij} + (1 - t_{ij}) \log(1 - p_{ij})

    plus the negative log-densities. The target t is :math:`(P + 1) / (P + 2)` for the P positives and
    :math:`1 / (N + 2)` for the N negatives (Platt 2000), so that the minimum is finite even if the scores separate
    them. The order of the scores of a label is kept. With noise rates, p is the probability of the true label, and the
    likelihood is that of `NoisyLogistic`.

    Parameters
    ----------
    min_slope : float, default=0.0
        Lower bound of the slopes. A number above 0 keeps the order of scores that do not predict the observed labels.
    tol : float, default=1e-14
        Stop when a Newton step decreases the loss of a label by at most this fraction of the weights of all entries.

    Attributes
    ----------
    slopes_, intercepts_ : ndarray of shape (n_labels,)
        :math:`a_j` and :math:`b_j`.
    log_likelihood_ : float
        Marginal log-likelihood, in which the slopes and shifts of the labels are integrated out (Laplace's method).

    Notes
    -----
    Without an observed positive or without an observed negative, scores are taken as log-odds: slopes are 1, shifts 0.

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

    min_slope: NonNegative = 0.0
    tol: Positive = 1e-14

    def fit(
        self, scores: _Floats, signs: _Signs, entry_weight: _Floats | None = None, rates: NoiseRates | None = None
    ) -> Self:
        """Fit the slopes and the shifts.

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
        self.slopes_ = np.ones(n_labels)
        self.intercepts_ = np.zeros(n_labels)
        self.log_likelihood_ = 0.0
        if positive.all() or not positive.any():
            return self
        score = scores[rows, labels].astype(float)
        mean = np.average(score, weights=weight)
        scale = np.sqrt(np.average((score - mean) ** 2, weights=weight)) or 1.0
        n_positives = weight @ positive
        n_negatives = weight @ ~positive
        targets = np.where(positive, (n_positives + 1) / (n_positives + 2), 1 / (n_negatives + 2))
        noisy = None if rates is None else NoiseRates(*(np.broadcast_to(r, signs.shape)[rows, labels] for r in rates))
        likelihood = LOSSES["logistic"] if noisy is None else noisy.loss()
        entries = _Entries((score - mean) / scale, labels, targets, weight, likelihood, self.tol)
        shift = float(np.log((n_positives + 1) / (n_negatives + 1)))
        lines, self.log_likelihood_ = _fit_lines(entries, n_labels, shift)
        self.slopes_ = np.maximum(lines[:, 0] / scale, self.min_slope)
        self.intercepts_ = lines[:, 1] - self.slopes_ * mean
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


class _Prior(NamedTuple):
    """Normal distribution of lines (slope, shift): means, and inverse variances."""

    mean: _Floats
    precision: _Floats


class _Entries(NamedTuple):
    """Observed entries: standardized score z, label, target and weight of each, and their likelihood."""

    z: _Floats
    labels: NDArray[np.intp]
    targets: _Floats
    weights: _Floats
    likelihood: Loss
    tol: float

    def sums(self, values: _Floats, n: int) -> _Floats:
        """Return the sum of weighted values of the entries of each label."""
        return np.bincount(self.labels, self.weights * values, minlength=n).astype(float)

    def losses(self, lines: _Floats, prior: _Prior) -> _Floats:
        """Return the loss of each label."""
        log_odds = lines[self.labels, 0] * self.z + lines[self.labels, 1]
        loss = self.sums(self.likelihood.soft_value(self.targets, log_odds), len(lines))
        return loss + ((lines - prior.mean) ** 2 @ prior.precision) / 2

    def derivatives(self, lines: _Floats) -> tuple[_Floats, _Floats]:
        """Return the gradient of the loss of each label without the prior, and its Hessian."""
        n = len(lines)
        log_odds = lines[self.labels, 0] * self.z + lines[self.labels, 1]
        slope, curvature = self.likelihood.soft_derivatives(self.targets, log_odds)
        gradient = np.stack([self.sums(slope * self.z, n), self.sums(slope, n)], axis=-1)
        corner = self.sums(curvature * self.z, n)
        diagonal = self.sums(curvature * self.z**2, n), self.sums(curvature, n)
        hessian = np.stack([diagonal[0], corner, corner, diagonal[1]], axis=-1)
        return gradient, hessian.reshape(n, 2, 2)


def _fit_lines(entries: _Entries, n_labels: int, shift: float) -> tuple[_Floats, float]:
    """Return the slope, at least 0, and the shift of each label, and the marginal log-likelihood."""
    flat = _Prior(np.zeros(2), np.full(2, 1e-12 * entries.weights.sum()))
    pooled = entries._replace(labels=np.zeros_like(entries.labels))
    common = _minimize(pooled, np.array([[0.0, shift]]), flat)
    if common[0, 0] < 0:
        entries = entries._replace(z=np.zeros_like(entries.z))
        common = _minimize(pooled._replace(z=entries.z), np.array([[0.0, shift]]), flat)
    lines = np.repeat(common, n_labels, axis=0)
    if n_labels == 1:
        return lines, -float(entries.losses(lines, flat).sum())
    prior = _Prior(common[0], np.ones(2))
    observed = np.unique(entries.labels)
    for _ in range(N_ROUNDS):
        lines = _minimize(entries, lines, prior)
        gradient, hessian = entries.derivatives(lines)
        prior = _fit_prior(lines[observed], prior, gradient[observed], hessian[observed])
    lines = _minimize(entries, lines, prior)
    falling = lines[:, 0] < 0
    if falling.any():
        lines = _minimize(entries._replace(z=entries.z * ~falling[entries.labels]), lines, prior)
        lines[falling, 0] = 0.0
    _, hessian = entries.derivatives(lines)
    # Laplace approximation of the integral over the lines.
    volume = np.linalg.slogdet(hessian / prior.precision + np.eye(2))[1]
    return lines, -float(entries.losses(lines, prior).sum() + volume.sum() / 2)


def _fit_prior(lines: _Floats, prior: _Prior, gradient: _Floats, hessian: _Floats) -> _Prior:
    """Return the distribution of the lines, from a quadratic approximation of the loss of each label.

    The mean is the generalized least-squares estimate. The variances are fixed points of the marginal likelihood: the
    sum of squared effects divided by the effective number of labels that determine them (MacKay 1992).
    """
    mean, precision = prior
    linear = (hessian @ lines[:, :, None])[:, :, 0] - gradient
    identity = np.eye(2)
    information = np.diagonal(hessian, axis1=1, axis2=2).sum(axis=0)
    largest = np.maximum(information / PRIOR_TOLERANCE, MIN_PRECISION)
    for _ in range(MAX_PRIOR_STEPS):
        covariance = np.linalg.inv(hessian + np.diag(precision))
        determined = identity - covariance * precision
        estimates = (covariance @ linear[:, :, None])[:, :, 0]
        # The mean does not move where no label has information.
        total = determined.sum(axis=0) + _NEGLIGIBLE * identity
        mean = np.linalg.solve(total, estimates.sum(axis=0) + _NEGLIGIBLE * mean)
        mean[0] = max(mean[0], 0.0)  # as slopes are
        effects = estimates + covariance @ (precision * mean) - mean
        n_effective = np.maximum(np.diagonal(total), _NEGLIGIBLE)
        last = precision
        precision = n_effective / np.maximum((effects**2).sum(axis=0), _NEGLIGIBLE**2)
        precision = np.where(information > 0, np.clip(precision, MIN_PRECISION, largest), last)
        if np.abs(precision / last - 1).max() < PRIOR_TOLERANCE:
            break
    return _Prior(mean, precision)


def _minimize(entries: _Entries, lines: _Floats, prior: _Prior) -> _Floats:
    """Minimize the loss of each label by Newton steps that are halved until it does not increase, if they can be."""
    losses = entries.losses(lines, prior)
    tolerance = entries.tol * entries.weights.sum()
    for _ in range(MAX_STEPS):
        gradient, hessian = entries.derivatives(lines)
        gradient += prior.precision * (lines - prior.mean)
        steps = np.linalg.solve(hessian + np.diag(prior.precision), gradient[:, :, None])[:, :, 0]
        moving = (gradient * steps).sum(axis=1) > tolerance
        remaining = moving
        for length in 0.5 ** np.arange(MAX_LINE_HALVINGS):
            if not remaining.any():
                break
            candidate = lines - length * steps
            new = entries.losses(candidate, prior)
            better = remaining & (new <= losses * (1 + 1e-14))
            lines = np.where(better[:, None], candidate, lines)
            losses = np.where(better, new, losses)
            remaining = remaining & ~better
        if (remaining == moving).all():
            break
    return lines
