"""Thresholds and calibration: best of all cuts, Platt's minimum, nothing leaked, nothing unobserved read."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.utils.estimator_checks import check_estimator

from spmld.splits import MultilabelStratifiedKFold
from spmld.thresholds import CalibratedLabels, ThresholdClassifier
from spmld.thresholds.calibration import fit_sigmoids
from spmld.thresholds.cuts import f1_cuts, proportional_cuts, top_k

NAN = np.nan


class Ridge(ClassifierMixin, BaseEstimator):
    """A ridge of each label on its observed entries; scores around 0 after a shift."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, Y):
        X, Y = np.asarray(X, dtype=float), np.asarray(Y, dtype=float)
        self.n_features_in_, self.fitted_on_ = X.shape[1], len(X)
        X = np.column_stack([X, np.ones(len(X))])
        self.W_ = np.zeros((X.shape[1], Y.shape[1]))
        for j, y in enumerate(Y.T):
            seen = ~np.isnan(y)
            A, t = X[seen], np.where(y[seen] > 0, 1.0, -1.0)
            self.W_[:, j] = np.linalg.solve(A.T @ A + np.eye(X.shape[1]), A.T @ t)
        return self

    def decision_function(self, X):
        return np.column_stack([np.asarray(X, dtype=float), np.ones(len(X))]) @ self.W_ + self.shift

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


class RidgeWithProbabilities(Ridge):
    def predict_proba(self, X):
        return 1 / (1 + np.exp(-self.decision_function(X)))


class Memory(ClassifierMixin, BaseEstimator):
    """Knows the labels of the rows it was fitted on by heart, and gives all others the score 0."""

    def fit(self, X, Y):
        self.seen_ = {tuple(x): y for x, y in zip(np.asarray(X), np.asarray(Y, dtype=float), strict=True)}
        self.n_labels_ = np.shape(Y)[1]
        return self

    def decision_function(self, X):
        unknown = np.zeros(self.n_labels_)
        return np.array([2 * np.nan_to_num(self.seen_[tuple(x)]) - 1 if tuple(x) in self.seen_ else unknown for x in X])


def make_data(n=400, l=4, missing=0.3, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    scores = X @ rng.normal(size=(5, l)) + noise * rng.normal(size=(n, l))
    Y = (scores > np.quantile(scores, np.linspace(0.6, 0.9, l), axis=0).diagonal()).astype(float)
    Y[rng.random(Y.shape) < missing] = NAN
    return X, Y


@st.composite
def scores_and_signs(draw, labels=None):
    n, l = draw(st.integers(2, 15)), labels or draw(st.integers(1, 4))
    kinds = [
        st.integers(-3, 3).map(float),  # many equal scores
        st.floats(-1e300, 1e300),
        st.sampled_from([1.0, np.nextafter(1.0, 2), np.nextafter(np.nextafter(1.0, 2), 2)]),  # neighbours
    ]
    score = draw(st.sampled_from(kinds))
    scores = np.array(draw(st.lists(score, min_size=n * l, max_size=n * l))).reshape(n, l)
    signs = np.array(draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n * l, max_size=n * l)), dtype=np.int8)
    signs = signs.reshape(n, l)
    signs[0], signs[1] = 1, -1
    return scores, signs


def f1(truth, chosen):
    return 2 * (truth & chosen).sum() / (truth.sum() + chosen.sum())


def all_cuts(score, sign):
    """Every set of entries that are predicted positive together, with equal scores on one side."""
    for cut in np.unique(score[sign != 0]):
        yield (score >= cut) & (sign != 0)


@given(scores_and_signs())
@settings(max_examples=200, deadline=None)
def test_f1_cuts_are_the_best_of_all_cuts(case):
    scores, signs = case
    for score, sign, threshold in zip(scores.T, signs.T, f1_cuts(scores, signs), strict=True):
        seen = sign != 0
        best = max(f1(sign > 0, chosen) for chosen in all_cuts(score, sign))
        assert f1(sign > 0, (score >= threshold) & seen) == pytest.approx(best, abs=1e-12)


