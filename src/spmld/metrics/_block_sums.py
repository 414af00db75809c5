"""Metrics of samples in row blocks, as sums over the blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.labels import Labels
from spmld.metrics._averaging import average_defined, ratio
from spmld.metrics._evaluate import Evaluation, EvaluationRow, evaluate_metric, silence_undefined, variants
from spmld.metrics._inputs import Signs, read_predictions, read_probabilities
from spmld.metrics._predictions import count_predictions, f1_of_counts
from spmld.metrics._probabilities import calibration_error, count_bins
from spmld.metrics._registry import METRICS, Metric

Values = dict[str, Any]
"""Scores, predictions and probabilities by name; None if there are none."""


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
    >>> from spmld.metrics import MetricSums
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
        scores = probabilities if scores is None else scores
        values: Values = {"scores": scores, "predictions": predictions, "probabilities": probabilities}
        ks = (k,) if isinstance(k, int | np.integer) else tuple(k)
        sums = {"entries": np.array([np.count_nonzero(labels.signs), labels.signs.size])}
        with silence_undefined():
            for name, metric, options in _chosen(values, ks):
                sums[name] = _block_sums(metric, labels, values[metric.needs], options)
        return cls(sums, labels.signs[rows], None if scores is None else np.asarray(scores)[rows], ks)

    def __add__(self, other: "MetricSums") -> "MetricSums":
        sums = {name: value + other.sums[name] for name, value in self.sums.items()}
        scores = None if self.scores is None else np.concatenate([self.scores, other.scores])
        return MetricSums(sums, np.concatenate([self.signs, other.signs]), scores, self.k)

    def evaluation(self) -> Evaluation:
        """Return the metrics of all samples."""
        values = {need: None if name not in self.sums else True for need, name in _PRESENT.items()}
        sample = Labels(self.signs, np.array([-1, 1]))
        with silence_undefined():
            return Evaluation(
                tuple(
                    evaluate_metric(metric, sample, self.scores, options)
                    if metric.name in RANKING
                    else self._row(name, metric)
                    for name, metric, options in _chosen(values, self.k)
                )
            )

    def _row(self, name: str, metric: Metric) -> EvaluationRow:
        sums, (n_observed, n_entries) = self.sums[name], self.sums["entries"]
        if name in ("macro_f1", "micro_f1"):
            terms = f1_of_counts(sums if name == "macro_f1" else sums.sum(axis=1))
            value, macro = average_defined(terms, "mean", name), name == "macro_f1"
            total, used = (terms.size, np.count_nonzero(~np.isnan(terms))) if macro else (n_entries, n_observed)
        elif name == "expected_calibration_error":
            value, total, used = calibration_error(sums), n_entries, n_observed
        else:
            value, used, total = float(ratio(sums[0], sums[1])), sums[1], sums[2]
        used = 0 if np.isnan(value) else used
        return EvaluationRow(name, float(value), metric.better, metric.over, int(used), int(total - used))


RANKING = ("macro_auc", "micro_auc", "macro_average_precision", "micro_average_precision")
"""Metrics that depend on the order of all samples."""
_PRESENT = {"scores": "ranking_loss", "predictions": "hamming_loss", "probabilities": "log_loss"}
"""A metric that is computed from each of the values."""


def _chosen(values: Values, ks: tuple[int, ...]) -> Iterator[tuple[str, Metric, dict[str, Any]]]:
    """Yield the name of each metric whose values are given, the metric, and its options."""
    for metric in METRICS.values():
        if values[metric.needs] is not None and "propensities" not in metric.options:
            for options in variants(metric, ks):
                yield metric.variant_name(options), metric, options


def _block_sums(metric: Metric, labels: Labels, values: Any, options: dict[str, Any]) -> NDArray[Any]:
    if metric.name in RANKING:
        return np.zeros(0)
    if metric.name in ("macro_f1", "micro_f1"):
        return count_predictions(*read_predictions(labels, values), axis=0)
    if metric.name == "expected_calibration_error":
        return count_bins(*read_probabilities(labels, values))
    terms = metric.function(labels, values, average=None, **options)
    return np.array([np.nansum(terms), np.count_nonzero(~np.isnan(terms)), terms.size])
