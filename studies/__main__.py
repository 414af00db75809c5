"""``python -m studies``: run studies, write their tables and figures, and repeat recorded fits."""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from studies.comparison import compare_costs, compare_methods, summarize_methods
from studies.config import Study, StudyError, list_studies, load_study
from studies.differences import TOLERANCE, compare_records, metric_changes
from studies.records import RecordError, Records, read_records
from studies.report import write_report
from studies.runner import Outcome, run_study
from studies.trial import Trial, attempt

_PATH = click.Path(path_type=Path)
_records = click.argument("records", type=_PATH)
_tolerance_option = click.option(
    "--tolerance", default=TOLERANCE, show_default=True, help="Maximum absolute difference of equal metrics."
)
_study_option = click.option("--study", help="Study, if RECORDS contains several.")


class _Group(click.Group):
    """Commands that print errors of studies, records and files as one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (StudyError, RecordError, OSError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=_Group)
def main() -> None:
    """Run studies, write their tables and figures, and repeat recorded fits."""


@main.command("list")
def list_command() -> None:
    """List the studies."""
    for name, path in list_studies().items():
        click.echo(f"{name:<22} {load_study(path).title}")


@main.command()
@click.argument("names", metavar="STUDIES...", nargs=-1, required=True)
@click.option("--out", default="results.jsonl", show_default=True, type=_PATH, help="Records; .xz for compression.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Number of parallel trials.")
@click.option("--retry", is_flag=True, help="Run failed trials again.")
def run(names: tuple[str, ...], out: Path, jobs: int, retry: bool) -> None:
    """Run STUDIES: names from `list`, or TOML files. Recorded trials are not run again."""
    failed = False
    for study in [load_study(name) for name in names]:
        try:
            outcome = run_study(study, out, n_jobs=jobs, retry=retry, progress=_show_progress)
        except KeyboardInterrupt:
            click.echo("Interrupted. Finished trials are recorded; run the same command to resume.", err=True)
            raise
        _print_outcome(study.name, outcome)
        failed |= bool(outcome.failed)
    raise Exit(1 if failed else 0)


@main.command()
@_records
@click.option("--out", default="results", show_default=True, type=_PATH, help="Folder to write to.")
def report(records: Path, out: Path) -> None:
    """Write all tables and figures of RECORDS to a folder. Nothing is fitted."""
    content = read_records(records)
    if not content.studies:
        raise RecordError(f"{records} contains no study")
    click.echo(f"{len(write_report(content, out))} files in {out}")


@main.command()
@_records
@_study_option
@click.option("--metric", help="Recorded metric.  [default: the first of the study]")
@click.option("--reference", help="Method to compare with its competitors.  [default: the reference of the study]")
@click.option("--against", multiple=True, help="Competitor; can be repeated.  [default: all others except oracles]")
@click.option("--data", multiple=True, help="Data set; can be repeated.  [default: all]")
@click.option("--figure", type=_PATH, help="Also plot the comparison to a file (PNG, SVG or PDF).")
@click.option("--cost", is_flag=True, help="Print the CPU time of parameter search and fit instead of a metric.")
@click.option("--brief", is_flag=True, help="Print the summary without the table.")
def table(
    records: Path,
    study: str | None,
    metric: str | None,
    reference: str | None,
    against: tuple[str, ...],
    data: tuple[str, ...],
    figure: Path | None,
    cost: bool,
    brief: bool,
) -> None:
    """Print one table of RECORDS in Markdown: a row for each condition, and the number of wins and losses.

    The best mean of the reference and its competitors is bold. Signs compare with the reference: + better, - worse,
    = no significant difference, by a paired t-test over the masks at the 5 % significance level, or over the
    folds, with the correction of Nadeau and Bengio for their overlap.
    """
    content = read_records(records)
    comparison = compare_methods(_find_study(content, study, records), content, metric, reference, against, data)
    if figure is not None:
        comparison.figure().savefig(figure, dpi=130)
    shown = compare_costs(comparison.study, content, comparison.reference, data) if cost else comparison
    click.echo(shown.brief() if brief else shown.markdown())


@main.command()
@_records
@_study_option
@click.option("--metric", multiple=True, help="Metric or cardinality_ratio; can be repeated.  [default: of the study]")
@click.option("--data", multiple=True, help="Data set; can be repeated.  [default: all]")
def summary(records: Path, study: str | None, metric: tuple[str, ...], data: tuple[str, ...]) -> None:
    """Print the means of metrics over all conditions of RECORDS in Markdown: a row for each method.

    cardinality_ratio is the number of predicted labels divided by the number of true labels.
    """
    content = read_records(records)
    click.echo(summarize_methods(_find_study(content, study, records), content, metric, data).markdown())


@main.command()
@_records
@click.option("--data", help="Data set.")
@click.option("--rate", type=float, help="Observed fraction of the labels, such as 0.3.")
@click.option("--method", help="Name of the method.")
@click.option("--seed", type=int, help="Seed for the mask.")
@click.option("--key", help="Key of the record, if the other options match several records.")
@_tolerance_option
def check(
    records: Path,
    data: str | None,
    rate: float | None,
    method: str | None,
    seed: int | None,
    key: str | None,
    tolerance: float,
) -> None:
    """Repeat one fit of RECORDS and compare its metrics with the recorded ones."""
    conditions = {"data": data, "observed": rate, "method": method, "seed": seed}
    recorded = _find_record(read_records(records), {k: v for k, v in conditions.items() if v is not None}, key)
    trial = Trial.from_dict(recorded["trial"])
    repeated = attempt(trial)
    if repeated["status"] != "ok":
        raise click.ClickException(f"the repeated fit failed: {repeated['error']}")
    click.echo(f"{trial.method} on {trial.condition}, seed {trial.seed}, {trial.params}")
    changes = metric_changes(recorded, repeated)
    for change in changes:
        texts = ["undefined" if value is None else f"{value:.6f}" for value in (change.recorded, change.repeated)]
        verdict = "same" if change.size <= tolerance else "DIFFERS"
        click.echo(f"{change.metric:<36} recorded {texts[0]}  repeated {texts[1]}  {verdict}")
    for text, record in (("recorded", recorded), ("repeated", repeated)):
        click.echo(f"{text}: {record['cpu_seconds']} CPU seconds, version {record['version']}")
    raise Exit(1 if any(change.size > tolerance for change in changes) else 0)


@main.command()
@click.argument("repeated", type=_PATH)
@_records
@_tolerance_option
def compare(repeated: Path, records: Path, tolerance: float) -> None:
    """Compare the metrics of REPEATED fits with those of the same fits in RECORDS."""
    click.echo(compare_records(read_records(repeated), read_records(records), tolerance))


def _find_study(content: Records, name: str | None, records: Path) -> Study:
    """Return the named study of the records, or the only one."""
    if name is None and len(content.studies) == 1:
        (name,) = content.studies
    if name not in content.studies:
        raise RecordError(f"--study must be one of {', '.join(content.studies) or 'none'} in {records}, got {name!r}")
    return content.study(name)


def _find_record(records: Records, conditions: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Return the only record of a final trial that matches the conditions, or the record of any trial by its key."""
    matches = [
        record
        for record in records.trials.values()
        if record["status"] == "ok"
        and (record["key"] == key if key else record["trial"]["kind"] != "held-out")
        and all(record["trial"][name] == value for name, value in conditions.items())
    ]
    if len(matches) == 1:
        return matches[0]
    text = ", ".join(f"{name}={value}" for name, value in {**conditions, **({"key": key} if key else {})}.items())
    if matches:
        keys = ", ".join(record["key"] for record in matches[:3])
        raise RecordError(
            f"{len(matches)} records match {text or 'no condition'}; add conditions, or --key with a key such as {keys}"
        )
    raise RecordError(f"no successful trial matches {text}")


def _print_outcome(name: str, outcome: Outcome) -> None:
    click.echo(f"{name}: {outcome.done} trials run, {outcome.before} already recorded, {len(outcome.failed)} failed")
    if len(outcome.versions) > 1:
        click.echo(f"{name}: trials were run with different versions: {', '.join(outcome.versions)}", err=True)
    for error, count in Counter(f"{r['trial']['method']}: {r['error']}" for r in outcome.failed).most_common(5):
        click.echo(f"{name}: {count} x {error}", err=True)
    for place in outcome.without_choice:
        click.echo(f"{name}: not evaluated, because all fits of the parameter search failed: {place}", err=True)


def _show_progress(trials: list[Trial], records: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield the records, with a progress bar on a terminal."""
    with click.progressbar(records, length=len(trials), label="trials", file=sys.stderr) as shown:
        yield from shown


if __name__ == "__main__":
    main(prog_name="python -m studies")
