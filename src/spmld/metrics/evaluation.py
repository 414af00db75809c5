"""Computing all metrics at once, for data in memory or as sums over row blocks."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from spmld._io import need
from spmld._table import TextTable
from spmld.labels import Labels, read_labels
from spmld.metrics._averaging import average_defined, ratio
from spmld.metrics._inputs import Signs, read_predictions, read_probabilities, read_scores, weigh
from spmld.metrics.registry import METRICS, Metric


@dataclass(frozen=True)
class EvaluationRow:
    """Metric with its value, its direction, and the numbers of samples, labels or entries used and left out."""

    name: str
    value: float
    better: str
    over: str
    used: int
    left_out: int


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[str, float]):
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

    rows: tuple[EvaluationRow, ...]

    def __getitem__(self, name: str) -> float:
        return self.to_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, float]:
        """Return the values by name."""
        return {row.name: row.value for row in self.rows}

    def to_frame(self) -> Any:
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
) -> Evaluation:
    """Compute all metrics for which the required scores, predictions or probabilities are given.

    Parameters
    ----------
    Y_true : labels in any form accepted by `spmld.labels.read_labels`
        True labels.
    scores, predictions, probabilities : array-like of shape (n_samples, n_labels), optional
        Scores, higher for more likely labels; predicted labels as 0/1, -1/+1 or bool; predicted probabilities of the
        positive class. Without scores, probabilities are used as scores.
    mask : array-like of bool of shape (n_samples, n_labels), optional
        True where a label is observed.
    k : int or iterable of int, default=(1, 3, 5)
        Numbers of highest-scored labels to consider in metrics "at k".
    entry_weight : array-like of shape (n_samples, n_labels) or (n_samples,), optional
        Weights of the observed entries, such as the inverse of the probability that an entry is observed. Only the
        metrics over labels and entries are computed, because the others do not accept weights.

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
    values = _values_by_need(scores, predictions, probabilities)
    if all(value is None for value in values.values()):
        raise ValueError("evaluate needs at least one of scores, predictions and probabilities, got none")
    labels = read_labels(Y_true, mask, name="Y_true")
    signs, weights = weigh(labels.signs, entry_weight)
    labels, weighted = replace(labels, signs=signs), {} if weights is None else {"entry_weight": weights}
    return Evaluation(
        tuple(
            _evaluate_metric(metric, labels, values[metric.needs], {**weighted, **options})
            for metric, options in _variants(_read_k(k))
            if values[metric.needs] is not None and (weights is None or metric.weighted)
        )
    )


def _values_by_need(scores: Any, predictions: Any, probabilities: Any) -> dict[str, Any]:
    """Return the values by what a metric needs, None if there are none. Probabilities can be used as scores."""
    scores = probabilities if scores is None else scores
    return {"scores": scores, "predictions": predictions, "probabilities": probabilities}


def _read_k(k: int | Iterable[int]) -> tuple[int, ...]:
    return (int(k),) if isinstance(k, int | np.integer) else tuple(k)


def _variants(ks: Iterable[int]) -> Iterator[tuple[Metric, dict[str, Any]]]:
    """Yield all metrics and their options: metrics "at k" for each k."""
    for metric in METRICS.values():
        for options in [{"k": k} for k in ks] if "k" in metric.options else [{}]:
            yield metric, options


