"""The state of a review across updates of its queue."""

from dataclasses import replace

import numpy as np
import pytest

from spmld.review import AnnotationStore
from tests.review.cases import make_session


def test_an_entry_that_was_decided_before_the_queue_had_it_is_not_shown_again(tmp_path):
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        full = session.queue
        last = len(full) - 1
        place = session.samples.keys[int(full.samples[last])], full.label_names[int(full.labels[last])]
        session.decide(last, "present")
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        session = type(session)(first_entries(full, last), store, session.samples, None, reviewer="ann")
        assert session.progress()["decided"] == 0
        session.on_update(lambda outcomes: full)
        session.update()
        assert len(session.queue) == len(full)
        assert session.progress()["decided"] == 1
        assert session._position[place] not in session.upcoming(len(full))


def first_entries(queue, count):
    arrays = {name: value[:count] for name, value in vars(queue).items() if isinstance(value, np.ndarray)}
    return replace(queue, **arrays)


def reviewers(path, names, **options):
    """Return a session of each reviewer, with a connection of its own to one file."""
    return [make_session(AnnotationStore(path), reviewer=name, **options) for name in names]


def close(sessions):
    for session in sessions:
        session.store.close()


@pytest.mark.parametrize("names", [["ann", "bob"], ["ann", "bob", "eve", "tom"]])
def test_reviewers_at_the_same_time_decide_different_entries(tmp_path, names):
    sessions = reviewers(tmp_path / "review.sqlite", names)
    for _ in range(10):
        shown = [session.upcoming(2)[0] for session in sessions]  # all look at an entry before one of them decides
        assert len(set(shown)) == len(names)
        for session, position in zip(sessions, shown, strict=True):
            session.decide(position, "present")
    decided = [annotation.place for annotation in sessions[0].store.annotations()]
    assert len(decided) == len(set(decided)) == 10 * len(names)
    # The work is done in the order of the queue, not in halves of it.
    best = np.argsort(-sessions[0].queue.gain, kind="stable")[: len(decided)]
    assert {sessions[0]._place(int(position)) for position in best} >= set(decided[: -2 * len(names)])
    close(sessions)


def test_the_prefetched_entry_is_the_next_one(tmp_path):
    ann, bob = sessions = reviewers(tmp_path / "review.sqlite", ["ann", "bob"])
    current, following = ann.upcoming(2)
    bob.upcoming(2)
    ann.decide(current, "absent")
    assert ann.upcoming(2)[0] == following
    assert ann.undo() == current
    assert ann.upcoming(2, first=current)[0] == current
    assert current not in bob.upcoming(2)
    close(sessions)


def test_reserved_entries_are_free_after_a_time_and_at_the_end(tmp_path):
    ann, bob = sessions = reviewers(tmp_path / "review.sqlite", ["ann", "bob"])
    first = ann.upcoming(2)
    assert not set(first) & set(bob.upcoming(2))
    bob.release()
    ann.release()
    assert bob.upcoming(2) == first
    bob.lease = -1.0  # has passed already
    bob.upcoming(2)
    assert ann.upcoming(2) == first
    close(sessions)


def test_a_reviewer_is_told_that_others_look_at_the_last_entries(tmp_path):
    ann, bob = sessions = reviewers(tmp_path / "review.sqlite", ["ann", "bob"], n=2, l=1)
    assert len(ann.upcoming(2)) == len(ann.queue)
    assert bob.upcoming(2) == []
    assert bob.progress()["decided"] < bob.progress()["entries"]
    close(sessions)


def test_overlapping_reviewers_get_the_same_entries(tmp_path):
    ann, bob = sessions = reviewers(tmp_path / "review.sqlite", ["ann", "bob"], overlap=True)
    assert ann.upcoming(2) == bob.upcoming(2)
    close(sessions)


@pytest.mark.parametrize("overlap", [False, True])
def test_conflicts_are_shown_again_until_they_are_resolved(tmp_path, overlap):
    ann, bob, eve = sessions = reviewers(tmp_path / "review.sqlite", ["ann", "bob", "eve"], overlap=overlap)
    ann.decide(5, "present")
    bob.decide(5, "absent")
    for session in sessions:
        assert session.progress()["conflicts"] == 1
        assert session.describe(5)["answers"] == {"ann": "present", "bob": "absent"}
    assert ann.upcoming()[0] == 5  # first to the reviewer who did not know the other answer
    ann.release()
    assert bob.upcoming()[0] != 5  # and not at once to the one who has just decided
    assert 5 in bob.upcoming(len(bob.queue))
    bob.release()
    assert eve.upcoming()[0] == 5
    eve.release()
    ann.decide(5, "present")  # again
    assert ann.upcoming()[0] != 5
    ann.release()
    assert bob.upcoming()[0] == 5
    bob.decide(5, "absent")  # again: both have decided twice, and a third one is needed
    for session in (ann, bob):
        assert 5 not in session.upcoming(len(session.queue))
        session.release()
    assert eve.upcoming()[0] == 5
    eve.decide(5, "present")
    assert eve.progress()["conflicts"] == 0
    assert eve.describe(5)["answers"] == {}
    assert not any(5 in session.upcoming(len(session.queue)) or session.release() for session in sessions)
    close(sessions)


def test_only_entries_before_the_first_open_one_of_a_random_sample_are_counted(tmp_path):
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        observed = np.flatnonzero(session.queue.kinds == 0)[::-1]  # not by gain
        arrays = {name: value[observed] for name, value in vars(session.queue).items() if isinstance(value, np.ndarray)}
        queue = replace(session.queue, **arrays, is_random=True)
        session = type(session)(queue, store, session.samples, None, reviewer="ann")
        assert session.checked() == []
        assert session.upcoming(3) == [0, 1, 2]
        answers = ["absent", "present"]
        right, wrong = (lambda i: answers[queue[i].given]), (lambda i: answers[1 - queue[i].given])
        session.decide(5, wrong(5))  # such as in an earlier review, because it is suspicious
        assert session.checked() == []
        for position, answer in enumerate([right(0), wrong(1), "unsure", "skip"]):
            session.decide(position, answer)
        assert session.checked() == [False, True]
        session.decide(4, right(4))
        assert session.checked() == [False, True, False, True]
