"""Evidence: influences and neighbors agree with their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld.estimators import FeatureScaler
from spmld.review import Evidence


@pytest.fixture(params=["dense", "sparse"])
def case(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.4)
    X[:, 0] += 0.1
    signs = rng.integers(-1, 2, size=(60, 3))
    return (X if request.param == "dense" else sp.csr_array(X)), X, signs, rng.normal(size=(3, 8))


def test_influences_add_up_to_the_difference_from_the_score_of_the_median(case):
    X, dense, signs, coef = case
    evidence = Evidence(X, signs, list("abcdefgh"), coef=coef)
    for sample in range(5):
        influences = evidence.influences(sample, 1, top=8)
        median = 0 if sp.issparse(X) else np.median(dense, axis=0)
        expected = coef[1] @ (dense[sample] - median)
        assert sum(influence.influence for influence in influences) == pytest.approx(expected)
        sizes = [abs(influence.influence) for influence in influences]
        assert sizes == sorted(sizes, reverse=True)


def test_neighbors_equal_a_search_over_all_samples(case):
    X, _, signs, coef = case
    scaled = FeatureScaler().fit(X).transform(X)
    scaled = scaled.toarray() if sp.issparse(scaled) else scaled
    unit = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    neighbors = Evidence(X, signs, list("abcdefgh"), coef=coef).neighbors(7, 2, top=4, n_nearest=9)
    order = sorted((i for i in range(60) if i != 7 and signs[i, 2] != 0), key=lambda i: -unit[i] @ unit[7])
    assert [i for i, _ in neighbors.positives] == [i for i in order if signs[i, 2] > 0][:4]
    assert neighbors.n_positive == sum(signs[i, 2] > 0 for i in order[:9])
    assert [s for _, s in neighbors.positives] == pytest.approx([unit[i] @ unit[7] for i, _ in neighbors.positives])


def test_the_default_model_finds_the_planted_feature_and_ignores_entries_of_weight_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    signs = np.where(X[:, [3]] > 0, 1, -1)
    wrong = rng.random(300) < 0.3
    noisy = np.where(wrong[:, None], -1, signs)
    for labels in (noisy, np.where(wrong[:, None], 1, signs)):
        evidence = Evidence(X, labels, list("abcde"), entry_weight=(~wrong[:, None]).astype(float))
        top = [evidence.influences(i, 0)[0] for i in np.argsort(-np.abs(X[:, 3]))[:20]]
        assert {influence.feature for influence in top} == {"d"}
        assert all((influence.influence > 0) == (influence.value > 0) for influence in top)
