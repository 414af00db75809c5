from functools import partial

import numpy as np
import pytest
from scipy import stats

from spmld.model_selection.statistics import holm_correction, paired_t_test


def test_paired_is_scipys_t_test():
    rng = np.random.default_rng(0)
    reference = rng.normal(size=10)
    method = reference + 0.3 + 0.2 * rng.normal(size=10)
    test = paired_t_test(method, reference, greater_is_better=True)
    assert test.p == pytest.approx(stats.ttest_rel(method, reference).pvalue)
    assert test.verdict == "better"
    assert test.difference == pytest.approx(np.mean(method - reference))
    assert test.effect == pytest.approx(np.mean(method - reference) / np.std(method - reference, ddof=1))
    assert paired_t_test(method, reference, greater_is_better=False).verdict == "worse"
    assert paired_t_test(reference, method, greater_is_better=False).verdict == "better"
    assert paired_t_test(method, reference, greater_is_better=True, level=test.p).verdict == "no significant difference"


def p_values(differences, ratio):
    test = partial(paired_t_test, greater_is_better=True, test_train_ratio=ratio)
    return np.array([test(row, np.zeros(len(row))).p for row in differences])


@pytest.mark.parametrize("k", [3, 5, 10])
def test_the_corrected_test_is_exact_for_folds_with_correlation_1_over_k(k):
    """The assumption of Nadeau and Bengio: p is then uniform, and too small without the correction."""
    rng = np.random.default_rng(0)
    shared, single = rng.normal(size=(2000, 1)), rng.normal(size=(2000, k))
    differences = np.sqrt(1 / k) * shared + np.sqrt(1 - 1 / k) * single
    corrected = p_values(differences, 1 / (k - 1))
    assert stats.kstest(corrected, "uniform").pvalue > 0.01
    assert np.mean(corrected < 0.05) == pytest.approx(0.05, abs=0.015)
    assert np.mean(p_values(differences, 0.0) < 0.05) > 0.1


@pytest.mark.parametrize("n_repeats", [1, 3, 10])
def test_the_level_with_repeated_folds(n_repeats):
    """A sample changes the difference by its value as a test sample, and by its influence as a training sample."""
    rng = np.random.default_rng(0)
    k, n_samples, differences = 5, 200, []
    for value, influence in rng.normal(size=(1000, 2, n_samples)):
        order = np.argsort(rng.random((n_repeats, n_samples)), axis=1)
        tested, excluded = (part[order].reshape(n_repeats * k, -1) for part in (value, influence))
        trained = (influence.sum() - excluded.sum(axis=1)) / (n_samples * (1 - 1 / k))
        differences.append(tested.mean(axis=1) + trained)
    plain, corrected = (np.mean(p_values(differences, ratio) < 0.05) for ratio in (0.0, 1 / (k - 1)))
    assert corrected <= 0.06
    assert plain > (0.4 if n_repeats > 1 else 0.08)


def test_the_effect_size_does_not_depend_on_the_correction():
    values = [0.5, 0.6, 0.8], [0.4, 0.6, 0.5]
    plain, corrected = (paired_t_test(*values, greater_is_better=True, test_train_ratio=r) for r in (0.0, 0.5))
    assert (corrected.effect, corrected.difference) == (plain.effect, plain.difference)
    assert corrected.p > plain.p


def test_paired_test_without_variance():
    same = paired_t_test([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], greater_is_better=True)
    assert (same.p, same.effect, same.verdict) == (1, 0, "no significant difference")
    shifted = paired_t_test([0.2, 0.3, 0.4], [0.1, 0.2, 0.3], greater_is_better=False)
    assert (shifted.p, shifted.effect, shifted.verdict) == (0, np.inf, "worse")
    assert paired_t_test([1.0], [2.0], greater_is_better=True) is None
    fallen = paired_t_test([0.1, 0.2], [0.2, 0.3], greater_is_better=False)
    assert (fallen.p, fallen.effect, fallen.verdict) == (0, -np.inf, "better")


def test_a_constant_difference_of_at_most_1e_12_is_none():
    for mean, p in ((0.9e-12, 1), (1.1e-12, 0)):
        assert paired_t_test([mean, mean], [0.0, 0.0], greater_is_better=True).p == p


def test_holm_by_hand():
    np.testing.assert_allclose(holm_correction([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm_correction([0.5, 0.9]), [1.0, 1.0])
    assert holm_correction([]).shape == (0,)
