"""The planted data set has the documented properties."""

import numpy as np
import pytest

from spmld.datasets import make_planted
from spmld.labels import hide_labels


def test_scores_have_low_rank_in_each_group_and_full_model_is_returned():
    data = make_planted(400, 15, 9, n_components=3, n_groups=2, random_state=0)
    np.testing.assert_allclose(data.latent_labels, data.X @ data.feature_weights)
    for m in range(2):
        rows = data.groups == m
        assert np.linalg.matrix_rank(data.scores[rows]) == 3
        np.testing.assert_allclose(data.scores[rows], data.latent_labels[rows] @ data.label_factors[m].T)


def test_frequencies_are_met_and_long_tailed():
    data = make_planted(1000, 10, 8, random_state=0)
    np.testing.assert_allclose(data.Y.mean(axis=0), data.frequencies, atol=1e-3)
    assert data.frequencies[0] == pytest.approx(0.4)
    assert data.frequencies[-1] == pytest.approx(0.03)


def test_without_noise_labels_are_thresholded_scores():
    data = make_planted(300, 10, 5, noise=0.0, random_state=0)
    for score, label in zip(data.scores.T, data.Y.T, strict=True):
        assert score[label == 1].min() > score[label == 0].max()


def test_groups_differ_only_if_local_is_positive():
    same, other = (make_planted(50, 10, 6, local=local, random_state=0) for local in (0.0, 1.0))
    np.testing.assert_array_equal(same.label_factors[0], same.label_factors[1])
    assert np.abs(other.label_correlation[0] - other.label_correlation[1]).max() > 0.1


def test_planted_correlation_is_that_of_the_scores():
    data = make_planted(20000, 10, 5, n_groups=1, random_state=0)
    np.testing.assert_allclose(data.label_correlation[0], np.corrcoef(data.scores.T), atol=0.03)


def test_hidden_labels_are_missing_in_y_and_kept_in_y_true():
    complete, data = make_planted(random_state=3), make_planted(observed_fraction=0.4, random_state=3)
    assert complete.Y is complete.Y_true
    np.testing.assert_array_equal(data.X, complete.X)
    np.testing.assert_array_equal(data.Y_true, complete.Y)
    np.testing.assert_array_equal(data.Y, hide_labels(complete.Y, 0.4, random_state=3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "'n_samples' parameter of make_planted must be an int in the range .1, inf.. Got 0"),
        ({"n_groups": 0}, "'n_groups' parameter"),
        (
            {"observed_fraction": 0},
            "'observed_fraction' parameter of make_planted must be a float in the range .0.0, 1.0.",
        ),
        ({"noise": -1}, "'noise' parameter of make_planted must be a float in the range .0.0, inf.. Got -1"),
        ({"frequencies": [0.5]}, "frequencies must be 12 numbers between 0 and 1"),
        ({"n_labels": 2, "frequencies": [0.5, 1.0]}, "frequencies must be 2 numbers"),
    ],
)
def test_invalid_arguments_raise(options, message):
    with pytest.raises(ValueError, match=message):
        make_planted(**options)
