"""Without missing labels, metrics agree with scikit-learn's wherever they are defined."""

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from spmld import metrics


@st.composite
def complete_cases(draw):
    """Labels and tied scores in which every sample and every label has a positive and a negative."""
    n, l = draw(st.integers(0, 6)), draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Y = (rng.random((n, l)) < rng.uniform(0.1, 0.9)).astype(int)
    Y[:, :2] = rng.permuted(np.tile([0, 1], (n, 1)), axis=1)
    Y = np.vstack([Y, np.eye(l, dtype=int), 1 - np.eye(l, dtype=int)])
    levels = draw(st.sampled_from([2, 4, 1000]))
    return Y, rng.integers(-levels, levels, size=Y.shape) / levels


RANKING = {
    "ranking_loss": sk.label_ranking_loss,
    "coverage": lambda Y, S: sk.coverage_error(Y, S) - 1,
    "sample_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="samples"),
    "macro_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="macro"),
    "micro_average_precision": lambda Y, S: sk.average_precision_score(Y, S, average="micro"),
    "micro_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="micro"),
    "label_ranking_average_precision": sk.label_ranking_average_precision_score,
    "macro_average_precision": lambda Y, S: sk.average_precision_score(Y, S, average="macro"),
}
PREDICTIONS = {
    "sample_f1": lambda Y, P: sk.f1_score(Y, P, average="samples", zero_division=np.nan),
    "macro_f1": lambda Y, P: sk.f1_score(Y, P, average="macro", zero_division=np.nan),
    "micro_f1": lambda Y, P: sk.f1_score(Y, P, average="micro", zero_division=np.nan),
    "hamming_loss": sk.hamming_loss,
    "subset_accuracy": sk.accuracy_score,
}
PROBABILITIES = {
    "log_loss": lambda y, p: sk.log_loss(y, p, labels=[0, 1]),
    "brier_score": sk.brier_score_loss,
}


@pytest.mark.parametrize("name", RANKING)
@given(case=complete_cases())
def test_ranking_metrics(name, case):
    Y, S = case
    assert getattr(metrics, name)(Y, S) == pytest.approx(RANKING[name](Y, S), abs=1e-12)


@pytest.mark.parametrize("name", PREDICTIONS)
@given(case=complete_cases(), threshold=st.sampled_from([-0.5, 0.0, 0.5, 2.0]))
def test_prediction_metrics(name, case, threshold):
    Y, S = case
    P = (threshold < S).astype(int)
    assert getattr(metrics, name)(Y, P) == pytest.approx(PREDICTIONS[name](Y, P), abs=1e-12)


@pytest.mark.parametrize("name", PROBABILITIES)
@given(case=complete_cases())
def test_probability_metrics(name, case):
    Y, P = case[0], np.abs(case[1])
    expected = [PROBABILITIES[name](y, p) for y, p in zip(Y.T, P.T, strict=True)]
    by_label = getattr(metrics, name)(Y, P, average=None).mean(axis=0)
    np.testing.assert_allclose(by_label, expected, rtol=0, atol=1e-12)
    assert getattr(metrics, name)(Y, P) == pytest.approx(np.mean(expected), abs=1e-12)


@given(case=complete_cases(), n_bins=st.integers(1, 7))
def test_reliability_curve(case, n_bins):
    Y, P = case[0], np.abs(case[1]) + 1e-9  # scikit-learn puts a probability at the edge of two bins into the lower one
    P = np.minimum(P, 1)
    mean_probability, positive_fraction, counts = metrics.probabilities.reliability_curve(Y, P, n_bins=n_bins)
    expected = calibration_curve(Y.ravel(), P.ravel(), n_bins=n_bins)
    np.testing.assert_allclose([positive_fraction, mean_probability], expected)
    assert counts.sum() == Y.size


@pytest.mark.parametrize("k", [1, 3, 20])
@given(case=complete_cases(), seed=st.integers(0, 1000))
def test_ndcg_without_ties(k, case, seed):
    # With ties the two differ by design: scikit-learn averages over all orders, spmld breaks ties by column.
    Y = case[0]
    S = np.random.default_rng(seed).permuted(np.tile(np.arange(Y.shape[1]), (len(Y), 1)), axis=1)
    assert metrics.ndcg_at_k(Y, S, k=k) == pytest.approx(sk.ndcg_score(Y, S, k=k), abs=1e-12)
