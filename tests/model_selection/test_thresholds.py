"""Thresholds: the best of all, and exactly k positive labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from spmld.model_selection.thresholds import f1_thresholds, proportional_thresholds, top_k_margins

from .classifier_cases import scores_and_signs


def f1(truth, chosen):
    return 2 * (truth & chosen).sum() / (truth.sum() + chosen.sum())


def all_sets(score, sign):
    """Every set of entries that are predicted positive together, with equal scores on one side."""
    for low in np.unique(score[sign != 0]):
        yield (score >= low) & (sign != 0)


@given(scores_and_signs())
@settings(max_examples=200, deadline=None)
def test_f1_thresholds_are_the_best_of_all(case):
    scores, signs = case
    for score, sign, threshold in zip(scores.T, signs.T, f1_thresholds(scores, signs), strict=True):
        observed = sign != 0
        best = max(f1(sign > 0, chosen) for chosen in all_sets(score, sign))
        assert f1(sign > 0, (score > threshold) & observed) == pytest.approx(best, abs=1e-12)


@given(scores_and_signs())
@settings(max_examples=200, deadline=None)
def test_proportional_thresholds_are_nearest_to_the_observed_number(case):
    scores, signs = case
    for score, sign, threshold in zip(scores.T, signs.T, proportional_thresholds(scores, signs), strict=True):
        expected = (sign > 0).sum()
        ours = ((score > threshold) & (sign != 0)).sum()
        assert abs(ours - expected) == min(abs(chosen.sum() - expected) for chosen in all_sets(score, sign))


@given(scores_and_signs())
@settings(max_examples=50, deadline=None)
def test_scores_of_missing_entries_are_ignored(case):
    scores, signs = case
    other = np.where(signs == 0, scores[::-1] * 0.5 + 1, scores)
    for tune in (f1_thresholds, proportional_thresholds):
        assert_array_equal(tune(scores, signs), tune(other, signs))


def test_the_highest_of_equally_good_thresholds_is_a_midpoint():
    scores, signs = np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([[1], [-1], [-1], [1]])
    assert f1_thresholds(scores, signs) == 3.5  # 2/3 after the first and after the last
    assert f1_thresholds(scores, -signs) == 1.5


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


def test_top_k_prefers_lower_indices_among_equal_scores():
    assert_array_equal(top_k_margins(np.array([[2.0, 3.0, 2.0, 2.0]]), 2) > 0, [[True, True, False, False]])
