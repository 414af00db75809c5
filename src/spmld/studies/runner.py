"""The runner: what is not on record yet is run, side by side, and recorded."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

import spmld
from spmld.studies.config import Study
from spmld.studies.data import size
from spmld.studies.plan import cells, choose, final_trials, search_trials
from spmld.studies.records import RecordWriter
from spmld.studies.strict import StudyError
from spmld.studies.trial import Trial, attempt, build

__all__ = ["Outcome", "run_study"]

Progress = Callable[[list[Trial], Iterable[dict[str, Any]]], Iterable[dict[str, Any]]]


@dataclass(frozen=True)
class Outcome:
    """What became of a study.

    Attributes
    ----------
    done : int
        Trials run now.
    before : int
        Trials that were on record already.
    failed : list of dict
        Records of trials that failed, now or before.
    without_choice : list of str
        Methods and cells not judged, since no setting of their search could be.
    versions : set of str
        Versions of the library that the trials were run with.

    Examples
    --------
    See `run_study`.
    """

    done: int
    before: int
    failed: list[dict[str, Any]]
    without_choice: list[str]
    versions: set[str]


def run_study(
    study: Study, path: str | Path, *, n_jobs: int = 1, retry: bool = False, progress: Progress | None = None
) -> Outcome:
    """Run a study, or what is left of it, and record each trial as it ends.

    A trial on record is not run again. Killed at any moment, the same call goes on, and ends with the same file but for
    seconds and memory: when all is done the records are put in order.

    Parameters
    ----------
    study : Study
        What to run.
    path : path
        File of records. It may hold other studies as well.
    n_jobs : int
        Trials at the same time.
    retry : bool
        Whether to run failed trials again.
    progress : callable, optional
        Takes the pending trials and their records as they come, and passes the records on.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> import tempfile
    >>> from spmld.studies import find_study, load_study, run_study
    >>> study = load_study(find_study("smoke"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = run_study(study, folder + "/results.jsonl")
    ...     second = run_study(study, folder + "/results.jsonl")
    >>> first.done, second.done, second.before
    (16, 0, 16)
    """
    _check(study)
    with RecordWriter(path) as file:
        heading = {"kind": "study", "name": study.name, "study": study.as_dict()}
        if file.records.studies.get(study.name) != heading:
            file.append(heading)
        for name in study.data:
            if name not in file.records.data:
                file.append({"kind": "data", "name": name, **_size(name)})
        done = _work(search_trials(study), file, n_jobs, retry, progress)
        done += _work(final_trials(study, file.records), file, n_jobs, retry, progress)
        file.put_in_order()
        planned = [*search_trials(study), *final_trials(study, file.records)]
        records = [file.records.trials[trial.key] for trial in planned]
        without_choice = [
            f"{method.name} on {cell.data} {cell.observed:.0%} {cell.corruption}".strip()
            for cell in cells(study)
            for method in study.methods
            if choose(study, cell, method, file.records).params is None
        ]
    return Outcome(
        done=done,
        before=len(planned) - done,
        failed=[record for record in records if record["status"] != "ok"],
        without_choice=without_choice,
        versions={record["version"] for record in records} | {spmld.__version__},
    )


def _work(trials: list[Trial], file: RecordWriter, n_jobs: int, retry: bool, progress: Progress | None) -> int:
    """Run and record what is not on record; how many that were."""
    pending = [trial for trial in trials if not file.records.finished(trial, retry)]
    results = _attempts(pending, n_jobs)
    for record in progress(pending, results) if progress else results:
        file.append(record)
    return len(pending)


def _check(study: Study) -> None:
    """Refuse estimators and parameters that are not there, before the first fit."""
    cell = next(cells(study))
    for method in study.methods:
        first = {name: values[0] for name, values in (method.search | method.sweep).items()}
        params = {**method.fixed, **first}
        try:
            build(Trial("test", cell.data, cell.observed, 0, method.name, method.estimator, params))
        except StudyError as error:
            raise StudyError(f"study {study.name}, method {method.name}: {error}") from error


def _size(name: str) -> dict[str, Any]:
    try:
        return size(name)
    except (OSError, ValueError) as error:
        raise StudyError(f"data set {name}: {error}") from error


def _attempts(trials: list[Trial], n_jobs: int) -> Iterable[dict[str, Any]]:
    """Records of trials in the order in which they end."""
    if not trials:
        return
    # One at a time: a record that waits for others of its batch would be lost with them.
    side_by_side = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    results = side_by_side(delayed(_attempt)(trial) for trial in trials)
    try:
        yield from results
    except BrokenProcessPool as error:
        raise StudyError(
            "a worker process was killed, perhaps for want of memory; "
            "what is done is on record, and the same call with fewer jobs goes on"
        ) from error
    except BaseException:
        # Also on Ctrl-C: what runs in workers is of no use any more, and must not keep the command waiting.
        if n_jobs != 1:
            get_reusable_executor().shutdown(wait=False, kill_workers=True)
        raise


def _attempt(trial: Trial) -> dict[str, Any]:
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one deals with it
    return attempt(trial)
