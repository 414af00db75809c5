"""MATLAB files: the layouts of the paper's authors, and errors for others."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from spmld.datasets import read_mat


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
