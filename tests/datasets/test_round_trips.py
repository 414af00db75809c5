"""Every format reads what it has written; a failed write leaves no file."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spmld._io import writing
from spmld.datasets import Dataset, read_dataset, write_dataset
from tests.datasets.text_files import arff_text, write_libsvm

NAMES = st.text("abc XYZ_.,;:-/\\'\"%{}?é", min_size=1, max_size=6).map(str.strip).filter(bool)
NUMBERS = st.one_of(st.just(0.0), st.floats(-1e300, 1e300, allow_subnormal=False))


@st.composite
def datasets(draw, missing=True):
    n, d, l = (draw(st.integers(1, maximum)) for maximum in (5, 4, 3))
    X = draw(arrays(float, (n, d), elements=NUMBERS))
    Y = draw(arrays(float, (n, l), elements=st.sampled_from([0.0, 1.0, np.nan] if missing else [0.0, 1.0])))
    Y[0, 0] = 1.0
    names = draw(st.lists(NAMES, min_size=d + l, max_size=d + l, unique=True))
    return Dataset(sp.csr_array(X) if draw(st.booleans()) else X, Y, names[:d], names[d:], name="songs")


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def assert_same(read, data):
    np.testing.assert_array_equal(dense(read.X), dense(data.X))
    np.testing.assert_array_equal(read.Y, data.Y)
    assert read.feature_names == data.feature_names
    assert read.label_names == data.label_names


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "arff", "npz"])
@given(data=datasets())
def test_tables_arff_and_npz_store_everything(extension, data, tmp_path_factory):
    file = tmp_path_factory.mktemp("round") / f"file.{extension}"
    if extension == "arff":
        file.write_text(arff_text(data), encoding="utf-8")
    else:
        write_dataset(data, file)
    read = read_dataset(file)
    assert_same(read, data)
    if extension in ("arff", "npz"):
        assert sp.issparse(read.X) == sp.issparse(data.X)


@pytest.mark.parametrize("sizes", [False, True])
@given(data=datasets(missing=False))
def test_libsvm_files_of_scikit_learn_are_read(sizes, data, tmp_path_factory):
    file = tmp_path_factory.mktemp("round") / "file.txt"
    X, Y = dense(data.X).copy(), data.Y.copy()
    X[:, -1], Y[0] = 1.0, 1  # without the sizes, the file must show the last feature and all labels
    write_libsvm(X, Y, file, sizes=sizes)
    read = read_dataset(file)
    np.testing.assert_allclose(dense(read.X), X, rtol=1e-15)  # it writes 16 digits
    np.testing.assert_array_equal(read.Y, Y)


def test_npz_stores_the_split_and_the_name(tmp_path):
    data = Dataset(np.eye(3), [[1], [0], [1]], name="songs", train=[2, 0], test=[1])
    write_dataset(data, tmp_path / "file.npz")
    read = read_dataset(tmp_path / "file.npz")
    assert (read.name, read.train.tolist(), read.test.tolist()) == ("songs", [2, 0], [1])


def test_the_format_is_chosen_by_extension_or_name(tmp_path):
    data = Dataset([[1.0]], [[1]])
    write_dataset(data, tmp_path / "file.data", format="csv")
    assert_same(read_dataset(tmp_path / "file.data", format="csv"), data)
    with pytest.raises(ValueError, match=r"unknown file extension \"\.data\" of .*; supported: \.arff, \.csv"):
        read_dataset(tmp_path / "file.data")
    with pytest.raises(ValueError, match="unknown format 'mat'; supported: csv, npz, parquet"):
        write_dataset(data, tmp_path / "file.csv", format="mat")
    with pytest.raises(ValueError, match=r"read as csv, which accepts encoding, sep, decimal, labels, .*, got xml"):
        read_dataset(tmp_path / "file.data", format="csv", xml="file.xml")


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_an_interrupted_write_keeps_the_old_file(failure, tmp_path):
    file = tmp_path / "file.csv"
    file.write_text("old")

    def write():
        with writing(file) as part:
            part.write_text("half")
            raise failure

    with pytest.raises(failure):
        write()
    assert [path.name for path in tmp_path.iterdir()] == ["file.csv"]
    assert file.read_text() == "old"
    with pytest.raises(FileNotFoundError, match="does not exist"), writing(tmp_path / "absent" / "file.csv"):
        pass
