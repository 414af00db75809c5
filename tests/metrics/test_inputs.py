"""Accepted forms of labels, scores, predictions and probabilities, and errors for the others."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning

from spmld import metrics

Y = np.array([[1, 0, np.nan], [0, 1, 1], [1, 0, 0]])
S = np.array([[0.2, 0.5, 0.4], [0.1, 0.9, 0.3], [0.8, 0.6, 0.7]])
P = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 0]])
LOSS = 1 / 3  # one of the five pairs is incorrect, the only pair of the first sample


def test_scores_in_any_container():
    torch = pytest.importorskip("torch")
    assert metrics.ranking_loss(Y, S) == pytest.approx(LOSS)
    tensor = torch.tensor(S, requires_grad=True)
    for scores in (S.tolist(), pd.DataFrame(S), pd.DataFrame(S).astype(object), tensor, np.asfortranarray(S)):
        assert metrics.ranking_loss(Y, scores) == pytest.approx(LOSS)
    assert metrics.ranking_loss(pd.DataFrame(Y, columns=list("abc")), S) == pytest.approx(LOSS)
    assert metrics.ranking_loss(torch.tensor(Y), S) == pytest.approx(LOSS)


@pytest.mark.parametrize("write", [np.asarray, lambda P: 2 * P - 1, lambda P: P == 1, sp.csr_matrix, pd.DataFrame])
def test_predictions_in_any_encoding(write):
    expected = [2 / 3, 2 / 3, 1]
    np.testing.assert_allclose(metrics.sample_f1(Y, write(P), average=None), expected)
    np.testing.assert_allclose(metrics.sample_f1(2 * Y - 1, write(P), average=None), expected)


def test_constant_predictions():
    for negative in (np.zeros((3, 3)), -np.ones((3, 3)), np.zeros((3, 3), bool)):
        assert metrics.hamming_loss(Y, negative) == 4 / 8
    assert metrics.hamming_loss(Y, np.ones((3, 3))) == 4 / 8
    assert metrics.hamming_loss(np.ones((2, 2)), np.ones((2, 2), int)) == 0


def test_entries_not_stored_in_sparse_labels_are_negative():
    assert metrics.hamming_loss(sp.csr_matrix(np.nan_to_num(Y)), sp.csr_matrix(P)) == pytest.approx(2 / 9)


def test_one_label_as_a_vector():
    y, p = np.array([1, 0, 0, 1]), np.array([0.9, 0.6, 0.2, 0.4])
    expected = np.mean((y - p) ** 2)
    for probabilities in (p, p[:, None], np.column_stack([1 - p, p])):
        assert metrics.brier_score(y, probabilities) == pytest.approx(expected)
    assert metrics.macro_auc(y, p) == 3 / 4
    assert metrics.macro_auc([1, None, 0, 1], p) == 1


def test_one_label_with_other_values():
    """If the classes are 1 and 2, predictions that are all 1 are negative."""
    assert metrics.hamming_loss([1, 2, 2, 1], [1, 1, 1, 1]) == 2 / 4
    assert metrics.hamming_loss(["no", "yes", "yes", "no"], np.array(["no", "yes", "no", "no"])) == 1 / 4
    assert metrics.hamming_loss([1, 2, 2, 1], [False, True, True, True]) == 1 / 4
    with pytest.raises(ValueError, match=r"predictions must be bool or have the values of Y_true, \[1, 2\]"):
        metrics.hamming_loss([1, 2, 2, 1], [0, 1, 1, 0])


def test_probabilities_as_a_list_of_labels():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(20, 2)), rng.integers(0, 2, size=(20, 3))
    per_label = RandomForestClassifier(3, random_state=0).fit(X, labels).predict_proba(X)
    expected = np.mean([(labels[:, j] - per_label[j][:, 1]) ** 2 for j in range(3)])
    assert metrics.brier_score(labels, per_label) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ranking_loss(Y, S[:2]), r"scores must have the shape of Y_true, \(3, 3\), got \(2, 3\)"),
        (lambda: metrics.ranking_loss(Y, S[:, :1]), r"scores must have the shape .* got \(3, 1\)"),
        (
            lambda: metrics.ranking_loss(Y, np.where(S > 0.8, np.nan, S)),
            "scores must not contain NaN, .* 1 NaN .* 9",
        ),
        (
            lambda: metrics.coverage(Y, np.where(np.isnan(Y), np.nan, S)),
            "scores must not contain NaN, .* 1 NaN .* 9",
        ),
        (lambda: metrics.macro_auc(Y, [["a"] * 3] * 3), "scores must be real numbers"),
        (lambda: metrics.macro_auc(Y, S * 1j), "scores must be real numbers, got dtype complex"),
        (lambda: metrics.macro_auc(Y, np.ma.masked_array(S, S > 0.5)), "scores must not contain missing entries"),
        (
            lambda: metrics.macro_auc(Y, [[1, 2, 3], [1, 2], [3, 4, 5]]),
            "scores must have the same number of labels in each row",
        ),
        (lambda: metrics.macro_f1(Y, S), "predictions has values other than labels: 0.1.* threshold"),
        (lambda: metrics.hamming_loss(Y, [[1, 0, -1]] * 3), "predictions contains -1, 0 and 1"),
        (
            lambda: metrics.hamming_loss(Y, [[1, 0, None]] * 3),
            "predictions must not contain missing entries, got 3 among 9",
        ),
        (lambda: metrics.log_loss(Y, 2 * S), r"probabilities must be in \[0, 1\], got values from 0.2 to 1.8"),
        (lambda: metrics.brier_score(Y, S - 0.5), r"probabilities must be in \[0, 1\], got values from -0.4 to 0.4"),
        (lambda: metrics.precision_at_k(Y, S, k=0), "k must be an integer of at least 1, got 0"),
        (lambda: metrics.recall_at_k(Y, S, k=1.5), "k must be an integer of at least 1, got 1.5"),
        (lambda: metrics.ranking_loss(Y, S, average="macro"), "average must be \"mean\" or None, got 'macro'"),
        (lambda: metrics.ranking_loss(S, S), "Y_true has values other than labels"),
        (lambda: metrics.ranking_loss(Y, S, mask=[[True, False]]), "mask must have the shape"),
        (lambda: metrics.evaluate(Y), "at least one of scores, predictions and probabilities"),
        (lambda: metrics.scorer("accuracy"), "metric must be one of ranking_loss, .* got 'accuracy'"),
        (lambda: metrics.scorer("precision_at_0"), "k must be an integer of at least 1, got 0"),
    ],
)
def test_invalid_input_raises(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_infinite_scores_are_accepted():
    infinite = np.where(S > 0.6, np.inf, np.where(S < 0.3, -np.inf, S))
    assert metrics.ranking_loss([[1, 0, None]], [[np.inf, -np.inf, -np.inf]]) == 0
    assert metrics.ranking_loss(Y, infinite) == pytest.approx((1 + 0 + 1 / 2) / 3)  # 0.8 and 0.7 are tied now


@pytest.mark.parametrize("name", ["ranking_loss", "macro_auc", "micro_auc", "coverage", "ndcg_at_k", "one_error"])
def test_undefined_metric_is_nan_with_a_warning(name):
    metric = metrics.registry.METRICS[name].function
    with pytest.warns(UndefinedMetricWarning, match=f"{name} is undefined for all"):
        assert np.isnan(metric(np.zeros((2, 3)), S[:2]))


def test_labels_without_an_observed_entry_raise():
    with pytest.raises(ValueError, match="Y_true has no observed entry"):
        metrics.ranking_loss(Y, S, mask=np.zeros((3, 3), bool))


def test_the_warning_of_an_undefined_metric_points_to_the_call():
    with pytest.warns(UndefinedMetricWarning) as caught:
        metrics.ranking_loss([[1, 1]], [[0.5, 0.1]])
    assert caught[0].filename == __file__
