"""Properties of both classifiers: no leakage, missing entries ignored, labels returned in the form of y."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputClassifier

from spmld import GLOCAL
from spmld.model_selection import CalibratedClassifier, EntryKFold, MultilabelStratifiedKFold, ThresholdClassifier
from spmld.model_selection.thresholds import f1_thresholds

from .classifier_cases import NAN, Memory, Ridge, RidgeWithProbabilities, make_data


def test_nothing_is_learned_from_a_memorizing_estimator():
    X, Y = make_data(missing=0.2)
    assert_allclose(ThresholdClassifier(Memory(), cv=5, random_state=0).fit(X, Y).thresholds_, 0, atol=1e-300)
    model = CalibratedClassifier(Memory(), cv=5, random_state=0).fit(X, Y)
    assert_allclose(model.slopes_, 0, atol=1e-9)
    assert_allclose(model.predict_proba(X), np.tile(np.nanmean(Y, axis=0), (len(X), 1)), atol=0.02)
    # Scores of training samples would reveal all labels.
    leaking = CalibratedClassifier(Memory().fit(X, Y), cv="prefit").fit(X, Y)
    assert (leaking.slopes_ > 1).all()


def test_labels_that_cannot_be_tuned_are_named_and_keep_the_default_threshold():
    X, Y = make_data(200, 5, missing=0.1)
    Y[:, 1] = np.where(np.isnan(Y[:, 1]), NAN, 0)
    Y[:, 2] = np.where(np.isnan(Y[:, 2]), NAN, 1)
    Y[:, 3] = 0
    Y[7, 3] = 1  # one fold has no training positive
    Y = pd.DataFrame(Y, columns=["a", "b", "c", "d", "e"])
    with pytest.warns(UserWarning, match=r"Labels b, c, d: not tuned.*threshold of decision_function, 0.0, is used"):
        model = ThresholdClassifier(Ridge(), random_state=0).fit(X, Y)
    assert_array_equal(model.tuned_, [True, False, False, False, True])
    assert_array_equal(model.thresholds_[[1, 2, 3]], 0)
    assert (model.thresholds_[[0, 4]] != 0).all()
    with pytest.warns(UserWarning, match=r"threshold of predict_proba, 0.5, is used"):
        model = ThresholdClassifier(RidgeWithProbabilities(), response_method="predict_proba", random_state=0).fit(X, Y)
    assert_array_equal(model.thresholds_[[1, 2, 3]], 0.5)
    with pytest.warns(UserWarning, match=r"Labels b, c, d: .*the smoothed fractions of positives are used"):
        model = CalibratedClassifier(Ridge(), random_state=0).fit(X, Y)
    expected = (np.nansum(Y["b"]) + 1) / (Y["b"].notna().sum() + 2)
    assert_allclose(model.predict_proba(X)[:, 1], expected)
    with pytest.warns(UserWarning, match=r"the probabilities of the base estimator are used"):
        model = CalibratedClassifier(RidgeWithProbabilities(), method="isotonic", random_state=0).fit(X, Y)
    assert_array_equal(model.predict_proba(X)[:, 1:4], model.estimator_.predict_proba(X)[:, 1:4])
    assert not np.allclose(model.predict_proba(X)[:, 0], model.estimator_.predict_proba(X)[:, 0])


@pytest.mark.parametrize(
    "model",
    [
        ThresholdClassifier(Ridge(), random_state=0),
        ThresholdClassifier(Ridge(), method="proportional", random_state=0),
        ThresholdClassifier(Ridge(), method="top_k"),
        CalibratedClassifier(Ridge(), random_state=0),
        CalibratedClassifier(Ridge(), method="isotonic", random_state=0),
    ],
)
def test_missing_entries_of_y_are_ignored(model):
    X, Y = make_data(150, 3)
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, np.random.default_rng(0).choice([0.0, 1.0, 7.0, np.inf], size=Y.shape))
    clean, dirty = clone(model).fit(X, Y), clone(model).fit(X, poisoned, mask)
    for name in ("predict", "predict_proba", "decision_function"):
        if hasattr(clean, name):
            assert_array_equal(getattr(clean, name)(X), getattr(dirty, name)(X))
    assert clean.score(X, Y) == dirty.score(X, poisoned, mask)


def test_prefit_does_not_fit_again_and_uses_the_samples_passed():
    X, Y = make_data()
    fitted = Ridge().fit(X[:200], Y[:200])
    model = ThresholdClassifier(fitted, cv="prefit").fit(X[200:], Y[200:])
    assert model.estimator_ is fitted
    assert fitted.fitted_on_ == 200
    signs = np.where(np.isnan(Y), 0, 2 * Y - 1).astype(np.int8)
    assert_array_equal(model.thresholds_, f1_thresholds(fitted.decision_function(X[200:]), signs[200:]))


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
    for model in (
        ThresholdClassifier(LogisticRegression(), random_state=0),
        CalibratedClassifier(LogisticRegression()),
    ):
        assert set(model.fit(X, y).predict(X)) == {"no", "yes"}
        assert_array_equal(model.classes_, ["no", "yes"])
        if hasattr(model, "predict_proba"):
            assert_allclose(model.predict_proba(X).sum(axis=1), 1)
            assert np.corrcoef(model.predict_proba(X)[:, 1], y == "yes")[0, 1] > 0.5
        else:
            assert_array_equal(model.predict(X) == "yes", model.decision_function(X) > 0)


MODELS = [ThresholdClassifier, CalibratedClassifier]


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("classes", [("no", "yes"), (1, 2)])
def test_strings_with_a_mask_and_subsets_of_one_class_are_read_as_fitted(cls, classes):
    X, Y = make_data(200, 1, missing=0.0)
    y, mask = np.array(classes)[Y[:, 0].astype(int)], np.arange(200) % 3 > 0
    model = cls(GLOCAL(random_state=0), random_state=0).fit(X, y, mask)
    correct = model.predict(X) == y
    assert correct.mean() > 0.7
    for subset in (Y[:, 0] == 0, Y[:, 0] == 1):
        assert model.score(X[subset], y[subset]) == pytest.approx(correct[subset].mean())


@pytest.mark.parametrize("cls", MODELS)
def test_strings_in_a_column_work_with_probabilities_as_a_list(cls):
    X, Y = make_data(200, 1, missing=0.0)
    words = np.array(["no", "yes"])[Y.astype(int)]
    model = cls(MultiOutputClassifier(LogisticRegression()), random_state=0)
    plain = model.fit(X, Y).predict(X)
    assert_array_equal(model.fit(X, words, np.ones(Y.shape, bool)).predict(X), np.where(plain, "yes", "no"))


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("inner", [RidgeClassifier(), RandomForestClassifier(5, random_state=0), GLOCAL()])
@pytest.mark.parametrize("only", [0, 1])
def test_a_vector_of_one_class_predicts_that_class(cls, inner, only):
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(UserWarning, match="Label 0: not tuned"):
        model = cls(inner).fit(X, np.full(20, only))
    assert_array_equal(model.predict(X), only)
    assert not model.tuned_.any()


@pytest.mark.parametrize("cls", MODELS)
def test_no_fold_is_fitted_if_no_label_can_be_tuned(cls):
    X, y = np.linspace(-1, 1, 20)[:, None], np.zeros(20, dtype=int)
    y[-1] = 1  # a fold without it has one class, for which this estimator raises an error an error
    with pytest.warns(UserWarning, match="Label 0: not tuned"):
        model = cls(LogisticRegression(), random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), LogisticRegression().fit(X, y).predict(X))


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("form", ["tensor", "sparse", "frame", "masked", "nullable"])
def test_every_form_of_samples_and_labels_gives_the_same_predictions(cls, form):
    X, Y = make_data(80, 3)
    observed = ~np.isnan(Y)
    expected = cls(GLOCAL(random_state=0), random_state=0).fit(X, Y).predict(X)
    X_, Y_, options = X, Y, {}
    if form == "tensor":
        X_ = pytest.importorskip("torch").asarray(X)
    elif form == "sparse":
        X_, Y_, options = sp.csr_array(X), sp.csr_array(np.nan_to_num(Y)), {"mask": sp.csr_array(observed)}
    elif form == "frame":
        X_, Y_ = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Y, index=np.arange(80) + 5)
    elif form == "masked":
        Y_ = np.ma.MaskedArray(np.nan_to_num(Y, nan=7), mask=~observed)
    elif form == "nullable":
        Y_ = pd.DataFrame(Y).astype("boolean")
    model = cls(GLOCAL(random_state=0), random_state=0).fit(X_, Y_, **options)
    predicted = model.predict(X_)
    assert isinstance(predicted, np.ndarray)
    assert (predicted == expected).mean() > 0.99


@pytest.mark.parametrize("cls", MODELS)
def test_a_single_column_returns_a_single_column(cls):
    X, Y = make_data(80, 1)
    model = cls(GLOCAL(random_state=0), random_state=0).fit(X, Y)
    vector = cls(GLOCAL(random_state=0), random_state=0).fit(X, Y[:, 0])
    assert_array_equal(model.predict(X)[:, 0], vector.predict(X))
    if cls is CalibratedClassifier:
        assert_array_equal(model.predict_proba(X), vector.predict_proba(X)[:, 1:])
    else:
        assert_array_equal(model.decision_function(X)[:, 0], vector.decision_function(X))


@pytest.mark.parametrize(
    "inner", [MultiOutputClassifier(LogisticRegression()), RandomForestClassifier(10, random_state=0)]
)
def test_probabilities_as_a_list_are_accepted(inner):
    X, Y = make_data(200, 3, missing=0.0)
    model = ThresholdClassifier(inner, cv="prefit").set_params(estimator=inner.fit(X, Y)).fit(X, Y)
    columns = np.column_stack([column[:, 1] for column in inner.predict_proba(X)])
    assert_array_equal(model.thresholds_, f1_thresholds(columns, (2 * Y - 1).astype(np.int8)))
    Y[:, 0] = 1  # its probabilities have one column, that of the positive class
    with pytest.warns(UserWarning, match="Label 0: not tuned"):
        forest = CalibratedClassifier(RandomForestClassifier(10, random_state=0), random_state=0).fit(X, Y)
    assert_array_equal(forest.predict_proba(X)[:, 0], 1)


def test_thresholds_around_calibration_in_a_search():
    X, Y = make_data(200, 3)
    model = ThresholdClassifier(CalibratedClassifier(Ridge(), cv=3, random_state=0), cv=3, random_state=0)
    cv = MultilabelStratifiedKFold(3, random_state=0)
    search = GridSearchCV(model, {"estimator__estimator__shift": [0.0, 1.0], "method": ["f1", "top_k"]}, cv=cv)
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
        (ThresholdClassifier(Ridge(), method="best"), "'method' parameter .* must be a str among .* Got 'best'"),
        (
            ThresholdClassifier(Ridge(), method="top_k", k=4),
            "k must be at most the number of labels, 3, got 4",
        ),
        (
            ThresholdClassifier(Ridge(), method="top_k", k=1.5),
            "'k' parameter .* must be an int in the range .* or None. Got 1.5",
        ),
        (
            ThresholdClassifier(Ridge(), response_method="predict"),
            "'response_method' parameter .* must be a str among .* Got 'predict'",
        ),
        (ThresholdClassifier(Ridge(), response_method="predict_proba"), "estimator must have predict_proba"),
        (ThresholdClassifier(Ridge(), cv=1), "cv must be .* got 1"),
        (ThresholdClassifier(Ridge(), cv="all"), "cv must be .* got 'all'"),
        (ThresholdClassifier(Ridge(), cv=EntryKFold(3)), "cv must be .* a splitter of samples .* got EntryKFold"),
        (ThresholdClassifier(Ridge(), cv=21), "cv must be at most the number of samples, n_samples=20, got 21"),
        (ThresholdClassifier(Ridge(shift=NAN)), "must return finite scores"),
        (CalibratedClassifier(Ridge(), method="beta"), "'method' parameter .* must be a str among .* Got 'beta'"),
    ],
)
def test_arguments_are_validated(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X20, Y20)
