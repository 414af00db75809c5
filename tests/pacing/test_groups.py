"""Groups: columns and indexed entries agree if they describe the same groups."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spmld._arrays import CACHE
from spmld.pacing.groups import ColumnGroups, EntryGroups, keep_easiest, polarity_groups

RNG = np.random.default_rng(0)
L = np.round(RNG.random((30, 4)), 1)  # with ties
VALUES = np.array([0.2, 0.9, 0.5, 0.0])
INDEX = np.broadcast_to(np.arange(4), L.shape).copy()


def as_entry_groups(*rows):
    return EntryGroups(tuple(INDEX[s] for s in rows), 4)


@pytest.mark.parametrize("groups", [ColumnGroups(), as_entry_groups(slice(None))], ids=["columns", "entries"])
def test_map_and_sum(groups):
    (product,) = groups.map(lambda a, t: a * t, (L,), VALUES)
    np.testing.assert_allclose(product, L * VALUES)
    squares, above = groups.sum(lambda a, t: (a * a, a > t), (L,), VALUES)
    np.testing.assert_allclose(squares, (L**2).sum(axis=0))
    np.testing.assert_array_equal(above, (L > VALUES).sum(axis=0))
    np.testing.assert_array_equal(groups.per_group(0.5, (L,)), np.full(4, 0.5))
    np.testing.assert_array_equal(groups.per_group(VALUES, (L,)), VALUES)


@pytest.mark.parametrize(
    "groups", [ColumnGroups(), as_entry_groups(slice(0, 7), slice(7, 30))], ids=["columns", "entries"]
)
def test_row_blocks_do_not_change_the_results(groups):
    blocks, whole = (L[:7], L[7:]), ColumnGroups()
    np.testing.assert_allclose(
        groups.sum(lambda a, t: (a * t,), blocks, VALUES)[0], whole.sum(lambda a, t: (a * t,), (L,), VALUES)[0]
    )
    np.testing.assert_array_equal(np.concatenate(groups.ranks(blocks)), whole.ranks((L,))[0])
    np.testing.assert_allclose(np.concatenate(groups.map(lambda a, t: a < t, blocks, VALUES)), L < VALUES)


@given(
    arrays(float, (6, 3), elements=st.floats(0, 1).map(lambda x: round(x, 1))),
    arrays(np.int64, (6, 3), elements=st.integers(0, 4)),
)
def test_ranks_within_groups(entries, index):
    groups = EntryGroups((index,), 4)
    (ranks,) = groups.ranks((entries,))
    for g in range(4):
        of_group = entries[index == g]
        assert sorted(ranks[index == g]) == list(range(1, len(of_group) + 1))
        assert (np.diff(of_group[np.argsort(ranks[index == g])]) >= 0).all()


def test_ties_are_ranked_by_position():
    losses = np.random.default_rng(1).integers(0, 2, size=(200, 2)).astype(float)
    expected = np.empty((200, 2))
    for j in range(2):
        expected[np.lexsort([np.arange(200), losses[:, j]]), j] = np.arange(1, 201)
    index = np.broadcast_to(np.arange(2), losses.shape)
    for groups in (ColumnGroups(), EntryGroups((index[:90], index[90:]), 2)):
        np.testing.assert_array_equal(np.concatenate(groups.ranks((losses[:90], losses[90:]))), expected)


def test_entries_outside_all_groups_are_ignored():
    index, poisoned = INDEX.copy(), L.copy()
    index[3:9, 1:] = 4
    poisoned[3:9, 1:] = 1e300
    groups = EntryGroups((index,), 4)
    np.testing.assert_allclose(groups.sum(lambda a: (a,), (poisoned,))[0], np.where(index < 4, L, 0).sum(axis=0))
    assert groups.max((poisoned,)) == np.where(index < 4, L, 0).max()
    (shifted,) = groups.map(lambda a: a + 1, (poisoned,))
    assert (shifted[3:9, 1:] == 0).all()
    np.testing.assert_allclose(shifted[index < 4], L[index < 4] + 1)


def test_torch_agrees_with_numpy():
    tensors = (torch.from_numpy(L[:11]), torch.from_numpy(L[11:]))
    indices = tuple(torch.from_numpy(INDEX[s]) for s in (slice(0, 11), slice(11, 30)))
    values = torch.from_numpy(VALUES)
    for groups in (ColumnGroups(), EntryGroups(indices, 4)):
        (sums,) = groups.sum(lambda a, t: (a * t,), tensors, values)
        np.testing.assert_allclose(sums.numpy(), (L * VALUES).sum(axis=0))
        ranks = torch.concat(list(groups.ranks(tensors))).numpy()
        np.testing.assert_array_equal(ranks, ColumnGroups().ranks((L,))[0])


def test_columns_that_exceed_the_cache_are_summed_in_slices():
    many, sizes = np.random.default_rng(0).random((CACHE, 2)), []

    def identity(a):
        sizes.append(a.size)
        return (a,)

    (sums,) = ColumnGroups().sum(identity, (many,))
    np.testing.assert_allclose(sums, many.sum(axis=0))
    np.testing.assert_array_equal(ColumnGroups().map(lambda a: identity(a)[0], (many,))[0], many)
    assert max(sizes) <= CACHE
    assert sum(sizes) == 2 * many.size


def test_polarity_groups_separate_negatives_and_positives_of_each_label():
    signs = np.array([[-1, 1], [1, 0], [-1, 1]])
    groups = polarity_groups(signs)
    (counts,) = groups.sum(lambda a: (np.ones_like(a),), (np.ones((3, 2)),))
    np.testing.assert_array_equal(counts, [2, 1, 0, 2])


def test_the_easiest_entry_of_a_group_without_weight_is_kept():
    losses = np.array([[0.3, 0.1], [0.2, 0.4], [0.1, 9.0]])
    groups = EntryGroups((np.array([[0, 1], [0, 1], [0, 2]]),), 2)
    weights = keep_easiest(np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), losses, groups)
    np.testing.assert_array_equal(weights, [[0, 0], [0, 1], [1, 0]])
