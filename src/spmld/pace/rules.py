"""Rules: weights for given losses, and the penalty they are the minimiser of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import BaseEstimator

from spmld.core import pace as core
from spmld.core.groups import Groups
from spmld.core.pace import Age
from spmld.core.released import released
from spmld.pace.schedules import Fixed, Geometric, Quantile

__all__ = [
    "DiversePace",
    "GroupSparsePace",
    "HardPace",
    "LinearPace",
    "LogarithmicPace",
    "Pace",
    "ReleasedPace",
]

Schedule = Geometric | Quantile | Fixed


class Pace(BaseEstimator, ABC):
    """A rule with a schedule. A subclass gives the rule: `weights`, and its `penalty`.

    Parameters
    ----------
    schedule : Quantile, Geometric, Fixed or an object like them, default=Quantile()
        Threshold and diversity of each round.

    Examples
    --------
    A rule that never leaves anything out:

    >>> import numpy as np
    >>> from spmld.pace import Age, Columns, Pace
    >>> class EveryEntry(Pace):
    ...     def weights(self, losses, age, groups):
    ...         return groups.map(lambda L: 0 * L + 1, losses)
    ...     def penalty(self, weights, age, groups):
    ...         return 0.0
    >>> EveryEntry().weights([np.array([[0.1], [9.0]])], Age(1.0), Columns())[0].ravel()
    array([1., 1.])
    """

    def __init__(self, *, schedule: Schedule | None = None):
        self.schedule = schedule if schedule is not None else Quantile()

    @abstractmethod
    def weights(self, losses: Any, age: Age, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses.

        Parameters
        ----------
        losses : sequence of arrays
            Losses in blocks of rows.
        age : Age
            Threshold and diversity, each one number or one per group.
        groups : Columns or Members
            Maps a function over entries and sums within groups.

        Returns
        -------
        tuple of arrays
            Weights in [0, 1], in the form of the losses.
        """

    @abstractmethod
    def penalty(self, weights: Any, age: Age, groups: Groups) -> Any:
        """What the weights minimise together with the weighted losses, summed over groups."""

    def check(self) -> None:
        """Refuse parameters out of range."""
        schedule = self.schedule
        if isinstance(schedule, type) or not all(hasattr(schedule, name) for name in ("age", "settled")):
            raise ValueError(
                f"schedule of {type(self).__name__} must be a schedule such as spmld.pace.Quantile(), got {schedule!r}"
            )
        if hasattr(schedule, "check"):
            schedule.check()

    def age(self, round: int, losses: Any, groups: Groups) -> Age:
        """Threshold and diversity of a round."""
        return self.schedule.age(round, losses, groups)

    def settled(self, round: int) -> bool:
        """Whether later rounds are of the same age."""
        return self.schedule.settled(round)


