"""SelfPacedEnsemble and its parts: selected settings, the data used to select them, and ignored entries."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from threadpoolctl import threadpool_info

from spmld import (
    MaskedBoosting,
    MaskedLogistic,
    MaskedRidge,
    PerLabelClassifier,
    SelfPacedClassifier,
    SelfPacedEnsemble,
)
from spmld.datasets import make_planted
from spmld.ensemble import View, correction, mixture, summary
from spmld.ensemble.costs import uses_graph
from spmld.ensemble.views import linear_view, ridge_view
from spmld.estimators import FeatureScaler
from spmld.estimators.transformers import LandmarkFeatures
from spmld.labels import Labels, corrupt_labels, hide_labels, read_labels
from spmld.metrics import evaluate, ranking_loss
from spmld.model_selection import DecisionRule, make_folds
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores, fit_samples
from spmld.model_selection.path_search import HeldOut, HeldOutLoss, search_path
from spmld.model_selection.samples import Samples

DATA = make_planted(n_samples=240, random_state=0)
Y = np.asarray(hide_labels(DATA.Y, observed_fraction=0.6, random_state=0), dtype=float)
SMALL = {"Cs": (3.0, 30.0), "alphas": (0.3, 3.0), "n_trees": (20,), "n_landmarks": 40, "random_state": 0}


def model(**changes):
    return SelfPacedEnsemble(**{**SMALL, **changes})


def losses_of(part, fitted):
    return {repr(r["choice"]): r["loss"] for r in fitted.cv_results_ if r["part"] == part}


def samples_and_folds(Y=Y, X=DATA.X, n_folds=3):
    """Return samples and their folds."""
    labels = read_labels(2 * Y - 1)
    cross = CrossFit(make_folds(n_folds, X, 2 * Y - 1, random_state=0), len(X))
    return Samples(X, labels, labels.observed.astype(float)), cross


def search(view, samples, cross, **options):
    """Search the path of a view."""
    models = [clone(view.estimator) for _ in cross.folds]
    return search_path(models, view.path, samples, cross, HeldOutLoss(), start=view.start, **options)


@pytest.mark.parametrize(
    ("view", "estimator"), [("linear", MaskedLogistic(label_graph_penalty=1.0)), ("ridge", MaskedRidge())]
)
def test_one_view_without_trimming_and_correction_is_the_masked_estimator_up_to_slopes_and_shifts(view, estimator):
    accurate = replace(model()._make_views()[view].with_params(tol=1e-8), name="accurate", dtype=None)
    estimator = clone(estimator).set_params(tol=1e-8)
    fitted = model(views=(accurate,), keep_fraction=1.0, dependency_weight=0.0).fit(DATA.X, Y)
    X = FeatureScaler().fit_transform(DATA.X)
    plain = clone(estimator).set_params(**fitted.params_["accurate"]).fit(X, Y).decision_function(X)
    scores = fitted.decision_function(DATA.X)
    for of_label, of_view in zip(scores.T, plain.T, strict=True):
        slope, shift = np.polyfit(of_view, of_label, 1)
        assert slope > 0
        np.testing.assert_allclose(slope * of_view + shift, of_label, atol=1e-6)
    losses = losses_of("accurate", fitted)
    assert losses[repr(fitted.params_["accurate"])] == min(losses.values())


@pytest.mark.parametrize("features", [DATA.X, sp.csr_array(np.where(DATA.X > 1, DATA.X, 0))])
def test_fits_in_single_precision_follow_fits_in_double_precision(features):
    views = model()._make_views(("linear", "ridge", "kernel")).values()
    single = model(views=[view.name for view in views]).fit(features, Y)
    double = model(views=[replace(view, name=f"double {view.name}", dtype=None) for view in views]).fit(features, Y)
    assert single.estimators_["linear"].coef_.dtype == np.float32
    assert double.estimators_["double linear"].coef_.dtype == np.float64
    assert list(single.params_.values()) == list(double.params_.values())
    scores = double.decision_function(features)
    np.testing.assert_allclose(single.decision_function(features), scores, rtol=0, atol=1e-4 * abs(scores).max())
    np.testing.assert_allclose(single.out_of_fold_scores_, double.out_of_fold_scores_, atol=1e-3)


def test_a_view_has_one_of_two_precisions():
    for wrong in ("float16", "double precision"):
        with pytest.raises(ValueError, match=f"dtype of a view must be 'float32', 'float64' or None, got '{wrong}'"):
            View("wrong", FeatureScaler(), MaskedRidge(), dtype=wrong)
    double = View("double", FeatureScaler(), MaskedRidge(), dtype=np.float64)
    assert (double.dtype, View("single", FeatureScaler(), MaskedRidge(), dtype=np.dtype("f")).dtype) == (
        "float64",
        "float32",
    )
    assert model(views=(double,)).fit(DATA.X.astype(np.float32), Y).estimators_["double"].coef_.dtype == np.float64


class Constant(BaseEstimator):
    """Estimator whose scores are its parameter."""

    def __init__(self, value=0.0):
        self.value = value

    def fit_samples(self, samples):
        return self

    def decision_function(self, X):
        return np.full((len(X), 1), self.value)


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_hill_climbing_finds_the_optimum_of_a_unimodal_path_and_evaluates_no_setting_beyond_its_neighbors(length):
    for start, best in np.ndindex(length, length):
        path, evaluated = [{"value": float(i)} for i in range(length)], []
        samples, rows = Samples(np.zeros((2, 1)), read_labels([[1], [0]]), np.ones((2, 1))), np.arange(2)
        result = search_path(
            [Constant()],
            path,
            samples,
            CrossFit([(rows, rows)], 2),
            lambda _, scores, best=best: 1.0 + abs(scores - best),
            start=start,
            record=lambda params, loss, seen=evaluated: seen.append(int(params["value"])),
        )
        assert (result.params, result.loss) == (path[best], 1.0)
        # The successor of the first setting shows the direction, and the search ends one setting beyond the best.
        first, last = best - 1 if best <= start else start, max(start, best) + 1
        assert sorted(evaluated) == [i for i in range(length) if first <= i <= last]


def test_a_path_search_returns_the_setting_with_the_lowest_loss():
    view, records = linear_view((3.0, 30.0)), []
    result = search(view, *samples_and_folds(), record=lambda *record: records.append(record))
    assert result.loss == min(loss for _, loss in records)
    assert result.loss == pytest.approx(ranking_loss(Y, result.scores))
    assert result.params == next(params for params, loss in records if loss == result.loss)
    assert len(records) == len(view.path) == 2
    stopped = []
    result = search(view, *samples_and_folds(), record=lambda *record: stopped.append(record) or True)
    assert result.params == view.path[view.start]
    assert len(stopped) == 1


def test_a_setting_that_is_much_worse_on_the_first_fold_is_not_fitted_to_the_others():
    fitted = []

    class Counted(MaskedRidge):
        def _fit(self, samples):
            fitted.append(self.alpha)
            super()._fit(samples)

    planted = make_planted(n_samples=900, random_state=0)
    Y, path = 1.0 * planted.Y, [{"alpha": alpha} for alpha in (1.0, 1.1, 1e5)]
    samples, cross = samples_and_folds(Y, planted.X)
    result = search(View("ridge", FeatureScaler(), Counted(), path, start=1), samples, cross)
    assert {alpha: fitted.count(alpha) for alpha in fitted} == {1.0: 3, 1.1: 3, 1e5: 1}
    train, tested = cross.folds[0]
    worst = fit_samples(MaskedRidge(alpha=1e5), samples.rows(train)).decision_function(planted.X)
    increase = ranking_loss(Y[tested], worst[tested]) - ranking_loss(Y[tested], result.scores[tested])
    held_out = HeldOut(samples.signs, HeldOutLoss())
    assert held_out.significant_increase(worst, result.scores, tested) == pytest.approx(increase)
    assert held_out.significant_increase(result.scores, worst, tested) == 0
    assert held_out.significant_increase(result.scores, result.scores, tested) == 0


@pytest.mark.parametrize("make_view", [linear_view, ridge_view])
def test_paths_increase_and_start_near_the_usual_strength(make_view):
    view = make_view((100.0, 0.1, 2.0))
    assert [value for params in view.path for value in params.values()] == [0.1, 2.0, 100.0]
    assert view.start == 1


def test_a_path_search_works_with_any_estimator():
    view = View("ridge", FeatureScaler(), MaskedRidge(), [{"alpha": alpha} for alpha in (1e4, 1.0)])
    result = search(view, *samples_and_folds())
    assert result.params == {"alpha": 1.0}
    folds = make_folds(3, DATA.X, 2 * Y - 1, random_state=0)
    expected = np.zeros(Y.shape)
    for train, test in folds:
        expected[test] = MaskedRidge(alpha=1.0).fit(DATA.X[train], Y[train]).decision_function(DATA.X[test])
    np.testing.assert_allclose(result.scores, expected, atol=1e-10)


def test_the_maximum_number_of_records():
    fitted = model(views=("ridge", "linear", "kernel", "latent")).fit(DATA.X, Y)  # both ends of each path are tried
    assert len(fitted.cv_results_) == fitted._max_iterations() == 2 + 2 + 2 + 1
    alone = model(views=("linear",), Cs=(3.0,)).fit(DATA.X, Y)
    assert len(alone.cv_results_) == alone._max_iterations() == 1


def test_fitted_transformers_do_not_hold_the_random_state_of_the_fit():
    seeded = model(views=["kernel"], Cs=(3.0,))
    fitted = clone(seeded).set_params(random_state=np.random.RandomState(0)).fit(DATA.X, Y)
    transformer = fitted.transformers_["kernel"]
    assert not any(isinstance(value, np.random.RandomState) for value in vars(transformer).values())
    np.testing.assert_array_equal(fitted.decision_function(DATA.X), seeded.fit(DATA.X, Y).decision_function(DATA.X))


def test_views_with_equal_transformers_share_one_which_is_applied_once(monkeypatch):
    fitted = model(views=("linear", "ridge", "boosting")).fit(DATA.X, Y)
    scaler = fitted.transformers_["linear"]
    assert scaler is fitted.transformers_["ridge"] is fitted.transformers_["boosting"]
    calls = []
    transform = FeatureScaler.transform

    def counted(self, X):
        calls.append(self)
        return transform(self, X)

    monkeypatch.setattr(FeatureScaler, "transform", counted)
    fitted.predict_proba(DATA.X)
    assert calls == [scaler]


def test_scores_are_the_weighted_mean_of_calibrated_views():
    fitted = model(dependency_weight=0.0).fit(DATA.X, Y)
    scores = []
    for view, estimator in fitted.estimators_.items():
        calibration = fitted.mixture_.calibrations_[view]
        values = estimator.decision_function(fitted.transformers_[view].transform(DATA.X))
        scores.append(calibration.transform(values))
    final = fitted.correction_.calibration_
    mean = np.tensordot(list(fitted.view_weights_.values()), scores, axes=1)
    expected = final.slopes_ * mean + final.intercepts_
    np.testing.assert_allclose(fitted.decision_function(DATA.X), expected, atol=1e-10)


def test_views_can_be_added():
    path = [{"estimator__var_smoothing": value} for value in (1e-9, 0.1)]
    bayes = View("bayes", FeatureScaler(), PerLabelClassifier(GaussianNB()), path)
    fitted = clone(model(views=(bayes, "linear"))).fit(DATA.X, Y)
    assert list(fitted.view_weights_) == ["linear", "bayes"]
    assert fitted.params_["bayes"] in path
    assert set(losses_of("bayes", fitted)) == {repr(params) for params in path}
    assert not hasattr(bayes.transformer, "factor_")


@pytest.mark.parametrize("metric", ["label_ranking_average_precision", "coverage", "macro_auc", "ndcg_at_3"])
def test_any_metric_of_scores_can_be_used_for_selection(metric):
    fitted = model(scoring=metric, views=("linear",), keep_fraction=1.0, dependency_weight=0.0).fit(DATA.X, Y)
    value = evaluate(Y, scores=fitted.out_of_fold_scores_)[metric]
    expected = value if metric == "coverage" else 1 - value
    assert min(losses_of("linear", fitted).values()) == pytest.approx(expected, rel=0.15)


def test_out_of_fold_scores_come_from_models_not_fitted_on_the_sample():
    # Features identify the sample and labels are noise, so only a model fitted on a sample can predict it.
    X, noise = np.eye(90), (np.random.default_rng(0).random((90, 4)) < 0.5).astype(float)
    fitted = model(views=("linear",), keep_fraction=1.0, dependency_weight=0.0, Cs=(100.0,)).fit(X, noise)
    assert ranking_loss(noise, fitted.decision_function(X)) < 0.05
    assert ranking_loss(noise, fitted.out_of_fold_scores_) > 0.35


def test_wrong_labels_are_trimmed_and_predictions_improve():
    data = make_planted(n_samples=1300, random_state=0)
    X, truth, new = data.X[:800], data.Y[:800], data.X[800:]
    labels = corrupt_labels(truth, "permute", 0.3, random_state=0)
    rates = {"false_positive_rate": 0.0, "false_negative_rate": 0.0}
    trimmed, plain = (model(keep_fraction=q, views=("linear",), **rates).fit(X, labels) for q in (0.9, 1.0))
    wrong = np.asarray(labels) != np.asarray(truth)
    assert 1 - trimmed.self_paced_weights_[wrong].mean() > 5 * (1 - trimmed.self_paced_weights_[~wrong].mean())
    losses = [ranking_loss(data.Y[800:], fitted.decision_function(new)) for fitted in (trimmed, plain)]
    assert losses[0] < losses[1]


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
    # Trusted entries that are missing are not trusted.
    trusted = np.arange(240)[:, None] < 30
    a, b = model().fit(DATA.X, Y, trusted=trusted & mask), model().fit(DATA.X, poisoned, mask=mask, trusted=trusted)
    for method in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(a, method)(DATA.X), getattr(b, method)(DATA.X))
    np.testing.assert_array_equal(b.self_paced_weights_[~mask], 0)


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
        ({"alphas": (0.0,)}, "alphas must be a non-empty sequence of positive numbers, got \\(0.0,\\)"),
        ({"n_trees": (10, 2.5)}, "n_trees must be a non-empty sequence of positive integers, got \\(10, 2.5\\)"),
        (
            {"views": ("linear", "far")},
            "views must be .* of 'linear', 'ridge', 'kernel', 'boosting', 'label boosting', 'forest', 'latent' or View",
        ),
        (
            {"views": (View("linear", FeatureScaler(), MaskedRidge()),)},
            "views must have distinct names other than 'linear'",
        ),
        ({"dependency_weight": 2.0}, "'dependency_weight' parameter of SelfPacedEnsemble must be"),
        ({"completion_weight": -1}, "'completion_weight' parameter of SelfPacedEnsemble must be"),
        ({"decision": 50}, "decision must be at most the number of labels, .* got 50"),
        ({"scoring": "hamming_loss"}, "scoring must be a metric of scores, got 'hamming_loss'"),
        ({"scoring": "best"}, "scoring must be the name of a metric of scores, got 'best'"),
        ({"cv": [(np.arange(200), np.arange(200, 240))]}, "cv must test each sample, but leaves out 200 of 240"),
        ({"cv": 2, "keep_fraction": 0.8}, "keep_fraction=0.8 requires a cv with at least 3 folds, got 2; pass more"),
        ({"cv": TWICE}, "cv must test each sample exactly once, but tests 1 more than once"),
    ],
)
def test_invalid_parameters_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        model(**changes).fit(DATA.X, Y)


def test_calibrations_use_a_part_of_many_samples(monkeypatch):
    """With every second sample, the parameters are almost those of all samples."""
    expected = model().fit(DATA.X, Y)
    for module in (mixture, correction, summary):
        monkeypatch.setattr(module, "MAX_CALIBRATED", 120)
    fitted = model().fit(DATA.X, Y)
    for name, calibration in expected.mixture_.calibrations_.items():
        assert fitted.mixture_.calibrations_[name].slopes_ != calibration.slopes_
        assert fitted.mixture_.calibrations_[name].slopes_ == pytest.approx(calibration.slopes_, rel=0.2)


def test_losses_of_many_samples_are_those_of_a_part():
    samples, cross = samples_and_folds()
    scores = search(linear_view([3.0]), samples, cross).scores
    assert HeldOut(samples.signs, HeldOutLoss()).mean(scores) == pytest.approx(ranking_loss(Y, scores))
    expected = pytest.approx(ranking_loss(Y[::2], scores[::2]))
    assert HeldOut(samples.signs, HeldOutLoss(), 120).mean(scores) == expected
    result = search(linear_view([3.0]), samples, cross, max_scored=120)
    assert result.loss == expected
    np.testing.assert_array_equal(result.scores, scores)


@pytest.mark.parametrize("estimator", [MaskedRidge(), SelfPacedClassifier(LogisticRegression()), PerLabelClassifier()])
def test_labels_that_were_read_before_give_the_fits_of_labels_with_nan(estimator):
    X, signs = DATA.X[:120], 2 * Y[:120] - 1
    folds = make_folds(2, X, signs, random_state=0)
    read = Labels(read_labels(signs).signs, np.array([-1, 1]))
    weights = ~np.isnan(signs)
    expected = np.zeros(signs.shape)
    for train, test in folds:
        options = {"entry_weight": weights[train].astype(float)}
        expected[test] = clone(estimator).fit(X[train], signs[train], **options).decision_function(X[test])
    models = [clone(estimator) for _ in folds]
    scores = cross_fit_scores(CrossFit(folds, len(X)), models, Samples(X, read, weights))
    np.testing.assert_allclose(scores, expected, atol=1e-12)


def test_a_view_of_another_library_gets_labels_with_nan():
    class Recorder(DummyClassifier):
        def fit(self, X, Y, entry_weight=None):
            assert isinstance(Y, np.ndarray)
            assert np.isnan(Y).any()
            return super().fit(X, np.nan_to_num(Y))

        def decision_function(self, X):
            return np.zeros((len(X), Y.shape[1]))

    assert model(views=("ridge", View("other", FeatureScaler(), Recorder()))).fit(DATA.X, Y).view_weights_["other"] >= 0


def test_the_label_graph_is_left_out_of_large_products():
    few = np.where(np.arange(240)[:, None] % 20 == 0, Y, np.nan)
    few[0] = DATA.Y[0]
    (n, d), l = DATA.X.shape, Y.shape[1]
    for limit, labels, expected in (
        (d * l**2, Y, True),
        (d * l**2 - 1, Y, False),
        (max(d * l**2, n * d * l - 1), few, n * d * l <= d * l**2),
        (n * d * l, few, True),
    ):
        assert uses_graph(d, l, n * d, read_labels(labels).observed.mean(), limit) == expected
    labels = read_labels(np.tile([[0], [1]], (1, 1001)))
    views, _ = model()._choose_views(Samples(np.ones((2, 1000)), labels, labels.observed))
    assert views["linear"].estimator.label_graph_penalty == 0


def test_threads_change_neither_the_fit_nor_the_settings_of_the_process():
    filters, libraries = list(warnings.filters), threadpool_info()
    alone, parallel = (model(n_jobs=n_jobs).fit(DATA.X, Y) for n_jobs in (None, 3))
    assert parallel.cv_results_ == alone.cv_results_
    np.testing.assert_array_equal(parallel.decision_function(DATA.X), alone.decision_function(DATA.X))
    np.testing.assert_array_equal(parallel.out_of_fold_scores_, alone.out_of_fold_scores_)
    assert warnings.filters == filters
    assert threadpool_info() == libraries


@pytest.mark.parametrize("error_rate", [0.0, 0.1])
def test_trees_of_the_noise_estimate_are_grown_once_unless_there_is_noise(error_rate, monkeypatch):
    """A linear model cannot show products of features, so that boosted trees are asked whether there are errors."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    products = np.stack([4 * X[:, i] * X[:, j] for i, j in ((0, 1), (1, 2), (2, 3))], axis=1) - 2
    scores = 9 * X[:, :3] - 9 if error_rate else products
    labels = np.where((scores > 0) != (rng.random(scores.shape) < error_rate), 1.0, 0.0)
    grown, boost = [], MaskedBoosting.boost

    def count(self, X, *args):
        trees = boost(self, X, *args)
        grown.append(len(trees.roots) - len(args[-1].roots))
        return trees

    monkeypatch.setattr(MaskedBoosting, "boost", count)
    fitted = model(views=("linear", "boosting"), n_trees=[30], keep_fraction=1.0).fit(X, labels)
    assert fitted.noise_.floor.any() == (error_rate > 0)
    assert not fitted.noise_.identified
    # For the noise, for the setting of the view unless the trees are the same, and for all samples.
    assert grown == [30] * 3 + [30 if error_rate else 0] * 3 + [30]


