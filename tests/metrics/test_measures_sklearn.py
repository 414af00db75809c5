"""With nothing missing a measure equals scikit-learn's, wherever it is defined."""

import numpy as np
import pytest
import sklearn.metrics as sk
from hypothesis import given, settings
from hypothesis import strategies as st

from spmld import metrics


@st.composite
def complete_cases(draw):
    """Labels and tied scores in which every row and every column holds both a positive and a negative."""
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
    "instance_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="samples"),
    "macro_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="macro"),
    "micro_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="micro"),
    "label_ranking_average_precision": sk.label_ranking_average_precision_score,
    "macro_average_precision": lambda Y, S: sk.average_precision_score(Y, S, average="macro"),
}
DECISIONS = {
    "instance_f1": lambda Y, P: sk.f1_score(Y, P, average="samples", zero_division=np.nan),
    "macro_f1": lambda Y, P: sk.f1_score(Y, P, average="macro", zero_division=np.nan),
    "micro_f1": lambda Y, P: sk.f1_score(Y, P, average="micro", zero_division=np.nan),
}


@pytest.mark.parametrize("name", RANKING)
@settings(max_examples=60, deadline=None)
@given(case=complete_cases())
def test_ranking_measures(name, case):
    Y, S = case
    assert getattr(metrics, name)(Y, S) == pytest.approx(RANKING[name](Y, S), abs=1e-12)


@pytest.mark.parametrize("name", DECISIONS)
@settings(max_examples=60, deadline=None)
@given(case=complete_cases(), threshold=st.sampled_from([-0.5, 0.0, 0.5, 2.0]))
def test_decision_measures(name, case, threshold):
    Y, S = case
    P = (threshold < S).astype(int)
    assert getattr(metrics, name)(Y, P) == pytest.approx(DECISIONS[name](Y, P), abs=1e-12)
