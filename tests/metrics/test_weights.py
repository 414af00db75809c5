"""Entry weights of metrics."""

import numpy as np
import pytest
import sklearn.metrics as sk

from spmld import MaskedLogistic, metrics
from spmld.metrics import evaluate
from spmld.metrics.registry import METRICS

WEIGHTED = [name for name, metric in METRICS.items() if metric.weighted]
every_weighted = pytest.mark.parametrize("name", WEIGHTED)


def case(name, seed, n=60, l=5):
    """Labels of which a third is missing, and tied scores, predictions or probabilities."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, l)) < 0.4).astype(float)
    Y[rng.random((n, l)) < 0.35] = np.nan
    values = rng.integers(0, 5, size=(n, l)) / 4
    return Y, (values > 0.5).astype(int) if METRICS[name].needs == "predictions" else values


def test_metrics_over_labels_and_entries_accept_weights():
    assert {name for name, metric in METRICS.items() if metric.over != "samples"} == set(WEIGHTED)


@every_weighted
def test_equal_weights_change_nothing(name):
    Y, values = case(name, 0)
    function = METRICS[name].function
    expected = pytest.approx(function(Y, values), abs=1e-12)
    for weights in (np.ones(Y.shape), np.full(len(Y), 0.3), np.ones(Y.shape, dtype=bool)):
        assert function(Y, values, entry_weight=weights) == expected


@every_weighted
def test_entries_of_weight_0_are_missing(name):
    Y, values = case(name, 1)
    function = METRICS[name].function
    weights = np.random.default_rng(0).integers(0, 2, size=Y.shape)
    expected = function(np.where(weights, Y, np.nan), values)
    assert function(Y, values, entry_weight=weights) == pytest.approx(expected, abs=1e-12)


@every_weighted
def test_integer_weights_are_repetitions(name):
    Y, values = case(name, 2)
    function = METRICS[name].function
    weights = np.random.default_rng(0).integers(0, 4, size=Y.shape)
    repeated = np.vstack([np.where(weights > i, Y, np.nan) for i in range(3)])
    weighted = function(Y, values, entry_weight=weights)
    assert weighted == pytest.approx(function(repeated, np.vstack([values] * 3)), abs=1e-12)
    assert weighted != pytest.approx(function(Y, values), abs=1e-6)


@pytest.mark.parametrize("ties", [True, False])
def test_one_label_agrees_with_scikit_learn(ties):
    rng = np.random.default_rng(0)
    y, p, w = rng.integers(0, 2, 200), rng.random(200), rng.random(200)
    p = np.round(p, 1) if ties else p
    pairs = {
        "macro_auc": sk.roc_auc_score,
        "micro_auc": sk.roc_auc_score,
        "macro_average_precision": sk.average_precision_score,
        "micro_average_precision": sk.average_precision_score,
        "brier_score": sk.brier_score_loss,
        "macro_f1": lambda y, p, **w: sk.f1_score(y, p > 0.5, **w),
        "hamming_loss": lambda y, p, **w: sk.hamming_loss(y, p > 0.5, **w),
    }
    for name, reference in pairs.items():
        values = p > 0.5 if METRICS[name].needs == "predictions" else p
        expected = reference(y, p, sample_weight=w)
        assert METRICS[name].function(y[:, None], values, entry_weight=w) == pytest.approx(expected, abs=1e-12), name


def logistic_data(n=20_000, l=6):
    """Return labels and their true probabilities, which are the scores of the best model."""
    rng = np.random.default_rng(0)
    scores = 3 * rng.normal(size=(n, l)) - np.linspace(0, 3, l)
    P = 1 / (1 + np.exp(-scores))
    return rng, (rng.random(P.shape) < P).astype(float), P


BIASED = {
    "features": ["hamming_loss", "log_loss", "brier_score", "micro_f1", "macro_f1", "macro_auc", "micro_auc"],
    "value": ["hamming_loss", "log_loss", "brier_score", "micro_f1", "macro_f1", "macro_average_precision"],
    "label": ["log_loss", "micro_f1", "micro_average_precision"],
}
UNBIASED = {"features": [], "value": ["macro_auc", "micro_auc"], "label": ["macro_auc", "macro_f1"]}


@pytest.mark.parametrize("kind", BIASED)
def test_inverse_propensities_correct_the_bias_of_missing_labels(kind):
    """The difference from the value on all entries is less than .005 with weights, and more than .015 without."""
    rng, Y, P = logistic_data()
    propensity = {
        "features": 0.1 + 0.8 * (2 * P - 1) ** 2,
        "value": np.where(Y == 1, 0.8, 0.2),
        "label": np.broadcast_to(np.linspace(0.15, 0.9, Y.shape[1]), Y.shape),
    }[kind]
    mask = rng.random(Y.shape) < propensity
    full = evaluate(Y, P, P > 0.5, P)
    plain = evaluate(Y, P, P > 0.5, P, mask)
    weighted = evaluate(Y, P, P > 0.5, P, mask, entry_weight=1 / propensity)
    assert {name for name in BIASED[kind] if abs(plain[name] - full[name]) < 0.015} == set()
    assert {name for name in UNBIASED[kind] if abs(plain[name] - full[name]) > 0.005} == set()
    assert {name for name in weighted if abs(weighted[name] - full[name]) > 0.005} == set()


def test_averages_over_labels_are_unbiased_if_labels_are_observed_at_different_rates():
    rng, Y, P = logistic_data()
    mask = rng.random(Y.shape) < np.linspace(0.15, 0.9, Y.shape[1])
    by_label = np.nanmean(metrics.log_loss(Y, P, mask, average=None), axis=0)
    assert by_label.mean() == pytest.approx(metrics.log_loss(Y, P), abs=0.005)
    assert metrics.log_loss(Y, P, mask) < metrics.log_loss(Y, P) - 0.01


def test_propensities_that_depend_on_the_features_can_be_estimated():
    """Samples with a large first feature are easier, and observed more often."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.5, 1.5, size=(40_000, 4))
    P = 1 / (1 + np.exp(-2 * np.exp(X[:, :1]) * X[:, 1:]))
    Y, mask = (rng.random(P.shape) < P).astype(float), rng.random(P.shape) < 1 / (1 + np.exp(-X[:, :1]))
    propensity = MaskedLogistic().fit(X, mask).predict_proba(X)
    full, plain = evaluate(Y, P, P > 0.5, P), evaluate(Y, P, P > 0.5, P, mask)
    weighted = evaluate(Y, P, P > 0.5, P, mask, entry_weight=1 / propensity)
    for name in ("hamming_loss", "log_loss", "brier_score", "micro_f1", "macro_auc"):
        assert abs(plain[name] - full[name]) > 0.015
        assert weighted[name] == pytest.approx(full[name], abs=0.005)


