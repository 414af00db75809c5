"""Splits of entries: each observed entry once, balanced by sign and label."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from spmld.model_selection import EntryKFold, hold_out_entries

from .splits_cases import labels_and_folds, make_labels, worst


@given(labels_and_folds())
@settings(max_examples=100)
def test_each_observed_entry_is_held_out_once_and_signs_are_balanced(case):
    Y, k, seed = case
    observed = ~np.isnan(Y)
    if k > observed.sum():
        with pytest.raises(ValueError, match="n_splits must be at most the number of observed entries"):
            next(EntryKFold(k).split(Y))
        return
    held = []
    for Y_train, held_out in EntryKFold(k, random_state=seed).split(Y):
        assert_array_equal(np.isnan(Y_train), ~observed | held_out)
        assert_array_equal(Y_train[observed & ~held_out], Y[observed & ~held_out])
        held.append(held_out)
    assert_array_equal(np.sum(held, axis=0), observed)
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
@settings(max_examples=100)
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
