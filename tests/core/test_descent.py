"""Steepest descent: step lengths and stopping as in the released code."""

import numpy as np
import pytest

from spmld.core.descent import descend

CURVATURE = np.array([1.0, 10.0])


class Recorder:
    """1/2 x^T diag(c) x, recording the points of evaluation."""

    def __init__(self):
        self.points = []

    def value(self, x):
        self.points.append(x[0].copy())
        return float(0.5 * np.sum(CURVATURE * x[0] ** 2))

    def gradient(self, x):
        return (CURVATURE * x[0],)


def test_first_trial_has_length_one_and_later_ones_follow_the_last_decrease():
    f = Recorder()
    x0 = np.array([4.0, 3.0])
    descend((x0,), f.value, f.gradient, max_iter=2)
    g0 = CURVATURE * x0
    trials = iter(f.points[1:])
    x = next(trials)
    np.testing.assert_allclose(x, x0 - g0 / np.linalg.norm(g0))
    cost = 0.5 * np.sum(CURVATURE * x0**2)
    first = 0.5 * np.sum(CURVATURE * x**2)
    assert first < cost  # the first trial is accepted
    g1 = CURVATURE * x
    np.testing.assert_allclose(next(trials), x - 4 * (cost - first) / (g1 @ g1) * g1)


def test_trials_are_halved_until_the_decrease_is_sufficient():
    tried = []

    def value(x):
        (s,) = x[0]
        tried.append(s)
        # A full step does not decrease the value enough; a quarter step does.
        return {0.0: 1.0, -1.0: 1 - 1e-6, -0.5: 1 + 1e-3}.get(s, 1 + s / 10)

    (x,) = descend((np.zeros(1),), value, lambda x: (np.ones(1),), max_iter=1)
    assert tried == [0.0, -1.0, -0.5, -0.25]
    assert x[0] == -0.25


def test_after_25_trials_a_step_that_does_not_lower_the_value_is_rejected():
    tried = []

    def value(x):
        tried.append(x[0][0])
        return 1.0 if x[0][0] == 0 else 2.0

    (x,) = descend((np.zeros(1),), value, lambda x: (np.ones(1),), max_iter=5)
    assert x[0] == 0
    assert len(tried) == 26


def test_stops_where_the_gradient_or_the_change_is_zero():
    f = Recorder()
    descend((np.full(2, 1e-9),), f.value, f.gradient)
    assert len(f.points) == 1

    # Three small changes are complete at the fifth value, and at the sixth if the first change is large.
    for first, expected in ((0.5, 4), (1.0, 5)):
        values = iter([first, *(0.5 - 1e-6 * i for i in range(1, 100))])
        taken = []

        def gradient(x, taken=taken):
            taken.append(x)
            return (np.full(1, 1e-3),)

        descend((np.zeros(1),), lambda x, values=values: next(values), gradient, max_iter=60)
        assert len(taken) == expected


def test_many_iterations_reach_the_minimum_and_keep_the_products_consistent():
    f = Recorder()
    A = np.array([[1.0, 2.0], [0.5, -1.0]])

    def gradient(x):
        g = CURVATURE * x[0]
        return g, A @ g

    x, product = descend(
        (np.array([4.0, 3.0]), A @ np.array([4.0, 3.0])), f.value, gradient, n_variables=1, max_iter=500
    )
    assert np.abs(x).max() < 0.01
    np.testing.assert_allclose(product, A @ x, atol=1e-12)


def test_retraction_is_applied_to_every_trial():
    def value(x):
        assert np.linalg.norm(x[0]) == pytest.approx(1)
        return float(x[0][0])

    start = np.array([0.6, 0.8])
    (x,) = descend(
        (start,), value, lambda x: (np.array([1.0, 0.0]) - x[0][0] * x[0],), lambda x: (x[0] / np.linalg.norm(x[0]),)
    )
    np.testing.assert_allclose(x, [-1, 0], atol=1e-2)


def test_a_step_that_lowers_the_value_a_little_is_accepted_after_25_trials():
    """The second step has length 4e-12 by the last decrease, and ends the iteration."""
    tried = []

    def value(x):
        tried.append(x[0][0])
        return -1e-12 * min(len(tried) - 1, 25) / 25 - 1e-24 * max(len(tried) - 26, 0) / 25

    (x,) = descend((np.zeros(1),), value, lambda x: (np.ones(1),), max_iter=9)
    assert len(tried) == 1 + 25 + 25
    assert x[0] == pytest.approx(-(2.0**-24), rel=1e-6)


def test_at_most_60_iterations():
    n_gradients = 0

    def gradient(x):
        nonlocal n_gradients
        n_gradients += 1
        return (np.ones(1),)

    descend((np.zeros(1),), lambda x: float(x[0][0]), gradient)
    assert n_gradients == 60
