"""MATLAB files: the layouts of the paper's authors, and errors for others."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from spmld.datasets import read_dataset, read_mat


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


def test_invalid_files_raise(tmp_path):
    file = tmp_path / "file.mat"
    scipy.io.savemat(file, {"train": cell(X, Y), "test": cell(X, Y)})
    content = file.read_bytes()
    for broken in (b"", b"not matlab at all", content[: len(content) // 2]):
        file.write_bytes(broken)
        with pytest.raises(ValueError, match=r"file\.mat"):
            read_mat(file)
    scipy.io.savemat(file, {"train": cell(X, Y)})
    with pytest.raises(ValueError, match="no variable 'test'"):
        read_mat(file)
    scipy.io.savemat(file, {"train": cell(X, Y[:, :2]), "test": cell(X, Y)})
    with pytest.raises(ValueError, match="train has 3 samples in X but 2 in Y"):
        read_mat(file)
    with pytest.raises(FileNotFoundError):
        read_mat(tmp_path / "absent.mat")


def test_candidate_and_true_labels_are_read(tmp_path):
    features, candidates, truth = np.arange(8.0).reshape(4, 2), np.array([[1, 1, 0, 1]]), np.array([[1, 0, 0, 1]])
    file = tmp_path / "pml.mat"
    scipy.io.savemat(file, {"data": features, "partial_labels": candidates.astype(np.uint8), "target": truth})
    data = read_mat(file)
    np.testing.assert_array_equal(data.X, features)
    np.testing.assert_array_equal(data.Y, candidates.T)
    np.testing.assert_array_equal(read_dataset(file, labels="target").Y, truth.T)
    assert (data.name, data.train) == ("pml", None)
    with pytest.raises(ValueError, match=r'pml\.mat .*labels must be "partial_labels" or "target", got \'truth\''):
        read_mat(file, labels="truth")
    scipy.io.savemat(file, {"data": features[:3], "partial_labels": candidates})
    with pytest.raises(ValueError, match="data has 3 samples but partial_labels has 4"):
        read_mat(file)
    with pytest.raises(ValueError, match="no variable 'target'"):
        read_mat(file, labels="target")


def test_candidate_features_with_mostly_zeros_become_sparse(tmp_path):
    file = tmp_path / "pml.mat"
    for features in (np.eye(20, dtype=np.uint8), sp.csc_matrix(np.eye(20))):
        scipy.io.savemat(file, {"data": features, "partial_labels": np.ones((3, 20), dtype=np.uint8)})
        data = read_mat(file)
        assert sp.issparse(data.X)
        np.testing.assert_array_equal(data.X.toarray(), np.eye(20))


def test_parts_with_different_labels_raise(tmp_path):
    file = tmp_path / "file.mat"
    scipy.io.savemat(file, {"train": cell(X, Y), "test": cell(X, np.vstack([Y, Y]))})
    with pytest.raises(ValueError, match=r"file\.mat .*training data has 1 labels but the test data 2"):
        read_mat(file)


def test_sparse_features_and_missing_labels_are_kept(tmp_path):
    file = tmp_path / "file.mat"
    part = cell(sp.csc_matrix(X), np.array([[1.0, np.nan, -1.0]]))
    scipy.io.savemat(file, {"train": part, "test": part})
    data = read_mat(file)
    np.testing.assert_array_equal(data.X_train.toarray(), X.T)
    np.testing.assert_array_equal(data.Y_test, [[1], [np.nan], [0]])
