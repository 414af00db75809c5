"""Calibration: the minimum of Platt's objective, and calibrated probabilities."""

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration

from spmld.model_selection import CalibratedClassifier
from spmld.model_selection.calibration import fit_sigmoids

from .classifier_cases import Ridge, make_data, scores_and_signs


def platt_objective(ab, score, sign):
    positives, negatives = (sign > 0).sum(), (sign < 0).sum()
    target = np.where(sign > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    margin = ab[0] * score + ab[1]
    return (np.logaddexp(0, margin) - target * margin)[sign != 0].sum()


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e-3, 5.0), (100.0, -300.0)])
def test_sigmoids_equal_scikit_learns_and_the_direct_minimum(scale, shift):
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(300, 6))
    signs = np.where(raw + rng.normal(size=raw.shape) > np.linspace(-1, 1.5, 6), 1, -1).astype(np.int8)
    signs[:, 5] = np.where(raw[:, 5] > 0.3, 1, -1)  # one label is separable
    scores = scale * raw + shift
    slopes, intercepts = fit_sigmoids(scores, signs)
    for j in range(6):
        ours = 1 / (1 + np.exp(-(slopes[j] * scores[:, j] + intercepts[j])))
        # scikit-learn's stops early on scores far from 0; standardized scores have the same minimum.
        theirs = _SigmoidCalibration().fit(raw[:, j], signs[:, j]).predict(raw[:, j])
        assert_allclose(ours, theirs, atol=1e-6)
        minimum = minimize(platt_objective, (0, 0), (raw[:, j], signs[:, j]), method="Nelder-Mead", tol=1e-12).x
        assert_allclose((slopes[j] * scale, intercepts[j] + slopes[j] * shift), minimum, rtol=1e-6, atol=1e-6)


@given(scores_and_signs(labels=2))
@settings(max_examples=100, deadline=None)
def test_sigmoids_make_the_gradient_vanish_on_observed_entries(case):
    scores, signs = case
    scores = np.clip(scores, -1e3, 1e3)
    slopes, intercepts = fit_sigmoids(scores, signs)
    for j in range(2):
        score, sign = scores[:, j], signs[:, j]
        width = max(np.ptp(score[sign != 0]), 1e-9)
        if width < 1e-6 and np.ptp(score[sign != 0]) > 0:
            continue  # neighboring floats: a slope of 1e16 cannot be tested by differences
        here = platt_objective((slopes[j], intercepts[j]), score, sign)
        center = score[sign != 0].mean()
        for da in (-1e-3, 0, 1e-3):
            for db in (-1e-3, 0, 1e-3):
                other = (slopes[j] + da / width, intercepts[j] + db - da / width * center)
                assert here <= platt_objective(other, score, sign) + 1e-9


def test_sigmoids_of_scores_with_outliers_are_optimal():
    # Full Newton steps diverge on these.
    rng = np.random.default_rng(0)
    scores = rng.standard_t(1, size=(40, 60)) ** 3
    signs = np.where(rng.random(scores.shape) < 0.1, 1, -1).astype(np.int8)
    signs[0], signs[1] = 1, -1
    slopes, intercepts = fit_sigmoids(scores, signs)
    for score, sign, a, b in zip(scores.T, signs.T, slopes, intercepts, strict=True):
        positives, negatives = (sign > 0).sum(), (sign < 0).sum()
        target = np.where(sign > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
        residual = expit(a * score + b) - target
        assert abs(residual.sum()) < 1e-6
        assert abs(residual @ score) < 1e-6 * np.linalg.norm(score)


def test_sigmoids_ignore_missing_entries_and_equal_scores_give_the_prior():
    rng = np.random.default_rng(1)
    scores, signs = rng.normal(size=(50, 3)), rng.choice([-1, 0, 1], size=(50, 3)).astype(np.int8)
    poisoned = np.where(signs == 0, 1e6 * rng.normal(size=scores.shape), scores)
    assert_allclose(fit_sigmoids(scores, signs), fit_sigmoids(poisoned, signs), rtol=1e-9)
    slopes, intercepts = fit_sigmoids(np.ones((10, 1)), np.array([[1]] * 3 + [[-1]] * 7))
    targets = (3 * 4 / 5 + 7 * 1 / 9) / 10
    assert slopes == pytest.approx(0)
    assert 1 / (1 + np.exp(-intercepts)) == pytest.approx(targets)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_corrects_shifted_scores(method):
    X, Y = make_data(3000, 3, missing=0.3)
    model = CalibratedClassifier(Ridge(shift=2.0), method=method, random_state=0).fit(X[:1500], Y[:1500])
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


def test_isotonic_probabilities_are_the_best_monotone_ones_within_the_bounds():
    # One feature and one label: positives above 0, so that without bounds the fit would be 0 and 1.
    X = np.linspace(-1, 1, 50)[:, None]
    Y = (X > 0).astype(float)
    Y[::5] = np.nan
    model = CalibratedClassifier(Ridge().fit(X, Y), method="isotonic", cv="prefit").fit(X, Y)
    P = model.predict_proba(np.array([[-100.0], [-1.0], [1.0], [100.0]]))
    assert_allclose(P[:, 0], [1 / 42, 1 / 42, 41 / 42, 41 / 42])