@given(scores_and_signs())
@settings(max_examples=200, deadline=None)
def test_proportional_cuts_come_nearest_to_the_observed_number(case):
    scores, signs = case
    for score, sign, threshold in zip(scores.T, signs.T, proportional_cuts(scores, signs), strict=True):
        wanted = (sign > 0).sum()
        ours = ((score >= threshold) & (sign != 0)).sum()
        assert abs(ours - wanted) == min(abs(chosen.sum() - wanted) for chosen in all_cuts(score, sign))


@given(scores_and_signs())
@settings(max_examples=50, deadline=None)
def test_scores_of_unobserved_entries_do_not_matter(case):
    scores, signs = case
    other = np.where(signs == 0, scores[::-1] * 0.5 + 1, scores)
    for cuts in (f1_cuts, proportional_cuts):
        assert_array_equal(cuts(scores, signs), cuts(other, signs))


def test_of_equally_good_cuts_the_highest_and_it_lies_halfway():
    scores, signs = np.array([[4.0], [3.0], [2.0], [1.0]]), np.array([[1], [-1], [-1], [1]])
    assert f1_cuts(scores, signs) == 3.5  # 2/3 after the first and after the last
    assert f1_cuts(scores, -signs) == 1.5


@given(scores_and_signs(), st.integers(1, 4))
def test_top_k_takes_k_labels_that_no_other_exceeds(case, k):
    scores, _ = case
    k = min(k, scores.shape[1])
    chosen = top_k(scores, k)
    assert_array_equal(chosen.sum(axis=1), k)
    least = np.where(chosen, scores, np.inf).min(axis=1)
    assert (np.where(chosen, -np.inf, scores).max(axis=1) <= least).all()


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
        # Theirs stops early on scores far from 0, so it is given them standardised; that does not move the minimum.
        theirs = _SigmoidCalibration().fit(raw[:, j], signs[:, j]).predict(raw[:, j])
        assert_allclose(ours, theirs, atol=1e-6)
        found = minimize(platt_objective, (0, 0), (raw[:, j], signs[:, j]), method="Nelder-Mead", tol=1e-12).x
        assert_allclose((slopes[j] * scale, intercepts[j] + slopes[j] * shift), found, rtol=1e-6, atol=1e-6)


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
            continue  # neighbouring floats: a slope of 1e16 cannot be judged by differences
        here = platt_objective((slopes[j], intercepts[j]), score, sign)
        centre = score[sign != 0].mean()
        for da in (-1e-3, 0, 1e-3):
            for db in (-1e-3, 0, 1e-3):
                other = (slopes[j] + da / width, intercepts[j] + db - da / width * centre)
                assert here <= platt_objective(other, score, sign) + 1e-9


def test_sigmoids_of_scores_with_far_outliers_are_found():
    # Full Newton steps run away on these.
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


def test_sigmoids_do_not_read_unobserved_scores_and_equal_scores_give_the_prior():
    rng = np.random.default_rng(1)
    scores, signs = rng.normal(size=(50, 3)), rng.choice([-1, 0, 1], size=(50, 3)).astype(np.int8)
    poisoned = np.where(signs == 0, 1e6 * rng.normal(size=scores.shape), scores)
    assert_allclose(fit_sigmoids(scores, signs), fit_sigmoids(poisoned, signs), rtol=1e-9)
    slopes, intercepts = fit_sigmoids(np.ones((10, 1)), np.array([[1]] * 3 + [[-1]] * 7))
    targets = (3 * 4 / 5 + 7 * 1 / 9) / 10
    assert slopes == pytest.approx(0)
    assert 1 / (1 + np.exp(-intercepts)) == pytest.approx(targets)


