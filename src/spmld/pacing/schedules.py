"""Pacing schedules: the threshold and diversity of each iteration."""

from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Annotated, Any

import numpy as np

from spmld._arrays import namespace
from spmld._validation import FRACTION, Fraction, Interval, NonNegative, Positive, PositiveInt, Rate, Validated
from spmld.core.losses import Array
from spmld.pacing.groups import Blocks, Groups

MIN_THRESHOLD = 1e-30
"""Offset that keeps thresholds above losses of 0."""


@dataclass(frozen=True)
class PacingParameters:
    """Threshold lambda and diversity gamma of a pacing rule.

    Parameters
    ----------
    threshold : float or array of shape (n_groups,)
        Entries with a smaller loss are easy.
    diversity : float or array of shape (n_groups,), default=0.0
        Strength of the diversity term, for rules that have one.

    Examples
    --------
    >>> from spmld.pacing import PacingParameters
    >>> PacingParameters(threshold=0.5)
    PacingParameters(threshold=0.5, diversity=0.0)
    """

    threshold: Any
    diversity: Any = 0.0


@dataclass(kw_only=True, eq=False, repr=False)
class GeometricSchedule(Validated):
    """The schedule of the paper: ``threshold * growth^t`` and ``diversity * decay^t`` in iteration t.

    With factors of 1, threshold and diversity are the same in all iterations.

    Parameters
    ----------
    threshold : float, default=1e-4
        lambda of the first iteration. Entries with a smaller loss are easy.
    growth : float, default=1.3
        mu_1, at least 1.
    diversity : float, default=1.0
        gamma of the first iteration.
    decay : float, default=0.6
        mu_2, in (0, 1].

    Examples
    --------
    >>> from spmld.pacing import GeometricSchedule
    >>> GeometricSchedule(threshold=0.1, growth=1.5, diversity=2.0, decay=0.5).parameters(2, None, None)
    PacingParameters(threshold=0.225..., diversity=0.5)
    """

    threshold: Positive = 1e-4
    growth: Annotated[float, Interval(Real, 1, None, closed="left")] = 1.3
    diversity: NonNegative = 1.0
    decay: Fraction = 0.6

    def parameters(self, iteration: int, losses: Any, groups: Groups) -> PacingParameters:
        """Return the threshold and diversity of an iteration, counted from 0."""
        try:
            growth = self.growth**iteration
        except OverflowError:
            growth = inf
        return PacingParameters(self.threshold * growth, self.diversity * self.decay**iteration)

    def has_ended(self, iteration: int) -> bool:
        """Return whether the factors are 1, so that nothing changes."""
        return self.growth == 1 and self.decay == 1


