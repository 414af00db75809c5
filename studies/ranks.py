"""Mean ranks of methods over data sets: Friedman's test, Nemenyi's critical difference, and their diagram."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from spmld.plotting.displays import HIGHLIGHT
from studies.results import StudyResult, greater_is_better
from studies.tables import metric_heading

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FriedmanTest:
    """Friedman's test over data sets, with Nemenyi's critical difference.

    Attributes
    ----------
    means : ndarray of shape (n_methods,)
        Mean rank of each method; 1 is best.
    statistic, p : float
        Friedman's chi-square, corrected for ties, and its p-value.
    difference : float
        Nemenyi's critical difference: mean ranks further apart differ significantly.
    n : int
        Number of data sets.
    """

    means: Floats
    statistic: float
    p: float
    difference: float
    n: int


def friedman_test(values: Any, *, greater_is_better: bool, level: float = 0.05) -> FriedmanTest:
    """Compare methods over data sets by Friedman's test.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        Values of a metric for at least two data sets and three methods.
    greater_is_better : bool
        Direction of the metric.
    level : float, default=0.05
        Significance level of the critical difference.

    Returns
    -------
    FriedmanTest

    Examples
    --------
    >>> from studies.ranks import friedman_test
    >>> friedman_test([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]], greater_is_better=False).means
    array([1., 2., 3.])
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or values.shape[0] < 2 or values.shape[1] < 3 or np.isnan(values).any():
        raise ValueError(
            "values must have at least two data sets (rows) and three methods (columns) and no NaN, "
            f"got shape {values.shape} with {np.isnan(values).sum()} NaN"
        )
    ranks = stats.rankdata(-values if greater_is_better else values, axis=1)
    n_data_sets, n_methods = values.shape
    if (ranks == ranks[:, :1]).all():  # if all methods tie on all data sets, SciPy would divide by zero
        statistic, p = 0.0, 1.0
    else:
        statistic, p = map(float, stats.friedmanchisquare(*values.T))
    difference = critical_difference(n_methods, n_data_sets, level)
    return FriedmanTest(ranks.mean(axis=0), statistic, p, difference, n_data_sets)


def critical_difference(n_methods: int, n_data_sets: int, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference of mean ranks.

    Examples
    --------
    >>> from studies.ranks import critical_difference
    >>> round(critical_difference(4, 14), 2)  # the example of Demšar (2006)
    1.25
    """
    q = float(stats.studentized_range.ppf(1 - level, n_methods, np.inf)) / sqrt(2)
    return q * sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets))


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods over data sets, by one metric at one observed fraction.

    By Nemenyi's test, two of k methods over n data sets differ significantly if their mean ranks differ by more than
    the critical difference (Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 2006).
    """

    metric: str
    observed: float
    observed_text: str
    names: list[str]
    ranks: FriedmanTest
    highlight: str | None = None

    @property
    def height(self) -> float:
        """Height of the diagram in inches."""
        return 1.3 + 0.13 * len(self.bars()) + 0.25 * ((len(self.names) + 1) // 2)

    def bars(self) -> list[tuple[float, float]]:
        """Return the longest intervals of mean ranks without significant difference, in ascending order."""
        means = np.sort(self.ranks.means)
        bars: list[tuple[float, float]] = []
        for first in means:
            last = means[means <= first + self.ranks.difference][-1]
            if last > first and (not bars or last > bars[-1][1]):
                bars.append((float(first), float(last)))
        return bars

    def draw(self, ax: Any) -> None:
        """Draw the scale of ranks, the critical difference, and bars that join methods without difference."""
        k, difference, bars = len(self.names), self.ranks.difference, self.bars()
        # Vertical positions are inches below the scale, so that text never overlaps.
        ax.set(xlim=(1 - 0.42 * (k - 1), k + 0.42 * (k - 1)), ylim=(self.height - 0.75, -0.75))
        ax.axis("off")
        ax.plot([1, k], [0, 0], color="black", lw=1.2)
        for tick in range(1, k + 1):
            ax.plot([tick, tick], [0, -0.06], color="black", lw=1.2)
            ax.text(tick, -0.1, str(tick), ha="center", va="bottom", fontsize=9)
        title = f"{metric_heading(self.metric)}, {self.observed_text} observed"
        ax.text((1 + k) / 2, -0.66, title, ha="center", va="center", fontsize=11)
        ax.plot([1, 1 + difference], [-0.36, -0.36], color="0.45", lw=2.5, solid_capstyle="butt")
        text = f"critical difference {difference:.2f}"
        ax.text(1.08 + difference, -0.36, text, va="center", fontsize=9, color="0.35")
        for i, (first, last) in enumerate(bars):
            level = 0.13 + 0.13 * i
            ax.plot([first - 0.05, last + 0.05], [level, level], color="black", lw=3, solid_capstyle="round")
        self._draw_names(ax, 0.28 + 0.13 * len(bars))

    def _draw_names(self, ax: Any, top: float) -> None:
        """Write the better half of the methods on the left and the others on the right, joined to their ranks."""
        k = len(self.names)
        for i, method in enumerate(np.argsort(self.ranks.means, kind="stable")):
            left = i < (k + 1) // 2
            level = top + 0.25 * (i if left else k - 1 - i)
            mean, name = self.ranks.means[method], self.names[method]
            edge = 1 - 0.06 * (k - 1) if left else k + 0.06 * (k - 1)
            highlighted = name == self.highlight
            color = HIGHLIGHT if highlighted else "0.3"
            ax.plot([mean, mean, edge], [0, level, level], color=color, lw=1.6 if highlighted else 0.9)
            ax.text(
                edge + (-0.02 if left else 0.02) * (k - 1),
                level,
                f"{name}  {mean:.2f}" if left else f"{mean:.2f}  {name}",
                ha="right" if left else "left",
                va="center",
                fontsize=10,
                fontweight="bold" if highlighted else "normal",
            )


def rankings(results: Sequence[StudyResult], reference: str | None) -> list[Ranking]:
    """Rank the methods that have results on all data sets by each metric and observed fraction.

    At least two data sets and three methods are required.
    """
    ranked = []
    levels = sorted({(result.condition.observed, result.condition.observed_text) for result in results})
    for metric, (observed, text) in product(dict.fromkeys(result.metric for result in results), levels):
        means = {
            (r.condition.data, r.method.name): r.mean
            for r in results
            if (r.metric, r.condition.observed, r.condition.observed_text) == (metric, observed, text)
        }
        data = list(dict.fromkeys(name for name, _ in means))
        methods = [m for m in dict.fromkeys(m for _, m in means) if all((name, m) in means for name in data)]
        if len(data) < 2 or len(methods) < 3:
            continue
        values = [[means[name, method] for method in methods] for name in data]
        ranks = friedman_test(values, greater_is_better=greater_is_better(metric))
        ranked.append(Ranking(metric, observed, text, methods, ranks, reference if reference in methods else None))
    return ranked


def rank_figure(ranked: Sequence[Ranking]) -> Figure:
    """Return critical-difference diagrams, stacked vertically."""
    heights = [ranking.height for ranking in ranked]
    figure = Figure(figsize=(8.6, sum(heights)), layout="constrained")
    axes = figure.subplots(len(ranked), 1, height_ratios=heights, squeeze=False)
    for ax, ranking in zip(axes[:, 0], ranked, strict=True):
        ranking.draw(ax)
    return figure
