"""cross_fit and cross_val_predict agree with a loop over folds, and make_folds validates folds."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from sklearn import model_selection
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spmld import MaskedLogistic, MaskedRidge
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.model_selection import cross_fit, cross_val_predict, make_folds

DATA = make_planted(n_samples=90, n_features=6, n_labels=4, random_state=0)
X, Y = DATA.X, hide_labels(DATA.Y, observed_fraction=0.7, random_state=0)
FOLDS = make_folds(3, X, Y, random_state=0)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scores_are_those_of_a_loop_over_folds(container, n_jobs):
    with parallel_config("threading"):
        result = cross_fit(MaskedRidge(), container(X), Y, FOLDS, n_jobs=n_jobs)
    for (train, test), fitted, scores in zip(FOLDS, result.estimators, result.fold_scores, strict=True):
        expected = MaskedRidge().fit(container(X[train]), Y[train])
        np.testing.assert_allclose(fitted.coef_, expected.coef_)
        np.testing.assert_allclose(scores, expected.decision_function(X[test]))
        np.testing.assert_array_equal(result.scores[test], scores)


def test_weights_are_those_of_the_training_samples():
    weights = np.random.default_rng(0).random(Y.shape)
    result = cross_fit(MaskedRidge(), X, Y, FOLDS, entry_weight=weights)
    (train, _), *_ = FOLDS
    expected = MaskedRidge().fit(X[train], Y[train], entry_weight=weights[train])
    np.testing.assert_allclose(result.estimators[0].coef_, expected.coef_)


def test_a_fold_without_weights_is_not_fitted():
    (train, test), *_ = FOLDS
    weights = np.ones(Y.shape)
    weights[train] = 0
    result = cross_fit(MaskedRidge(), X, Y, FOLDS, entry_weight=weights)
    np.testing.assert_array_equal(result.scores[test], 0)
    assert not hasattr(result.estimators[0], "coef_")
    assert hasattr(result.estimators[1], "coef_")


def test_an_estimator_is_cloned_and_a_list_is_fitted_in_place():
    estimator = MaskedLogistic(warm_start=True, tol=1e-6)
    estimators = cross_fit(estimator, X, Y, FOLDS).estimators
    assert not hasattr(estimator, "coef_")
    again = cross_fit(estimators, X, Y, FOLDS)
    assert all(one is two for one, two in zip(estimators, again.estimators, strict=True))
    assert [fitted.n_iter_ for fitted in estimators] == [0, 0, 0]  # each started from its last fit


def test_scores_can_be_of_any_kind():
    y = DATA.Y[:, 0]
    result = cross_fit(LogisticRegression(), X, y, FOLDS, score=lambda fitted, X: fitted.predict_proba(X)[:, 1])
    assert result.scores.shape == y.shape
    assert ((result.scores > 0) & (result.scores < 1)).all()


def test_repeated_folds_are_averaged_and_untested_samples_are_missing():
    folds = [*FOLDS, *make_folds(3, X, Y, random_state=1)]
    both, first, second = (cross_fit(MaskedRidge(), X, Y, part).scores for part in (folds, folds[:3], folds[3:]))
    np.testing.assert_allclose(both, (first + second) / 2)
    partial = cross_fit(MaskedRidge(), X, Y, FOLDS[:1]).scores
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(partial).all(axis=1)), np.sort(FOLDS[0][0]))


def test_folds_must_test_each_sample():
    with pytest.raises(ValueError, match="cv must test each sample, but leaves out 60 of 90, got"):
        make_folds(FOLDS[:1], X, Y)
    twice = [*FOLDS, FOLDS[0]]
    with pytest.raises(ValueError, match="cv must test each sample exactly once, but tests 30 more than once, got"):
        make_folds(twice, X, Y)
    assert len(make_folds(twice, X, Y, repeated=True)) == 4
    with pytest.raises(ValueError, match=r"cv must be an integer of at least 2.*got 1"):
        make_folds(1, X, Y)


def test_out_of_fold_predictions_are_those_of_cross_fit():
    weight = np.random.default_rng(0).random(Y.shape)
    options = {"cv": FOLDS, "method": "decision_function"}
    expected = cross_fit(MaskedLogistic(), X, Y, FOLDS, entry_weight=weight).scores
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), MaskedLogistic())
    for name, model in (("entry_weight", MaskedLogistic()), ("maskedlogistic__entry_weight", pipeline)):
        np.testing.assert_allclose(cross_val_predict(model, X, Y, params={name: weight}, **options), expected)
    P = cross_val_predict(MaskedLogistic(), X, Y, params={"entry_weight": weight}, cv=FOLDS, method="predict_proba")
    np.testing.assert_allclose(P, 1 / (1 + np.exp(-expected)))
    plain = cross_val_predict(MaskedLogistic(), X, Y, cv=3)
    for X_, Y_ in ((pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Y)), (X.tolist(), Y.tolist())):
        np.testing.assert_array_equal(cross_val_predict(MaskedLogistic(), X_, Y_, cv=3), plain)


def test_out_of_fold_predictions_of_complete_labels_are_those_of_scikit_learn():
    estimator, options = MultiOutputClassifier(LogisticRegression()), {"cv": FOLDS, "method": "predict_proba"}
    columns = model_selection.cross_val_predict(estimator, X, DATA.Y, **options)
    P = cross_val_predict(estimator, X, DATA.Y, **options)
    np.testing.assert_allclose(P, np.column_stack([column[:, 1] for column in columns]))
    groups = np.arange(len(X)) // 4
    for train, test in make_folds(3, X, Y, random_state=0, groups=groups):
        assert not {*groups[train]} & {*groups[test]}
