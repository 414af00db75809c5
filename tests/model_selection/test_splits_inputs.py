"""Splits: missing entries are ignored, arguments are validated."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spmld.model_selection import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
    RepeatedMultilabelStratifiedKFold,
    hold_out_entries,
    train_validation_test_split,
)
from spmld.model_selection._allocation import (
    proportional_sizes,
    train_test_sizes,
    train_validation_test_sizes,
    with_remainder,
)

from .splits_cases import NAN, make_labels


def test_missing_entries_are_ignored():
    Y = make_labels(120, 5, missing=0.4)
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, np.random.default_rng(0).choice([0.0, 1.0, 7.0, np.inf], size=Y.shape))
    for clean, dirty in [
        (
            train_validation_test_split(np.arange(120), Y, random_state=0)[:3],
            train_validation_test_split(np.arange(120), poisoned, mask=mask, random_state=0)[:3],
        ),
        (hold_out_entries(Y, random_state=0), hold_out_entries(poisoned, mask=mask, random_state=0)),
    ]:
        for a, b in zip(clean, dirty, strict=True):
            assert_array_equal(a, b)


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
        (
            lambda: next(MultilabelStratifiedKFold(11).split(Y10, Y10)),
            "n_splits must define at most 10 subsets, the number of samples, got 11",
        ),
        (
            lambda: next(MultilabelStratifiedKFold(3).split(Y10, Y10, [0, 1] * 5)),
            "at most 2 subsets, the number of groups, got 3",
        ),
        (lambda: next(MultilabelStratifiedKFold(3).split(Y10)), "y must be the labels to stratify by"),
        (lambda: next(MultilabelStratifiedKFold(3).split(Y10, Y10 * NAN)), "y has no observed entry"),
        (lambda: next(MultilabelStratifiedKFold(3).split(Y10[:9], Y10)), "inconsistent numbers of samples"),
        (lambda: RepeatedMultilabelStratifiedKFold(n_repeats=0), "n_repeats must be an integer of at least 1, got 0"),
        (lambda: next(MultilabelStratifiedShuffleSplit(test_size=1.5).split(Y10, Y10)), "test_size must be .* got 1.5"),
        (lambda: next(MultilabelStratifiedShuffleSplit(train_size=10).split(Y10, Y10)), "train_size must be .* got 10"),
        (
            lambda: next(MultilabelStratifiedShuffleSplit(test_size=0.6, train_size=0.6).split(Y10, Y10)),
            "must sum to at most the 10 samples",
        ),
        (lambda: next(MultilabelStratifiedShuffleSplit(train_size=0.01).split(Y10, Y10)), "select at least one sample"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.5, 0.5)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.5, 0.5, 0.5)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(5, 5, 5)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.5, 0.5, 0)), "sizes must be three floats"),
        (lambda: train_validation_test_split(Y10, Y10, sizes=(0.98, 0.01, 0.01)), "select at least one sample"),
        (lambda: train_validation_test_split(Y10, Y10, groups=[1, 2]), "groups must have one entry for each of the 10"),
        (lambda: hold_out_entries(Y10, 1.0), r"test_size must be a float in \(0, 1\), got 1.0"),
    ],
)
def test_arguments_are_validated(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_by_hand():
    assert proportional_sizes(10, [1, 1, 1]).tolist() == [4, 3, 3]
    assert proportional_sizes(100, [0.07, 0.93]).tolist() == [7, 93]
    assert proportional_sizes(7, [0.5, 0.25, 0.25]).tolist() == [3, 2, 2]
    for options, sizes in (
        ((None, None), [9, 1]),
        ((None, 0.07), [93, 7]),
        ((0.555, None), [55, 45]),
        ((None, 0.555), [44, 56]),
        ((0.5, 10), [50, 10]),
        ((99, None), [99, 1]),
        ((None, 99), [1, 99]),
    ):
        n = 10 if options == (None, None) else 100
        assert train_test_sizes(n, *options).tolist() == sizes
    for bad in (0, 100, 0.0, 1.0, True, "half", -0.5):
        with pytest.raises(ValueError, match="must be a float in"):
            train_test_sizes(100, None, bad)
    assert train_validation_test_sizes(10, (0.5, 0.25, 0.25)).tolist() == [5, 3, 2]
    assert train_validation_test_sizes(10, (5, 3, 2)).tolist() == [5, 3, 2]
    assert train_validation_test_sizes(10, (0.1, 0.1, 0.1)).tolist() == [1, 1, 1]
    for bad in ((5, 3, 3), (0.5, 3, 2), (1, 1, True), (0.6, 0.3, 0.2), 3):
        with pytest.raises(ValueError, match="sizes must be three"):
            train_validation_test_sizes(10, bad)
    assert with_remainder(np.array([5, 3]), 10).tolist() == [5, 3, 2]
    assert with_remainder(np.array([5, 5]), 10).tolist() == [5, 5]
