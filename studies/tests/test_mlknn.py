"""MLkNN agrees with a slow implementation of the published method, with missing labels and weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from spmld.datasets import make_planted
from spmld.metrics import macro_auc
from studies import mlknn
from studies.mlknn import MLkNN


def positive_neighbors(x, others, y, weight, k):
    """Return the number of positives among the k nearest other samples; None if there are none."""
    nearest = np.argsort(np.linalg.norm(others - x, axis=1))[:k]
    if len(nearest) == 0:
        return None
    fraction = sum(weight[i] for i in nearest if y[i] == 1) / sum(weight[i] for i in nearest)
    return int(np.floor(k * fraction + 0.5 + 1e-9))


def reference_for_one_label(X, y, weight, new, k, s):
    """Posterior probabilities of one label that is observed for all samples."""
    weight = weight / np.mean(weight)
    total = {b: sum(weight[i] for i in range(len(y)) if y[i] == b) for b in (0, 1)}
    prior = {b: (s + total[b]) / (2 * s + total[0] + total[1]) for b in (0, 1)}
    table = {b: np.zeros(k + 1) for b in (0, 1)}
    for i in range(len(y)):
        rest = [j for j in range(len(y)) if j != i]
        c = positive_neighbors(X[i], X[rest], y[rest], weight[rest], k)
        if c is not None:
            table[y[i]][c] += weight[i]
    likelihood = {b: [(s + count) / (s * (k + 1) + sum(table[b])) for count in table[b]] for b in (0, 1)}
    probabilities = []
    for x in new:
        c = positive_neighbors(x, X, y, weight, k)
        joint = [prior[b] * likelihood[b][c] for b in (0, 1)]
        probabilities.append(joint[1] / sum(joint))
    return np.array(probabilities)


def reference(X, Y, new, k=10, s=1.0, weights=None):
    """ML-kNN for each label on the samples where it is observed; 1/2 if it is never observed."""
    weights = np.ones(Y.shape) if weights is None else weights
    columns = []
    for y, weight in zip(Y.T, weights.T, strict=True):
        observed = ~np.isnan(y) & (weight > 0)
        if observed.any():
            columns.append(reference_for_one_label(X[observed], y[observed].astype(int), weight[observed], new, k, s))
        else:
            columns.append(np.full(len(new), 0.5))
    return np.column_stack(columns)


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=90, n_features=4, n_labels=5, random_state=0)
    planted.new = planted.X[60:]
    planted.X, planted.Y = planted.X[:60], planted.Y[:60].astype(float)
    planted.hidden = np.where(np.random.default_rng(0).random(planted.Y.shape) < 0.4, planted.Y, np.nan)
    planted.weights = np.random.default_rng(1).uniform(0.1, 3, planted.Y.shape)
    return planted


@pytest.mark.parametrize(("k", "s"), [(10, 1.0), (1, 1.0), (5, 0.2), (80, 1.0)])
def test_full_labels_give_the_published_method(k, s, data):
    model = MLkNN(n_neighbors=k, smoothing=s).fit(data.X, data.Y)
    expected = reference(data.X, data.Y, data.new, k, s)
    assert_allclose(model.predict_proba(data.new), expected, atol=1e-12)
    assert_allclose(model.decision_function(data.new), np.log(expected / (1 - expected)), atol=1e-11)
    assert_array_equal(model.predict(data.new), expected > 0.5)


@pytest.mark.parametrize("k", [3, 10])
def test_missing_and_weighted_labels_give_the_scores_of_the_reference(k, data):
    for Y, weights in ((data.hidden, None), (data.Y, data.weights), (data.hidden, data.weights)):
        model = MLkNN(n_neighbors=k).fit(data.X, Y, entry_weight=weights)
        assert_allclose(model.predict_proba(data.new), reference(data.X, Y, data.new, k, weights=weights), atol=1e-12)


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 20),
    l=st.integers(1, 4),
    k=st.integers(1, 7),
    observed_fraction=st.floats(0.05, 1),
    budget=st.sampled_from([1, 50, 10_000]),
    weighted=st.booleans(),
)
def test_small_cases_give_the_scores_of_the_reference(seed, n, l, k, observed_fraction, budget, weighted):
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(n, 2)), rng.normal(size=(3, 2))
    Y = np.where(rng.random((n, l)) < observed_fraction, rng.integers(0, 2, (n, l)), np.nan)
    Y[0], Y[1, 0] = 0, 1
    weights = rng.integers(0, 4, (n, l)).astype(float) if weighted else None
    if weighted:
        weights[0, 0] = 2
    default, mlknn.MEMORY = mlknn.MEMORY, budget
    try:
        probabilities = MLkNN(n_neighbors=k).fit(X, Y, entry_weight=weights).predict_proba(new)
    finally:
        mlknn.MEMORY = default
    assert_allclose(probabilities, reference(X, Y, new, k, weights=weights), atol=1e-12)


def test_neighbors_of_a_rarely_observed_label_are_its_observed_samples(data):
    Y = data.Y.copy()
    Y[3:, 0] = np.nan
    Y[:3, 0] = 0, 1, 0
    model = MLkNN(n_neighbors=5).fit(data.X, Y)
    assert_allclose(model.predict_proba(data.new), reference(data.X, Y, data.new, 5), atol=1e-12)
    Y[1:, 0] = np.nan  # a single sample has no neighbor, so the prior is predicted
    model = MLkNN(n_neighbors=5).fit(data.X, Y)
    assert_allclose(model.likelihood_[0], 1 / 6)
    assert_allclose(model.predict_proba(data.new)[:, 0], 1 / 3)


def test_only_ratios_of_weights_within_a_label_matter(data):
    expected = MLkNN().fit(data.X, data.hidden).decision_function(data.new)
    doubled = MLkNN().fit(data.X, data.hidden, entry_weight=np.full(data.Y.shape, 2.0))
    assert_array_equal(doubled.decision_function(data.new), expected)
    weighted = MLkNN().fit(data.X, data.hidden, entry_weight=data.weights).decision_function(data.new)
    scaled = MLkNN().fit(data.X, data.hidden, entry_weight=data.weights * [0.3, 7, 1e-90, 1e14, 1])
    assert_allclose(scaled.decision_function(data.new), weighted, atol=1e-10)
    assert np.abs(weighted - expected).max() > 0.1


def test_sample_is_not_its_own_neighbor():
    """Pairs of close samples with different labels: the only neighbor of a positive is negative."""
    rng = np.random.default_rng(0)
    X = np.repeat(np.arange(20.0)[:, None], 2, axis=0) + 0.01 * rng.normal(size=(40, 1))
    y = np.tile([0, 1], 20)
    model = MLkNN(n_neighbors=1).fit(X, y)
    assert_allclose(model.likelihood_[0], [[1 / 22, 21 / 22], [21 / 22, 1 / 22]])
    assert (model.predict(X) == 1 - y).all()


def test_the_metric_defines_the_distance(data):
    scaled = data.X / np.linalg.norm(data.X, axis=1, keepdims=True)
    expected = MLkNN().fit(scaled, data.hidden).decision_function(scaled)
    assert_array_equal(MLkNN(metric="cosine").fit(data.X, data.hidden).decision_function(data.X), expected)
    manhattan = MLkNN(metric="manhattan").fit(data.X, data.hidden).decision_function(data.X)
    custom = MLkNN(metric=lambda a, b: np.abs(a - b).sum()).fit(data.X, data.hidden).decision_function(data.X)
    assert_array_equal(custom, manhattan)
    assert (manhattan != MLkNN().fit(data.X, data.hidden).decision_function(data.X)).any()


def test_parameters_changed_after_a_fit_take_effect_in_the_next(data):
    model = MLkNN(n_neighbors=5).fit(data.X, data.hidden)
    expected = model.decision_function(data.new)
    model.set_params(n_neighbors=9)
    assert_array_equal(model.decision_function(data.new), expected)


def test_unknown_metrics_are_named(data):
    for metric in ("precomputed", "unknown"):
        with pytest.raises(ValueError, match=f"metric.*'{metric}'"):
            MLkNN(metric=metric).fit(data.X, data.Y)


def test_distances_that_vanish_raise(data):
    assert macro_auc(data.Y, MLkNN().fit(1e-148 * data.X, data.Y).decision_function(1e-148 * data.X)) > 0.8
    with pytest.raises(ValueError, match=r"X contains only values too small for float64, up to .*e-200; scale"):
        MLkNN().fit(1e-200 * data.X, data.Y)
    MLkNN().fit(0 * data.X, data.Y)


@parametrize_with_checks([MLkNN()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
