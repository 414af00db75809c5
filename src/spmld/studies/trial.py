"""Trials: a fit and its metrics, as a pure function of a description."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

import spmld
from spmld.estimators.scaling import FeatureScaler
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import evaluate
from spmld.model_selection import MultilabelStratifiedKFold
from spmld.studies.config import CLEAN, Corruption, Params
from spmld.studies.data import load
from spmld.studies.memory import peak_memory, reset_peak_memory
from spmld.studies.strict import StudyError

__all__ = ["Trial", "attempt", "build", "find_estimator", "run"]


@dataclass(frozen=True)
class Trial:
    """What determines the outcome of a trial, and nothing else.

    Attributes
    ----------
    kind : {"held-out", "test", "missing", "audit"}
        What it is judged on: folds of the training rows, by their observed labels; the test set; the unobserved
        labels of the training rows; or whether it suspects those observed labels of the training rows that are wrong.
    data : str
        Data set.
    observed : float
        Share of the training labels that is observed.
    corruption : Corruption
        What is done to the training labels before.
    seed : int
        Seed of the mask, of the folds and of the estimator.
    method, estimator : str
        Name of the method, and the dotted path of what it fits.
    params : dict
        Its parameters.
    folds : int
        Number of folds; 0 where it is not judged on folds.
    oracle : bool
        Whether labels made wrong are hidden: an oracle.
    standardize : bool
        Whether features are brought to a common scale, by the training rows: samples of mean square norm 1, dense
        columns with mean 0 and equal variances.

    Examples
    --------
    >>> from spmld.studies import Trial, run
    >>> trial = Trial("test", "planted", observed=0.7, seed=0, method="GLOCAL", estimator="spmld.GLOCAL", params={})
    >>> 0 < run(trial)["ranking_loss"] < 0.2
    True
    """

    kind: Literal["held-out", "test", "missing", "audit"]
    data: str
    observed: float
    seed: int
    method: str
    estimator: str
    params: Params
    corruption: Corruption = CLEAN
    folds: int = 0
    oracle: bool = False
    standardize: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The description, ready for JSON. What most trials do not have is left out, so that their keys stay."""
        rare = ("oracle", "standardize")
        return {name: value for name, value in dataclasses.asdict(self).items() if name not in rare or value}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Trial:
        """A trial from its description."""
        return cls(**{**content, "corruption": Corruption(**content["corruption"])})

    @property
    def key(self) -> str:
        """A short name that no other description has."""
        text = json.dumps(self.as_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def run(trial: Trial) -> dict[str, float]:
    """Fit and judge.

    Parameters
    ----------
    trial : Trial
        What to do. A held-out trial does not look at the test set, nor at unobserved labels.

    Returns
    -------
    dict
        All metrics by name; those of a held-out trial are means over the folds.

    Examples
    --------
    See `Trial`.
    """
    data = load(trial.data)
    scale: Callable[[Any], Any] = FeatureScaler().fit(data.X_train).transform if trial.standardize else lambda X: X
    X, Y = scale(data.X_train), _training_labels(data.Y_train, trial)
    if trial.kind == "test":
        return _judge(build(trial).fit(X, Y), scale(data.X_test), data.Y_test)
    if trial.kind == "audit":
        return _judge_audit(build(trial).error_probability(X, Y), Y, data.Y_train)
    if trial.kind == "missing":
        return _judge_completion(build(trial).fit(X, Y), X, Y, data.Y_train)
    folds = MultilabelStratifiedKFold(trial.folds, random_state=trial.seed).split(X, Y)
    scores = [_judge(build(trial).fit(X[train], Y[train]), X[held], Y[held]) for train, held in folds]
    return {name: _mean([score[name] for score in scores]) for name in scores[0]}


def attempt(trial: Trial) -> dict[str, Any]:
    """Run a trial and record what happened, an error included.

    Linear algebra runs on one thread: trials run side by side, and the last digits of a result depend on the number of
    threads.
    """
    record: dict[str, Any] = {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), "status": "ok"}
    record |= {"metrics": {}, "error": None}
    reset_peak_memory()
    start, worked = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught, threadpool_limits(1):
        warnings.simplefilter("always")
        try:
            metrics = run(trial)
            record["metrics"] = {name: None if np.isnan(value) else value for name, value in metrics.items()}
        except Exception as error:
            record |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
    record["warnings"] = sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})
    record["seconds"] = round(time.perf_counter() - start, 3)
    record["cpu_seconds"] = round(time.process_time() - worked, 3)  # on a busy machine the time that tells
    record["peak_mib"] = peak_memory()
    record["version"] = spmld.__version__
    return record


def find_estimator(path: str) -> Any:
    """The class or constructor of a dotted path.

    Examples
    --------
    >>> from spmld.studies.trial import find_estimator
    >>> find_estimator("spmld.SPMLD.paper")(n_components=5).n_components
    5
    """
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            found = getattr(found, name, None)
        if callable(found):
            return found
        break
    raise StudyError(f"there is no estimator {path}")


def build(trial: Trial) -> Any:
    """The estimator of a trial, not fitted; parameters are set afterwards, so that they can reach into its parts."""
    model = find_estimator(trial.estimator)()
    seed = {"random_state": trial.seed} if "random_state" in model.get_params() else {}
    try:
        return model.set_params(**seed, **trial.params)
    except (ValueError, TypeError) as error:
        raise StudyError(f"parameters of {trial.method}: {error}") from error


def _training_labels(truth: Any, trial: Trial) -> Any:
    """The training labels as the trial sees them: some wrong, then some hidden."""
    Y = truth
    if trial.corruption.kind != "none":
        # A generator of its own: with the mask's seed, what is wrong and what is hidden would depend on each other.
        rng = np.random.RandomState([trial.seed, 1])
        Y = corrupt_labels(Y, trial.corruption.kind, trial.corruption.rate, random_state=rng)  # type: ignore[arg-type]
    hidden = hide_labels(Y, trial.observed, random_state=trial.seed)
    return np.where(truth == Y, hidden, np.nan) if trial.oracle else hidden


def _judge(model: Any, X: Any, Y: Any) -> dict[str, float]:
    outputs = {"scores": "decision_function", "predictions": "predict", "probabilities": "predict_proba"}
    judged = {name: getattr(model, method)(X) for name, method in outputs.items() if hasattr(model, method)}
    return evaluate(Y, **judged).to_dict()


def _judge_completion(model: Any, X: Any, Y: Any, truth: Any) -> dict[str, float]:
    """Metrics of the probabilities that fill the gaps, on the gaps alone."""
    labels, confidences = model.complete(X, Y)
    p = np.where(np.asarray(labels) == 1, confidences, 1 - confidences)
    return evaluate(truth, scores=p, predictions=(p > 0.5).astype(int), probabilities=p, mask=np.isnan(Y)).to_dict()


def _judge_audit(error_probability: Any, Y: Any, truth: Any) -> dict[str, float]:
    """Metrics of finding the wrong labels among the observed ones."""
    observed = ~np.isnan(Y)
    return evaluate(truth != Y, scores=np.where(observed, error_probability, 0.0), mask=observed).to_dict()


def _mean(values: list[float]) -> float:
    """The mean over the folds in which a metric is defined."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")
