"""Search for parameters, evaluated on the same folds of samples or of entries; each trial is logged at level INFO."""

import logging
import time
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from spmld._validation import POSITIVE_INT, StrOptions, indexable, validate_params
from spmld.labels import read_labels
from spmld.labels.single_class import ignore_label_warnings, warn_of_metrics
from spmld.metrics import scorer
from spmld.model_selection._candidates import Candidates, OptunaCandidates, grid_candidates, random_candidates
from spmld.model_selection.entry_splits import EntryKFold
from spmld.model_selection.search_result import SearchResult, SearchTrial
from spmld.model_selection.splitters import check_splitter

logger = logging.getLogger(__name__)

_Fold = tuple[Any, Any, Any, Any]  # X and Y to fit on, X and Y to evaluate on


@validate_params(
    {
        "scoring": [str, callable],
        "method": [StrOptions({"grid", "random", "optuna"})],
        "n_trials": [POSITIVE_INT],
        "refit": ["boolean"],
        "study_name": [str],
        "random_state": ["random_state"],
        "verbose": ["boolean"],
        "callback": [callable, None],
    },
    prefer_skip_nested_validation=False,
)
def tune(
    estimator: Any,
    X: Any,
    Y: Any,
    space: Mapping[str, Any],
    *,
    scoring: str | Callable[[Any, Any, Any], float] = "ranking_loss",
    method: Literal["grid", "random", "optuna"] = "grid",
    n_trials: int = 20,
    cv: Any = 5,
    mask: Any = None,
    groups: Any = None,
    refit: bool = True,
    storage: Any = None,
    study_name: str = "spmld",
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    verbose: bool = False,
    callback: Callable[[SearchTrial, int, int], Any] | None = None,
) -> SearchResult:
    """Search for the parameters with the best score on held-out observed labels.

    All trials use the same folds. Ctrl-C stops the search and keeps the finished trials. If the fit of a
    trial fails, its score is NaN and a FitFailedWarning is issued.

    Parameters
    ----------
    estimator : estimator
        Estimator to tune; it is cloned.
    X : array-like of shape (n_samples, n_features)
        Samples.
    Y : labels in any form accepted by `spmld.labels.read_labels`
        Labels, NaN where missing.
    space : dict
        Search space: for each parameter a list of choices, a range ``(low, high)`` or ``(low, high, "log")``, of
        integers if both bounds are integers, or a distribution of scipy.stats ("random") or Optuna ("optuna").
    scoring : str or callable, default="ranking_loss"
        Name of a metric of `spmld.metrics`, or a scorer ``(estimator, X, Y)`` for which greater is better. Folds
        without a held-out observed label, and those in which the metric is undefined, are left out of the mean.
    method : {"grid", "random", "optuna"}, default="grid"
        "grid" evaluates all combinations of lists and "random" draws `n_trials` candidates, both by scikit-learn.
        "optuna" proposes candidates based on the scores so far; install it with ``pip install "spmld[tune]"``.
    n_trials : int, default=20
        Number of trials for "random" and "optuna", including those of a stored study.
    cv : int, splitter, iterable of splits or EntryKFold, default=5
        Folds. An integer is the number of folds of `MultilabelStratifiedKFold`. An `EntryKFold` holds out observed
        entries instead of samples.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed. Other entries of Y are ignored.
    groups : array-like of shape (n_samples,), optional
        Samples of the same group stay in the same fold. Must be None with an `EntryKFold`.
    refit : bool, default=True
        Whether to fit the estimator with the best parameters on all samples.
    storage : path, URL or None, default=None
        Storage of the Optuna study. A path is an SQLite file; it is created, with its folder, or resumed. None keeps
        the study in memory.
    study_name : str, default="spmld"
        Name of the study in the storage.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    random_state : int, RandomState or None, default=None
        Seed for the folds and the candidates. Use an integer to resume a study with the same folds.
    verbose : bool, default=False
        Whether to print a line for each trial. It is also logged by ``spmld.model_selection.search`` at level INFO.
    callback : callable, optional
        Called as ``callback(trial, number, n_trials)`` after each trial; numbers count from 1.

    Returns
    -------
    SearchResult
        With `best_params`, `best_score`, `best_estimator` and all trials.

    Examples
    --------
    See `SearchResult`.
    """
    name, score = _read_scoring(scoring)
    candidates = _make_candidates(method, space, n_trials, name, storage, study_name, random_state)
    X, Y, folds = _read_data(X, Y, mask, groups, cv, random_state)
    warn_of_metrics(read_labels(Y))
    evaluate = partial(_evaluate, estimator, folds, score, n_jobs)
    trials, interrupted = _run(name, candidates, evaluate, partial(_report, verbose, callback))
    fitted = clone(estimator).set_params(**SearchResult(name, trials).best_params).fit(X, Y) if refit else None
    return SearchResult(name, trials, fitted, interrupted, candidates.study)


