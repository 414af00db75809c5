"""DependencyCorrection: planted dependencies are found, and missing labels are ignored."""

import numpy as np
import pytest
from scipy.optimize import minimize

from spmld import SelfPacedEnsemble
from spmld.core.losses import logistic
from spmld.datasets import make_planted
from spmld.ensemble.correction import DependencyCorrection
from spmld.labels import hide_labels


def ising(n, seed=0):
    """Labels 0 and 1 are mutually exclusive, 2 co-occurs with 0 regardless of the scores, and 3 is independent."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 4)) - 0.5
    first = rng.random(n) < logistic(scores[:, 0])
    second = ~first & (rng.random(n) < logistic(scores[:, 1]))
    third = rng.random(n) < logistic(scores[:, 2] + np.where(first, 2.0, -2.0))
    last = rng.random(n) < logistic(scores[:, 3])
    return scores, np.where(np.column_stack([first, second, third, last]), 1, -1).astype(np.int8)


def hide(signs, shown):
    """Return labels with NaN where `shown` is False."""
    return np.where(shown, signs, np.nan)


def delta(B, scores, known=None):
    """The correction by its formula, entry by entry."""
    known = np.full(scores.shape, np.nan) if known is None else known
    out = np.zeros(scores.shape)
    for i, j in np.ndindex(scores.shape):
        out[i, j] = B[j, j] * scores[i, j] + B[-1, j]
        for k in range(scores.shape[1]):
            if k != j:
                z = logistic(scores[i, k]) if np.isnan(known[i, k]) else float(known[i, k] > 0)
                out[i, j] += z * B[k, j]
    return out


def test_the_correction_is_that_of_the_formula():
    rng = np.random.default_rng(0)
    scores, signs = ising(60)
    known = hide(signs, rng.random(signs.shape) < 0.5)
    correction = DependencyCorrection().fit(scores, signs, known=known)
    expected, without = delta(correction.coef_, scores, known), delta(correction.coef_, scores)
    np.testing.assert_allclose(correction.correct(scores, known), scores + expected, atol=1e-12)
    np.testing.assert_allclose(correction.correct(scores), scores + without, atol=1e-12)
    np.testing.assert_allclose(correction.correct(scores, known, weight=0.3), scores + 0.3 * expected, atol=1e-12)


@pytest.mark.parametrize("shows", [True, False])
def test_a_general_solver_finds_nothing_much_lower(shows):
    rng = np.random.default_rng(0)
    scores, signs = ising(80)
    weights = rng.random(signs.shape) * (rng.random(signs.shape) < 0.7)
    known = hide(signs, weights > 0) if shows else None

    def objective(B):
        B = B.reshape(5, 4)
        losses = np.logaddexp(0, -signs * (scores + delta(B, scores, known)))
        return (weights * losses).sum() + (B**2).sum() / (2 * 0.7)

    coef = DependencyCorrection(C=0.7).fit(scores, signs, weights, known=known).coef_
    other = minimize(objective, np.zeros(20))
    assert objective(coef) == pytest.approx(other.fun, rel=1e-3)
    assert objective(coef) < objective(np.zeros(20)) - 0.5 * (objective(np.zeros(20)) - other.fun)


def test_planted_dependencies_are_found():
    scores, signs = ising(3000)
    M = DependencyCorrection().fit(scores, signs, known=signs).label_dependencies_
    assert M[0, 1] < -1.5
    assert M[0, 2] > 1.5
    assert max(np.abs(M[3]).max(), np.abs(M[:, 3]).max()) < 0.5
    assert (np.diag(M) == 0).all()


def test_known_labels_improve_the_scores_of_the_others():
    """The loss on new samples decreases; without known labels it decreases less."""
    train, signs = ising(1000)
    scores, truth = ising(1000, seed=1)
    correction = DependencyCorrection().fit(train, signs, known=signs)
    known = hide(truth, np.array([True, False, False, False]))

    def loss(scores):
        return np.logaddexp(0, -truth * scores)[:, 1:3].mean()

    assert loss(correction.correct(scores, known)) < 0.8 * loss(scores)
    assert loss(correction.correct(scores, known)) < loss(correction.correct(scores))


def test_missing_labels_are_never_read():
    rng = np.random.default_rng(0)
    scores, signs = ising(100)
    observed = rng.random(signs.shape) < 0.6
    flipped = np.where(observed, signs, -signs)
    known = hide(signs, observed)
    coefs = [
        DependencyCorrection().fit(scores, Y, observed.astype(float), known).coef_ for Y in (signs, flipped, known)
    ]
    np.testing.assert_array_equal(coefs[0], coefs[1])
    np.testing.assert_array_equal(coefs[0], coefs[2])


def test_permuting_labels_permutes_the_dependencies():
    scores, signs = ising(200)
    order = np.array([2, 0, 3, 1])
    M = DependencyCorrection().fit(scores, signs).label_dependencies_
    moved = DependencyCorrection().fit(scores[:, order], signs[:, order]).label_dependencies_
    np.testing.assert_allclose(moved, M[np.ix_(order, order)], atol=1e-2)


def test_at_most_max_samples_are_fitted():
    rng = np.random.default_rng(0)
    scores, signs = ising(3000)
    known, weights = hide(signs, rng.random(signs.shape) < 0.5), np.ones(signs.shape)
    third = DependencyCorrection().fit(scores[::3], signs[::3], weights[::3], known=known[::3])
    limited = DependencyCorrection(max_samples=1000).fit(scores, signs, weights, known=known)
    np.testing.assert_array_equal(limited.coef_, third.coef_)


def test_without_evidence_nothing_is_added():
    scores, signs = ising(50)
    correction = DependencyCorrection().fit(scores, signs, np.zeros(signs.shape))
    assert (correction.correct(scores) == scores).all()


def test_completion_uses_the_observed_labels():
    """If one of two labels that are always equal is observed, it predicts the other better than the features."""
    rng = np.random.default_rng(0)
    data = make_planted(n_samples=400, random_state=0)
    truth = np.column_stack([data.Y, rng.random(len(data.Y)) < 0.4])
    truth = np.column_stack([truth, truth[:, -1]]).astype(float)
    model = SelfPacedEnsemble(views=("linear",), keep_fraction=1.0, completion_weight=1.0, random_state=0)
    model.fit(data.X, hide_labels(truth, 0.6, random_state=0))
    shown = np.full(truth.shape, np.nan)
    shown[:, -2] = truth[:, -2]
    # Features do not predict these two labels, but each label predicts the other perfectly.
    confidence = model.complete(data.X, shown).confidences[:, -1]
    p = np.where(model.complete(data.X, shown).labels[:, -1] == 1, confidence, 1 - confidence)
    assert p[truth[:, -1] == 1].min() > p[truth[:, -1] == 0].max()
    assert model.label_dependencies_.shape == (truth.shape[1],) * 2


def test_completion_has_a_separate_weight():
    data = make_planted(n_samples=200, random_state=0)
    Y = hide_labels(data.Y, 0.7, random_state=0)
    options = {"views": ("linear",), "keep_fraction": 1.0, "dependency_weight": 0.0, "decision": 0.5, "random_state": 0}
    without, full = (SelfPacedEnsemble(**options, completion_weight=w).fit(data.X, Y) for w in (0.0, 1.0))
    p = without.predict_proba(data.X)[np.isnan(Y)]
    np.testing.assert_allclose(without.complete(data.X, Y).confidences[np.isnan(Y)], np.maximum(p, 1 - p), atol=1e-12)
    assert np.abs(full.complete(data.X, Y).confidences[np.isnan(Y)] - np.maximum(p, 1 - p)).max() > 0.1
    np.testing.assert_allclose(full.predict_proba(data.X)[np.isnan(Y)], p, atol=1e-12)


def test_weight_0_gives_the_scores_of_the_views():
    data = make_planted(n_samples=200, random_state=0)
    Y = hide_labels(data.Y, 0.7, random_state=0)
    plain, half, full = (
        SelfPacedEnsemble(views=("linear",), keep_fraction=1.0, dependency_weight=w, random_state=0).fit(data.X, Y)
        for w in (0.0, 0.5, 1.0)
    )

    def uncalibrated(model):
        calibration = model.correction_.calibration_
        return (model.decision_function(data.X) - calibration.intercepts_) / calibration.slopes_

    s0, s1, s2 = (uncalibrated(model) for model in (plain, half, full))
    scores = plain.estimators_["linear"].decision_function(plain.transformers_["linear"].transform(data.X))
    np.testing.assert_allclose(s0, plain.mixture_.calibrations_["linear"].transform(scores), atol=1e-10)
    np.testing.assert_allclose(s1, (s0 + s2) / 2, atol=1e-10)
    assert np.abs(s2 - s0).max() > 0.1


def test_a_fit_on_a_device_of_torch_is_that_of_numpy():
    pytest.importorskip("torch")
    scores, signs = ising(200)
    known = hide(signs, np.random.default_rng(0).random(signs.shape) < 0.5)
    expected = DependencyCorrection(tol=1e-8).fit(scores, signs, known=known).coef_
    coef = DependencyCorrection(tol=1e-8, device="cpu").fit(scores, signs, known=known).coef_
    assert isinstance(coef, np.ndarray)
    np.testing.assert_allclose(coef, expected, atol=1e-5)


def test_held_out_entries_choose_the_weights_of_the_corrections():
    """A correction of independent labels is noise: with weight 1, completion has a log loss that is .01 higher."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    W = rng.normal(size=(8, 20))
    independent = rng.random((500, 20)) < 1 / (1 + np.exp(-2 * X @ W / np.linalg.norm(W, axis=0)))
    settings = {"views": ("linear",), "random_state": 0}
    correction = SelfPacedEnsemble(**settings).fit(X, independent.astype(float)).correction_
    assert correction.dependency_weight_ == 0
    assert correction.completion_weight_ == 0
    hidden = rng.normal(size=(500, 2))
    V = rng.normal(size=(10, 20))
    dependent = rng.random((500, 20)) < 1 / (1 + np.exp(-2 * np.hstack([X, 3 * hidden]) @ V / np.linalg.norm(V[:8])))
    correction = SelfPacedEnsemble(**settings).fit(X, dependent.astype(float)).correction_
    assert correction.completion_weight_ >= 0.2
