"""Report on a comparison of methods."""

import math
from collections.abc import Mapping
from typing import Any

from spmld._table import TextTable
from spmld.model_selection import Comparison
from spmld.plotting.style import metric_label
from spmld.reports.page import Facts, Figure, Section, page, picture


def comparison_report(
    comparison: Comparison, *, title: str | None = None, facts: Mapping[str, Any] | None = None
) -> str:
    """Return a report on a comparison of methods as one HTML page.

    Parameters
    ----------
    comparison : Comparison
        Result of `spmld.model_selection.compare`.
    title : str, optional
        Title of the page.
    facts : mapping, optional
        Additional facts for the summary, such as the name of the data.

    Examples
    --------
    >>> from spmld.model_selection import Comparison
    >>> from spmld.reports import comparison_report
    >>> values = {("prior", "micro_f1"): [0.2, 0.3, 0.2], ("model", "micro_f1"): [0.5, 0.6, 0.6]}
    >>> html = comparison_report(Comparison(["micro_f1"], ["prior", "model"], "prior", 3, 0.5, values), title="Songs")
    >>> "Songs" in html
    True
    """
    if not comparison.values:
        raise ValueError("comparison must contain results of at least one method, got none")
    records = comparison.results()
    sections = [
        _summary(comparison, facts or {}),
        Section("results", "Results", comparison.to_table().note, [_table(comparison)]),
        _folds(comparison, records),
        _failed(comparison),
    ]
    return page(title or "Comparison of methods", "All methods were fitted and evaluated on the same folds.", sections)


def _summary(comparison: Comparison, facts: Mapping[str, Any]) -> Section:
    shown = [(name, str(value)) for name, value in facts.items()]
    shown += [("methods", ", ".join(comparison.methods)), ("reference", comparison.reference)]
    return Section("summary", "Summary", "", [Facts([*shown, ("folds", str(comparison.n_folds))])])


def _table(comparison: Comparison) -> TextTable:
    table = comparison.to_table()
    return TextTable([metric_label(column) for column in table.columns], table.rows, "All methods")


def _folds(comparison: Comparison, records: list[dict[str, Any]]) -> Section | None:
    figures = []
    for metric in comparison.metrics:
        shown = [record for record in records if record["metric"] == metric and not math.isnan(record["mean"])]
        if shown:
            figures.append(_fold_figure(metric_label(metric), shown))
    text = "Values of the folds (points) and their mean (bar)."
    return Section("folds", "Folds", text, figures) if figures else None


def _fold_figure(metric: str, records: list[dict[str, Any]]) -> Figure:
    better = records[0]["better"]
    ordered = sorted(records, key=lambda record: record["mean"], reverse=better == "lower")

    def draw(ax: Any) -> None:
        for position, record in enumerate(ordered):
            values = [value for value in record["folds"] if not math.isnan(value)]
            ax.plot(values, [position] * len(values), "o", ms=6, alpha=0.85, color="#0072B2", mew=0)
            ax.plot([record["mean"]] * 2, [position - 0.3, position + 0.3], color="#D55E00", lw=2.5)
        ax.set_yticks(range(len(ordered)), labels=[record["method"] for record in ordered])
        ax.set(xlabel=f"{metric} ({better} is better)", ylim=(-0.6, len(ordered) - 0.4))
        ax.grid(axis="x", color="0.85", lw=0.6)

    best = ordered[-1]
    alt = f"{metric} of {len(ordered)} methods in each fold; the best mean is that of {best['method']}, "
    return picture(draw, f"{alt}{best['mean']:.4f}.", size=(6.8, 1.0 + 0.42 * len(ordered)))


def _failed(comparison: Comparison) -> Section | None:
    rows = [{"method": method, "error": error} for method, error in comparison.failed.items()]
    text = "These methods could not be fitted."
    return Section("failed", "Failed methods", text, [TextTable.from_records(rows, "Errors")]) if rows else None
