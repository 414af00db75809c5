"""SelfPacedEnsemble and its parts: selected settings, the data used to select them, and ignored entries."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from spmld import MaskedLogistic, MaskedRidge, MLkNN, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.estimators import FeatureScaler, LandmarkFeatures, View
from spmld.estimators.ensemble import HeldOutLoss, TrainingData, linear_view, search_path, view_weights
from spmld.estimators.ensemble.keep_fraction import first_near_best, nested_scores, trimmed_scores
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import evaluate, ranking_loss
from spmld.model_selection import make_folds
from spmld.pacing.noise import correct_probability
from spmld.pacing.rate_estimate import noise_rates
from spmld.pacing.trimming import estimate_keep_fraction, trim

DATA = make_planted(n_samples=240, random_state=0)
Y = np.asarray(hide_labels(DATA.Y, observed_fraction=0.6, random_state=0), dtype=float)
SMALL = {"Cs": (3.0, 30.0), "label_graph_penalties": (1.0,), "n_landmarks": 40, "random_state": 0}


def model(**changes):
    return SelfPacedEnsemble(**{**SMALL, **changes})


def losses_of(part, fitted):
    return {repr(r["choice"]): r["loss"] for r in fitted.cv_results_ if r["part"] == part}


def training_data(Y=Y, X=DATA.X, n_folds=3):
    signs = 2 * Y - 1
    return TrainingData(X, signs, (~np.isnan(signs)).astype(float), make_folds(n_folds, X, signs, random_state=0))


def test_one_view_without_trimming_and_correction_is_the_best_masked_logistic_on_scaled_features():
    fitted = model(views=("linear",), keep_fractions=(1.0,), dependency_weight=0.0).fit(DATA.X, Y)
    X = FeatureScaler().fit_transform(DATA.X)
    plain = MaskedLogistic(**fitted.params_["linear"], tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(fitted.decision_function(DATA.X), plain.decision_function(X), atol=2e-2)
    assert fitted.params_["linear"]["C"] == min(
        (3.0, 30.0), key=lambda C: losses_of("linear", fitted)[repr({"C": C, "label_graph_penalty": 1.0})]
    )


def test_choices_are_recorded_with_their_held_out_loss():
    fitted = model(views=("linear", "latent")).fit(DATA.X, Y)
    assert {r["part"] for r in fitted.cv_results_} == {"linear", "latent", "trimming"}
    alone = model(views=("linear",), keep_fractions=(1.0,)).fit(DATA.X, Y)
    assert min(losses_of("linear", alone).values()) == pytest.approx(ranking_loss(Y, alone.out_of_fold_scores_))


def test_a_path_search_stops_when_the_loss_has_risen_twice():
    noise = (np.random.default_rng(0).random(DATA.Y.shape) < 0.3).astype(float)  # the weaker the penalty, the worse
    Cs = (1000.0, 1e-3, 1.0, 10.0, 100.0)
    fitted = model(views=("linear",), Cs=Cs, label_graph_penalties=(0.0, 1.0), keep_fractions=(1.0,)).fit(DATA.X, noise)
    tried = [(r["choice"]["label_graph_penalty"], r["choice"]["C"]) for r in fitted.cv_results_]
    assert tried == [(0.0, 1e-3), (0.0, 1.0), (0.0, 10.0), (1.0, 1e-3)]  # the other penalty with the best C only


def test_a_path_search_returns_the_setting_with_the_lowest_loss():
    view, data, records = linear_view((3.0, 30.0), (1.0, 0.0)), training_data(), []
    result = search_path(view, data, records.append)
    assert result.loss == min(record["loss"] for record in records)
    assert result.loss == pytest.approx(ranking_loss(Y, result.scores))
    assert result.params == next(record["choice"] for record in records if record["loss"] == result.loss)
    assert len(records) == view.n_settings == 3
    stopped = []
    assert search_path(view, data, lambda record: stopped.append(record) or True).params == view.path[0]
    assert len(stopped) == 1


def test_a_path_search_works_with_any_estimator():
    view = View("ridge", FeatureScaler(), MaskedRidge(), [{"alpha": alpha} for alpha in (1e4, 1.0)])
    result = search_path(view, training_data())
    assert result.params == {"alpha": 1.0}
    folds = training_data().folds
    expected = np.zeros(Y.shape)
    for train, test in folds:
        expected[test] = MaskedRidge(alpha=1.0).fit(DATA.X[train], Y[train]).decision_function(DATA.X[test])
    np.testing.assert_allclose(result.scores, expected, atol=1e-10)


def test_the_maximum_number_of_records():
    rising = model(Cs=(3.0, 30.0), label_graph_penalties=(1.0, 0.0)).fit(DATA.X, Y)  # too short to stop early
    assert len(rising.cv_results_) == rising._max_iterations() == (2 + 1) + 2 + 1 + 2
    alone = model(views=("linear",), keep_fractions=(1.0,), Cs=(3.0,)).fit(DATA.X, Y)
    assert len(alone.cv_results_) == alone._max_iterations() == 1


def test_weights_of_views_are_proportional_to_the_inverse_eighth_power_of_their_loss():
    fitted = model(dependency_weight=0.0).fit(DATA.X, Y)
    losses = {view: min(losses_of(view, fitted).values()) for view in ("linear", "kernel", "latent")}
    powers = np.array([losses[view] ** -8.0 for view in fitted.view_weights_])
    np.testing.assert_allclose(list(fitted.view_weights_.values()), powers / powers.sum())
    np.testing.assert_allclose(list(view_weights(losses).values()), powers / powers.sum())
    scores = [
        m.decision_function(fitted.transformers_[view].transform(DATA.X)) for view, m in fitted.estimators_.items()
    ]
    expected = np.tensordot(powers / powers.sum(), scores, axes=1)
    np.testing.assert_allclose(fitted.decision_function(DATA.X), expected, atol=1e-10)


def test_views_can_be_added():
    neighbors = View("neighbors", FeatureScaler(), MLkNN(), [{"n_neighbors": k} for k in (3, 10)])
    fitted = clone(model(views=(neighbors, "linear"))).fit(DATA.X, Y)
    assert list(fitted.view_weights_) == ["linear", "neighbors"]
    assert fitted.params_["neighbors"] in neighbors.path
    assert set(losses_of("neighbors", fitted)) == {repr(params) for params in neighbors.path}
    assert not hasattr(neighbors.transformer, "factor_")


@pytest.mark.parametrize("metric", ["label_ranking_average_precision", "coverage", "macro_auc", "ndcg_at_3"])
def test_any_metric_of_scores_can_be_used_for_selection(metric):
    fitted = model(scoring=metric, views=("linear",)).fit(DATA.X, Y)
    value = evaluate(Y, scores=fitted.out_of_fold_scores_).to_dict()[metric]
    expected = value if metric == "coverage" else 1 - value
    assert min(losses_of("linear", fitted).values()) == pytest.approx(expected)


def test_out_of_fold_scores_come_from_models_not_fitted_on_the_sample():
    # Features identify the sample and labels are noise, so only a model fitted on a sample can predict it.
    X, noise = np.eye(90), (np.random.default_rng(0).random((90, 4)) < 0.5).astype(float)
    fitted = model(views=("linear",), keep_fractions=(1.0,), Cs=(100.0,)).fit(X, noise)
    assert ranking_loss(noise, fitted.decision_function(X)) < 0.05
    assert ranking_loss(noise, fitted.out_of_fold_scores_) > 0.35


def test_the_first_choice_within_two_standard_errors_of_the_best_is_selected():
    best, rng = np.full(100, 0.5), np.random.default_rng(0)
    near, far = best + 0.001 + 0.1 * rng.standard_normal(100), best + 0.1 + 0.1 * rng.standard_normal(100)
    near += 0.001 - (near - best).mean()
    assert first_near_best([near, best]) == 0
    assert first_near_best([far, best]) == 1


def test_wrong_labels_are_trimmed_and_predictions_improve():
    data = make_planted(n_samples=1300, random_state=0)
    X, truth, new = data.X[:800], data.Y[:800], data.X[800:]
    labels = corrupt_labels(truth, "permute", 0.3, random_state=0)
    trimmed, plain = (model(keep_fractions=(q,), views=("linear",)).fit(X, labels) for q in (0.9, 1.0))
    wrong = np.asarray(labels) != np.asarray(truth)
    assert 1 - trimmed.self_paced_weights_[wrong].mean() > 5 * (1 - trimmed.self_paced_weights_[~wrong].mean())
    losses = [ranking_loss(data.Y[800:], fitted.decision_function(new)) for fitted in (trimmed, plain)]
    assert losses[0] < 0.95 * losses[1]


@pytest.mark.parametrize("fraction", [0.8, 0.9, 0.95])
def test_trim_keeps_a_fraction_of_the_positives_and_a_larger_one_of_the_negatives_of_each_label(fraction):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((400, 3)) + np.array([3.0, 0.0, -3.0])  # labels differ in how easy they are
    Y = rng.choice([1.0, -1.0, np.nan], size=(400, 3))
    P = trim(scores, Y, fraction)
    np.testing.assert_array_equal(P[np.isnan(Y)], 0)
    np.testing.assert_array_equal(trim(scores, np.where(Y == -1, 0, Y), fraction), P)
    for j, sign in [(j, sign) for j in range(3) for sign in (1, -1)]:
        chosen = Y[:, j] == sign
        weights, losses = P[chosen, j], -sign * scores[chosen, j]
        assert weights.mean() == pytest.approx(fraction if sign > 0 else 1 - 0.3 * (1 - fraction), abs=0.01)
        assert losses[weights == 0].min() > losses[weights == 1].max()
    np.testing.assert_array_equal(trim(scores, Y, 1.0), ~np.isnan(Y))


def test_the_only_positive_of_a_label_is_kept():
    scores, Y = np.random.default_rng(0).standard_normal((30, 2)), np.full((30, 2), -1.0)
    Y[4] = 1
    assert (trim(scores, Y, 0.8)[4] == 1).all()


def test_the_estimated_fraction_follows_from_the_estimated_rate_of_wrong_positives():
    rng = np.random.default_rng(0)
    scores = 3 * rng.standard_normal((3000, 4))
    Y = np.where(rng.random(scores.shape) < 1 / (1 + np.exp(-scores)), 1.0, -1.0)
    assert estimate_keep_fraction(scores, Y) == 0.95
    # Entries made positive regardless of the scores: one of sixteen positives, then one of four.
    some, many = (np.where(rng.random(Y.shape) < rate, 1.0, Y) for rate in (0.07, 0.35))
    wrong = 1 - correct_probability(scores, some, noise_rates(scores, some))[some > 0].mean()
    assert estimate_keep_fraction(scores, some) == pytest.approx(1 - 2 * wrong)
    assert 0.8 < estimate_keep_fraction(scores, some) < 0.95
    assert estimate_keep_fraction(scores, many) == 0.8
    assert estimate_keep_fraction(scores, np.full(Y.shape, -1.0)) == 0.95


def test_the_weights_of_a_training_fold_do_not_depend_on_the_test_labels():
    estimator = MaskedLogistic(C=10.0)
    data = training_data(np.asarray(DATA.Y, dtype=float)[:60], DATA.X[:60])
    (train, test), (_, other_test), *_ = data.folds
    flipped = data.Y.copy()
    flipped[test] *= -1
    changed = TrainingData(data.X, flipped, data.entry_weight, data.folds)
    nested, changed_nested = (nested_scores(estimator, d) for d in (data, changed))
    np.testing.assert_array_equal(nested[0][train], changed_nested[0][train])
    assert np.isnan(nested[0][test]).all()
    one = trimmed_scores(estimator, data, 0.8, nested)
    two = trimmed_scores(estimator, changed, 0.8, changed_nested)
    np.testing.assert_array_equal(one[test], two[test])
    assert np.abs(one[other_test] - two[other_test]).max() > 0.1


def test_sparse_and_dense_features_agree():
    X = np.where(np.random.default_rng(0).random(DATA.X.shape) < 0.3, DATA.X, 0)
    dense, sparse = model().fit(X, Y), model().fit(sp.csr_array(X), Y)
    assert dense.params_ == sparse.params_
    scores = [m.fit(Xd, Y).decision_function(Xd) for m, Xd in ((clone(dense), X), (clone(sparse), sp.csr_array(X)))]
    assert np.abs(scores[0] - scores[1]).max() < 0.5 * np.abs(scores[0]).max()


def test_the_scale_of_features_does_not_matter():
    one, two = model().fit(DATA.X, Y), model().fit(1000 * DATA.X + 5, Y)
    np.testing.assert_allclose(one.decision_function(DATA.X), two.decision_function(1000 * DATA.X + 5), atol=1e-3)


def test_all_samples_as_landmarks_give_the_kernel():
    X = DATA.X[:60]
    landmarks = LandmarkFeatures(60, random_state=0)
    F = landmarks.fit_transform(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    expected = np.exp(-landmarks.kernel_.gamma * ((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-6)


def test_missing_labels_are_never_read():
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, 7.0)
    a, b = model().fit(DATA.X, Y), model().fit(DATA.X, poisoned, mask=mask)
    np.testing.assert_array_equal(a.decision_function(DATA.X), b.decision_function(DATA.X))


def test_choices_for_a_single_label_are_based_on_its_logistic_loss():
    fitted = model().fit(DATA.X, Y[:, 0])
    assert fitted.decision_function(DATA.X).shape == (240,)
    assert all(np.isfinite(r["loss"]) for r in fitted.cv_results_)
    signs, scores = 2 * DATA.Y[:, :1] - 1.0, np.linspace(-2, 2, 240)[:, None]
    np.testing.assert_allclose(HeldOutLoss()(signs, scores), np.logaddexp(0, -signs * scores).ravel())


TWICE = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(121))]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Cs": ()}, "Cs must be a non-empty sequence of positive numbers, got \\(\\)"),
        ({"Cs": (1.0, -1.0)}, "Cs must be a non-empty sequence of positive numbers, got \\(1.0, -1.0\\)"),
        ({"label_graph_penalties": 1.0}, "The 'label_graph_penalties' parameter of SelfPacedEnsemble must be"),
        ({"views": ("linear", "far")}, "views must be a non-empty sequence of 'linear', 'kernel', 'latent' or View"),
        ({"views": (View("linear", FeatureScaler(), MLkNN()),)}, "views must have distinct names other than 'linear'"),
        ({"keep_fractions": (2.0,)}, "keep_fractions must be .* numbers in \\(0, 1\\] or 'auto', got \\(2.0,\\)"),
        ({"keep_fractions": (0.0,)}, "keep_fractions must be"),
        ({"keep_fractions": ("half",)}, "keep_fractions must be"),
        ({"n_landmarks": 0}, "The 'n_landmarks' parameter of SelfPacedEnsemble must be an int in the range \\[1"),
        ({"dependency_weight": 1.1}, "The 'dependency_weight' parameter of SelfPacedEnsemble must be"),
        ({"scoring": "hamming_loss"}, "scoring must be a metric of scores, got 'hamming_loss'"),
        ({"scoring": "best"}, "scoring must be the name of a metric of scores, got 'best'"),
        ({"cv": [(np.arange(200), np.arange(200, 240))]}, "cv must test each sample, but leaves out 200 of 240"),
        ({"cv": TWICE}, "cv must test each sample exactly once, but tests 1 more than once"),
    ],
)
def test_invalid_parameters_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        model(**changes).fit(DATA.X, Y)
