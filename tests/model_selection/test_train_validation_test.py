"""The split in three: a partition in proportion."""

import itertools

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from spmld.model_selection import train_validation_test_split
from spmld.model_selection._sizes import whole_numbers

from .splits_cases import make_labels


def test_three_way_split_is_a_partition_in_proportion_and_keeps_types():
    Y = pd.DataFrame(make_labels(500, 6, missing=0.3), index=[f"r{i}" for i in range(500)])
    X, ids = sp.csr_matrix(np.arange(500.0)[:, None]), list(range(500))
    parts = train_validation_test_split(X, Y, ids, sizes=(0.5, 0.3, 0.2), random_state=0)
    assert [len(part) for part in parts[3:6]] == [250, 150, 100]
    assert sorted(itertools.chain(*parts[6:])) == ids
    for X_part, Y_part, id_part, share in zip(parts[:3], parts[3:6], parts[6:], (0.5, 0.3, 0.2), strict=True):
        assert_array_equal(X_part.toarray()[:, 0], id_part)
        pd.testing.assert_frame_equal(Y_part, Y.iloc[id_part])
        assert np.abs((Y_part == 1).sum() - share * (Y == 1).sum()).max() < 1


def test_three_way_split_with_few_large_groups_leaves_no_part_empty():
    Y, groups = make_labels(30, 2, low=0.2), np.repeat([0, 1, 2], 10)
    parts = train_validation_test_split(Y, Y, groups, groups=groups, random_state=0)
    assert sorted(tuple(set(part)) for part in parts[6:]) == [(0,), (1,), (2,)]


def test_whole_numbers_leave_rows_over_where_sizes_do():
    Y = make_labels(100, 2, low=0.2)
    assert [len(p) for p in train_validation_test_split(Y, Y, sizes=(10, 20, 30), random_state=0)] == [10, 20, 30] * 2
    assert [len(p) for p in train_validation_test_split(Y, Y, sizes=(0.1, 0.1, 0.1), random_state=0)[:3]] == [10] * 3


@given(st.integers(1, 1000), st.lists(st.floats(0.01, 1), min_size=1, max_size=6))
def test_whole_numbers_sum_up_within_one_of_their_share(total, shares):
    numbers = whole_numbers(total, shares)
    assert numbers.sum() == total
    assert np.abs(numbers - total * np.array(shares) / sum(shares)).max() < 1 + 1e-6
