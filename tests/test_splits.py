"""Splits: what is held out, and how evenly."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate

from spmld.splits import (
    EntryKFold,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    RepeatedMultilabelStratifiedKFold,
    allocation,
    hold_out_entries,
    train_validation_test_split,
)
from spmld.splits.sizes import whole_numbers

NAN = np.nan


def make_labels(n, l, missing=0.0, seed=0, low=0.02, high=0.4):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, l)) < np.geomspace(low, high, l)).astype(float)
    Y[rng.random((n, l)) < missing] = NAN
    return Y


def counts(Y, tests):
    """Positives and observed entries of each label in each fold."""
    Y = np.asarray(Y, dtype=float)
    return np.array([(Y[t] == 1).sum(0) for t in tests]), np.array([(~np.isnan(Y[t])).sum(0) for t in tests])


def worst(table):
    """The largest deviation of a count from its even share."""
    return np.abs(table - table.mean(axis=0)).max()


@st.composite
def labels_and_folds(draw):
    n, l = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    cells = draw(st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=n * l, max_size=n * l))
    Y = np.array(cells).reshape(n, l)
    Y[0, 0] = 1.0  # something must be observed
    return Y, draw(st.integers(2, min(n, 7))), draw(st.integers(0, 1000))


@given(labels_and_folds(), st.booleans())
@settings(max_examples=100, deadline=None)
def test_each_row_is_tested_once_and_sizes_differ_by_one_at_most(case, shuffle):
    Y, k, seed = case
    splits = list(MultilabelStratifiedKFold(k, shuffle=shuffle, random_state=seed if shuffle else None).split(Y, Y))
    assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(len(Y)))
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1
    for train, test in splits:
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(Y)))


@given(labels_and_folds(), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_groups_stay_together_and_no_fold_is_empty(case, seed):
    Y, k, _ = case
    groups = np.random.default_rng(seed).integers(k + 2, size=len(Y))
    groups[:k] = np.arange(k)
    splits = list(MultilabelStratifiedKFold(k, random_state=seed).split(Y, Y, groups))
    assert_array_equal(np.sort(np.concatenate([test for _, test in splits])), np.arange(len(Y)))
    for train, test in splits:
        assert len(test)
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("missing", [0.0, 0.5])
@pytest.mark.parametrize("k", [2, 5, 10])
def test_every_label_is_as_even_as_whole_numbers_allow(k, missing):
    Y = make_labels(1500, 12, missing)
    tests = [test for _, test in MultilabelStratifiedKFold(k, random_state=0).split(Y, Y)]
    positives, observed = counts(Y, tests)
    assert worst(positives) < 1
    plain = [test for _, test in KFold(k, shuffle=True, random_state=0).split(Y)]
    assert worst(counts(Y, plain)[0]) > 3
    if missing:
        assert worst(observed) < 0.25 * worst(counts(Y, plain)[1])


def test_filling_by_the_rarest_label_is_even_without_exchanges(monkeypatch):
    monkeypatch.setattr(allocation, "_ATTEMPTS", 0)
    Y = make_labels(1500, 12, low=0.01, high=0.2)
    tests = [test for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y)]
    assert worst(counts(Y, tests)[0]) < 1


def test_dense_labels_that_meet_in_every_row_are_mended_by_exchanges():
    Y = make_labels(2000, 20, low=0.3, high=0.7)
    tests = [test for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y)]
    assert worst(counts(Y, tests)[0]) < 2  # first filling alone leaves about 20
    assert {len(test) for test in tests} == {400}


@pytest.mark.parametrize("grouped", [False, True])
def test_each_exchange_makes_the_stated_sum_fall(monkeypatch, grouped):
    Y = make_labels(300, 20, low=0.05, high=0.8)
    sizes, falls = np.array([150, 100, 50]), []
    exchange = allocation._Parts._exchange

    def stated_sum(parts):
        s = (sizes / sizes.sum())[:, None]
        T = np.array([parts.amounts[parts.part == f].sum(axis=0) for f in range(3)], dtype=float)
        P = T.sum(axis=0)
        return ((T - s * P) ** 2 / s / P).sum()

    def watched(parts, *arguments):
        before = stated_sum(parts)
        done = exchange(parts, *arguments)
        falls.append(before - stated_sum(parts))
        assert falls[-1] > 0 if done else falls[-1] == 0
        return done

    monkeypatch.setattr(allocation._Parts, "_exchange", watched)
    groups = np.arange(300) // 3 if grouped else None
    allocation.allocate((2 * Y - 1).astype(np.int8), sizes, np.random.RandomState(0), groups=groups)
    assert sum(fall > 0 for fall in falls) >= 5


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


def test_groups_are_far_more_even_than_group_kfold():
    Y = make_labels(2000, 10)
    groups = np.random.default_rng(1).integers(300, size=len(Y))
    ours = [test for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y, groups)]
    plain = [test for _, test in GroupKFold(5).split(Y, Y, groups)]
    assert worst(counts(Y, ours)[0]) <= 3 < 10 < worst(counts(Y, plain)[0])
    assert max(abs(len(test) - 400) for test in ours) <= 4


def test_rare_positives_go_to_different_folds_and_absent_labels_do_no_harm():
    Y = np.zeros((30, 4))
    Y[:3, 0] = 1  # fewer positives than folds
    Y[:, 2] = NAN
    Y[5:9] = NAN  # rows that say nothing
    positives, _ = counts(Y, [test for _, test in MultilabelStratifiedKFold(5, random_state=0).split(Y, Y)])
    assert sorted(positives[:, 0]) == [0, 0, 1, 1, 1]


@pytest.mark.parametrize("form", [list, pd.DataFrame, sp.csr_matrix, lambda Y: 2 * Y - 1, lambda Y: Y.astype(bool)])
def test_every_form_of_labels_gives_the_same_folds(form):
    Y = make_labels(60, 4, low=0.2)
    wanted = list(MultilabelStratifiedKFold(3, random_state=0).split(Y, Y))
    for (train, test), (train_, test_) in zip(
        wanted, MultilabelStratifiedKFold(3, random_state=0).split(None, form(Y)), strict=True
    ):
        assert_array_equal(train, train_)
        assert_array_equal(test, test_)


def test_a_vector_is_one_label():
    y = np.array(["no", "yes"])[(np.arange(50) % 5 == 0).astype(int)]
    for _, test in MultilabelStratifiedKFold(5, random_state=0).split(y, y):
        assert (y[test] == "yes").sum() == 2


def test_seeds_decide():
    Y = make_labels(200, 5)
    folds = [[tuple(t) for _, t in MultilabelStratifiedKFold(4, random_state=s).split(Y, Y)] for s in (0, 0, 1)]
    assert folds[0] == folds[1] != folds[2]
    fixed = MultilabelStratifiedKFold(4, shuffle=False)
    assert [tuple(t) for _, t in fixed.split(Y, Y)] == [tuple(t) for _, t in fixed.split(Y, Y)]


def test_repeats_differ_and_each_is_a_set_of_folds():
    Y = make_labels(100, 3, low=0.1)
    splitter = RepeatedMultilabelStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    tests = [test for _, test in splitter.split(Y, Y)]
    assert len(tests) == splitter.get_n_splits() == 12
    rounds = [frozenset(map(tuple, tests[i : i + 4])) for i in (0, 4, 8)]
    assert len(set(rounds)) == 3
    for i in (0, 4, 8):
        assert_array_equal(np.sort(np.concatenate(tests[i : i + 4])), np.arange(100))
        assert worst(counts(Y, tests[i : i + 4])[0]) < 1


@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ({}, (900, 100)),
        ({"test_size": 0.25}, (750, 250)),
        ({"train_size": 0.3}, (300, 700)),
        ({"train_size": 0.3, "test_size": 0.2}, (300, 200)),
        ({"train_size": 500, "test_size": 33}, (500, 33)),
    ],
)
def test_shuffle_split_shares_each_label_in_proportion(sizes, rows):
    Y = make_labels(1000, 8, missing=0.2)
    seen = set()
    for train, test in MultilabelStratifiedShuffleSplit(3, random_state=0, **sizes).split(Y, Y):
        assert (len(train), len(test)) == rows
        assert not set(train) & set(test)
        for part in (train, test):
            wanted = (Y == 1).sum(0) * len(part) / 1000
            assert np.abs((Y[part] == 1).sum(0) - wanted).max() < 1
        seen.add(tuple(test))
    assert len(seen) == 3


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


def test_what_stands_in_unobserved_places_is_not_read():
    Y = make_labels(120, 5, missing=0.4)
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, np.random.default_rng(0).choice([0.0, 1.0, 7.0, np.inf], size=Y.shape))
    for clean, dirty in [
        (
            train_validation_test_split(np.arange(120), Y, random_state=0)[:3],
            train_validation_test_split(np.arange(120), poisoned, mask=mask, random_state=0)[:3],
        ),
        (hold_out_entries(Y, random_state=0), hold_out_entries(poisoned, mask=mask, random_state=0)),
        (
            [a for pair in EntryKFold(3, random_state=0).split(Y) for a in pair],
            [a for pair in EntryKFold(3, random_state=0).split(poisoned, mask) for a in pair],
        ),
    ]:
        for a, b in zip(clean, dirty, strict=True):
            assert_array_equal(a, b)


@given(labels_and_folds())
@settings(max_examples=100, deadline=None)
def test_each_observed_entry_is_held_out_once_and_signs_are_spread(case):
    Y, k, seed = case
    seen = ~np.isnan(Y)
    if k > seen.sum():
        with pytest.raises(ValueError, match="n_splits asks for"):
            next(EntryKFold(k).split(Y))
        return
    held = []
    for Y_train, held_out in EntryKFold(k, random_state=seed).split(Y):
        assert_array_equal(np.isnan(Y_train), ~seen | held_out)
        assert_array_equal(Y_train[seen & ~held_out], Y[seen & ~held_out])
        held.append(held_out)
    assert_array_equal(np.sum(held, axis=0), seen)
    for kind in (Y == 0, Y == 1):
        assert worst(np.array([(kind & h).sum(0) for h in held])) < 1
        assert worst(np.array([(kind & h).sum() for h in held])) < 1


def test_single_positives_of_two_labels_are_not_always_held_out_together():
    draws = [
        [held_out.diagonal() for _, held_out in EntryKFold(5, random_state=s).split(np.eye(10))] for s in range(80)
    ]
    for other in range(1, 10):
        together = [any(held_out[0] and held_out[other] for held_out in folds) for folds in draws]
        assert 0 < sum(together) < 80


@given(labels_and_folds(), st.floats(0.05, 0.95))
@settings(max_examples=100, deadline=None)
def test_hold_out_keeps_the_share_of_each_label_and_sign(case, share):
    Y, _, seed = case
    Y_train, held_out = hold_out_entries(Y, share, random_state=seed)
    assert not (held_out & np.isnan(Y)).any()
    assert_array_equal(np.isnan(Y_train), np.isnan(Y) | held_out)
    for kind in (Y == 0, Y == 1):
        have, held = kind.sum(0), (kind & held_out).sum(0)
        assert (np.abs(held - share * have) < 1 + 1e-9)[have > 1].all()
        assert ((have == 0) | (held < have)).all()  # one of each stays


def test_hold_out_is_in_proportion_over_all_even_if_labels_are_rare():
    Y = np.zeros((500, 200))
    Y[:2] = 1  # two positives of each label: rounding each down would hold out none
    _, held_out = hold_out_entries(Y, 0.2, random_state=0)
    assert abs((held_out & (Y == 1)).sum() - 80) <= 1
    other = hold_out_entries(Y, 0.2, random_state=1)[1]
    assert (held_out != other).any()


def test_hold_out_gives_labels_back_in_their_form():
    Y = pd.DataFrame(2 * make_labels(40, 3, low=0.3) - 1, index=np.arange(40) + 5, columns=list("abc"))
    Y_train, held_out = hold_out_entries(Y, 0.25, random_state=0)
    assert list(Y_train.columns) == list("abc")
    pd.testing.assert_frame_equal(Y_train, Y.mask(held_out))
    y_train, held = hold_out_entries(Y["a"], 0.25, random_state=0)
    pd.testing.assert_series_equal(y_train, Y["a"].mask(held), check_names=False)


class Prior(ClassifierMixin, BaseEstimator):
    """Scores of each label: its observed share of positives, times a factor."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def fit(self, X, Y):
        self.share_ = np.nanmean(Y, axis=0)
        return self

    def score(self, X, Y):
        return -np.nanmean((Y - self.factor * self.share_) ** 2)


