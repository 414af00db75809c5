"""Held-out entries are balanced by sign and label."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from spmld.model_selection import hold_out_entries

from .splits_cases import labels_and_folds, make_labels


@given(labels_and_folds(), st.floats(0.05, 0.95))
@settings(max_examples=25)
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
