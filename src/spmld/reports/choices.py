"""How settings were chosen."""

from __future__ import annotations

from typing import Any

from spmld.reports.evaluation import Judged, holder
from spmld.reports.parts import Cell, Facts, Figure, Section, Table, shown
from spmld.reports.pictures import picture
from spmld.studies.charts import in_words

__all__ = ["choices"]


def choices(judged: Judged) -> Section | None:
    """What `SelfPacedEnsemble` has tried, and what it took."""
    model = holder(judged.model, "view_weights_")
    if model is None:
        return None
    tried, taken = model.cv_results_, {**model.params_, "pacing": model.share_}
    facts = [(f"weight of the view {view}", f"{weight:.2f}") for view, weight in model.view_weights_.items()]
    facts.append(("share of positives that count", f"{model.share_:g}" + (" (no pacing)" if model.share_ == 1 else "")))
    rows = []
    for row in tried:
        chosen = "chosen" if row["choice"] == taken[row["part"]] else ""
        cells = {"part": row["part"], "setting": _setting(row["choice"]), "held-out loss": float(row["loss"])}
        rows.append({**cells, "chosen": Cell(chosen, mark="good" if chosen else "")})
    text = f"Each setting was judged by {in_words(model.scoring)} on labels held out from the training samples."
    parts: list[Any] = [Facts(facts), _paths(tried), Table.of("What was tried", rows)]
    return Section("settings", "Choice of settings", text, [part for part in parts if part is not None])


def _setting(choice: Any) -> str:
    if not isinstance(choice, dict):
        return f"share {choice:g} of the positives"
    return ", ".join(f"{name}={value:g}" for name, value in choice.items()) or "the defaults"


def _paths(tried: list[dict[str, Any]]) -> Figure | None:
    """The loss along each path of penalties."""
    lines: dict[str, list[tuple[float, float]]] = {}
    for row in tried:
        if isinstance(row["choice"], dict) and "C" in row["choice"]:
            name = f"{row['part']}, label graph {row['choice']['label_graph']:g}"
            lines.setdefault(name, []).append((row["choice"]["C"], row["loss"]))
    if not lines:
        return None
    best = min((loss, name, C) for name, points in lines.items() for C, loss in points)

    def draw(ax: Any) -> None:
        for name, points in lines.items():
            ax.plot(*zip(*points, strict=True), marker="o", ms=4, lw=1.5, label=name)
        ax.set(xscale="log", xlabel="C", ylabel="held-out loss")
        ax.legend(frameon=False)

    least = f"{shown(best[0]).text}, {best[1]}, C={best[2]:g}"
    alt = f"Lines: held-out loss by C for {len(lines)} paths; the least is {least}."
    return picture(
        draw, alt, "Each line is a path of penalties. It ends where the loss has risen twice.", size=(6.8, 3.8)
    )
