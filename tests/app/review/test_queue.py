"""The queue: priorities, kinds and order."""

from dataclasses import replace

import numpy as np
import pytest

from spmld.app.review import make_queue, sample_queue
from spmld.app.review.queue import merge_queues, opposite_probability, present_probability
from spmld.audit import find_label_issues
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels
from tests.app.review.cases import make_issues


def random_issues(n=30, l=5, seed=0):
    rng = np.random.default_rng(seed)
    signs = rng.integers(-1, 2, size=(n, l))
    signs[:4] = 0
    quality = np.where(signs != 0, rng.normal(size=(n, l)), np.nan)
    return make_issues(rng.normal(size=(n, l)), quality, signs, list("abcde")[:l])


def test_the_opposite_probability_is_that_of_the_value_that_is_not_the_current_one():
    rng = np.random.default_rng(0)
    p, signs = rng.random(50), rng.choice([-1, 0, 1], size=50)
    current = np.where(signs == 0, p > 0.5, signs > 0)
    expected = sum(weight * (truth != current) for truth, weight in ((1, p), (0, 1 - p)))
    np.testing.assert_allclose(opposite_probability(p, signs), expected)


@pytest.mark.parametrize("kind", ["present", "absent"])
def test_observed_entries_are_in_the_order_of_the_audit(kind):
    issues = random_issues()
    queue = make_queue(issues, kinds=[kind], min_priority=0)
    assert queue.index.tolist() == issues.order(kind).tolist()
    np.testing.assert_allclose(queue.priority, 1 - issues.label_quality.ravel()[queue.index])


def test_kinds_partition_the_entries_and_priorities_descend():
    issues = random_issues()
    queue = make_queue(issues, min_priority=0)
    assert len(queue) == issues.signs.size
    assert (np.diff(queue.priority) <= 0).all()
    for entry in queue.itertuples():
        sign = issues.signs[entry.sample, issues.label_names.index(entry.label)]
        assert sign == issues.signs.flat[entry.Index]
        given = {1: "present", -1: "absent", 0: "missing"}[int(sign)]
        kind = given if issues.signs[entry.sample].any() else "unlabeled"
        assert (entry.kind, entry.given) == (kind, given)
    for kind, count in queue.kind.value_counts().items():
        assert make_queue(issues, kinds=[kind], min_priority=0).kind.tolist() == [kind] * count
    assert make_queue(issues, max_entries=7).equals(queue[:7])


def test_permuting_samples_and_labels_permutes_the_queue():
    issues, rng = random_issues(), np.random.default_rng(1)
    rows, columns = rng.permutation(30), rng.permutation(5)
    part = np.ix_(rows, columns)
    names = [issues.label_names[j] for j in columns]
    moved = make_queue(make_issues(issues.log_odds[part], issues.quality_log_odds[part], issues.signs[part], names))
    original = make_queue(issues)
    assert rows[moved["sample"]].tolist() == original["sample"].tolist()
    assert moved.label.tolist() == original.label.tolist()


def test_priorities_of_observed_entries_add_up_to_at_most_the_errors_that_features_could_reveal():
    issues = random_issues()
    scaled = make_queue(replace(issues, total_range=(0.0, 7.0)), min_priority=0)
    plain = make_queue(issues, min_priority=0)
    observed = plain.given != "missing"
    assert scaled.priority[scaled.given != "missing"].sum() == pytest.approx(7)
    ratio = scaled.priority[plain.index] / plain.priority
    assert (ratio[~observed] == 1).all()
    np.testing.assert_allclose(ratio[observed], 7 / plain.priority[observed].sum())


def test_verified_entries_are_not_in_the_queue():
    data = make_planted(200, 8, 4, noise=0.1, random_state=0)
    Y = corrupt_labels(data.Y, "flip", 0.05, random_state=0)
    verified = np.arange(200) < 60
    queue = make_queue(find_label_issues(None, data.X, Y, trusted=verified, random_state=0), min_priority=0)
    assert len(queue) > 0
    assert not verified[queue["sample"]].any()


def test_planted_errors_come_first():
    data = make_planted(600, n_groups=1, noise=0.1, random_state=0)
    Y = hide_labels(corrupt_labels(data.Y, "flip", 0.03, random_state=0), 0.8, random_state=0)
    issues = find_label_issues(None, data.X, Y, random_state=0)
    first = make_queue(issues, kinds=["present", "absent"], max_entries=50)
    assert np.mean((data.Y.ravel()[first.index] == 1) != (first.given == "present")) > 0.8


def test_probabilities_of_missing_entries_are_those_of_the_model():
    issues = random_issues()
    probabilities = np.random.default_rng(2).random(issues.signs.shape)
    changed = np.where(issues.signs != 0, 1 - probabilities, probabilities)
    for p in (probabilities, changed):  # values at observed entries are ignored
        combined = present_probability(issues, p)
        np.testing.assert_array_equal(combined[issues.signs == 0], probabilities[issues.signs == 0])
        np.testing.assert_allclose(combined[issues.signs > 0], issues.label_quality[issues.signs > 0])


def test_invalid_arguments():
    with pytest.raises(ValueError, match="kinds must be among present, absent, missing, unlabeled, got 'odd'"):
        make_queue(random_issues(), kinds=["odd"])
    with pytest.raises(ValueError, match="probabilities must have the shape of the labels"):
        make_queue(random_issues(), np.zeros((2, 2)))


def test_merging_keeps_decided_entries_and_takes_the_rest_from_the_new_queue():
    old = make_queue(random_issues(seed=0), max_entries=60)
    new = make_queue(random_issues(seed=1), max_entries=60)
    closed = np.random.default_rng(0).random(60) < 0.3
    merged = merge_queues(old, new, closed)
    assert (np.diff(merged.priority) <= 0).all()
    assert merged.index.is_unique
    assert set(merged.index) == set(old.index) | set(new.index)
    decided = old.index[closed]
    assert merged.loc[decided].equals(old.loc[decided])
    updated = new.index.difference(decided)
    assert merged.loc[updated].equals(new.loc[updated])
    gone = old.index.difference(decided).difference(new.index)
    assert merged.loc[gone].equals(old.loc[gone].assign(priority=0.0))


def test_unlikely_labels_are_reviewed_although_the_audit_estimates_no_noise():
    rng = np.random.default_rng(0)
    Y = rng.random((240, 3)) < 0.4
    X = np.repeat(Y, 4, axis=1) * rng.poisson(0.75, size=(240, 12)) + (rng.random((240, 12)) < 0.08)
    wrong = rng.random(Y.shape) < 0.05
    issues = find_label_issues(None, X, (Y ^ wrong).astype(int), random_state=0)
    queue = make_queue(issues, max_entries=30)
    assert wrong.ravel()[queue.index].mean() > 0.5


def test_a_random_sample_has_observed_unverified_entries_in_random_order():
    verified = np.random.default_rng(3).random((30, 5)) < 0.3
    issues = random_issues().mark_verified(verified)
    available = (issues.signs != 0) & ~verified
    queue = sample_queue(issues, 1000, random_state=0)
    assert sorted(queue.index) == np.flatnonzero(available).tolist()
    assert ((queue.given == "present") == (issues.signs.ravel()[queue.index] > 0)).all()
    assert set(queue.kind) == {"random"}
    assert abs(np.corrcoef(queue.priority, np.arange(len(queue)))[0, 1]) < 0.4  # not by priority
    assert sample_queue(issues, 10, random_state=0).equals(queue[:10])
    assert sample_queue(issues, 10, random_state=1).index.tolist() != queue.index[:10].tolist()
