"""Metrics as scorers for scikit-learn's model selection."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld.labels import read_labels
from spmld.metrics._base import read_k
from spmld.metrics._registry import get_metric


class Scorer:
    """A metric to be called as ``scorer(estimator, X, Y)``, greater is better. Made by `scorer`.

    scikit-learn's own scorers pass a sign and a function; this one passes labels with missing entries through
    untouched as well, and takes from the estimator what the metric judges.

    Examples
    --------
    >>> from spmld import LabelPrior
    >>> from spmld.metrics import scorer
    >>> X, Y = [[0], [1]], [[1, 0], [1, None]]
    >>> scorer("hamming_loss")(LabelPrior().fit(X, Y), X, Y)
    -0.0
    """

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        metric, implied = get_metric(name)
        # A mask could not follow the rows into the folds; missing labels travel as NaN in Y.
        unknown = set(options) - metric.options
        if unknown:
            accepted = ", ".join(sorted(metric.options)) or "no options"
            raise ValueError(f"scorer({name!r}) got {', '.join(sorted(unknown))}, accepts {accepted}")
        if "propensities" in metric.options and "propensities" not in options:
            raise ValueError(f"scorer({name!r}) needs propensities=, see spmld.metrics.propensities")
        self.name = name
        self.options = options
        self._call_options = {**implied, **options}
        if "k" in self._call_options:
            read_k(self._call_options["k"])
        self._metric = metric

    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        """The metric of the estimator on the observed labels, negated if lower is better."""
        judged = self._judged(estimator, X)
        # Part of a vector may hold one class alone, and only the estimator knows which one it is.
        classes = getattr(estimator, "classes_", None)
        two = isinstance(classes, np.ndarray) and classes.shape == (2,)
        labels = read_labels(Y, classes=classes if two else None, name="Y_true")
        value = self._metric.function(labels, judged, **self._call_options)
        return float(value if self._metric.greater_is_better else -value)

    def _judged(self, estimator: Any, X: Any) -> Any:
        if self._metric.needs == "predictions":
            return estimator.predict(X)
        if self._metric.needs == "scores" and hasattr(estimator, "decision_function"):
            return estimator.decision_function(X)
        if hasattr(estimator, "predict_proba"):
            return estimator.predict_proba(X)
        wanted = "predict_proba" if self._metric.needs == "probabilities" else "decision_function or predict_proba"
        raise ValueError(f"scorer({self.name!r}) needs an estimator with {wanted}, {type(estimator).__name__} has none")

    def __repr__(self) -> str:
        shown = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"scorer({self.name!r}{shown})"


def scorer(name: str, **options: Any) -> Scorer:
    """A metric as a scorer for ``GridSearchCV``, ``cross_validate`` and their like, with missing labels in `Y`.

    Parameters
    ----------
    name : str
        Name of a metric, such as "ranking_loss"; those at `k` may carry the number, as "precision_at_3".
    **options
        Options of the metric, such as ``k=3`` or ``normalised=True``.

    Returns
    -------
    Scorer
        A callable ``(estimator, X, Y)`` for which greater is better: metrics for which lower is better are negated.
        Metrics of scores use `decision_function`, or `predict_proba` where there is none.

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
    return Scorer(name, options)
