"""Paces: how much of the training data counts, and when.

A pace is a *rule*, which turns losses into weights in [0, 1], with a *schedule*, which says how strict the rule is in
each round. SPMLD weighs the latent labels of each sample with it: column i of the losses is latent label i.

=================== ===================================================================================
rule                weights
=================== ===================================================================================
`GroupSparsePace`   the paper's: exact minimiser of ``sum p (L - threshold) + diversity |p|_2``
`ReleasedPace`      what the authors' released code computes for it
=================== ===================================================================================

=================== ===================================================================================
schedule            threshold and diversity of a round
=================== ===================================================================================
`Quantile`          from a growing share of the current losses: needs no knowledge of their scale
`Geometric`         the paper's: absolute values, multiplied by a factor after each round
=================== ===================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from numbers import Real
from typing import Any

from sklearn.base import BaseEstimator

from spmld.core import pace as core
from spmld.core.pace import Age
from spmld.core.problem import Engine

__all__ = ["Age", "Geometric", "GroupSparsePace", "Quantile", "ReleasedPace"]


TINY = 1e-30
"""Keeps a threshold above losses of 0."""


def _require(owner: Any, name: str, accepted: str, fits: Callable[[Any], bool]) -> None:
    value = getattr(owner, name)
    if not isinstance(value, Real) or not isfinite(value) or not fits(value):
        raise ValueError(f"{name} of {type(owner).__name__} must be {accepted}, got {value!r}")


class Geometric(BaseEstimator):
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
    >>> from spmld.pace import Geometric
    >>> Geometric(threshold=0.1, growth=1.5, diversity=2.0, decay=0.5).age(2, None, None)
    Age(threshold=0.225..., diversity=0.5)
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

    def age(self, round: int, losses: Any, engine: Engine) -> Age:
        """Threshold and diversity of a round, counted from 0."""
        return Age(self.threshold * self.growth**round, self.diversity * self.decay**round)

    def settled(self, round: int) -> bool:
        """Never: the threshold keeps growing."""
        return False


class Quantile(BaseEstimator):
    """A relative schedule: the share of each column that is easy grows in equal steps.

    The threshold of a column is the quantile of its current losses at that share, the diversity a fraction of the
    value that would switch the column off. Once the share is 1 every weight is 1.

    Parameters
    ----------
    start : float in (0, 1], default=0.5
        Share of the first round.
    stop : float in (0, 1], default=1.0
        Share of the last round and after. Below 1 the hardest entries stay out for good.
    rounds : int, default=4
        Rounds from `start` to `stop`.
    diversity : float in [0, 1), default=0.0
        Fraction of the diversity that would switch a column off. 0 gives weights 0 and 1, larger values softer ones.

    Examples
    --------
    >>> from spmld.pace import Quantile
    >>> [Quantile(start=0.5, stop=1.0, rounds=3).share(t) for t in range(4)]
    [0.5, 0.75, 1.0, 1.0]
    """

    def __init__(self, *, start: float = 0.5, stop: float = 1.0, rounds: int = 4, diversity: float = 0.0):
        self.start = start
        self.stop = stop
        self.rounds = rounds
        self.diversity = diversity

    def check(self) -> None:
        """Refuse parameters out of range."""
        _require(self, "start", "in (0, 1]", lambda value: 0 < value <= 1)
        _require(self, "stop", "in (0, 1]", lambda value: 0 < value <= 1)
        _require(self, "rounds", "an integer of 1 or more", lambda value: value == int(value) and value >= 1)
        _require(self, "diversity", "in [0, 1)", lambda value: 0 <= value < 1)

    def share(self, round: int) -> float:
        """Share of easy entries in a round, counted from 0."""
        way = min(1.0, round / (self.rounds - 1)) if self.rounds > 1 else 1.0
        return self.start + way * (self.stop - self.start)

    def age(self, round: int, losses: Any, engine: Engine) -> Age:
        """Threshold and diversity of each column in a round, counted from 0."""
        share = self.share(round)
        # Entries at the quantile count as easy, also if it is 0, so the threshold is a little above it.
        threshold = core.quantiles(losses, share, engine) * (1 + 1e-6) + TINY
        if share >= 1 or self.diversity == 0:
            return Age(threshold)
        return Age(threshold, self.diversity * core.room(losses, threshold, engine))

    def settled(self, round: int) -> bool:
        """Whether the share has stopped growing."""
        return round >= self.rounds - 1


class _Pace(BaseEstimator):
    """A rule with a schedule. Subclasses give the rule."""

    schedule: Geometric | Quantile

    def check(self) -> None:
        """Refuse parameters out of range."""
        schedule = self.schedule
        if isinstance(schedule, type) or not all(hasattr(schedule, name) for name in ("age", "settled")):
            raise ValueError(
                f"schedule of {type(self).__name__} must be a schedule such as spmld.pace.Quantile(), got {schedule!r}"
            )
        if hasattr(schedule, "check"):
            schedule.check()

    def age(self, round: int, losses: Any, engine: Engine) -> Age:
        """Threshold and diversity of a round."""
        return self.schedule.age(round, losses, engine)

    def settled(self, round: int) -> bool:
        """Whether later rounds are of the same age."""
        return self.schedule.settled(round)

    def penalty(self, weights: Any, age: Age, engine: Engine) -> Any:
        """-threshold sum P + diversity sum_i |P[:, i]|_2."""
        return core.group_sparse_penalty(weights, age, engine)


class GroupSparsePace(_Pace):
    """The paper's pace, with its exact minimiser.

    Column by column the weights minimise ``sum_j p_j (L_j - threshold) + diversity |p|_2`` over [0, 1]. The plus sign
    makes them *group-sparse*: a column whose room below the threshold, ``|max(threshold - L, 0)|_2``, does not exceed
    the diversity is left out altogether. Without diversity this is the hard rule of Kumar et al. (2010).

    Parameters
    ----------
    schedule : Quantile, Geometric or an object like them, default=Quantile()
        Threshold and diversity of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pace import Age, GroupSparsePace
    >>> from spmld.core.problem import Engine
    >>> losses = np.array([[0.1], [0.3], [0.9]])
    >>> GroupSparsePace().weights([losses], Age(0.5, 0.3), Engine())[0].ravel().round(3)
    array([1.   , 0.894, 0.   ])
    """

    def __init__(self, *, schedule: Geometric | Quantile | None = None):
        self.schedule = schedule if schedule is not None else Quantile()

    def weights(self, losses: Any, age: Age, engine: Engine) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.group_sparse(losses, age, engine)


class ReleasedPace(_Pace):
    """The pace of the authors' released code, to reproduce the paper's tables.

    Losses are scaled to [0, 1] over the whole matrix. The rule of the paper's text follows with its two sums frozen
    at the first index, and picks its breaking point from a vector padded with zeros; it acts as hard selection.

    Parameters
    ----------
    schedule : Geometric or an object like it, default=Geometric()
        Threshold and diversity of each round, one value for all columns.
    """

    def __init__(self, *, schedule: Geometric | None = None):
        self.schedule = schedule if schedule is not None else Geometric()

    def check(self) -> None:
        """Refuse parameters out of range, and schedules with a threshold for each column."""
        super().check()
        if isinstance(self.schedule, Quantile):
            raise ValueError(
                "schedule of ReleasedPace must give one threshold for all columns, as Geometric() does, "
                f"got {self.schedule!r}"
            )

    def weights(self, losses: Any, age: Age, engine: Engine) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.released(losses, age, engine)
