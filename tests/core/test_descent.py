"""Steepest descent: sufficient decrease along the negative gradient, and the minima of independent solvers."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize, rosen, rosen_der

from spmld.core.descent import descend

RNG = np.random.default_rng(0)
X, SIGNS = RNG.normal(size=(40, 5)), RNG.choice([-1, 1], size=40)
CURVATURE = np.array([1.0, 3.0, 10.0])


def logistic(w):
    """Regularized logistic regression."""
    return np.logaddexp(0, -SIGNS * (X @ w)).sum() + w @ w / 2


def logistic_gradient(w):
    return -X.T @ (SIGNS / (1 + np.exp(SIGNS * (X @ w)))) + w


FUNCTIONS = {
    "quadratic": (lambda x: CURVATURE @ x**2 / 2, lambda x: CURVATURE * x, np.array([4.0, 3.0, -2.0])),
    "logistic": (logistic, logistic_gradient, np.full(5, 2.0)),
    "Rosenbrock": (rosen, rosen_der, np.array([-1.2, 1.0])),
}
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def run(name, **options):
    """Return the minimum and the points at which the gradient was evaluated: the start and every accepted step."""
    f, gradient, start = FUNCTIONS[name]
    points = []

    def recorded(x):
        points.append(x[0])
        return (gradient(x[0]),)

    (x,) = descend((start,), lambda x: float(f(x[0])), recorded, **options)
    return x, points


@every_function
def test_gradients_of_the_functions_agree_with_differences(name):
    f, gradient, start = FUNCTIONS[name]
    assert check_grad(f, gradient, start) < 1e-4 * np.linalg.norm(gradient(start))


@every_function
def test_each_step_is_along_the_negative_gradient_with_sufficient_decrease(name):
    f, gradient, _ = FUNCTIONS[name]
    _, points = run(name, max_iter=30)
    assert len(points) > 5
    for x, new in pairwise(points):
        g, step = gradient(x), new - x
        length = np.linalg.norm(step)
        np.testing.assert_allclose(step, -length * g / np.linalg.norm(g), atol=1e-9 * np.linalg.norm(x))
        assert f(new) <= f(x) - 0.99e-4 * length * np.linalg.norm(g)


@pytest.mark.parametrize("distance", [1.0, 0.1, 0.003])
def test_the_first_step_is_the_longest_of_1_and_its_halves_with_sufficient_decrease(distance):
    start = np.array([0.6, 0.8]) * distance

    def decrease(x):
        return start @ start - x @ x

    (x,) = descend((start,), lambda x: float(x[0] @ x[0]), lambda x: (2 * x[0],), max_iter=1)
    length, sufficient = np.linalg.norm(x - start), 1e-4 * 2 * distance
    assert -np.log2(length) == pytest.approx(round(-np.log2(length)), abs=1e-9)
    assert decrease(x) >= sufficient * length
    longest = length == pytest.approx(1)
    assert longest or decrease(2 * x - start) < sufficient * 2 * length


@pytest.mark.parametrize("name", ["quadratic", "logistic"])
def test_many_iterations_reach_the_minimum_of_another_solver(name):
    f, gradient, start = FUNCTIONS[name]
    expected = minimize(f, start, jac=gradient, method="BFGS", options={"gtol": 1e-10})
    x, points = run(name, max_iter=500)
    assert 4 < len(points) < 500  # it stops when the value no longer changes
    assert f(x) - expected.fun < 1e-4
    np.testing.assert_allclose(x, expected.x, atol=0.02)


def test_retracted_steps_reach_the_smallest_eigenvector():
    A = np.diag([1.0, 2.0, 5.0]) + 0.3
    values, vectors = np.linalg.eigh(A)

    def value(x):
        assert np.linalg.norm(x[0]) == pytest.approx(1)
        return float(x[0] @ A @ x[0])

    def gradient(x):
        return (2 * (A @ x[0] - (x[0] @ A @ x[0]) * x[0]),)

    start = np.array([0.6, 0.0, 0.8])
    (x,) = descend((start,), value, gradient, retract=lambda x: (x[0] / np.linalg.norm(x[0]),))
    assert value((x,)) == pytest.approx(values[0], abs=1e-4)
    assert abs(x @ vectors[:, 0]) == pytest.approx(1, abs=1e-4)


def test_products_of_the_variables_are_updated_with_them():
    A = RNG.normal(size=(4, 3))
    f, gradient, start = FUNCTIONS["quadratic"]

    def with_product(x):
        g = gradient(x[0])
        return g, A @ g

    x, product = descend((start, A @ start), lambda x: float(f(x[0])), with_product, n_variables=1)
    np.testing.assert_allclose(product, A @ x, atol=1e-12)
    np.testing.assert_allclose(x, run("quadratic")[0], atol=1e-12)  # they are not part of the gradient's norm


def test_the_start_is_returned_where_the_gradient_vanishes():
    start = np.zeros(3)
    (x,) = descend((start,), lambda x: float(CURVATURE @ x[0] ** 2), lambda x: (2 * CURVATURE * x[0],))
    np.testing.assert_array_equal(x, start)


@every_function
def test_the_value_does_not_increase_along_a_wrong_gradient(name):
    f, gradient, _ = FUNCTIONS[name]
    start = np.full(len(FUNCTIONS[name][2]), 0.3)
    (x,) = descend((start,), lambda x: float(f(x[0])), lambda x: (-gradient(x[0]),))
    assert f(x) <= f(start)


def test_the_last_trial_is_accepted_if_it_lowers_the_value_at_all():
    """The decrease is never sufficient, so that the step is halved until no trial is left."""
    (x,) = descend((np.zeros(1),), lambda x: -1e-12 * float(x[0][0] != 0), lambda x: (np.ones(1),), max_iter=1)
    assert -1e-6 < x[0] < 0


def test_at_most_60_iterations():
    """A linear function has no minimum."""
    points = []
    descend((np.zeros(1),), lambda x: float(x[0][0]), lambda x: (points.append(x) or np.ones(1),))
    assert len(points) == 60
