"""Which labels go together, in all samples and in each group, and what labels say about each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.plotting import CorrelationDisplay
from spmld.reports.evaluation import Judged, holder, of_a_view
from spmld.reports.parts import Figure, Section, Table
from spmld.reports.pictures import picture, plot

__all__ = ["additions", "correlations"]


def correlations(judged: Judged) -> Section | None:
    """Heat maps, and the pairs with the strongest correlations."""
    model = holder(judged.model, "label_correlation")
    if model is None or len(judged.label_names) < 2:
        return None
    try:
        overall = model.label_correlation()
    except ValueError:  # the model was told to learn none
        return None
    parts: list[Any] = [_map(overall, judged.label_names, "all samples"), _pairs(overall, judged)]
    sizes = np.asarray(model.group_sizes_).ravel()
    if len(sizes) > 1:
        for group, size in enumerate(sizes):
            where = f"group {group + 1} of {len(sizes)}, {int(size)} samples"
            parts.append(_map(model.label_correlation(group), judged.label_names, where))
    text = (
        "Red: scores rise together. Blue: one rises as the other falls. Labels that go together stand side by side. "
        "A label that goes with no other, such as a rare one, gets arbitrary correlations and not zeros."
    ) + of_a_view(judged.model, model)
    return Section("correlations", "Label correlations", text, parts)


def additions(judged: Judged) -> Section | None:
    """What the probability of each label adds to the scores of the others, in `SelfPacedEnsemble`."""
    model = holder(judged.model, "label_correlation_")
    if model is None or len(judged.label_names) < 2 or not model.correlation:
        return None
    M, names = model.label_correlation_, judged.label_names
    sources, targets = np.nonzero(~np.eye(len(M), dtype=bool))
    order = np.argsort(-np.abs(M[sources, targets]), kind="stable")[: judged.top]
    strongest = zip(sources[order], targets[order], strict=True)
    rows = [{"label": names[k], "adds to": names[j], "weight": float(M[k, j])} for k, j in strongest]
    alt = (
        f"Heat map of what the probability of each of {len(names)} labels adds to the scores of the others: from "
        f"{M.min():.2f} to {M.max():.2f}."
    )
    title = "What a row adds to a column"
    figure = _drawn(CorrelationDisplay(M, names, None, title), alt)
    text = (
        "What the probability of a label adds to the scores of the others, as held-out labels tell. The share "
        f"{model.correlation:g} of it counts in predictions."
    )
    parts: list[Any] = [figure, Table.of("Strongest additions", rows)]
    return Section("additions", "What labels say about each other", text, parts)


def _map(correlation: NDArray[np.float64], names: list[str], where: str) -> Figure:
    (i, j), (p, q) = _ends(correlation)
    alt = (
        f"Heat map of the correlations of {len(names)} labels, {where}: from {correlation[i, j]:.2f} "
        f"({names[i]} and {names[j]}) to {correlation[p, q]:.2f} ({names[p]} and {names[q]})."
    )
    return _drawn(CorrelationDisplay(correlation, names, title=where.capitalize()), alt)


def _drawn(display: CorrelationDisplay, alt: str) -> Figure:
    side = float(np.clip(2.6 + 0.14 * len(display.names), 3.6, 8.0))
    return picture(plot(display), alt, size=(side + 0.7, side))


def _ends(correlation: NDArray[np.float64]) -> tuple[Any, Any]:
    """The pairs with the lowest and the highest correlation."""
    rows, columns = np.triu_indices(len(correlation), 1)
    order = np.argsort(correlation[rows, columns], kind="stable")
    return tuple((rows[place], columns[place]) for place in (order[0], order[-1]))  # type: ignore[return-value]


def _pairs(correlation: NDArray[np.float64], judged: Judged) -> Table:
    rows, columns = np.triu_indices(len(correlation), 1)
    order = np.argsort(-np.abs(correlation[rows, columns]), kind="stable")[: judged.top]
    return Table.of(
        "Strongest pairs",
        [
            {
                "label": judged.label_names[rows[place]],
                "and": judged.label_names[columns[place]],
                "correlation": float(correlation[rows[place], columns[place]]),
            }
            for place in order
        ],
    )