def _read_scoring(scoring: Any) -> tuple[str, Any]:
    """Return the name and the function of a metric or scorer."""
    if isinstance(scoring, str):
        return scoring, scorer(scoring)
    # The repr of a function may contain its address, which differs between processes; its name does not.
    return getattr(scoring, "__qualname__", repr(scoring)), scoring


def _make_candidates(
    method: str, space: Mapping[str, Any], n_trials: int, name: str, storage: Any, study_name: str, random_state: Any
) -> Candidates | OptunaCandidates:
    if method == "optuna":
        return OptunaCandidates(space, n_trials, name, storage, study_name, random_state)
    if storage is not None:
        raise ValueError(f'storage must be None unless method="optuna", got {storage!r}')
    return grid_candidates(space) if method == "grid" else random_candidates(space, n_trials, random_state)


def _read_data(X: Any, Y: Any, mask: Any, groups: Any, cv: Any, random_state: Any) -> tuple[Any, Any, list[_Fold]]:
    """Return X and Y as arrays or data frames, with the missing entries of `mask` in Y, and the folds."""
    X, Y, mask, groups = indexable(X, Y, mask, groups)
    if mask is not None:
        Y = read_labels(Y, mask).write_with_missing(Y)
    return X, Y, _split(X, Y, cv, groups, random_state)


def _split(X: Any, Y: Any, cv: Any, groups: Any, random_state: Any) -> list[_Fold]:
    """Return the folds that all trials share; Y to evaluate on is None if none of its labels is observed."""
    labels = read_labels(Y)
    signs = labels.signs
    if isinstance(cv, EntryKFold):
        if groups is not None:
            raise ValueError("groups must be None with an EntryKFold, which holds out entries of all samples")
        held_out = ((Y_train, np.where(entries.reshape(signs.shape), signs, 0)) for Y_train, entries in cv.split(Y))
        return [(X, Y_train, X, labels.write_with_missing(Y, test_signs)) for Y_train, test_signs in held_out]
    splits = check_splitter(cv, len(signs), random_state, other=" or an EntryKFold").split(X, Y, groups)
    take = _safe_indexing
    return [
        (take(X, train), take(Y, train), take(X, test), take(Y, test) if signs[test].any() else None)
        for train, test in splits
    ]


def _run(
    name: str,
    candidates: Candidates | OptunaCandidates,
    evaluate: Callable[[dict[str, Any]], SearchTrial],
    report: Callable[[str, SearchTrial, int, int], None],
) -> tuple[list[SearchTrial], bool]:
    """Evaluate all candidates; return the trials, at least one with a score, and whether the search was interrupted."""
    trials, interrupted = list(candidates.finished), False
    try:
        for params in candidates:
            trial = evaluate(params)
            candidates.tell(trial)
            trials.append(trial)
            report(name, trial, len(trials), candidates.total)
    except KeyboardInterrupt:
        candidates.discard()
        if not trials:
            raise
        interrupted = True
    if all(np.isnan(trial.score) for trial in trials):
        raise ValueError(f"none of the {len(trials)} trials has a score: fits failed, or {name} is undefined")
    return trials, interrupted


def _report(
    verbose: bool, callback: Callable[..., Any] | None, name: str, trial: SearchTrial, number: int, n_trials: int
) -> None:
    line = f"trial {number} of {n_trials}: {name} {trial.score:.6g} in {trial.seconds:.1f} s, {trial.params}"
    logger.info(line)
    if verbose:
        print(line, flush=True)
    if callback is not None:
        callback(trial, number, n_trials)


def _evaluate(
    estimator: Any, folds: list[_Fold], score: Any, n_jobs: int | None, params: dict[str, Any]
) -> SearchTrial:
    start = time.perf_counter()
    candidate = clone(estimator).set_params(**params)
    try:
        scores = Parallel(n_jobs=n_jobs)(delayed(_evaluate_fold)(candidate, fold, score) for fold in folds)
        defined = [value for value in scores if not np.isnan(value)]
        mean = float(np.mean(defined)) if defined else float("nan")
    except Exception as error:
        warnings.warn(f"A fit with {params} failed: {error!r}", FitFailedWarning, stacklevel=5)
        scores, mean = [], float("nan")
    return SearchTrial(params, mean, scores, time.perf_counter() - start)


def _evaluate_fold(candidate: Any, fold: _Fold, evaluate: Any) -> float:
    X_train, Y_train, X_test, Y_test = fold
    if Y_test is None:
        return float("nan")
    with ignore_label_warnings():
        fitted = clone(candidate).fit(X_train, Y_train)
    return float(evaluate(fitted, X_test, Y_test))
