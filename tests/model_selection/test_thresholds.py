"""Decisions: the largest expected F1 of all, the lowest expected cost, and exactly k labels."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from spmld.metrics import macro_f1, micro_f1, sample_f1
from spmld.model_selection import DecisionRule
from spmld.model_selection.thresholds import f1_thresholds, top_k_margins

from .classifier_cases import scores_and_signs

DECISIONS = ["f1", "micro_f1", "macro_f1", "sample_f1", 0.3, 2]


@st.composite
def probabilities(draw):
    n, l = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    entry = draw(st.sampled_from([st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.5, 1.0])]))
    return np.array(draw(st.lists(entry, min_size=n * l, max_size=n * l))).reshape(n, l)


def expected_f1(p, chosen):
    return 2 * p[chosen].sum() / max(chosen.sum() + p.sum(), 1)


def best_expected_f1(p):
    """The largest expected F1 of all sets of entries."""
    return max(expected_f1(p, np.array(chosen)) for chosen in product([False, True], repeat=len(p)))


@given(probabilities())
def test_f1_decisions_have_the_largest_expected_f1_of_all_sets(P):
    thresholds = f1_thresholds(P, axis=0)
    for p, threshold in zip(P.T, thresholds, strict=True):
        assert expected_f1(p, p > threshold) == pytest.approx(2 * threshold, abs=1e-12)
        assert 2 * threshold == pytest.approx(best_expected_f1(p), abs=1e-12)
    assert_allclose(f1_thresholds(P.T, axis=1), thresholds)
    if P.size <= 12 and P.shape[1] > 1:
        micro = DecisionRule(decision="micro_f1", max_ratio=1e9).fit(np.tile(P, (100, 1)))
        assert expected_f1(P.ravel(), micro.positive(P).ravel()) == pytest.approx(
            best_expected_f1(P.ravel()), abs=1e-12
        )
        assert_array_equal(micro.thresholds_, micro.thresholds_[0])


def draw_labels(n, frequencies, seed=0):
    """Calibrated probabilities of labels with the given frequencies, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    P = expit(2 * rng.normal(size=(n, len(frequencies))) + np.log(frequencies / (1 - frequencies)))
    return P, rng.random(P.shape) < P


def test_decisions_are_the_best_of_their_kind_on_labels_drawn_from_the_probabilities():
    P, Y = draw_labels(20_000, np.geomspace(0.4, 0.01, 12))
    average = {"micro_f1": micro_f1, "macro_f1": macro_f1, "sample_f1": sample_f1}
    f1 = {}
    for decision in ("f1", *average, 0.5):
        predicted = DecisionRule(decision=decision).fit(P).positive(P)
        f1[decision] = {name: metric(Y, predicted) for name, metric in average.items()}
    for name in average:
        best = max(values[name] for values in f1.values())
        assert f1[name][name] == best
        assert f1[0.5][name] < f1["f1"][name]
        assert f1["f1"][name] > best - 0.02
    for threshold in np.linspace(0.02, 0.9, 23):
        assert micro_f1(Y, threshold < P) < f1["micro_f1"]["micro_f1"] + 0.002


def test_the_number_of_predicted_labels_is_close_to_the_truth_with_many_rare_labels():
    frequencies = np.r_[np.full(10, 0.2), np.full(150, 0.002)]
    P, Y = draw_labels(300, frequencies)
    for decision in ("f1", "micro_f1", "macro_f1"):
        predicted = DecisionRule(decision=decision).fit(P).positive(P).sum()
        assert 0.75 * Y.sum() < predicted < 1.5 * Y.sum()


def test_thresholds_of_rare_labels_are_shrunk_to_the_common_one():
    P, _ = draw_labels(5000, np.array([0.4, 0.3, 0.2]))
    P = np.column_stack([P, np.zeros(5000), np.full(5000, 1e-9)])
    rule, common = DecisionRule(decision="macro_f1").fit(P), DecisionRule(decision="micro_f1").fit(P).thresholds_[0]
    assert_allclose(rule.thresholds_[3:], common, rtol=1e-4)
    assert_allclose(rule.thresholds_[:3], f1_thresholds(P, axis=0)[:3], rtol=1e-3)
    order = [4, 2, 0, 3, 1]
    assert_allclose(DecisionRule(decision="macro_f1").fit(P[:, order]).thresholds_, rule.thresholds_[order])


def test_the_threshold_of_a_sample_tends_to_the_common_one_if_it_has_no_positive():
    P, _ = draw_labels(200, np.array([0.4, 0.2, 0.05]))
    rule = DecisionRule(decision="sample_f1", max_ratio=1e9).fit(P)
    common = DecisionRule(decision="micro_f1", max_ratio=1e9).fit(P).thresholds_[0]
    sure, empty = np.array([[1.0, 0.6, 0.1]]), np.array([[1e-9, 2e-9, 0.0]])
    assert_allclose(sure - rule.margins(sure), f1_thresholds(sure, axis=1)[0])
    assert_allclose(empty - rule.margins(empty), common, rtol=1e-6)
    half = np.array([[0.5, 0.0, 0.0]])
    assert_allclose(half - rule.margins(half), (1 / 3 + common) / 2)


