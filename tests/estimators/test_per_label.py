"""PerLabelClassifier agrees with a loop over labels, for any classifier."""

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from spmld import PerLabelClassifier
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import macro_auc


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=300, n_features=6, n_labels=5, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.5, random_state=0)
    return planted


def loop(classifier, X, Y, response):
    """Scores of one classifier for each label, fitted on its observed samples."""
    columns = []
    for y in Y.T:
        observed = ~np.isnan(y)
        columns.append(getattr(classifier().fit(X[observed], y[observed]), response)(X))
    return np.stack(columns, axis=1)


def test_equals_a_loop_of_classifiers_on_observed_samples(data):
    model = PerLabelClassifier().fit(data.X, data.hidden)
    scores = loop(LogisticRegression, data.X, data.hidden, "decision_function")
    p = loop(LogisticRegression, data.X, data.hidden, "predict_proba")[:, :, 1]
    assert_allclose(model.decision_function(data.X), scores, atol=1e-10)
    assert_allclose(model.predict_proba(data.X), p, atol=1e-10)
    assert_array_equal(model.predict(data.X), scores > 0)
    with parallel_config("threading"):
        model = PerLabelClassifier(n_jobs=2).fit(data.X, data.hidden)
    assert_allclose(model.decision_function(data.X), scores, atol=1e-10)


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(30, random_state=0),
        LinearSVC(random_state=0),
        GaussianNB(),
        SGDClassifier(random_state=0),
        SGDClassifier(loss="log_loss", random_state=0),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), RidgeClassifier()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_any_classifier_can_be_the_base_estimator(estimator, data):
    train, test = slice(0, 200), slice(200, None)
    model = PerLabelClassifier(estimator).fit(data.X[train], data.hidden[train])
    scores, p = model.decision_function(data.X[test]), model.predict_proba(data.X[test])
    assert np.isfinite(scores).all()
    assert macro_auc(data.Y[test], scores) > 0.65
    labels = np.column_stack([fitted.predict(data.X[test]) for fitted in model.estimators_])
    assert_array_equal(model.predict(data.X[test]), labels)
    if hasattr(estimator, "predict_proba"):
        expected = np.column_stack([fitted.predict_proba(data.X[test])[:, 1] for fitted in model.estimators_])
        assert_array_equal(p, expected)
    else:
        assert_allclose(p, 1 / (1 + np.exp(-scores)), atol=1e-12)
    if not hasattr(estimator, "decision_function"):
        assert_allclose(1 / (1 + np.exp(-scores)), p, atol=1e-12)


def test_completion_is_based_on_the_probabilities_of_the_base_estimator(data):
    class Underconfident(LogisticRegression):
        """Classifier whose probabilities are not the logistic function of its scores."""

        def predict_proba(self, X):
            return super().predict_proba(X) * [[0.5, 0.5]] + [[0.5, 0.0]]

    model = PerLabelClassifier(Underconfident()).fit(data.X, data.hidden)
    completed = model.complete(data.X, data.hidden)
    missing = np.isnan(data.hidden)
    p = model.predict_proba(data.X)
    assert p.max() <= 0.5
    assert_array_equal(completed.labels[missing], 0)
    assert_array_equal(completed.labels[~missing], data.Y[~missing])
    assert_allclose(completed.confidences[missing], 1 - p[missing])
    assert model.predict(data.X)[missing].any()


def test_probability_of_one_label_has_two_columns(data):
    y = np.where(data.Y[:, 0] > 0, "yes", "no")
    model = PerLabelClassifier(GaussianNB()).fit(data.X, y)
    estimator = GaussianNB().fit(data.X, y)
    assert_allclose(model.predict_proba(data.X), estimator.predict_proba(data.X), atol=1e-12)
    assert_array_equal(model.predict(data.X), estimator.predict(data.X))


