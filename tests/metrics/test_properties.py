"""Properties that hold for every metric."""

import math
from inspect import signature

import numpy as np
import pytest

from spmld import metrics
from spmld.metrics import _averaging
from spmld.metrics.registry import METRICS

AT_K = [name for name, metric in METRICS.items() if "k" in metric.options]
every_metric = pytest.mark.parametrize("name", METRICS)


def compute(name, Y, values, mask=None, **options):
    metric = METRICS[name]
    if "k" in metric.options:
        options["k"] = 3
    return metric.function(Y, values, mask, **options)


def case(name, seed, n=40):
    """Labels of which a third is missing, and tied scores, predictions or probabilities."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, 6)) < 0.4).astype(float)
    Y[rng.random((n, 6)) < 0.35] = np.nan
    values = rng.integers(0, 5, size=(n, 6)) / 4
    return Y, (values > 0.5).astype(int) if METRICS[name].needs == "predictions" else values


@every_metric
def test_values_of_missing_entries_are_ignored(name):
    Y, values = case(name, 0)
    observed, expected = ~np.isnan(Y), compute(name, Y, values)
    rng = np.random.default_rng(1)
    for garbage in (np.zeros(Y.shape), np.ones(Y.shape), rng.normal(size=Y.shape), np.full(Y.shape, np.inf)):
        assert compute(name, np.where(observed, Y, garbage), values, mask=observed) == expected
    for other in (np.zeros(Y.shape, int), np.ones(Y.shape, int), 1 - values):
        assert compute(name, Y, np.where(observed, values, other)) == expected


@every_metric
def test_values_of_observed_entries_matter(name):
    Y, values = case(name, 0)
    assert compute(name, np.where(np.isnan(Y), Y, 1 - Y), values) != compute(name, Y, values)


@every_metric
def test_the_order_of_samples_does_not_matter(name):
    Y, values = case(name, 2)
    shuffled = np.random.default_rng(0).permutation(len(Y))
    assert compute(name, Y[shuffled], values[shuffled]) == pytest.approx(compute(name, Y, values), abs=1e-12)


@every_metric
def test_the_order_of_labels_does_not_matter(name):
    Y, values = case(name, 3)
    if name in (*AT_K, "one_error"):  # these break ties by column
        values = np.random.default_rng(5).normal(size=Y.shape)
    columns = np.random.default_rng(1).permutation(6)
    expected = pytest.approx(compute(name, Y, values), abs=1e-12)
    assert compute(name, Y[:, columns], values[:, columns]) == expected


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.needs == "scores"])
def test_only_the_order_of_scores_matters(name):
    Y, scores = case(name, 4)
    assert compute(name, Y, np.exp(3 * scores) - 7) == compute(name, Y, scores)


@every_metric
def test_perfect_and_opposite_predictions_have_extreme_values(name):
    metric, Y = METRICS[name], np.array([[1, 0, 0, 0], [0, 1, 0, 0], [np.nan, 0, 1, 0]])
    truth = np.nan_to_num(Y)
    options = {"k": 1} if "k" in metric.options else {}
    best, worst = metric.function(Y, truth, **options), metric.function(Y, 1 - truth, **options)
    low, high = metric.range
    if name == "coverage":  # the positive of each sample is ranked first, or last among the observed
        assert (best, worst) == (0, pytest.approx((3 + 3 + 2) / 3))
    elif name.endswith("average_precision"):
        assert best == high
        assert low < worst < high
    else:
        expected = (high, low) if metric.greater_is_better else (low, high)
        assert (best, worst) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", [n for n, m in METRICS.items() if "average" in signature(m.function).parameters])
def test_the_value_is_the_mean_of_the_defined_terms(name):
    Y, values = case(name, 6, n=30)
    Y[:3], Y[3:6] = np.nan, 0
    terms = compute(name, Y, values, average=None)
    shape = {"samples": (30,), "labels": (6,), "entries": (30, 6)}[METRICS[name].over]
    assert terms.shape == shape
    assert compute(name, Y, values) == pytest.approx(np.nanmean(terms), abs=1e-12)


@every_metric
def test_the_block_size_does_not_matter(name, monkeypatch):
    Y, values = case(name, 7)
    expected = compute(name, Y, values)
    monkeypatch.setattr(_averaging, "CACHE", 25)
    assert compute(name, Y, values) == pytest.approx(expected, abs=1e-14)


def test_a_case_by_hand():
    """A sample with labels + - + missing - and a tie between the second positive and the first negative."""
    Y, S = [[1, 0, 1, None, 0]], [[0.9, 0.4, 0.4, 1.0, 0.1]]
    assert metrics.ranking_loss(Y, S) == 1 / 4
    assert metrics.sample_auc(Y, S) == 1 - 0.5 / 4
    assert metrics.coverage(Y, S) == 2
    assert metrics.label_ranking_average_precision(Y, S) == pytest.approx((1 + 2 / 3) / 2)
    assert metrics.one_error(Y, S) == 0
    assert metrics.precision_at_k(Y, S, k=2) == 1 / 2  # the tie is broken in favor of the earlier column, a negative
    assert metrics.recall_at_k(Y, S, k=3) == 1
    assert metrics.ndcg_at_k(Y, S, k=3) == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