class HardPace(Pace):
    """Weight 1 below the threshold, 0 elsewhere (Kumar, Packer and Koller, 2010).

    Parameters
    ----------
    schedule : Quantile, Geometric, Fixed or an object like them, default=Quantile()
        Threshold of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pace import Age, Columns, HardPace
    >>> HardPace().weights([np.array([[0.1], [0.3], [0.9]])], Age(0.5), Columns())[0].ravel()
    array([1., 1., 0.])
    """

    def weights(self, losses: Any, age: Age, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.hard(losses, age, groups)

    def penalty(self, weights: Any, age: Age, groups: Groups) -> Any:
        """-threshold sum p."""
        return core.hard_penalty(weights, age, groups)


class LinearPace(Pace):
    """Weights that fall linearly, from 1 at no loss to 0 at the threshold (Jiang et al., 2014).

    Parameters
    ----------
    schedule : Quantile, Geometric, Fixed or an object like them, default=Quantile()
        Threshold of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pace import Age, Columns, LinearPace
    >>> LinearPace().weights([np.array([[0.1], [0.3], [0.9]])], Age(0.5), Columns())[0].ravel().round(2)
    array([0.8, 0.4, 0. ])
    """

    def weights(self, losses: Any, age: Age, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.linear(losses, age, groups)

    def penalty(self, weights: Any, age: Age, groups: Groups) -> Any:
        """Threshold times sum (p^2 / 2 - p)."""
        return core.linear_penalty(weights, age, groups)


class LogarithmicPace(Pace):
    """Weights that fall logarithmically, from 1 at no loss to 0 at the threshold (Jiang et al., 2014).

    ``p = log(z + (1 - z) L / threshold) / log z`` with z the softness; the original has threshold 1 - z.

    Parameters
    ----------
    softness : float in (0, 1), default=0.1
        Near 1 the weights fall linearly, near 0 they fall steeply at small losses.
    schedule : Quantile, Geometric, Fixed or an object like them, default=Quantile()
        Threshold of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pace import Age, Columns, LogarithmicPace
    >>> LogarithmicPace().weights([np.array([[0.1], [0.3], [0.9]])], Age(0.5), Columns())[0].ravel().round(2)
    array([0.55, 0.19, 0.  ])
    """

    def __init__(self, *, softness: float = 0.1, schedule: Schedule | None = None):
        super().__init__(schedule=schedule)
        self.softness = softness

    def check(self) -> None:
        """Refuse parameters out of range."""
        super().check()
        if not isinstance(self.softness, (int, float)) or not 0 < self.softness < 1:
            raise ValueError(f"softness of LogarithmicPace must be in (0, 1), got {self.softness!r}")

    def weights(self, losses: Any, age: Age, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.logarithmic(losses, age, groups, self.softness)

    def penalty(self, weights: Any, age: Age, groups: Groups) -> Any:
        """With c = threshold / (1 - z): c sum (z p - z^p / log z)."""
        return core.logarithmic_penalty(weights, age, groups, self.softness)


class GroupSparsePace(Pace):
    """The paper's pace, with its exact minimiser.

    Within each group the weights minimise ``sum_j p_j (L_j - threshold) + diversity |p|_2`` over [0, 1]. The plus sign
    makes them *group-sparse*: a group whose room below the threshold, ``|max(threshold - L, 0)|_2``, does not exceed
    the diversity is left out altogether, as in self-paced multi-task learning. Without diversity it is `HardPace`.

    Parameters
    ----------
    schedule : Quantile, Geometric, Fixed or an object like them, default=Quantile()
        Threshold and diversity of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pace import Age, Columns, GroupSparsePace
    >>> losses = np.array([[0.1], [0.3], [0.9]])
    >>> GroupSparsePace().weights([losses], Age(0.5, 0.3), Columns())[0].ravel().round(3)
    array([1.   , 0.894, 0.   ])
    """

    def weights(self, losses: Any, age: Age, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.group_sparse(losses, age, groups)

    def penalty(self, weights: Any, age: Age, groups: Groups) -> Any:
        """``-threshold sum p + diversity |p|_2``."""
        return core.group_sparse_penalty(weights, age, groups)


class DiversePace(Pace):
    """Self-paced learning with diversity (Jiang et al., 2014): the easiest entries of every group count longer.

    Within each group the weights minimise ``sum_j p_j (L_j - threshold) - diversity |p|_2`` over [0, 1]. The i-th
    smallest loss counts if it is below ``threshold + diversity (sqrt(i) - sqrt(i - 1))``. This is what the paper's
    words describe; its formula has the other sign, see `GroupSparsePace`.

    Parameters
    ----------
    schedule : Quantile, Geometric, Fixed or an object like them, default=Quantile(common=True, diversity=0.5)
        Threshold and diversity of each round. Groups differ by diversity only where they share a threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pace import Age, Columns, DiversePace
    >>> losses = np.array([[0.1, 0.6], [0.3, 0.8], [0.9, 0.9]])
    >>> DiversePace().weights([losses], Age(0.5, 0.2), Columns())[0]
    array([[1., 1.],
           [1., 0.],
           [0., 0.]])
    """

    def __init__(self, *, schedule: Schedule | None = None):
        super().__init__(schedule=schedule if schedule is not None else Quantile(common=True, diversity=0.5))

    def weights(self, losses: Any, age: Age, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.diverse(losses, age, groups)

    def penalty(self, weights: Any, age: Age, groups: Groups) -> Any:
        """``-threshold sum p - diversity |p|_2``."""
        return core.diverse_penalty(weights, age, groups)


class ReleasedPace(Pace):
    """The pace of the authors' released code, to reproduce the paper's tables.

    Losses are scaled to [0, 1] over the whole matrix. The rule of the paper's text follows with its two sums frozen
    at the first index, and picks its breaking point from a vector padded with zeros; it acts as hard selection.

    Parameters
    ----------
    schedule : Geometric or an object like it, default=Geometric()
        Threshold and diversity of each round, one value for all columns.

    Examples
    --------
    >>> from spmld.pace import ReleasedPace
    >>> ReleasedPace().schedule.growth
    1.3
    """

    def __init__(self, *, schedule: Geometric | None = None):
        super().__init__(schedule=schedule if schedule is not None else Geometric())

    def check(self) -> None:
        """Refuse parameters out of range, and schedules with a threshold for each column."""
        super().check()
        if isinstance(self.schedule, Quantile):
            raise ValueError(
                "schedule of ReleasedPace must give one threshold for all columns, as Geometric() does, "
                f"got {self.schedule!r}"
            )

    def weights(self, losses: Any, age: Age, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return released(losses, age, groups)

    def penalty(self, weights: Any, age: Age, groups: Groups) -> Any:
        """The paper's, which these weights do not minimise."""
        return core.group_sparse_penalty(weights, age, groups)