@pytest.mark.parametrize("method", ["f1", "proportional"])
def test_thresholds_are_those_of_out_of_fold_scores(method):
    X, Y = make_data()
    cv = KFold(4)
    model = ThresholdClassifier(Ridge(), method=method, cv=cv).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in cv.split(X):
        scores[test] = Ridge().fit(X[train], Y[train]).decision_function(X[test])
    signs = np.where(np.isnan(Y), 0, 2 * Y - 1).astype(np.int8)
    assert_allclose(model.thresholds_, {"f1": f1_cuts, "proportional": proportional_cuts}[method](scores, signs))
    assert model.tuned_.all()
    assert model.estimator_.fitted_on_ == len(X)
    assert_array_equal(model.predict(X), model.estimator_.decision_function(X) >= model.thresholds_)
    assert_array_equal(model.decision_function(X), Ridge().fit(X, Y).decision_function(X))


def test_a_memorising_estimator_leaks_nothing():
    X, Y = make_data(missing=0.2)
    assert_array_equal(ThresholdClassifier(Memory(), cv=5, random_state=0).fit(X, Y).thresholds_, 0)
    model = CalibratedLabels(Memory(), cv=5, random_state=0).fit(X, Y)
    assert_allclose(model.slopes_, 0, atol=1e-9)
    assert_allclose(model.predict_proba(X), np.tile(np.nanmean(Y, axis=0), (len(X), 1)), atol=0.02)
    # Scores of rows it knows would have said everything.
    leaking = CalibratedLabels(Memory().fit(X, Y), cv="prefit").fit(X, Y)
    assert (leaking.slopes_ > 1).all()


def test_tuned_f1_beats_the_usual_threshold_on_new_rows():
    X, Y = make_data(3000, 6, missing=0.5, noise=3.0)
    full = make_data(3000, 6, missing=0.0, noise=3.0)[1]
    model = ThresholdClassifier(Ridge(), random_state=0).fit(X[:1500], Y[:1500])
    usual = f1_score(full[1500:], model.estimator_.predict(X[1500:]), average="macro", zero_division=0)
    tuned = f1_score(full[1500:], model.predict(X[1500:]), average="macro")
    assert tuned > usual + 0.1


def test_proportional_predicts_the_observed_share_on_new_rows():
    X, Y = make_data(4000, 4, missing=0.4)
    model = ThresholdClassifier(Ridge(), method="proportional", random_state=0).fit(X[:2000], Y[:2000])
    assert_allclose(model.predict(X[2000:]).mean(axis=0), np.nanmean(Y, axis=0), atol=0.04)


def test_top_k_takes_the_expected_number_of_labels_or_the_one_given():
    X, Y = make_data(400, 12, missing=0.7)
    model = ThresholdClassifier(Ridge(), method="top_k").fit(X, Y)
    assert model.k_ == round(np.nanmean(Y, axis=0).sum()) == 3
    assert model.thresholds_ is None
    predicted = ThresholdClassifier(Ridge(), method="top_k", k=3).fit(X, Y).predict(X)
    assert_array_equal(predicted, top_k(model.decision_function(X), 3))


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_mends_shifted_scores(method):
    X, Y = make_data(3000, 3, missing=0.3)
    model = CalibratedLabels(Ridge(shift=2.0), method=method, random_state=0).fit(X[:1500], Y[:1500])
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


