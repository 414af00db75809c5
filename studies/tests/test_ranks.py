"""Mean ranks over data sets: Friedman's test, the critical difference, and the diagram."""

import numpy as np
import pytest
from scipy import stats

from studies.ranks import FriedmanTest, Ranking, critical_difference, friedman_test, rankings
from studies.results import collect_results
from studies.tests.test_figures import THREE, recorded

# AUC of four classifiers on fourteen data sets: Table 6 of Demšar, JMLR 7 (2006). The 0.975s of the last but one differ
# in a digit that is not printed, as their ranks, 2 and 3, show.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_the_example_of_demsar():
    ranks = friedman_test(DEMSAR, greater_is_better=True)
    np.testing.assert_allclose(ranks.means, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert ranks.difference == pytest.approx(1.25, abs=0.005)
    assert ranks.n == 14
    reference = stats.friedmanchisquare(*DEMSAR.T)
    assert (ranks.statistic, ranks.p) == (reference.statistic, reference.pvalue)
    assert ranks.statistic > 9.28  # the example's value, which is not corrected for ties


def test_ranks_follow_the_direction():
    up, down = (friedman_test(DEMSAR, greater_is_better=flag).means for flag in (True, False))
    np.testing.assert_allclose(up + down, 5)


@pytest.mark.parametrize(
    ("k", "q"),
    [(2, 1.960), (5, 2.728), (10, 3.164)],
)
def test_the_critical_values_of_demsar(k, q):
    """Table 5(a) at 0.05."""
    assert critical_difference(k, 1) / np.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1.5e-3)


def test_methods_that_never_differ():
    ranks = friedman_test(np.ones((5, 3)), greater_is_better=True)
    assert (ranks.statistic, ranks.p) == (0, 1)
    np.testing.assert_array_equal(ranks.means, 2)


@pytest.mark.parametrize("values", [np.ones((1, 3)), np.ones((5, 2)), [[1, 2, np.nan], [1, 2, 3]], [1, 2, 3]])
def test_friedman_validates_the_shape_of_values(values):
    with pytest.raises(ValueError, match="at least two data sets"):
        friedman_test(values, greater_is_better=True)


def test_methods_are_ranked_over_data_sets():
    study, records = recorded("tables", methods=THREE, data=["planted", "emotions"], reference="c", seeds=[0])
    (ranking,) = (r for r in rankings(collect_results([study], records), "c") if r.metric == "ranking_loss")
    assert (ranking.names, ranking.highlight, ranking.ranks.n) == (["a", "b", "c"], "c", 2)
    np.testing.assert_array_equal(ranking.ranks.means, [1, 2, 3])


def test_one_data_set_is_not_enough_for_a_ranking():
    study, records = recorded("tables", methods=THREE)
    assert rankings(collect_results([study], records), None) == []


def ranked(means, difference, highlight=None):
    ranks = FriedmanTest(np.array(means), 5.0, 0.01, difference, 6)
    return Ranking("coverage", 0.3, "30%", list("abcd")[: len(means)], ranks, highlight)


@pytest.mark.parametrize(
    ("means", "difference", "bars"),
    [
        ([1, 2, 3, 4], 1.0, [(1, 2), (2, 3), (3, 4)]),
        ([4, 1, 2.5, 2], 1.5, [(1, 2.5), (2.5, 4)]),
        ([1, 2, 3], 5, [(1, 3)]),
        ([1, 2, 3], 0.5, []),
    ],
)
def test_bars_join_methods_without_significant_difference(means, difference, bars):
    assert ranked(means, difference).bars() == bars
