"""What displays share: the axes to draw on, the rounds of a fit, names beside an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from spmld.studies.config import Study
from spmld.studies.records import Records

__all__ = ["Display", "history", "name_ticks", "one_of", "studies_of"]


class Display:
    """The axes to draw on: those given, or new ones."""

    def _axes(self, ax: Any, **options: Any) -> Any:
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ImportError('plots need matplotlib: pip install "spmld[plot]"') from None
            ax = pyplot.subplots(**{"layout": "constrained", **options})[1]
        self.ax_ = ax
        self.figure_ = ax.figure
        return ax


def history(estimator: Any) -> list[dict[str, Any]]:
    """The rounds of the main stage."""
    check_is_fitted(estimator)
    if not getattr(estimator, "history_", None):
        raise ValueError(f"estimator must have a history_ of rounds, got {type(estimator).__name__}")
    return [record for record in estimator.history_ if record.get("stage", "main") == "main"]


def name_ticks(axis: Any, names: list[str]) -> None:
    """As many names as can be read, as they stand: a dollar sign begins no formula."""
    step = max(1, -(-len(names) // 40))
    axis.set_ticks(range(0, len(names), step), labels=names[::step], parse_math=False)
    axis.set_tick_params(labelsize=8 if len(names) > 15 else 10, length=2)


def studies_of(records: Records, name: str | None, kinds: Sequence[str]) -> Study:
    """The study of a name, or the only one of these kinds."""
    found = {each: study for each in records.studies if (study := records.study(each)).report in kinds}
    if name is not None and name not in found:
        raise ValueError(f"study must be one of {', '.join(found) or 'none on record'}, got {name!r}")
    return one_of(found, name=name)


def one_of(found: Mapping[str, Any], **wanted: Any) -> Any:
    """The only one of what was found whose attributes are as wanted; None is any."""
    asked = {name: value for name, value in wanted.items() if value is not None}
    fits = {told: each for told, each in found.items() if all(getattr(each, n) == v for n, v in asked.items())}
    if len(fits) == 1:
        return next(iter(fits.values()))
    given = ", ".join(f"{name}={value!r}" for name, value in asked.items()) or "nothing"
    raise ValueError(f"{' and '.join(wanted)} must single out one of: {', '.join(fits or found)}; got {given}")
