"""The queue: expected gains, kinds and order."""

from dataclasses import replace

import numpy as np
import pytest

from spmld.audit import LabelIssues, find_label_issues
from spmld.audit.error_scores import ErrorScores
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels
from spmld.review import make_queue, sample_queue
from spmld.review.queue import expected_gain, true_probability


def random_issues(n=30, l=5, seed=0):
    rng = np.random.default_rng(seed)
    signs = rng.integers(-1, 2, size=(n, l))
    signs[:4] = 0
    errors = np.where(signs != 0, rng.normal(size=(n, l)), np.nan)
    scores = ErrorScores(rng.normal(size=(n, l)), errors, np.zeros((l, 2)), (0.0, 0.0), False, None)
    return LabelIssues(signs, np.array([0, 1]), scores, list("abcde")[:l], list(range(n)))


def test_gain_is_the_expected_number_of_corrected_labels():
    rng = np.random.default_rng(0)
    p, given = rng.random(50), rng.choice([0, 1, np.nan], size=50)
    current = np.where(np.isnan(given), p > 0.5, given)
    expected = sum(weight * (truth != current) for truth, weight in ((1, p), (0, 1 - p)))
    np.testing.assert_allclose(expected_gain(p, given), expected)


def test_gain_of_observed_entries_is_the_error_probability_of_the_audit():
    issues = random_issues()
    gains = {(e.sample, e.label): e.gain for e in make_queue(issues, min_gain=0) if e.kind == "suspicious"}
    observed = list(zip(*np.nonzero(issues.signs), strict=True))
    assert set(gains) == {(int(i), int(j)) for i, j in observed}
    for i, j in observed:
        assert gains[i, j] == pytest.approx(issues.error_probability[i, j])


def test_kinds_partition_the_entries_and_gains_descend():
    issues = random_issues()
    queue = make_queue(issues, min_gain=0)
    assert len(queue) == issues.signs.size
    assert (np.diff(queue.gain) <= 0).all()
    for entry in queue:
        sign = issues.signs[entry.sample, entry.label]
        kind = "suspicious" if sign else "missing" if issues.signs[entry.sample].any() else "unlabeled"
        assert (entry.kind, entry.given) == (kind, {1: 1, -1: 0, 0: None}[int(sign)])
    for kind, count in queue.counts().items():
        assert [e.kind for e in make_queue(issues, kinds=[kind], min_gain=0)] == [kind] * count
    assert [e.gain for e in make_queue(issues, max_entries=7)] == queue.gain[:7].tolist()


def test_permuting_samples_and_labels_permutes_the_queue():
    issues, rng = random_issues(), np.random.default_rng(1)
    rows, columns = rng.permutation(30), rng.permutation(5)
    part = np.ix_(rows, columns)
    names = [issues.label_names[j] for j in columns]
    errors = replace(issues.errors, log_odds=issues.errors.log_odds[part], error_log_odds=issues.error_log_odds[part])
    moved = make_queue(LabelIssues(issues.signs[part], issues.classes, errors, names, rows.tolist()))
    original = make_queue(issues)
    assert rows[moved.samples].tolist() == original.samples.tolist()
    assert columns[moved.labels].tolist() == original.labels.tolist()


def test_verified_entries_are_not_in_the_queue():
    data = make_planted(200, 8, 4, noise=0.1, random_state=0)
    Y = corrupt_labels(data.Y, "flip", 0.05, random_state=0)
    verified = np.arange(200) < 60
    queue = make_queue(find_label_issues(None, data.X, Y, trusted=verified, random_state=0), min_gain=0)
    assert len(queue) > 0
    assert not verified[queue.samples].any()


