"""The estimators in scikit-learn: its checks, searches, pipelines and encodings."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from spmld import GLOCAL, SPMLD, HierarchicalClassifier, MaskedLogistic, PerLabelClassifier, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import ranking_loss, scorer
from spmld.pacing import GroupSparsePacing, QuantileSchedule

from .cases import ESTIMATORS, LATENT, LEARNERS, make


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=200, n_features=10, n_labels=6, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.5, random_state=0)
    return planted


WRAPPERS = [SelfPacedClassifier(LogisticRegression()), HierarchicalClassifier(MaskedLogistic())]


@parametrize_with_checks([*(make(cls) for cls in ESTIMATORS), *WRAPPERS])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("cls", "name", "good", "bad"),
    [(GLOCAL, "feature_ridge", 0.1, 1e3), (SPMLD, "feature_ridge", 0.1, 1e3)],
)
def test_grid_search_uses_only_observed_labels(cls, name, good, bad, data):
    search = GridSearchCV(make(cls), {name: [good, bad]}, cv=KFold(3), scoring=scorer("ranking_loss"))
    search.fit(data.X, data.hidden)
    assert search.best_params_ == {name: good}
    (_, test), *_ = KFold(3).split(data.X)
    train = np.setdiff1d(np.arange(len(data.X)), test)
    model = make(cls, **{name: good}).fit(data.X[train], data.hidden[train])
    loss = ranking_loss(data.Y[test], model.decision_function(data.X[test]), mask=~np.isnan(data.hidden[test]))
    assert search.cv_results_["split0_test_score"][0] == pytest.approx(-loss)


@pytest.mark.parametrize("cls", LEARNERS)
def test_cross_validate_in_a_pipeline_is_better_than_chance(cls, data):
    model = make_pipeline(StandardScaler(), make(cls))
    scores = cross_validate(model, data.X, data.hidden, cv=KFold(3), scoring=scorer("sample_auc"))
    assert scores["test_score"].min() > 0.7


def test_parameters_of_the_pacing_can_be_searched(data):
    model = SPMLD(pacing=GroupSparsePacing(schedule=QuantileSchedule()), random_state=0)
    copy = clone(model).set_params(pacing__schedule__stop=0.6)
    assert model.pacing.schedule.stop == 1.0
    copy.fit(data.X, data.hidden)
    assert copy.history_[-1]["mean_weight"] == pytest.approx(0.6, abs=0.02)


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_frames_keep_names_and_give_the_same_fit(cls, data):
    X = pd.DataFrame(data.X, columns=[f"x{i}" for i in range(10)])
    Y = pd.DataFrame(data.hidden, columns=list("abcdef"))
    model = make(cls).fit(X, Y)
    assert model.label_names_ == list("abcdef")
    assert list(model.feature_names_in_) == list(X.columns)
    plain = make(cls).fit(data.X, data.hidden)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(data.X), rtol=1e-10)
    completed = model.complete(X, Y)
    assert list(completed.labels.columns) == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename(columns={"x0": "other"}))


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_every_encoding_gives_the_same_fit(cls, data):
    observed, expected = ~np.isnan(data.hidden), make(cls).fit(data.X, data.hidden).decision_function(data.X)
    for Y, mask in (
        (2 * data.hidden - 1, None),
        (data.Y.astype(bool), observed),
        (pd.DataFrame(data.hidden).astype("boolean"), None),
        (np.ma.MaskedArray(data.Y, mask=~observed), None),
        (sp.csr_array(data.Y), sp.csr_array(observed)),
    ):
        np.testing.assert_array_equal(make(cls).fit(data.X, Y, mask).decision_function(data.X), expected)


@pytest.mark.parametrize("cls", LEARNERS)
def test_predictions_have_the_encoding_of_the_labels(cls, data):
    signs = make(cls).fit(data.X, 2 * data.Y - 1).predict(data.X)
    bools = make(cls).fit(data.X, data.Y.astype(bool)).predict(data.X)
    assert set(np.unique(signs)) == {-1, 1}
    assert bools.dtype == bool
    np.testing.assert_array_equal(signs > 0, bools)
    words = np.where(data.Y[:, 0] > 0, "yes", "no")
    numbers = make(cls).fit(data.X, data.Y[:, 0]).predict(data.X)
    np.testing.assert_array_equal(make(cls).fit(data.X, words).predict(data.X), np.where(numbers > 0, "yes", "no"))


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_score_ignores_missing_labels(cls, data):
    model = make(cls).fit(data.X, data.hidden)
    observed = ~np.isnan(data.hidden)
    correct = (model.predict(data.X) == data.Y) | ~observed
    assert model.score(data.X, data.hidden) == pytest.approx(correct[observed.any(axis=1)].all(axis=1).mean())
    assert model.score(data.X, np.where(observed, data.Y, 1 - data.Y), mask=observed) == model.score(
        data.X, data.hidden
    )


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        *((cls, {"loss": loss}) for cls in LATENT for loss in ("logistic", "squared")),
        *((cls, {}) for cls in LEARNERS if cls not in LATENT),
    ],
)
def test_completion_keeps_observed_labels_and_recovers_hidden_ones(cls, options, data):
    model = make(cls, **options).fit(data.X, data.hidden)
    observed = ~np.isnan(data.hidden)
    completed = model.complete(data.X, data.hidden)
    np.testing.assert_array_equal(completed.labels[observed], data.Y[observed])
    against = np.where(observed, 1 - data.hidden, np.nan)  # observed labels are kept even if they contradict the model
    np.testing.assert_array_equal(model.complete(data.X, against).labels[observed], 1 - data.Y[observed])
    assert (completed.confidences[observed] == 1).all()
    recovered = (completed.labels == data.Y)[~observed]
    confident = completed.confidences[~observed] > 0.9
    assert recovered.mean() > 0.8
    assert recovered[confident].mean() > recovered.mean()


def test_completion_uses_the_observed_labels_of_a_sample(data):
    model = GLOCAL(random_state=0).fit(data.X, data.hidden)
    nothing = np.full_like(data.hidden, np.nan)
    nothing[0, 0] = data.Y[0, 0]
    with_labels = model.complete(data.X, data.hidden)
    without = model.complete(data.X, nothing)
    differences = np.abs(with_labels.confidences - without.confidences)[1:]  # sample 0 has the only observed label
    assert differences[np.isnan(data.hidden)[1:]].max() > 1e-3
    scores = model.decision_function(data.X)
    p = 1 / (1 + np.exp(-scores))
    # Without observed labels of a sample, the latent labels are close to those predicted from the features.
    assert np.corrcoef(np.maximum(p, 1 - p)[1:].ravel(), without.confidences[1:].ravel())[0, 1] > 0.95


@pytest.mark.parametrize("cls", [*LATENT, PerLabelClassifier])
def test_model_recovers_planted_scores(cls):
    frequencies = np.linspace(0.5, 0.15, 10)
    data = make_planted(2000, 20, 10, local=0.0, noise=0.1, frequencies=frequencies, random_state=1)
    train, test = slice(0, None, 2), slice(1, None, 2)
    model = make(cls).fit(data.X[train], hide_labels(data.Y[train], 0.3, random_state=0))
    scores = model.decision_function(data.X[test])
    correlations = [np.corrcoef(a, b)[0, 1] for a, b in zip(scores.T, data.scores[test].T, strict=True)]
    assert min(correlations) > 0.88
    prior = np.broadcast_to(data.Y[train].mean(axis=0), scores.shape)
    assert ranking_loss(data.Y[test], scores) < 0.5 * ranking_loss(data.Y[test], prior)


@pytest.mark.parametrize("classes", [("no", "yes"), (1, 2)])
def test_samples_of_a_single_class_are_read_in_the_encoding_of_the_fit(classes, data):
    y = np.array(classes)[data.Y[:, 0]]
    model = GLOCAL(random_state=0).fit(data.X, y)
    correct = model.predict(data.X) == y
    for samples in (data.Y[:, 0] == 0, data.Y[:, 0] == 1):
        assert model.score(data.X[samples], y[samples]) == pytest.approx(correct[samples].mean())
        assert (model.complete(data.X[samples], y[samples]).labels == y[samples]).all()
