"""The search: parameters judged on folds of rows or of entries."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.parallel import Parallel, delayed

from spmld.labels import read_labels
from spmld.metrics import scorer
from spmld.model_selection import EntryKFold
from spmld.model_selection._candidates import ListedCandidates, OptunaCandidates, grid, random
from spmld.model_selection._sizes import count
from spmld.model_selection.search_result import SearchResult, SearchTrial
from spmld.model_selection.splitters import check_splitter

__all__ = ["tune"]

logger = logging.getLogger(__name__)

_Fold = tuple[Any, Any, Any, Any]  # X and Y to fit on, X and Y to judge on


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
) -> SearchResult:
    """Search for the parameters with the best scoring on held-out observed labels.

    All trials are judged on the same folds. Ctrl-C ends the search and keeps the finished trials; a trial whose fit
    fails is recorded with the score NaN, with a FitFailedWarning.

    Parameters
    ----------
    estimator : estimator
        What to tune; it is cloned.
    X : array-like of shape (n_samples, n_features)
        Rows.
    Y : labels in any form of `spmld.labels.read_labels`
        NaN where missing.
    space : dict
        For each parameter a list of choices, a range ``(low, high)`` or ``(low, high, "log")``, which is of whole
        numbers if both ends are, or a distribution of scipy.stats ("random") or optuna ("optuna").
    scoring : str or callable
        Name of a scoring of `spmld.metrics`, or a scorer ``(estimator, X, Y)`` for which greater is better. A fold
        without a held-out observed label, or in which the scoring is undefined, is left out of the mean.
    method : {"grid", "random", "optuna"}
        "grid" tries all combinations of lists, "random" draws `n_trials` sets of parameters, both as scikit-learn
        does. "optuna" lets optuna choose; it comes with ``pip install "spmld[tune]"``.
    n_trials : int
        Number of trials for "random" and "optuna". In a stored study, earlier trials count.
    cv : int, splitter, iterable of splits or EntryKFold
        An integer is the number of folds of `spmld.model_selection.MultilabelStratifiedKFold`. With an
        `spmld.model_selection.EntryKFold` observed entries are held out instead of rows.
    mask : array-like of bool of the shape of `Y`, optional
        True where a label is observed.
    groups : array-like of shape (n_samples,), optional
        Rows with the same value stay together; not with an `EntryKFold`, which holds out no rows.
    refit : bool
        Whether to fit the estimator with the best parameters on all rows.
    storage : path, URL or None
        Where optuna keeps the study: a path is an SQLite file, made if need be, with its folder. The same call with
        the same file goes on where the last one ended. None keeps it in memory.
    study_name : str
        Name of the study in the storage.
    n_jobs : int or None
        Folds fitted at the same time.
    random_state : int, RandomState or None
        Seed of the folds and of the draws. Give an integer where a study is to go on with the same folds.
    verbose : bool
        Whether to print a line for each trial. The logger ``spmld.model_selection.search`` gets it in any case, at level INFO.

    Returns
    -------
    SearchResult
        With `best_params`, `best_score`, `best_estimator` and all trials.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from spmld.model_selection import tune
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 2))
    >>> Y = (X + rng.normal(size=(120, 2)) > 0).astype(int)
    >>> space = {"n_neighbors": [1, 15]}
    >>> tune(KNeighborsClassifier(), X, Y, space, scoring="hamming_loss", random_state=0).best_params
    {'n_neighbors': 15}
    """
    n_trials = count("n_trials", n_trials, least=1)
    if not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(f"scoring must be the name of a scoring or a scorer (estimator, X, Y), got {scoring!r}")
    judged = scorer(scoring) if isinstance(scoring, str) else scoring
    # A function's name is the same in the next process, unlike its repr, which tells where it lies.
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__qualname__", repr(scoring))
    source: ListedCandidates | OptunaCandidates
    if storage is not None and method != "optuna":
        raise ValueError(f'storage must be None unless method="optuna", got {storage!r}')
    if method == "grid":
        source = grid(space)
    elif method == "random":
        source = random(space, n_trials, random_state)
    elif method == "optuna":
        source = OptunaCandidates(space, n_trials, name, storage, study_name, random_state)
    else:
        raise ValueError(f'method must be "grid", "random" or "optuna", got {method!r}')
    X, Y, mask, groups = indexable(X, Y, mask, groups)
    if mask is not None:
        Y = read_labels(Y, mask).write_with_missing(Y)
    folds = _folds(X, Y, cv, groups, random_state)

    trials, interrupted = list(source.earlier), False
    try:
        for params in source:
            trial = _try(estimator, params, folds, judged, n_jobs)
            source.tell(trial)
            trials.append(trial)
            line = f"trial {len(trials)} of {source.total}: {name} {trial.score:.6g} in {trial.seconds:.1f} s, {params}"
            logger.info(line)
            if verbose:
                print(line, flush=True)
    except KeyboardInterrupt:
        source.drop()
        if not trials:
            raise
        interrupted = True
    if all(np.isnan(trial.score) for trial in trials):
        raise ValueError(f"none of the {len(trials)} trials has a score: fits failed, or {name} is undefined")
    best = SearchResult(name, trials).best_params
    fitted = clone(estimator).set_params(**best).fit(X, Y) if refit else None
    return SearchResult(name, trials, fitted, interrupted, source.study)


def _folds(X: Any, Y: Any, cv: Any, groups: Any, random_state: Any) -> list[_Fold]:
    """The folds, drawn once so that all trials are judged on the same; None for labels of which none is observed."""
    labels = read_labels(Y)
    signs = labels.signs
    if isinstance(cv, EntryKFold):
        if groups is not None:
            raise ValueError("groups must be None with an EntryKFold, which holds out entries of all rows, got groups")
        held = [(Y_train, np.where(held_out.reshape(signs.shape), signs, 0)) for Y_train, held_out in cv.split(Y)]
        return [(X, Y_train, X, labels.write_with_missing(Y, test)) for Y_train, test in held]
    splits = check_splitter(cv, len(signs), random_state, other=" or an EntryKFold").split(X, Y, groups)
    return [
        (
            *(_safe_indexing(array, train) for array in (X, Y)),
            _safe_indexing(X, test),
            _safe_indexing(Y, test) if signs[test].any() else None,
        )
        for train, test in splits
    ]


def _try(estimator: Any, params: dict[str, Any], folds: list[_Fold], judged: Any, n_jobs: int | None) -> SearchTrial:
    """Fit and judge on each fold."""
    start = time.perf_counter()
    candidate = clone(estimator).set_params(**params)
    try:
        scores = Parallel(n_jobs=n_jobs)(delayed(_fit_and_judge)(candidate, fold, judged) for fold in folds)
        defined = [score for score in scores if not np.isnan(score)]
        score = float(np.mean(defined)) if defined else float("nan")
    except Exception as error:
        warnings.warn(f"A fit with {params} failed: {error!r}", FitFailedWarning, stacklevel=3)
        scores, score = [], float("nan")
    return SearchTrial(params, score, scores, time.perf_counter() - start)


def _fit_and_judge(candidate: Any, fold: _Fold, judged: Any) -> float:
    X_train, Y_train, X_test, Y_test = fold
    if Y_test is None:
        return float("nan")
    return float(judged(clone(candidate).fit(X_train, Y_train), X_test, Y_test))
