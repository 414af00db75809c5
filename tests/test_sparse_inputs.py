"""Sparse matrices with invalid indices raise an error before compiled code uses them."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from spmld._arrays import check_sparse
from spmld.datasets import Dataset, read_dataset, write_dataset

PREAMBLE = """
import numpy as np, scipy.sparse as sp, spmld
from spmld import audit, datasets, estimators, inspection, labels, metrics, model_selection
rng = np.random.default_rng(0)
X = sp.csr_array(rng.normal(size=(40, 3)))
Y = (X.toarray() > 0).astype(int)
bad = X.copy()
bad.indices[::7] = 10**9
bad_labels = sp.csr_array(Y)
bad_labels.indices[::7] = 10**9
"""


CALLS = """
spmld.SPMLD().fit(bad, Y)
spmld.SelfPacedEnsemble().fit(bad, Y)
spmld.MaskedRidge().fit(X, Y).predict(bad)
estimators.FeatureScaler().fit(bad)
spmld.LabelPrior().fit(X, bad_labels)
spmld.LabelPrior().fit(X, Y, mask=bad_labels)
metrics.macro_f1(bad_labels, Y)
metrics.macro_f1(Y, bad_labels)
labels.decode_missing(bad_labels)
datasets.Dataset(bad, Y)
model_selection.cross_val_predict(spmld.MaskedRidge(), bad, Y)
inspection.explain(spmld.MaskedRidge().fit(X, Y), bad, 0)
audit.find_label_issues(None, bad, Y)
""".strip().splitlines()


def test_invalid_indices_raise():
    loop = f"""
for call in {CALLS!r}:
    print(call, flush=True)
    try:
        eval(call)
    except ValueError as error:
        print(error, flush=True)
"""
    process = subprocess.run([sys.executable, "-c", PREAMBLE + loop], capture_output=True, text=True, timeout=300)
    lines = process.stdout.splitlines()
    assert process.returncode == 0, f"{lines[-1]}: {process.stderr[-500:]}"
    assert lines[::2] == CALLS
    assert all("is a sparse matrix with invalid indices" in line for line in lines[1::2]), process.stdout


def test_archives_with_invalid_indices_raise(tmp_path):
    file = tmp_path / "tiny.npz"
    write_dataset(Dataset(sp.csr_array(np.eye(2)), [[1, 0], [0, 1]]), file)
    with np.load(file) as arrays:
        content = dict(arrays)
    np.savez(file, **content | {"X_indices": np.array([0, 10**9])})
    with pytest.raises(ValueError, match=r"tiny\.npz .*X is a sparse matrix with invalid indices"):
        read_dataset(file)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
def test_every_format_with_indices_is_checked(kind):
    X = sp.eye_array(4, format=kind)
    check_sparse(X)
    indices = X.coords[0] if kind == "coo" else X.indices
    for value in (-1, 4):
        indices[0] = value
        with pytest.raises(ValueError, match="X is a sparse matrix with invalid indices"):
            check_sparse(X)


def test_valid_matrices_do_not_change():
    X = sp.csr_array(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int32)
    check_sparse(X)
    assert (X.indices.dtype, X.indptr.dtype) == (np.int64, np.int32)


def test_archives_with_more_features_than_bytes_raise(tmp_path):
    file = tmp_path / "tiny.npz"
    write_dataset(Dataset(sp.csr_array(np.eye(2)), [[1, 0], [0, 1]]), file)
    with np.load(file) as arrays:
        content = {name: array for name, array in arrays.items() if name != "feature_names"}
    np.savez(file, **content | {"X_shape": np.array([2, 10**9])})
    with pytest.raises(ValueError, match=r"tiny\.npz .*1000000000 features are too many for a file of"):
        read_dataset(file)
