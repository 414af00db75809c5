"""Out-of-fold calibration and decisions: no leakage, missing entries ignored, labels returned in the form of y."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from spmld import GLOCAL, HierarchicalClassifier, MaskedLogistic
from spmld.annotators.mixture import annotated_labels
from spmld.estimators import ThresholdClassifier
from spmld.labels import read_labels
from spmld.model_selection import DecisionRule, MultilabelStratifiedKFold
from spmld.noise import PooledCalibration
from tests.model_selection.classifier_cases import NAN, Memory, Ridge, make_data


def test_nothing_is_learned_from_a_memorizing_estimator():
    X, Y = make_data(missing=0.2)
    model = ThresholdClassifier(Memory(), cv=5, random_state=0).fit(X, Y)
    assert_allclose(model.calibration_.slopes_, 0, atol=1e-9)
    assert_allclose(model.predict_proba(X), np.tile(np.nanmean(Y, axis=0), (len(X), 1)), atol=0.03)
    # Scores of training samples would reveal all labels.
    leaking = ThresholdClassifier(FrozenEstimator(Memory().fit(X, Y))).fit(X, Y)
    assert (leaking.calibration_.slopes_ > 1).all()


def test_scores_of_folds_that_cannot_learn_a_label_are_not_used_for_its_calibration():
    X, Y = make_data(200, 3, missing=0.0)
    Y[:, 1] = 0
    Y[:10, 1] = 1  # the first of two folds has no training positive
    folds = [(np.arange(100, 200), np.arange(100)), (np.arange(100), np.arange(100, 200))]
    model = ThresholdClassifier(Ridge(), cv=folds).fit(X, Y)
    scores = np.vstack([Ridge().fit(X[train], Y[train]).decision_function(X[test]) for train, test in folds])
    signs = (2 * Y - 1).astype(np.int8)
    signs[:100, 1] = 0
    expected = PooledCalibration().fit(scores, signs)
    assert_allclose(model.calibration_.intercepts_, expected.intercepts_)
    assert_allclose(model.calibration_.slopes_, expected.slopes_)


@pytest.mark.parametrize(
    "model",
    [
        ThresholdClassifier(Ridge(), random_state=0),
        ThresholdClassifier(Ridge(), decision="macro_f1", random_state=0),
        ThresholdClassifier(Ridge(), decision=2, random_state=0),
    ],
)
def test_missing_entries_of_y_are_ignored(model):
    X, Y = make_data(150, 3)
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, np.random.default_rng(0).choice([0.0, 1.0, 7.0, np.inf], size=Y.shape))
    clean, dirty = clone(model).fit(X, Y), clone(model).fit(X, poisoned, mask)
    for name in ("predict", "predict_proba"):
        assert_array_equal(getattr(clean, name)(X), getattr(dirty, name)(X))
    assert clean.score(X, Y) == dirty.score(X, poisoned, mask)


def test_a_frozen_estimator_is_not_fitted_again_and_scores_the_samples_passed():
    X, Y = make_data()
    fitted = Ridge().fit(X[:200], Y[:200])
    model = ThresholdClassifier(FrozenEstimator(fitted), decision="macro_f1", random_state=0).fit(X[200:], Y[200:])
    assert model.estimator_.estimator is fitted
    assert fitted.fitted_on_ == 200
    signs = np.where(np.isnan(Y), 0, 2 * Y - 1).astype(np.int8)
    scores = fitted.decision_function(X[200:])
    P = PooledCalibration().fit(scores, signs[200:]).probabilities(scores)
    assert_allclose(model.predict_proba(X[200:]), P)
    assert_allclose(model.thresholds_, DecisionRule(decision="macro_f1").fit(P).thresholds_)


def test_score_is_subset_accuracy_over_observed_labels():
    X, Y = make_data(300, 3, missing=0.0)
    model = ThresholdClassifier(Ridge(), random_state=0).fit(X, Y)
    assert model.score(X, Y) == accuracy_score(Y, model.predict(X))
    hidden = Y.copy()
    hidden[:100] = NAN
    hidden[:, 0] = NAN
    correct = (model.predict(X)[100:, 1:] == Y[100:, 1:]).all(axis=1)
    assert model.score(X, hidden) == pytest.approx(correct.mean())


@pytest.mark.parametrize("write", [lambda Y: Y, lambda Y: 2 * Y - 1, lambda Y: Y.astype(bool), pd.DataFrame])
def test_predictions_have_the_encoding_of_y(write):
    X, Y = make_data(200, 3, missing=0.0)
    plain = ThresholdClassifier(Ridge(), random_state=0).fit(X, Y).predict(X)
    written = ThresholdClassifier(Ridge(), random_state=0).fit(X, write(Y)).predict(X)
    assert_array_equal(written, np.asarray(write(plain)))


def test_a_vector_of_two_strings_is_one_label():
    X, Y = make_data(200, 1, missing=0.0)
    y = np.array(["no", "yes"])[Y[:, 0].astype(int)]
    model = ThresholdClassifier(LogisticRegression(), random_state=0)
    assert set(model.fit(X, y).predict(X)) == {"no", "yes"}
    assert_array_equal(model.classes_, ["no", "yes"])
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.corrcoef(model.predict_proba(X)[:, 1], y == "yes")[0, 1] > 0.5


@pytest.mark.parametrize("classes", [("no", "yes"), (1, 2)])
def test_strings_with_a_mask_and_subsets_of_one_class_are_read_as_fitted(classes):
    X, Y = make_data(200, 1, missing=0.0)
    y, mask = np.array(classes)[Y[:, 0].astype(int)], np.arange(200) % 3 > 0
    model = ThresholdClassifier(GLOCAL(random_state=0), random_state=0).fit(X, y, mask)
    correct = model.predict(X) == y
    assert correct.mean() > 0.7
    for subset in (Y[:, 0] == 0, Y[:, 0] == 1):
        assert model.score(X[subset], y[subset]) == pytest.approx(correct[subset].mean())


def test_strings_in_a_column_work_with_probabilities_as_a_list():
    X, Y = make_data(200, 1, missing=0.0)
    words = np.array(["no", "yes"])[Y.astype(int)]
    model = ThresholdClassifier(MultiOutputClassifier(LogisticRegression()), random_state=0)
    plain = model.fit(X, Y).predict(X)
    assert_array_equal(model.fit(X, words, np.ones(Y.shape, bool)).predict(X), np.where(plain, "yes", "no"))


@pytest.mark.parametrize("inner", [RidgeClassifier(), RandomForestClassifier(5, random_state=0), GLOCAL()])
@pytest.mark.parametrize("only", [0, 1])
def test_a_vector_of_one_class_predicts_that_class(inner, only):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(UserWarning, match="Label 0: not calibrated, .*; scores are used as log-odds"):
        model = ThresholdClassifier(inner).fit(X, np.full(20, only))
    assert_array_equal(model.predict(X), only)


def test_folds_that_cannot_learn_a_label_are_not_fitted():
    X, y = np.linspace(-1, 1, 20)[:, None], np.zeros(20, dtype=int)
    y[-1] = 1  # a fold without it has one class, for which this estimator raises an error
    with pytest.warns(UserWarning, match="Label 0: not calibrated"):
        model = ThresholdClassifier(LogisticRegression(), random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), LogisticRegression().fit(X, y).predict(X))


@pytest.mark.parametrize("form", ["tensor", "sparse", "frame"])
def test_every_form_of_samples_and_labels_gives_the_same_predictions(form):
    X, Y = make_data(80, 3)
    observed = ~np.isnan(Y)
    expected = ThresholdClassifier(GLOCAL(random_state=0), random_state=0).fit(X, Y).predict(X)
    X_, Y_, options = X, Y, {}
    if form == "tensor":
        X_ = pytest.importorskip("torch").asarray(X)
    elif form == "sparse":
        X_, Y_, options = sp.csr_array(X), sp.csr_array(np.nan_to_num(Y)), {"mask": sp.csr_array(observed)}
    elif form == "frame":
        X_, Y_ = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Y, index=np.arange(80) + 5)
    model = ThresholdClassifier(GLOCAL(random_state=0), random_state=0).fit(X_, Y_, **options)
    predicted = model.predict(X_)
    assert hasattr(predicted, "detach") == (form == "tensor")
    assert (np.asarray(predicted) == expected).mean() > 0.99


@pytest.mark.parametrize(
    "inner", [MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(10, random_state=0)]
)
def test_probabilities_as_a_list_are_accepted(inner):
    X, Y = make_data(200, 3, missing=0.0)
    model = ThresholdClassifier(FrozenEstimator(inner.fit(X, Y))).fit(X, Y)
    columns = np.column_stack([column[:, 1] for column in inner.predict_proba(X)])
    log_odds = np.log((columns + 1e-3) / (1 - columns + 1e-3))
    expected = PooledCalibration().fit(log_odds, (2 * Y - 1).astype(np.int8)).probabilities(log_odds)
    assert_allclose(model.predict_proba(X), expected)
    Y[:, 0] = 1  # its probabilities have one column, that of the positive class
    forest = ThresholdClassifier(RandomForestClassifier(10, random_state=0), random_state=0).fit(X, Y)
    assert (forest.predict_proba(X)[:, 0] > 0.9).all()


def test_decisions_in_a_search():
    X, Y = make_data(200, 3)
    model = ThresholdClassifier(Ridge(), cv=3, random_state=0)
    cv = MultilabelStratifiedKFold(3, random_state=0)
    search = GridSearchCV(model, {"estimator__shift": [0.0, 1.0], "decision": ["f1", 0.5, 1]}, cv=cv)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    restored = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(restored.predict(X), search.predict(X))
    assert restored.n_features_in_ == 5


X20, Y20 = make_data(20, 3, missing=0.0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ThresholdClassifier(Ridge(), decision="best"), "'decision' parameter .* must be a str among .* Got 'best'"),
        (ThresholdClassifier(Ridge(), decision=1.5), "'decision' parameter .* Got 1.5"),
        (ThresholdClassifier(Ridge(), decision=4), "decision must be at most the number of labels, 3, got 4"),
        (ThresholdClassifier(KMeans()), "estimator must have decision_function or predict_proba, got KMeans"),
        (ThresholdClassifier(Ridge(), cv=1), "cv must be .* got 1"),
        (ThresholdClassifier(Ridge(), cv="all"), "cv must be .* got 'all'"),
        (ThresholdClassifier(Ridge(), cv=21), "cv must be at most the number of samples, n_samples=20, got 21"),
        (ThresholdClassifier(Ridge(shift=NAN)), "must return finite scores"),
    ],
)
def test_arguments_are_validated(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X20, Y20)


@pytest.mark.parametrize("decision", ["f1", "macro_f1", 0.3, 2])
def test_decisions_are_those_of_calibrated_out_of_fold_scores(decision):
    X, Y = make_data()
    cv = KFold(4)
    model = ThresholdClassifier(Ridge(), decision=decision, cv=cv).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in cv.split(X):
        scores[test] = Ridge().fit(X[train], Y[train]).decision_function(X[test])
    fitted = PooledCalibration().fit(scores, np.where(np.isnan(Y), 0, 2 * Y - 1).astype(np.int8))
    P = fitted.probabilities(Ridge().fit(X, Y).decision_function(X))
    rule = DecisionRule(decision=decision).fit(fitted.probabilities(scores))
    assert model.estimator_.fitted_on_ == len(X)
    assert_allclose(model.predict_proba(X), P)
    assert_array_equal(model.predict(X), rule.positive(P))
    if decision in ("macro_f1", 0.3):
        assert_allclose(model.thresholds_, rule.thresholds_)
    else:
        assert model.thresholds_ is None


def test_the_default_has_a_higher_f1_than_one_half_on_new_samples_and_does_not_predict_too_many_labels():
    X, Y = make_data(3000, 12, missing=0.5, noise=3.0)
    truth = make_data(3000, 12, missing=0.0, noise=3.0)[1][1500:]
    model = ThresholdClassifier(Ridge(), random_state=0).fit(X[:1500], Y[:1500])
    half = ThresholdClassifier(Ridge(), decision=0.5, random_state=0).fit(X[:1500], Y[:1500])
    for average in ("micro", "macro", "samples"):
        f1 = [f1_score(truth, m.predict(X[1500:]), average=average, zero_division=0) for m in (half, model)]
        assert f1[1] > f1[0] + 0.1
    assert truth.sum() < model.predict(X[1500:]).sum() < 2 * truth.sum()


def test_scores_are_log_odds_of_the_calibrated_probabilities():
    X, Y = make_data(200, 4)
    model = ThresholdClassifier(Ridge(), random_state=0).fit(X, pd.DataFrame(Y, columns=list("abcd")))
    scores = model.decision_function(X)
    assert_allclose(1 / (1 + np.exp(-scores)), model.predict_proba(X))
    assert model.label_names_ == list("abcd")
    assert (model.n_labels_, model.n_features_in_) == (4, 5)
    top = model.top_labels(X, k=2)
    assert_array_equal(top.labels, np.argsort(-scores, axis=1, kind="stable")[:, :2])
    assert_array_equal(top.scores, np.take_along_axis(scores, top.labels, axis=1))
    assert ThresholdClassifier(LogisticRegression(), random_state=0).fit(X, X[:, 0] > 0).decision_function(X).ndim == 1


def test_completion_keeps_observed_labels_and_decides_by_the_rule():
    X, Y = make_data(200, 3)
    model = ThresholdClassifier(Ridge(), decision="macro_f1", random_state=0).fit(X, Y)
    labels, confidences = model.complete(X, Y)
    observed = ~np.isnan(Y)
    assert_array_equal(labels[observed], Y[observed])
    assert_array_equal(labels[~observed], model.predict(X)[~observed])
    p = model.predict_proba(X)
    assert_allclose(confidences, np.where(observed, 1.0, np.where(labels == 1, p, 1 - p)))


def test_completion_uses_the_observed_labels_of_a_sample():
    X, Y = make_data(200, 3)
    model = ThresholdClassifier(GLOCAL(random_state=0), random_state=0).fit(X, Y)
    base = model.estimator_
    completed = model.calibration_.probabilities(base._completed_scores(X, read_labels(Y)))
    missing = np.isnan(Y)
    labels, confidences = model.complete(X, Y)
    assert_allclose(confidences[missing], np.where(labels == 1, completed, 1 - completed)[missing])
    assert np.abs(completed - model.predict_proba(X))[missing].max() > 1e-3


def test_samples_may_be_texts():
    X, Y = make_data(200, 3)
    texts = [" ".join(f"{'high' if value > 0 else 'low'}{j}" for j, value in enumerate(row)) for row in X]
    pipeline = make_pipeline(CountVectorizer(), StandardScaler(with_mean=False), MaskedLogistic())
    model = ThresholdClassifier(pipeline, random_state=0).fit(texts, Y)
    scores = model.decision_function(texts)
    assert scores.shape == (200, 3)
    assert_array_equal(model.top_labels(texts, k=1).labels[:, 0], scores.argmax(axis=1))
    assert_array_equal(model.complete(texts, Y).labels[~np.isnan(Y)], Y[~np.isnan(Y)])
    assert model.score(texts, Y) > 0
    with pytest.raises(ValueError, match="the same number of samples"):
        model.score(texts[:9], Y)


def test_answers_of_annotators_are_replaced_by_their_consensus():
    X, Y = make_data(200, 3, missing=0.0)
    answers = np.stack([Y, Y, np.where(np.random.default_rng(0).random(Y.shape) < 0.3, 1 - Y, Y)], axis=1)
    model = ThresholdClassifier(MaskedLogistic(), random_state=0).fit(X, answers)
    labels, weights = annotated_labels(X, answers)
    expected = ThresholdClassifier(MaskedLogistic(), random_state=0)
    expected.fit(X, labels.write_with_missing(None), entry_weight=weights)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X))


def test_a_refit_without_names_of_features_has_none():
    X, Y = make_data(100, 3)
    model = ThresholdClassifier(MaskedLogistic(), random_state=0).fit(pd.DataFrame(X).add_prefix("x"), Y)
    assert list(model.feature_names_in_) == [f"x{j}" for j in range(5)]
    assert not hasattr(model.fit(X, Y), "feature_names_in_")


def test_dask_collections_are_predicted_and_not_fitted():
    da = pytest.importorskip("dask.array")
    X, Y = make_data(100, 3)
    model = ThresholdClassifier(MaskedLogistic(), random_state=0).fit(X, Y)
    chunks = da.from_array(X, chunks=(40, 5))
    for method in ("predict", "predict_proba", "decision_function"):
        assert_array_equal(getattr(model, method)(chunks).compute(), getattr(model, method)(X))
    with pytest.raises(TypeError, match="ThresholdClassifier requires X in memory, got a Dask collection"):
        model.fit(chunks, Y)


def test_verified_entries_are_passed_to_the_base_estimator():
    X, Y = make_data(150, 3, missing=0.0)
    trusted = np.random.default_rng(0).random(Y.shape) < 0.3
    base = MaskedLogistic(false_positive_rate=0.2)
    model = ThresholdClassifier(base, cv=3, random_state=0).fit(X, Y, trusted=trusted)
    expected = clone(base).fit(X, Y, trusted=trusted)
    assert_array_equal(model.estimator_.decision_function(X), expected.decision_function(X))
    assert np.abs(clone(base).fit(X, Y).decision_function(X) - expected.decision_function(X)).max() > 0.1


@parametrize_with_checks(
    [
        ThresholdClassifier(LogisticRegression(), cv=3, random_state=0),
        ThresholdClassifier(RidgeClassifier(), decision=0.5, cv=3, random_state=0),
        ThresholdClassifier(HierarchicalClassifier(MaskedLogistic()), cv=3, random_state=0),
        HierarchicalClassifier(ThresholdClassifier(MaskedLogistic(), cv=3, random_state=0)),
    ]
)
# Labels that cannot be calibrated are named in a warning, and the checks have some.
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)
