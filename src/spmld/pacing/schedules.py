"""Pacing schedules: the threshold and diversity of each iteration."""

from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np

from spmld._arrays import Array, namespace
from spmld._validation import FRACTION, Fraction, Interval, NonNegative, Positive, PositiveInt, Rate, Validated
from spmld.core.bisection import Columns, find_quantiles, norms, per_column, slack_below

MIN_THRESHOLD = 1e-30
"""Offset that keeps thresholds above losses of 0."""


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
    >>> GeometricSchedule(threshold=0.1, growth=1.5, diversity=2.0, decay=0.5).parameters(2)
    (0.225..., 0.5)
    """

    on_blocks: ClassVar[bool] = True
    threshold: Positive = 1e-4
    growth: Annotated[float, Interval(Real, 1, None, closed="left")] = 1.3
    diversity: NonNegative = 1.0
    decay: Fraction = 0.6

    def parameters(self, iteration: int, losses: Any = None) -> tuple[float, float]:
        """Return threshold and diversity of an iteration, counted from 0. They do not depend on the losses."""
        try:
            growth = self.growth**iteration
        except OverflowError:
            growth = inf
        return self.threshold * growth, self.diversity * self.decay**iteration

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

    on_blocks: ClassVar[bool] = True
    start: Any = 0.5
    stop: Any = 1.0
    n_iter: PositiveInt = 4
    diversity: Rate = 0.0
    common: bool = False

    def _check_parameters(self) -> None:
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

    def parameters(self, iteration: int, losses: Array) -> tuple[Array, Array]:
        """Return threshold and diversity of each group in an iteration, counted from 0.

        Parameters
        ----------
        iteration : int
            Number of the iteration.
        losses : array of shape (n_entries, n_groups)
            Losses; NaN where missing.

        Returns
        -------
        threshold, diversity : arrays of shape (n_groups,)
        """
        columns = Columns.of(losses)
        none = columns.zeros
        fractions = self.fractions(iteration)
        fraction = per_column(np.resize(fractions, none.shape), none)
        # Entries at the quantile are easy, even if it is 0, so the threshold is slightly above it.
        threshold = find_quantiles(columns, fraction, self.common) * (1 + 1e-6) + MIN_THRESHOLD
        if self.diversity == 0 or min(fractions) >= 1:
            return threshold, none
        diversity = self.diversity * slack_norms(columns, threshold)
        if self.common:
            # A group without easy entries has no slack, although diversity matters most for such groups.
            diversity = none + namespace(none).max(diversity)
        return threshold, diversity

    def has_ended(self, iteration: int) -> bool:
        """Return whether the fraction has reached `stop`."""
        return iteration >= self.n_iter - 1


Schedule = GeometricSchedule | QuantileSchedule


def slack_norms(losses: Columns, threshold: Array) -> Array:
    """Return |max(threshold - L, 0)|_2 of each group, 0 for an infinite threshold.

    `GroupSparsePacing` assigns weight 0 to the group if the diversity is at least this norm.
    """
    finite = namespace(threshold).where(namespace(threshold).isfinite(threshold), threshold, 0)
    return norms(losses.map(slack_below, finite))
