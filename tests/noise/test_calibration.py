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
from spmld.noise import NoiseRates, PooledCalibration
from spmld.noise.calibration import _Entries, _fit_prior, _minimize, _Prior
from tests.model_selection.classifier_cases import Ridge, make_data, scores_and_signs


def objective(line, scores, signs, weights):
    """The loss of the slope and the shift of one label, written as in the docstring."""
    positives, negatives = weights[signs > 0].sum(), weights[signs < 0].sum()
    targets = np.where(signs > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    log_odds = line[0] * scores + line[1]
    entries = np.logaddexp(0, log_odds) - targets * log_odds
    return (np.where(signs != 0, weights, 0) * entries).sum()


def draw(n, slope, shifts, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    scores = spread * rng.normal(size=(n, len(shifts)))
    return scores, np.where(rng.random(scores.shape) < expit(slope * scores + shifts), 1, -1).astype(np.int8)


def test_the_calibration_of_one_label_is_the_direct_minimum():
    scores, signs = draw(80, 1.5, np.array([-1.0]))
    rng = np.random.default_rng(1)
    signs[rng.random(signs.shape) < 0.3] = 0
    weights = rng.uniform(0.2, 2, size=signs.shape)
    model = PooledCalibration().fit(scores, signs, weights)
    best = minimize(objective, np.zeros(2), (scores, signs, weights), method="BFGS", tol=1e-10).x
    assert_allclose([model.slopes_[0], model.intercepts_[0]], best, atol=1e-5)


def test_labels_that_are_alike_share_a_slope_and_labels_that_differ_have_their_own():
    scores, signs = draw(1500, np.ones(8), np.full(8, -1.0))
    alike = PooledCalibration().fit(scores, signs)
    together = PooledCalibration().fit(scores.reshape(-1, 1), signs.reshape(-1, 1))
    assert_allclose(alike.slopes_, together.slopes_[0], rtol=0.05)
    slopes = np.array([2.0, 2.0, 1.0, 1.0, 0.3, 0.3, 0.0, 0.0])
    scores, signs = draw(1500, slopes, np.full(8, -1.0))
    model = PooledCalibration().fit(scores, signs)
    for j in range(8):
        alone = PooledCalibration().fit(scores[:, [j]], signs[:, [j]])
        assert_allclose(model.slopes_[j], alone.slopes_[0], atol=0.1)
    assert model.log_likelihood_ > PooledCalibration().fit(scores.reshape(-1, 1), signs.reshape(-1, 1)).log_likelihood_


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_of_strong_labels_beside_labels_without_signal_are_true(seed):
    """One slope for all labels has a log loss that is .04 higher."""
    slopes = np.repeat([1.0, 0.4, 0.1, 0.0], 5)
    scores, signs = draw(3800, slopes, np.full(20, -2.0), seed=seed, spread=3.0)
    truth = expit(slopes * scores[800:] - 2)
    found = PooledCalibration().fit(scores[:800], signs[:800]).probabilities(scores[800:])
    losses = [-np.log(np.where(signs[800:] > 0, p, 1 - p)).mean() for p in (found, truth)]
    assert losses[0] < losses[1] + 0.005


@given(scores_and_signs(labels=1))
def test_no_other_slope_or_shift_has_a_lower_loss(case):
    scores, signs = case
    scores = np.clip(scores, -1e3, 1e3)
    model = PooledCalibration().fit(scores, signs)
    observed = scores[signs != 0]
    if len(np.unique(signs[signs != 0])) < 2:
        return  # scores are taken as log-odds
    width = max(np.ptp(observed), 1e-9)
    if width < 1e-6 and np.ptp(observed) > 0:
        return  # neighboring floats: a slope of 1e16 cannot be tested by differences
    optimum = np.array([model.slopes_[0], model.intercepts_[0]])
    value = objective(optimum, scores, signs, np.ones(signs.shape))
    for direction in np.vstack([np.eye(2), -np.eye(2)]):
        other = optimum + 1e-3 * direction * [1 / width, 1]
        other[1] -= (other[0] - optimum[0]) * observed.mean()
        if other[0] >= 0:
            assert value <= objective(other, scores, signs, np.ones(signs.shape)) + 1e-9


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
    others = model.intercepts_[[0, 2]]
    assert others.min() - 0.3 < model.intercepts_[1] < model.intercepts_[3]  # no entry: the mean of the labels
    alone = PooledCalibration().fit(scores[:, [3]], signs[:, [3]])
    assert others.max() < model.intercepts_[3] < alone.intercepts_[0]


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
        assert abs(residual.sum()) < 1e-5
        gradient = (residual * score).sum() / np.linalg.norm(score)
        assert abs(gradient) < 1e-5 if model.slopes_[0] > 0 else gradient > -1e-5


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


def test_derivatives_are_differences_of_the_loss():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 30)
    weights = rng.uniform(0.5, 2, 30)
    entries = _Entries(rng.normal(size=30), labels, rng.random(30), weights, LOSSES["logistic"], 1e-12)
    nothing = _Prior(np.zeros(2), np.zeros(2))
    lines = rng.normal(size=(3, 2))
    gradient, hessian = entries.derivatives(lines)
    h = 1e-5
    for k, step in enumerate(h * np.eye(2)):
        difference = entries.losses(lines + step, nothing) - entries.losses(lines - step, nothing)
        assert_allclose(gradient[:, k], difference / (2 * h), rtol=1e-5, atol=1e-8)
        slopes = entries.derivatives(lines + step)[0] - entries.derivatives(lines - step)[0]
        assert_allclose(hessian[:, k], slopes / (2 * h), rtol=1e-5, atol=1e-8)


def test_the_marginal_likelihood_is_the_integral_over_the_lines():
    """Laplace's method against a grid, for labels with the prior that the fit estimates."""
    scores, signs = draw(60, np.array([0.5, 1.5]), np.array([-1.0, 0.5]))
    weights, labels = np.ones(120), np.tile([0, 1], 60)
    entries = _Entries(scores.ravel(), labels, (signs.ravel() + 1) / 2, weights, LOSSES["logistic"], 1e-12)
    prior = _Prior(np.array([1.0, -0.3]), np.array([2.0, 1.5]))
    lines = _minimize(entries, np.zeros((2, 2)), prior)
    volume = np.linalg.slogdet(entries.derivatives(lines)[1] / prior.precision + np.eye(2))[1]
    laplace = -entries.losses(lines, prior) - volume / 2
    steps = np.linspace(-5, 5, 201)
    grid = np.array([[a, b] for a in steps for b in steps])
    for j in range(2):
        rows = labels == j
        parts = entries.z[rows], np.zeros(60, dtype=int), entries.targets[rows], weights[rows]
        of_label = _Entries(*parts, LOSSES["logistic"], 1e-12)
        values = [of_label.losses(line[None], prior)[0] for line in grid]
        density = np.sqrt(prior.precision.prod()) / (2 * np.pi)
        integral = np.log(np.exp(-np.array(values)).sum() * density * (steps[1] - steps[0]) ** 2)
        assert laplace[j] == pytest.approx(integral, abs=0.1)


@pytest.mark.parametrize("beyond", [np.inf, np.nan, 2.0])
def test_the_last_point_is_kept_where_no_halving_of_a_step_decreases_the_loss(beyond):
    class Edge:
        """A loss that decreases down to a slope of 1; steps lead to smaller slopes."""

        weights = np.ones(4)
        tol = 1e-12

        def losses(self, lines, prior):
            return np.where(lines[:, 0] >= 1, lines[:, 0], beyond)

        def derivatives(self, lines):
            step = np.where(lines[:, 0] > 1, 1.0, 0.5)
            return np.stack([step, np.zeros(1)], axis=-1), np.eye(2)[None]

    lines = _minimize(Edge(), np.array([[3.0, 0.25]]), _Prior(np.zeros(2), np.zeros(2)))
    assert_array_equal(lines, [[1.0, 0.25]])


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
def test_the_distribution_of_the_lines_is_a_fixed_point_of_the_em_algorithm(spread):
    """Variances that are not 0 equal the mean squares of the effects plus their posterior variances."""
    rng = np.random.default_rng(0)
    curvature = rng.uniform(20, 200, size=(30, 2))
    hessian = curvature[:, :, None] * np.array([[1.0, 0.3], [0.3, 1.0]]) + curvature[:, None, :] * np.eye(2)
    truth = np.array([1.0, -2.0]) + spread * rng.normal(size=(30, 2))
    noise = np.linalg.cholesky(np.linalg.inv(hessian)) @ rng.normal(size=(30, 2, 1))
    lines = truth + noise[:, :, 0]
    mean, precision = _fit_prior(lines, _Prior(np.zeros(2), np.ones(2)), np.zeros((30, 2)), hessian)
    covariance = np.linalg.inv(hessian + np.diag(precision))
    effects = (covariance @ hessian @ (lines - mean)[:, :, None])[:, :, 0]
    variance = (effects**2 + np.diagonal(covariance, axis1=1, axis2=2)).mean(axis=0)
    np.testing.assert_allclose(variance * precision, 1, atol=2e-3)
    np.testing.assert_allclose(mean, [1, -2], atol=3 * max(spread, 0.1) / np.sqrt(30))
    if spread == 0:
        assert (precision > 1000).all()
    else:
        np.testing.assert_allclose(precision**-0.5, spread, rtol=0.4)


def test_the_mean_of_slopes_is_not_negative_and_precisions_are_bounded():
    """Slopes are at least 0: a negative mean with a large precision would make this very improbable."""
    lines = np.array([[-0.1, 0.3], [-0.1, 0.3], [-0.1, 0.3]])
    hessian = np.tile(100 * np.eye(2), (3, 1, 1))
    prior = _fit_prior(lines, _Prior(np.zeros(2), np.ones(2)), np.zeros((3, 2)), hessian)
    assert_allclose(prior.mean, [0, 0.3], atol=1e-6)
    assert prior.precision[1] == pytest.approx(300 / 1e-3)
    apart = _fit_prior(np.array([[1e6, 0.0], [0.0, 0.0]]), prior, np.zeros((2, 2)), hessian[:2])
    assert apart.precision[0] == pytest.approx(1e-4)


@pytest.mark.parametrize("rate", [0.1, 0.4, 0.48, 0.4999])
def test_the_likelihood_is_finite_for_all_rates(rate):
    rng = np.random.default_rng(0)
    scores = 3 * rng.normal(size=(500, 30))
    signs = np.where(rng.random(scores.shape) < expit(scores), 1, -1).astype(np.int8)
    rates = NoiseRates(np.full(30, rate), np.full(30, rate))
    calibration = PooledCalibration().fit(scores, signs, rates=rates)
    assert np.isfinite(calibration.log_likelihood_)
    assert np.isfinite(calibration.transform(scores)).all()
