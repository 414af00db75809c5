from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from spmld.core.label_stack import LabelStacks
from spmld.core.linear_objective import Features, LinearObjective, Penalty
from spmld.core.losses import LOSSES
from spmld.core.newton import newton_minimize
from spmld.core.problem import make_problem
from spmld.noise.likelihood import NoisyLogistic

D, L = 9, 5
COUNTS = (40, 3, 17, 0, 25)
"""Observed entries of each label."""


def make_case(sparse, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D)) * (rng.random((n, D)) < 0.3)
    J = np.zeros((n, L))
    for j, count in enumerate(COUNTS):
        J[rng.choice(n, count, replace=False), j] = rng.random(count) + 0.5
    Y = np.where(J > 0, rng.choice([-1.0, 1.0], size=J.shape), np.nan)
    X = sp.csr_array(X) if sparse else X
    return X, Y, J, make_problem(X, Y, J, np.zeros(n, int), 1, observed_only=True)


def stack(problem, labels, loss=LOSSES["logistic"], intercept=True):
    objective = LinearObjective(problem, (loss,), Features(intercept), Penalty(0.3, intercept), (0.0,))
    return LabelStacks.of(objective).select(np.asarray(labels), float)


def read(B, index):
    """Return the coefficients of a stack; padded ones are 0."""
    return np.concatenate([B, np.zeros((1, L))])[index]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("labels", [[2], [4, 0, 1], [1, 3]])
def test_the_objective_of_a_stack_is_that_of_its_labels(sparse, labels):
    X, Y, J, problem = make_case(sparse)
    B = np.random.default_rng(1).normal(size=(D + 1, L))
    objective, index = stack(problem, labels)
    part = read(B, index)
    value = objective.value(part, objective.scores(part))
    X = X.toarray() if sparse else X
    losses = J * np.logaddexp(0, -np.where(J > 0, Y, 0) * (X @ B[:-1] + B[-1]))
    occurring = np.array([X[J[:, j] > 0].any(axis=0) for j in range(L)]).T
    occurring |= not sparse and len(labels) == 1  # a single label keeps its dense features
    penalty = 0.15 * np.sum((occurring * B[:-1]) ** 2, axis=0)
    np.testing.assert_allclose(value, (losses.sum(axis=0) + penalty)[labels], rtol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_gradient_of_a_stack_matches_finite_differences(sparse):
    objective, index = stack(make_case(sparse)[-1], [0, 2, 4])
    rng = np.random.default_rng(2)
    B = read(rng.normal(size=(D + 1, L)), index)
    gradient, _ = objective.derivatives(B, objective.scores(B))
    direction = rng.normal(size=B.shape)

    def value(step):
        moved = B + step * direction
        return objective.value(moved, objective.scores(moved))

    np.testing.assert_allclose(
        (value(1e-5) - value(-1e-5)) / 2e-5, np.sum(gradient * direction, axis=0), rtol=1e-6, atol=1e-8
    )


def test_the_columns_of_a_stack_are_the_stack_of_the_columns():
    problem = make_case(True)[-1]
    loss = NoisyLogistic(*np.random.default_rng(3).random((2, problem.n, L)) / 4)
    all_labels, index = stack(problem, [0, 2, 4], loss)
    B = np.random.default_rng(4).normal(size=(D + 1, L))
    for keep in ([1], [0, 2]):
        keep = np.asarray(keep)
        part, part_index = stack(problem, np.array([0, 2, 4])[keep], loss)
        left = all_labels.columns(keep, float)
        values = [o.value(b, o.scores(b)) for o, b in ((left, read(B, index)[:, keep]), (part, read(B, part_index)))]
        np.testing.assert_allclose(values[0], values[1], rtol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_labels_are_solved_alike_in_stacks_and_one_by_one(sparse):
    X, Y, J, problem = make_case(sparse)
    options = {"tol": 1e-10, "max_iter": 1000}

    def solve(problem, n_labels):
        start = np.zeros((D + 1, n_labels))
        return newton_minimize(problem, LOSSES["logistic"], Features(), Penalty(0.3, True), start, **options).B

    stacked = solve(problem, L)
    for j in np.flatnonzero(COUNTS):
        alone = make_problem(X, Y[:, [j]], J[:, [j]], np.zeros(len(Y), int), 1, observed_only=True)
        np.testing.assert_allclose(stacked[:, [j]], solve(alone, 1), atol=1e-8)


def test_stacks_hold_every_label_once_and_labels_of_similar_size():
    problem = make_case(True)[-1]
    objective = LinearObjective(problem, (LOSSES["logistic"],), Features(), Penalty(1.0, True), (0.0,))
    stacks = replace(LabelStacks.of(objective), max_values=165)  # about 3.7 values in a row, with the intercept
    assert [group.tolist() for group in stacks.groups()] == [[0], [4], [2, 1], [3]]
    stacks = replace(stacks, max_coefficients=1)
    assert [group.tolist() for group in stacks.groups()] == [[0], [4], [2], [1], [3]]


def test_features_that_do_not_occur_are_left_out():
    X = sp.csr_array(np.array([[0.0, 2.0, 0.0, 1.0], [0.0, 0.0, 0.0, 3.0]]))
    J = np.array([[1.0, 0.0], [1.0, 1.0]])
    problem = make_problem(X, np.ones((2, 2)), J, np.zeros(2, dtype=int), 1, observed_only=True)
    for intercept, rows, matrix in (
        (True, [[1, 5], [3, 3], [4, 4]], [[2, 1, 1, 0, 0, 0], [0, 3, 1, 0, 0, 0], [0, 0, 0, 0, 3, 1], [0] * 6]),
        (False, [[1, 4], [3, 3]], [[2, 1, 0, 0], [0, 3, 0, 0], [0, 0, 0, 3], [0] * 4]),
    ):
        objective, (places, labels) = stack(problem, [0, 1], intercept=intercept)
        np.testing.assert_array_equal(places, rows)
        np.testing.assert_array_equal(labels, [[0, 1]])
        np.testing.assert_array_equal(objective.problem.blocks[0].X.toarray(), matrix)
