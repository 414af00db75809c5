"""Pacing of losses in row blocks that are not in memory, such as those of a Dask cluster."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from spmld._arrays import namespace
from spmld.core.columns import Columns, find_level, per_column, slack_below
from spmld.core.latent_solver import PacedWeights
from spmld.core.losses import Array
from spmld.core.problem import Engine, split_rows
from spmld.pacing.rules import DiversePacing, GroupSparsePacing, PacingRule, at_level, norm_penalty


def check_blocks(rule: PacingRule) -> None:
    """Raise ValueError unless the rule and its schedule are those of the library: others require losses in memory."""
    schedule = rule.active_schedule
    for owner, method in ((rule, rule.weights), (rule, rule.penalty), (schedule, schedule.parameters)):
        if not method.__module__.startswith("spmld."):
            raise ValueError(
                f"{type(owner).__name__} requires losses in memory, but X is not in memory; load X and y "
                "into memory, or use a rule and a schedule of spmld.pacing"
            )


def update_blocks(
    rule: PacingRule, engine: Engine, zeros: Array, iteration: int, losses: Sequence[Any]
) -> PacedWeights:
    """Return the self-paced weights of an iteration in row blocks. `zeros` has a zero for each column of the losses."""
    columns = Columns(losses, zeros, engine)
    threshold, diversity = (per_column(value, zeros) for value in rule.active_schedule.parameters(iteration, columns))
    weights = _weights(rule, columns, threshold, diversity)
    penalty = engine.sum(partial(rule.penalty, threshold=threshold), weights.blocks)
    if isinstance(rule, GroupSparsePacing):
        penalty = penalty + norm_penalty(weights, diversity)
    if isinstance(rule, DiversePacing):
        penalty = penalty - norm_penalty(weights, diversity)
    return rule._paced(iteration, weights.blocks, penalty, threshold, diversity)


def _weights(rule: PacingRule, losses: Columns, threshold: Array, diversity: Array) -> Columns:
    if isinstance(rule, GroupSparsePacing):
        slack = losses.map(slack_below, threshold)
        return slack.map(at_level, find_level(slack, diversity))
    if isinstance(rule, DiversePacing):  # ranks require all losses
        blocks = losses.engine.gather(losses.blocks)
        weights = rule.weights(namespace(losses.zeros).concat(blocks), threshold, diversity)
        parts = split_rows(weights, [block.shape[0] for block in blocks])
        # The weights go to where the losses are.
        return replace(losses, blocks=losses.engine.map(lambda _, part: part, losses.blocks, parts))
    return losses.map(rule.weights, threshold)
