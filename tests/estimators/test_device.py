"""Fits on a device of torch: the results of NumPy, in arrays of NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from spmld import GLOCAL, LEML, SPMLD, MaskedLogistic, MaskedRidge, SelfPacedEnsemble
from spmld._arrays import SparseTensor
from spmld.datasets import make_planted

torch = pytest.importorskip("torch")
DATA = make_planted(n_samples=200, observed_fraction=0.5, random_state=0)
SPARSE = sp.csr_array(np.where(np.abs(DATA.X) > 1.2, DATA.X, 0.0))
MODELS = (
    SPMLD(random_state=0, max_iter=5, tol=None),
    GLOCAL(random_state=0),
    LEML(random_state=0),
    MaskedLogistic(tol=1e-8),
    MaskedLogistic(tol=1e-8, label_graph_penalty=1.0),
    MaskedRidge(tol=1e-8),
    SelfPacedEnsemble(random_state=0, n_landmarks=20, Cs=(3.0,), alphas=(1.0,), n_trees=(20,)),
)


@pytest.mark.parametrize("X", [DATA.X, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_on_a_device_is_the_fit_of_numpy(model, X):
    expected = clone(model).fit(X, DATA.Y).decision_function(X)
    fitted = clone(model).set_params(device="cpu").fit(X, DATA.Y)
    assert not any(isinstance(value, torch.Tensor) for value in vars(fitted).values())
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-6 * np.abs(expected).max())


def test_the_products_of_a_sparse_tensor_are_those_of_the_matrix():
    rng = np.random.default_rng(0)
    X = sp.random(30, 20, density=0.2, random_state=0, format="csr")
    D, V = rng.normal(size=(20, 3)), rng.normal(size=(30, 3))
    tensor = SparseTensor(X, "cpu")
    for result, expected in (
        (tensor @ torch.asarray(D), X @ D),
        (tensor.T @ torch.asarray(V), X.T @ V),
        (tensor.power(2).T @ torch.asarray(V), X.power(2).T @ V),
        (tensor[5:9] @ torch.asarray(D), X[5:9] @ D),
        (tensor[5:9].T @ torch.asarray(V[5:9]), X[5:9].T @ V[5:9]),
    ):
        np.testing.assert_allclose(result.numpy(), expected, atol=1e-12)
    assert (tensor.T.shape, tensor.nnz) == ((20, 30), X.nnz)


def test_an_unknown_device_is_named():
    with pytest.raises(ValueError, match=r"device must be None or an available device of torch, .* got 'far'"):
        MaskedLogistic(device="far").fit(DATA.X, DATA.Y)