def test_labels_that_cannot_be_tuned_are_named_and_keep_the_usual_threshold():
    X, Y = make_data(200, 5, missing=0.1)
    Y[:, 1] = np.where(np.isnan(Y[:, 1]), NAN, 0)
    Y[:, 2] = np.where(np.isnan(Y[:, 2]), NAN, 1)
    Y[:, 3] = 0
    Y[7, 3] = 1  # in one fold no positive is left to fit on
    Y = pd.DataFrame(Y, columns=["a", "b", "c", "d", "e"])
    with pytest.warns(UserWarning, match=r"Labels b, c, d: not tuned.*threshold of decision_function, 0.0, is kept"):
        model = ThresholdClassifier(Ridge(), random_state=0).fit(X, Y)
    assert_array_equal(model.tuned_, [True, False, False, False, True])
    assert_array_equal(model.thresholds_[[1, 2, 3]], 0)
    assert (model.thresholds_[[0, 4]] != 0).all()
    with pytest.warns(UserWarning, match=r"threshold of predict_proba, 0.5, is kept"):
        model = ThresholdClassifier(RidgeWithProbabilities(), response_method="predict_proba", random_state=0).fit(X, Y)
    assert_array_equal(model.thresholds_[[1, 2, 3]], 0.5)
    with pytest.warns(UserWarning, match=r"Labels b, c, d: .*the share of positives is the probability"):
        model = CalibratedLabels(Ridge(), random_state=0).fit(X, Y)
    wanted = (np.nansum(Y["b"]) + 1) / (Y["b"].notna().sum() + 2)
    assert_allclose(model.predict_proba(X)[:, 1], wanted)
    with pytest.warns(UserWarning, match=r"the probabilities of the estimator are kept"):
        model = CalibratedLabels(RidgeWithProbabilities(), method="isotonic", random_state=0).fit(X, Y)
    assert_array_equal(model.predict_proba(X)[:, 1:4], model.estimator_.predict_proba(X)[:, 1:4])
    assert not np.allclose(model.predict_proba(X)[:, 0], model.estimator_.predict_proba(X)[:, 0])


@pytest.mark.parametrize(
    "model",
    [
        ThresholdClassifier(Ridge(), random_state=0),
        ThresholdClassifier(Ridge(), method="proportional", random_state=0),
        ThresholdClassifier(Ridge(), method="top_k"),
        CalibratedLabels(Ridge(), random_state=0),
        CalibratedLabels(Ridge(), method="isotonic", random_state=0),
    ],
)
def test_what_stands_in_unobserved_places_is_not_read(model):
    X, Y = make_data(150, 3)
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, np.random.default_rng(0).choice([0.0, 1.0, 7.0, np.inf], size=Y.shape))
    clean, dirty = clone(model).fit(X, Y), clone(model).fit(X, poisoned, mask)
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(clean, name):
            assert_array_equal(getattr(clean, name)(X), getattr(dirty, name)(X))
    assert clean.score(X, Y) == dirty.score(X, poisoned, mask)


def test_prefit_does_not_fit_again_and_uses_the_rows_given():
    X, Y = make_data()
    fitted = Ridge().fit(X[:200], Y[:200])
    model = ThresholdClassifier(fitted, cv="prefit").fit(X[200:], Y[200:])
    assert model.estimator_ is fitted
    assert fitted.fitted_on_ == 200
    signs = np.where(np.isnan(Y), 0, 2 * Y - 1).astype(np.int8)
    assert_array_equal(model.thresholds_, f1_cuts(fitted.decision_function(X[200:]), signs[200:]))


def test_score_is_subset_accuracy_over_what_is_observed():
    X, Y = make_data(300, 3, missing=0.0)
    model = ThresholdClassifier(Ridge(), random_state=0).fit(X, Y)
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
    hidden = Y.copy()
    hidden[:100] = NAN
    hidden[:, 0] = NAN
    right = (model.predict(X)[100:, 1:] == Y[100:, 1:]).all(axis=1)
    assert model.score(X, hidden) == pytest.approx(right.mean())


@pytest.mark.parametrize("write", [lambda Y: Y, lambda Y: 2 * Y - 1, lambda Y: Y.astype(bool), pd.DataFrame])
def test_predictions_come_in_the_form_of_the_labels(write):
    X, Y = make_data(200, 3, missing=0.0)
    plain = ThresholdClassifier(Ridge(), random_state=0).fit(X, Y).predict(X)
    written = ThresholdClassifier(Ridge(), random_state=0).fit(X, write(Y)).predict(X)
    assert_array_equal(written, np.asarray(write(plain)))


def test_a_vector_of_two_words_is_one_label():
    X, Y = make_data(200, 1, missing=0.0)
    y = np.array(["no", "yes"])[Y[:, 0].astype(int)]
    for model in (ThresholdClassifier(LogisticRegression(), random_state=0), CalibratedLabels(LogisticRegression())):
        assert set(model.fit(X, y).predict(X)) == {"no", "yes"}
        assert_array_equal(model.classes_, ["no", "yes"])
        assert_allclose(model.predict_proba(X).sum(axis=1), 1)
        assert np.corrcoef(model.predict_proba(X)[:, 1], y == "yes")[0, 1] > 0.5


