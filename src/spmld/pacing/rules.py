"""Rules: weights for given losses, and the penalty they are the minimiser of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import BaseEstimator

from spmld.core.released import released
from spmld.pacing import functions as core
from spmld.pacing.functions import PacingParameters
from spmld.pacing.groups import Groups
from spmld.pacing.schedules import FixedSchedule, GeometricSchedule, QuantileSchedule

__all__ = [
    "DiversePacing",
    "GroupSparsePacing",
    "HardPacing",
    "LinearPacing",
    "LogarithmicPacing",
    "PacingRule",
    "ReleasedPacing",
]

Schedule = GeometricSchedule | QuantileSchedule | FixedSchedule


class PacingRule(BaseEstimator, ABC):
    """A rule with a schedule. A subclass gives the rule: `weights`, and its `penalty`.

    Parameters
    ----------
    schedule : QuantileSchedule, GeometricSchedule, FixedSchedule or an object like them, default=QuantileSchedule()
        Threshold and diversity of each round.

    Examples
    --------
    A rule that never leaves anything out:

    >>> import numpy as np
    >>> from spmld.pacing import PacingParameters, Columns, PacingRule
    >>> class EveryEntry(PacingRule):
    ...     def weights(self, losses, parameters, groups):
    ...         return groups.map(lambda L: 0 * L + 1, losses)
    ...     def penalty(self, weights, parameters, groups):
    ...         return 0.0
    >>> EveryEntry().weights([np.array([[0.1], [9.0]])], PacingParameters(1.0), Columns())[0].ravel()
    array([1., 1.])
    """

    def __init__(self, *, schedule: Schedule | None = None):
        self.schedule = schedule if schedule is not None else QuantileSchedule()

    @abstractmethod
    def weights(self, losses: Any, parameters: PacingParameters, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses.

        Parameters
        ----------
        losses : sequence of arrays
            Losses in blocks of rows.
        parameters : PacingParameters
            Threshold and diversity, each one number or one per group.
        groups : Columns or Members
            Maps a function over entries and sums within groups.

        Returns
        -------
        tuple of arrays
            Weights in [0, 1], in the form of the losses.
        """

    @abstractmethod
    def penalty(self, weights: Any, parameters: PacingParameters, groups: Groups) -> Any:
        """What the weights minimise together with the weighted losses, summed over groups."""

    def check(self) -> None:
        """Refuse parameters out of range."""
        schedule = self.schedule
        if isinstance(schedule, type) or not all(hasattr(schedule, name) for name in ("parameters", "has_ended")):
            raise ValueError(
                f"schedule of {type(self).__name__} must be a schedule such as spmld.pacing.QuantileSchedule(), got {schedule!r}"
            )
        if hasattr(schedule, "check"):
            schedule.check()

    def parameters(self, round: int, losses: Any, groups: Groups) -> PacingParameters:
        """Threshold and diversity of a round."""
        return self.schedule.parameters(round, losses, groups)

    def has_ended(self, round: int) -> bool:
        """Whether later rounds are of the same parameters."""
        return self.schedule.has_ended(round)


