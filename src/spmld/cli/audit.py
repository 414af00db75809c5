"""``spmld audit``: find labels that are likely to be wrong."""

from __future__ import annotations

from typing import Any

import click

from spmld._table import TextTable
from spmld.cli.loading import load_part
from spmld.cli.methods import build
from spmld.cli.options import (
    METHOD_TYPE,
    folds_option,
    force_option,
    json_option,
    part_option,
    seed_option,
    source_options,
)
from spmld.cli.printing import check_output_path, print_json, print_message, print_table

__all__ = ["audit"]


@click.command()
@source_options()
@click.option(
    "--method", metavar="NAME", type=METHOD_TYPE, help="[default: MaskedLogistic with C=30 on scaled features]"
)
@part_option("all")
@click.option(
    "--top",
    default=20,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="Maximum number of entries to print.",
)
@folds_option(5)
@click.option("--n-iter", default=2, show_default=True, type=click.IntRange(min=1), help="Number of iterations.")
@seed_option("Seed of the method and of the folds.")
@click.option("-o", "--out", metavar="FILE", help="CSV file for all observed entries.")
@force_option
@json_option
def audit(
    source: str,
    method: str | None,
    part: str | None,
    top: int,
    folds: int,
    n_iter: int,
    seed: int,
    out: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the labels of SOURCE that are most likely to be wrong, and the expected number of errors per label.

    SOURCE is a file or a name, as for `spmld data`. Samples are counted from 0 in the order of the part. The
    error_probability of an entry is the probability that it is wrong, estimated by out-of-fold models.

    \b
    Examples:
      spmld audit emotions --top 10
      spmld audit songs.csv --label sad --label calm --out issues.csv
    """
    check_output_path(out, force)
    data = load_part(source, options, part, "all", folds=folds)
    from spmld.audit import find_label_issues

    model = build(method, {}, seed) if method else None
    issues = find_label_issues(
        model, data.X, data.Y, cv=folds, n_iter=n_iter, label_names=data.label_names, random_state=seed
    )
    if out:
        issues.to_csv(out)
    entries, labels = issues.entries(top), issues.label_rows()
    if as_json:
        print_json({"name": data.name, "issues": entries, "per label": labels})
        return
    if entries:
        print_table(TextTable.from_records(entries, title="Most likely errors"))
        click.echo()
    labels.sort(key=lambda row: -(row["error_rate"] or 0))
    print_table(TextTable.from_records(labels, title="Labels by estimated error rate"))
    print_message(repr(issues))
    if out:
        print_message(f"all entries: {out}")
