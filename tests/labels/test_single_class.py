"""Labels without observed entries or of one class."""

import warnings

import numpy as np
import pytest

from spmld.labels import LabelWarning, read_labels
from spmld.labels.single_class import (
    find_single_class,
    list_labels,
    single_class_messages,
    warn_of_metrics,
)

SIGNS = np.array([[0, -1, -1, 1, 1, 1], [0, -1, 0, 1, 0, -1]])
KINDS = ["unobserved", "negative", "negative", "positive", "positive_only", None]


def test_every_label_has_at_most_one_kind():
    single = find_single_class(SIGNS)._asdict()
    for j, kind in enumerate(KINDS):
        assert [name for name, chosen in single.items() if chosen[j]] == ([kind] if kind else [])


def test_order_of_samples_and_labels_is_irrelevant():
    order = np.array([5, 2, 0, 4, 1, 3])
    for chosen, permuted in zip(find_single_class(SIGNS), find_single_class(SIGNS[::-1, order]), strict=True):
        np.testing.assert_array_equal(permuted, chosen[order])


def test_messages_name_each_label_that_cannot_be_learned_once():
    labels = read_labels(np.where(SIGNS == 0, np.nan, SIGNS > 0))
    messages = single_class_messages(labels, find_single_class(labels.signs))
    assert [message.split(":")[0] for message in messages] == ["Label 0", "Labels 1, 2", "Label 3"]
    assert single_class_messages(labels, find_single_class(np.array([[1, -1], [-1, 1]]))) == []


def test_more_than_ten_labels_are_counted():
    labels = read_labels(np.ones((2, 12)))
    assert list_labels(labels, np.arange(12) > 0) == "Labels 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1 more"


def test_metrics_warn_about_labels_without_negatives_only():
    with pytest.warns(LabelWarning, match="Labels 0, 2: no observed negative"):
        warn_of_metrics(read_labels([[1, 0, 1], [1, 0, None], [1, 1, 1]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_metrics(read_labels([[1, 0, None], [0, 0, None]]))
