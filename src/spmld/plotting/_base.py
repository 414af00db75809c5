"""Base class of the displays, and helpers."""

from typing import Any

from spmld._io import need


class Display:
    """Base class of the displays: sets `ax_` and `figure_` to the given axes, or to those of a new figure."""

    def _axes(self, ax: Any, **options: Any) -> Any:
        if ax is None:
            ax = need("matplotlib.pyplot", "plot").subplots(**{"layout": "constrained", **options})[1]
        self.ax_ = ax
        self.figure_ = ax.figure
        return ax


def label_ticks(axis: Any, names: list[str]) -> None:
    """Label the ticks of an axis, with at most 40 labels. Dollar signs do not start formulas."""
    step = max(1, -(-len(names) // 40))
    axis.set_ticks(range(0, len(names), step), labels=names[::step], parse_math=False)
    axis.set_tick_params(labelsize=8 if len(names) > 15 else 10, length=2)
