"""LabelPrior counts, and the estimators that compute in NumPy accept features of any library."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from spmld import LabelPrior, PerLabelClassifier
from spmld.datasets import make_planted
from spmld.labels import LabelWarning, hide_labels

BASELINES = [LabelPrior, PerLabelClassifier]
NAN = np.nan
X = np.arange(8.0).reshape(4, 2)
Y = np.array([[1, 0, NAN, 1], [1, NAN, NAN, 0], [NAN, 0, NAN, 0], [1, 0, NAN, NAN]])


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=120, n_features=5, n_labels=4, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.6, random_state=0)
    return planted


def test_prior_is_the_smoothed_frequency_of_observed_positives():
    ones = np.ones(Y.shape)  # entry weights, with which missing entries are not used
    model = LabelPrior().fit(X, Y, entry_weight=ones)
    expected = [4 / 5, 1 / 5, 1 / 2, 2 / 5]
    assert_allclose(model.prior_, expected)
    assert_allclose(model.predict_proba(X[:2]), [expected] * 2)
    assert_allclose(model.decision_function(X[:1]), np.log([[4, 1 / 4, 1, 2 / 3]]), atol=1e-15)
    assert_allclose(LabelPrior(smoothing=0.5).fit(X, Y, entry_weight=ones).prior_, [3.5 / 4, 0.5 / 4, 1 / 2, 1.5 / 4])


def test_label_without_observed_entries_has_score_0_and_is_not_predicted():
    model = LabelPrior().fit(X, Y)
    assert_array_equal(model.decision_function(X)[:, 2], 0)
    assert_array_equal(model.predict(X), [[1, 0, 0, 0]] * 4)


def test_weights_equal_repeated_samples():
    weight = np.array([3, 1, 2, 0])
    samples = np.repeat(np.arange(4), weight)
    repeated = LabelPrior().fit(X[samples], Y[samples], entry_weight=np.ones((6, 4)))
    assert_allclose(LabelPrior().fit(X, Y, entry_weight=np.outer(weight, np.ones(4))).prior_, repeated.prior_)
    weights = np.ones(Y.shape)
    weights[0, 3] = 0.5
    assert_allclose(LabelPrior().fit(X, Y, entry_weight=weights).prior_[3], 1.5 / 4.5)


@pytest.mark.parametrize("cls", BASELINES)
def test_degenerate_data(cls, data):
    labels = data.hidden.copy()
    labels[:, 0], labels[:, 1], labels[:, 2], labels[7] = 1, 0, NAN, NAN
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LabelWarning)
        prediction = cls().fit(data.X, labels).predict(data.X)
        same = cls().fit(np.ones((120, 5)), data.hidden).decision_function(np.ones((120, 5)))
        one = cls().fit(data.X[:1], data.Y[:1])
        thin = cls().fit(data.X[:, :1], data.hidden).decision_function(data.X[:, :1])
    assert_array_equal(prediction[:, :3], [[1, 0, 0]] * 120)
    assert_allclose(same, np.tile(same[0], (120, 1)))
    assert_array_equal(np.argsort(same[0]), np.argsort(np.nanmean(data.hidden, axis=0)))
    assert_array_equal(one.predict(data.X), np.tile(data.Y[0], (120, 1)))
    assert (np.ptp(thin, axis=0) > 0).all() == (cls is not LabelPrior)
