"""The pacing step of an outer iteration: a rule with its schedule, applied to groups of entries."""

from dataclasses import dataclass
from typing import Any

from spmld.core.latent_solver import PacedWeights
from spmld.pacing.groups import Blocks, EntryGroups, Groups, keep_easiest
from spmld.pacing.rules import PacingRule


@dataclass(frozen=True)
class PacingUpdate:
    """Computes the self-paced weights of an iteration from its losses.

    Parameters
    ----------
    rule : PacingRule
        Pacing rule with its schedule.
    groups : ColumnGroups or EntryGroups
        Groups of entries.
    keep_easiest : bool, default=False
        Whether each group of an `EntryGroups` keeps weight 1 for its easiest entry. Requires a single row block.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.pacing import ColumnGroups, FixedSchedule, HardPacing
    >>> from spmld.pacing.pacing_update import PacingUpdate
    >>> update = PacingUpdate(HardPacing(schedule=FixedSchedule(threshold=0.5)), ColumnGroups())
    >>> paced = update(0, [np.array([[0.1], [0.9]])])
    >>> paced.weights[0].ravel(), paced.penalty, paced.ended
    (array([1., 0.]), -0.5, True)
    """

    rule: PacingRule
    groups: Groups
    keep_easiest: bool = False

    def __call__(self, iteration: int, losses: Blocks) -> PacedWeights:
        """Return the weights of an iteration, counted from 0."""
        parameters = self.rule.parameters(iteration, losses, self.groups)
        weights = self.rule.weights(losses, parameters, self.groups)
        if self.keep_easiest and isinstance(self.groups, EntryGroups):
            weights = (keep_easiest(weights[0], losses[0], self.groups),)
        penalty = float(self.rule.penalty(weights, parameters, self.groups))
        record = {"threshold": _mean(parameters.threshold), "diversity": _mean(parameters.diversity)}
        return PacedWeights(weights, penalty, record, self.rule.has_ended(iteration))


def _mean(value: Any) -> float:
    return float(value.mean()) if hasattr(value, "mean") else float(value)