def test_the_default_is_the_mean_of_the_thresholds_of_labels_and_samples():
    P, _ = draw_labels(200, np.array([0.4, 0.2, 0.05]))
    of_labels = DecisionRule(decision="macro_f1", max_ratio=1e9).fit(P)
    margins = (of_labels.margins(P) + DecisionRule(decision="sample_f1", max_ratio=1e9).fit(P).margins(P)) / 2
    assert_allclose(DecisionRule(max_ratio=1e9).fit(P).margins(P), margins, atol=1e-12)


@pytest.mark.parametrize("decision", ["f1", "micro_f1", "macro_f1", "sample_f1"])
@pytest.mark.parametrize("frequency", [0.02, 0.1, 0.5])
def test_the_number_of_predicted_labels_is_limited_where_features_predict_weakly(decision, frequency):
    rng = np.random.default_rng(0)
    P = expit(0.3 * rng.normal(size=(2000, 5)) + np.log(frequency / (1 - frequency)))
    limited, free = (DecisionRule(decision=decision, max_ratio=ratio).fit(P) for ratio in (1.25, 1e9))
    assert 0.8 * P.sum() <= limited.positive(P).sum() <= 1.25 * P.sum()
    assert free.positive(P).sum() > 1.5 * P.sum()
    assert free.offset_.max() == 0 < limited.offset_.min()


def test_equal_probabilities_at_the_limit_are_predicted_together():
    P = np.full((200, 3), 0.5)
    assert DecisionRule(decision="micro_f1").fit(P).positive(P).all()


def test_a_threshold_from_costs_has_the_lowest_expected_cost():
    P, _ = draw_labels(50, np.array([0.4, 0.2]))
    false_positive, false_negative = 1.0, 4.0
    rule = DecisionRule(decision=false_positive / (false_positive + false_negative)).fit(P)
    cost = np.where(rule.positive(P), false_positive * (1 - P), false_negative * P)
    assert_array_equal(cost, np.minimum(false_positive * (1 - P), false_negative * P))
    assert_array_equal(rule.thresholds_, [0.2, 0.2])


@given(probabilities(), st.sampled_from(DECISIONS))
def test_margins_are_positive_where_labels_are_predicted_and_samples_do_not_affect_each_other(P, decision):
    rule = DecisionRule(decision=min(decision, P.shape[1]) if decision == 2 else decision).fit(P)
    assert_array_equal(rule.margins(P) > 0, rule.positive(P))
    assert_allclose(rule.margins(P[:1]), rule.margins(P)[:1], atol=1e-15)
    if rule.thresholds_ is not None:
        assert_array_equal(rule.positive(P), rule.thresholds_ < P)
    elif decision == 2:
        assert_array_equal(rule.positive(P).sum(axis=1), min(2, P.shape[1]))


@pytest.mark.parametrize("shape", [(300, 1), (99, 3), (0, 3)])
def test_f1_decisions_of_a_single_label_or_of_few_samples_are_one_half(shape):
    P = 0.4 * np.random.default_rng(0).random(shape)
    new = np.linspace(0, 1, 21)[:, None] + np.zeros(shape[1])
    for decision in ("f1", "micro_f1", "macro_f1", "sample_f1"):
        rule = DecisionRule(decision=decision).fit(P)
        assert_array_equal(rule.thresholds_, np.full(shape[1], 0.5))
        assert_array_equal(rule.positive(new), new > 0.5)
    many = DecisionRule(decision="micro_f1").fit(0.4 * np.random.default_rng(0).random((100, 3)))
    assert many.thresholds_.max() < 0.35


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ("best", "'decision' parameter .* must be a str among .* Got 'best'"),
        (1.0, r"a float in the range \(0.0, 1.0\), an int in the range \[1, inf\) or .* 'dict'. Got 1.0"),
        (0, "Got 0"),
        (True, "Got True"),
        (4, "decision must be at most the number of labels, 3, got 4"),
    ],
)
def test_decisions_are_validated(decision, message):
    with pytest.raises(ValueError, match=message):
        DecisionRule(decision=decision).fit(np.full((2, 3), 0.5))


@given(scores_and_signs(), st.integers(1, 4))
def test_top_k_margins_are_positive_for_k_labels_that_no_other_exceeds(case, k):
    scores, _ = case
    k = min(k, scores.shape[1])
    margins = top_k_margins(scores, k)
    chosen = margins > 0
    assert_array_equal(chosen.sum(axis=1), k)
    least = np.where(chosen, scores, np.inf).min(axis=1)
    assert (np.where(chosen, -np.inf, scores).max(axis=1) <= least).all()
    assert_array_equal(np.maximum(margins, 0), np.maximum(scores - least[:, None], 5e-324 * chosen))
