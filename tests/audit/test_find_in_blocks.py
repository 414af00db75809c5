"""The audit of samples in row blocks is that of the samples in memory."""

import numpy as np
import pytest

from spmld import MaskedLogistic, RowBlocks
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import LabelWarning

DATA = make_planted(n_samples=240, n_features=12, n_labels=4, observed_fraction=0.7, random_state=0)
X = DATA.X
Y = np.where(np.random.default_rng(0).random(DATA.Y.shape) < 0.1, 1 - DATA.Y, DATA.Y)


def assert_same_issues(a, b):
    np.testing.assert_array_equal(a.signs, b.signs)
    np.testing.assert_allclose(a.log_odds, b.log_odds, atol=1e-5)
    np.testing.assert_allclose(a.error_log_odds, b.error_log_odds, atol=1e-5)
    assert a.label_names == b.label_names


def test_row_blocks():
    blocks = RowBlocks(X, Y, block_rows=70)
    assert_same_issues(
        find_label_issues(None, blocks, None, cv=3, random_state=0), find_label_issues(None, X, Y, cv=3, random_state=0)
    )


def test_trusted_entries_and_labels_without_observed_negatives():
    trusted = np.arange(240) < 60
    positive = Y.copy()
    positive[:, 0] = np.where(positive[:, 0] == 0, np.nan, positive[:, 0])
    results = []
    for features in (X, RowBlocks(X, block_rows=100)):
        with pytest.warns(LabelWarning, match="Missing entries are used as negatives"):
            results.append(find_label_issues(None, features, positive, trusted=trusted, cv=3, random_state=0))
    assert_same_issues(*results)


def test_other_estimators_need_features_in_memory():
    with pytest.raises(ValueError, match="estimator must be None if X is not in memory"):
        find_label_issues(MaskedLogistic(), RowBlocks(X, Y), None)


def test_dask_collections():
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")
    collections = [da.from_array(A, chunks=(100, -1)) for A in (X, Y)]
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
        result = find_label_issues(None, *collections, cv=2, random_state=0)
    assert_same_issues(result, find_label_issues(None, X, Y, cv=2, random_state=0))
