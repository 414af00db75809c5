"""Trials of a study, run in parallel and recorded.

Parameters are selected once for each condition and method, by the observed labels of held-out training samples, with a
mask that is not used in the study. The selected parameters are then fitted and evaluated with every mask. For data sets
with candidate labels, the parameters are selected by the candidate labels of the training samples of one fold.
"""

import math
import multiprocessing
import signal
from collections.abc import Callable, Iterable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

from spmld.metrics.registry import get_metric
from studies.config import Condition, Method, Params, Study, StudyError
from studies.data import size
from studies.records import Records, RecordWriter
from studies.trial import Trial, attempt, build, code_version

Progress = Callable[[list[Trial], Iterable[dict[str, Any]]], Iterable[dict[str, Any]]]


@dataclass(frozen=True)
class Choice:
    """Result of a parameter search.

    Attributes
    ----------
    params : dict or None
        Setting with the best score, the first in case of ties; None if no setting has a score.
    scores : list of (dict, float)
        All settings and their held-out scores, NaN where the fit failed.
    """

    params: Params | None
    scores: list[tuple[Params, float]]


def search_trials(study: Study) -> list[Trial]:
    """Return the held-out trials of a study, one for each setting of each method with a search."""
    return [
        trial
        for condition, method in product(study.conditions, study.methods)
        if method.search
        for trial in _settings(study, condition, method)
    ]


def choose(study: Study, condition: Condition, method: Method, records: Records) -> Choice:
    """Return the parameters of a method in a condition, selected by the recorded held-out trials."""
    if not method.search:
        return Choice({}, [])
    scores = []
    for setting, trial in zip(method.settings(), _settings(study, condition, method), strict=True):
        scores.append((setting, (records.metrics(trial) or {}).get(study.select_by, math.nan)))
    sign = 1 if get_metric(study.select_by)[0].greater_is_better else -1
    defined = [(sign * score, setting) for setting, score in scores if not math.isnan(score)]
    return Choice(max(defined, key=lambda pair: pair[0])[1] if defined else None, scores)


def final_trials(study: Study, records: Records) -> list[Trial]:
    """Return the final trials of a study, with the parameters selected by `choose`.

    Methods without a parameter choice in a condition are left out.
    """
    trials = []
    for condition, method in product(study.conditions, study.methods):
        chosen = choose(study, condition, method, records).params
        if chosen is None:
            continue
        for sweep, seed in product(method.sweeps(), study.seeds):
            params = {**method.fixed, **chosen, **sweep}
            trials.append(_trial(study.evaluated_on, study, condition, method, params, seed=seed))
    return trials


def _settings(study: Study, condition: Condition, method: Method) -> list[Trial]:
    options = {"seed": study.select_seed, "folds": study.folds}
    settings = [{**method.fixed, **setting} for setting in method.settings()]
    return [_trial("held-out", study, condition, method, params, **options) for params in settings]


def _trial(kind: Any, study: Study, condition: Condition, method: Method, params: Params, **options: Any) -> Trial:
    place: dict[str, Any] = {**vars(condition), "method": method.name, "estimator": method.estimator}
    scaled = condition.data in study.standardize
    return Trial(
        kind, **place, params=params, oracle=method.oracle, standardize=scaled, trusted=method.trusted, **options
    )


@dataclass(frozen=True)
class Outcome:
    """Result of `run_study`.

    Attributes
    ----------
    done, before : int
        Number of trials run now, and of trials that were already on record.
    failed : list of dict
        Records of failed trials, including earlier ones.
    without_choice : list of str
        Methods and conditions that were not evaluated because all fits of their parameter search failed.
    versions : set of str
        Versions of the code that the trials were run with, and the present one.
    """

    done: int
    before: int
    failed: list[dict[str, Any]]
    without_choice: list[str]
    versions: set[str]


def run_study(
    study: Study, path: str | Path, *, n_jobs: int = 1, retry: bool = False, progress: Progress | None = None
) -> Outcome:
    """Run the trials of a study that are not recorded yet, and record each of them when it finishes.

    The same call resumes an interrupted study. Records are sorted at the end, so the resulting file is the same except
    for times and memory.

    Parameters
    ----------
    study : Study
        Study to run.
    path : path
        File of records, which may hold other studies. A name that ends in .xz is a compressed file.
    n_jobs : int
        Number of trials in parallel.
    retry : bool
        Whether to run failed trials again.
    progress : callable, optional
        Called with the pending trials and an iterable of their records; must return the iterable.

    Examples
    --------
    >>> import tempfile
    >>> from studies.config import load_study
    >>> from studies.runner import run_study
    >>> study = load_study("smoke")
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
            f"{method.name} on {condition}"
            for condition, method in product(study.conditions, study.methods)
            if choose(study, condition, method, file.records).params is None
        ]
    return Outcome(
        done=done,
        before=len(planned) - done,
        failed=[record for record in records if record["status"] != "ok"],
        without_choice=without_choice,
        versions={record["version"] for record in records} | {code_version()},
    )


def _work(trials: list[Trial], file: RecordWriter, n_jobs: int, retry: bool, progress: Progress | None) -> int:
    """Run and record the trials that are not recorded yet, and return their number."""
    pending = [trial for trial in trials if not file.records.finished(trial, retry)]
    results = _attempts(pending, n_jobs)
    for record in progress(pending, results) if progress else results:
        file.append(record)
    return len(pending)


def _check(study: Study) -> None:
    """Raise StudyError for unknown estimators and parameters, before the first fit."""
    for method in study.methods:
        first = {name: values[0] for name, values in (method.search | method.sweep).items()}
        params = {**method.fixed, **first}
        try:
            build(Trial("test", study.data[0], study.observed[0], 0, method.name, method.estimator, params))
        except StudyError as error:
            raise StudyError(f"study {study.name}, method {method.name}: {error}") from error


def _size(name: str) -> dict[str, Any]:
    try:
        return size(name)
    except (OSError, ValueError) as error:
        raise StudyError(f"data set {name}: {error}") from error


def _attempts(trials: list[Trial], n_jobs: int) -> Iterable[dict[str, Any]]:
    """Yield the records of trials in the order in which they finish."""
    if not trials:
        return
    # Batches of one trial, because a killed process loses the finished trials of its batch.
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    results = parallel(delayed(_attempt)(trial) for trial in trials)
    try:
        yield from results
    except BrokenProcessPool as error:
        raise StudyError(
            "a worker process was killed. Out of memory? Rerun with fewer jobs to resume: finished trials are recorded"
        ) from error
    except BaseException:
        # Also after Ctrl-C: the command must not wait for trials that are still running.
        if n_jobs != 1:
            get_reusable_executor().shutdown(wait=False, kill_workers=True)
        raise


def _attempt(trial: Trial) -> dict[str, Any]:
    if multiprocessing.parent_process() is not None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent handles it
    return attempt(trial)
