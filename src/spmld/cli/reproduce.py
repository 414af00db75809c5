"""``spmld reproduce``: run studies, generate their tables and figures, and repeat recorded fits."""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from spmld import studies
from spmld._io import writing
from spmld.cli import options
from spmld.cli.options import scheduler_option
from spmld.cli.printing import print_json, print_message, progress_bar, write_page
from spmld.studies.comparison import compare_methods
from spmld.studies.costs import compare_costs
from spmld.studies.report import write_report
from spmld.studies.summary import summarize_methods
from spmld.studies.trial import attempt

_records = click.argument("records", type=click.Path(path_type=Path))
_study_option = click.option("--study", help="Study, if RECORDS contains several.")


@click.group()
def reproduce() -> None:
    """Run studies, generate their tables and figures, and repeat recorded fits.

    \b
    Example:
      spmld reproduce run smoke --out results.jsonl
      spmld reproduce report results.jsonl --out results
      spmld reproduce check results.jsonl --data planted --rate 0.3 --method SPMLD --seed 0
    """


@reproduce.command("list")
@options.json_option
def list_studies(as_json: bool) -> None:
    """List the studies that come with the package.

    \b
    Example:
      spmld reproduce list
    """
    titles = {name: studies.load_study(path).title for name, path in studies.shipped_studies().items()}
    if as_json:
        print_json([{"name": name, "title": title} for name, title in titles.items()])
        return
    for name, title in titles.items():
        click.echo(f"{name:<18} {title}")


@reproduce.command()
@click.argument("names", metavar="STUDIES...", nargs=-1, required=True)
@click.option(
    "--out",
    default="results.jsonl",
    show_default=True,
    type=click.Path(path_type=Path),
    help="File of records, compressed if its name ends in .xz.",
)
@options.integer("--jobs", 1, "Number of parallel trials.")
@click.option("--retry", is_flag=True, help="Run failed trials again.")
@scheduler_option
def run(names: tuple[str, ...], out: Path, jobs: int, retry: bool) -> None:
    """Run STUDIES: names from `list`, or TOML files. Recorded trials are not run again.

    \b
    Examples:
      spmld reproduce run smoke --out results.jsonl
      spmld reproduce run mine.toml --jobs 4
    """
    loaded = [studies.load_study(studies.find_study(name)) for name in names]
    failed = False
    for study in loaded:
        try:
            outcome = studies.run_study(study, out, n_jobs=jobs, retry=retry, progress=_progress_bar(study.name))
        except KeyboardInterrupt:
            print_message("Interrupted. Finished trials are recorded; run the same command to resume.")
            raise
        _print_outcome(study.name, outcome)
        failed |= bool(outcome.failed)
    raise Exit(1 if failed else 0)


@reproduce.command()
@_records
@click.option(
    "--out", default="results", show_default=True, type=click.Path(path_type=Path), help="Folder to write to."
)
def report(records: Path, out: Path) -> None:
    """Write all tables and figures of RECORDS to a folder. Nothing is fitted.

    \b
    Example:
      spmld reproduce report results.jsonl --out results
    """
    content = studies.read_records(records)
    if not content.studies:
        raise studies.RecordError(f"{records} contains no study")
    written = write_report(content, out)
    click.echo(f"{len(written)} files in {out}")
    if not any(path.suffix == ".png" for path in written):
        click.echo('No figures were written: they require results, and matplotlib (pip install "spmld[plot]").')


@reproduce.command()
@_records
@options.out_option("FILE", "HTML file to write, such as results.html.", required=True)
@click.option("--title", help="Title of the page.")
def html(records: Path, out: str, title: str | None) -> None:
    """Write a report on RECORDS as one HTML file without external resources. Nothing is fitted.

    \b
    Example:
      spmld reproduce html results.jsonl -o results.html
    """
    from spmld.studies.html_report import study_report

    write_page(study_report(studies.read_records(records), title=title), out)


@reproduce.command()
@_records
@_study_option
@click.option("--metric", help="Recorded metric.  [default: the first of the study]")
@click.option("--reference", help="Method to compare with its competitors.  [default: the reference of the study]")
@click.option(
    "--against",
    multiple=True,
    help="Competitor; can be repeated.  [default: all others except oracles]",
)
@click.option("--data", multiple=True, help="Data set; can be repeated.  [default: all]")
@click.option("--figure", type=click.Path(path_type=Path), help="Also plot the comparison to a file (PNG, SVG or PDF).")
@click.option("--cost", is_flag=True, help="Print the CPU time of parameter search and fit instead of a metric.")
@click.option("--brief", is_flag=True, help="Print the summary without the table.")
@options.json_option
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
    as_json: bool,
) -> None:
    """Print one table of RECORDS in Markdown: a row for each condition, and the number of wins and losses.

    The best mean of the reference and its competitors is bold. Signs compare with the reference: + better, - worse,
    = no significant difference, by a paired t-test over the masks at the 5 % significance level, or over the
    folds, with the correction of Nadeau and Bengio for their overlap.

    \b
    Example:
      spmld reproduce table results.jsonl --metric coverage --against GLOCAL --data business --figure wins.png
    """
    content = studies.read_records(records)
    comparison = compare_methods(_find_study(content, study, records), content, metric, reference, against, data)
    if figure is not None:
        with writing(figure) as part:
            comparison.figure().savefig(part, dpi=130)
    shown = compare_costs(comparison.study, content, comparison.reference, data) if cost else comparison
    if as_json:
        print_json(shown.to_dict())
    else:
        click.echo(shown.brief() if brief else shown.markdown())


