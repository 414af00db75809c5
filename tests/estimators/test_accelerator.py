"""Tensors on an accelerator stay there. The CPU tensors of these tests are treated as if they were on one."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble
from spmld import _arrays as arrays
from spmld.core import steps
from spmld.datasets import make_planted
from spmld.ensemble import ensemble
from spmld.estimators import FeatureScaler, transformers
from spmld.estimators.inputs import cluster_samples
from spmld.estimators.transformers import LandmarkFeatures
from spmld.labels import hide_labels, read_labels
from spmld.model_selection.samples import Samples

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

    for module in (arrays, steps, transformers, ensemble):
        monkeypatch.setattr(module, "on_accelerator", is_tensor)
    return asked


@pytest.mark.parametrize("estimator", [MaskedLogistic(tol=1e-8), SPMLD(random_state=0, tol=1e-6, max_iter=60)])
def test_fits_are_those_of_numpy(estimator, accelerator):
    expected = estimator.fit(DATA.X, Y).decision_function(DATA.X)
    scores = estimator.fit(*TENSORS).decision_function(TENSORS[0])
    assert isinstance(scores, torch.Tensor)
    assert any(accelerator)
    np.testing.assert_allclose(scores.numpy(), expected, atol=1e-3 * np.abs(expected).max())


def test_the_ensemble_is_that_of_numpy(accelerator):
    settings = {"Cs": (3.0, 30.0), "alphas": (0.3, 3.0), "n_trees": (20,), "n_landmarks": 40, "random_state": 0}
    views = tuple(SelfPacedEnsemble(**settings).fit(*TENSORS).view_weights_)
    assert views == ("linear", "ridge", "kernel")  # trees are grown on the CPU
    model = SelfPacedEnsemble(**settings, views=(*views, "boosting"))
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


def test_clusters_are_those_of_numpy():
    rng = np.random.RandomState(0)
    truth = rng.randint(4, size=500)
    X = 10 * rng.normal(size=(4, 3))[truth] + rng.normal(size=(500, 3))
    for most in (20_000, 100):  # centers from all samples, or from some of them
        for features in (X, sp.csr_array(X), torch.from_numpy(X)):
            samples = Samples(features, read_labels(np.ones((500, 1))), np.ones((500, 1)))
            index = cluster_samples(samples, 4, np.random.RandomState(0), most)
            assert len(set(index)) == len(set(zip(truth, index, strict=True))) == 4


@pytest.mark.parametrize("negative", [0.0, -1.0])
def test_labels_are_read_on_the_device(negative):
    values = np.where(np.isnan(Y), np.nan, np.where(Y == 1, 1.0, negative))
    expected, labels = read_labels(values), read_labels(torch.from_numpy(values))
    np.testing.assert_array_equal(labels.signs, expected.signs)
    np.testing.assert_array_equal(labels.classes, expected.classes)
    for wrong in ([[0.0, 1.0, -1.0]], [[2.0, 1.0]], [[torch.nan, torch.nan]]):
        with pytest.raises(ValueError, match="Y "):
            read_labels(torch.tensor(wrong))