@dataclass(kw_only=True, eq=False, repr=False)
class QuantileSchedule(Validated):
    """Schedule in which the fraction of easy entries in each group grows linearly.

    The threshold of a group is the quantile of its current losses at that fraction. The diversity is a fraction of the
    value at which `GroupSparsePacing` assigns weight 0 to the whole group. At a fraction of 1 the threshold is infinite
    and all weights are 1.

    Parameters
    ----------
    start : float in (0, 1] or sequence of float, default=0.5
        Fraction in the first iteration. Several values are assigned to the groups cyclically: with
        ``groups="label_polarity"`` in `SelfPacedClassifier`, the first is for negatives and the second for positives.
    stop : float in (0, 1] or sequence of float, default=1.0
        Fraction in iteration `n_iter` and later. With a value below 1, the hardest entries never receive weight, which
        makes the model robust to wrong labels.
    n_iter : int, default=4
        Number of iterations from `start` to `stop`.
    diversity : float in [0, 1), default=0.0
        Diversity as a fraction of the value at which `GroupSparsePacing` drops a group. With 0, its weights are 0 or 1;
        larger values result in softer weights.
    common : bool, default=False
        Whether all groups share one threshold, the quantile of the losses of all entries, and one diversity, the
        largest.

    Examples
    --------
    >>> from spmld.pacing import QuantileSchedule
    >>> [QuantileSchedule(start=0.5, stop=1.0, n_iter=3).fractions(t) for t in range(4)]
    [(0.5,), (0.75,), (1.0,), (1.0,)]
    >>> QuantileSchedule(start=0.5, stop=(1.0, 0.7), n_iter=3).fractions(1)
    (0.75, 0.6)
    """

    start: Any = 0.5
    stop: Any = 1.0
    n_iter: PositiveInt = 4
    diversity: Rate = 0.0
    common: bool = False

    def _validate_params(self) -> None:
        super()._validate_params()
        for name in ("start", "stop"):
            values = np.atleast_1d(getattr(self, name))
            if not len(values) or not all(map(FRACTION.is_satisfied_by, values)):
                raise ValueError(
                    f"The {name!r} parameter of QuantileSchedule must be one or several numbers in (0, 1]. "
                    f"Got {getattr(self, name)!r} instead."
                )
        if len({np.size(value) for value in (self.start, self.stop)} - {1}) > 1:
            raise ValueError(
                "The 'start' and 'stop' parameters of QuantileSchedule must have the same number of values. "
                f"Got {self.start!r} and {self.stop!r} instead."
            )

    def fractions(self, iteration: int) -> tuple[float, ...]:
        """Return the fractions of easy entries in an iteration, counted from 0; groups use them cyclically."""
        progress = min(1.0, iteration / (self.n_iter - 1)) if self.n_iter > 1 else 1.0
        start, stop = np.atleast_1d(self.start), np.atleast_1d(self.stop)
        return tuple((start + progress * (stop - start)).tolist())

    def parameters(self, iteration: int, losses: Any, groups: Groups) -> PacingParameters:
        """Return the threshold and diversity of each group in an iteration, counted from 0."""
        fractions = self.fractions(iteration)
        fraction = np.resize(fractions, groups.per_group(0.0, losses).shape)
        # Entries at the quantile are easy, even if it is 0, so the threshold is slightly above it.
        threshold = group_quantiles(losses, fraction, groups, self.common) * (1 + 1e-6) + MIN_THRESHOLD
        if self.diversity == 0 or min(fractions) >= 1:
            return PacingParameters(threshold)
        diversity = self.diversity * slack_norms(losses, threshold, groups)
        if self.common:
            # A group without easy entries has no slack, although diversity matters most for such groups.
            diversity = 0 * diversity + namespace(diversity).max(diversity)
        return PacingParameters(threshold, diversity)

    def has_ended(self, iteration: int) -> bool:
        """Return whether the fraction has reached `stop`."""
        return iteration >= self.n_iter - 1


Schedule = GeometricSchedule | QuantileSchedule


def group_quantiles(losses: Blocks, fraction: Any, groups: Groups, common: bool = False, n_steps: int = 40) -> Array:
    """Return the smallest value that at least `fraction` of the losses in each group do not exceed.

    It is infinite at a fraction of 1. With `common` it is one value, for the fraction of all entries. It is computed by
    bisection, in which every step is a sum over rows. If blocks are not in memory, each pass over them divides the
    interval into 16 parts, which are four steps.
    """
    xp = namespace(groups.per_group(0.0, losses))
    fraction = groups.per_group(fraction, losses)
    if xp.all(fraction >= 1):
        return xp.ones_like(fraction) * xp.inf
    low, width = groups.per_group(0.0, losses), groups.per_group(groups.max(losses), losses)
    (sizes,) = groups.sum(lambda L: (xp.ones_like(L),), losses)
    # 0.55 of 100 entries are 55 entries, although the floating-point product is slightly larger.
    wanted = fraction * sizes * (1 - 8 * xp.finfo(fraction.dtype).eps)
    if common:
        wanted = xp.zeros_like(wanted) + xp.sum(wanted)
    depth = groups.engine.steps_per_pass
    for _ in range(0, n_steps, depth):
        width = width / 2**depth
        points = [low + i * width for i in range(1, 2**depth)]
        for below in groups.sum(lambda L, *points: tuple(m >= L for m in points), losses, *points):
            too_few = (xp.sum(below) if common else below) < wanted
            low = low + width * xp.astype(too_few, low.dtype)
    return xp.where(fraction < 1, low + width, xp.ones_like(low) * xp.inf)


def slack_norms(losses: Blocks, threshold: Array, groups: Groups) -> Array:
    """Return |max(threshold - L, 0)|_2 of each group, 0 for an infinite threshold.

    `GroupSparsePacing` assigns weight 0 to the group if the diversity is at least this norm.
    """
    xp = namespace(groups.per_group(0.0, losses))
    finite = xp.where(xp.isfinite(threshold), threshold, xp.zeros_like(threshold))
    (squares,) = groups.sum(lambda L, t: (xp.clip(t - L, 0, None) ** 2,), losses, finite)
    return xp.sqrt(squares)
