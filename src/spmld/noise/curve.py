"""The frequency of observed positives as a function of the log-odds: counts, and fits of noise rates to them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from spmld.core.losses import logistic
from spmld.noise.likelihood import NoiseRates, NoisyLogistic

_Floats = NDArray[np.float64]

EVIDENCE = 6.0
"""Minimum increase of the log-likelihood by one parameter; without noise its probability is below 0.0003."""
N_BINS = 512
"""Number of points of the curve, each the mean of equally many entries."""
MAX_RATE = 0.98
"""Maximum sum of the rates of false positives and false negatives."""


class CurveFit(NamedTuple):
    """Maximum of the likelihood of a pattern."""

    log_likelihood: float
    alpha: float
    beta: float
    slope: float
    shift: float

    def rates(self, n_labels: int) -> NoiseRates:
        """Return the rates of all labels."""
        return NoiseRates(np.full(n_labels, self.alpha), np.full(n_labels, self.beta))


class Curve(NamedTuple):
    """Numbers of observed positives and negatives as a function of the log-odds, in bins of equally many entries.

    Attributes
    ----------
    log_odds : ndarray of shape (n_points,)
        Mean log-odds of each bin.
    counts : ndarray of shape (2, n_points)
        Weights of its observed positives and negatives.
    verified : ndarray of shape (2, n_points)
        Weights of its verified positives and negatives.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.noise.curve import Curve
    >>> curve = Curve.from_entries(np.zeros((4, 1)), np.array([[1], [-1], [-1], [0]]))
    >>> curve.counts.sum(axis=1)
    array([1., 2.])
    """

    log_odds: _Floats
    counts: _Floats
    verified: _Floats

    @classmethod
    def from_entries(
        cls,
        log_odds: _Floats,
        signs: NDArray[np.int8],
        trusted: NDArray[np.bool_] | None = None,
        weights: _Floats | None = None,
    ) -> "Curve":
        """Return the curve of all observed entries; parameters as in `estimate_noise`."""
        observed = signs != 0
        f = log_odds[observed]
        positive = signs[observed] > 0
        weight = np.ones(len(f)) if weights is None else np.broadcast_to(weights, signs.shape)[observed]
        checked = np.zeros(len(f), dtype=bool) if trusted is None else trusted[observed]
        bins = np.empty(len(f), dtype=np.intp)
        bins[np.argsort(f, kind="stable")] = np.arange(len(f)) // -(-len(f) // N_BINS)
        total = np.bincount(bins, weight)
        kept = total > 0
        classes = (positive & ~checked, ~positive & ~checked, positive & checked, ~positive & checked)
        counts = np.array([np.bincount(bins, weight * chosen, minlength=len(total))[kept] for chosen in classes])
        mean = np.bincount(bins, weight * f)[kept] / total[kept]
        return cls(mean, counts[:2], counts[2:])

    @property
    def frequency(self) -> float:
        """Frequency of observed positives."""
        return float(self.counts[0].sum() / self.counts.sum())

    def patterns(self) -> dict[str, tuple[float, float]]:
        """Return u and v of each pattern."""
        p = self.frequency
        return {"flipped": (1.0, 1.0), "added": (1.0, 0.0), "dropped": (0.0, 1.0), "moved": (p, 1 - p)}

    def fit(self, pattern: tuple[float, float], rate: float | None = None, near: CurveFit | None = None) -> CurveFit:
        """Return the maximum of the likelihood of a pattern, for a given rate or over all rates.

        Slope and shift start at 1 and 0 or, for a given rate, also at those of another fit.
        """
        u, v = pattern
        p = self.frequency
        bounds = [(-3.0, 3.0), (-30.0, 30.0), (0.0, MAX_RATE / (u + v)) if rate is None else (rate, rate)]
        # The largest rate without signal explains all positives, or all negatives, as errors.
        largest = min([MAX_RATE / (u + v), *([p / u] if u else []), *([(1 - p) / v] if v else [])])
        starts = [largest * fraction for fraction in (0.02, 0.3, 0.9)] if rate is None else [rate]

        def loss(point: _Floats) -> tuple[float, _Floats]:
            slope = np.exp(point[0])
            shift = point[1]
            theta = point[2]
            f = slope * self.log_odds + shift
            alpha = np.asarray(theta * u)
            beta = np.asarray(theta * v)
            pi = logistic(f)
            noisy = NoisyLogistic(alpha, beta)
            exact = NoisyLogistic(np.asarray(0.0), np.asarray(0.0))
            value = 0.0
            in_f = np.zeros(len(f))
            in_theta = 0.0
            for y, counts, verified in zip((1.0, -1.0), self.counts, self.verified, strict=True):
                sign = np.asarray(y)
                losses = noisy.value(sign, f)
                value += counts @ losses + verified @ exact.value(sign, f)
                in_f += counts * noisy.slope(sign, f) + verified * exact.slope(sign, f)
                in_theta -= y * (counts * np.exp(losses)) @ (u * (1 - pi) - v * pi)
            return float(value), np.array([slope * (in_f @ self.log_odds), in_f.sum(), in_theta])

        points = [[0.0, 0.0, start] for start in starts]
        points += [] if near is None else [[np.log(near.slope), near.shift, starts[0]]]
        results = [minimize(loss, np.array(point), jac=True, method="L-BFGS-B", bounds=bounds) for point in points]
        best = min(results, key=lambda result: float(result.fun))
        slope = np.exp(best.x[0])
        shift = best.x[1]
        theta = best.x[2]
        return CurveFit(-float(best.fun), float(theta * u), float(theta * v), float(slope), float(shift))

    def lowest_rate(self, added: CurveFit) -> float:
        """Return the lowest floor whose log-likelihood is at most `EVIDENCE` below that of the best floor."""

        def excess(alpha: float) -> float:
            return self.fit((1.0, 0.0), rate=alpha, near=added).log_likelihood - added.log_likelihood + EVIDENCE

        return 0.0 if excess(0.0) >= 0 else float(brentq(excess, 0.0, added.alpha, xtol=1e-3 * added.alpha))
