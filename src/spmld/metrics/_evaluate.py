"""All metrics at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from spmld._table import TextTable
from spmld.labels import Labels, read_labels
from spmld.metrics._base import average_defined
from spmld.metrics._registry import METRICS, Metric

_COLUMNS = ("metric", "value", "better", "over", "used", "left out")


@dataclass(frozen=True)
class Row:
    """One metric: its value, whether higher or lower is better, what it was averaged over and how many of them."""

    name: str
    value: float
    better: str
    over: str
    used: int
    left_out: int


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[str, float]):
    """Values of metrics by name, with how many samples, labels or entries each used and left out.

    Attributes
    ----------
    rows : tuple of Row
        One for each metric, with `name`, `value`, `better`, `over`, `used` and `left_out`.

    Examples
    --------
    >>> from spmld.metrics import evaluate
    >>> found = evaluate([[1, 0], [0, 1]], predictions=[[1, 0], [1, 1]])
    >>> found["hamming_loss"], found.rows[0].used
    (0.25, 4)
    """

    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> float:
        return self.to_dict()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, float]:
        """Values by name."""
        return {row.name: row.value for row in self.rows}

    def to_frame(self) -> Any:
        """Everything as a pandas DataFrame with a row for each metric."""
        import pandas as pd  # not a requirement of the package

        return pd.DataFrame(list(map(astuple, self.rows)), columns=list(_COLUMNS)).set_index("metric")

    def _cells(self) -> list[tuple[str, ...]]:
        return [
            (row.name, f"{row.value:.4f}", row.better, row.over, str(row.used), str(row.left_out)) for row in self.rows
        ]

    def __str__(self) -> str:
        cells = [_COLUMNS, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        numbers = {1, 4, 5}
        return "\n".join(
            "  ".join(
                cell.rjust(width) if place in numbers else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in cells
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return TextTable(_COLUMNS, list(self._cells())).to_html()


def evaluate(
    Y_true: Any,
    scores: Any = None,
    predictions: Any = None,
    probabilities: Any = None,
    mask: Any = None,
    k: int | Iterable[int] = (1, 3, 5),
    propensities: Any = None,
) -> Evaluation:
    """All metrics that what is given allows.

    Parameters
    ----------
    Y_true : labels in any form of `spmld.labels.read_labels`
        True labels.
    scores : array-like of shape (n_samples, n_labels), optional
        Scores, higher for labels held more likely. Probabilities, if given, serve in their place.
    predictions : array-like or sparse matrix of shape (n_samples, n_labels), optional
        Predicted labels as 0/1, -1/+1 or bool.
    probabilities : array-like of shape (n_samples, n_labels), optional
        Probabilities that labels are positive.
    mask : array-like of bool of the same shape, optional
        True where a label is observed.
    k : int or several
        How many labels the metrics "at k" look at.
    propensities : array-like of shape (n_labels,), optional
        Propensities, without which there is no propensity-scored precision.

    Returns
    -------
    Evaluation
        Values by name. It prints as a table and converts with `to_dict` and `to_frame`.

    Examples
    --------
    >>> from spmld.metrics import evaluate
    >>> result = evaluate([[1, 0, None], [0, 1, 1], [0, 0, 0]], predictions=[[1, 1, 1], [0, 1, 1], [0, 0, 0]])
    >>> print(result)
    metric           value  better  over       used  left out
    hamming_loss     0.1250  lower   entries       8         1
    subset_accuracy  0.6667  higher  samples     3         0
    sample_f1      0.8333  higher  samples     2         1
    macro_f1         0.8889  higher  labels        3         0
    micro_f1         0.8571  higher  entries       8         1
    >>> result["subset_accuracy"]
    0.6666666666666666
    """
    given = {
        "scores": probabilities if scores is None else scores,
        "predictions": predictions,
        "probabilities": probabilities,
    }
    if all(value is None for value in given.values()):
        raise ValueError("evaluate needs at least one of scores, predictions and probabilities, got none")
    labels = read_labels(Y_true, mask, name="Y_true")
    rows = []
    for metric in METRICS.values():
        if given[metric.needs] is None or ("propensities" in metric.options and propensities is None):
            continue
        options = {"propensities": propensities} if "propensities" in metric.options else {}
        if "k" not in metric.options:
            rows.append(_row(metric, metric.name, labels, given[metric.needs], options))
            continue
        for at in [k] if isinstance(k, int | np.integer) else k:
            name = f"{metric.name.removesuffix('k')}{at}"
            rows.append(_row(metric, name, labels, given[metric.needs], {**options, "k": at}))
    return Evaluation(tuple(rows))


def _row(metric: Metric, name: str, labels: Labels, judged: Any, options: dict[str, Any]) -> Row:
    """The value of a metric and its counts; a value of NaN with nothing used says enough, and needs no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        if metric.over == "entries":
            value = metric.function(labels, judged, **options)
            total, used = labels.signs.size, 0 if np.isnan(value) else np.count_nonzero(labels.signs)
        else:
            values = metric.function(labels, judged, average=None, **options)
            value = average_defined(values, "mean", name)
            total, used = values.size, np.count_nonzero(~np.isnan(values))
    return Row(name, float(value), metric.better, metric.over, int(used), int(total - used))
