"""Schedules: how strict a rule is in each round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from sklearn.base import BaseEstimator

from spmld.pacing.functions import PacingParameters, quantiles, room
from spmld.pacing.groups import Groups, in_turn

__all__ = ["FixedSchedule", "GeometricSchedule", "QuantileSchedule"]


TINY = 1e-30
"""Keeps a threshold above losses of 0."""


def _require(owner: Any, name: str, accepted: str, fits: Callable[[Any], bool]) -> None:
    value = getattr(owner, name)
    if not isinstance(value, Real) or not isfinite(value) or not fits(value):
        raise ValueError(f"{name} of {type(owner).__name__} must be {accepted}, got {value!r}")


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,)


class GeometricSchedule(BaseEstimator):
    """The paper's schedule: ``threshold * growth^t`` and ``diversity * decay^t`` in round t.

    Parameters
    ----------
    threshold : float, default=1e-4
        lambda of the first round. Entries with a smaller loss are easy.
    growth : float, default=1.3
        mu_1, at least 1.
    diversity : float, default=1.0
        gamma of the first round.
    decay : float, default=0.6
        mu_2, in (0, 1].

    Examples
    --------
    >>> from spmld.pacing import GeometricSchedule
    >>> GeometricSchedule(threshold=0.1, growth=1.5, diversity=2.0, decay=0.5).parameters(2, None, None)
    PacingParameters(threshold=0.225..., diversity=0.5)
    """

    def __init__(self, *, threshold: float = 1e-4, growth: float = 1.3, diversity: float = 1.0, decay: float = 0.6):
        self.threshold = threshold
        self.growth = growth
        self.diversity = diversity
        self.decay = decay

    def check(self) -> None:
        """Refuse parameters out of range."""
        _require(self, "threshold", "positive", lambda value: value > 0)
        _require(self, "growth", "at least 1", lambda value: value >= 1)
        _require(self, "diversity", "0 or more", lambda value: value >= 0)
        _require(self, "decay", "in (0, 1]", lambda value: 0 < value <= 1)

    def parameters(self, round: int, losses: Any, groups: Groups) -> PacingParameters:
        """Threshold and diversity of a round, counted from 0."""
        try:
            growth = self.growth**round
        except OverflowError:
            growth = inf
        return PacingParameters(self.threshold * growth, self.diversity * self.decay**round)

    def has_ended(self, round: int) -> bool:
        """Never: the threshold keeps growing."""
        return False


class QuantileSchedule(BaseEstimator):
    """A relative schedule: the share of each group that is easy grows in equal steps.

    The threshold of a group is the quantile of its current losses at that share, the diversity a fraction of the
    value at which `GroupSparsePacing` would leave the group out. Once the share is 1 the threshold is infinite and every
    weight is 1.

    Parameters
    ----------
    start : float in (0, 1] or sequence of float, default=0.5
        Share of the first round. The groups take several in turn: with ``groups="label_polarity"`` in
        `SelfPacedClassifier` the first of two is for negatives, the second for positives.
    stop : float in (0, 1] or sequence of float, default=1.0
        Share of the last round and after. Below 1 the hardest entries stay out for good, which is what makes a fit
        robust against wrong labels.
    n_iter : int, default=4
        Rounds from `start` to `stop`.
    diversity : float in [0, 1), default=0.0
        Fraction of the diversity at which `GroupSparsePacing` would leave a group out. There, 0 gives weights 0 and 1
        and larger values softer ones.
    common : bool, default=False
        One threshold for all groups, at the share of all entries, and one diversity, the largest, instead of one for
        each.

    Examples
    --------
    >>> from spmld.pacing import QuantileSchedule
    >>> [QuantileSchedule(start=0.5, stop=1.0, n_iter=3).share(t) for t in range(4)]
    [(0.5,), (0.75,), (1.0,), (1.0,)]
    >>> QuantileSchedule(start=0.5, stop=(1.0, 0.7), n_iter=3).share(1)
    (0.75, 0.6)
    """

    def __init__(
        self,
        *,
        start: float | Sequence[float] = 0.5,
        stop: float | Sequence[float] = 1.0,
        n_iter: int = 4,
        diversity: float = 0.0,
        common: bool = False,
    ):
        self.start = start
        self.stop = stop
        self.n_iter = n_iter
        self.diversity = diversity
        self.common = common

    def check(self) -> None:
        """Refuse parameters out of range."""
        for name in ("start", "stop"):
            shares = _several(getattr(self, name))
            if not shares or not all(isinstance(value, Real) and 0 < float(value) <= 1 for value in shares):
                raise ValueError(f"{name} of QuantileSchedule must be in (0, 1], got {getattr(self, name)!r}")
        if len({len(_several(value)) for value in (self.start, self.stop)} - {1}) > 1:
            raise ValueError(
                f"start and stop of QuantileSchedule must have as many shares, got {self.start!r} and {self.stop!r}"
            )
        _require(self, "n_iter", "an integer of 1 or more", lambda value: value == int(value) and value >= 1)
        _require(self, "diversity", "in [0, 1)", lambda value: 0 <= value < 1)
        if not isinstance(self.common, bool):
            raise ValueError(f"common of QuantileSchedule must be True or False, got {self.common!r}")

    def share(self, round: int) -> tuple[float, ...]:
        """Shares of easy entries in a round, counted from 0, which the groups take in turn."""
        way = min(1.0, round / (self.n_iter - 1)) if self.n_iter > 1 else 1.0
        start, stop = _several(self.start), _several(self.stop)
        many = max(len(start), len(stop))
        ends = zip(start * (many // len(start)), stop * (many // len(stop)), strict=True)
        return tuple(float(first + way * (last - first)) for first, last in ends)

    def parameters(self, round: int, losses: Any, groups: Groups) -> PacingParameters:
        """Threshold and diversity of each group in a round, counted from 0."""
        shares = self.share(round)
        share = shares[0] if len(shares) == 1 else in_turn(shares, groups, losses)
        # Entries at the quantile count as easy, also if it is 0, so the threshold is a little above it.
        threshold = quantiles(losses, share, groups, self.common) * (1 + 1e-6) + TINY
        if self.diversity == 0 or min(shares) >= 1:
            return PacingParameters(threshold)
        diversity = self.diversity * room(losses, threshold, groups)
        if self.common:
            # A group with no easy entry has no room of its own; it is the one to which diversity matters.
            diversity = 0 * diversity + array_namespace(diversity).max(diversity)
        return PacingParameters(threshold, diversity)

    def has_ended(self, round: int) -> bool:
        """Whether the share has stopped growing."""
        return round >= self.n_iter - 1


class FixedSchedule(BaseEstimator):
    """The same threshold and diversity in all rounds.

    Parameters
    ----------
    threshold : float, default=1.0
        Entries with a smaller loss are easy.
    diversity : float, default=0.0
        Strength of the diversity term, for rules that have one.

    Examples
    --------
    >>> from spmld.pacing import FixedSchedule
    >>> FixedSchedule(threshold=0.5).parameters(7, None, None)
    PacingParameters(threshold=0.5, diversity=0.0)
    """

    def __init__(self, *, threshold: float = 1.0, diversity: float = 0.0):
        self.threshold = threshold
        self.diversity = diversity

    def check(self) -> None:
        """Refuse parameters out of range."""
        _require(self, "threshold", "positive", lambda value: value > 0)
        _require(self, "diversity", "0 or more", lambda value: value >= 0)

    def parameters(self, round: int, losses: Any, groups: Groups) -> PacingParameters:
        """Threshold and diversity, whatever the round."""
        return PacingParameters(self.threshold, self.diversity)

    def has_ended(self, round: int) -> bool:
        """Always: all rounds are of the same parameters."""
        return True
