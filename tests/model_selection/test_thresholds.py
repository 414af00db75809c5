"""Cuts: the best of all, and exactly k of a row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from spmld.model_selection.thresholds import f1_cuts, proportional_cuts, top_k_margins

from .meta_cases import scores_and_signs


def f1(truth, chosen):
    return 2 * (truth & chosen).sum() / (truth.sum() + chosen.sum())


def all_cuts(score, sign):
    """Every set of entries that are predicted positive together, with equal scores on one side."""
    for cut in np.unique(score[sign != 0]):
        yield (score >= cut) & (sign != 0)


@given(scores_and_signs())
@settings(max_examples=200, deadline=None)
def test_f1_cuts_are_the_best_of_all_cuts(case):
    scores, signs = case
    for score, sign, threshold in zip(scores.T, signs.T, f1_cuts(scores, signs), strict=True):
        seen = sign != 0
        best = max(f1(sign > 0, chosen) for chosen in all_cuts(score, sign))
        assert f1(sign > 0, (score > threshold) & seen) == pytest.approx(best, abs=1e-12)


@given(scores_and_signs())
@settings(max_examples=200, deadline=None)
def test_proportional_cuts_come_nearest_to_the_observed_number(case):
    scores, signs = case
    for score, sign, threshold in zip(scores.T, signs.T, proportional_cuts(scores, signs), strict=True):
        wanted = (sign > 0).sum()
        ours = ((score > threshold) & (sign != 0)).sum()
        assert abs(ours - wanted) == min(abs(chosen.sum() - wanted) for chosen in all_cuts(score, sign))


@given(scores_and_signs())
@settings(max_examples=50, deadline=None)
def test_scores_of_unobserved_entries_do_not_matter(case):
    scores, signs = case
    other = np.where(signs == 0, scores[::-1] * 0.5 + 1, scores)
    for cuts in (f1_cuts, proportional_cuts):
        assert_array_equal(cuts(scores, signs), cuts(other, signs))


def test_of_equally_good_cuts_the_highest_and_it_lies_halfway():
    scores, signs = np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([[1], [-1], [-1], [1]])
    assert f1_cuts(scores, signs) == 3.5  # 2/3 after the first and after the last
    assert f1_cuts(scores, -signs) == 1.5


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


def test_of_equal_scores_top_k_takes_those_further_left():
    assert_array_equal(top_k_margins(np.array([[2.0, 3.0, 2.0, 2.0]]), 2) > 0, [[True, True, False, False]])