@contextmanager
def _silence_undefined() -> Iterator[None]:
    """Ignore warnings of undefined metrics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        yield


def _evaluate_metric(metric: Metric, labels: Labels, values: Any, options: dict[str, Any]) -> EvaluationRow:
    """Return the row of a metric. The value is NaN, without a warning, if it is undefined."""
    name = metric.variant_name(options)
    with _silence_undefined():
        if metric.over == "entries":
            value = metric.function(labels, values, **options)
            return _row(metric, name, value, np.count_nonzero(labels.signs), labels.signs.size)
        terms = metric.function(labels, values, average=None, **options)
        return _row(metric, name, average_defined(terms, "mean", name), np.count_nonzero(~np.isnan(terms)), terms.size)


def _row(metric: Metric, name: str, value: Any, used: Any, total: Any) -> EvaluationRow:
    """Return the row of a metric; nothing is used if the value is NaN."""
    used = 0 if np.isnan(value) else int(used)
    return EvaluationRow(name, float(value), metric.better, metric.over, used, int(total) - used)


@dataclass(frozen=True)
class MetricSums:
    """What determines the metrics of a block of samples or, as a sum, of several.

    The area under the ROC curve and the average precision of labels and of all entries depend on the order of all
    samples. They are computed from the rows that each block contributes to a sample.

    Attributes
    ----------
    sums : dict
        An array for each metric: the sum of its terms, the numbers of terms that are defined and of all terms; or
        counts from which it is computed.
    signs, scores : ndarray of shape (n_sampled, n_labels)
        Labels and scores of the sample; None without scores.
    k : tuple of int
        Numbers of highest-scored labels of metrics "at k".

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import read_labels
    >>> from spmld.metrics.evaluation import MetricSums
    >>> Y, scores = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[2.0, 1.0], [0.0, 3.0], [1.0, 1.0]])
    >>> blocks = [MetricSums.of(read_labels(Y[s]), scores=scores[s]) for s in (slice(0, 1), slice(1, 3))]
    >>> (blocks[0] + blocks[1]).evaluation()["ranking_loss"]
    0.0
    """

    sums: dict[str, NDArray[Any]]
    signs: Signs
    scores: NDArray[np.float64] | None
    k: tuple[int, ...]

    @classmethod
    def of(
        cls,
        labels: Labels,
        *,
        scores: Any = None,
        predictions: Any = None,
        probabilities: Any = None,
        k: int | Iterable[int] = (1, 3, 5),
        rows: Any = slice(None),
    ) -> "MetricSums":
        """Return the sums of a block.

        Parameters
        ----------
        labels : Labels
            True labels of the block.
        scores, predictions, probabilities, k
            As in `evaluate`.
        rows : slice or array of int, default=slice(None)
            Rows of the block that belong to the sample.
        """
        values, ks = _values_by_need(scores, predictions, probabilities), _read_k(k)
        sums = {"entries": np.array([np.count_nonzero(labels.signs), labels.signs.size])}
        with _silence_undefined():
            for metric, options in _variants(ks):
                if values[metric.needs] is not None:
                    sums[metric.variant_name(options)] = _sum_block(metric, labels, values[metric.needs], options)
        ranked = values["scores"]
        return cls(sums, labels.signs[rows], None if ranked is None else np.asarray(ranked)[rows], ks)

    def __add__(self, other: "MetricSums") -> "MetricSums":
        sums = {name: value + other.sums[name] for name, value in self.sums.items()}
        scores = None if self.scores is None else np.concatenate([self.scores, other.scores])
        return MetricSums(sums, np.concatenate([self.signs, other.signs]), scores, self.k)

    def evaluation(self) -> Evaluation:
        """Return the metrics of all samples."""
        with _silence_undefined():
            return Evaluation(
                tuple(
                    self._evaluate_metric(metric, options)
                    for metric, options in _variants(self.k)
                    if metric.variant_name(options) in self.sums
                )
            )

    def _evaluate_metric(self, metric: Metric, options: dict[str, Any]) -> EvaluationRow:
        if metric.ranks_samples:
            return _evaluate_metric(metric, Labels(self.signs, np.array([-1, 1])), self.scores, options)
        name = metric.variant_name(options)
        sums, (n_observed, n_entries) = self.sums[name], self.sums["entries"]
        if metric.from_counts is None:
            return _row(metric, name, ratio(sums[0], sums[1]), sums[1], sums[2])
        terms = np.asarray(metric.from_counts(sums))
        value, n_defined = average_defined(terms, "mean", name), np.count_nonzero(~np.isnan(terms))
        used, total = (n_observed, n_entries) if metric.over == "entries" else (n_defined, terms.size)
        return _row(metric, name, value, used, total)


_VALUE_READERS: dict[str, Callable[..., Any]] = {
    "scores": read_scores,
    "predictions": read_predictions,
    "probabilities": read_probabilities,
}


def _sum_block(metric: Metric, labels: Labels, values: Any, options: dict[str, Any]) -> NDArray[Any]:
    """Return what determines the metric of several blocks, if it is added; nothing if it ranks all samples."""
    if metric.ranks_samples:
        return np.zeros(0)
    if metric.count is not None:
        return np.asarray(metric.count(*_VALUE_READERS[metric.needs](labels, values)))
    terms = metric.function(labels, values, average=None, **options)
    return np.array([np.nansum(terms), np.count_nonzero(~np.isnan(terms)), terms.size])
