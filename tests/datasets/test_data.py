"""Dataset validates its arguments and converts them to one form."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from spmld.datasets import from_frame
from spmld.datasets.dataset import Dataset, join_split
from spmld.tables import TableError

X = np.arange(6).reshape(3, 2)


@pytest.mark.parametrize(
    "Y",
    [[[1, 0], [0, 0], [1, 1]], [[1, -1], [-1, -1], [1, 1]], sp.csr_array([[1, 0], [0, 0], [1, 1]])],
    ids=["zero-one", "signs", "sparse"],
)
def test_labels_become_zeros_and_ones(Y):
    data = Dataset(X, Y)
    assert data.Y.dtype == np.int64
    np.testing.assert_array_equal(data.Y, [[1, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(data.X, X)
    assert data.X.dtype == np.float64
    assert (data.feature_names, data.label_names) == (["x0", "x1"], ["y0", "y1"])


def test_missing_labels_become_nan_and_sparse_features_stay_sparse():
    data = Dataset(sp.coo_matrix(X), [[1, None], [0, 0], [1, 1]])
    np.testing.assert_array_equal(data.Y, [[1, np.nan], [0, 0], [1, 1]])
    assert data.X.format == "csr"
    np.testing.assert_array_equal(data.X.toarray(), X)


def test_the_split_keeps_its_order():
    data = Dataset(X, [[1], [0], [1]], train=[2, 0], test=[1])
    np.testing.assert_array_equal(data.X_train, X[[2, 0]])
    np.testing.assert_array_equal(data.Y_test, [[0]])
    part = data.part("test")
    np.testing.assert_array_equal(part.X, X[[1]])
    assert part.train is None
    assert data.part("all") is data
    with pytest.raises(ValueError, match="has no official split"):
        _ = part.X_train
    with pytest.raises(ValueError, match="got 'valid'"):
        data.part("valid")


def test_joined_parts_do_not_change():
    first, second = Dataset(X, [[1], [0], [1]]), Dataset(sp.csr_array(X[:1] + 1), [[1]])
    data = join_split(first, second, "both")
    np.testing.assert_array_equal(data.X_train.toarray(), X)
    np.testing.assert_array_equal(data.X_test.toarray(), X[:1] + 1)
    np.testing.assert_array_equal(data.Y[:, 0], [1, 0, 1, 1])
    assert data.name == "both"


def test_joining_different_features_or_labels_raises():
    part = Dataset(X, [[1], [0], [1]], label_names=["sad"])
    with pytest.raises(ValueError, match="a label is None in the training data but 'b' in the test data"):
        join_split(part, Dataset(X, [[1, 0]] * 3, label_names=["sad", "b"]))
    with pytest.raises(ValueError, match="a label is 'sad' in the training data but 'y0' in the test data"):
        join_split(part, Dataset(X, [[1], [0], [1]]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Y": [[1], [0]]}, "X and Y must have the same number of samples, got inconsistent numbers: 3 and 2"),
        ({"Y": [1, 0, 1]}, r"Y must have shape \(n_samples, n_labels\)"),
        ({"Y": [[-1, 0]] * 2 + [[1, 1]]}, "ambiguous"),
        ({"X": [1.0, 2.0, 3.0]}, "Expected 2D array"),
        ({"X": np.empty((0, 2)), "Y": np.empty((0, 1))}, r"0 sample\(s\)"),
        ({"feature_names": ["a"]}, "feature_names must have 2 names, one for each feature, got 1"),
        ({"label_names": ["a", "b"]}, "label_names must have 1 names, one for each label, got 2"),
        ({"feature_names": ["a", "a"]}, "feature_names must be unique, got 'a' more than once"),
        ({"train": [0]}, "must be passed together, got only one"),
        ({"train": [0], "test": [3]}, "test must be a list of indices from 0 to 2"),
        ({"train": [0], "test": [1.5]}, "test must be a list of integers, got values of type float64"),
        ({"train": [True, False, True], "test": [2]}, "train must be a list of integers, got .* bool; np.flatnonzero"),
        ({"train": [0, 1], "test": [1]}, "must not have samples in common"),
    ],
)
def test_invalid_arguments_raise(options, message):
    with pytest.raises(ValueError, match=message):
        Dataset(**{"X": X, "Y": [[1], [0], [1]], **options})


def test_trusted_entries_are_observed_and_follow_the_samples():
    Y = [[1, 0], [0, None], [1, 1]]
    data = Dataset([[0.5], [1.5], [2.5]], Y, train=[2, 1], test=[0], trusted=[True, True, False])
    np.testing.assert_array_equal(data.trusted, [[True, True], [True, False], [False, False]])
    np.testing.assert_array_equal(data.part("train").trusted, [[False, False], [True, False]])
    mask = [[0, 1], [1, 0], [0, 0]]
    np.testing.assert_array_equal(Dataset(data.X, Y, trusted=mask).trusted, np.array(mask, dtype=bool))
    for wrong, message in (([True], "shape"), ([[1, 0]] * 2, "shape"), ([0.5, 1, 0], "array of bool")):
        with pytest.raises(ValueError, match=f"trusted must .*{message}"):
            Dataset(data.X, Y, trusted=wrong)


def test_a_column_of_verified_samples_that_does_not_exist_is_named():
    frame = pd.DataFrame({"pitch": [1.0, 2.0], "label_sad": [1, 0]})
    with pytest.raises(TableError, match="column 'nope' of trusted does not exist; the columns are pitch, label_sad"):
        from_frame(frame, trusted="nope")
