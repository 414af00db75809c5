"""``spmld reproduce``: run studies, make their tables and figures, refit any one result.

Exit status: as `spmld.cli.main` says, and 1 if trials failed or a refit differs.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from spmld._io import writing
from spmld.cli.printing import print_json, print_message
from spmld.studies import (
    Outcome,
    RecordError,
    Records,
    Trial,
    find_study,
    load_study,
    read_records,
    run_study,
    shipped_studies,
)
from spmld.studies.costs import costs
from spmld.studies.report import write_report
from spmld.studies.standings import standings
from spmld.studies.trial import attempt

__all__ = ["reproduce"]


@click.group()
def reproduce() -> None:
    """Run studies, make their tables and figures, refit any one result.

    \b
    Example:
      spmld reproduce run smoke --out results.jsonl
      spmld reproduce report results.jsonl --out results
      spmld reproduce check results.jsonl --data planted --rate 0.3 --method SPMLD --seed 0
    """


@reproduce.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_studies(as_json: bool) -> None:
    """List the studies that come with the package.

    \b
    Example:
      spmld reproduce list
    """
    titles = {name: load_study(path).title for name, path in shipped_studies().items()}
    if as_json:
        print_json([{"name": name, "title": title} for name, title in titles.items()])
        return
    for name, title in titles.items():
        click.echo(f"{name:<18} {title}")


@reproduce.command()
@click.argument("studies", nargs=-1, required=True)
@click.option("--out", default="results.jsonl", show_default=True, type=click.Path(path_type=Path), help="Records.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(min=1), help="Trials at the same time.")
@click.option("--retry", is_flag=True, help="Run failed trials again.")
def run(studies: tuple[str, ...], out: Path, jobs: int, retry: bool) -> None:
    """Run STUDIES: names from `list`, or TOML files. Trials on record are not run again.

    \b
    Examples:
      spmld reproduce run smoke --out results.jsonl
      spmld reproduce run mine.toml --jobs 4
    """
    loaded = [load_study(find_study(name)) for name in studies]
    failed = False
    for study in loaded:
        try:
            outcome = run_study(study, out, n_jobs=jobs, retry=retry, progress=_progress_bar(study.name))
        except KeyboardInterrupt:
            print_message("What is done is on record; the same command goes on.")
            raise
        _tell(study.name, outcome)
        failed |= bool(outcome.failed)
    raise Exit(1 if failed else 0)


@reproduce.command()
@click.argument("records", type=click.Path(path_type=Path))
@click.option("--out", default="results", show_default=True, type=click.Path(path_type=Path), help="Folder.")
def report(records: Path, out: Path) -> None:
    """Make all tables and figures from RECORDS; nothing is fitted.

    \b
    Example:
      spmld reproduce report results.jsonl --out results
    """
    found = read_records(records)
    if not found.studies:
        raise RecordError(f"{records} holds no study")
    written = write_report(found, out)
    click.echo(f"{len(written)} files in {out}")
    if not any(path.suffix == ".png" for path in written):
        click.echo('There are no figures: they need matplotlib, pip install "spmld[plot]", and results to show.')


@reproduce.command()
@click.argument("records", type=click.Path(path_type=Path))
@click.option("--study", help="Study, where RECORDS hold several.")
@click.option("--metric", help="Metric; the first of the study if not given.")
@click.option("--reference", help="Method to look at; the study's reference if not given.")
@click.option("--against", multiple=True, help="Competitor; all others if not given. May be repeated.")
@click.option("--data", multiple=True, help="Data set; all if not given. May be repeated.")
@click.option("--figure", type=click.Path(path_type=Path), help="Draw it too, into this file (PNG, SVG or PDF).")
@click.option("--cost", is_flag=True, help="Processor seconds to choose settings and fit, in place of a metric.")
@click.option("--brief", is_flag=True, help="Print who wins how often, without the table.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
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
    """Print one table of RECORDS in Markdown: a row for each cell, and who wins how often.

    Bold is the best mean of the reference and its competitors; signs compare with the reference: + better, - worse, = not
    told apart at 95 % by a paired t-test over the masks.

    \b
    Example:
      spmld reproduce table results.jsonl --metric coverage --against GLOCAL --data business --figure wins.png
    """
    found = read_records(records)
    if study is None and len(found.studies) == 1:
        (study,) = found.studies
    if study not in found.studies:
        raise RecordError(f"--study must be one of {', '.join(found.studies) or 'none'} in {records}, got {study!r}")
    standing = standings(found.study(study), found, metric, reference, against, data)
    if figure is not None:
        with writing(figure) as part:
            standing.figure().savefig(part, dpi=130)
    shown = costs(standing.study, found, standing.reference, data) if cost else standing
    if as_json:
        print_json(shown.to_dict())
    else:
        click.echo(shown.brief() if brief else shown.markdown())


@reproduce.command()
@click.argument("records", type=click.Path(path_type=Path))
@click.option("--data", help="Data set.")
@click.option("--rate", type=float, help="Share of observed labels, such as 0.3.")
@click.option("--method", help="Name of the method.")
@click.option("--seed", type=int, help="Seed of the mask.")
@click.option("--key", help="Key of the record, where the rest does not single one out.")
@click.option("--tolerance", default=1e-6, show_default=True, type=click.FloatRange(min=0), help="Largest difference.")
def check(
    records: Path,
    data: str | None,
    rate: float | None,
    method: str | None,
    seed: int | None,
    key: str | None,
    tolerance: float,
) -> None:
    """Refit one result of RECORDS and compare it with what is recorded.

    \b
    Example:
      spmld reproduce check results.jsonl --data planted --rate 0.3 --method SPMLD --seed 0
    """
    wanted = {"data": data, "observed": rate, "method": method, "seed": seed}
    stored = _single(read_records(records), {k: v for k, v in wanted.items() if v is not None}, key)
    trial = Trial.from_dict(stored["trial"])
    again = attempt(trial)
    if again["status"] != "ok":
        print_message(f"the refit failed: {again['error']}")
        raise Exit(1)
    click.echo(f"{trial.method} on {trial.data}, {trial.observed:.0%} observed, seed {trial.seed}, {trial.params}")
    differs = False
    for name, value in stored["metrics"].items():
        now = again["metrics"].get(name)
        same = now == value or (now is not None and value is not None and abs(now - value) <= tolerance)
        differs |= not same
        told = ["undefined" if v is None else f"{v:.6f}" for v in (value, now)]
        click.echo(f"{name:<36} recorded {told[0]}  again {told[1]}  {'same' if same else 'DIFFERS'}")
    click.echo(
        f"{stored['cpu_seconds']} s then, {again['cpu_seconds']} s now; version {stored['version']}, {again['version']}"
    )
    raise Exit(1 if differs else 0)


def _single(records: Records, wanted: dict[str, Any], key: str | None) -> dict[str, Any]:
    """The one record of a final trial that fits what is wanted, or of any trial by its key."""
    fits = [
        record
        for record in records.trials.values()
        if record["status"] == "ok"
        and (record["key"] == key if key else record["trial"]["kind"] != "held-out")
        and all(record["trial"][name] == value for name, value in wanted.items())
    ]
    if len(fits) == 1:
        return fits[0]
    asked = ", ".join(f"{name}={value}" for name, value in {**wanted, **({"key": key} if key else {})}.items())
    if fits:
        some = ", ".join(record["key"] for record in fits[:3])
        raise RecordError(
            f"{len(fits)} records fit {asked or 'no condition'}; say more, or give a --key such as {some}"
        )
    raise RecordError(f"no successful trial fits {asked}")


def _tell(name: str, outcome: Outcome) -> None:
    click.echo(f"{name}: {outcome.done} trials run, {outcome.before} on record before, {len(outcome.failed)} failed")
    if len(outcome.versions) > 1:
        print_message(f"{name}: trials of different versions: {', '.join(sorted(outcome.versions))}")
    for error, count in Counter(f"{r['trial']['method']}: {r['error']}" for r in outcome.failed).most_common(5):
        print_message(f"{name}: {count} x {error}")
    for place in outcome.without_choice:
        print_message(f"{name}: not judged, as no setting could be: {place}")


def _progress_bar(study: str) -> Callable[[list[Trial], Iterable[dict[str, Any]]], Iterable[dict[str, Any]]] | None:
    """A bar with the time left on a terminal, nothing where output goes elsewhere or rich is not there."""
    if not sys.stderr.isatty():
        return None
    try:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as TimeLeft
    except ImportError:
        return None

    def show(trials: list[Trial], records: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeLeft())
        # Fits differ in length, so the estimate rests on the last hour and not on the last moments.
        with Progress(*columns, console=Console(stderr=True), speed_estimate_period=3600) as bar:
            task = bar.add_task(study, total=len(trials))
            for record in records:
                where = record["trial"]
                failed = "" if record["status"] == "ok" else " failed"
                told = f"{study}, {where['kind']}: {where['data']} {where['observed']:.0%} {where['method']}{failed}"
                bar.update(task, advance=1, description=told)
                yield record

    return show
