"""Section on the model selection of `SelfPacedEnsemble`."""

from typing import Any

from spmld._table import TableCell, TextTable, format_number, format_rate
from spmld.plotting.style import metric_label
from spmld.reports.data import ReportData, find_model
from spmld.reports.parts import Facts, Figure, Section
from spmld.reports.pictures import picture


def model_selection(data: ReportData) -> Section | None:
    """Return the settings that were evaluated, and which were selected."""
    model = find_model(data.model, "view_weights_")
    if model is None:
        return None
    kept = model.keep_fraction_
    facts = [(f"weight of the view {view}", f"{weight:.2f}") for view, weight in model.view_weights_.items()]
    facts.append(("mean rate of false positives", format_rate(model.false_positive_rate_.mean())))
    facts.append(("mean rate of false negatives", format_rate(model.false_negative_rate_.mean())))
    facts.append(("kept fraction of positives", f"{kept:g}" + (" (no trimming)" if kept == 1 else "")))
    rows = []
    for result in model.cv_results_:
        selected = result["choice"] == model.params_[result["part"]]
        row = {"part": result["part"], "setting": _setting(result["choice"]), "held-out loss": float(result["loss"])}
        rows.append({**row, "selected": TableCell("selected", mark="good") if selected else TableCell("")})
    text = f"Settings were selected by {metric_label(model.scoring)} on held-out labels of the training samples."
    path = _path_figure(model.cv_results_)
    parts: list[Any] = [Facts(facts), *([path] if path else []), TextTable.from_records(rows, "All settings")]
    return Section("settings", "Model selection", text, parts)


def _setting(choice: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value:g}" for name, value in choice.items()) or "default"


def _path_figure(results: list[dict[str, Any]]) -> Figure | None:
    """Return the held-out loss along each regularization path."""
    paths: dict[str, list[tuple[float, float]]] = {}
    for result in results:
        if "C" in result["choice"]:
            paths.setdefault(result["part"], []).append((result["choice"]["C"], result["loss"]))
    if not paths:
        return None
    loss, name, C = min((loss, name, C) for name, points in paths.items() for C, loss in points)

    def draw(ax: Any) -> None:
        for name, points in paths.items():
            ax.plot(*zip(*sorted(points), strict=True), marker="o", ms=4, lw=1.5, label=name)
        ax.set(xscale="log", xlabel="C", ylabel="held-out loss")
        ax.legend(frameon=False)

    lowest = f"{format_number(loss)}, view {name}, C={C:g}"
    alt = f"Held-out loss by C for {len(paths)} regularization paths; the lowest loss is {lowest}."
    caption = "The search moves along the path of a view as long as the loss decreases."
    return picture(draw, alt, caption, size=(4.8, 3.4))