def test_weights_equal_repeated_samples(data):
    weights = np.random.default_rng(0).integers(0, 4, data.Y.shape)
    estimator = LogisticRegression(tol=1e-10, max_iter=1000)
    model = PerLabelClassifier(estimator).fit(data.X, data.hidden, entry_weight=weights)
    for j in range(5):
        observed = ~np.isnan(data.hidden[:, j])
        repeats = np.repeat(np.flatnonzero(observed), weights[observed, j])
        repeated = PerLabelClassifier(estimator).fit(data.X[repeats], data.hidden[repeats][:, [j]])
        assert_allclose(model.decision_function(data.X)[:, j], repeated.decision_function(data.X)[:, 0], atol=1e-6)
        assert model.prior_[j] == pytest.approx(repeated.prior_[0])
    unweighted = PerLabelClassifier(estimator).fit(data.X, data.hidden)
    assert np.abs(model.decision_function(data.X) - unweighted.decision_function(data.X)).max() > 0.05


def test_base_estimator_without_sample_weight_raises_only_with_weights(data):
    model = PerLabelClassifier(KNeighborsClassifier())
    model.fit(data.X, data.hidden)
    with pytest.raises(ValueError, match=r"entry_weight requires .* sample_weight, got estimator=KNeighborsClassifier"):
        model.fit(data.X, data.hidden, entry_weight=np.ones(data.Y.shape))


@pytest.mark.parametrize("estimator", [LogisticRegression(), LinearSVC(), GaussianNB()])
def test_label_of_one_class_has_the_score_of_its_smoothed_prior(estimator, data):
    Y = data.hidden.copy()
    Y[:, 0], Y[:, 1], Y[:, 2] = np.where(np.isnan(Y[:, 0]), np.nan, 1), np.nan, 0
    ones = np.ones(Y.shape)  # entry weights, with which missing entries are not used
    model = PerLabelClassifier(estimator).fit(data.X, Y, entry_weight=ones)
    assert [fitted is None for fitted in model.estimators_] == [True, True, True, False, False]
    n = np.count_nonzero(~np.isnan(Y[:, 0]))
    assert_allclose(model.decision_function(data.X)[:, :3], [np.log([n + 1, 1, 1 / 301])] * 300, atol=1e-12)
    assert_allclose(model.predict_proba(data.X)[:, :3], [[(n + 1) / (n + 2), 1 / 2, 1 / 302]] * 300)
    assert_array_equal(model.predict(data.X)[:, :3], [[1, 0, 0]] * 300)
    weighted = PerLabelClassifier(estimator).fit(data.X, Y, entry_weight=ones / 2)
    assert_allclose(weighted.predict_proba(data.X)[0, :3], [(n / 2 + 1) / (n / 2 + 2), 1 / 2, 1 / 152])
    one = np.where(np.arange(300)[:, None] < 299, Y, np.nan)
    one[:, 4] = np.nan
    one[0, 4] = 1
    assert PerLabelClassifier(estimator).fit(data.X, one, entry_weight=ones).estimators_[4] is None


def test_clones_have_the_same_random_state_and_do_not_change_the_base_estimator(data):
    estimator = RandomForestClassifier(5, random_state=np.random.RandomState(3))
    Y = np.column_stack([data.hidden[:, 0]] * 2)
    model = PerLabelClassifier(estimator).fit(data.X, Y)
    scores = model.decision_function(data.X)
    assert_array_equal(scores[:, 0], scores[:, 1])
    assert not hasattr(estimator, "estimators_")
    assert_array_equal(PerLabelClassifier(estimator).fit(data.X, Y).decision_function(data.X), scores)


def test_sparse_features_are_made_dense_if_they_are_few(data):
    expected = PerLabelClassifier(GaussianNB()).fit(data.X, data.hidden)
    model = PerLabelClassifier(GaussianNB()).fit(sp.csr_array(data.X), data.hidden)
    assert_array_equal(model.predict_proba(sp.csr_array(data.X)), expected.predict_proba(data.X))
    wide = sp.csr_array(data.X)
    wide.resize(len(data.X), 400_000)
    with pytest.raises(ValueError, match=r"at most 100,000,000 values to be made dense for GaussianNB, got .* sparse"):
        model.fit(wide, data.hidden)


def test_input_that_the_base_estimator_does_not_accept_raises(data):
    for estimator in (LinearRegression(), "forest", LogisticRegression, SVC):
        with pytest.raises(ValueError, match="The 'estimator' parameter of PerLabelClassifier must be"):
            PerLabelClassifier(estimator).fit(data.X, data.hidden)
