"""Pacing rules: weights as functions of losses, the penalties that they minimize, and losses that are not in memory."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from math import log
from numbers import Real
from typing import Annotated, Any, ClassVar

import numpy as np

from spmld._arrays import Array, namespace, to_numpy
from spmld._validation import HasMethods, Interval, Validated
from spmld.core.bisection import Columns, find_level, norms, per_column, slack_below
from spmld.core.latent_solver import PacedWeights
from spmld.pacing.schedules import QuantileSchedule, Schedule


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
    >>> from spmld.pacing import PacingRule
    >>> class EveryEntry(PacingRule):
    ...     def weights(self, losses, threshold, diversity=0.0):
    ...         return np.where(np.isnan(losses), 0.0, 1.0)
    ...     def penalty(self, weights, threshold, diversity=0.0):
    ...         return 0.0
    >>> EveryEntry().weights(np.array([[0.1], [9.0], [np.nan]]), 1.0).ravel()
    array([1., 1., 0.])
    """

    on_blocks: ClassVar[bool] = False
    """Whether a class, but not its subclasses, can weight losses in row blocks: see `_weigh_blocks`."""

    schedule: Annotated[Any, HasMethods(["parameters", "has_ended"])] | None = None

    def default_schedule(self) -> Schedule:
        """Return the schedule that is used if `schedule` is None."""
        return QuantileSchedule()

    @property
    def active_schedule(self) -> Schedule:
        """The schedule in use: `schedule`, or the default one if it is None."""
        return self.schedule if self.schedule is not None else self.default_schedule()

    @abstractmethod
    def weights(self, losses: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return the weights for given losses.

        Parameters
        ----------
        losses : array of shape (n_entries, n_groups)
            Losses; NaN where missing.
        threshold, diversity : float or array of shape (n_groups,)
            Threshold and diversity of each group.

        Returns
        -------
        array of shape (n_entries, n_groups)
            Weights in [0, 1]; 0 where the loss is missing.
        """

    @abstractmethod
    def penalty(self, weights: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return the penalty of given weights, summed over groups.

        Parameters
        ----------
        weights : array of shape (n_entries, n_groups)
            Weights in [0, 1]; NaN for missing entries, which have no penalty.
        threshold, diversity : float or array of shape (n_groups,)
            As in `weights`.

        Returns
        -------
        array of shape () or float
        """

    def update(self, iteration: int, losses: Array, *, at_least_one: bool = False) -> PacedWeights:
        """Return the self-paced weights of an iteration.

        Parameters
        ----------
        iteration : int
            Number of the iteration, counted from 0.
        losses : array of shape (n_entries, n_groups)
            Losses; NaN where missing.
        at_least_one : bool, default=False
            Whether the easiest entry of a group whose weights sum to less than 1 has weight 1.

        Examples
        --------
        >>> import numpy as np
        >>> from spmld.pacing import GeometricSchedule, HardPacing
        >>> rule = HardPacing(schedule=GeometricSchedule(threshold=0.5, growth=1.0, decay=1.0))
        >>> paced = rule.update(0, np.array([[0.1], [0.9]]))
        >>> paced.weights.ravel(), paced.penalty, paced.ended
        (array([1., 0.]), -0.5, True)
        """
        xp = namespace(losses)
        threshold, diversity = self.active_schedule.parameters(iteration, losses)
        weights = self.weights(losses, threshold, diversity)
        if at_least_one:
            weights = keep_easiest(weights, losses)
        penalty = self.penalty(xp.where(xp.isnan(losses), xp.nan, weights), threshold, diversity)
        return self._paced(iteration, weights, penalty, threshold, diversity)

    def _update_blocks(self, iteration: int, losses: Columns) -> PacedWeights:
        """Return the self-paced weights of an iteration in row blocks.

        Rules and schedules that do not declare `on_blocks` get the losses as one array.
        """
        schedule = self.active_schedule
        if losses.engine.in_memory or not all(vars(type(part)).get("on_blocks") for part in (self, schedule)):
            paced = self.update(iteration, losses.array())
            return paced._replace(weights=losses.split(paced.weights))
        parameters = schedule.parameters(iteration, losses)
        threshold, diversity = (per_column(value, losses.zeros) for value in parameters)
        weights, penalty = self._weigh_blocks(losses, threshold, diversity)
        return self._paced(iteration, weights.blocks, penalty, threshold, diversity)

    def _weigh_blocks(self, losses: Columns, threshold: Array, diversity: Array) -> tuple[Columns, Any]:
        """Return the weights in row blocks and their penalty, if each weight depends on its loss only."""
        weights = losses.map(self.weights, threshold)
        return weights, weights.engine.sum(partial(self.penalty, threshold=threshold), weights.blocks)

    def _paced(self, iteration: int, weights: Any, penalty: Any, threshold: Any, diversity: Any) -> PacedWeights:
        """Return weights and penalty with the entries of the history."""
        record = {"threshold": float(np.mean(to_numpy(threshold))), "diversity": float(np.mean(to_numpy(diversity)))}
        return PacedWeights(weights, float(penalty), record, self.active_schedule.has_ended(iteration))


class HardPacing(PacingRule):
    """Weight 1 below the threshold, 0 elsewhere (Kumar, Packer and Koller, 2010).

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import HardPacing
    >>> HardPacing().weights(np.array([[0.1], [0.3], [0.9]]), 0.5).ravel()
    array([1., 1., 0.])
    """

    on_blocks: ClassVar[bool] = True

    def weights(self, losses: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return 1 for losses below the threshold, else 0."""
        return namespace(losses).astype(losses < per_column(threshold, losses), losses.dtype)

    def penalty(self, weights: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return ``-threshold sum p``."""
        return _sum_times(threshold, -weights)


class LinearPacing(PacingRule):
    """Weights that decrease linearly, from 1 at loss 0 to 0 at the threshold (Jiang et al., 2014).

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import LinearPacing
    >>> LinearPacing().weights(np.array([[0.1], [0.3], [0.9]]), 0.5).ravel().round(2)
    array([0.8, 0.4, 0. ])
    """

    on_blocks: ClassVar[bool] = True

    def weights(self, losses: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return ``1 - L / threshold`` below the threshold, else 0."""
        xp = namespace(losses)
        return xp.where(losses < per_column(threshold, losses), 1 - _fraction_of(threshold, losses), 0)

    def penalty(self, weights: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return ``threshold sum (p^2 / 2 - p)``."""
        return _sum_times(threshold, 0.5 * weights * weights - weights)


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
    >>> from spmld.pacing import LogarithmicPacing
    >>> LogarithmicPacing().weights(np.array([[0.1], [0.3], [0.9]]), 0.5).ravel().round(2)
    array([0.55, 0.19, 0.  ])
    """

    on_blocks: ClassVar[bool] = True
    softness: Annotated[float, Interval(Real, 0, 1, closed="neither")] = 0.1

    def weights(self, losses: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return ``log(z + (1 - z) L / threshold) / log z`` below the threshold, else 0."""
        xp = namespace(losses)
        z = self.softness
        weights = xp.log(_fraction_of(threshold, losses) * (1 - z) + z) / log(z)
        return xp.where(losses < per_column(threshold, losses), weights, 0)

    def penalty(self, weights: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return ``c sum (z p - z^p / log z)`` with ``c = threshold / (1 - z)``."""
        z = self.softness
        return _sum_times(threshold, (z * weights - z**weights / log(z)) / (1 - z))


class GroupSparsePacing(HardPacing):
    """The rule of the paper, with its exact minimizer.

    Within each group the weights minimize ``sum_j p_j (L_j - threshold) + diversity |p|_2`` over [0, 1], see
    `exact_weights`. The plus sign makes them *group-sparse*: all weights of a group are 0 if its slack
    ``|max(threshold - L, 0)|_2`` does not exceed the diversity, as in self-paced multi-task learning. Without diversity
    it is `HardPacing`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import GroupSparsePacing
    >>> GroupSparsePacing().weights(np.array([[0.1], [0.3], [0.9]]), 0.5, 0.3).ravel().round(3)
    array([1.   , 0.894, 0.   ])
    """

    on_blocks: ClassVar[bool] = True

    def weights(self, losses: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return `exact_weights`, group by group."""
        return exact_weights(losses, threshold, diversity)

    def penalty(self, weights: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return ``-threshold sum p + diversity |p|_2``."""
        return super().penalty(weights, threshold) + norm_penalty(Columns.of(weights), diversity)

    def _weigh_blocks(self, losses: Columns, threshold: Array, diversity: Array) -> tuple[Columns, Any]:
        slack = losses.map(slack_below, threshold)
        weights = slack.map(at_level, find_level(slack, diversity))
        penalty = weights.engine.sum(partial(super().penalty, threshold=threshold), weights.blocks)
        return weights, penalty + norm_penalty(weights, diversity)


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
    >>> from spmld.pacing import DiversePacing
    >>> DiversePacing().weights(np.array([[0.1, 0.6], [0.3, 0.8], [0.9, 0.9]]), 0.5, 0.2)
    array([[1., 1.],
           [1., 0.],
           [0., 0.]])
    """

    def default_schedule(self) -> Schedule:
        """Return a schedule with one threshold for all groups."""
        return QuantileSchedule(common=True, diversity=0.5)

    def weights(self, losses: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return the minimizer, which is 0 or 1 because the problem is concave."""
        xp = namespace(losses)
        order = xp.argsort(losses, axis=0, stable=True)
        rank = xp.astype(xp.argsort(order, axis=0, stable=True) + 1, losses.dtype)
        # The bound decreases with the rank while the loss increases, so entries can be compared one by one.
        return super().weights(losses - per_column(diversity, losses) * (xp.sqrt(rank) - xp.sqrt(rank - 1)), threshold)

    def penalty(self, weights: Array, threshold: Any, diversity: Any = 0.0) -> Array:
        """Return ``-threshold sum p - diversity |p|_2``."""
        return super().penalty(weights, threshold) - norm_penalty(Columns.of(weights), diversity)


def exact_weights(losses: Array, threshold: Any, diversity: Any) -> Array:
    r"""Return the self-paced weights of the paper: the exact minimizer P of its equation 8 for given losses.

    For the losses :math:`\ell` of a label, the weights minimize
    :math:`\sum_j p_j (\ell_j - \lambda) + \gamma \|p\|_2` over :math:`[0, 1]^n`. With the slack
    :math:`q = \max(\lambda - \ell, 0)` they are :math:`p = \min(q, t) / t` at the level t with
    :math:`\sum_j \min(q_j, t)^2 = \gamma^2`, and 0 if :math:`\|q\|_2 \le \gamma`.

    Parameters
    ----------
    losses : array of shape (n_samples,) or (n_samples, n_labels)
        Losses of one label, or of several, each with weights of its own; NaN where missing.
    threshold : float or array of shape (n_labels,)
        :math:`\lambda`.
    diversity : float or array of shape (n_labels,)
        :math:`\gamma`.

    Returns
    -------
    array
        Weights in [0, 1], in the shape of the losses; 0 where the loss is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import exact_weights
    >>> exact_weights(np.array([0.1, 0.3, 0.9]), threshold=0.5, diversity=0.3).round(3)
    array([1.   , 0.894, 0.   ])
    """
    slack = slack_below(losses, per_column(threshold, losses))
    level = find_level(Columns.of(slack), per_column(diversity, losses))
    return at_level(slack, level)


def at_level(slack: Array, level: Array) -> Array:
    """Return the weights of given slack at the level of its column."""
    return namespace(slack).minimum(slack, level) / level


def keep_easiest(weights: Array, losses: Array) -> Array:
    """Return weights that are 1 for the easiest entry of each column whose weights sum to less than 1."""
    xp = namespace(losses)
    easiest = xp.argmin(xp.where(xp.isnan(losses), xp.inf, losses), axis=0)
    rows = xp.arange(losses.shape[0], device=losses.device)[:, None]
    return xp.where((rows == easiest) & (xp.sum(weights, axis=0) < 1), 1, weights)


def norm_penalty(weights: Columns, diversity: Any) -> Array:
    """Return the sum over groups of ``diversity |p|_2``."""
    xp = namespace(weights.zeros)
    diversity = per_column(diversity, weights.zeros)
    return xp.sum(diversity * norms(weights)) if xp.any(diversity > 0) else 0.0


def _fraction_of(threshold: Any, losses: Array) -> Array:
    """Return losses divided by the threshold where they are below it, and losses elsewhere."""
    threshold = per_column(threshold, losses)
    return losses / namespace(losses).where(losses < threshold, threshold, 1)


def _sum_times(threshold: Any, values: Array) -> Array:
    """Return the sum of ``threshold * values``, without missing values and groups of infinite threshold."""
    xp = namespace(values)
    threshold = per_column(threshold, values)
    finite = xp.where(xp.isfinite(threshold), threshold, 0)
    return xp.sum(finite * xp.where(xp.isnan(values), 0, values))
