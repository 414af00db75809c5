"""Groups of entries as columns: gathering and scattering, and the easiest entry of a group."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spmld.pacing.groups import gather, group_positions, polarity_index, scatter
from spmld.pacing.rules import keep_easiest


@given(arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(-1, 3)))
def test_columns_hold_the_entries_of_their_groups_in_order(index):
    values = np.arange(1.0, index.size + 1).reshape(index.shape)
    positions = group_positions(index, 5)
    columns = gather(values, positions)
    assert columns.shape[1] == 5
    for g in range(5):
        column = columns[:, g]
        np.testing.assert_array_equal(column[~np.isnan(column)], values[index == g])
    np.testing.assert_array_equal(scatter(columns, positions, index.shape), np.where(index >= 0, values, 0))


def test_polarity_groups_separate_negatives_and_positives_of_each_label():
    index = polarity_index(np.array([[-1, 1], [1, 0], [-1, 1]]))
    np.testing.assert_array_equal(index, [[0, 3], [1, -1], [0, 3]])


def test_the_easiest_entry_of_a_group_without_weight_is_kept():
    losses = np.array([[0.3, 0.1, 0.2], [0.2, 0.4, 0.2], [0.1, np.nan, np.nan]])
    weights = np.array([[0.0, 0.0, 0.3], [0.0, 1.0, 0.3], [0.0, 0.0, 0.0]])
    expected = [[0, 0, 1], [0, 1, 0.3], [1, 0, 0]]
    np.testing.assert_array_equal(keep_easiest(weights, losses), expected)
    tensors = torch.from_numpy(weights), torch.from_numpy(losses)
    np.testing.assert_array_equal(keep_easiest(*tensors).numpy(), expected)
