"""Hiding and corrupting labels: exact fractions, and nothing else changes."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spmld.labels import corrupt_labels, hide_labels


@pytest.fixture(scope="module")
def Y():
    rng = np.random.default_rng(0)
    return (rng.random((200, 6)) < np.linspace(0.05, 0.6, 6)).astype(int)


@given(fraction=st.floats(0.01, 1.0), seed=st.integers(0, 5))
def test_stratified_keeps_the_same_fraction_of_both_classes_of_each_label(fraction, seed):
    Y = (np.random.default_rng(seed).random((60, 4)) < [0.1, 0.3, 0.5, 0.0]).astype(int)
    kept = hide_labels(Y, observed_fraction=fraction, random_state=seed)
    for label, column in zip(Y.T, kept.T, strict=True):
        for value in (0, 1):
            assert (column == value).sum() == math.ceil(fraction * (label == value).sum() - 1e-9)
    observed = ~np.isnan(kept)
    np.testing.assert_array_equal(kept[observed], Y[observed])


@pytest.mark.parametrize(("fraction", "kept"), [(0.07, 7), (0.14, 14), (0.28, 28), (0.55, 55), (0.551, 56)])
def test_fractions_of_a_hundred_are_not_lost_to_rounding(fraction, kept):
    Y = np.repeat([[1], [0]], 100, axis=0)
    hidden = hide_labels(Y, observed_fraction=fraction, random_state=0)
    assert (hidden == 1).sum() == (hidden == 0).sum() == kept


def test_uniform_keeps_a_fraction_of_all_entries(Y):
    kept = hide_labels(Y, observed_fraction=0.25, kind="uniform", random_state=0)
    observed = ~np.isnan(kept)
    assert observed.sum() == math.ceil(0.25 * Y.size)
    np.testing.assert_array_equal(kept[observed], Y[observed])
    per_label = [(observed[:, i] & (Y[:, i] == 1)).sum() / (Y[:, i] == 1).sum() for i in range(6)]
    assert np.std(per_label) > 0.01  # not stratified


def test_single_positive_keeps_one_positive_of_each_sample(Y):
    kept = hide_labels(Y, kind="single_positive", random_state=0)
    np.testing.assert_array_equal((kept == 1).sum(axis=1), Y.any(axis=1))
    assert not (kept == 0).any()
    assert (Y[kept == 1] == 1).all()
    np.testing.assert_array_equal(hide_labels(Y, 0.9, kind="single_positive", random_state=0), kept)


def test_the_single_positive_is_chosen_uniformly_among_the_positives():
    Y = np.tile([1, 0, 1, 1], (30_000, 1))
    counts = np.nansum(hide_labels(Y, kind="single_positive", random_state=0), axis=0)
    np.testing.assert_allclose(counts, [10_000, 0, 10_000, 10_000], atol=400)  # five standard deviations


def test_missing_entries_stay_missing_and_names_are_kept(Y):
    labels = pd.DataFrame(Y.astype(float), columns=list("abcdef"), index=np.arange(1000, 1200))
    labels.iloc[:50] = np.nan
    for result in (hide_labels(labels, 0.5, random_state=0), corrupt_labels(labels, "flip", 0.1, random_state=0)):
        assert list(result.columns) == list("abcdef")
        assert result.index[0] == 1000
        assert result.iloc[:50].isna().all().all()
    assert corrupt_labels(labels, "flip", 0.1, random_state=0).iloc[50:].notna().all().all()
    assert (corrupt_labels(labels, "flip", 0.1, random_state=0) != labels).iloc[50:].sum().sum() == 90


def test_permuted_samples_get_the_labels_of_others():
    Y = np.eye(40, dtype=int)  # all samples differ
    wrong = corrupt_labels(Y, "permute", 0.3, random_state=0)
    changed = (wrong != Y).any(axis=1)
    assert changed.sum() == 12
    np.testing.assert_array_equal(np.sort(wrong.argmax(axis=1)), np.arange(40))  # labels moved, but none was lost


def test_swapped_positives_move_within_their_sample(Y):
    wrong = corrupt_labels(Y, "swap", 0.4, random_state=0)
    np.testing.assert_array_equal(wrong.sum(axis=1), Y.sum(axis=1))
    full = Y.all(axis=1)
    n_moved = ((Y == 1) & (wrong == 0)).sum()
    assert n_moved == pytest.approx(0.4 * Y.sum(), abs=0.02 * Y.sum())
    assert ((Y == 0) & (wrong == 1)).sum() == n_moved
    np.testing.assert_array_equal(wrong[full], Y[full])


def test_dropped_positives_become_negative(Y):
    wrong = corrupt_labels(Y, "drop", 0.4, random_state=0)
    assert ((Y == 1) & (wrong == 0)).sum() == round(0.4 * Y.sum())
    assert not ((Y == 0) & (wrong == 1)).any()


@pytest.mark.parametrize("kind", ["permute", "swap", "drop", "flip"])
def test_same_seed_same_result_and_a_rate_of_zero_changes_nothing(kind, Y):
    one, two = (corrupt_labels(Y, kind, 0.2, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (one != Y).any()
    np.testing.assert_array_equal(corrupt_labels(Y, kind, 0.0, random_state=5), Y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda Y: hide_labels(Y, observed_fraction=0), r"observed_fraction must be in \(0, 1\], got 0"),
        (lambda Y: hide_labels(Y, observed_fraction=1.5), r"observed_fraction must be in \(0, 1\], got 1.5"),
        (lambda Y: hide_labels(Y, kind="some"), 'kind must be "stratified", "uniform" or "single_positive", got'),
        (lambda Y: corrupt_labels(Y, "flip", -0.1), r"rate must be in \[0, 1\], got -0.1"),
        (
            lambda Y: corrupt_labels(Y[:10], "permute", 0.1),
            "needs at least two samples to exchange, got rate=0.1 of 10",
        ),
        (lambda Y: corrupt_labels(Y, "shuffle", 0.1), 'kind must be "permute", "swap", "drop" or "flip", got'),
    ],
)
def test_invalid_arguments_raise(call, message, Y):
    with pytest.raises(ValueError, match=message):
        call(Y)
