"""The state of a review across updates of its queue."""

import pytest

from spmld.app.review import AnnotationStore, ReviewSession
from tests.app.review.cases import make_session


def test_an_entry_that_was_decided_before_the_queue_had_it_is_not_shown_again(tmp_path):
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        full = session.queue
        last = int(full.index[-1])
        session.decide(last, "present")
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        session = type(session)(full[:-1], store, session.samples, None, reviewer="ann")
        assert session.progress()["decided"] == 0
        session.on_update(lambda outcomes: full)
        session.update()
        assert len(session.queue) == len(full)
        assert session.progress()["decided"] == 1
        assert last not in session.upcoming(len(full))


def reviewers(path, names, **options):
    """Return a session of each reviewer, with a connection of its own to one file."""
    return [make_session(AnnotationStore(path), reviewer=name, **options) for name in names]


def close(sessions):
    for session in sessions:
        session.store.close()


@pytest.mark.parametrize("overlap", [False, True])
def test_conflicts_are_shown_again_until_they_are_resolved(tmp_path, overlap):
    ann, bob, eve = sessions = reviewers(tmp_path / "review.sqlite", ["ann", "bob", "eve"], overlap=overlap)
    ann.decide(5, "present")
    bob.decide(5, "absent")
    for session in sessions:
        assert session.describe(5)["answers"] == {"ann": "present", "bob": "absent"}
    assert ann.upcoming()[0] == 5  # first to the reviewer who did not know the other answer
    assert bob.upcoming()[0] != 5  # and not at once to the one who has just decided
    assert 5 in bob.upcoming(len(bob.queue))
    assert eve.upcoming()[0] == 5
    ann.decide(5, "present")  # again
    assert ann.upcoming()[0] != 5
    assert bob.upcoming()[0] == 5
    bob.decide(5, "absent")  # again: both have decided twice, and a third one is needed
    for session in (ann, bob):
        assert 5 not in session.upcoming(len(session.queue))
        assert eve.upcoming()[0] == 5
    eve.decide(5, "present")
    assert eve.describe(5)["answers"] == {}
    assert not any(5 in session.upcoming(len(session.queue)) for session in sessions)
    close(sessions)


def test_only_entries_before_the_first_open_one_of_a_random_sample_are_counted(tmp_path):
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        queue = session.queue[session.queue.kind.isin(["present", "absent"])][::-1]  # not by priority
        session = type(session)(queue, store, session.samples, None, reviewer="ann")
        entries, right = queue.index.tolist(), queue.given.tolist()
        wrong = [{"present": "absent", "absent": "present"}[answer] for answer in right]
        assert session.checked() == []
        assert session.upcoming(3) == entries[:3]
        session.decide(entries[5], wrong[5])  # such as in an earlier review, because it is unlikely
        assert session.checked() == []
        for entry, answer in zip(entries, [right[0], wrong[1], "unsure", "skip"], strict=False):
            session.decide(entry, answer)
        assert session.checked() == [False, True]
        session.decide(entries[4], right[4])
        assert session.checked() == [False, True, False, True]


def decide_and_update(session, entry):
    session.decide(entry, "present")
    session._thread.join(60)


@pytest.mark.parametrize("name", ["\udcff", "ann\0"])
def test_a_name_that_cannot_be_stored_is_an_error(tmp_path, name):
    with (
        AnnotationStore(tmp_path / "review.sqlite") as store,
        pytest.raises(ValueError, match=r"reviewer must be printable text, got '.*\\[ux]"),
    ):
        make_session(store, reviewer=name)


def test_an_update_that_fails_is_a_warning_and_the_order_stays(tmp_path):
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        first, second = session.queue.index.tolist()[:2]

        def fail(outcomes):
            raise ValueError("no label has two classes")

        session.on_update(fail, every=1)
        with pytest.warns(RuntimeWarning, match="the order of the entries is not updated: no label has two classes"):
            decide_and_update(session, first)
        assert session.upcoming() == [second]


class WatchedSession(ReviewSession):
    """A session whose shared state may only be used by the thread that holds its lock."""

    SHARED = ("queue", "_places", "_known_outcomes", "_known_states", "_n_new", "_make_queue")

    def __getattribute__(self, name):
        if name in WatchedSession.SHARED:
            assert self._lock._is_owned(), name
        return super().__getattribute__(name)

    def __setattr__(self, name, value):
        assert name not in WatchedSession.SHARED or self._lock._is_owned(), name
        super().__setattr__(name, value)


def test_shared_state_is_used_with_the_lock_and_a_new_queue_is_computed_without_it(tmp_path):
    with AnnotationStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        first, second = session.queue.index.tolist()[:2]
        queue, held = session.queue, []

        def make_queue(outcomes):
            held.append(session._lock._is_owned())
            return queue[2:]

        session.__class__ = WatchedSession
        session.on_update(make_queue)
        session.decide(first, "present")
        session.decide(second, "absent")
        session.update()
        assert held == [False]
        assert session.undo() == second
        assert session.progress()["decided"] == len(session.checked()) == 1
        assert session.upcoming() == session.show()[:1] == [second]
        assert session.waiting_for() == []
        assert session.describe(second)["entry"] == second
