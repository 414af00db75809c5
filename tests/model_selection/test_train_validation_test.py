"""train_validation_test_split: a stratified partition."""

import itertools

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from spmld.model_selection import train_validation_test_split
from spmld.model_selection._allocation import proportional_sizes

from .splits_cases import make_labels


def test_the_split_is_a_stratified_partition_and_keeps_types():
    Y = pd.DataFrame(make_labels(500, 6, missing=0.3), index=[f"r{i}" for i in range(500)])
    X, ids = sp.csr_matrix(np.arange(500.0)[:, None]), list(range(500))
    subsets = train_validation_test_split(X, Y, ids, sizes=(0.5, 0.3, 0.2), random_state=0)
    assert [len(subset) for subset in subsets[3:6]] == [250, 150, 100]
    assert sorted(itertools.chain(*subsets[6:])) == ids
    for X_subset, Y_subset, id_subset, fraction in zip(
        subsets[:3], subsets[3:6], subsets[6:], (0.5, 0.3, 0.2), strict=True
    ):
        assert_array_equal(X_subset.toarray()[:, 0], id_subset)
        pd.testing.assert_frame_equal(Y_subset, Y.iloc[id_subset])
        assert np.abs((Y_subset == 1).sum() - fraction * (Y == 1).sum()).max() < 1


def test_few_large_groups_leave_no_subset_empty():
    Y, groups = make_labels(30, 2, low=0.2), np.repeat([0, 1, 2], 10)
    subsets = train_validation_test_split(Y, Y, groups, groups=groups, random_state=0)
    assert sorted(tuple(set(subset)) for subset in subsets[6:]) == [(0,), (1,), (2,)]


def test_remaining_samples_are_in_no_subset():
    Y = make_labels(100, 2, low=0.2)
    assert [len(p) for p in train_validation_test_split(Y, Y, sizes=(10, 20, 30), random_state=0)] == [10, 20, 30] * 2
    assert [len(p) for p in train_validation_test_split(Y, Y, sizes=(0.1, 0.1, 0.1), random_state=0)[:3]] == [10] * 3


@given(st.integers(1, 1000), st.lists(st.floats(0.01, 1), min_size=1, max_size=6))
def test_proportional_sizes_sum_up_and_differ_by_less_than_one(total, proportions):
    sizes = proportional_sizes(total, proportions)
    assert sizes.sum() == total
    assert np.abs(sizes - total * np.array(proportions) / sum(proportions)).max() < 1 + 1e-6
