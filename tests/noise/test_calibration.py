"""Calibration: the minimum of the penalized logistic loss, and calibrated probabilities."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration

from spmld.core.losses import LOSSES
from spmld.estimators import ThresholdClassifier
from spmld.noise import PooledCalibration
from spmld.noise.calibration import _minimize, _PooledLoss
from tests.model_selection.classifier_cases import Ridge, make_data, scores_and_signs


def objective(theta, scores, signs, weights, penalty):
    """The loss of theta = (a, b, b_1, ..., b_l) over all entries, written as in the docstring."""
    positives, negatives = weights[signs > 0].sum(), weights[signs < 0].sum()
    targets = np.where(signs > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    log_odds = theta[0] * scores + theta[1] + theta[2:]
    entries = np.logaddexp(0, log_odds) - targets * log_odds
    return (np.where(signs != 0, weights, 0) * entries).sum() + penalty / 2 * theta[2:] @ theta[2:]


def draw(n, slope, shifts, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, len(shifts)))
    return scores, np.where(rng.random(scores.shape) < expit(slope * scores + shifts), 1, -1).astype(np.int8)


@pytest.mark.parametrize("penalty", [0.1, 10.0])
def test_pooled_calibration_is_the_direct_minimum(penalty):
    scores, signs = draw(60, 1.5, np.array([-1.0, 0.0, 1.0]))
    rng = np.random.default_rng(1)
    signs[rng.random(signs.shape) < 0.3] = 0
    weights = rng.uniform(0.2, 2, size=signs.shape)
    model = PooledCalibration(penalty=penalty).fit(scores, signs, weights)
    best = minimize(objective, np.zeros(5), (scores, signs, weights, penalty), method="BFGS", tol=1e-10).x
    assert_allclose(model.slopes_, best[0], atol=1e-5)
    assert_allclose(model.intercepts_, best[1] + best[2:], atol=1e-5)


@given(scores_and_signs(labels=2))
def test_no_other_slope_or_shift_has_a_lower_loss(case):
    scores, signs = case
    scores = np.clip(scores, -1e3, 1e3)
    model = PooledCalibration().fit(scores, signs)
    weights, b = np.ones(signs.shape), model.intercepts_.mean()
    observed = scores[signs != 0]
    width = max(np.ptp(observed), 1e-9)
    if width < 1e-6 and np.ptp(observed) > 0:
        return  # neighboring floats: a slope of 1e16 cannot be tested by differences
    optimum = np.array([model.slopes_[0], b, *(model.intercepts_ - b)])
    value = objective(optimum, scores, signs, weights, 10.0)
    for direction in np.vstack([np.eye(4), -np.eye(4)]):
        other = optimum + 1e-3 * direction * [1 / width, 1, 1, 1]
        other[1] -= (other[0] - optimum[0]) * observed.mean()
        if other[0] >= 0:
            assert value <= objective(other, scores, signs, weights, 10.0) + 1e-9


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e-3, 5.0), (100.0, -300.0)])
def test_the_calibration_of_a_single_label_is_the_sigmoid_of_scikit_learn(scale, shift):
    raw, signs = draw(300, 1.0, np.linspace(-2, 1, 6))
    signs[:, 5] = np.where(raw[:, 5] > 0.3, 1, -1)  # one label is separable
    for j in range(6):
        scores = scale * raw[:, [j]] + shift
        P = PooledCalibration().fit(scores, signs[:, [j]]).probabilities(scores)
        # scikit-learn's stops early on scores far from 0; standardized scores have the same minimum.
        assert_allclose(P[:, 0], _SigmoidCalibration().fit(raw[:, j], signs[:, j]).predict(raw[:, j]), atol=1e-6)


def test_a_planted_slope_and_shifts_are_recovered():
    shifts = np.array([-3.0, -1.0, 0.0, 0.5])
    scores, signs = draw(20_000, 0.7, shifts)
    model = PooledCalibration().fit(scores, signs)
    assert_allclose(model.slopes_, 0.7, atol=0.03)
    assert_allclose(model.intercepts_, shifts, atol=0.1)
    assert_allclose(model.probabilities(scores).mean(axis=0), (signs > 0).mean(axis=0), atol=0.01)


def test_shifts_of_labels_with_few_entries_are_shrunk():
    scores, signs = draw(2000, 1.0, np.array([-1.0, -1.0, -1.0, 2.0]))
    signs[10:, 2:] = 0
    signs[:, 1] = 0
    model = PooledCalibration().fit(scores, signs)
    common = model.intercepts_.mean()  # the shifts of the labels have mean 0
    assert_allclose(model.intercepts_[1], common)  # no entry
    assert common < model.intercepts_[3] < common + 1.5
    alone = PooledCalibration(penalty=1e9).fit(scores, signs)
    assert_allclose(alone.intercepts_, alone.intercepts_[0], atol=1e-6)


def test_weights_count_entries_and_missing_entries_are_never_read():
    scores, signs = draw(40, 1.0, np.array([-1.0, 1.0]))
    signs[::3, 0] = 0
    once = PooledCalibration().fit(scores, signs, np.full(signs.shape, 2.0))
    twice = PooledCalibration().fit(np.vstack([scores, scores]), np.vstack([signs, signs]))
    assert_allclose(once.probabilities(scores), twice.probabilities(scores), rtol=1e-6)
    hidden = PooledCalibration().fit(scores, np.where(np.arange(40)[:, None] < 30, signs, 0))
    poisoned = np.where(np.arange(40)[:, None] < 30, scores, np.nan)
    for other in (
        PooledCalibration().fit(poisoned, signs, np.where(np.isnan(poisoned), 0.0, 1.0)),
        PooledCalibration().fit(np.where(signs == 0, np.nan, poisoned), np.where(np.isnan(poisoned), 0, signs)),
    ):
        assert_allclose(other.probabilities(scores), hidden.probabilities(scores), rtol=1e-9)


def test_probabilities_do_not_depend_on_the_scale_of_scores_or_the_order_of_labels():
    scores, signs = draw(200, 1.0, np.array([-2.0, 0.0, 1.0]))
    expected = PooledCalibration().fit(scores, signs).probabilities(scores)
    moved = 1e4 * scores - 3e5
    assert_allclose(PooledCalibration().fit(moved, signs).probabilities(moved), expected, rtol=1e-6)
    order = [2, 0, 1]
    permuted = PooledCalibration().fit(scores[:, order], signs[:, order]).probabilities(scores[:, order])
    assert_allclose(permuted, expected[:, order], rtol=1e-9)


def test_scores_in_the_reverse_order_give_constant_probabilities():
    scores, signs = draw(300, 1.0, np.array([-1.0, 0.5]))
    reversed_scores, constant = PooledCalibration().fit(-scores, signs), PooledCalibration().fit(0 * scores, signs)
    assert_array_equal(reversed_scores.slopes_, 0)
    assert_allclose(reversed_scores.probabilities(scores), constant.probabilities(scores), rtol=1e-6)
    # One label with equal scores: the mean target.
    alone = PooledCalibration().fit(np.ones((10, 1)), np.array([[1]] * 3 + [[-1]] * 7))
    assert alone.probabilities(np.ones((1, 1))) == pytest.approx((3 * 4 / 5 + 7 * 1 / 9) / 10)


def test_calibration_of_separable_scores_is_finite_and_of_one_class_is_the_identity():
    scores = np.linspace(-1, 1, 40).reshape(20, 2)
    P = PooledCalibration().fit(scores, np.where(scores > 0, 1, -1)).probabilities(scores)
    assert 0.001 < P.min() < 1 / 22
    assert 21 / 22 < P.max() < 0.999
    for signs in (np.ones((20, 2)), -np.ones((20, 2)), np.zeros((20, 2))):
        assert_array_equal(PooledCalibration().fit(scores, signs.astype(np.int8)).transform(scores), scores)


def test_calibration_of_scores_with_outliers_is_optimal():
    # Full Newton steps diverge on these.
    rng = np.random.default_rng(0)
    scores = rng.standard_t(1, size=(40, 60)) ** 3
    signs = np.where(rng.random(scores.shape) < 0.1, 1, -1).astype(np.int8)
    for score, sign in zip(scores.T[:, :, None], signs.T[:, :, None], strict=True):
        if abs(sign.sum()) == 40:
            continue
        model = PooledCalibration().fit(score, sign)
        positives, negatives = (sign > 0).sum(), (sign < 0).sum()
        residual = model.probabilities(score) - np.where(
            sign > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2)
        )
        assert abs(residual.sum()) < 1e-6
        gradient = (residual * score).sum() / np.linalg.norm(score)
        assert abs(gradient) < 1e-6 if model.slopes_[0] > 0 else gradient > -1e-6


def test_calibration_corrects_shifted_scores():
    X, Y = make_data(3000, 3, missing=0.3)
    model = ThresholdClassifier(Ridge(shift=2.0), decision=0.5, random_state=0).fit(X[:1500], Y[:1500])
    P, truth = model.predict_proba(X[1500:]), Y[1500:]
    assert P.shape == (1500, 3)
    for p, y in zip(P.T, truth.T, strict=True):
        p, y = p[~np.isnan(y)], y[~np.isnan(y)]
        for low in (0.0, 0.25, 0.5, 0.75):
            inside = (p >= low) & (p <= low + 0.25)
            if inside.sum() > 100:
                assert abs(p[inside].mean() - y[inside].mean()) < 0.1
    scores = model.estimator_.decision_function(X)
    ranks = np.take_along_axis(model.predict_proba(X), np.argsort(scores, axis=0), axis=0)
    assert (np.diff(ranks, axis=0) >= 0).all()
    assert_array_equal(model.predict(X), model.predict_proba(X) > 0.5)


def test_a_newton_step_solves_the_equations_of_all_variables():
    """With the Hessian of the loss by differences of its value."""
    rng = np.random.default_rng(0)
    loss = _PooledLoss(
        rng.normal(size=30), rng.integers(0, 3, 30), rng.random(30), rng.uniform(0.5, 2, 30), 4.0, LOSSES["logistic"]
    )
    point, h = np.array([0.7, -0.3, 0.2, 0.1, -0.4]), 1e-3

    def value(x):
        return loss.value(x[0], x[1], x[2:])

    E = h * np.eye(5)
    gradient = np.array([value(point + e) - value(point - e) for e in E]) / (2 * h)
    hessian = np.array(
        [
            [value(point + a + b) - value(point + a - b) - value(point - a + b) + value(point - a - b) for b in E]
            for a in E
        ]
    ) / (4 * h**2)
    expected = np.linalg.solve(hessian, gradient)
    a, b, c, decrease = loss.newton_step(point[0], point[1], point[2:])
    assert_allclose([a, b, *c], expected, rtol=1e-3)
    assert decrease == pytest.approx(gradient @ expected, rel=1e-3)


@pytest.mark.parametrize("beyond", [np.inf, np.nan, 2.0])
def test_the_last_point_is_kept_where_no_halving_of_a_step_decreases_the_loss(beyond):
    class Edge:
        """A loss that decreases down to a = 1; steps lead to smaller a."""

        weights = np.ones(4)

        def value(self, a, b, c):
            return a if a >= 1 else beyond

        def newton_step(self, a, b, c):
            return (1.0 if a > 1 else 0.5), 0.0, np.zeros(2), 1.0

    start = 3.0, 0.25, np.array([0.5, -0.5])
    slope, shift, shifts = _minimize(Edge(), start)
    assert (slope, shift) == (1.0, 0.25)
    np.testing.assert_array_equal(shifts, start[2])
