"""ThresholdClassifier: thresholds of out-of-fold scores, and their effect on new samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

from spmld.model_selection import ThresholdClassifier
from spmld.model_selection.thresholds import f1_thresholds, proportional_thresholds, top_k_margins

from .classifier_cases import Ridge, RidgeWithProbabilities, make_data


@pytest.mark.parametrize("method", ["f1", "proportional"])
def test_thresholds_are_those_of_out_of_fold_scores(method):
    X, Y = make_data()
    cv = KFold(4)
    model = ThresholdClassifier(Ridge(), method=method, cv=cv).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in cv.split(X):
        scores[test] = Ridge().fit(X[train], Y[train]).decision_function(X[test])
    signs = np.where(np.isnan(Y), 0, 2 * Y - 1).astype(np.int8)
    assert_allclose(
        model.thresholds_, {"f1": f1_thresholds, "proportional": proportional_thresholds}[method](scores, signs)
    )
    assert model.tuned_.all()
    assert model.estimator_.fitted_on_ == len(X)
    assert_array_equal(model.decision_function(X), Ridge().fit(X, Y).decision_function(X) - model.thresholds_)
    assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_tuned_f1_exceeds_that_of_the_default_threshold_on_new_samples():
    X, Y = make_data(3000, 6, missing=0.5, noise=3.0)
    full = make_data(3000, 6, missing=0.0, noise=3.0)[1]
    model = ThresholdClassifier(Ridge(), random_state=0).fit(X[:1500], Y[:1500])
    default = f1_score(full[1500:], model.estimator_.predict(X[1500:]), average="macro", zero_division=0)
    tuned = f1_score(full[1500:], model.predict(X[1500:]), average="macro")
    assert tuned > default + 0.1


def test_proportional_predicts_the_observed_fraction_on_new_samples():
    X, Y = make_data(4000, 4, missing=0.4)
    model = ThresholdClassifier(Ridge(), method="proportional", random_state=0).fit(X[:2000], Y[:2000])
    assert_allclose(model.predict(X[2000:]).mean(axis=0), np.nanmean(Y, axis=0), atol=0.04)


def test_top_k_predicts_the_expected_number_of_labels_or_k():
    X, Y = make_data(400, 12, missing=0.7)
    model = ThresholdClassifier(Ridge(), method="top_k").fit(X, Y)
    assert model.k_ == round(np.nanmean(Y, axis=0).sum()) == 3
    assert model.thresholds_ is None
    fixed = ThresholdClassifier(Ridge(), method="top_k", k=3).fit(X, Y)
    assert_array_equal(fixed.decision_function(X), top_k_margins(model.estimator_.decision_function(X), 3))
    assert_array_equal(fixed.predict(X), fixed.decision_function(X) > 0)


@pytest.mark.parametrize("cls", [Ridge, RidgeWithProbabilities])
def test_top_k_of_one_label_keeps_the_default_threshold(cls):
    X, Y = make_data(100, 1)
    response = "predict_proba" if cls is RidgeWithProbabilities else "decision_function"
    with pytest.warns(UserWarning, match=f"requires more than one label; .* threshold of {response}"):
        model = ThresholdClassifier(cls(), method="top_k", response_method=response).fit(X, Y)
    assert_array_equal(model.predict(X), model.estimator_.predict(X))


def test_thresholds_of_probabilities_are_subtracted_from_them():
    X, Y = make_data()
    model = ThresholdClassifier(RidgeWithProbabilities(), response_method="predict_proba", random_state=0).fit(X, Y)
    assert_array_equal(model.decision_function(X), model.estimator_.predict_proba(X) - model.thresholds_)
    assert not hasattr(model, "predict_proba")
