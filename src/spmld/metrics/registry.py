"""All metrics and their properties, and scorers for scikit-learn's model selection."""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spmld._validation import check_scalar_integer, did_you_mean
from spmld.labels import read_labels
from spmld.metrics import _predictions, _ranking, probabilities

Needs = Literal["scores", "predictions", "probabilities"]
Over = Literal["samples", "labels", "entries"]


@dataclass(frozen=True)
class Metric:
    """A metric and its properties.

    Attributes
    ----------
    function : callable
        ``function(Y_true, values, mask)``, where values are scores, predictions or probabilities.
    needs : {"scores", "predictions", "probabilities"}
        The values that the function needs.
    over : {"samples", "labels", "entries"}
        The metric is a mean over samples or labels, or is computed from all entries together.
    greater_is_better : bool
        Whether higher values are better.
    range : tuple of two floats
        Minimum and maximum; the maximum is infinite if it depends on the number of labels.

    Examples
    --------
    >>> from spmld.metrics.registry import METRICS
    >>> metric = METRICS["ranking_loss"]
    >>> metric.needs, metric.over, metric.better
    ('scores', 'samples', 'lower')
    """

    function: Callable[..., Any]
    needs: Needs
    over: Over
    greater_is_better: bool
    range: tuple[float, float] = (0, 1)

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    @property
    def weighted(self) -> bool:
        """Whether the function accepts `entry_weight`: metrics over labels or entries do."""
        return "entry_weight" in inspect.signature(self.function).parameters

    @property
    def better(self) -> str:
        """Which values are better: "higher" or "lower"."""
        return "higher" if self.greater_is_better else "lower"


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(_ranking.ranking_loss, "scores", "samples", False),
        Metric(_ranking.coverage, "scores", "samples", False, (0, np.inf)),
        Metric(_ranking.sample_auc, "scores", "samples", True),
        Metric(_ranking.macro_auc, "scores", "labels", True),
        Metric(_ranking.micro_auc, "scores", "entries", True),
        Metric(_ranking.label_ranking_average_precision, "scores", "samples", True),
        Metric(_ranking.macro_average_precision, "scores", "labels", True),
        Metric(_ranking.micro_average_precision, "scores", "entries", True),
        Metric(_ranking.one_error, "scores", "samples", False),
        Metric(_ranking.precision_at_k, "scores", "samples", True),
        Metric(_ranking.recall_at_k, "scores", "samples", True),
        Metric(_ranking.ndcg_at_k, "scores", "samples", True),
        Metric(_predictions.hamming_loss, "predictions", "entries", False),
        Metric(_predictions.subset_accuracy, "predictions", "samples", True),
        Metric(_predictions.sample_f1, "predictions", "samples", True),
        Metric(_predictions.macro_f1, "predictions", "labels", True),
        Metric(_predictions.micro_f1, "predictions", "entries", True),
        Metric(probabilities.log_loss, "probabilities", "entries", False, (0, -np.log(np.finfo(np.float64).eps))),
        Metric(probabilities.brier_score, "probabilities", "entries", False),
        Metric(probabilities.expected_calibration_error, "probabilities", "entries", False),
    )
}
"""All metrics: a `Metric` for each name."""


def get_metric(name: str) -> tuple[Metric, dict[str, Any]]:
    """Return the metric with the given name and the options encoded in it: "ndcg_at_3" is "ndcg_at_k" with k=3.

    Examples
    --------
    >>> from spmld.metrics.registry import get_metric
    >>> metric, options = get_metric("ndcg_at_3")
    >>> metric.name, options
    ('ndcg_at_k', {'k': 3})
    """
    if name in METRICS:
        return METRICS[name], {}
    at_k = re.fullmatch(r"(\w+_at_)(\d+)", str(name))
    if at_k and at_k[1] + "k" in METRICS:
        return METRICS[at_k[1] + "k"], {"k": check_scalar_integer("k", int(at_k[2]), minimum=1)}
    raise ValueError(
        f"metric must be one of {', '.join(METRICS)}, where k may be a number, got {name!r}"
        f"{did_you_mean(name, METRICS)}"
    )


def names_at_k(name: str, ks: Iterable[int] = (1, 3, 5)) -> list[str]:
    """Return the names of a metric that ends in "_at_k" for several k; other names are unchanged.

    Examples
    --------
    >>> from spmld.metrics.registry import names_at_k
    >>> names_at_k("ndcg_at_k"), names_at_k("coverage")
    (['ndcg_at_1', 'ndcg_at_3', 'ndcg_at_5'], ['coverage'])
    """
    if not name.endswith("_at_k"):
        return [name]
    return [f"{name.removesuffix('k')}{check_scalar_integer('k', k, minimum=1)}" for k in ks]


@dataclass(frozen=True)
class Scorer:
    """A metric with the signature ``scorer(estimator, X, Y)``, greater is better. See `scorer`.

    In contrast to scikit-learn's scorers, it accepts labels with missing entries. It calls the method of the estimator
    that the metric needs.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.metrics import scorer
    >>> X, Y = [[0], [1]], [[1, 0], [1, None]]
    >>> scorer("hamming_loss")(LabelPrior().fit(X, Y), X, Y)
    -0.0
    """

    name: str

    def __post_init__(self) -> None:
        get_metric(self.name)

    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        """Return the metric of the estimator on the observed labels, negated if lower is better."""
        metric, options = get_metric(self.name)
        values = self._values(metric.needs, estimator, X)
        # A fold of a one-dimensional Y may have only one of two classes; the estimator knows both.
        classes = getattr(estimator, "classes_", None)
        two = isinstance(classes, np.ndarray) and classes.shape == (2,)
        labels = read_labels(Y, classes=classes if two else None, name="Y_true")
        value = metric.function(labels, values, **options)
        return float(value if metric.greater_is_better else -value)

    def _values(self, needs: Needs, estimator: Any, X: Any) -> Any:
        if needs == "predictions":
            return estimator.predict(X)
        if needs == "scores" and hasattr(estimator, "decision_function"):
            return estimator.decision_function(X)
        if hasattr(estimator, "predict_proba"):
            return estimator.predict_proba(X)
        needed = "predict_proba" if needs == "probabilities" else "decision_function or predict_proba"
        raise ValueError(f"scorer({self.name!r}) needs an estimator with {needed}, got {type(estimator).__name__}")


def scorer(name: str) -> Scorer:
    """Make a scorer from a metric, for ``GridSearchCV`` or ``cross_validate`` with missing labels in `Y`.

    Parameters
    ----------
    name : str
        Name of a metric, such as "ranking_loss". In the name of a metric at `k`, `k` may be a number: "precision_at_3".

    Returns
    -------
    Scorer
        A callable ``(estimator, X, Y)``, greater is better: metrics for which lower is better are negated. Metrics of
        scores use `decision_function`, or `predict_proba` if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from spmld.metrics import scorer
    >>> X, Y = np.zeros((3, 1)), np.array([[1, 0], [1, 0], [0, 0]])
    >>> majority = DummyClassifier().fit(X, Y)
    >>> scorer("hamming_loss")(majority, X, [[1, np.nan], [0, np.nan], [0, 0]])
    -0.5
    """
    return Scorer(name)