class HardPacing(PacingRule):
    """Weight 1 below the threshold, 0 elsewhere (Kumar, Packer and Koller, 2010).

    Parameters
    ----------
    schedule : QuantileSchedule, GeometricSchedule, FixedSchedule or an object like them, default=QuantileSchedule()
        Threshold of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import PacingParameters, Columns, HardPacing
    >>> HardPacing().weights([np.array([[0.1], [0.3], [0.9]])], PacingParameters(0.5), Columns())[0].ravel()
    array([1., 1., 0.])
    """

    def weights(self, losses: Any, parameters: PacingParameters, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.hard(losses, parameters, groups)

    def penalty(self, weights: Any, parameters: PacingParameters, groups: Groups) -> Any:
        """-threshold sum p."""
        return core.hard_penalty(weights, parameters, groups)


class LinearPacing(PacingRule):
    """Weights that fall linearly, from 1 at no loss to 0 at the threshold (Jiang et al., 2014).

    Parameters
    ----------
    schedule : QuantileSchedule, GeometricSchedule, FixedSchedule or an object like them, default=QuantileSchedule()
        Threshold of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import PacingParameters, Columns, LinearPacing
    >>> LinearPacing().weights([np.array([[0.1], [0.3], [0.9]])], PacingParameters(0.5), Columns())[0].ravel().round(2)
    array([0.8, 0.4, 0. ])
    """

    def weights(self, losses: Any, parameters: PacingParameters, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.linear(losses, parameters, groups)

    def penalty(self, weights: Any, parameters: PacingParameters, groups: Groups) -> Any:
        """Threshold times sum (p^2 / 2 - p)."""
        return core.linear_penalty(weights, parameters, groups)


class LogarithmicPacing(PacingRule):
    """Weights that fall logarithmically, from 1 at no loss to 0 at the threshold (Jiang et al., 2014).

    ``p = log(z + (1 - z) L / threshold) / log z`` with z the softness; the original has threshold 1 - z.

    Parameters
    ----------
    softness : float in (0, 1), default=0.1
        Near 1 the weights fall linearly, near 0 they fall steeply at small losses.
    schedule : QuantileSchedule, GeometricSchedule, FixedSchedule or an object like them, default=QuantileSchedule()
        Threshold of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import PacingParameters, Columns, LogarithmicPacing
    >>> LogarithmicPacing().weights([np.array([[0.1], [0.3], [0.9]])], PacingParameters(0.5), Columns())[0].ravel().round(2)
    array([0.55, 0.19, 0.  ])
    """

    def __init__(self, *, softness: float = 0.1, schedule: Schedule | None = None):
        super().__init__(schedule=schedule)
        self.softness = softness

    def check(self) -> None:
        """Refuse parameters out of range."""
        super().check()
        if not isinstance(self.softness, (int, float)) or not 0 < self.softness < 1:
            raise ValueError(f"softness of LogarithmicPacing must be in (0, 1), got {self.softness!r}")

    def weights(self, losses: Any, parameters: PacingParameters, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.logarithmic(losses, parameters, groups, self.softness)

    def penalty(self, weights: Any, parameters: PacingParameters, groups: Groups) -> Any:
        """With c = threshold / (1 - z): c sum (z p - z^p / log z)."""
        return core.logarithmic_penalty(weights, parameters, groups, self.softness)


class GroupSparsePacing(PacingRule):
    """The paper's pacing, with its exact minimiser.

    Within each group the weights minimise ``sum_j p_j (L_j - threshold) + diversity |p|_2`` over [0, 1]. The plus sign
    makes them *group-sparse*: a group whose room below the threshold, ``|max(threshold - L, 0)|_2``, does not exceed
    the diversity is left out altogether, as in self-paced multi-task learning. Without diversity it is `HardPacing`.

    Parameters
    ----------
    schedule : QuantileSchedule, GeometricSchedule, FixedSchedule or an object like them, default=QuantileSchedule()
        Threshold and diversity of each round.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import PacingParameters, Columns, GroupSparsePacing
    >>> losses = np.array([[0.1], [0.3], [0.9]])
    >>> GroupSparsePacing().weights([losses], PacingParameters(0.5, 0.3), Columns())[0].ravel().round(3)
    array([1.   , 0.894, 0.   ])
    """

    def weights(self, losses: Any, parameters: PacingParameters, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.group_sparse(losses, parameters, groups)

    def penalty(self, weights: Any, parameters: PacingParameters, groups: Groups) -> Any:
        """``-threshold sum p + diversity |p|_2``."""
        return core.group_sparse_penalty(weights, parameters, groups)


class DiversePacing(PacingRule):
    """Self-paced learning with diversity (Jiang et al., 2014): the easiest entries of every group count longer.

    Within each group the weights minimise ``sum_j p_j (L_j - threshold) - diversity |p|_2`` over [0, 1]. The i-th
    smallest loss counts if it is below ``threshold + diversity (sqrt(i) - sqrt(i - 1))``. This is what the paper's
    words describe; its formula has the other sign, see `GroupSparsePacing`.

    Parameters
    ----------
    schedule : QuantileSchedule, GeometricSchedule, FixedSchedule or an object like them, default=QuantileSchedule(common=True, diversity=0.5)
        Threshold and diversity of each round. Groups differ by diversity only where they share a threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import PacingParameters, Columns, DiversePacing
    >>> losses = np.array([[0.1, 0.6], [0.3, 0.8], [0.9, 0.9]])
    >>> DiversePacing().weights([losses], PacingParameters(0.5, 0.2), Columns())[0]
    array([[1., 1.],
           [1., 0.],
           [0., 0.]])
    """

    def __init__(self, *, schedule: Schedule | None = None):
        super().__init__(schedule=schedule if schedule is not None else QuantileSchedule(common=True, diversity=0.5))

    def weights(self, losses: Any, parameters: PacingParameters, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return core.diverse(losses, parameters, groups)

    def penalty(self, weights: Any, parameters: PacingParameters, groups: Groups) -> Any:
        """``-threshold sum p - diversity |p|_2``."""
        return core.diverse_penalty(weights, parameters, groups)


class ReleasedPacing(PacingRule):
    """The pacing of the authors' released code, to reproduce the paper's tables.

    Losses are scaled to [0, 1] over the whole matrix. The rule of the paper's text follows with its two sums frozen
    at the first index, and picks its breaking point from a vector padded with zeros; it acts as hard selection.

    Parameters
    ----------
    schedule : GeometricSchedule or an object like it, default=GeometricSchedule()
        Threshold and diversity of each round, one value for all columns.

    Examples
    --------
    >>> from spmld.pacing import ReleasedPacing
    >>> ReleasedPacing().schedule.growth
    1.3
    """

    def __init__(self, *, schedule: GeometricSchedule | None = None):
        super().__init__(schedule=schedule if schedule is not None else GeometricSchedule())

    def check(self) -> None:
        """Refuse parameters out of range, and schedules with a threshold for each column."""
        super().check()
        if isinstance(self.schedule, QuantileSchedule):
            raise ValueError(
                "schedule of ReleasedPacing must give one threshold for all columns, as GeometricSchedule() does, "
                f"got {self.schedule!r}"
            )

    def weights(self, losses: Any, parameters: PacingParameters, groups: Groups) -> tuple[Any, ...]:
        """Weights for losses given in blocks of rows."""
        return released(losses, parameters, groups)

    def penalty(self, weights: Any, parameters: PacingParameters, groups: Groups) -> Any:
        """The paper's, which these weights do not minimise."""
        return core.group_sparse_penalty(weights, parameters, groups)
