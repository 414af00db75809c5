"""Data sets of the studies: MATLAB files of the paper's authors and of candidate labels, and the real data."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from spmld.datasets import describe
from studies.data import read_mat


def cell(features, labels):
    pair = np.empty((1, 2), dtype=object)
    pair[0, 0], pair[0, 1] = features, labels
    return pair


X, Y = np.arange(6.0).reshape(2, 3), np.array([[1, -1, 1]])


def test_all_layouts_are_read_alike(tmp_path):
    plain = {"train": cell(X, Y), "test": cell(X, Y)}
    layouts = {"plain": plain, "nested": {"data": plain}}
    layouts["bytes"] = {part: cell(X, (Y > 0).astype(np.uint8)) for part in ("train", "test")}
    for name, content in layouts.items():
        file = tmp_path / f"{name}.mat"
        scipy.io.savemat(file, content)
        data = read_mat(file)
        np.testing.assert_array_equal(data.X_train, X.T)
        np.testing.assert_array_equal(data.Y_test, [[1], [0], [1]])


def test_candidate_and_true_labels_are_read(tmp_path):
    features, candidates, truth = np.arange(8.0).reshape(4, 2), np.array([[1, 1, 0, 1]]), np.array([[1, 0, 0, 1]])
    file = tmp_path / "pml.mat"
    scipy.io.savemat(file, {"data": features, "partial_labels": candidates.astype(np.uint8), "target": truth})
    data = read_mat(file)
    np.testing.assert_array_equal(data.X, features)
    np.testing.assert_array_equal(data.Y, candidates.T)
    np.testing.assert_array_equal(read_mat(file, labels="target").Y, truth.T)
    assert (data.name, data.train) == ("pml", None)


def test_candidate_features_with_mostly_zeros_become_sparse(tmp_path):
    file = tmp_path / "pml.mat"
    for features in (np.eye(20, dtype=np.uint8), sp.csc_matrix(np.eye(20))):
        scipy.io.savemat(file, {"data": features, "partial_labels": np.ones((3, 20), dtype=np.uint8)})
        data = read_mat(file)
        assert sp.issparse(data.X)
        np.testing.assert_array_equal(data.X.toarray(), np.eye(20))


def test_sparse_features_and_missing_labels_are_kept(tmp_path):
    file = tmp_path / "file.mat"
    part = cell(sp.csc_matrix(X), np.array([[1.0, np.nan, -1.0]]))
    scipy.io.savemat(file, {"train": part, "test": part})
    data = read_mat(file)
    np.testing.assert_array_equal(data.X_train.toarray(), X.T)
    np.testing.assert_array_equal(data.Y_test, [[1], [np.nan], [0]])


@pytest.mark.parametrize("name", ["Business", "Computers", "Education", "Health", "Science", "Social", "Corel5k"])
def test_data_sets_have_the_sizes_of_table_1(name, real):
    sizes = {  # features, labels, labels per sample
        "Business": (438, 30, 1.59),
        "Computers": (681, 33, 1.5),
        "Education": (550, 33, 1.46),
        "Health": (612, 32, 1.66),
        "Science": (743, 40, 1.45),
        "Social": (1047, 39, 1.28),
        "Corel5k": (499, 374, 3.52),
    }
    data = real(name)
    features, labels, cardinality = sizes[name]
    Y = np.concatenate([data.Y_train, data.Y_test])
    assert data.X_train.shape[1] == data.X_test.shape[1] == features
    assert Y.shape[1] == labels
    assert set(np.unique(Y)) == {0, 1}
    assert Y.sum(axis=1).mean() == pytest.approx(cardinality, abs=0.01)


def test_the_files_have_the_recorded_checksums(load):
    for name in ("business", "corel5k"):
        assert load(name).name == name
    description = describe(load("corel5k"))
    assert (description.cardinality, description.label_sets) == (pytest.approx(3.522, abs=6e-4), 3175)


def test_both_splits_of_corel5k_have_the_same_samples(load):
    rows = []
    for data in (load("corel5k"), load("corel5k-mulan")):
        X = data.X.toarray() if sp.issparse(data.X) else data.X
        both = np.hstack([X, data.Y]).astype(np.int8)
        rows.append(both[np.lexsort(both.T)])
    np.testing.assert_array_equal(*rows)
