"""Trials: deterministic fits and evaluations, each defined by a description."""

import dataclasses
import hashlib
import json
import pkgutil
import subprocess
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

import spmld
from spmld.estimators.transformers import FeatureScaler
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import evaluate
from spmld.model_selection import MultilabelStratifiedKFold
from studies.config import CLEAN, Condition, Corruption, Params, StudyError
from studies.data import load

_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Trial:
    """Description of a trial, which determines its metrics.

    Attributes
    ----------
    kind : {"held-out", "test", "missing", "audit"}
        Evaluation: on the observed labels of folds of the training samples, on the test set, on the missing labels of
        the training samples, or by the detection of the corrupted labels of the training samples.
    data : str
        Data set.
    observed : float
        Observed fraction of the training labels.
    seed : int
        Seed for the mask, the folds and the estimator; also the number of the test fold of a data set with candidate
        labels.
    method, estimator : str
        Name of the method, and the dotted path of its estimator.
    params : dict
        Parameters of the estimator.
    corruption : Corruption
        Corruption of the training labels.
    folds : int
        Number of folds of a held-out trial, otherwise 0.
    oracle : bool
        Whether corrupted entries are hidden. Where the training labels are candidate labels or single positives,
        whether all true labels are given.
    standardize : bool
        Whether features are scaled by the training samples: samples of mean square norm 1, dense columns with mean 0
        and equal variances.
    trusted : int
        Number of training samples whose labels are verified: replaced by the true labels, and passed to ``fit`` as
        ``trusted`` if the estimator uses it.
    hiding : {"stratified", "single_positive"}
        Which labels are hidden, see `spmld.labels.hide_labels`. With "single_positive", missing labels of held-out
        samples count as negative.

    Examples
    --------
    >>> from studies.trial import Trial, run
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
    trusted: int = 0
    hiding: Literal["stratified", "single_positive"] = "stratified"

    def as_dict(self) -> dict[str, Any]:
        """Return the description in plain types. Later fields are left out at their defaults: older keys stay valid."""
        later = {"oracle": False, "standardize": False, "trusted": 0, "hiding": "stratified"}
        return {name: value for name, value in dataclasses.asdict(self).items() if later.get(name) != value}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Return the trial of a description."""
        return cls(**{**content, "corruption": Corruption(**content["corruption"])})

    @property
    def condition(self) -> Condition:
        """Data set, observed fraction, corruption and kind of hiding."""
        return Condition(self.data, self.observed, self.corruption, self.hiding)

    @property
    def key(self) -> str:
        """Hash of the description."""
        return trial_key(self.as_dict())


def trial_key(description: dict[str, Any]) -> str:
    """Return the hash of the description of a trial in plain types."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:16]


def run(trial: Trial) -> dict[str, float]:
    """Run a trial: fit and evaluate.

    Parameters
    ----------
    trial : Trial
        Description. A held-out trial uses neither the test set nor missing labels.

    Returns
    -------
    dict
        All metrics by name, and the mean numbers of predicted and true labels of a sample, "predicted_cardinality" and
        "true_cardinality"; means over the folds for a held-out trial.
    """
    data = load(trial.data, trial.seed)
    scale: Callable[[Any], Any] = FeatureScaler().fit(data.X_train).transform if trial.standardize else lambda X: X
    X, (Y, trusted) = scale(data.X_train), _training_labels(data, trial)
    if trial.kind == "test":
        tied_to = Y if hasattr(data, "candidates_train") else None
        return _evaluate(_fit(build(trial), X, Y, trusted), scale(data.X_test), data.Y_test, tied_to)
    if trial.kind == "audit":
        return _evaluate_audit(build(trial).error_scores(X, Y), Y, data.Y_train)
    if trial.kind == "missing":
        return _evaluate_completion(_fit(build(trial), X, Y, trusted), X, Y, data.Y_train)
    folds = MultilabelStratifiedKFold(trial.folds, random_state=trial.seed).split(X, Y)
    # Without observed negatives no ranking can be evaluated: then missing labels count as negative.
    held_out = np.nan_to_num(Y) if trial.hiding == "single_positive" else Y
    metrics = [
        _evaluate(_fit(build(trial), X[train], Y[train], trusted[train]), X[test], held_out[test])
        for train, test in folds
    ]
    return {name: _mean([values[name] for values in metrics]) for name in metrics[0]}


def attempt(trial: Trial) -> dict[str, Any]:
    """Run a trial and return its record, with the error if it fails.

    Linear algebra uses one thread: trials run in parallel, and the last digits of results depend on the number of
    threads.
    """
    record: dict[str, Any] = {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), "status": "ok"}
    record |= {"metrics": {}, "error": None}
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
    record["cpu_seconds"] = round(time.process_time() - worked, 3)
    record["version"] = code_version()
    return record


@cache
def code_version() -> str:
    """Return the version of the package and, in a clone, date and name of the last commit of its code.

    Examples
    --------
    >>> from studies.trial import code_version
    >>> code_version().startswith("0.")
    True
    """
    code = ["--", "src/spmld", ":(glob)studies/*.py"]
    try:
        commit = _git("log", "-1", "--abbrev=8", "--date=format:%Y%m%d", "--format=%cd.%h", *code)
        changed = _git("status", "--porcelain", *code)
    except (OSError, subprocess.CalledProcessError):
        return spmld.__version__
    return f"{spmld.__version__}+{commit}{'.changed' if changed else ''}" if commit else spmld.__version__


def _git(*arguments: str) -> str:
    """Return the output of a git command in the clone."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True).stdout.strip()


