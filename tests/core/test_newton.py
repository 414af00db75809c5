"""Linear models: derivatives, the minimum, and its invariances."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.optimize import minimize

from spmld.core.linear_objective import Factored, Features, LinearObjective, OtherLabels, Penalty, label_laplacian
from spmld.core.losses import LOSSES
from spmld.core.newton import newton_minimize
from spmld.core.problem import make_problem, row_ranges
from spmld.noise.likelihood import NoisyLogistic

RNG = np.random.default_rng(0)
n, d, l, k = 40, 10, 5, 3
X = RNG.normal(size=(n, d)) * (RNG.random((n, d)) < 0.7)
Y = np.where(RNG.random((n, l)) < 0.4, 1, -1).astype(np.int8)
J = (RNG.random((n, l)) < 0.7) * RNG.uniform(0.2, 2.0, (n, l))
H = RNG.normal(size=(l, k))
A = RNG.random((l, l))
LAPLACIAN = np.diag((A + A.T).sum(axis=1)) - (A + A.T)

MODELS = {
    "features": (Features(True), Penalty(0.7, True), (d + 1, l)),
    "no intercept": (Features(False), Penalty(0.7), (d, l)),
    "label graph": (Features(True), Penalty(0.7, True, LAPLACIAN, 0.4), (d + 1, l)),
    "factored": (Factored(H), Penalty(0.7), (d, k)),
    "others": (OtherLabels(np.arange(l)), Penalty(0.7), (l + 1, l)),
}
each_model = pytest.mark.parametrize(("design", "penalty", "shape"), MODELS.values(), ids=MODELS)
each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
ALPHA, BETA = RNG.random((2, l)) / 4


def problem(X=X, J=J, block_rows=100_000):
    return make_problem(X, Y, J, np.zeros(n, dtype=int), 1, dtype=np.float64, block_rows=block_rows)


def objective(loss, design, penalty, B, offset=0.0):
    """The formula."""
    if isinstance(design, Factored):
        scores, W, free = X @ B @ H.T, B, 0.0
    elif isinstance(design, OtherLabels):
        diagonal = np.diag(np.diag(B[:-1]))
        scores, W, free = X[:, :l] @ (B[:-1] - diagonal) + X[:, l:] @ diagonal, B, B[-1]
    else:
        W, free = (B[:-1], B[-1]) if design.intercept else (B, 0.0)
        scores = X @ W
    graph = penalty.g / 2 * np.trace(W @ LAPLACIAN @ W.T) if penalty.g else 0.0
    return np.sum(J * loss.value(Y, scores + free + offset)) + penalty.t / 2 * np.sum(W**2) + graph


@each_model
@each_loss
def test_value_and_gradient_are_those_of_the_formula(loss, design, penalty, shape):
    B, offset = RNG.normal(size=shape), RNG.normal(size=(n, l))
    for blocks in (100_000, 7):
        data = problem(block_rows=blocks)
        offsets = [offset[s] for s in row_ranges(data.counts)]
        fit = LinearObjective(data, data.map(lambda block: loss), design, penalty, offsets)
        S = fit.scores(B)
        assert float(np.sum(fit.value(B, S))) == pytest.approx(objective(loss, design, penalty, B, offset))
        (G, _), h = fit.derivatives(B, S), 1e-6
        for at in [(0, 0), (shape[0] - 1, 1), (2, shape[1] - 1)]:
            D = np.zeros(shape)
            D[at] = h
            ends = [objective(loss, design, penalty, B + sign * D, offset) for sign in (1, -1)]
            assert G[at] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-5)


@each_model
@each_loss
def test_a_general_optimizer_finds_nothing_lower(loss, design, penalty, shape):
    result = newton_minimize(problem(), loss, design, penalty, np.zeros(shape), tol=1e-10)
    assert result.converged
    other = minimize(
        lambda b: objective(loss, design, penalty, b.reshape(shape)), np.zeros(shape).ravel(), options={"gtol": 1e-7}
    )
    assert objective(loss, design, penalty, result.B) == pytest.approx(other.fun, rel=1e-9)
    np.testing.assert_allclose(result.B, other.x.reshape(shape), atol=2e-4)


@each_model
@each_loss
def test_every_step_lowers_the_objective(loss, design, penalty, shape):
    B = 10 * RNG.normal(size=shape)
    values = [objective(loss, design, penalty, B)]
    for _ in range(6):
        B = newton_minimize(problem(), loss, design, penalty, B, tol=1e-12, max_iter=1).B
        values.append(objective(loss, design, penalty, B))
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < values[0]


@each_model
def test_diagonal_of_the_curvature(design, penalty, shape):
    C = RNG.random((n, l))
    (block,) = problem().blocks
    exact = np.empty(shape)
    for at in np.ndindex(shape):
        D = np.zeros(shape)
        D[at] = 1
        exact[at] = design.pull(block, C * design.scores(block, D))[at] + penalty.slope(D)[at]
    np.testing.assert_allclose(design.squares(block, C) + penalty.diagonal(exact), exact, atol=1e-10)


@each_model
def test_row_blocks_sparse_and_torch_have_the_same_minimum(design, penalty, shape):
    loss, B = LOSSES["logistic"], np.zeros(shape)
    expected = newton_minimize(problem(), loss, design, penalty, B, tol=1e-9).B
    for other in (problem(block_rows=11), problem(sp.csr_array(X)), problem(sp.csr_array(X), block_rows=17)):
        np.testing.assert_allclose(newton_minimize(other, loss, design, penalty, B, tol=1e-9).B, expected, atol=1e-6)
    t = torch.from_numpy
    tensors = make_problem(t(X), t(Y), t(J), torch.zeros(n, dtype=int), 1, dtype=torch.float64)
    in_torch = {Factored: lambda: Factored(t(H)), OtherLabels: lambda: OtherLabels(torch.arange(l))}
    design = in_torch.get(type(design), lambda: design)()
    L = None if penalty.L is None else t(LAPLACIAN)
    result = newton_minimize(tensors, loss, design, Penalty(penalty.t, penalty.intercept, L, penalty.g), t(B), tol=1e-9)
    np.testing.assert_allclose(result.B.numpy(), expected, atol=1e-6)


def test_a_column_does_not_depend_on_the_others():
    """The stopping of other columns and the groups in which columns are solved do not matter either."""
    loss, (design, penalty, shape) = LOSSES["logistic"], MODELS["features"]
    many = np.tile(np.arange(l), 12)
    big = make_problem(X, Y[:, many], J[:, many], np.zeros(n, dtype=int), 1, dtype=np.float64)
    B = newton_minimize(big, loss, design, penalty, np.zeros((d + 1, len(many))), tol=1e-9).B
    expected = newton_minimize(problem(), loss, design, penalty, np.zeros(shape), tol=1e-9).B
    np.testing.assert_allclose(B, expected[:, many], atol=1e-9)


def test_an_offset_is_added_to_the_scores():
    """The offset has one value per label or per entry; labels are independent or coupled."""
    loss, per_label, per_entry = LOSSES["logistic"], RNG.normal(size=l), RNG.normal(size=(n, l))
    for design, penalty, shape in (MODELS["features"], MODELS["label graph"], MODELS["others"]):
        for offset, data in ((per_label, problem()), (per_entry, problem()), (per_entry, problem(block_rows=7))):
            B = newton_minimize(data, loss, design, penalty, np.zeros(shape), offset=offset, tol=1e-10).B
            least = objective(loss, design, penalty, B, offset)
            for _ in range(20):
                assert objective(loss, design, penalty, B + 1e-3 * RNG.normal(size=shape), offset) > least


def test_offsets_belong_to_their_labels_in_single_precision():
    """Scores are recomputed there after some labels have converged."""
    loss, offset = LOSSES["logistic"], RNG.normal(size=(n, l))
    weights = J * np.array([0, 1, 1, 1, 1])  # the first label has no observed entry
    for design, penalty, shape in (MODELS["features"], MODELS["others"]):
        results = []
        for dtype in (np.float64, np.float32):
            data = make_problem(X.astype(dtype), Y, weights.astype(dtype), np.zeros(n, dtype=int), 1)
            start = np.zeros(shape, dtype=dtype)
            results.append(newton_minimize(data, loss, design, penalty, start, offset=offset.astype(dtype), tol=1e-4).B)
        np.testing.assert_allclose(*results, atol=1e-3)


@pytest.mark.parametrize("name", ["features", "label graph", "others"])
def test_a_general_optimizer_finds_nothing_lower_with_noise_rates(name):
    loss, (design, penalty, shape) = NoisyLogistic(ALPHA, BETA), MODELS[name]
    # The expected curvature is not the exact one: convergence is linear.
    result = newton_minimize(problem(), loss, design, penalty, np.zeros(shape), tol=1e-10, max_iter=1000)
    assert result.converged
    least = objective(loss, design, penalty, result.B)
    # The objective is not convex: the optimizer starts nearby.
    start = result.B + 0.1 * np.random.default_rng(0).normal(size=shape)
    other = minimize(
        lambda b: objective(loss, design, penalty, b.reshape(shape)), start.ravel(), options={"gtol": 1e-7}
    )
    assert least == pytest.approx(other.fun, rel=1e-9)
    np.testing.assert_allclose(result.B, other.x.reshape(shape), atol=2e-4)
    plain = newton_minimize(problem(), LOSSES["logistic"], design, penalty, np.zeros(shape), tol=1e-10).B
    assert least < objective(loss, design, penalty, plain) - 1e-3


@each_model
def test_losses_of_row_blocks_equal_one_loss(design, penalty, shape):
    loss, B = NoisyLogistic(ALPHA, BETA), np.zeros(shape)
    expected = newton_minimize(problem(), loss, design, penalty, B, tol=1e-10).B
    data = problem(block_rows=7)
    per_entry = NoisyLogistic(np.tile(ALPHA, (n, 1)), np.tile(BETA, (n, 1)))
    for same in (loss, per_entry):
        np.testing.assert_allclose(newton_minimize(data, same, design, penalty, B, tol=1e-10).B, expected, atol=1e-6)


@each_model
def test_losses_belong_to_their_rows(design, penalty, shape):
    """Rows with other losses in a block of their own: the minimum is that of the sum of both parts."""
    rows, B = slice(0, 20), np.zeros(shape)
    rates = np.where(np.arange(n)[:, None] < 20, 0.0, ALPHA)
    per_entry = NoisyLogistic(rates, np.zeros((n, l)))
    B = newton_minimize(problem(block_rows=20), per_entry, design, penalty, B, tol=1e-10).B
    least = objective(per_entry, design, penalty, B)
    for seed in range(20):
        moved = B + 1e-3 * np.random.default_rng(seed).normal(size=shape)
        assert objective(per_entry, design, penalty, moved) > least
    assert rates[rows].max() == 0


def test_label_graph_connects_labels_that_occur_together():
    Y = np.array([[1, 1, -1], [1, 1, -1], [-1, 1, 1], [-1, -1, 1]], dtype=np.int8)
    J = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1], [1, 1, 1]], dtype=float)
    L = label_laplacian(make_problem(np.zeros((4, 1)), Y, J, np.zeros(4, dtype=int), 1), np.zeros(3))
    np.testing.assert_allclose(L.sum(axis=0), 0, atol=1e-12)
    # Labels 0 and 1 are both observed in samples 0, 2 and 3: one common positive, one of label 0, two of label 1.
    assert L[0, 1] == pytest.approx(-1 / np.sqrt(1 * 2))
    assert L[0, 2] == 0
    strong = newton_minimize(
        make_problem(RNG.normal(size=(4, 2)), Y, J, np.zeros(4, dtype=int), 1),
        LOSSES["logistic"],
        Features(True),
        Penalty(1.0, True, L, 1e6),
        np.zeros((3, 3)),
        tol=1e-8,
    ).B[:-1]
    np.testing.assert_allclose(strong[:, 0], strong[:, 1], atol=1e-4)


@pytest.mark.parametrize(("dtype", "recomputed"), [(np.float64, False), (np.float32, True)])
def test_scores_are_recomputed_in_single_precision_before_the_end(dtype, recomputed, monkeypatch):
    calls, scores = [], LinearObjective.scores
    monkeypatch.setattr(LinearObjective, "scores", lambda *arguments: calls.append(1) or scores(*arguments))
    data = make_problem(X.astype(dtype), Y, J.astype(dtype), np.zeros(n, dtype=int), 1)
    design, penalty, shape = MODELS["label graph"]
    result = newton_minimize(data, LOSSES["logistic"], design, penalty, np.zeros(shape, dtype), tol=1e-3)
    assert result.steps > 1
    assert (len(calls) > 1) == recomputed