@pytest.mark.parametrize(
    "inner", [MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(10, random_state=0)]
)
def test_probabilities_given_as_a_list_are_read(inner):
    X, Y = make_data(200, 3, missing=0.0)
    model = ThresholdClassifier(inner, cv="prefit").set_params(estimator=inner.fit(X, Y)).fit(X, Y)
    columns = np.column_stack([column[:, 1] for column in inner.predict_proba(X)])
    assert_array_equal(model.thresholds_, f1_cuts(columns, (2 * Y - 1).astype(np.int8)))
    Y[:, 0] = 1  # its probabilities have one column, and it means positive
    with pytest.warns(UserWarning, match="Label 0: not tuned"):
        forest = CalibratedLabels(RandomForestClassifier(10, random_state=0), random_state=0).fit(X, Y)
    assert_array_equal(forest.predict_proba(X)[:, 0], 1)


def test_thresholds_around_calibration_in_a_search():
    X, Y = make_data(200, 3)
    model = ThresholdClassifier(CalibratedLabels(Ridge(), cv=3, random_state=0), cv=3, random_state=0)
    cv = MultilabelStratifiedKFold(3, random_state=0)
    search = GridSearchCV(model, {"estimator__estimator__shift": [0.0, 1.0], "method": ["f1", "top_k"]}, cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    restored = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(restored.predict(X), search.predict(X))
    assert restored.n_features_in_ == 5


_BY_DESIGN = {
    "check_complex_data": "complex labels are refused before complex X, with a message of their own",
    "check_classifiers_train": "decisions are not those of the estimator's own threshold",
    "check_classifiers_one_label": "a vector of ones is all positive, and RidgeClassifier scores its only class -1",
    "check_classifiers_multilabel_output_format_predict_proba": "isotonic probabilities may be 0 and 1",
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "model",
    [
        ThresholdClassifier(LogisticRegression(), cv=3, random_state=0),
        ThresholdClassifier(RidgeClassifier(), method="proportional", cv=3, random_state=0),
        CalibratedLabels(LogisticRegression(), cv=3, random_state=0),
        CalibratedLabels(RidgeClassifier(), method="isotonic", cv=3, random_state=0),
    ],
)
def test_scikit_learns_own_checks(model):
    results = check_estimator(model, on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert len(results) > 50
    assert failed <= set(_BY_DESIGN)
    if isinstance(model, CalibratedLabels):
        assert "check_classifiers_train" not in failed


X20, Y20 = make_data(20, 3, missing=0.0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ThresholdClassifier(Ridge(), method="best"), 'method must be "f1", "proportional" or "top_k", got \'best\''),
        (
            ThresholdClassifier(Ridge(), method="top_k", k=4),
            "k must be None or an integer from 1 to the 3 labels, got 4",
        ),
        (ThresholdClassifier(Ridge(), method="top_k", k=1.5), "k must be None or an integer .* got 1.5"),
        (ThresholdClassifier(Ridge(), response_method="predict"), "response_method must be .* got 'predict'"),
        (ThresholdClassifier(Ridge(), response_method="predict_proba"), "estimator must have predict_proba"),
        (ThresholdClassifier(Ridge(), cv=1), "cv must be .* got 1"),
        (ThresholdClassifier(Ridge(), cv="all"), "cv must be .* got 'all'"),
        (ThresholdClassifier(Ridge(), cv=21), "cv asks for 21 folds, .* at most 20"),
        (ThresholdClassifier(Ridge(shift=NAN)), "estimator must give finite scores"),
        (CalibratedLabels(Ridge(), method="beta"), 'method must be "sigmoid" or "isotonic", got \'beta\''),
    ],
)
def test_refusals_name_the_argument_and_what_was_given(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X20, Y20)
