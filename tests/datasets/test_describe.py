"""Statistics agree with counts by hand, with and without missing labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld.datasets import Dataset, describe, make_planted
from spmld.labels import hide_labels

Y = [[1, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]]


def test_counts_by_hand():
    stats = describe(Dataset([[1, 0], [0, 0], [2, 0], [0, 3]], Y, label_names=["a", "b", "c"], train=[0], test=[1]))
    sizes = stats.n_samples, stats.n_train, stats.n_test, stats.n_features, stats.n_labels
    assert sizes == (4, 1, 1, 2, 3)
    assert stats.feature_density == 3 / 8
    assert stats.cardinality == 5 / 4
    assert stats.density == 5 / 12
    assert stats.label_sets == 3
    assert stats.missing == 0
    np.testing.assert_array_equal(stats.frequencies, [3 / 4, 2 / 4, 0])
    np.testing.assert_array_equal(stats.imbalance, [1, 1.5, np.inf])
    assert stats.mean_imbalance == 1.25
    np.testing.assert_array_equal(stats.positives_per_sample, [1, 2, 1, 1])
    assert [row["label"] for row in stats.per_label()] == ["a", "b", "c"]


def test_missing_entries_are_not_counted():
    hidden = np.array(Y, dtype=float)
    hidden[2:, 0] = hidden[:, 2] = np.nan
    stats = describe(Dataset(sp.csr_array(np.eye(4)), hidden))
    np.testing.assert_array_equal(stats.frequencies, [1, 0.5, np.nan])
    np.testing.assert_array_equal(stats.imbalance, [1, 2, np.nan])
    assert {row["label"]: row["missing"] for row in stats.per_label()} == {"y0": 0.5, "y1": 0, "y2": 1}
    assert stats.missing == 0.5
    assert stats.cardinality == 1.5
    assert stats.per_label()[-1]["label"] == "y2"
    assert "missing                   0.5" in str(stats)


def test_hiding_labels_at_random_hardly_changes_the_cardinality():
    data = make_planted(n_samples=4000, random_state=0)
    whole = describe(Dataset(data.X, data.Y))
    part = describe(Dataset(data.X, hide_labels(data.Y, observed_fraction=0.3, random_state=0)))
    assert whole.cardinality == pytest.approx(data.Y.sum(axis=1).mean())
    assert part.cardinality == pytest.approx(whole.cardinality, rel=0.02)
    assert part.missing == pytest.approx(0.7, abs=0.01)
    assert part.positives_per_sample.mean() < 0.4 * whole.cardinality


def test_permuting_labels_permutes_the_statistics():
    data = make_planted(n_samples=200, random_state=0)
    order = np.random.default_rng(0).permutation(data.Y.shape[1])
    one, other = describe(Dataset(data.X, data.Y)), describe(Dataset(data.X, data.Y[:, order]))
    np.testing.assert_array_equal(one.imbalance[order], other.imbalance)
    assert one.cardinality == pytest.approx(other.cardinality)
    assert one.label_sets == other.label_sets


def test_a_data_set_without_positives_can_be_described():
    stats = describe(Dataset([[1.0], [2.0]], [[0, 0], [0, None]]))
    assert stats.cardinality == 0
    assert np.isinf(stats.imbalance).all()
    assert np.isnan(stats.mean_imbalance)
