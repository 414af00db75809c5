"""The report of a comparison: several methods on the same folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spmld.plotting import RadarDisplay
from spmld.reports.page import page
from spmld.reports.parts import Cell, Facts, Figure, Section, Table, shown
from spmld.reports.pictures import picture, plot
from spmld.studies.charts import axis_name, in_words

__all__ = ["comparison_report"]

_MARKS = {"better": "good", "worse": "bad"}
_SIGNS = {"better": " +", "worse": " -", "no significant difference": " ="}
_NEEDED = {"method", "metric", "mean", "sd", "better", "folds"}


def comparison_report(comparison: Mapping[str, Any], *, title: str | None = None) -> str:
    """Several methods on the same folds, as one HTML page.

    Parameters
    ----------
    comparison : mapping
        What ``spmld compare --json`` prints: data, folds, seed, reference, failed and results.
    title : str, optional
        Title of the page. None: the name of the data.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from spmld.reports import comparison_report
    >>> row = {"metric": "micro_f1", "mean": 0.5, "sd": 0.1, "better": "higher", "folds": [0.4, 0.6]}
    >>> found = {"data": "songs.csv", "folds": 2, "seed": 0, "reference": "SPMLD", "failed": {}}
    >>> html = comparison_report({**found, "results": [{"method": "SPMLD", **row}, {"method": "GLOCAL", **row}]})
    >>> "Methods on songs.csv" in html
    True
    """
    rows = _checked(comparison)
    methods = list(dict.fromkeys(row["method"] for row in rows))
    cells = {(row["method"], row["metric"]): row for row in rows}
    metrics = [name for name in dict.fromkeys(row["metric"] for row in rows) if name != "seconds"]
    sections = [
        _summary(comparison, methods),
        _table(comparison, methods, [*metrics, "seconds"], cells),
        _folds(methods, metrics, cells),
        _radar(comparison, methods, metrics, cells),
        _failed(comparison),
    ]
    return page(
        title or f"Methods on {comparison.get('data', 'data')}", "Fitted and judged on the same folds.", sections
    )


def _checked(comparison: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    rows = comparison.get("results") if isinstance(comparison, Mapping) else None
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) and row.keys() >= _NEEDED for row in rows):
        raise ValueError("comparison must be what `spmld compare --json` prints, with a list of results")
    if not rows:
        raise ValueError("comparison must have the results of a method, got none")
    return rows


def _summary(comparison: Mapping[str, Any], methods: list[str]) -> Section:
    named = [(name, str(comparison[name])) for name in ("data", "folds", "seed", "reference") if name in comparison]
    return Section("summary", "Summary", "", [Facts([*named, ("methods", ", ".join(methods))])])


def _table(
    comparison: Mapping[str, Any], methods: list[str], metrics: list[str], cells: dict[tuple[str, str], Any]
) -> Section:
    used = [name for name in metrics if any((method, name) in cells for method in methods)]
    rows = []
    for method in methods:
        row: dict[str, Any] = {"method": method}
        for name in used:
            found = cells.get((method, name))
            better = next(cells[other, name]["better"] for other in methods if (other, name) in cells)
            row[f"{in_words(name)} ({better})"] = _cell(found)
        rows.append(row)
    text = (
        f"Mean and standard deviation over the folds. Against the reference, {comparison.get('reference')}: + better, "
        "- worse, = not told apart at 95 % by a paired t-test with Holm's correction. Folds share training samples, so "
        "that the test finds differences somewhat too easily."
    )
    return Section("results", "Results", text, [Table.of("All methods", rows)])


def _cell(row: Mapping[str, Any] | None) -> Cell:
    if row is None or row["mean"] is None:
        return shown(None)
    verdict = row.get("verdict", "")
    spread = "" if row["sd"] is None else f" ± {row['sd']:.4f}"
    return Cell(f"{row['mean']:.4f}{spread}{_SIGNS.get(verdict, '')}", float(row["mean"]), _MARKS.get(verdict, ""))


def _folds(methods: list[str], metrics: list[str], cells: dict[tuple[str, str], Any]) -> Section | None:
    figures = []
    for name in metrics:
        own = {method: cells[method, name] for method in methods if (method, name) in cells}
        own = {method: row for method, row in own.items() if row["mean"] is not None}
        if own:
            figures.append(_dots(name, own))
    return Section("folds", "Folds", "A dot for each fold, a bar at the mean.", figures) if figures else None


def _dots(name: str, own: Mapping[str, Any]) -> Figure:
    order = sorted(own, key=lambda method: own[method]["mean"], reverse=own[next(iter(own))]["better"] == "lower")

    def draw(ax: Any) -> None:
        for place, method in enumerate(order):
            values = [value for value in own[method]["folds"] if value is not None]
            ax.plot(values, [place] * len(values), "o", ms=6, alpha=0.85, color="#0072B2", mew=0)
            ax.plot([own[method]["mean"]] * 2, [place - 0.3, place + 0.3], color="#D55E00", lw=2.5)
        ax.set_yticks(range(len(order)), labels=order)
        ax.set(xlabel=f"{in_words(name)} ({own[order[0]]['better']} is better)", ylim=(-0.6, len(order) - 0.4))
        ax.grid(axis="x", color="0.85", lw=0.6)

    best = order[-1]
    alt = f"Dots: {in_words(name)} of {len(order)} methods in each fold; the best mean is that of {best}, "
    return picture(draw, f"{alt}{own[best]['mean']:.4f}.", size=(6.8, 1.0 + 0.42 * len(order)))


def _radar(
    comparison: Mapping[str, Any], methods: list[str], metrics: list[str], cells: dict[tuple[str, str], Any]
) -> Section | None:
    def complete(method: str) -> bool:
        return all((method, name) in cells and cells[method, name]["mean"] is not None for name in metrics)

    whole = [method for method in methods if complete(method)]
    if len(metrics) < 3 or len(whole) < 2:
        return None
    values = {method: {axis_name(name): cells[method, name]["mean"] for name in metrics} for method in whole}
    lower = [axis_name(name) for name in metrics if cells[whole[0], name]["better"] == "lower"]
    reference = comparison.get("reference")
    display = RadarDisplay(values, lower, reference if reference in whole else None)
    alt = f"Radar of {len(whole)} methods by {len(metrics)} metrics; the table of results has the numbers."
    caption = "Each axis runs from the worst mean to the best. Further out is better."
    figure = picture(plot(display), alt, caption, size=(6.4, 6.6), projection="polar")
    return Section("radar", "All metrics at once", "", [figure])


def _failed(comparison: Mapping[str, Any]) -> Section | None:
    failed = comparison.get("failed") or {}
    rows = [{"method": method, "error": error} for method, error in failed.items()]
    return (
        Section("failed", "Failed", "These methods could not be fitted.", [Table.of("Errors", rows)]) if rows else None
    )
