"""Readers: the layouts they know, and a clear error for what they do not."""

import numpy as np
import pytest
import scipy.io

from spmld.datasets import find_file, read_mat


def cell(features, labels):
    pair = np.empty((1, 2), dtype=object)
    pair[0, 0], pair[0, 1] = features, labels
    return pair


X, Y = np.arange(6.0).reshape(2, 3), np.array([[1, -1, 1]])


def test_signs_bytes_and_nested_structs_are_read_alike(tmp_path):
    plain = {"train": cell(X, Y), "test": cell(X, Y)}
    layouts = {"plain": plain, "nested": {"data": plain}}
    layouts["bytes"] = {part: cell(X, (Y > 0).astype(np.uint8)) for part in ("train", "test")}
    for name, content in layouts.items():
        file = tmp_path / f"{name}.mat"
        scipy.io.savemat(file, content)
        data = read_mat(file)
        np.testing.assert_array_equal(data.X_train, X.T)
        np.testing.assert_array_equal(data.Y_test, [[1], [0], [1]])


def test_broken_files_are_refused(tmp_path):
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
    with pytest.raises(ValueError, match="train has 3 samples but 2 rows of labels"):
        read_mat(file)
    with pytest.raises(FileNotFoundError):
        read_mat(tmp_path / "absent.mat")


def test_files_are_found_below_the_folder_of_the_environment(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "Some.mat").write_bytes(b"")
    monkeypatch.setenv("SPMLD_DATA", str(tmp_path))
    assert find_file("some.MAT") == tmp_path / "deep" / "Some.mat"
    with pytest.raises(FileNotFoundError, match=r"other\.mat is not below SPMLD_DATA="):
        find_file("other.mat")
    monkeypatch.delenv("SPMLD_DATA")
    with pytest.raises(FileNotFoundError, match="set the environment variable SPMLD_DATA"):
        find_file("some.mat")
