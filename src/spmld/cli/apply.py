"""``spmld apply``: write the decisions of a review into a copy of the file, and fit a model on it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from spmld._io import writing
from spmld.cli import options
from spmld.cli.fitting import fit_model, save_model
from spmld.cli.loading import Source
from spmld.cli.methods import build, parse_params, uses_trusted
from spmld.cli.printing import check_output_path, print_json, print_message
from spmld.review import apply_decisions, label_columns, open_table, read_decisions, trusted_csv


@click.command()
@options.source_options("data", trusted=True)
@click.argument("decisions")
@click.option("-o", "--out", required=True, metavar="FILE", help="File to write, in the format of DATA.")
@click.option("--refit", metavar="MODEL", help="Fit a method on the new labels and write it to this model file.")
@options.method_options
@options.json_option
@options.force_option
def apply(
    data: Source,
    decisions: str,
    out: str,
    refit: str | None,
    method: str,
    params: tuple[str, ...],
    seed: int,
    as_json: bool,
    force: bool,
) -> None:
    """Write DECISIONS into a copy of DATA, a CSV or Parquet file.

    DECISIONS is the SQLite file of `spmld review`, a file of JSON lines, or an export of Label Studio. If reviewers
    disagree, the majority decides, and a tie changes nothing. Only the fields of decided labels change; all other bytes
    of a CSV file stay the same. The decided entries are written to a second file, FILE with .trusted.csv, for the
    option --trusted of other commands. If DATA has trusted entries already, pass them with --trusted to keep them.

    \b
    Examples:
      spmld apply songs.csv songs.review.sqlite -o reviewed.csv
      spmld apply songs.csv songs.review.sqlite -o reviewed.csv --refit reviewed.skops
    """
    trusted_path = str(Path(out).with_suffix(".trusted.csv"))
    for path in (out, trusted_path, refit):
        check_output_path(path, force)
    dataset = data.load()
    encoding, format = data.options.get("encoding", "utf-8"), data.options.get("format")
    table = open_table(data.path, encoding=encoding, format=format)
    if table is None:
        raise ValueError(f"DATA must be a CSV or Parquet file, got {data.path}; convert it with spmld data convert")
    columns = label_columns(table.columns, dataset.label_names, data.options.get("prefix") or "label_")
    applied = apply_decisions(table, read_decisions(decisions), columns)
    counts = {
        name: getattr(applied, name) for name in ("changed", "confirmed", "added", "unsure", "conflicts", "unmatched")
    }
    if applied.unmatched and not applied.trusted.any():
        raise ValueError(
            f"none of the {applied.unmatched} decided entries is in {data.path}: pass the file and the label options "
            "of the review; columns that are not labels must not have changed"
        )
    mask = applied.trusted if dataset.trusted is None else applied.trusted | np.asarray(dataset.trusted)
    with writing(out) as part:
        part.write_bytes(applied.content)
    with writing(trusted_path) as part:
        part.write_text(trusted_csv(mask, columns), encoding="utf-8", newline="")
    summary: dict[str, Any] = {"file": out, "trusted": trusted_path, "trusted_entries": int(mask.sum()), **counts}
    if refit is not None:
        summary["model"] = _refit(replace(data, path=out), mask, method, parse_params(params), seed, refit)
    if as_json:
        print_json(summary)
    else:
        print_message("\n".join(_describe(summary)))


def _refit(source: Source, mask: Any, method: str, params: dict[str, Any], seed: int, path: str) -> dict[str, Any]:
    """Fit a method on the new labels; methods that model wrong labels use the trusted entries."""
    model = build(method, params, seed)
    source_without = replace(source, trusted=None) if _is_file(source.trusted) else source
    data = source_without.load_part()
    data = replace(data, trusted=mask if uses_trusted(model) else None)
    seconds = fit_model(model, data, method)
    return {"path": path, **save_model(model, path, source, data, method, seconds)}


def _is_file(trusted: str | None) -> bool:
    return trusted is not None and Path(trusted).is_file()


def _describe(summary: dict[str, Any]) -> list[str]:
    lines = [
        f"{summary['file']}: {summary['changed']} labels changed, {summary['added']} added, "
        f"{summary['confirmed']} confirmed",
        f"{summary['trusted']}: {summary['trusted_entries']} trusted entries; pass it with --trusted",
    ]
    for name, reason in (
        ("unsure", "left as they are, reviewers are unsure"),
        ("conflicts", "left as they are, reviewers disagree; another decision resolves them"),
        ("unmatched", "not in the file"),
    ):
        if summary[name]:
            lines.append(f"{summary[name]} entries: {reason}")
    if "model" in summary:
        model = summary["model"]
        lines.append(f"{model['path']}: {model['method']} fitted in {model['seconds']:.1f} s")
    return lines
