"""A fit that needs more memory than there is raises before it starts."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld import SPMLD, LabelPrior, MaskedLogistic
from spmld.estimators import inputs
from spmld.estimators.inputs import available_memory, check_memory
from spmld.labels import LabelWarning


def test_the_message_has_the_need_and_what_to_do(monkeypatch):
    monkeypatch.setattr(inputs, "available_memory", lambda: 2.0 * 2**30)
    X, Y = np.zeros((10, 20)), np.zeros((10, 30))
    needs = {"n": (2 * 2**30 - 900) // 8}
    monkeypatch.setattr(LabelPrior, "_n_numbers", lambda self, *shape: needs["n"])
    check_memory(LabelPrior(), X, Y)
    needs["n"] = 3 * 2**30 // 8
    with pytest.raises(MemoryError, match=r"LabelPrior needs about 3\.0 GiB for 10 .*, 20 .* 30 labels, and 2\.0"):
        check_memory(LabelPrior(), X, Y)


@pytest.mark.parametrize("estimator", [MaskedLogistic(), SPMLD(n_components=1000)])
def test_huge_coefficients_are_refused(estimator, monkeypatch):
    """The coefficients of 10 million features, of a matrix with one value, would take gigabytes."""
    monkeypatch.setattr(inputs, "available_memory", lambda: 8.0 * 2**30)
    X = sp.csr_array(([1.0], ([0], [0])), shape=(50, 10_000_000))
    Y = (np.random.default_rng(0).random((50, 1000)) < 0.5).astype(float)
    with pytest.raises(MemoryError, match=r"10000000 features and 1000 labels.*select features"):
        estimator.fit(X, Y)
    estimator.fit(X[:, :10], Y[:, :3])
    assert available_memory() > 0


def make_memmap(folder):
    """Return memory-mapped features, and positive-only labels."""
    rng = np.random.default_rng(0)
    X = np.memmap(folder / "X.dat", dtype=float, mode="w+", shape=(200, 4))
    X[:] = rng.normal(size=X.shape)
    Y = np.where((X[:, :2] > 0) & (rng.random((200, 2)) < 0.5), 1.0, np.nan)
    return X, Y


@pytest.mark.filterwarnings("ignore", category=LabelWarning)
def test_the_result_for_a_memory_mapped_array_does_not_depend_on_free_memory(tmp_path, monkeypatch):
    X, Y = make_memmap(tmp_path)
    trusted = ~np.isnan(Y)
    models, in_memory = [], MaskedLogistic(false_positive_rate=0.1).fit(np.array(X), Y, trusted=trusted)
    for free in (10_000, 2**40):
        monkeypatch.setattr(inputs, "available_memory", lambda free=free: float(free))
        models.append(MaskedLogistic(false_positive_rate=0.1).fit(X, Y, trusted=trusted))
    for model in models:
        np.testing.assert_array_equal(model.coef_, in_memory.coef_)
        np.testing.assert_array_equal(model.class_prior_, in_memory.class_prior_)
        np.testing.assert_array_equal(model.predict_proba(X), in_memory.predict_proba(np.array(X)))
    assert np.isfinite(in_memory.class_prior_).all()


def test_a_memory_mapped_array_that_does_not_fit_raises_and_names_dask_arrays(tmp_path, monkeypatch):
    X, Y = make_memmap(tmp_path)
    monkeypatch.setattr(inputs, "available_memory", lambda: 7_000.0)
    with pytest.raises(MemoryError, match=r"200 samples, 4 features .*pass dask\.array\.from_array\(X\)"):
        MaskedLogistic().fit(X, Y)
    monkeypatch.setattr(inputs, "available_memory", lambda: 8_000.0)
    with pytest.warns(LabelWarning):
        MaskedLogistic().fit(X, Y)
