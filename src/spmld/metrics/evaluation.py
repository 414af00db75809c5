"""Computing all metrics at once."""

import warnings
from collections.abc import Iterable
from dataclasses import astuple, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from spmld._frames import DataFrame
from spmld._io import need
from spmld._table import TextTable
from spmld.labels import Hierarchy, Labels, read_labels
from spmld.metrics._averaging import average_defined
from spmld.metrics._inputs import read_matrix, weigh
from spmld.metrics._predictions import hierarchical_f1
from spmld.metrics.registry import METRICS, Metric, get_metric, names_at_k


@dataclass(frozen=True)
class EvaluationRow:
    """Metric with its value, its direction, and the numbers of samples, labels or entries used and left out."""

    name: str
    value: float
    better: str
    over: str
    used: int
    left_out: int


class Evaluation(dict[str, float]):
    """Values of metrics by name, printed as a table.

    Attributes
    ----------
    rows : tuple of EvaluationRow
        One for each metric, with `name`, `value`, `better`, `over`, `used` and `left_out`.

    Examples
    --------
    >>> from spmld.metrics import evaluate
    >>> evaluation = evaluate([[1, 0], [0, 1]], predictions=[[1, 0], [1, 1]])
    >>> evaluation["hamming_loss"], evaluation.rows[0].used
    (0.25, 4)
    """

    def __init__(self, rows: Iterable[EvaluationRow]) -> None:
        self.rows = tuple(rows)
        super().__init__({row.name: row.value for row in self.rows})

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with a row for each metric."""
        table = self._table()
        return need("pandas").DataFrame(table.rows, columns=table.columns).set_index("metric")

    def _table(self) -> TextTable:
        return TextTable(["metric", "value", "better", "over", "used", "left out"], [astuple(row) for row in self.rows])

    def __str__(self) -> str:
        return str(self._table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._table().to_html()


def evaluate(
    Y_true: Any,
    scores: Any = None,
    predictions: Any = None,
    probabilities: Any = None,
    mask: Any = None,
    k: int | Iterable[int] = (1, 3, 5),
    entry_weight: Any = None,
    hierarchy: Hierarchy | None = None,
    metrics: Iterable[str] | None = None,
) -> Evaluation:
    """Compute all metrics for which the required scores, predictions or probabilities are given.

    Parameters
    ----------
    Y_true : labels in any form accepted by `spmld.labels.read_labels`
        True labels.
    scores, predictions, probabilities : array-like of shape (n_samples, n_labels), optional
        Scores, higher for more likely labels; predicted labels as 0/1, -1/+1 or bool; predicted probabilities of the
        positive class. Without scores, probabilities are used as scores. Dask arrays are computed.
    mask : array-like of bool of shape (n_samples, n_labels), optional
        True where a label is observed.
    k : int or iterable of int, default=(1, 3, 5)
        Numbers of highest-scored labels to consider in metrics "at k".
    entry_weight : array-like of shape (n_samples, n_labels) or (n_samples,), optional
        Weights of the observed entries, such as the inverse of the probability that an entry is observed. Only the
        metrics over labels and entries are computed, because the others do not accept weights.
    hierarchy : Hierarchy, optional
        Hierarchy of the labels, for `hierarchical_f1` of the predictions.
    metrics : iterable of str, optional
        Names of the metrics to compute, such as "macro_f1" and "precision_at_3". By default, all.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from spmld.metrics import evaluate
    >>> evaluation = evaluate([[1, 0, None], [0, 1, 1], [0, 0, 0]], predictions=[[1, 1, 1], [0, 1, 1], [0, 0, 0]])
    >>> print(evaluation)
    metric            value  better  over     used  left out
    hamming_loss     0.1250  lower   entries     8         1
    subset_accuracy  0.6667  higher  samples     3         0
    sample_f1        0.8333  higher  samples     2         1
    macro_f1         0.8889  higher  labels      3         0
    micro_f1         0.8571  higher  entries     8         1
    >>> evaluation["subset_accuracy"]
    0.6666666666666666
    """
    scores = probabilities if scores is None else scores
    given = {"scores": scores, "predictions": predictions, "probabilities": probabilities}
    if all(array is None for array in given.values()):
        raise ValueError("evaluate needs at least one of scores, predictions and probabilities, got none")
    labels = read_labels(Y_true, mask, name="Y_true")
    values = {name: read_matrix(array, labels, name) for name, array in given.items() if array is not None}
    signs, weights = weigh(labels.signs, entry_weight)
    labels = replace(labels, signs=signs)
    weighted = {} if weights is None else {"entry_weight": weights}
    ks = (k,) if isinstance(k, int | np.integer) else tuple(k)
    if metrics is None:
        used = [m for m in METRICS.values() if m.needs in values and (m.weighted or weights is None)]
        metrics = [name for metric in used for name in names_at_k(metric.name, ks)]
    named = {name: get_metric(name) for name in metrics}
    if hierarchy is not None and "predictions" in values and weights is None:
        metric = Metric(hierarchical_f1, "predictions", "entries", greater_is_better=True)
        named[metric.name] = metric, {"hierarchy": hierarchy}
    for name, (metric, _) in named.items():
        if metric.needs not in values:
            raise ValueError(f"{name} needs {metric.needs}, got none")
    return Evaluation(
        _evaluate_metric(name, metric, labels, values[metric.needs], {**options, **weighted})
        for name, (metric, options) in named.items()
    )


def _evaluate_metric(name: str, metric: Metric, labels: Labels, values: Any, options: dict[str, Any]) -> EvaluationRow:
    """Return the row of a metric. The value is NaN, without a warning, if it is undefined."""
    compute = partial(metric.function, labels, values, **options)
    signs = labels.signs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if metric.over == "entries":
            value = float(compute())
            used = int(np.count_nonzero(signs))
            total = signs.size
        else:
            terms = compute(average=None)
            value = average_defined(terms, "mean", name)
            used = int(np.count_nonzero(~np.isnan(terms)))
            total = terms.size
    used = 0 if np.isnan(value) else used
    return EvaluationRow(name, value, metric.better, metric.over, used, total - used)