@reproduce.command()
@_records
@_study_option
@click.option(
    "--metric",
    multiple=True,
    help="Recorded metric, or cardinality_ratio; can be repeated.  [default: those of the study]",
)
@click.option("--data", multiple=True, help="Data set; can be repeated.  [default: all]")
@options.json_option
def summary(records: Path, study: str | None, metric: tuple[str, ...], data: tuple[str, ...], as_json: bool) -> None:
    """Print the means of metrics over all conditions of RECORDS in Markdown: a row for each method.

    cardinality_ratio is the number of predicted labels divided by the number of true labels.

    \b
    Example:
      spmld reproduce summary results.jsonl --metric micro_f1 --metric macro_f1 --metric cardinality_ratio
    """
    content = studies.read_records(records)
    shown = summarize_methods(_find_study(content, study, records), content, metric, data)
    if as_json:
        print_json(shown.to_dict())
    else:
        click.echo(shown.markdown())


@reproduce.command()
@_records
@click.option("--data", help="Data set.")
@click.option("--rate", type=float, help="Observed fraction of the labels, such as 0.3.")
@click.option("--method", help="Name of the method.")
@click.option("--seed", type=int, help="Seed for the mask.")
@click.option("--key", help="Key of the record, if the other options match several records.")
@click.option(
    "--tolerance",
    default=1e-6,
    show_default=True,
    type=click.FloatRange(min=0),
    help="Maximum absolute difference of a metric.",
)
def check(
    records: Path,
    data: str | None,
    rate: float | None,
    method: str | None,
    seed: int | None,
    key: str | None,
    tolerance: float,
) -> None:
    """Repeat one fit of RECORDS and compare its metrics with the recorded ones.

    \b
    Example:
      spmld reproduce check results.jsonl --data planted --rate 0.3 --method SPMLD --seed 0
    """
    conditions = {"data": data, "observed": rate, "method": method, "seed": seed}
    recorded = _find_record(studies.read_records(records), {k: v for k, v in conditions.items() if v is not None}, key)
    trial = studies.Trial.from_dict(recorded["trial"])
    repeated = attempt(trial)
    if repeated["status"] != "ok":
        print_message(f"the repeated fit failed: {repeated['error']}")
        raise Exit(1)
    click.echo(f"{trial.method} on {trial.condition}, seed {trial.seed}, {trial.params}")
    differs = False
    for name, value in recorded["metrics"].items():
        now = repeated["metrics"].get(name)
        same = now == value or (now is not None and value is not None and abs(now - value) <= tolerance)
        differs |= not same
        texts = ["undefined" if v is None else f"{v:.6f}" for v in (value, now)]
        click.echo(f"{name:<36} recorded {texts[0]}  repeated {texts[1]}  {'same' if same else 'DIFFERS'}")
    for text, record in (("recorded", recorded), ("repeated", repeated)):
        click.echo(f"{text}: {record['cpu_seconds']} CPU seconds, version {record['version']}")
    raise Exit(1 if differs else 0)


def _find_study(content: studies.Records, name: str | None, records: Path) -> studies.Study:
    """Return the named study of the records, or the only one."""
    if name is None and len(content.studies) == 1:
        (name,) = content.studies
    if name not in content.studies:
        raise studies.RecordError(
            f"--study must be one of {', '.join(content.studies) or 'none'} in {records}, got {name!r}"
        )
    return content.study(name)


def _find_record(records: studies.Records, conditions: dict[str, Any], key: str | None) -> dict[str, Any]:
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
        raise studies.RecordError(
            f"{len(matches)} records match {text or 'no condition'}; add conditions, or --key with a key such as {keys}"
        )
    raise studies.RecordError(f"no successful trial matches {text}")


def _print_outcome(name: str, outcome: studies.Outcome) -> None:
    click.echo(f"{name}: {outcome.done} trials run, {outcome.before} already recorded, {len(outcome.failed)} failed")
    if len(outcome.versions) > 1:
        print_message(f"{name}: trials were run with different versions: {', '.join(sorted(outcome.versions))}")
    for error, count in Counter(f"{r['trial']['method']}: {r['error']}" for r in outcome.failed).most_common(5):
        print_message(f"{name}: {count} x {error}")
    for place in outcome.without_choice:
        print_message(f"{name}: not evaluated, because all fits of the parameter search failed: {place}")


def _progress_bar(study: str) -> Callable[[list[studies.Trial], Iterable[dict[str, Any]]], Iterable[dict[str, Any]]]:
    """Return a function that shows the progress of trials on a terminal."""

    def show(trials: list[studies.Trial], records: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        with progress_bar(len(trials), study) as advance:
            for record in records:
                trial, failed = record["trial"], "" if record["status"] == "ok" else " failed"
                advance(f"{trial['kind']}: {trial['data']} {trial['observed']:.0%} {trial['method']}{failed}")
                yield record

    return show
