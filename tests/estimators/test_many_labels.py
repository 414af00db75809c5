"""Thousands of labels: sparse labels, the labels with the highest scores, memory."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit

from spmld import SPMLD, LabelPrior, MaskedLogistic
from spmld.labels import LabelWarning


def make_sparse(n=400, d=80, l=300, seed=0):
    """Return sparse features, 0/1 labels with 2 positives in a sample on average, and a mask, all sparse."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, d, density=0.1, random_state=rng, format="csr")
    scores = X @ rng.normal(size=(d, l)) + 0.2 * rng.normal(size=(n, l))
    Y = sp.csr_array((scores > np.quantile(scores, 1 - 2 / l)).astype(np.int8))
    return X, Y, sp.csr_array(rng.random((n, l)) < 0.5)


@pytest.mark.filterwarnings("ignore", category=LabelWarning)
@pytest.mark.parametrize("masked", [False, True])
def test_sparse_labels_are_those_of_a_dense_matrix(masked):
    X, Y, mask = make_sparse()
    dense_mask, sparse_mask = (mask.toarray(), mask) if masked else (None, None)
    expected = MaskedLogistic(C=10).fit(X, Y.toarray(), mask=dense_mask)
    model = MaskedLogistic(C=10).fit(X, Y, mask=sparse_mask)
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def gradient_norms(X, Y, C, coef, intercept):
    """Return the norm of the gradient of the objective of each label."""
    slope = C * (expit(X @ coef.T + intercept) - Y)
    return np.hypot(np.linalg.norm((X.T @ slope).T + coef, axis=1), slope.sum(axis=0))


@pytest.mark.filterwarnings("ignore", category=LabelWarning)
@pytest.mark.parametrize("tol", [0.1, 0.01])
def test_the_tolerance_is_relative_to_a_model_without_features(tol):
    X, Y, _ = make_sparse(n=2500, l=60)
    Y = Y.toarray()
    count = Y.sum(axis=0)
    start = 2 * np.arctanh(0.999 * (2 * count / len(Y) - 1))
    model = MaskedLogistic(C=10, tol=tol).fit(X, Y)
    left = gradient_norms(X, Y, 10, model.coef_, model.intercept_)
    ratio = left[count > 0] / gradient_norms(X, Y, 10, np.zeros((60, 80)), start)[count > 0]
    assert tol / 1000 < ratio.max() <= tol


def test_a_rare_label_is_learned_by_default():
    """Its gradient is a thousandth of the gradient at zero, which is that of the negatives."""
    X = np.abs(np.random.default_rng(0).normal(size=(10_000, 3)))
    Y = np.zeros((10_000, 1))
    Y[:5], X[:5, 0] = 1, X[:5, 0] + 2
    model = MaskedLogistic(C=10).fit(X, Y)
    np.testing.assert_allclose(model.coef_, MaskedLogistic(C=10, tol=1e-8).fit(X, Y).coef_, atol=0.05)


@pytest.mark.filterwarnings("ignore", category=LabelWarning)
def test_top_labels_are_those_of_sorted_scores(monkeypatch):
    X, Y, _ = make_sparse()
    model = MaskedLogistic(C=10).fit(X, Y)
    scores = model.decision_function(X)
    order = np.argsort(-scores, axis=1, kind="stable")
    for k in (1, 5, 1000):
        top = model.top_labels(X, k)
        np.testing.assert_array_equal(top.labels, order[:, :k])
        np.testing.assert_allclose(top.scores, np.take_along_axis(scores, order[:, :k], axis=1))


def test_top_labels_with_ties_are_ordered_by_column():
    model = LabelPrior().fit([[0], [1]], [[0, 1, 0, 1, 0], [0, 0, 1, 1, 1]])
    np.testing.assert_array_equal(model.top_labels([[0], [5]], k=4).labels, [[3, 1, 2, 4]] * 2)


@pytest.mark.parametrize("k", [0, 1.5])
def test_invalid_number_of_labels(k):
    with pytest.raises(ValueError, match="k must be"):
        LabelPrior().fit([[0], [1]], [[0, 1], [1, 0]]).top_labels([[0]], k=k)


def test_top_labels_need_less_memory_than_all_scores():
    n, l = 20_000, 2_000
    model = LabelPrior().fit(np.zeros((2, 1)), np.eye(2, l, dtype=np.int8) + np.eye(2, l, 1, dtype=np.int8))
    tracemalloc.start()
    model.top_labels(np.zeros((n, 1)), k=3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.7 * 8 * n * l


@pytest.mark.filterwarnings("ignore")
def test_ten_thousand_labels():
    X, Y, _ = make_sparse(n=60, d=20, l=10_000)
    for model in (MaskedLogistic(), SPMLD(n_components=5, max_iter=2, random_state=0)):
        assert model.fit(X, Y).top_labels(X, 3).labels.shape == (60, 3)
