"""What labels say about each other: planted links are found, and nothing is read that is not known."""

import numpy as np
import pytest
from scipy.optimize import minimize

from spmld import SelfPacedEnsemble
from spmld.core.losses import logistic
from spmld.datasets import make_planted
from spmld.estimators.ensemble.dependency import C, DependencyCorrection
from spmld.labels import hide_labels

RNG = np.random.default_rng(0)


def ising(n, seed=0):
    """Labels 0 and 1 exclude each other, 2 goes with 0 whatever the scores say, 3 is on its own."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 4)) - 0.5
    first = rng.random(n) < logistic(scores[:, 0])
    second = ~first & (rng.random(n) < logistic(scores[:, 1]))
    third = rng.random(n) < logistic(scores[:, 2] + np.where(first, 2.0, -2.0))
    last = rng.random(n) < logistic(scores[:, 3])
    return scores, np.where(np.column_stack([first, second, third, last]), 1, -1).astype(np.int8)


def delta(B, scores, known):
    """The formula, entry by entry."""
    out = np.zeros(scores.shape)
    for i, j in np.ndindex(scores.shape):
        out[i, j] = B[j, j] * scores[i, j] + B[-1, j]
        for k in range(scores.shape[1]):
            if k != j:
                z = logistic(scores[i, k]) if known[i, k] == 0 else float(known[i, k] > 0)
                out[i, j] += z * B[k, j]
    return out


def test_the_change_is_that_of_the_formula():
    scores, signs = ising(60)
    known = signs * (RNG.random(signs.shape) < 0.5)
    found = DependencyCorrection(scores, signs, np.ones(signs.shape), known=known)
    np.testing.assert_allclose(found(scores, known), delta(found.coef, scores, known), atol=1e-12)
    np.testing.assert_allclose(found(scores), delta(found.coef, scores, 0 * known), atol=1e-12)


@pytest.mark.parametrize("shows", [True, False])
def test_a_general_solver_finds_nothing_much_lower(shows):
    scores, signs = ising(80)
    weights = RNG.random(signs.shape) * (RNG.random(signs.shape) < 0.7)
    known = signs * (weights > 0) * shows

    def objective(B):
        B = B.reshape(5, 4)
        losses = np.logaddexp(0, -signs * (scores + delta(B, scores, known)))
        return (weights * losses).sum() + (B**2).sum() / (2 * C)

    found = DependencyCorrection(scores, signs, weights, known=known if shows else None).coef
    other = minimize(objective, np.zeros(20))
    assert objective(found) == pytest.approx(other.fun, rel=1e-3)
    assert objective(found) < objective(np.zeros(20)) - 0.5 * (objective(np.zeros(20)) - other.fun)


def test_planted_links_are_found():
    scores, signs = ising(3000)
    M = DependencyCorrection(scores, signs, np.ones(signs.shape), known=signs).between()
    assert M[0, 1] < -1.5
    assert M[0, 2] > 1.5
    assert max(np.abs(M[3]).max(), np.abs(M[:, 3]).max()) < 0.5
    assert (np.diag(M) == 0).all()


def test_known_labels_make_the_others_likelier():
    """On new samples; and nothing known leaves less to say."""
    train, signs = ising(1000)
    scores, truth = ising(1000, seed=1)
    found = DependencyCorrection(train, signs, np.ones(signs.shape), known=signs)
    known = truth * np.array([1, 0, 0, 0], dtype=np.int8)

    def loss(scores):
        return np.logaddexp(0, -truth * scores)[:, 1:3].mean()

    assert loss(scores + found(scores, known)) < 0.8 * loss(scores)
    assert loss(scores + found(scores, known)) < loss(scores + found(scores))


def test_what_is_not_observed_is_not_read():
    scores, signs = ising(100)
    seen = RNG.random(signs.shape) < 0.6
    weights = seen.astype(float)
    other = np.where(seen, signs, -signs)
    first, second = (DependencyCorrection(scores, each, weights, known=signs * seen).coef for each in (signs, other))
    np.testing.assert_array_equal(first, second)


def test_permuting_labels_permutes_the_links():
    scores, signs = ising(200)
    order = np.array([2, 0, 3, 1])
    weights = np.ones(signs.shape)
    M = DependencyCorrection(scores, signs, weights).between()
    moved = DependencyCorrection(scores[:, order], signs[:, order], weights).between()
    np.testing.assert_allclose(moved, M[np.ix_(order, order)], atol=1e-2)


def test_of_many_samples_some_are_learned_from_and_all_are_worked_on(monkeypatch):
    scores, signs = ising(3000)
    known, weights = signs * (RNG.random(signs.shape) < 0.5), np.ones(signs.shape)
    third = DependencyCorrection(scores[::3], signs[::3], weights[::3], known=known[::3])
    expected = third(scores, known)
    monkeypatch.setattr("spmld.estimators.ensemble.dependency.MOST", 1000)
    found = DependencyCorrection(scores, signs, weights, known=known)
    np.testing.assert_array_equal(found.coef, third.coef)
    np.testing.assert_allclose(found(scores, known), expected, atol=1e-12)


def test_without_evidence_nothing_is_added():
    scores, signs = ising(50)
    found = DependencyCorrection(scores, 0 * signs, np.zeros(signs.shape))
    assert (found(scores) == 0).all()


def test_completion_listens_to_the_labels_that_are_known():
    """Of two labels that always go together one is shown: the other follows, more than the features alone say."""
    data = make_planted(n_samples=400, random_state=0)
    truth = np.column_stack([data.Y, RNG.random(len(data.Y)) < 0.4])
    truth = np.column_stack([truth, truth[:, -1]]).astype(float)
    model = SelfPacedEnsemble(views=("linear",), keep_fractions=(1.0,), random_state=0).fit(
        data.X, hide_labels(truth, 0.6, random_state=0)
    )
    shown = np.full(truth.shape, np.nan)
    shown[:, -2] = truth[:, -2]
    # Features know nothing of the twins; beside its twin the label is told apart.
    confidence = model.complete(data.X, shown).confidences[:, -1]
    p = np.where(model.complete(data.X, shown).labels[:, -1] == 1, confidence, 1 - confidence)
    assert p[truth[:, -1] == 1].min() > p[truth[:, -1] == 0].max()
    assert model.label_correlation_.shape == (truth.shape[1],) * 2


def test_completion_has_a_share_of_its_own():
    data = make_planted(n_samples=200, random_state=0)
    Y = hide_labels(data.Y, 0.7, random_state=0)
    model = SelfPacedEnsemble(
        views=("linear",), keep_fractions=(1.0,), dependency_weight=0.0, completion_weight=0.0, random_state=0
    ).fit(data.X, Y)
    p = model.predict_proba(data.X)[np.isnan(Y)]
    np.testing.assert_allclose(model.complete(data.X, Y).confidences[np.isnan(Y)], np.maximum(p, 1 - p), atol=1e-12)
    model.set_params(completion=1.0)
    assert np.abs(model.complete(data.X, Y).confidences[np.isnan(Y)] - np.maximum(p, 1 - p)).max() > 0.1
    np.testing.assert_allclose(model.predict_proba(data.X)[np.isnan(Y)], p, atol=1e-12)


def test_no_correlation_gives_the_scores_of_the_views():
    data = make_planted(n_samples=200, random_state=0)
    Y = hide_labels(data.Y, 0.7, random_state=0)
    plain, half, full = (
        SelfPacedEnsemble(views=("linear",), keep_fractions=(1.0,), dependency_weight=h, random_state=0).fit(data.X, Y)
        for h in (0.0, 0.5, 1.0)
    )
    s0, s1, s2 = (model.decision_function(data.X) for model in (plain, half, full))
    expected = plain.estimators_["own"].decision_function(plain._designs["own"](data.X))
    np.testing.assert_allclose(s0, expected, atol=1e-10)
    np.testing.assert_allclose(s1, (s0 + s2) / 2, atol=1e-10)
    assert np.abs(s2 - s0).max() > 0.1
