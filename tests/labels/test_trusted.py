"""Verified entries."""

import numpy as np
import pytest

from spmld.labels import read_labels
from spmld.labels.entries import mark_trusted

LABELS = read_labels([[1, 0], [0, None], [1, 1]])


@pytest.mark.parametrize("dtype", [bool, int, float])
def test_samples_or_entries_are_marked_by_truth_values_and_missing_entries_are_not(dtype):
    samples = np.array([0, 1, 0], dtype=dtype)
    entries = np.array([[0, 1], [1, 1], [0, 0]], dtype=dtype)
    np.testing.assert_array_equal(mark_trusted(LABELS, samples).trusted, [[0, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(mark_trusted(LABELS, samples[:, None]).trusted, [[0, 0], [1, 0], [0, 0]])
    np.testing.assert_array_equal(mark_trusted(LABELS, entries).trusted, [[0, 1], [1, 0], [0, 0]])


@pytest.mark.parametrize("trusted", [[2, 0, 1], [-1, 0, 1], [0.5, 0, 1]])
def test_other_values_raise(trusted):
    with pytest.raises(ValueError, match="trusted must be an array of bool"):
        mark_trusted(LABELS, trusted)
