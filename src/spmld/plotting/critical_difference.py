"""Methods ranked over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spmld.model_selection.statistics import FriedmanTest, friedman_test
from spmld.plotting._base import Display, one_of, studies_of
from spmld.studies.figures import diagram_height, draw_ranks
from spmld.studies.ranks import ranks_over_data
from spmld.studies.records import Records
from spmld.studies.tables import entries, find_reference, heading

__all__ = ["CriticalDifferenceDisplay"]


class CriticalDifferenceDisplay(Display):
    r"""Methods at their mean ranks over data sets; bars join those that do not differ.

    Two of k methods over n data sets differ by Nemenyi's test if their mean ranks are further apart than

    .. math:: q_\alpha \sqrt{\frac{k (k + 1)}{6 n}}.

    Parameters
    ----------
    ranks : FriedmanTest
        What `spmld.model_selection.statistics.friedman_test` gives.
    names : sequence of str
        Names of the methods.
    stressed : str, optional
        The method to print bold.
    title : str
        Title.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, after `plot`.

    References
    ----------
    .. [1] J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> from spmld.plotting import CriticalDifferenceDisplay
    >>> losses = [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.3, 0.2]]  # three data sets, three methods
    >>> display = CriticalDifferenceDisplay.from_scores(losses, ["a", "b", "c"], greater_is_better=False)
    >>> display.ranks.means.round(2)
    array([1.  , 2.33, 2.67])
    """

    def __init__(self, ranks: FriedmanTest, names: Sequence[str], stressed: str | None = None, title: str = ""):
        self.ranks = ranks
        self.names = [str(name) for name in names]
        if len(self.names) != len(ranks.means):
            raise ValueError(f"names must have one for each of {len(ranks.means)} methods, got {self.names}")
        if stressed is not None and stressed not in self.names:
            raise ValueError(f"stressed must be one of {', '.join(self.names)}, got {stressed!r}")
        self.stressed = stressed
        self.title = title

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        names: Sequence[str],
        *,
        greater_is_better: bool,
        level: float = 0.05,
        stressed: str | None = None,
        title: str = "",
        ax: Any = None,
    ) -> CriticalDifferenceDisplay:
        """Rank methods by a metric on several data sets, and draw.

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
        stressed : str, optional
            The method to print bold.
        title : str
            Title.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        ranks = friedman_test(scores, greater_is_better=greater_is_better, level=level)
        return cls(ranks, names, stressed, title).plot(ax=ax)

    @classmethod
    def from_records(
        cls,
        records: Records,
        *,
        study: str | None = None,
        metric: str | None = None,
        observed: float | None = None,
        ax: Any = None,
    ) -> CriticalDifferenceDisplay:
        """Rank the methods of a study over its data sets, by means over the masks, and draw.

        Parameters
        ----------
        records : Records
            What `spmld.studies.read_records` gives.
        study : str, optional
            Name of the study, if there are several.
        metric : str, optional
            Name of the metric. None: the first of the study.
        observed : float, optional
            Share of observed labels, if there are several.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        chosen = studies_of(records, study, ("tables", "radar"))
        wanted = chosen.metrics[0] if metric is None else metric
        ranked = [each for each in ranks_over_data(entries([chosen], records)) if each.metric == wanted]
        if not ranked:
            raise ValueError(f"records must have {wanted} of three methods on two data sets, got less")
        found = one_of({f"{each.observed:.0%} observed": each for each in ranked}, observed=observed)
        reference = find_reference([chosen])
        stressed = reference if reference in found.methods else None
        title = f"{heading(wanted)}, {found.observed:.0%} observed"
        return cls(found.ranks, found.methods, stressed, title).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> CriticalDifferenceDisplay:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        CriticalDifferenceDisplay
        """
        ax = self._axes(ax, figsize=(8.6, diagram_height(self.ranks)))
        draw_ranks(ax, self.title, self.names, self.ranks, self.stressed)
        return self
