"""Properties that hold for every metric."""

import numpy as np
import pytest

from spmld._arrays import CACHE
from spmld.metrics.registry import METRICS

AT_K = [name for name, metric in METRICS.items() if name.endswith("_at_k")]
every_metric = pytest.mark.parametrize("name", METRICS)


def compute(name, Y, values, mask=None, **options):
    metric = METRICS[name]
    if name.endswith("_at_k"):
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
def test_perfect_and_opposite_predictions_have_extreme_values(name):
    metric, Y = METRICS[name], np.array([[1, 0, 0, 0], [0, 1, 0, 0], [np.nan, 0, 1, 0]])
    truth = np.nan_to_num(Y)
    options = {"k": 1} if name.endswith("_at_k") else {}
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


@every_metric
def test_copies_of_all_samples_do_not_matter(name):
    Y, values = case(name, 7)
    copies = (CACHE // Y.size + 2, 1)  # they are computed in several blocks
    assert compute(name, np.tile(Y, copies), np.tile(values, copies)) == pytest.approx(compute(name, Y, values))
