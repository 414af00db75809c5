"""Scorers: metrics for scikit-learn's model selection."""

from typing import Any

import numpy as np

from spmld._validation import check_scalar_integer
from spmld.labels import read_labels
from spmld.metrics._registry import get_metric


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

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        metric, implied = get_metric(name)
        # mask is not an option: cross-validation does not split it. Missing labels are NaN in Y.
        unknown = set(options) - metric.options
        if unknown:
            accepted = ", ".join(sorted(metric.options)) or "no options"
            raise ValueError(f"scorer({name!r}) got {', '.join(sorted(unknown))}, accepts {accepted}")
        if "propensities" in metric.options and "propensities" not in options:
            raise ValueError(f"scorer({name!r}) requires propensities=...; see spmld.metrics.propensities")
        self.name = name
        self.options = options
        self._call_options = {**implied, **options}
        if "k" in self._call_options:
            check_scalar_integer("k", self._call_options["k"], minimum=1)
        self._metric = metric

    def __call__(self, estimator: Any, X: Any, Y: Any) -> float:
        """Return the metric of the estimator on the observed labels, negated if lower is better."""
        values = self._values(estimator, X)
        # A fold of a one-dimensional Y may have only one of two classes; the estimator knows both.
        classes = getattr(estimator, "classes_", None)
        two = isinstance(classes, np.ndarray) and classes.shape == (2,)
        labels = read_labels(Y, classes=classes if two else None, name="Y_true")
        value = self._metric.function(labels, values, **self._call_options)
        return float(value if self._metric.greater_is_better else -value)

    def _values(self, estimator: Any, X: Any) -> Any:
        if self._metric.needs == "predictions":
            return estimator.predict(X)
        if self._metric.needs == "scores" and hasattr(estimator, "decision_function"):
            return estimator.decision_function(X)
        if hasattr(estimator, "predict_proba"):
            return estimator.predict_proba(X)
        needed = "predict_proba" if self._metric.needs == "probabilities" else "decision_function or predict_proba"
        raise ValueError(f"scorer({self.name!r}) needs an estimator with {needed}, got {type(estimator).__name__}")

    def __repr__(self) -> str:
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"scorer({self.name!r}{options})"


def scorer(name: str, **options: Any) -> Scorer:
    """Make a scorer from a metric, for ``GridSearchCV`` or ``cross_validate`` with missing labels in `Y`.

    Parameters
    ----------
    name : str
        Name of a metric, such as "ranking_loss". In the name of a metric at `k`, `k` may be a number: "precision_at_3".
    **options
        Options of the metric, such as ``k=3`` or ``normalize=True``.

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
    return Scorer(name, options)
