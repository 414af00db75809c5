"""Pacing rules: weights as functions of losses, and the penalties that they minimize."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import log
from numbers import Real
from typing import Annotated, Any

import numpy as np

from spmld._arrays import namespace, to_numpy
from spmld._validation import HasMethods, Interval, Validated
from spmld.core.latent_solver import PacedWeights
from spmld.core.losses import Array
from spmld.pacing.groups import Blocks, Groups, keep_easiest
from spmld.pacing.schedules import PacingParameters, QuantileSchedule, Schedule


@dataclass(kw_only=True, eq=False, repr=False)
class PacingRule(Validated, ABC):
    """Base class of pacing rules. Subclasses define `weights` and `penalty`.

    The weights minimize the sum of the weighted losses and the penalty. With an infinite threshold, the weights
    must be 1 and the penalty 0.

    Parameters
    ----------
    schedule : QuantileSchedule, GeometricSchedule, similar object or None, default=None
        Threshold and diversity of each iteration. None is ``QuantileSchedule()``.

    Examples
    --------
    A rule that assigns weight 1 to every entry:

    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups, PacingParameters, PacingRule
    >>> class EveryEntry(PacingRule):
    ...     def weights(self, losses, parameters, groups):
    ...         return groups.map(lambda L: 0 * L + 1, losses)
    ...     def penalty(self, weights, parameters, groups):
    ...         return 0.0
    >>> EveryEntry().weights([np.array([[0.1], [9.0]])], PacingParameters(1.0), ColumnGroups())[0].ravel()
    array([1., 1.])
    """

    schedule: Annotated[Any, HasMethods(["parameters", "has_ended"])] | None = None

    def default_schedule(self) -> Schedule:
        """Return the schedule that is used if `schedule` is None."""
        return QuantileSchedule()

    @property
    def active_schedule(self) -> Schedule:
        """The schedule in use: `schedule`, or the default one if it is None."""
        return self.schedule if self.schedule is not None else self.default_schedule()

    def _validate_params(self) -> None:
        super()._validate_params()
        if hasattr(self.active_schedule, "_validate_params"):
            self.active_schedule._validate_params()

    @abstractmethod
    def weights(self, losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
        """Return the weights for given losses.

        Parameters
        ----------
        losses : sequence of arrays
            Losses in row blocks.
        parameters : PacingParameters
            Threshold and diversity, each one number or one per group.
        groups : ColumnGroups or EntryGroups
            Operations on the groups of entries.

        Returns
        -------
        tuple of arrays
            Weights in [0, 1], in the shape of the losses.
        """

    @abstractmethod
    def penalty(self, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
        """Return the penalty of given weights, summed over groups."""

    def update(self, iteration: int, losses: Blocks, groups: Groups, *, at_least_one: bool = False) -> PacedWeights:
        """Return the self-paced weights of an iteration.

        Parameters
        ----------
        iteration : int
            Number of the iteration, counted from 0.
        losses, groups
            As in `weights`.
        at_least_one : bool, default=False
            Whether each group of an `EntryGroups` keeps weight 1 for its easiest entry. Requires a single row block.

        Examples
        --------
        >>> import numpy as np
        >>> from spmld.pacing import ColumnGroups, GeometricSchedule, HardPacing
        >>> rule = HardPacing(schedule=GeometricSchedule(threshold=0.5, growth=1.0, decay=1.0))
        >>> paced = rule.update(0, [np.array([[0.1], [0.9]])], ColumnGroups())
        >>> paced.weights[0].ravel(), paced.penalty, paced.ended
        (array([1., 0.]), -0.5, True)
        """
        schedule = self.active_schedule
        parameters = schedule.parameters(iteration, losses, groups)
        weights = self.weights(losses, parameters, groups)
        if at_least_one:
            weights = (keep_easiest(weights[0], losses[0], groups),)
        penalty = float(self.penalty(weights, parameters, groups))
        record = {name: float(np.mean(to_numpy(value))) for name, value in vars(parameters).items()}
        return PacedWeights(weights, penalty, record, schedule.has_ended(iteration))


class HardPacing(PacingRule):
    """Weight 1 below the threshold, 0 elsewhere (Kumar, Packer and Koller, 2010).

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups, HardPacing, PacingParameters
    >>> HardPacing().weights([np.array([[0.1], [0.3], [0.9]])], PacingParameters(0.5), ColumnGroups())[0].ravel()
    array([1., 1., 0.])
    """

    def weights(self, losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
        """Return 1 for losses below the threshold, else 0."""
        return groups.map(lambda L, t: t > L, losses, groups.per_group(parameters.threshold, losses))

    def penalty(self, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
        """Return ``-threshold sum p``."""
        return _sum_of_entries(lambda P, t: -t * P, weights, parameters, groups)


class LinearPacing(PacingRule):
    """Weights that decrease linearly, from 1 at loss 0 to 0 at the threshold (Jiang et al., 2014).

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups, LinearPacing, PacingParameters
    >>> losses = [np.array([[0.1], [0.3], [0.9]])]
    >>> LinearPacing().weights(losses, PacingParameters(0.5), ColumnGroups())[0].ravel().round(2)
    array([0.8, 0.4, 0. ])
    """

    def weights(self, losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
        """Return ``1 - L / threshold`` below the threshold, else 0."""
        xp = namespace(groups.per_group(0.0, losses))

        def rule(L: Array, t: Array) -> Array:
            return xp.where(t > L, 1 - L / xp.where(t > L, t, xp.ones_like(L)), xp.zeros_like(L))

        return groups.map(rule, losses, groups.per_group(parameters.threshold, losses))

    def penalty(self, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
        """Return ``threshold sum (p^2 / 2 - p)``."""
        return _sum_of_entries(lambda P, t: t * (0.5 * P * P - P), weights, parameters, groups)


@dataclass(kw_only=True, eq=False, repr=False)
class LogarithmicPacing(PacingRule):
    """Weights that decrease logarithmically, from 1 at loss 0 to 0 at the threshold (Jiang et al., 2014).

    ``p = log(z + (1 - z) L / threshold) / log z`` with z the softness; the original has threshold 1 - z.

    Parameters
    ----------
    softness : float in (0, 1), default=0.1
        Near 1 the weights decrease linearly, near 0 they drop steeply at small losses.
    schedule : schedule object or None, default=None
        As in `PacingRule`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups, LogarithmicPacing, PacingParameters
    >>> losses = [np.array([[0.1], [0.3], [0.9]])]
    >>> LogarithmicPacing().weights(losses, PacingParameters(0.5), ColumnGroups())[0].ravel().round(2)
    array([0.55, 0.19, 0.  ])
    """

    softness: Annotated[float, Interval(Real, 0, 1, closed="neither")] = 0.1

    def weights(self, losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
        """Return ``log(z + (1 - z) L / threshold) / log z`` below the threshold, else 0."""
        xp, z = namespace(groups.per_group(0.0, losses)), self.softness

        def rule(L: Array, t: Array) -> Array:
            ratio = L / xp.where(t > L, t, xp.ones_like(L))
            return xp.where(t > L, xp.log(ratio * (1 - z) + z) / log(z), xp.zeros_like(L))

        return groups.map(rule, losses, groups.per_group(parameters.threshold, losses))

    def penalty(self, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
        """Return ``c sum (z p - z^p / log z)`` with ``c = threshold / (1 - z)``."""
        z = self.softness
        return _sum_of_entries(lambda P, t: t / (1 - z) * (z * P - z**P / log(z)), weights, parameters, groups)


class GroupSparsePacing(HardPacing):
    """The rule of the paper, with its exact minimizer.

    Within each group the weights minimize ``sum_j p_j (L_j - threshold) + diversity |p|_2`` over [0, 1]. The plus sign
    makes them *group-sparse*: all weights of a group are 0 if its slack ``|max(threshold - L, 0)|_2`` does not exceed
    the diversity, as in self-paced multi-task learning. Without diversity it is `HardPacing`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups, GroupSparsePacing, PacingParameters
    >>> losses = np.array([[0.1], [0.3], [0.9]])
    >>> GroupSparsePacing().weights([losses], PacingParameters(0.5, 0.3), ColumnGroups())[0].ravel().round(3)
    array([1.   , 0.894, 0.   ])
    """

    def weights(self, losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
        """Return the minimizer, group by group.

        With a = max(threshold - L, 0) it is p = min(1, a / t) at the level t with sum min(t, a)^2 = diversity^2, and 0
        when ``|a| <= diversity``. In t^2 that sum is increasing, concave and piecewise linear, so Newton's method from
        0 reaches the root after finitely many steps, which are sums over rows.
        """
        xp, threshold = namespace(groups.per_group(0.0, losses)), groups.per_group(parameters.threshold, losses)
        diversity = groups.per_group(parameters.diversity, losses)
        if not xp.any(diversity > 0):
            return super().weights(losses, parameters, groups)
        level, count = xp.zeros_like(diversity), -xp.ones_like(diversity)

        def moments(L: Array, threshold: Array, level: Array) -> tuple[Array, Array]:
            a = threshold - L
            clipped = xp.clip(a, xp.zeros_like(level), level)
            return clipped * clipped, a > level

        while True:
            (squares, count), before = groups.sum(moments, losses, threshold, level), count
            moved = (count > 0) & (count != before)
            if not xp.any(moved):  # the last step stayed on one linear piece, so it ended at the root
                break
            step = xp.clip(diversity**2 - squares, 0, None) / xp.where(count > 0, count, xp.ones_like(count))
            level = xp.where(moved, xp.sqrt(level**2 + step), level)

        def rule(L: Array, threshold: Array, level: Array, active: Array) -> Array:
            a = threshold - L
            # At level 0, which is the hard rule, any positive slack has weight 1.
            soft = xp.clip(a / xp.where(level > 0, level, xp.ones_like(level)), 0, 1)
            return xp.where(level > 0, soft, xp.astype(a > 0, a.dtype)) * active

        return groups.map(rule, losses, threshold, level, xp.astype(count > 0, diversity.dtype))

    def penalty(self, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
        """Return ``-threshold sum p + diversity |p|_2``."""
        return super().penalty(weights, parameters, groups) + _sum_of_norms(weights, parameters, groups)


class DiversePacing(HardPacing):
    """Self-paced learning with diversity (Jiang et al., 2014): every group keeps its easiest entries longer.

    Within each group the weights minimize ``sum_j p_j (L_j - threshold) - diversity |p|_2`` over [0, 1]. The i-th
    smallest loss has weight 1 if it is below ``threshold + diversity (sqrt(i) - sqrt(i - 1))``. The text of the paper
    describes this rule; its formula has the opposite sign, see `GroupSparsePacing`.

    Parameters
    ----------
    schedule : schedule object or None, default=None
        As in `PacingRule`. None is ``QuantileSchedule(common=True, diversity=0.5)``: diversity has an effect between
        groups only if they have the same threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups, DiversePacing, PacingParameters
    >>> losses = np.array([[0.1, 0.6], [0.3, 0.8], [0.9, 0.9]])
    >>> DiversePacing().weights([losses], PacingParameters(0.5, 0.2), ColumnGroups())[0]
    array([[1., 1.],
           [1., 0.],
           [0., 0.]])
    """

    def default_schedule(self) -> Schedule:
        """Return a schedule with one threshold for all groups."""
        return QuantileSchedule(common=True, diversity=0.5)

    def weights(self, losses: Blocks, parameters: PacingParameters, groups: Groups) -> tuple[Array, ...]:
        """Return the minimizer, which is 0 or 1 because the problem is concave."""
        xp = namespace(groups.per_group(0.0, losses))
        diversity = groups.per_group(parameters.diversity, losses)
        # The bound decreases with the rank while the loss increases, so entries can be compared one by one.
        bonus = groups.map(lambda i, g: g * (xp.sqrt(i) - xp.sqrt(i - 1)), groups.ranks(losses), diversity)
        return super().weights(groups.engine.map(lambda L, b: L - b, losses, bonus), parameters, groups)

    def penalty(self, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
        """Return ``-threshold sum p - diversity |p|_2``."""
        return super().penalty(weights, parameters, groups) - _sum_of_norms(weights, parameters, groups)


def _sum_of_entries(penalty: Any, weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
    """Return the sum of `penalty(weight, threshold)` over the entries with a finite threshold."""
    xp = namespace(groups.per_group(0.0, weights))
    threshold = groups.per_group(parameters.threshold, weights)
    finite = xp.isfinite(threshold)
    (sums,) = groups.sum(lambda P, t: (penalty(P, t),), weights, xp.where(finite, threshold, xp.zeros_like(threshold)))
    return xp.sum(xp.where(finite, sums, xp.zeros_like(sums)))


def _sum_of_norms(weights: Blocks, parameters: PacingParameters, groups: Groups) -> Array:
    """Return the sum over groups of ``diversity |p|_2``."""
    diversity = groups.per_group(parameters.diversity, weights)
    xp = namespace(diversity)
    if not xp.any(diversity > 0):
        return xp.sum(diversity)
    (squares,) = groups.sum(lambda P: (P * P,), weights)
    return xp.sum(diversity * xp.sqrt(squares))
