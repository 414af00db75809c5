"""Display of mean ranks over data sets."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from spmld.model_selection.statistics import FriedmanTest, friedman_test
from spmld.plotting._base import Display
from spmld.plotting.style import HIGHLIGHT


class CriticalDifferenceDisplay(Display):
    r"""Critical-difference diagram: mean ranks, with bars that join methods without significant difference.

    By Nemenyi's test, two of k methods over n data sets differ significantly if their mean ranks differ by more than

    .. math:: q_\alpha \sqrt{\frac{k (k + 1)}{6 n}}.

    Parameters
    ----------
    ranks : FriedmanTest
        Result of `spmld.model_selection.statistics.friedman_test`.
    names : sequence of str
        Names of the methods.
    highlight : str, optional
        Method to emphasize.
    title : str
        Title.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> from studies.critical_difference import CriticalDifferenceDisplay
    >>> losses = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.3, 0.2]]  # three data sets, three methods
    >>> display = CriticalDifferenceDisplay.from_scores(losses, ["a", "b", "c"], greater_is_better=False)
    >>> display.ranks.means.round(2)
    array([1.  , 2.33, 2.67])
    """

    def __init__(self, ranks: FriedmanTest, names: Sequence[str], highlight: str | None = None, title: str = ""):
        self.ranks = ranks
        self.names = [str(name) for name in names]
        if len(self.names) != len(ranks.means):
            raise ValueError(f"names must have one name for each of the {len(ranks.means)} methods, got {self.names}")
        if highlight is not None and highlight not in self.names:
            raise ValueError(f"highlight must be one of {', '.join(self.names)}, got {highlight!r}")
        self.highlight = highlight
        self.title = title

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        names: Sequence[str],
        *,
        greater_is_better: bool,
        level: float = 0.05,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Rank methods by a metric on several data sets, and plot.

        Parameters
        ----------
        scores : array-like of shape (n_data_sets, n_methods)
            Values of the metric; at least two data sets and three methods.
        names : sequence of str
            Names of the methods.
        greater_is_better : bool
            Direction of the metric.
        level : float, default=0.05
            Significance level.
        ax : matplotlib axes, optional
            Axes to draw on.
        **options
            `highlight` and `title`, as in the class.
        """
        ranks = friedman_test(scores, greater_is_better=greater_is_better, level=level)
        return cls(ranks, names, **options).plot(ax=ax)

    @property
    def height(self) -> float:
        """Height of the diagram in inches."""
        return 1.3 + 0.13 * len(self.bars()) + 0.25 * ((len(self.names) + 1) // 2)

    def bars(self) -> list[tuple[float, float]]:
        """Return the longest intervals of mean ranks without significant difference, in ascending order.

        Examples
        --------
        >>> import numpy as np
        >>> from spmld.model_selection.statistics import FriedmanTest
        >>> from studies.critical_difference import CriticalDifferenceDisplay
        >>> ranks = FriedmanTest(np.array([3.0, 1.0, 1.5]), 4.0, 0.1, difference=1.6, n=10)
        >>> CriticalDifferenceDisplay(ranks, ["a", "b", "c"]).bars()
        [(1.0, 1.5), (1.5, 3.0)]
        """
        means = np.sort(self.ranks.means)
        bars: list[tuple[float, float]] = []
        for first in means:
            last = means[means <= first + self.ranks.difference][-1]
            if last > first and (not bars or last > bars[-1][1]):
                bars.append((float(first), float(last)))
        return bars

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the diagram."""
        ax = self._axes(ax, figsize=(8.6, self.height))
        k, difference, bars = len(self.names), self.ranks.difference, self.bars()
        # Vertical positions are inches below the scale, so that text never overlaps.
        ax.set(xlim=(1 - 0.42 * (k - 1), k + 0.42 * (k - 1)), ylim=(self.height - 0.75, -0.75))
        ax.axis("off")
        ax.plot([1, k], [0, 0], color="black", lw=1.2)
        for tick in range(1, k + 1):
            ax.plot([tick, tick], [0, -0.06], color="black", lw=1.2)
            ax.text(tick, -0.1, str(tick), ha="center", va="bottom", fontsize=9)
        ax.text((1 + k) / 2, -0.66, self.title, ha="center", va="center", fontsize=11)
        ax.plot([1, 1 + difference], [-0.36, -0.36], color="0.45", lw=2.5, solid_capstyle="butt")
        text = f"critical difference {difference:.2f}"
        ax.text(1.08 + difference, -0.36, text, va="center", fontsize=9, color="0.35")
        for i, (first, last) in enumerate(bars):
            level = 0.13 + 0.13 * i
            ax.plot([first - 0.05, last + 0.05], [level, level], color="black", lw=3, solid_capstyle="round")
        self._plot_names(ax, 0.28 + 0.13 * len(bars))
        return self

    def _plot_names(self, ax: Any, top: float) -> None:
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
