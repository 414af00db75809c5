"""Growth of trees: NumPy and compiled functions agree; codes, exact sums, ties, missing entries and sparse features."""

import subprocess
import sys
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from spmld import MaskedBoosting
from spmld.estimators.feature_codes import FeatureCodes
from spmld.estimators.tree_growth import MAX_SUM, VARIABLE, Draws, TreeKernels, as_integers, tree_kernels
from spmld.estimators.trees import Trees

RNG = np.random.default_rng(0)
X = np.round(RNG.standard_normal((400, 12)), 1)
SPARSE = sp.csr_array(np.maximum(X - 1, 0))
Y = np.where(RNG.random((400, 5)) < 0.7, (X[:, :5] * X[:, 5:10] > 0).astype(float), np.nan)
INPUTS = {
    "dense": (X, Y, {}),
    "sparse": (SPARSE, Y, {}),
    "long indices": (
        sp.csr_array((SPARSE.data, *(A.astype(np.int64) for A in (SPARSE.indices, SPARSE.indptr)))),
        Y,
        {},
    ),
    "projections": (X, np.tile(Y, 4), {}),
    "noise rates": (X, Y, {"false_positive_rate": 0.1, "false_negative_rate": 0.2}),
    "deep": (X, Y, {"max_depth": 40, "min_samples_leaf": 1}),
    "all samples and features": (X, Y, {"subsample": 1.0, "max_features": None}),
    "few samples": (X[:9], Y[:9], {}),
    "constant": (np.ones((50, 3)), Y[:50], {}),
}


def assert_equal_trees(first, second):
    for field in fields(Trees):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(second, field.name), err_msg=field.name)


@pytest.mark.parametrize("case", INPUTS)
def test_compiled_trees_are_those_of_numpy(case, monkeypatch):
    pytest.importorskip("numba")
    features, labels, params = INPUTS[case]
    weights = np.where(np.isnan(labels), 0, np.random.default_rng(1).uniform(0.5, 2, labels.shape))
    model = MaskedBoosting(n_estimators=15, random_state=0, **params)
    trees = []
    for value in ("1", "0"):
        monkeypatch.setenv(VARIABLE, value)
        assert (type(tree_kernels()) is TreeKernels) == (value == "0")
        trees.append(model.fit(features, labels, entry_weight=weights).trees_)
    assert_equal_trees(*trees)


def test_batches_of_samples_add_up(monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    coded = FeatureCodes.encode(rng.standard_normal((5000, 4)).astype(np.float32))
    targets = as_integers(rng.standard_normal((5000, 3)))
    draws = Draws.sample(rng, 31, 4, 4)
    grown = [kernels.grow(coded, np.arange(5000), targets, draws, 5, 5) for kernels in (TreeKernels(), tree_kernels())]
    for of_numpy, compiled in zip(*grown, strict=True):
        np.testing.assert_array_equal(of_numpy, compiled)


@pytest.mark.parametrize("value", ["0", "1"])
def test_sparse_features_have_the_trees_of_dense_ones(value, monkeypatch):
    monkeypatch.setenv(VARIABLE, value)
    model = MaskedBoosting(n_estimators=15, random_state=0)
    assert_equal_trees(model.fit(SPARSE, Y).trees_, model.fit(SPARSE.toarray(), Y).trees_)


@pytest.mark.parametrize("value", ["0", "1"])
def test_missing_entries_are_never_read(value, monkeypatch):
    monkeypatch.setenv(VARIABLE, value)
    model = MaskedBoosting(n_estimators=15, random_state=0)
    other = np.where(np.isnan(Y), 1 - np.nan_to_num(Y), Y)
    assert_equal_trees(model.fit(X, Y).trees_, model.fit(X, other, mask=~np.isnan(Y)).trees_)


@pytest.mark.parametrize("value", ["0", "1"])
def test_the_best_cut_is_chosen_and_ties_go_to_the_first(value, monkeypatch):
    monkeypatch.setenv(VARIABLE, value)
    step = np.repeat([0.0, 1.0], 20)
    features = np.stack([np.arange(40) % 7, step, step, 1 - step], axis=1).astype(np.float32)
    targets = as_integers(np.stack([step - 0.5, 0.5 - step], axis=1))
    coded = FeatureCodes.encode(features)
    for order in ([0, 1, 2, 3], [0, 2, 1, 3], [3, 0, 2, 1]):
        draws = Draws(np.array([order]), np.full((1, 4), 0.5))
        nodes = tree_kernels().grow(coded, np.arange(40), targets, draws, 1, 5)
        assert nodes.feature[0] == order[1 if order[0] == 0 else 0]
        np.testing.assert_array_equal(nodes.sizes, [40, 20, 20])
        np.testing.assert_array_equal(nodes.leaves, tree_kernels().route(coded, np.arange(40), nodes))


@given(st.lists(st.floats(-(2.0**127), 2.0**127, width=32), min_size=2, max_size=30), st.integers(0, 65534))
def test_thresholds_divide_values_as_codes_do(values, cut):
    column = np.array(values, dtype=np.float32)[:, None]
    coded = FeatureCodes.encode(column)
    order = np.argsort(column[:, 0])
    assert (np.diff(coded.codes[order, 0].astype(int)) >= 0).all()
    if column.min() < column.max():
        threshold = coded.thresholds(np.array([0]), np.array([cut]))[0]
        np.testing.assert_array_equal(column[:, 0] <= threshold, coded.codes[:, 0] <= cut)


def test_skewed_features_are_divided_where_their_values_are():
    normal = np.random.default_rng(1).standard_normal((1000, 3))
    features = np.exp(2 * normal)
    labels = (normal[:, :1] * normal[:, 1:2] > 0).astype(float)
    model = MaskedBoosting(random_state=0).fit(features[:500], labels[:500])
    assert (model.predict(features[500:]) == labels[500:]).mean() > 0.85  # 0.70 with 256 codes


@given(st.integers(1, 40), st.integers(1, 9), st.floats(1e-300, 1e300))
def test_sums_of_integer_targets_are_exact(n, k, size):
    targets = as_integers(size * np.random.default_rng(n).standard_normal((n, k)))
    assert 2**12 <= np.abs(targets).max() <= 2**13
    assert np.abs(targets.astype(np.int64)).sum() <= MAX_SUM
    many = as_integers(np.ones((10**6, 1)))
    assert 2 * many.astype(np.int64).sum() >= MAX_SUM / 2


def test_considered_features_are_distinct():
    features = Draws.sample(np.random.default_rng(0), n_nodes=63, n_features=50, n_considered=16).features
    assert all(len(set(row)) == 16 for row in features)
    np.testing.assert_array_less(np.bincount(features[:30].ravel(), minlength=50), 11)  # once in three nodes


def test_numba_is_imported_when_trees_are_grown():
    code = "import sys, spmld.ensemble; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
