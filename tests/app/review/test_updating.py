"""The audit after a review: annotations are used, and the rest of the order improves."""

import numpy as np
import pytest

from spmld.app.review import make_queue
from spmld.app.review.queue import update_issues
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels


@pytest.fixture(scope="module")
def case():
    data = make_planted(500, 12, 6, n_groups=1, noise=0.1, random_state=0)
    Y = corrupt_labels(data.Y, "swap", 0.4, random_state=0)
    return data, Y, find_label_issues(None, data.X, Y, random_state=0)


def decide(issues, truth, count):
    annotations = np.zeros(truth.shape, dtype=int)
    entries = make_queue(issues, max_entries=count).index.to_numpy()
    annotations.flat[entries] = 2 * truth.flat[entries] - 1
    return annotations


def test_decided_entries_are_corrected_and_never_shown_again(case):
    data, Y, issues = case
    annotations = decide(issues, data.Y, 150)
    updated = update_issues(issues, data.X, annotations, random_state=0)
    decided = annotations != 0
    assert (updated.signs[decided] == annotations[decided]).all()
    assert (updated.signs[~decided] == 2 * Y[~decided] - 1).all()
    assert not decided.ravel()[make_queue(updated, min_priority=0).index].any()
    assert (updated.label_quality[decided] == 1).all()


def test_the_rest_of_the_queue_improves(case):
    data, Y, issues = case
    annotations = decide(issues, data.Y, 300)
    decided, wrong = annotations != 0, data.Y != Y
    updated = update_issues(issues, data.X, annotations, random_state=0)

    def n_found(result):
        order = [place for place in result.order() if not decided.flat[place]]
        return wrong.flat[order[:300]].sum()

    assert n_found(updated) > n_found(issues)


def test_the_first_negative_of_a_positive_only_label_does_not_make_all_others_positive():
    data = make_planted(300, 8, 3, noise=0.1, random_state=0)
    Y = np.where(data.Y == 1, 1.0, np.nan)
    with pytest.warns(UserWarning, match="Missing entries are used as negatives"):
        issues = find_label_issues(None, data.X, Y, random_state=0)
    annotations = np.zeros(Y.shape, dtype=int)
    for j in range(3):
        annotations[np.flatnonzero(data.Y[:, j] == 0)[0], j] = -1
    updated = update_issues(issues, data.X, annotations, random_state=0)
    assert (updated.probabilities.mean(axis=0) < 2 * data.Y.mean(axis=0)).all()


def test_shapes_must_agree(case):
    data, _, issues = case
    with pytest.raises(ValueError, match="annotations must have the shape of the labels"):
        update_issues(issues, data.X, np.zeros((2, 2)))
