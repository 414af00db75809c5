"""Display of a metric over two parameters."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from spmld.plotting._base import Display


class SurfaceDisplay(Display):
    """Heat map of a metric over two parameters; lighter colors indicate higher values.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_columns)
        Values of the metric.
    rows, columns : sequence of float
        Values of the two parameters.
    row_name, column_name : str
        Names of the parameters.
    title : str
        Title, such as the name of the metric.

    Examples
    --------
    >>> from studies.surface import SurfaceDisplay
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
                f"values must have shape ({len(rows)}, {len(columns)}), the numbers of rows and columns, "
                f"got shape {self.values.shape}"
            )
        self.rows, self.columns = list(rows), list(columns)
        self.row_name, self.column_name = row_name, column_name
        self.title = title

    def plot(self, *, ax: Any = None) -> Self:
        """Plot the heat map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on.
        """
        ax = self._axes(ax)
        image = ax.imshow(self.values, cmap="plasma", aspect="auto", interpolation="none")
        ax.set_xticks(range(len(self.columns)), labels=[f"{value:g}" for value in self.columns])
        ax.set_yticks(range(len(self.rows)), labels=[_power_of_ten(value) for value in self.rows])
        bar = self.figure_.colorbar(image, ax=ax, pad=0.02)
        bar.ax.tick_params(labelsize=8)
        ax.tick_params(labelsize=8, length=2)
        ax.set(xlabel=self.column_name, ylabel=self.row_name, title=self.title)
        return self


def _power_of_ten(value: float) -> str:
    exponent = np.log10(value) if value > 0 else np.nan
    return f"$10^{{{round(exponent)}}}$" if abs(exponent - round(exponent)) < 1e-9 else f"{value:g}"
