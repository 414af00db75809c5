"""Base class of the displays, and helpers."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

__all__ = ["Display", "label_ticks", "main_history"]


class Display:
    """Base class of the displays.

    `plot` and the methods ``from_*`` accept `ax`, the matplotlib axes to draw on; by default a figure is created. All
    return the display, with the attributes `ax_` and `figure_`.
    """

    def _axes(self, ax: Any, **options: Any) -> Any:
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ImportError('matplotlib is not installed; install it with: pip install "spmld[plot]"') from None
            ax = pyplot.subplots(**{"layout": "constrained", **options})[1]
        self.ax_ = ax
        self.figure_ = ax.figure
        return ax


def main_history(estimator: Any) -> list[dict[str, Any]]:
    """Return the records of `history_` after warm-up."""
    check_is_fitted(estimator)
    if not getattr(estimator, "history_", None):
        raise ValueError(f"estimator must have an attribute history_, as SPMLD has, got {type(estimator).__name__}")
    return [record for record in estimator.history_ if record.get("stage", "main") == "main"]


def label_ticks(axis: Any, names: list[str]) -> None:
    """Label the ticks of an axis, with at most 40 labels. Dollar signs do not start formulas."""
    step = max(1, -(-len(names) // 40))
    axis.set_ticks(range(0, len(names), step), labels=names[::step], parse_math=False)
    axis.set_tick_params(labelsize=8 if len(names) > 15 else 10, length=2)
