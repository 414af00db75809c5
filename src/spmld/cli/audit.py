"""``spmld audit``: find labels that are likely to be wrong."""

import click

from spmld._table import TextTable
from spmld.cli import options
from spmld.cli.loading import Source, frames
from spmld.cli.methods import build
from spmld.cli.printing import print_json, print_message, print_table


@click.command()
@options.source_options(part="all", trusted=True)
@options.method_option("[default: MaskedLogistic on scaled features, with C chosen by cross-validation]")
@options.integer("--top", 20, "Maximum number of entries to print.", minimum=0)
@options.folds_option(5)
@options.seed_option("Seed for the method and the folds.")
@options.out_option("FILE", "CSV file for all observed entries.")
@options.json_option
def audit(source: Source, method: str | None, top: int, folds: int, seed: int, out: str | None, as_json: bool) -> None:
    """Print the labels of SOURCE that are most likely to be wrong, and the range of the number of errors.

    SOURCE is a file or a name, as for `spmld data`. Samples are named by the column of --id, or counted from 0 in the
    order of the part. The number of wrong entries is a range that the data allow, at_least and at_most; the lower end
    is 0 unless there is clear evidence of errors. The error_probability of an entry is that of the upper end. Labels
    that --trusted marks as verified are taken as correct, and determine the error probabilities of the others.
    `spmld review --verify 50` shows a random sample, which turns the range into an estimate.

    \b
    Examples:
      spmld audit emotions --top 10
      spmld audit songs.csv --label sad --label calm --out issues.csv
    """
    from spmld.audit import find_label_issues
    from spmld.audit.issues import RANGE_NOTE

    data = source.load_part(folds)
    model = build(method, {}, seed) if method else None
    X, Y = frames(data)
    issues = find_label_issues(model, X, Y, trusted=data.trusted, cv=folds, random_state=seed)
    if out:
        issues.to_csv(out)
    entries, labels = issues.entries(top), issues.label_rows()
    if as_json:
        lower, upper = issues.total_range
        print_json({"name": data.name, "range": [lower, upper], "issues": entries, "per label": labels})
        return
    if entries:
        print_table(TextTable.from_records(entries, title="Most likely errors"))
        click.echo()
    labels.sort(key=lambda row: -row["at_most"])
    print_table(TextTable.from_records(labels, "Wrong entries that the data allow", RANGE_NOTE))
    print_message(repr(issues).removeprefix("LabelIssues of "))
    if out:
        print_message(f"all entries: {out}")
