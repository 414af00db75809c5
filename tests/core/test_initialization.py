"""Initial factors, clusters, and problems that are sent elsewhere."""

import pickle

import numpy as np
import pytest

from spmld.core.initialization import label_means, random_init, spectral_init, subspace_iteration
from spmld.core.linear_objective import Features, Penalty
from spmld.core.losses import LOSSES
from spmld.core.newton import newton_minimize
from spmld.core.problem import Engine, make_problem

from .cases import make_case


def whole(problem, name):
    return np.concatenate([getattr(block, name) for block in problem.blocks])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_spectral_factors_are_the_best_of_their_rank(fit_intercept):
    """Of the centered labels, with zeros where missing; both factors have the same scale."""
    problem, _, _ = make_case(weighted=True, fit_intercept=fit_intercept)
    state = spectral_init(problem, 3, 4, np.random.default_rng(0).random)
    Y, J = whole(problem, "Y"), whole(problem, "J")
    means = (J * Y).sum(axis=0) / J.sum(axis=0)
    np.testing.assert_allclose(label_means(problem, np.zeros(1)), means)
    np.testing.assert_allclose(state.b, means if fit_intercept else 0)
    left, s, right = np.linalg.svd(J * (Y - state.b), full_matrices=False)
    V = np.concatenate([rows.V for rows in state.rows])
    np.testing.assert_allclose(V @ state.U.T, (left[:, :3] * s[:3]) @ right[:3], atol=1e-8)
    np.testing.assert_allclose(V.T @ V, np.diag(s[:3]), atol=1e-8)
    np.testing.assert_allclose(state.U.T @ state.U, np.diag(s[:3]), atol=1e-8)
    np.testing.assert_array_equal(state.W, np.zeros((5, 3)))
    for rows in state.rows:
        np.testing.assert_array_equal(rows.T, 0)
        np.testing.assert_array_equal(rows.P, 1)


def test_many_labels_have_almost_the_same_factors():
    problem, _, _ = make_case(weighted=True)
    few = spectral_init(problem, 2, 4, np.random.default_rng(0).random)
    many = spectral_init(problem, 2, 4, np.random.default_rng(0).random, max_exact=5)
    for a, b in zip(few.rows, many.rows, strict=True):
        np.testing.assert_allclose(b.V @ many.U.T, a.V @ few.U.T, atol=0.02)


def test_subspace_iteration_finds_the_largest_eigenvalues():
    rng = np.random.default_rng(0)
    vectors, values = np.linalg.qr(rng.normal(size=(20, 20)))[0], 2.0 ** -np.arange(20)
    A = vectors * values @ vectors.T
    for n_iter, tolerance in ((10, 1e-9), (2, 1e-2)):
        found, columns = subspace_iteration(lambda Q: A @ Q, rng.random((20, 6)), 3, n_iter)
        np.testing.assert_allclose(found, values[:3], rtol=tolerance)
    np.testing.assert_allclose(np.abs(np.sum(columns * vectors[:, :3], axis=0)), 1, atol=1e-2)


def test_labels_without_structure_have_small_factors_that_are_not_zero():
    """All labels are equal: the second factor has no singular value, and the smallest scale, 1e-3 of the largest."""
    Y = np.tile(np.array([[1.0], [-1.0], [1.0], [-1.0]]), 3)
    problem = make_problem(np.zeros((4, 1)), Y, np.ones((4, 3)), np.zeros(4, dtype=int), 1)
    state = spectral_init(problem, 2, 1, np.random.default_rng(0).random)
    scale = 12**0.25  # the singular value is sqrt(12)
    np.testing.assert_allclose(np.linalg.norm(state.U, axis=0), [scale, 1e-3 * scale], rtol=1e-6)


def test_random_factors_are_uniform_and_correlation_factors_have_unit_rows():
    problem, _, _ = make_case()
    state = random_init(problem, 3, 4, np.random.default_rng(0).random)
    V = np.concatenate([rows.V for rows in state.rows])
    for A in (state.U, V):
        assert 0 <= A.min() < 0.2 < 0.8 < A.max() <= 1
    np.testing.assert_array_equal(state.b, 0)
    np.testing.assert_allclose(np.linalg.norm(state.Z, axis=2), 1)
    assert state.Z.shape == (2, 6, 4)


def test_blocks_and_problems_are_sent_without_what_can_be_computed():
    problem, _, _ = make_case(sparse=True)
    block = problem.blocks[0]
    size = len(pickle.dumps(block))
    block.XT, block.members  # noqa: B018
    assert len(pickle.dumps(block)) == size
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(block)).Y, block.Y)
    sent = pickle.loads(pickle.dumps(problem))
    assert (sent.blocks, type(sent.engine), sent.n_labels) == ((), Engine, 6)


def test_blocks_have_the_requested_size_or_one_per_thread():
    X, Y, J, group = np.zeros((10, 2)), np.ones((10, 3)), np.ones((10, 3)), np.arange(10) % 2
    for options, counts in (
        ({}, (10,)),
        ({"block_rows": 4}, (4, 4, 2)),
        ({"n_threads": 3}, (4, 4, 2)),
    ):
        problem = make_problem(X, Y, J, group, 2, **options)
        assert problem.counts == counts
        assert (problem.n, problem.n_features, problem.n_labels) == (10, 2, 3)
        np.testing.assert_array_equal(problem.sizes, [5, 5])
        assert problem.engine.gather(problem.counts) == counts
    J[:, 1:] = 0
    problem = make_problem(X, Y, J, group, 2, observed_only=True)
    assert [(block.width, block.Y.shape) for block in problem.blocks] == [(1, (10,))]
    assert make_problem(X, Y, J, group, 2).blocks[0].width == 3
    assert make_problem(X, Y, J, group, 2).blocks[0].Y.sum() == 10  # missing entries are 0


@pytest.mark.parametrize("factor", [1e-9, 1e9, 1e200])
def test_huge_and_tiny_weights_have_the_minimum_of_scaled_ones(factor):
    rng = np.random.default_rng(0)
    X, Y, J = rng.normal(size=(30, 4)), rng.choice([-1.0, 1.0], (30, 3)), rng.random((30, 3))
    L = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    results = []
    for scale in (1.0, factor):
        problem = make_problem(X, Y, scale * J, np.zeros(30, dtype=int), 1)
        for graph in (None, L):
            penalty = Penalty(0.5 * scale, True, graph, 0.3 * scale)
            start = np.zeros((5, 3))
            results.append(newton_minimize(problem, LOSSES["logistic"], Features(), penalty, start, tol=1e-9).B)
    np.testing.assert_allclose(results[2], results[0], atol=1e-7)
    np.testing.assert_allclose(results[3], results[1], atol=1e-7)