def floored(seed=0):
    """Labels with unobserved causes: 8 % of all entries are positive whatever the features are."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1600, 8))
    W = rng.normal(size=(8, 5))
    log_odds = 5 * X @ W / np.linalg.norm(W, axis=0) - 2
    q = 0.08 + 0.92 / (1 + np.exp(-log_odds))
    return X, (rng.random(q.shape) < q).astype(float), q


def test_probabilities_are_those_of_observed_labels_and_have_their_floor():
    """Probabilities without the floor have a log loss that is .1 higher."""
    X, labels, q = floored()
    fitted = SelfPacedEnsemble(views=("linear", "ridge"), random_state=0).fit(X[:800], labels[:800])
    p = fitted.predict_proba(X[800:])
    assert fitted.noise_.floor.any()
    np.testing.assert_array_equal(fitted.false_positive_rate_, 0)  # a floor is no claim about errors
    assert abs(p.min() - 0.08) < 0.03
    losses = [-np.log(np.where(labels[800:] > 0, value, 1 - value)).mean() for value in (p, q[800:])]
    assert losses[0] < losses[1] + 0.02
    np.testing.assert_allclose(p, 1 / (1 + np.exp(-fitted.decision_function(X[800:]))))
    with pytest.raises(ValueError, match="predict_true_proba needs noise rates"):
        fitted.predict_true_proba(X)


def test_verified_entries_give_probabilities_of_true_labels():
    X, truth, _ = floored()
    rng = np.random.default_rng(1)
    trusted = np.arange(1600)[:, None] + np.zeros(5) < 150
    flipped = (rng.random(truth.shape) < 0.15) & ~trusted
    observed = np.where(flipped, 1 - truth, truth)
    settings = {"views": ("linear", "ridge"), "random_state": 0}
    fitted = SelfPacedEnsemble(**settings).fit(X[:800], observed[:800], trusted=trusted[:800])
    assert fitted.noise_.identified
    np.testing.assert_allclose(fitted.false_positive_rate_, 0.15, atol=0.08)
    of_observed, of_truth = fitted.predict_proba(X[800:]), fitted.predict_true_proba(X[800:])

    def loss(p, Y):
        return -np.log(np.where(Y > 0, p, 1 - p)).mean()

    assert loss(of_truth, truth[800:]) < loss(of_observed, truth[800:])
    assert loss(of_observed, observed[800:]) < loss(of_truth, observed[800:])
    correct = SelfPacedEnsemble(**settings).fit(X[:800], truth[:800], trusted=trusted[:800])
    np.testing.assert_array_equal(correct.false_positive_rate_, 0)  # verified entries have the same floor
    assert correct.noise_.floor.any()
    np.testing.assert_array_equal(correct.predict_true_proba(X[800:]), correct.predict_proba(X[800:]))


def test_f1_decisions_do_not_predict_the_floor():
    """With 40 labels and 10 % false positives, most positives are false; F1 of true labels is half as good with it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1600, 12))
    W = rng.normal(size=(12, 40))
    truth = rng.random((1600, 40)) < 1 / (1 + np.exp(12 - 6 * X @ W / np.linalg.norm(W, axis=0)))
    observed = truth ^ (rng.random(truth.shape) < 0.1)
    fitted = SelfPacedEnsemble(views=("ridge", "linear"), random_state=0).fit(X[:800], observed[:800].astype(float))
    predicted = fitted.predict(X[800:]) == 1

    def f1(chosen):
        return 2 * (chosen & truth[800:]).sum() / (chosen.sum() + truth[800:].sum())

    p = fitted.predict_proba(X[800:])
    with_floor = DecisionRule().fit(p, None).positive(p)
    assert f1(predicted) > f1(with_floor) + 0.1


def test_interactions_of_few_categories_are_learned():
    """With identical samples in one fold, held-out samples have no equals, and the log loss is .69."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1600, 3)).astype(float)
    odd = X.sum(axis=1, keepdims=True) % 2 == np.arange(3) % 2
    Y = (rng.random(odd.shape) < np.where(odd, 0.88, 0.12)).astype(float)
    fitted = SelfPacedEnsemble(random_state=0).fit(X[:600], Y[:600])
    p = fitted.predict_proba(X[600:])
    assert -np.log(np.where(Y[600:] > 0, p, 1 - p)).mean() < 0.4
    assert not fitted.similar_together_
