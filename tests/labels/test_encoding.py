"""Accepted forms of labels, and errors for the others."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spmld.cluster.collections import read_signs, summarize_labels
from spmld.labels import decode_missing, read_labels
from spmld.labels.encoding import mark_trusted, read_weights

SIGNS = np.array([[1, -1, 0], [0, 1, -1]])
NUMBERS = np.array([[1, 0, np.nan], [np.nan, 1, 0]])
LABELS = read_labels([[1, 0], [0, None], [1, 1]])


@pytest.mark.parametrize(
    ("Y", "mask"),
    [
        (NUMBERS, None),
        (2 * NUMBERS - 1, None),
        (NUMBERS.astype(np.float32), None),
        (NUMBERS.tolist(), None),
        ([[1, 0, None], [None, 1, 0]], None),
        ([[True, False, None], [None, True, False]], None),
        ([[1, 0, pd.NA], [pd.NA, 1, 0]], None),
        (pd.DataFrame(NUMBERS), None),
        (pd.DataFrame(NUMBERS).astype("boolean"), None),
        (pd.DataFrame(NUMBERS).astype("Int8"), None),
        (np.ma.masked_invalid(NUMBERS), None),
        (np.ma.MaskedArray(np.nan_to_num(NUMBERS).astype(int), mask=np.isnan(NUMBERS)), None),
        (np.where(np.isnan(NUMBERS), 55, NUMBERS), ~np.isnan(NUMBERS)),
        (np.nan_to_num(NUMBERS).astype(bool), ~np.isnan(NUMBERS)),
        (np.nan_to_num(NUMBERS).astype(bool), pd.DataFrame(~np.isnan(NUMBERS))),
        (np.nan_to_num(NUMBERS).astype(bool), (~np.isnan(NUMBERS)).astype(int)),
        (sp.csr_array(np.nan_to_num(NUMBERS)), ~np.isnan(NUMBERS)),
        (sp.coo_matrix(np.nan_to_num(NUMBERS)), sp.csr_array(~np.isnan(NUMBERS))),
        (sp.csr_array(SIGNS), SIGNS != 0),
        (torch.from_numpy(NUMBERS), None),
        (torch.from_numpy(2 * NUMBERS - 1), None),
        (torch.from_numpy(np.where(np.isnan(NUMBERS), 1, NUMBERS)), ~np.isnan(NUMBERS)),
        (torch.from_numpy(NUMBERS).bfloat16(), ~np.isnan(NUMBERS)),
        (torch.from_numpy(NUMBERS).to(torch.float8_e5m2), torch.from_numpy(~np.isnan(NUMBERS))),
        (torch.from_numpy(NUMBERS).requires_grad_(), ~np.isnan(NUMBERS)),
        (np.nan_to_num(NUMBERS), np.ma.array(~np.isnan(NUMBERS), mask=False)),
    ],
)
def test_all_forms_are_read_alike(Y, mask):
    labels = read_labels(Y, mask)
    np.testing.assert_array_equal(labels.signs, SIGNS)
    np.testing.assert_array_equal(read_labels(Y, mask).observed, SIGNS != 0)
    assert labels.signs.dtype == np.int8


def test_entries_not_stored_in_a_sparse_matrix_are_negative():
    Y = sp.csr_array(np.array([[1, 0], [0, 1]]))
    np.testing.assert_array_equal(read_labels(Y).signs, [[1, -1], [-1, 1]])
    with pytest.raises(ValueError, match=r"sparse with stored -1, which is ambiguous.*decode_missing"):
        read_labels(sp.csr_array(np.array([[1, 0], [-1, 1]])))
    stored_zero = sp.csr_array((np.array([1, 0, -1, 1]), ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    for mask in (None, np.ones((2, 2), dtype=bool)):
        with pytest.raises(ValueError, match="Y contains -1, 0 and 1"):
            read_labels(stored_zero, mask)


@pytest.mark.parametrize("convert", [np.asarray, torch.asarray])
def test_classes_are_those_of_the_values(convert):
    for values, classes in (([[0.0, 1.0]], [0, 1]), ([[-1.0, 1.0]], [-1, 1]), ([[1.0, 1.0]], [0, 1])):
        np.testing.assert_array_equal(read_labels(convert(values)).classes, classes)
    np.testing.assert_array_equal(read_labels(sp.csr_array([[1, 1]]), classes=[-1, 1]).classes, [-1, 1])
    assert read_labels(convert([1.0, 0.0])).one_dimensional
    with pytest.raises(ValueError, match="no observed entry: all 2 are missing"):
        read_labels(convert([[np.nan, np.nan]]))
    with pytest.raises(ValueError, match="has values other than labels"):
        read_labels(convert([[0.0, 1.0, 3.0]]))


def test_column_names_are_kept():
    assert read_labels(pd.DataFrame(NUMBERS, columns=["a", "b", "c"])).names == ["a", "b", "c"]
    assert read_labels(NUMBERS).names is None


@pytest.mark.parametrize(
    ("y", "classes"),
    [([0, 1, 0], [0, 1]), ([-1, 1, 1], [-1, 1]), (["no", "yes", "no"], ["no", "yes"]), ([3, 7, 7], [3, 7])],
)
def test_a_vector_is_one_label_with_any_two_classes(y, classes):
    labels = read_labels(y)
    assert labels.one_dimensional
    assert list(labels.classes) == classes
    np.testing.assert_array_equal(labels.signs[:, 0], [1 if v == classes[1] else -1 for v in y])
    assert list(labels.write(labels.signs)) == y
    column = read_labels(np.array(y, dtype=object)[:, None])
    np.testing.assert_array_equal(column.signs, labels.signs)
    assert not column.one_dimensional


def test_three_values_are_ambiguous_and_can_be_decoded():
    with pytest.raises(ValueError, match=r"Y contains -1, 0 and 1, which is ambiguous.*decode_missing"):
        read_labels(SIGNS)
    np.testing.assert_array_equal(read_labels(decode_missing(SIGNS, missing=0)).signs, SIGNS)
    other = np.array([[1, 0, -1], [-1, 1, 0]])  # -1 means missing here
    np.testing.assert_array_equal(read_labels(decode_missing(other, missing=-1)).signs, SIGNS)
    frame = decode_missing(pd.DataFrame(SIGNS, columns=list("abc"), index=["x", "y"]))
    assert list(frame.columns) == list("abc")
    assert list(frame.index) == ["x", "y"]
    np.testing.assert_array_equal(decode_missing(sp.csr_array(SIGNS)), decode_missing(SIGNS))
    with pytest.raises(ValueError, match="missing must be 0 or -1, got 2"):
        decode_missing(SIGNS, missing=2)
    with pytest.raises(ValueError, match="Y must contain only -1, 0 and 1"):
        decode_missing([[5, 1]])
    with pytest.raises(ValueError, match="Y must contain only -1, 0 and 1"):
        decode_missing(np.array([[1 + 1j, 0]]))
    np.testing.assert_array_equal(decode_missing(torch.tensor(SIGNS).bfloat16()), decode_missing(SIGNS))


@pytest.mark.parametrize(
    ("Y", "mask", "message"),
    [
        ([[0.5, 1]], None, "Y has values other than labels: 0.5, 1.0"),
        ([[0, 1, 2]] * 3, None, "values other than labels: 0, 1, 2"),
        ([[1, 2, 3, 4, 5]], None, r"values other than labels: 1, 2, 3, 4, 5\. Accepted"),
        ([[1, 2, 3, 4, 5, 6]], None, r"values other than labels: 1, 2, 3, 4, 5, \.\.\."),
        ([0.1, 0.7, 0.3], None, "Unknown label type: Y is continuous"),
        ([1, 2, 3], None, "Y is one label and needs two classes, got 3 classes"),
        (np.array([["a", 1]], dtype=object), None, "Y mixes values of types int, str"),
        (np.array([[1 + 2j, 0]]), None, "Complex data not supported: Y has dtype complex128"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), None, "dtype datetime64"),
        ([[1, np.inf]], None, "Y contains infinity"),
        ([[np.nan, np.nan]], None, "no observed entry: all 2 are missing"),
        ([[1, 0]], [[True]], r"mask must have the shape of the labels, \(1, 2\), got \(1, 1\)"),
        ([[1, 0]], [["a", "b"]], "mask must be boolean, True where a label is observed"),
        ([[1, 0], [0, 1]], [[True, False], [True]], "mask must be rectangular"),
        (
            *([[1, 0]], np.ma.array([[True, True]], mask=[[False, True]])),
            r"mask is a masked array with 1 masked values; pass mask.filled\(False\) if these labels are missing",
        ),
        (torch.tensor([[1 + 2j, 0]]), None, r"Y is a torch tensor of torch.complex64; pass its real part, Y.real"),
        (torch.eye(2).to_sparse(), None, "a torch tensor Y must be dense, got layout torch.sparse_coo; use a SciPy"),
        (torch.eye(2, device="meta"), None, "Y is a torch tensor on the device 'meta', which has no values"),
        ([[1, 0]], torch.ones((1, 2), dtype=torch.bool).to_sparse(), "a torch tensor mask must be dense"),
    ],
)
def test_other_forms_raise(Y, mask, message):
    with pytest.raises(ValueError, match=message):
        read_labels(Y, mask)


@given(arrays(np.int8, (5, 3), elements=st.sampled_from([-1, 0, 1])), st.floats(allow_nan=True))
def test_values_of_missing_entries_are_ignored(signs, value):
    mask = signs != 0
    if not mask.any():
        return
    Y = np.where(mask, (signs > 0).astype(float), value)
    np.testing.assert_array_equal(read_labels(Y, mask).signs, signs)


def test_labels_that_were_read_are_indexed_and_masked_like_arrays():
    Y = np.array([[1, 0, np.nan], [0, 1, 1], [np.nan, 0, 1]])
    labels = mark_trusted(read_labels(Y), [False, True, True])
    assert read_labels(labels) is labels
    assert labels.shape == (3, 3)
    for rows in ([2, 0], slice(1, None), np.array([True, False, True])):
        np.testing.assert_array_equal(labels[rows].signs, read_labels(Y[rows]).signs)
        np.testing.assert_array_equal(labels[rows].trusted, labels.trusted[rows])
    mask = np.array([[True, False, True], [True, True, False], [True, False, True]])
    np.testing.assert_array_equal(read_labels(labels, mask).signs, read_labels(Y, mask).signs)
    assert read_labels(labels, mask).signs.dtype == np.int8


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_sparse_labels_take_a_few_bytes_per_entry(dtype):
    Y = sp.csr_array((np.random.default_rng(0).random((500, 400)) < 0.02).astype(dtype))
    tracemalloc.start()
    read_labels(Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 6 * 500 * 400  # signs and masks of one byte, not eight


@pytest.mark.parametrize("one_dimensional", [False, True])
def test_blocks_are_read_with_the_encoding_of_all_blocks(one_dimensional):
    """Whether 1 alone means positive among -1 and 1, or whether it is one of two other classes, is known of all."""
    Y = np.array([[1.0, np.nan], [np.nan, np.nan], [1.0, 1.0], [-1.0, 1.0]])
    Y = Y[:, 0] if one_dimensional else Y
    blocks, whole = (Y[:1], Y[1:2], Y[2:]), read_labels(Y)
    form = sum(map(summarize_labels, blocks[1:]), summarize_labels(blocks[0])).form()
    np.testing.assert_array_equal(form.classes, whole.classes)
    assert (form.one_dimensional, form.names, form.shape) == (one_dimensional, None, (0, whole.shape[1]))
    np.testing.assert_array_equal(np.concatenate([read_signs(block, None, form) for block in blocks]), whole.signs)
    mask = Y > 0
    np.testing.assert_array_equal(read_signs(Y, mask, form), read_labels(Y, mask, classes=form.classes).signs)
    np.testing.assert_array_equal(summarize_labels(Y, mask).values, [1])
    with pytest.raises(ValueError, match="must have the same labels"):
        summarize_labels(Y) + summarize_labels(np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"must have shape .* got \(1, 1, 1\)"):
        summarize_labels([[[1]]])


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


def test_lists_of_tags_are_not_labels():
    for Y in (pd.Series([["rock"], ["pop", "jazz"]]), pd.DataFrame({"a": [["rock"], 1], "b": [1, 0]})):
        with pytest.raises(ValueError, match=r"labels must not be lists .*read_tags"):
            read_labels(Y)


def test_entries_of_masked_and_complex_arrays_raise():
    ones = np.ones((3, 2))
    masked = np.ma.array(ones, mask=[[False, True]] * 3)
    with pytest.raises(ValueError, match=r"entry_weight is a masked array with 3 masked values; pass .*filled\(0\)"):
        read_weights(masked, LABELS.signs)
    with pytest.raises(ValueError, match=r"trusted is a masked array with 3 masked values; pass .*filled\(False\)"):
        mark_trusted(LABELS, masked)
    with pytest.raises(ValueError, match="entry_weight must be an array of real numbers"):
        read_weights(ones + 1j, LABELS.signs)
    with pytest.raises(ValueError, match=r"entry_weight is a torch tensor of torch\.complex128"):
        read_weights(torch.from_numpy(ones + 1j), LABELS.signs)
    np.testing.assert_array_equal(read_weights(torch.ones((3, 2)).bfloat16(), LABELS.signs), LABELS.observed)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")  # a future version of torch removes it
def test_quantized_tensors_raise():
    with pytest.raises(ValueError, match=r"Y is a torch tensor of torch\.qint8; pass Y\.dequantize\(\)"):
        read_labels(torch.quantize_per_tensor(torch.eye(2), 1.0, 0, torch.qint8))
