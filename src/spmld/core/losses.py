"""Losses of entries: value, slope, curvature and quadratic models as functions of a sign y and a score f."""

from abc import ABC, abstractmethod
from typing import ClassVar

from spmld._arrays import Array, namespace

TINY = 1e-18
"""Added to probabilities whose logarithm or inverse is computed."""
MAX_CURVATURE = 0.2501
"""The curvature of the logistic loss at 0 is 1/4; slightly more keeps it positive where the score is large."""


def logistic(t: Array) -> Array:
    """Return 1 / (1 + e^-t), without overflow."""
    return 0.5 * (1 + namespace(t).tanh(0.5 * t))


def softplus(t: Array) -> Array:
    """Return log(1 + e^t), without overflow."""
    xp = namespace(t)
    size = xp.abs(t)
    return xp.log1p(xp.exp(-size)) + 0.5 * (size + t)


class Loss(ABC):
    """A loss of entries; by default it is the same for all entries."""

    quadratic: ClassVar[bool] = False
    """Whether the loss is quadratic in the score, so that it is its own quadratic model."""
    scores_are_log_odds: ClassVar[bool] = False
    """Whether scores that minimize the expected loss are the log-odds of the label."""

    @abstractmethod
    def value(self, y: Array, f: Array) -> Array:
        """Return the loss of each entry."""

    @abstractmethod
    def derivatives(self, y: Array, f: Array) -> tuple[Array, Array]:
        """Return the slope and the second derivative in the score, one-sided at a kink of the slope."""

    @abstractmethod
    def model(self, y: Array, f: Array, safe: bool = True) -> tuple[Array, Array]:
        """Return slope g and curvature c of the model ``value + g (f' - f) + c/2 (f' - f)^2`` of the loss.

        With `safe` it majorizes the loss; otherwise it may be closer to it.
        """

    def slope(self, y: Array, f: Array) -> Array:
        """Return the derivative in the score."""
        return self.derivatives(y, f)[0]

    def soft_value(self, t: Array, f: Array) -> Array:
        """Return the expected loss of labels that are positive with probability t."""
        one = namespace(f).ones_like(f[..., :1])
        return t * self.value(one, f) + (1 - t) * self.value(-one, f)

    def soft_derivatives(self, t: Array, f: Array) -> tuple[Array, Array]:
        """Return the derivatives of `soft_value` in the score. The second one must be the same for both labels."""
        one = namespace(f).ones_like(f[..., :1])
        slope, curvature = self.derivatives(one, f)
        return t * slope + (1 - t) * self.slope(-one, f), curvature

    def rows(self, keep: slice) -> "Loss":
        """Return the loss of some samples."""
        return self

    def columns(self, keep: Array | slice) -> "Loss":
        """Return the loss of some labels."""
        return self

    def at(self, rows: Array, columns: Array) -> "Loss":
        """Return the loss of entries at some rows of some labels."""
        return self


class Squared(Loss):
    """1/2 (y - f)^2, which majorizes itself."""

    quadratic = True

    def value(self, y: Array, f: Array) -> Array:
        return 0.5 * (y - f) ** 2

    def derivatives(self, y: Array, f: Array) -> tuple[Array, Array]:
        return f - y, namespace(f).ones_like(f)

    def model(self, y: Array, f: Array, safe: bool = True) -> tuple[Array, Array]:
        return self.derivatives(y, f)


class Logistic(Loss):
    """log(1 + exp(-y f)), majorized by the bound of Jaakkola and Jordan (2000)."""

    scores_are_log_odds = True

    def value(self, y: Array, f: Array) -> Array:
        return softplus(-y * f)

    def derivatives(self, y: Array, f: Array) -> tuple[Array, Array]:
        t = namespace(f).tanh(0.5 * f)
        return 0.5 * (t - y), 0.25 * (1 - t * t)

    def soft_value(self, t: Array, f: Array) -> Array:
        return softplus(f) - t * f

    def soft_derivatives(self, t: Array, f: Array) -> tuple[Array, Array]:
        return self.derivatives(2 * t - 1, f)

    def model(self, y: Array, f: Array, safe: bool = True) -> tuple[Array, Array]:
        """Return the bound or, unless `safe`, Newton's curvature where the score has the right sign.

        Elsewhere Newton's method overshoots. The bound is tanh(f / 2) / (2 f), and 1/4 at 0.
        """
        xp = namespace(f)
        t = xp.tanh(0.5 * f)
        bound = 0.5 * (xp.abs(t) + 0.5 * TINY) / (xp.abs(f) + TINY)
        if safe:
            return 0.5 * (t - y), bound
        newton = MAX_CURVATURE - (0.5 * t) ** 2
        return 0.5 * (t - y), bound - (y * f > 0) * (bound - newton)  # a selection would take twice as long


LOSSES: dict[str, Loss] = {"squared": Squared(), "logistic": Logistic()}
