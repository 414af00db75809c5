"""Held-out samples and entries: stratified partitions, balanced by sign and label."""

import itertools

import numpy as np
import pandas as pd
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from spmld.model_selection import hold_out_entries, stratified_split
from spmld.model_selection._allocation import proportional_sizes

from .splits_cases import labels_and_folds, make_labels


def test_the_split_is_a_stratified_partition_and_keeps_types():
    Y = pd.DataFrame(make_labels(500, 6, missing=0.3), index=[f"r{i}" for i in range(500)])
    X, ids = sp.csr_matrix(np.arange(500.0)[:, None]), list(range(500))
    subsets = stratified_split(X, Y, ids, sizes=(0.5, 0.3, 0.2), random_state=0)
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
    subsets = stratified_split(Y, Y, groups, groups=groups, random_state=0)
    assert sorted(tuple(set(subset)) for subset in subsets[6:]) == [(0,), (1,), (2,)]


def test_remaining_samples_are_in_no_subset():
    Y = make_labels(100, 2, low=0.2)
    assert [len(p) for p in stratified_split(Y, Y, sizes=(10, 20, 30), random_state=0)] == [10, 20, 30] * 2
    assert [len(p) for p in stratified_split(Y, Y, sizes=(0.1, 0.2), random_state=0)[:2]] == [10, 20]


@given(st.integers(1, 1000), st.lists(st.floats(0.01, 1), min_size=1, max_size=6))
def test_proportional_sizes_sum_up_and_differ_by_less_than_one(total, proportions):
    sizes = proportional_sizes(total, proportions)
    assert sizes.sum() == total
    assert np.abs(sizes - total * np.array(proportions) / sum(proportions)).max() < 1 + 1e-6


@given(labels_and_folds(), st.floats(0.05, 0.95))
def test_hold_out_has_the_same_fraction_of_each_label_and_sign(case, fraction):
    Y, _, seed = case
    Y_train, held_out = hold_out_entries(Y, fraction, random_state=seed)
    assert not (held_out & np.isnan(Y)).any()
    assert_array_equal(np.isnan(Y_train), np.isnan(Y) | held_out)
    for kind in (Y == 0, Y == 1):
        have, held = kind.sum(0), (kind & held_out).sum(0)
        assert (np.abs(held - fraction * have) < 1 + 1e-9)[have > 1].all()
        assert ((have == 0) | (held < have)).all()  # at least one of each is kept


def test_hold_out_is_proportional_over_all_labels_even_if_they_are_rare():
    Y = np.zeros((500, 200))
    Y[:2] = 1  # two positives of each label: rounding each down would hold out none
    _, held_out = hold_out_entries(Y, 0.2, random_state=0)
    assert abs((held_out & (Y == 1)).sum() - 80) <= 1
    other = hold_out_entries(Y, 0.2, random_state=1)[1]
    assert (held_out != other).any()


def test_hold_out_returns_labels_in_their_form():
    Y = pd.DataFrame(2 * make_labels(40, 3, low=0.3) - 1, index=np.arange(40) + 5, columns=list("abc"))
    Y_train, held_out = hold_out_entries(Y, 0.25, random_state=0)
    assert list(Y_train.columns) == list("abc")
    pd.testing.assert_frame_equal(Y_train, Y.mask(held_out))
    y_train, held = hold_out_entries(Y["a"], 0.25, random_state=0)
    pd.testing.assert_series_equal(y_train, Y["a"].mask(held), check_names=False)