def test_planted_errors_come_first():
    data = make_planted(600, n_groups=1, noise=0.1, random_state=0)
    Y = hide_labels(corrupt_labels(data.Y, "flip", 0.03, random_state=0), 0.8, random_state=0)
    issues = find_label_issues(None, data.X, Y, random_state=0)
    queue = make_queue(issues)
    entries = [entry for entry in queue if entry.kind == "suspicious"][:50]
    wrong = [data.Y[entry.sample, entry.label] != entry.given for entry in entries]
    assert np.mean(wrong) > 0.8
    # Over all observed entries, the gains add up to the upper end of the number of errors.
    observed = make_queue(issues, kinds=["suspicious"], min_gain=0)
    n_wrong = ((data.Y != Y) & ~np.isnan(Y)).sum()
    assert n_wrong < observed.gain.sum() <= issues.total_range[1] * (1 + 1e-9)


def test_probabilities_of_missing_entries_are_those_of_the_model():
    issues = random_issues()
    probabilities = np.random.default_rng(2).random(issues.signs.shape)
    changed = np.where(issues.signs != 0, 1 - probabilities, probabilities)
    for p in (probabilities, changed):  # values at observed entries are ignored
        combined = true_probability(issues, p)
        np.testing.assert_array_equal(combined[issues.signs == 0], probabilities[issues.signs == 0])
        np.testing.assert_allclose(combined[issues.signs < 0], issues.error_probability[issues.signs < 0])


def test_invalid_arguments():
    with pytest.raises(ValueError, match="kinds must be among suspicious, missing, unlabeled, got 'odd'"):
        make_queue(random_issues(), kinds=["odd"])
    with pytest.raises(ValueError, match="probabilities must have the shape of the labels"):
        make_queue(random_issues(), np.zeros((2, 2)))


def test_merging_keeps_positions_and_decided_entries_and_takes_the_rest_from_the_new_queue():
    old = make_queue(random_issues(seed=0), max_entries=60)
    new = make_queue(random_issues(seed=1), max_entries=60)
    closed = np.random.default_rng(0).random(60) < 0.3
    merged = old.merge(new, closed)
    values = {(e.sample, e.label): (e.probability, e.gain) for e in new}
    for i, (before, after) in enumerate(zip(old, merged, strict=False)):
        place = before.sample, before.label
        assert (after.sample, after.label) == place
        if closed[i]:
            assert after == before
        else:
            assert (after.probability, after.gain) == values.get(place, (before.probability, 0.0))
    places = [(e.sample, e.label) for e in merged]
    assert set(places) == {(e.sample, e.label) for e in [*old, *new]}
    assert len(set(places)) == len(places)


def test_suspicious_labels_are_reviewed_although_the_audit_estimates_no_noise():
    rng = np.random.default_rng(0)
    Y = rng.random((240, 3)) < 0.4
    X = np.repeat(Y, 4, axis=1) * rng.poisson(0.75, size=(240, 12)) + (rng.random((240, 12)) < 0.08)
    wrong = rng.random(Y.shape) < 0.05
    issues = find_label_issues(None, X, (Y ^ wrong).astype(int), random_state=0)
    queue = make_queue(issues, max_entries=30)
    assert np.mean([wrong[entry.sample, entry.label] for entry in queue]) > 0.5


def test_a_random_sample_has_observed_unverified_entries_in_random_order():
    verified = np.random.default_rng(3).random((30, 5)) < 0.3
    issues = random_issues().mark_verified(verified)
    available = (issues.signs != 0) & ~verified
    n = int(available.sum())
    queue = sample_queue(issues, 1000, random_state=0)
    places = [(entry.sample, entry.label) for entry in queue]
    assert set(places) == {(int(i), int(j)) for i, j in zip(*np.nonzero(available), strict=True)}
    assert len(places) == n
    assert all(entry.given == int(issues.signs[entry.sample, entry.label] > 0) for entry in queue)
    assert queue.order().tolist() == list(range(n))
    assert abs(np.corrcoef(queue.gain, np.arange(n))[0, 1]) < 0.4  # not by gain
    first = sample_queue(issues, 10, random_state=0)
    assert [(entry.sample, entry.label) for entry in first] == places[:10]
    assert [(entry.sample, entry.label) for entry in sample_queue(issues, 10, random_state=1)] != places[:10]
