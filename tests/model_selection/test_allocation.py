"""Allocation of samples to subsets: balance of every label."""

import itertools

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold

from spmld.model_selection import MultilabelStratifiedKFold
from spmld.model_selection import _allocation as allocation

from .splits_cases import NAN, counts, make_labels, worst


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("k", [2, 5, 10])
def test_every_label_is_as_balanced_as_integers_allow(k, missing):
    Y = make_labels(1500, 12, missing)
    tests = [test for _, test in MultilabelStratifiedKFold(k, random_state=0).split(Y, Y)]
    positives, observed = counts(Y, tests)
    assert worst(positives) < 1
    plain = [test for _, test in KFold(k, shuffle=True, random_state=0).split(Y)]
    assert worst(counts(Y, plain)[0]) > 3
    if missing:
        assert worst(observed) < 0.25 * worst(counts(Y, plain)[1])


def test_iterative_stratification_balances_rare_labels_without_exchanges():
    Y = make_labels(1500, 12, low=0.01, high=0.2)
    signs, sizes = (2 * Y - 1).astype(np.int8), np.full(5, 300)
    part = allocation.allocate(signs, sizes, np.random.RandomState(0), max_attempts=0)
    assert worst(counts(Y, [np.flatnonzero(part == f) for f in range(5)])[0]) < 1


def test_exchanges_balance_frequent_labels():
    Y = make_labels(2000, 20, low=0.3, high=0.7)
    tests = [test for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y)]
    assert worst(counts(Y, tests)[0]) < 2  # without exchanges, about 20
    assert {len(test) for test in tests} == {400}


@pytest.mark.parametrize("seed", range(6))
def test_close_to_the_best_of_all_allocations(seed):
    Y = make_labels(8, 3, seed=seed, low=0.3, high=0.6)
    best = min(
        worst(counts(Y, [list(half), [i for i in range(8) if i not in half]])[0])
        for half in itertools.combinations(range(8), 4)
    )
    ours = min(
        worst(counts(Y, [t for _, t in MultilabelStratifiedKFold(2, random_state=s).split(Y, Y)])[0]) for s in range(3)
    )
    assert best <= ours <= best + 0.5


def test_groups_are_far_better_balanced_than_by_group_kfold():
    Y = make_labels(2000, 10)
    groups = np.random.default_rng(1).integers(300, size=len(Y))
    ours = [test for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y, groups)]
    plain = [test for _, test in GroupKFold(5).split(Y, Y, groups)]
    assert worst(counts(Y, ours)[0]) <= 3 < 10 < worst(counts(Y, plain)[0])
    assert max(abs(len(test) - 400) for test in ours) <= 4


def test_rare_positives_are_in_different_folds_and_labels_may_be_missing():
    Y = np.zeros((30, 4))
    Y[:3, 0] = 1  # fewer positives than folds
    Y[:, 2] = NAN
    Y[5:9] = NAN  # samples without observed labels
    positives, _ = counts(Y, [test for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y)])
    assert sorted(positives[:, 0]) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("grouped", [False, True])
def test_each_exchange_is_the_best_of_all_pairs(monkeypatch, grouped, missing):
    """Observed entries have a tenth of the weight of positives; with groups, a unit may move without an exchange."""
    signs = np.nan_to_num(2 * make_labels(90, 6, missing=missing, low=0.3, high=0.7) - 1).astype(np.int8)
    sizes, exchange, n_done = np.array([45, 30, 15]), allocation._Parts._exchange, 0
    s = sizes / sizes.sum()
    weights = np.concatenate([np.ones(6), np.full(6, 0.1), [1]] if missing else [np.ones(6), [1]])

    def stated_sum(T, P):
        return (weights * ((T - s[:, None] * P) ** 2 / s[:, None] / np.maximum(P, 1)).sum(axis=0)).sum()

    def watched(parts, rich, poor, column, moves):
        nonlocal n_done
        amounts, part = parts.amounts.astype(float), parts.part.copy()
        P = amounts.sum(axis=0)
        T = np.array([amounts[part == f].sum(axis=0) for f in range(3)])
        before, changes = stated_sum(T, P), []
        for i in np.flatnonzero(part == rich):
            for j in [*np.flatnonzero(part == poor), *([None] if moves and (part == rich).sum() > 1 else [])]:
                v = amounts[i] - (0 if j is None else amounts[j])
                changes.append(stated_sum(T + np.outer(np.arange(3) == poor, v) - np.outer(np.arange(3) == rich, v), P))
        done = exchange(parts, rich, poor, column, moves)
        T = np.array([amounts[parts.part == f].sum(axis=0) for f in range(3)])
        assert stated_sum(T, P) == pytest.approx(min(before, *changes), abs=1e-6)
        np.testing.assert_allclose(parts.need, s[:, None] * P - T, atol=1e-5)
        n_done += done
        return done

    monkeypatch.setattr(allocation._Parts, "_exchange", watched)
    groups = np.arange(90) // 3 if grouped else None
    allocation.allocate(signs, sizes, np.random.RandomState(0), groups=groups)
    assert n_done >= 2


@pytest.mark.parametrize("n", [1000, 20_000])  # the candidates are all units of a subset, or drawn from them
def test_candidates_have_the_largest_or_smallest_amounts(n):
    amounts = np.column_stack([np.arange(n) % 4, np.ones(n)])
    parts = allocation._Parts(amounts, np.array([n // 2, n // 2]), 1, np.random.RandomState(0))
    parts.part[:] = np.arange(n) >= n // 2
    for direction, amount in ((1, 3), (-1, 0)):
        units = parts._candidates(1, 0, direction)
        assert (len(units), set(parts.part[units])) == (100, {1})
        assert (np.diff(units) >= 0).all()
        np.testing.assert_array_equal(amounts[units, 0], amount)
    draws = {tuple(parts._candidates(1, 1, 1)) for _ in range(20)}
    assert len(draws) > 5  # ties are broken at random


def test_the_rarest_label_is_placed_first_and_by_need():
    """Without exchanges: two positives of label 0, of which one is also positive for label 1, and four of label 1."""
    signs = np.array([[1, -1], [1, 1], [-1, 1], [-1, 1], [-1, 1], [-1, -1], [-1, -1], [-1, -1]], dtype=np.int8)
    parts = allocation._Parts(
        np.hstack([signs > 0, np.ones((8, 1), dtype=bool)]), np.array([4, 4]), 2, np.random.RandomState(0)
    ).fill(shuffle=False)
    assert parts.part.tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
    np.testing.assert_allclose(parts.need, 0)