def test_serves_scikit_learns_searches_with_missing_labels():
    Y = make_labels(200, 4, missing=0.3, low=0.2)
    groups = np.arange(200) // 4
    for cv in (MultilabelStratifiedKFold(4, random_state=0), MultilabelStratifiedShuffleSplit(4, random_state=0)):
        search = GridSearchCV(Prior(), {"factor": [0.0, 1.0]}, cv=cv).fit(Y, Y, groups=groups)
        assert search.best_params_ == {"factor": 1.0}
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        found = cross_validate(Prior(), Y, Y, cv=cv, groups=groups, return_indices=True)["indices"]
        assert len(found["test"]) == 4
        for train, test in zip(found["train"], found["test"], strict=True):
            assert not set(groups[train]) & set(groups[test])


def test_splitters_show_and_pickle_themselves():
    splitter = MultilabelStratifiedKFold(3, random_state=7)
    assert repr(splitter) == "MultilabelStratifiedKFold(n_splits=3, random_state=7, shuffle=True)"
    Y = make_labels(30, 2, low=0.2)
    for a, b in zip(splitter.split(Y, Y), pickle.loads(pickle.dumps(splitter)).split(Y, Y), strict=True):
        assert_array_equal(a[1], b[1])


Y10 = make_labels(10, 2, low=0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultilabelStratifiedKFold(1), "n_splits must be an integer of at least 2, got 1"),
        (lambda: MultilabelStratifiedKFold(2.5), "n_splits must be an integer of at least 2, got 2.5"),
        (lambda: MultilabelStratifiedKFold(shuffle="no"), "shuffle must be True or False, got 'no'"),
        (
            lambda: MultilabelStratifiedKFold(shuffle=False, random_state=1),
            "random_state must be None if shuffle=False",
        ),
        (lambda: next(MultilabelStratifiedKFold(11).split(Y10, Y10)), "n_splits asks for 11 parts, .* 10 rows"),
        (lambda: next(MultilabelStratifiedKFold(3).split(Y10, Y10, [0, 1] * 5)), "n_splits asks for 3 .* 2 groups"),
        (lambda: next(MultilabelStratifiedKFold(3).split(Y10)), "y must be given"),
        (lambda: next(MultilabelStratifiedKFold(3).split(Y10, Y10 * NAN)), "y has no observed entry"),
        (lambda: next(MultilabelStratifiedKFold(3).split(Y10[:9], Y10)), "inconsistent numbers of samples"),
        (lambda: RepeatedMultilabelStratifiedKFold(n_repeats=0), "n_repeats must be an integer of at least 1, got 0"),
        (lambda: next(MultilabelStratifiedShuffleSplit(test_size=1.5).split(Y10, Y10)), "test_size must be .* got 1.5"),
        (lambda: next(MultilabelStratifiedShuffleSplit(train_size=10).split(Y10, Y10)), "train_size must be .* got 10"),
        (
            lambda: next(MultilabelStratifiedShuffleSplit(test_size=0.6, train_size=0.6).split(Y10, Y10)),
            "must not ask for more than the 10 rows together",
        ),
        (lambda: next(MultilabelStratifiedShuffleSplit(train_size=0.01).split(Y10, Y10)), "at least one row each"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.5, 0.5)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.5, 0.5, 0.5)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(5, 5, 5)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.5, 0.5, 0)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.98, 0.01, 0.01)), "leave at least one row"),
        (lambda: train_validation_test_split(Y10, Y10, groups=[1, 2]), "groups must have one entry for each of the 10"),
        (lambda: EntryKFold(0), "n_splits must be an integer of at least 2, got 0"),
        (lambda: hold_out_entries(Y10, 1.0), r"share must be a float in \(0, 1\), got 1.0"),
    ],
)
def test_refusals_name_the_argument_and_what_was_given(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_groups_are_routed_by_scikit_learn():
    Y, groups = make_labels(100, 3, missing=0.2, low=0.2), np.arange(100) // 4
    with config_context(enable_metadata_routing=True):
        found = cross_validate(
            Prior(),
            Y,
            Y,
            cv=MultilabelStratifiedKFold(4, random_state=0),
            params={"groups": groups},
            return_indices=True,
        )["indices"]
    for train, test in zip(found["train"], found["test"], strict=True):
        assert not set(groups[train]) & set(groups[test])