def find_estimator(path: str) -> Any:
    """Return the class or constructor of a dotted path.

    Examples
    --------
    >>> from studies.trial import find_estimator
    >>> find_estimator("spmld.SPMLD.paper")(n_components=5).n_components
    5
    """
    with suppress(ImportError, AttributeError, ValueError):
        target = pkgutil.resolve_name(path)
        if callable(target):
            return target
    raise StudyError(f"estimator must be the dotted path of an existing class or constructor, got {path}")


def build(trial: Trial) -> Any:
    """Return the unfitted estimator of a trial. Parameters are set after construction, so that they can be nested."""
    model = find_estimator(trial.estimator)()
    seed = {"random_state": trial.seed} if "random_state" in model.get_params() else {}
    try:
        return model.set_params(**seed, **trial.params)
    except (ValueError, TypeError) as error:
        raise StudyError(f"parameters of {trial.method}: {error}") from error


def _training_labels(data: Any, trial: Trial) -> tuple[Any, NDArray[np.bool_]]:
    """Return the training labels of a trial, corrupted and then partly hidden, and which entries are verified."""
    truth, trusted = data.Y_train, np.zeros(data.Y_train.shape, dtype=bool)
    candidates = getattr(data, "candidates_train", None)
    if trial.oracle and (candidates is not None or trial.hiding == "single_positive"):
        return truth, trusted
    Y = truth if candidates is None else candidates
    if trial.corruption.kind != "none":
        # The seed differs from that of the mask, so that corrupted and hidden entries are independent.
        rng = np.random.RandomState([trial.seed, 1])
        Y = corrupt_labels(Y, trial.corruption.kind, trial.corruption.rate, random_state=rng)  # type: ignore[arg-type]
    hidden = hide_labels(Y, trial.observed, trial.hiding, random_state=trial.seed)
    if trial.oracle:
        hidden = np.where(truth == Y, hidden, np.nan)
    trusted[np.random.RandomState([trial.seed, 2]).permutation(len(truth))[: trial.trusted]] = True
    return np.where(trusted, truth, hidden), trusted


def _fit(model: Any, X: Any, Y: Any, trusted: NDArray[np.bool_]) -> Any:
    """Fit an estimator, which also gets the mask of verified entries if there are any and it uses them."""
    used = trusted.any() and hasattr(model, "uses_trusted") and model.uses_trusted()
    return model.fit(X, Y, trusted=trusted) if used else model.fit(X, Y)


def _evaluate(model: Any, X: Any, Y: Any, tied_to: Any = None) -> dict[str, float]:
    """Return the metrics of a model; labels with the same training labels `tied_to` are tied."""
    methods = {"scores": "decision_function", "predictions": "predict", "probabilities": "predict_proba"}
    outputs = {name: getattr(model, method)(X) for name, method in methods.items() if hasattr(model, method)}
    if tied_to is not None and "scores" in outputs:
        outputs["scores"] = _tie_equal_labels(outputs["scores"], tied_to)
    metrics = dict(evaluate(Y, **outputs))
    if "predictions" in outputs:
        observed, predicted = ~np.isnan(Y), np.asarray(outputs["predictions"])
        for name, labels in (("predicted_cardinality", predicted), ("true_cardinality", Y)):
            metrics[name] = float(np.mean(np.sum(labels == 1, axis=1, where=observed)))
    return metrics


def _tie_equal_labels(scores: Any, Y: Any) -> NDArray[np.float64]:
    """Return the scores, averaged over labels whose training labels are equal.

    Nothing distinguishes such labels. Without averaging, rounding errors of the solver would break their ties.
    """
    _, group = np.unique(np.nan_to_num(Y, nan=-1.0), axis=1, return_inverse=True)
    member = np.equal.outer(group.ravel(), np.arange(Y.shape[1])).astype(float)
    means = np.asarray(scores) @ member / np.maximum(member.sum(axis=0), 1)
    return means[:, group.ravel()]


def _evaluate_completion(model: Any, X: Any, Y: Any, truth: Any) -> dict[str, float]:
    """Return the metrics of the completed labels on the missing entries."""
    labels, confidences = model.complete(X, Y)
    p = np.where(np.asarray(labels) == 1, confidences, 1 - confidences)
    return dict(evaluate(truth, scores=p, predictions=(p > 0.5).astype(int), probabilities=p, mask=np.isnan(Y)))


def _evaluate_audit(error_scores: Any, Y: Any, truth: Any) -> dict[str, float]:
    """Return the metrics of finding the corrupted labels among the observed ones."""
    observed = ~np.isnan(Y)
    return dict(evaluate(truth != Y, scores=np.where(observed, error_scores, 0.0), mask=observed))


def _mean(values: list[float]) -> float:
    """Return the mean over the folds in which a metric is defined."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")
