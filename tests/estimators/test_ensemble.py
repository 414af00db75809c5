"""SelfPacedEnsemble: what it chooses, from what, and what it never looks at."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from spmld import MaskedLogistic, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.estimators._scaling import Landmarks, Scale
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import evaluate, ranking_loss
from spmld.pacing.noise import correct_probability, noise_rates
from spmld.pacing.trimming import estimate_keep_fraction, trim

DATA = make_planted(n_samples=240, random_state=0)
Y = np.asarray(hide_labels(DATA.Y, observed_fraction=0.6, random_state=0), dtype=float)
SMALL = {"Cs": (3.0, 30.0), "label_graph_penalties": (1.0,), "n_landmarks": 40, "random_state": 0}


def model(**changes):
    return SelfPacedEnsemble(**{**SMALL, **changes})


def scores_of(part, fitted):
    return {repr(r["choice"]): r["loss"] for r in fitted.cv_results_ if r["part"] == part}


def test_one_view_without_pace_and_correlation_is_the_best_masked_logistic_on_scaled_features():
    fitted = model(views=("linear",), keep_fractions=(1.0,), dependency_weight=0.0).fit(DATA.X, Y)
    X = Scale(DATA.X)(DATA.X)
    plain = MaskedLogistic(**fitted.params_["linear"], tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(fitted.decision_function(DATA.X), plain.decision_function(X), atol=2e-2)
    assert fitted.params_["linear"]["C"] == min(
        (3.0, 30.0), key=lambda C: scores_of("linear", fitted)[repr({"C": C, "label_graph_penalty": 1.0})]
    )


def test_choices_are_on_record_with_their_held_out_loss():
    fitted = model(views=("linear", "latent")).fit(DATA.X, Y)
    assert {r["part"] for r in fitted.cv_results_} == {"linear", "latent", "pacing"}
    alone = model(views=("linear",), keep_fractions=(1.0,)).fit(DATA.X, Y)
    assert min(scores_of("linear", alone).values()) == pytest.approx(ranking_loss(Y, alone.out_of_fold_scores_))


def test_a_path_is_left_when_the_loss_has_risen_twice():
    noise = (np.random.default_rng(0).random(DATA.Y.shape) < 0.3).astype(float)  # the weaker the penalty, the worse
    Cs = (1000.0, 1e-3, 1.0, 10.0, 100.0)
    fitted = model(views=("linear",), Cs=Cs, label_graph_penalties=(0.0, 1.0), keep_fractions=(1.0,)).fit(DATA.X, noise)
    tried = [(r["choice"]["label_graph_penalty"], r["choice"]["C"]) for r in fitted.cv_results_]
    assert tried == [(0.0, 1e-3), (0.0, 1.0), (0.0, 10.0), (1.0, 1e-3)]  # the other graph with the best C alone


def test_the_records_there_can_be_at_most():
    rising = model(Cs=(3.0, 30.0), label_graph_penalties=(1.0, 0.0)).fit(DATA.X, Y)  # too short a path to be left
    assert len(rising.cv_results_) == rising._max_iterations() == (2 + 1) + 2 + 1 + 2
    alone = model(views=("linear",), keep_fractions=(1.0,), Cs=(3.0,)).fit(DATA.X, Y)
    assert len(alone.cv_results_) == alone._max_iterations() == 1


def test_views_count_by_the_eighth_power_of_their_loss():
    fitted = model(dependency_weight=0.0).fit(DATA.X, Y)
    losses = {view: min(scores_of(view, fitted).values()) for view in ("linear", "kernel", "latent")}
    powers = np.array([losses[view] ** -8.0 for view in fitted.view_weights_])
    np.testing.assert_allclose(list(fitted.view_weights_.values()), powers / powers.sum())
    parts = [m.decision_function(fitted._designs[view](DATA.X)) for view, m in fitted.estimators_.items()]
    expected = np.tensordot(powers / powers.sum(), parts, axes=1)
    np.testing.assert_allclose(fitted.decision_function(DATA.X), expected, atol=1e-10)


@pytest.mark.parametrize("metric", ["label_ranking_average_precision", "coverage", "macro_auc", "ndcg_at_3"])
def test_any_measure_of_scores_can_choose(metric):
    fitted = model(scoring=metric, views=("linear",)).fit(DATA.X, Y)
    value = evaluate(Y, scores=fitted.out_of_fold_scores_).to_dict()[metric]
    expected = value if metric == "coverage" else 1 - value
    assert min(scores_of("linear", fitted).values()) == pytest.approx(expected)


def test_held_out_scores_are_held_out():
    # Features that tell the sample apart, and labels that are noise: only a model that has seen a sample can know it.
    X, noise = np.eye(90), (np.random.default_rng(0).random((90, 4)) < 0.5).astype(float)
    fitted = model(views=("linear",), keep_fractions=(1.0,), Cs=(100.0,)).fit(X, noise)
    assert ranking_loss(noise, fitted.decision_function(X)) < 0.05
    assert ranking_loss(noise, fitted.out_of_fold_scores_) > 0.35


def test_the_first_choice_within_two_standard_errors_of_the_best_is_taken():
    chooser = model()
    best, rng = np.full(100, 0.5), np.random.default_rng(0)
    near, far = best + 0.001 + 0.1 * rng.standard_normal(100), best + 0.1 + 0.1 * rng.standard_normal(100)
    near += 0.001 - (near - best).mean()
    assert chooser._choose("pacing", "ab", [near, best], lambda *_: False) == 0
    assert chooser._choose("pacing", "ab", [far, best], lambda *_: False) == 1


def test_wrong_labels_are_left_out_and_new_samples_gain():
    data = make_planted(n_samples=1300, random_state=0)
    X, truth, new = data.X[:800], data.Y[:800], data.X[800:]
    labels = corrupt_labels(truth, "permute", 0.3, random_state=0)
    paced, plain = (model(keep_fractions=(q,), views=("linear",)).fit(X, labels) for q in (0.9, 1.0))
    wrong = np.asarray(labels) != np.asarray(truth)
    assert 1 - paced.self_paced_weights_[wrong].mean() > 5 * (1 - paced.self_paced_weights_[~wrong].mean())
    losses = [ranking_loss(data.Y[800:], each.decision_function(new)) for each in (paced, plain)]
    assert losses[0] < 0.95 * losses[1]


@pytest.mark.parametrize("share", [0.8, 0.9, 0.95])
def test_a_share_of_the_positives_and_a_larger_one_of_the_negatives_of_each_label_count(share):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((400, 3)) + np.array([3.0, 0.0, -3.0])  # what is easy differs from label to label
    Y = rng.choice([1.0, -1.0, np.nan], size=(400, 3))
    P = trim(scores, Y, share)
    np.testing.assert_array_equal(P[np.isnan(Y)], 0)
    for j, sign in [(j, sign) for j in range(3) for sign in (1, -1)]:
        chosen = Y[:, j] == sign
        weights, losses = P[chosen, j], -sign * scores[chosen, j]
        assert weights.mean() == pytest.approx(share if sign > 0 else 1 - 0.3 * (1 - share), abs=0.01)
        assert losses[weights == 0].min() > losses[weights == 1].max()
    np.testing.assert_array_equal(trim(scores, Y, 1.0), ~np.isnan(Y))


def test_the_only_positive_of_a_label_counts():
    scores, Y = np.random.default_rng(0).standard_normal((30, 2)), np.full((30, 2), -1.0)
    Y[4] = 1
    assert (trim(scores, Y, 0.8)[4] == 1).all()


def test_the_share_comes_from_how_many_positives_seem_to_be_wrong():
    rng = np.random.default_rng(0)
    scores = 3 * rng.standard_normal((3000, 4))
    Y = np.where(rng.random(scores.shape) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)
    assert estimate_keep_fraction(scores, Y) == 0.95
    # Made positive whatever the scores: one of sixteen positives, then one of four.
    some, many = (np.where(rng.random(Y.shape) < rate, 1.0, Y) for rate in (0.07, 0.35))
    wrong = 1 - correct_probability(scores, some, noise_rates(scores, some))[some > 0].mean()
    assert estimate_keep_fraction(scores, some) == pytest.approx(1 - 2 * wrong)
    assert 0.8 < estimate_keep_fraction(scores, some) < 0.95
    assert estimate_keep_fraction(scores, many) == 0.8
    assert estimate_keep_fraction(scores, np.full(Y.shape, -1.0)) == 0.95


def test_the_weights_of_a_training_fold_come_from_models_that_have_not_seen_the_held_out_one():
    fitted = model(views=("linear",))
    host = MaskedLogistic(C=10.0)
    folds = [(np.setdiff1d(np.arange(60), part), part) for part in np.split(np.arange(60), 3)]
    signs = 2 * np.asarray(DATA.Y)[:60] - 1.0
    other = signs.copy()
    other[folds[0][1]] *= -1
    arguments = (np.ones(signs.shape), folds, [0.8, 1.0], np.zeros(signs.shape))
    one, plain = fitted._paced_scores(host, DATA.X[:60], signs, *arguments)
    two, _ = fitted._paced_scores(host, DATA.X[:60], other, *arguments)
    np.testing.assert_array_equal(plain, 0)
    np.testing.assert_array_equal(one[folds[0][1]], two[folds[0][1]])
    assert np.abs(one[folds[1][1]] - two[folds[1][1]]).max() > 0.1


def test_sparse_and_dense_features_agree():
    X = np.where(np.random.default_rng(0).random(DATA.X.shape) < 0.3, DATA.X, 0)
    dense, sparse = model().fit(X, Y), model().fit(sp.csr_array(X), Y)
    assert dense.params_ == sparse.params_
    views = [m.fit(Xd, Y).decision_function(Xd) for m, Xd in ((clone(dense), X), (clone(sparse), sp.csr_array(X)))]
    assert np.abs(views[0] - views[1]).max() < 0.5 * np.abs(views[0]).max()


def test_the_scale_of_features_does_not_matter():
    one, two = model().fit(DATA.X, Y), model().fit(1000 * DATA.X + 5, Y)
    np.testing.assert_allclose(one.decision_function(DATA.X), two.decision_function(1000 * DATA.X + 5), atol=1e-3)


def test_all_samples_as_landmarks_give_the_kernel():
    X = DATA.X[:60]
    marks = Landmarks(X, 60, np.random.RandomState(0))
    F = marks(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    expected = np.exp(-marks.kernel.gamma * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-6)


def test_unobserved_labels_are_not_read():
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, 7.0)
    a, b = model().fit(DATA.X, Y), model().fit(DATA.X, poisoned, mask=mask)
    np.testing.assert_array_equal(a.decision_function(DATA.X), b.decision_function(DATA.X))


def test_a_single_label_is_chosen_for_by_its_loss():
    fitted = model().fit(DATA.X, Y[:, 0])
    assert fitted.decision_function(DATA.X).shape == (240,)
    assert all(np.isfinite(r["loss"]) for r in fitted.cv_results_)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"Cs": ()}, "Cs of SelfPacedEnsemble must be a sequence of positive numbers, got \\(\\)"),
        ({"Cs": (1.0, -1.0)}, "Cs of SelfPacedEnsemble"),
        ({"label_graph_penalties": 1.0}, "label_graph_penalties of SelfPacedEnsemble"),
        ({"views": ("linear", "far")}, "views of SelfPacedEnsemble"),
        ({"keep_fractions": (2.0,)}, "keep_fractions of SelfPacedEnsemble"),
        ({"keep_fractions": (0.0,)}, "keep_fractions of SelfPacedEnsemble"),
        (
            {"keep_fractions": ("half",)},
            "keep_fractions of SelfPacedEnsemble must be a sequence of numbers above 0, up to 1, or 'auto'",
        ),
        ({"n_landmarks": 0}, "n_landmarks of SelfPacedEnsemble"),
        ({"scoring": "hamming_loss"}, "scoring of SelfPacedEnsemble must be a metric of scores"),
        ({"scoring": "best"}, "scoring of SelfPacedEnsemble must be the name of a metric, got 'best'"),
        ({"cv": [(np.arange(200), np.arange(200, 240))]}, "cv of SelfPacedEnsemble must test each sample once"),
    ],
)
def test_bad_parameters_are_named(changes, says):
    with pytest.raises(ValueError, match=says):
        model(**changes).fit(DATA.X, Y)
