"""Sums over row blocks give the metrics of all samples."""

from itertools import pairwise

import numpy as np
import pytest

from spmld.labels import read_labels
from spmld.metrics import evaluate
from spmld.metrics.evaluation import MetricSums

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(200, 6)).round(1)  # with ties
Y = np.where(RNG.random(SCORES.shape) < 0.2, np.nan, SCORES + RNG.normal(size=SCORES.shape) > 0.5)
Y[:7] = np.nan  # a block without observed entries
Y[7:60, 3] = 0
P, PREDICTIONS = 1 / (1 + np.exp(-SCORES)), SCORES > 0.3
EDGES = [0, 7, 8, 150, 200]


def sums(edges=EDGES, **values):
    labels = read_labels(Y)
    blocks = [slice(a, b) for a, b in pairwise(edges)]
    options = {name: value for name, value in values.items() if name == "k"}
    arrays = {name: value for name, value in values.items() if name != "k"}
    parts = [MetricSums.of(labels[s], **{name: A[s] for name, A in arrays.items()}, **options) for s in blocks]
    return sum(parts[1:], parts[0])


@pytest.mark.parametrize(
    "values",
    [
        {"scores": SCORES, "predictions": PREDICTIONS, "probabilities": P},
        {"scores": SCORES, "k": 2},
        {"predictions": PREDICTIONS},
        {"probabilities": P},
    ],
    ids=lambda values: " ".join(values),
)
def test_the_sum_over_blocks_is_the_evaluation_of_all_samples(values):
    result, expected = sums(**values).evaluation(), evaluate(Y, **values)
    assert [row.name for row in result.rows] == [row.name for row in expected.rows]
    for a, b in zip(result.rows, expected.rows, strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-12, nan_ok=True)
        assert (a.used, a.left_out, a.over, a.better) == (b.used, b.left_out, b.over, b.better)


def test_undefined_metrics_are_nan():
    labels = read_labels(np.where(np.arange(6)[:, None] < 3, 0.0, np.nan) * np.ones((6, 2)))
    values = {"scores": SCORES[:6, :2], "predictions": PREDICTIONS[:6, :2] & False}
    result, expected = MetricSums.of(labels, **values).evaluation(), evaluate(labels, **values)
    assert [row.used for row in result.rows] == [row.used for row in expected.rows]
    assert np.isnan(result["micro_f1"])
    assert result["hamming_loss"] == 0


def test_ranking_metrics_are_those_of_the_sample():
    labels = read_labels(Y)
    part = MetricSums.of(labels, scores=SCORES, rows=slice(0, None, 2)).evaluation()
    assert part["macro_auc"] == evaluate(labels[::2], SCORES[::2])["macro_auc"]
    assert part["ranking_loss"] == pytest.approx(evaluate(labels, SCORES)["ranking_loss"])
