"""MATLAB files: the layouts of the paper's authors, and errors for others."""

import struct
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from spmld.datasets import mat_process, read_dataset, read_mat


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


def test_files_that_crash_the_reader_of_scipy_raise(tmp_path):
    file = tmp_path / "file.mat"
    scipy.io.savemat(file, {"train": cell(X, Y), "test": cell(X, Y)})
    content = file.read_bytes()
    for position, value in ((144, 14), (201, 255), (232, 0), (233, 255)):
        file.write_bytes(content[:position] + bytes([value]) + content[position + 1 :])
        with pytest.raises(ValueError, match=r"file\.mat cannot be read as a MATLAB file: "):
            read_mat(file)


def test_deeply_nested_cells_raise(tmp_path):
    nested = b""
    for _ in range(20_000):  # flags of a cell, shape (1, 1) and an empty name
        fields = struct.pack("<IIIIIIiiII", 6, 8, 1, 0, 5, 8, 1, 1, 1, 0) + nested
        nested = struct.pack("<II", 14, len(fields)) + fields
    fields = struct.pack("<IIIIIIiiII8s", 6, 8, 1, 0, 5, 8, 1, 1, 1, 5, b"train") + nested
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
    file = tmp_path / "file.mat"
    file.write_bytes(head + struct.pack("<II", 14, len(fields)) + fields)
    with pytest.raises(ValueError, match=r"file\.mat cannot be read as a MATLAB file: "):
        read_mat(file)


@pytest.mark.skipif(sys.platform != "linux", reason="other platforms do not limit memory")
def test_memory_and_time_are_limited(tmp_path, monkeypatch):
    file = tmp_path / "file.mat"
    large = cell(np.zeros((4000, 1000)), np.ones((1, 1000)))
    scipy.io.savemat(file, {"train": large, "test": large}, do_compression=True)
    assert file.stat().st_size < 100_000
    monkeypatch.setattr(mat_process, "_MEMORY", 1)
    with pytest.raises(ValueError, match=r"damaged or too large: it needs more than 0\.0 GiB of memory"):
        read_mat(file)
    monkeypatch.setattr(mat_process, "_SECONDS", 0)
    with pytest.raises(ValueError, match="reading it takes longer than 0 s"):
        read_mat(file)


def test_frozen_programs_read_in_their_own_process(tmp_path, monkeypatch):
    file = tmp_path / "file.mat"
    scipy.io.savemat(file, {"train": cell(X, Y), "test": cell(X, Y)})
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "absent")
    np.testing.assert_array_equal(read_mat(file).X_train, X.T)
