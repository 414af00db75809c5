"""Groups: columns and numbered entries do the same where they are the same groups."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spmld.pacing.groups import Columns, Members, in_turn

RNG = np.random.default_rng(0)
L = np.round(RNG.random((30, 4)), 1)  # with ties
OWN = np.array([0.2, 0.9, 0.5, 0.0])
NUMBERS = np.broadcast_to(np.arange(4), L.shape).copy()


def as_members(*rows):
    return Members(tuple(NUMBERS[s] for s in rows), 4)


@pytest.mark.parametrize("groups", [Columns(), as_members(slice(None))], ids=["columns", "members"])
def test_map_and_sum_are_what_they_say(groups):
    (found,) = groups.map(lambda a, t: a * t, (L,), OWN)
    np.testing.assert_allclose(found, L * OWN)
    squares, above = groups.sum(lambda a, t: (a * a, a > t), (L,), OWN)
    np.testing.assert_allclose(squares, (L**2).sum(axis=0))
    np.testing.assert_array_equal(above, (L > OWN).sum(axis=0))
    np.testing.assert_array_equal(groups.own(0.5, (L,)), np.full(4, 0.5))
    np.testing.assert_array_equal(groups.own(OWN, (L,)), OWN)
    np.testing.assert_array_equal(in_turn((0.1, 0.2), groups, (L,)), [0.1, 0.2, 0.1, 0.2])


@pytest.mark.parametrize("groups", [Columns(), as_members(slice(0, 7), slice(7, 30))], ids=["columns", "members"])
def test_blocks_of_rows_give_what_the_whole_gives(groups):
    blocks, whole = (L[:7], L[7:]), Columns()
    np.testing.assert_allclose(
        groups.sum(lambda a, t: (a * t,), blocks, OWN)[0], whole.sum(lambda a, t: (a * t,), (L,), OWN)[0]
    )
    np.testing.assert_array_equal(np.concatenate(groups.ranks(blocks)), whole.ranks((L,))[0])
    np.testing.assert_allclose(np.concatenate(groups.map(lambda a, t: a < t, blocks, OWN)), L < OWN)


@given(
    arrays(float, (6, 3), elements=st.floats(0, 1).map(lambda x: round(x, 1))),
    arrays(np.int64, (6, 3), elements=st.integers(0, 4)),
)
def test_ranks_within_groups(entries, numbers):
    groups = Members((numbers,), 4)
    (ranks,) = groups.ranks((entries,))
    for g in range(4):
        of_group = entries[numbers == g]
        assert sorted(ranks[numbers == g]) == list(range(1, len(of_group) + 1))
        assert (np.diff(of_group[np.argsort(ranks[numbers == g])]) >= 0).all()


def test_entries_of_no_group_count_nowhere_and_are_not_read():
    numbers, poisoned = NUMBERS.copy(), L.copy()
    numbers[3:9, 1:] = 4
    poisoned[3:9, 1:] = 1e300
    groups = Members((numbers,), 4)
    np.testing.assert_allclose(groups.sum(lambda a: (a,), (poisoned,))[0], np.where(numbers < 4, L, 0).sum(axis=0))
    assert groups.top((poisoned,)) == np.where(numbers < 4, L, 0).max()
    (found,) = groups.map(lambda a: a + 1, (poisoned,))
    assert (found[3:9, 1:] == 0).all()
    np.testing.assert_allclose(found[numbers < 4], L[numbers < 4] + 1)


def test_torch_does_what_numpy_does():
    tensors = (torch.from_numpy(L[:11]), torch.from_numpy(L[11:]))
    numbers = tuple(torch.from_numpy(NUMBERS[s]) for s in (slice(0, 11), slice(11, 30)))
    own = torch.from_numpy(OWN)
    for groups in (Columns(), Members(numbers, 4)):
        (found,) = groups.sum(lambda a, t: (a * t,), tensors, own)
        np.testing.assert_allclose(found.numpy(), (L * OWN).sum(axis=0))
        ranks = torch.concat(list(groups.ranks(tensors))).numpy()
        np.testing.assert_array_equal(ranks, Columns().ranks((L,))[0])


def test_long_columns_are_summed_to_the_end(monkeypatch):
    monkeypatch.setattr("spmld.pacing.groups.CACHE", 20)
    (found,) = Columns().sum(lambda a: (a,), (L,))
    np.testing.assert_allclose(found, L.sum(axis=0))
    np.testing.assert_array_equal(Columns().map(lambda a: a, (L,))[0], L)
