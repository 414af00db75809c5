"""Labels are written in the form in which they were read."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from spmld.labels import read_labels


@given(st.integers(1, 6), st.integers(2, 4), st.sampled_from([(0, 1), (-1, 1)]), st.randoms())
def test_written_labels_are_read_as_the_same_signs(n, l, classes, random):
    signs = np.array([random.choice([-1, 0, 1]) for _ in range(n * l)]).reshape(n, l)
    signs[0, :2] = -1, 1
    labels = read_labels(np.array(classes)[(signs > 0).astype(int)], signs != 0)
    written = labels.write_with_missing(None)
    np.testing.assert_array_equal(np.isnan(written), signs == 0)
    assert set(written[signs != 0]) <= set(classes)
    np.testing.assert_array_equal(read_labels(written).signs, signs)


def test_other_signs_are_written_in_the_same_form():
    Y = pd.DataFrame([[-1, 1], [1, -1]], index=["p", "q"], columns=["a", "b"])
    expected = pd.DataFrame([[np.nan, 1.0], [np.nan, 1.0]], index=["p", "q"], columns=["a", "b"])
    pd.testing.assert_frame_equal(read_labels(Y).write_with_missing(Y, np.array([[0, 1], [0, 1]])), expected)


def test_a_series_stays_a_series_of_the_same_name():
    y = pd.Series([True, False, None], index=[7, 8, 9], name="rain")
    expected = pd.Series([1.0, 0.0, np.nan], index=[7, 8, 9], name="rain")
    pd.testing.assert_series_equal(read_labels(y).write_with_missing(y), expected)


@pytest.mark.parametrize("form", [np.array, lambda Y: np.ma.MaskedArray(Y), sp.csr_array, lambda Y: Y.tolist()])
def test_other_forms_become_arrays(form):
    Y = form(np.array([[0, 1], [1, 0]]))
    written = read_labels(Y, [[True, True], [False, True]]).write_with_missing(Y)
    np.testing.assert_array_equal(written, [[0, 1], [np.nan, 0]])


def test_strings_are_written_as_0_and_1():
    y = ["no", "yes", None, "yes"]
    np.testing.assert_array_equal(read_labels(y).write_with_missing(y), [0, 1, np.nan, 1])


def test_labels_of_one_class_are_read_with_the_classes_of_a_fit():
    np.testing.assert_array_equal(read_labels(["no", None, "no"], classes=["no", "yes"]).signs[:, 0], [-1, 0, -1])
    np.testing.assert_array_equal(read_labels([1, 1], classes=[1, 2]).signs[:, 0], [-1, -1])
    np.testing.assert_array_equal(read_labels([1, 1]).signs[:, 0], [1, 1])
    # Classes of the fit are ignored for labels with other values.
    np.testing.assert_array_equal(read_labels([[-1, 1]], classes=[0, 1]).signs, [[-1, 1]])
    with pytest.raises(ValueError, match="needs two classes, got 1 class"):
        read_labels(["maybe"], classes=["no", "yes"])
