"""Several methods by several metrics, as a radar."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from spmld.metrics import get_metric
from spmld.plotting._base import Display, one_of, studies_of
from spmld.studies.charts import axis_name, cell_title, radar_panels
from spmld.studies.figures import draw_radar, line_styles, worst_to_best
from spmld.studies.records import Records
from spmld.studies.tables import entries, find_reference

__all__ = ["RadarDisplay"]


class RadarDisplay(Display):
    """Methods by their metrics: an axis for each metric, from the worst value to the best, further out is better.

    Parameters
    ----------
    values : mapping
        Name of a method, then of a metric, to its value. All methods have the same metrics.
    lower_is_better : collection of str
        Metrics whose axis is turned round.
    stressed : str, optional
        The method to draw thick.
    title : str
        Title.

    Attributes
    ----------
    ax_, figure_
        Polar axes and figure, after `plot`.

    Examples
    --------
    >>> from spmld.plotting import RadarDisplay
    >>> scores = {"one": {"ranking_loss": 0.1, "micro_f1": 0.5}, "other": {"ranking_loss": 0.2, "micro_f1": 0.6}}
    >>> display = RadarDisplay.from_scores(scores)
    >>> sorted(display.lower_is_better), display.values["one"]["micro F1"]
    (['ranking loss'], 0.5)
    """

    def __init__(
        self,
        values: Mapping[str, Mapping[str, float]],
        lower_is_better: Collection[str] = (),
        stressed: str | None = None,
        title: str = "",
    ):
        if not values or len({frozenset(own) for own in values.values()}) > 1:
            raise ValueError(f"values must give the same metrics of each method, got {dict(values)!r}")
        if stressed is not None and stressed not in values:
            raise ValueError(f"stressed must be one of {', '.join(values)}, got {stressed!r}")
        self.values = {name: dict(own) for name, own in values.items()}
        self.lower_is_better = frozenset(lower_is_better)
        self.stressed = stressed
        self.title = title

    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, Mapping[str, float]],
        metrics: Sequence[str] | None = None,
        *,
        stressed: str | None = None,
        title: str = "",
        ax: Any = None,
    ) -> RadarDisplay:
        """Draw methods by metrics of `spmld.metrics`, whose directions are known.

        Parameters
        ----------
        scores : mapping
            For each method its metrics, such as what `spmld.metrics.evaluate` gives.
        metrics : sequence of str, optional
            Names of the metrics to show. None: those of the first method.
        stressed : str, optional
            The method to draw thick.
        title : str
            Title.
        ax : matplotlib axes, optional
            Polar axes to draw on.

        Returns
        -------
        RadarDisplay
        """
        if not scores:
            raise ValueError(f"scores must have a method, got {dict(scores)!r}")
        names = list(next(iter(scores.values())) if metrics is None else metrics)
        lower = [axis_name(name) for name in names if not get_metric(name)[0].greater_is_better]
        lacking = [(method, name) for method, own in scores.items() for name in names if name not in own]
        if lacking:
            raise ValueError(f"scores must have all metrics of each method, but {lacking[0][0]} lacks {lacking[0][1]}")
        values = {method: {axis_name(name): own[name] for name in names} for method, own in scores.items()}
        return cls(values, lower, stressed, title).plot(ax=ax)

    @classmethod
    def from_records(
        cls,
        records: Records,
        *,
        study: str | None = None,
        data: str | None = None,
        observed: float | None = None,
        ax: Any = None,
    ) -> RadarDisplay:
        """Draw the methods of a study in one cell, means over the masks.

        Parameters
        ----------
        records : Records
            What `spmld.studies.read_records` gives.
        study : str, optional
            Name of the study, if there are several.
        data : str, optional
            Data set, if there are several.
        observed : float, optional
            Share of observed labels, if there are several.
        ax : matplotlib axes, optional
            Polar axes to draw on.

        Returns
        -------
        RadarDisplay
        """
        chosen = studies_of(records, study, ("radar", "tables"))
        panels, losses = radar_panels(entries([chosen], records), records)
        cell = one_of({cell_title(cell): cell for cell in panels}, data=data, observed=observed)
        if not panels[cell]:
            raise ValueError(f"records must have a method with all metrics on {cell_title(cell)}, got none")
        reference = find_reference([chosen])
        return cls(panels[cell], losses, reference if reference in panels[cell] else None, cell_title(cell)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> RadarDisplay:
        """Draw the radar; beside the name of each metric stand its worst and its best value.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Polar axes to draw on.

        Returns
        -------
        RadarDisplay
        """
        ax = self._axes(ax, subplot_kw={"projection": "polar"}, figsize=(6.2, 6.6))
        if ax.name != "polar":
            raise ValueError(f"ax must be polar axes, got {ax.name} axes")
        spans = worst_to_best([self.values], self.lower_is_better)
        draw_radar(ax, self.values, spans, line_styles(list(self.values), self.stressed))
        ax.set_title(self.title, pad=40)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False)
        return self
