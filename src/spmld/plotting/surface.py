"""A metric over two parameters, such as those of the pacing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spmld.plotting._base import Display, one_of, studies_of
from spmld.studies.charts import cell_title, parameter, swept_surfaces
from spmld.studies.figures import draw_surface
from spmld.studies.records import Records
from spmld.studies.tables import heading

__all__ = ["SurfaceDisplay"]


class SurfaceDisplay(Display):
    """A metric over two parameters as a heat map: the pacing surface of the paper, light is high.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        The metric.
    rows, columns : sequence of float
        Values of the two parameters.
    row_name, column_name : str
        Their names.
    title : str
        Title, such as the name of the metric.

    Attributes
    ----------
    ax_, figure_
        Axes and figure, after `plot`.

    Examples
    --------
    >>> from spmld.plotting import SurfaceDisplay
    >>> display = SurfaceDisplay([[0.2, 0.1], [0.3, 0.2]], [0.1, 1], [1, 2], "threshold", "diversity").plot()
    >>> display.values.min()
    np.float64(0.1)
    """

    def __init__(
        self,
        values: Any,
        rows: Sequence[float],
        columns: Sequence[float],
        row_name: str = "",
        column_name: str = "",
        title: str = "",
    ):
        self.values = np.asarray(values, dtype=float)
        if self.values.shape != (len(rows), len(columns)):
            raise ValueError(
                f"values must have a row for each of {len(rows)} rows and a column for each of {len(columns)} columns, "
                f"got shape {self.values.shape}"
            )
        self.rows, self.columns = list(rows), list(columns)
        self.row_name, self.column_name = row_name, column_name
        self.title = title

    @classmethod
    def from_records(
        cls,
        records: Records,
        *,
        study: str | None = None,
        method: str | None = None,
        data: str | None = None,
        observed: float | None = None,
        metric: str | None = None,
        ax: Any = None,
    ) -> SurfaceDisplay:
        """Draw a sweep of two parameters, means over the masks.

        Parameters
        ----------
        records : Records
            What `spmld.studies.read_records` gives.
        study, method, data : str, optional
            Name of the study, of the method that is swept, and of the data set, if there are several.
        observed : float, optional
            Share of observed labels, if there are several.
        metric : str, optional
            Name of the metric. None: the first of the study.
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SurfaceDisplay
        """
        chosen = studies_of(records, study, ("surface",))
        swept = one_of({each.name: each for each in chosen.methods if len(each.sweep) == 2}, name=method)
        found = swept_surfaces(chosen, swept, records)
        cell = one_of({cell_title(cell): cell for cell, _, _ in found}, data=data, observed=observed)
        own = {name: surface for where, name, surface in found if where == cell}
        wanted = next(iter(own)) if metric is None else metric
        if wanted not in own:
            raise ValueError(f"metric must be one of {', '.join(own)}, got {metric!r}")
        surface, (row_name, column_name) = own[wanted], map(parameter, swept.sweep)
        title = f"{cell_title(cell)}: {heading(wanted)}"
        display = cls(surface.values, surface.rows, surface.columns, row_name, column_name, title)
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SurfaceDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.

        Returns
        -------
        SurfaceDisplay
        """
        ax = self._axes(ax)
        draw_surface(ax, self.values, self.rows, self.columns)
        ax.set(xlabel=self.column_name, ylabel=self.row_name, title=self.title)
        return self
