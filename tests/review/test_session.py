"""The state of a review across updates of its queue."""

from dataclasses import replace

import numpy as np

from spmld.review import DecisionStore
from tests.review.cases import make_session


def test_an_entry_that_was_decided_before_the_queue_had_it_is_not_shown_again(tmp_path):
    with DecisionStore(tmp_path / "review.sqlite") as store:
        session = make_session(store)
        full = session.queue
        last = len(full) - 1
        place = session.samples.keys[int(full.samples[last])], full.label_names[int(full.labels[last])]
        session.decide(last, "present")
    with DecisionStore(tmp_path / "review.sqlite") as store:
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
