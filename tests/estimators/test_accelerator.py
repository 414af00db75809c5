"""Tensors on an accelerator stay there. The CPU tensors of these tests are treated as if they were on one."""

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble
from spmld import _arrays as arrays
from spmld.core import correlation
from spmld.core.k_means import k_means
from spmld.datasets import make_planted
from spmld.estimators import FeatureScaler, _inputs, scaling
from spmld.estimators.ensemble import ensemble
from spmld.estimators.scaling import LandmarkFeatures
from spmld.labels import hide_labels, read_labels

DATA = make_planted(n_samples=150, random_state=0)
Y = hide_labels(DATA.Y, 0.5, random_state=0)
TENSORS = torch.from_numpy(DATA.X), torch.from_numpy(Y)


@pytest.fixture
def accelerator(monkeypatch):
    """Treat all tensors as if they were on an accelerator, and count the decisions that depend on it."""
    asked = []

    def is_tensor(values):
        asked.append(isinstance(values, torch.Tensor))
        return asked[-1]

    for module in (arrays, correlation, _inputs, scaling, ensemble):
        monkeypatch.setattr(module, "on_accelerator", is_tensor)
    return asked


@pytest.mark.parametrize(
    "estimator", [MaskedLogistic(tol=1e-8), SPMLD(random_state=0, local_correlation=0.0, tol=1e-6, max_iter=60)]
)
def test_fits_are_those_of_numpy(estimator, accelerator):
    expected = estimator.fit(DATA.X, Y).decision_function(DATA.X)
    scores = estimator.fit(*TENSORS).decision_function(TENSORS[0])
    assert isinstance(scores, torch.Tensor)
    assert any(accelerator)
    np.testing.assert_allclose(scores.numpy(), expected, atol=1e-3 * np.abs(expected).max())


def test_the_ensemble_is_that_of_numpy(accelerator):
    model = SelfPacedEnsemble(Cs=(3.0, 30.0), alphas=(0.3, 3.0), n_trees=(20,), n_landmarks=40, random_state=0)
    expected = model.fit(DATA.X, Y).decision_function(DATA.X)
    fitted = model.fit(*TENSORS)
    scores = fitted.decision_function(TENSORS[0])
    assert isinstance(scores, torch.Tensor)
    np.testing.assert_allclose(scores.numpy(), expected, atol=1e-3)
    np.testing.assert_allclose(fitted.decision_function(DATA.X), expected, atol=1e-3)  # predicts on the CPU, too
    assert isinstance(fitted.estimators_["linear"].coef_, np.ndarray)


@pytest.mark.parametrize("transformer", [FeatureScaler(), LandmarkFeatures(n_landmarks=20, random_state=0)])
def test_transformers_stay_on_the_device(transformer, accelerator):
    X = np.vstack([DATA.X, DATA.X.mean(axis=0)])  # a sample at the mean has no direction
    expected = transformer.fit(DATA.X).transform(X)
    result = transformer.fit(TENSORS[0]).transform(torch.from_numpy(X))
    assert isinstance(result, torch.Tensor)
    np.testing.assert_allclose(np.abs(result.numpy()), np.abs(expected), atol=1e-8)


def test_clusters_are_found_on_the_device():
    rng = np.random.RandomState(0)
    centers = 10 * rng.normal(size=(4, 3))
    truth = rng.randint(4, size=500)
    X = torch.from_numpy(centers[truth] + rng.normal(size=(500, 3)))
    index = k_means(X, 4, np.random.RandomState(0)).numpy()
    assert all(len(set(index[truth == m])) == 1 for m in range(4))
    assert len(set(index)) == 4
    same = k_means(torch.zeros(5, 2, dtype=torch.float64), 3, np.random.RandomState(0)).numpy()
    assert set(same) == {0}  # fewer distinct samples than clusters


def test_clusters_are_as_compact_as_those_of_scikit_learn():
    rng = np.random.RandomState(1)
    X = rng.normal(size=(600, 2)) + 4 * rng.randint(4, size=(600, 1))

    def spread(index):
        return sum(((X[index == m] - X[index == m].mean(axis=0)) ** 2).sum() for m in set(index))

    expected = KMeans(8, n_init=1, random_state=0).fit(X).inertia_
    draws = [spread(k_means(torch.from_numpy(X), 8, np.random.RandomState(seed)).numpy()) for seed in range(5)]
    assert np.mean(draws) < 1.1 * expected


@pytest.mark.parametrize("negative", [0.0, -1.0])
def test_labels_are_read_on_the_device(negative):
    values = np.where(np.isnan(Y), np.nan, np.where(Y == 1, 1.0, negative))
    expected, labels = read_labels(values), read_labels(torch.from_numpy(values))
    np.testing.assert_array_equal(labels.signs, expected.signs)
    np.testing.assert_array_equal(labels.classes, expected.classes)
    for wrong in ([[0.0, 1.0, -1.0]], [[2.0, 1.0]], [[torch.nan, torch.nan]]):
        with pytest.raises(ValueError, match="Y "):
            read_labels(torch.tensor(wrong))
