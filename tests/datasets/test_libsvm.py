"""Files of LIBSVM and of the extreme-classification repository."""

import tracemalloc

import numpy as np
import pytest

from spmld.datasets import read_dataset
from spmld.datasets.files import read_libsvm, read_libsvm_features
from tests.datasets.text_files import write_libsvm


def write(folder, text):
    path = folder / "file.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_labels_keep_their_numbers_as_names(tmp_path):
    data = read_libsvm(write(tmp_path, "10,2 1:0.5 3:-1e-3 # remark\n 2:4\n2 1:1\n"))
    assert data.label_names == ["2", "10"]
    np.testing.assert_array_equal(data.Y, [[1, 1], [0, 0], [1, 0]])
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, -1e-3], [0, 4, 0], [1, 0, 0]])


def test_the_first_line_can_have_the_sizes(tmp_path):
    data = read_libsvm(write(tmp_path, "4 4 5\n0,3 0:1.5 2:2\n 1:1\n\n2\n"))
    np.testing.assert_array_equal(data.Y, [[1, 0, 0, 1, 0], [0] * 5, [0] * 5, [0, 0, 1, 0, 0]])
    np.testing.assert_array_equal(data.X.toarray(), [[1.5, 0, 2, 0], [0, 1, 0, 0], [0] * 4, [0] * 4])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 4 5\n0,3 0:1.5\n 1:1\n", "specifies 3 samples, but the file has 2"),
        ("1 4 5\n0,5 0:1.5\n", "specifies 5 labels, from 0 to 4, but there is a label 5"),
        ("1 4 5\n0 4:1.5\n", "n_features was set to 4"),
        ("1 4 5\n0 0:", "cannot be read"),
        ("1 2:3 4", "cannot be read"),
        ("1 2:x\n", "cannot be read"),
        ("# nothing\n", "no samples"),
        (" 1:2\n", "the file has no labels"),
        (b"\xe9t\xe9 1:2\n", "cannot be read"),
    ],
)
def test_invalid_files_raise_with_the_reason(text, message, tmp_path):
    with pytest.raises(ValueError, match=rf"file\.txt.*{message}"):
        read_libsvm(write(tmp_path, text))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1000000000 1\n0 0:1\n", "1000000000 features are too many for a file of 6 bytes, expected at most 1000006"),
        ("1 1 1000000000\n0 0:1\n", "1000000000 labels are too many"),
        ("1000000 1 1000000\n0 0:1\n", "1000000000000 entries of Y are too many"),
        ("1 1000000000:1\n", "1000000000 features are too many"),
        ("1 99999999999999999999:1\n", "cannot be read as a LIBSVM file"),
        ("\n".join(f"{i} 1:1" for i in range(5_000)), "25000000 entries of Y are too many"),
    ],
)
def test_sizes_that_do_not_fit_the_file_raise_before_memory_is_used(content, message, tmp_path):
    file = tmp_path / "file.txt"
    file.write_text(content)
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        read_libsvm(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3e7


def test_features_are_those_of_the_data_set(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4)).round(3) * (rng.random((12, 4)) < 0.5)
    X[:, -1] = 1.0
    contents = {}
    for name in ("data.svm", "data.txt"):
        write_libsvm(X, np.ones((12, 2)), tmp_path / name, sizes=name == "data.txt")
        contents[name] = (tmp_path / name).read_text()
    contents["zero.svm"] = contents["data.txt"].partition("\n")[2]  # indices from 0
    contents["comments.svm"] = "# 0:1\n" + contents["data.svm"].replace("\n", " # 0:2\n\n", 3)
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
        np.testing.assert_array_equal(read_libsvm_features(tmp_path / name, 4).toarray(), X, err_msg=name)
        np.testing.assert_array_equal(read_dataset(tmp_path / name).X.toarray(), X, err_msg=name)
    wider = read_libsvm_features(tmp_path / "data.svm", 6).toarray()
    np.testing.assert_array_equal(wider, np.hstack([X, np.zeros((12, 2))]))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "2 3 1\n0 0:1\n0 1:1\n", "the first line specifies 3 features, expected 2"),
        ("a.svm", "0 1:1\n0 3:1\n", "n_features was set to 2"),
    ],
)
def test_other_features_than_expected_raise(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        read_libsvm_features(tmp_path / name, 2)


def test_large_labels_have_exact_names(tmp_path):
    data = read_libsvm(write(tmp_path, f"1000000,{2**53 + 1} 1:1\n1e9,1000001 1:2\n{2**53},{10**30} 1:3\n3.0,+3 1:4\n"))
    names = ["3", "1000000", "1000001", "1000000000", str(2**53), str(2**53 + 1), str(10**30)]
    assert data.label_names == names
    numbers = [[names[j] for j in np.flatnonzero(row)] for row in data.Y]
    assert numbers == [
        ["1000000", "9007199254740993"],
        ["1000001", "1000000000"],
        ["9007199254740992", str(10**30)],
        ["3"],
    ]


@pytest.mark.parametrize("label", ["1.5", "nan", "inf", "1e300", "1_000", "a", "1,,2", "1;2", "0x10"])
def test_labels_that_are_not_integers_raise_with_the_line(label, tmp_path):
    with pytest.raises(ValueError, match=rf"file\.txt.*line 3: labels must be integers.*, got '{label}'"):
        read_libsvm(write(tmp_path, f"1 1:1\n# remark\n{label} 1:1\n"))


@pytest.mark.parametrize(
    ("text", "line", "shown"),
    [
        ("1 1:1\n2 1:x # remark\n", 2, "2 1:x"),
        ("1 1:1\n\n2 3\n", 3, "2 3"),
        ("1 1:1\n2 3:1 2:1\n", 2, "2 3:1 2:1"),
        ("2 4 5\n0 0:1\n3 4:1\n", 3, "3 4:1"),
        ("1 1:1\n1 99999999999999999999:1\n", 2, "1 99999999999999999999:1"),
    ],
)
def test_features_that_cannot_be_read_raise_with_the_line(text, line, shown, tmp_path):
    with pytest.raises(ValueError, match=rf"line {line}: expected labels and index:value, got '{shown}"):
        read_libsvm(write(tmp_path, text))


def test_a_byte_order_mark_is_ignored(tmp_path):
    assert read_libsvm(write(tmp_path, "\ufeff7 1:1\n")).label_names == ["7"]
