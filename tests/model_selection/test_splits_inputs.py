"""Splits: missing entries are ignored, arguments are validated."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spmld.model_selection import MultilabelStratifiedKFold, hold_out_entries, stratified_split

from .splits_cases import NAN, make_labels


def test_missing_entries_are_ignored():
    Y = make_labels(120, 5, missing=0.4)
    mask = ~np.isnan(Y)
    poisoned = np.where(mask, Y, np.random.default_rng(0).choice([0.0, 1.0, 7.0, np.inf], size=Y.shape))
    for clean, dirty in [
        (
            stratified_split(np.arange(120), Y, random_state=0)[:3],
            stratified_split(np.arange(120), poisoned, mask=mask, random_state=0)[:3],
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
        *(
            (lambda sizes=sizes: stratified_split(Y10, Y10, sizes=sizes), "sizes must be at least two floats")
            for sizes in [(0.5,), (0.5, 0.6), (5, 5, 5), (0.5, 0), (0.5, 3), (1, True), (-1, 3), 3]
        ),
        (lambda: stratified_split(Y10, Y10, sizes=(0.98, 0.01, 0.01)), "select at least one sample"),
        (lambda: stratified_split(Y10, Y10, groups=[1, 2]), "groups must have one entry for each of the 10"),
        (lambda: stratified_split(Y10, Y10, groups=[1, 2] * 5), "sizes must define at most 2 subsets"),
        (lambda: hold_out_entries(Y10, 1.0), r"test_size must be a float in \(0, 1\), got 1.0"),
    ],
)
def test_arguments_are_validated(call, message):
    with pytest.raises(ValueError, match=message):
        call()
