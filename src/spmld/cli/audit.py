"""``spmld audit``: find labels that are likely to be wrong."""

from __future__ import annotations

from typing import Any

import click

from spmld.cli.methods import METHODS, build
from spmld.cli.output import check_target
from spmld.cli.printing import say, show_json, show_table
from spmld.cli.source import check_folds, load_rows, part_option, seed_option, source_options

__all__ = ["audit"]


@click.command()
@source_options()
@click.option(
    "--method",
    type=click.Choice(METHODS, case_sensitive=False),
    help="[default: MaskedLogistic with C=30, features on a common scale]",
)
@part_option("all")
@click.option("--top", default=20, show_default=True, type=click.IntRange(min=0), help="How many entries to print.")
@click.option("--folds", default=5, show_default=True, type=click.IntRange(min=2), help="Folds of the cross-fit.")
@click.option("--n-iter", default=2, show_default=True, type=click.IntRange(min=1), help="How often to fit.")
@seed_option("Seed of the method and of folds.")
@click.option("-o", "--out", metavar="FILE", help="Write all observed entries into this CSV file.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
    """Print the labels of SOURCE that are most likely to be wrong, and how many there may be of each label.

    SOURCE is a file or a name, as for `spmld data`. Samples are numbered from 0 in the order of the part. The error_probability
    of an entry is the probability that it is wrong, by models that were not fitted on its sample.

    \b
    Examples:
      spmld audit emotions --top 10
      spmld audit mine.csv --label sad --label calm --out issues.csv
    """
    check_target(out, force)
    data = load_rows(source, options, part, "all")
    check_folds(folds, data, source)
    from spmld.audit import find_label_issues

    model = build(method, {}, seed) if method else None
    issues = find_label_issues(
        model, data.X, data.Y, cv=folds, n_iter=n_iter, label_names=data.label_names, random_state=seed
    )
    if out:
        issues.to_csv(out)
    if as_json:
        show_json({"name": data.name, "issues": issues.entries(top), "per label": issues.label_rows()})
        return
    entries, labels = issues.entries(top), sorted(issues.label_rows(), key=lambda row: -(row["error_rate"] or 0))
    if entries:
        show_table(tuple(entries[0]), [tuple(row.values()) for row in entries], "Most suspicious")
        click.echo()
    show_table(tuple(labels[0]), [tuple(row.values()) for row in labels], "Labels, by the share that may be wrong")
    say(repr(issues))
    if out:
        say(f"all entries: {out}")