def test_evaluate_has_the_weighted_metrics_only():
    Y, P = case("log_loss", 4)
    W = np.random.default_rng(0).random(Y.shape).round()
    evaluation = evaluate(Y, P, P > 0.5, P, entry_weight=W)
    assert list(evaluation) == WEIGHTED
    assert evaluation["log_loss"] == metrics.log_loss(Y, P, entry_weight=W)
    assert evaluation["macro_auc"] == metrics.macro_auc(Y, P, entry_weight=W)
    (row,) = [row for row in evaluation.rows if row.name == "log_loss"]
    assert row.used == ((W > 0) & ~np.isnan(Y)).sum()


def test_weights_of_missing_entries_are_ignored():
    Y, P = case("log_loss", 5)
    W = np.random.default_rng(0).random(Y.shape)
    expected = metrics.log_loss(Y, P, entry_weight=W)
    for garbage in (np.nan, -1, np.inf):
        assert metrics.log_loss(Y, P, entry_weight=np.where(np.isnan(Y), garbage, W)) == expected


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((3, 2)), r"entry_weight must have shape \(60, 5\) or \(60,\), got \(3, 2\)"),
        (-np.ones((60, 5)), r"entry_weight must be in \[0, 1e\+15\] for observed labels, got values from -1 to 0"),
        (np.full((60, 5), np.nan), r"entry_weight must be in \[0, 1e\+15\] for observed labels"),
        ("much", "entry_weight must be an array of real numbers, got 'much'"),
    ],
)
def test_weights_are_validated(weights, message):
    Y, P = case("log_loss", 6)
    for function in (metrics.log_loss, metrics.macro_auc, lambda Y, P, **w: evaluate(Y, P, **w)):
        with pytest.raises(ValueError, match=message):
            function(Y, P, entry_weight=weights)
