"""ReviewSession: which entry comes next, what has been decided, and the progress of a review."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from threading import RLock, Thread
from typing import Any

import numpy as np

from spmld.review.decisions import Decision, Place, resolve
from spmld.review.evidence import Evidence
from spmld.review.queue import ReviewEntry, ReviewQueue
from spmld.review.samples import ArraySamples, SampleView, TableSamples
from spmld.review.store import DecisionStore

_OPEN, _SKIPPED, _CLOSED = 0, 1, 2


class ReviewSession:
    """Review of a queue by one reviewer.

    An entry that any reviewer has decided is closed, so that several reviewers share the work; with `overlap`, only
    the reviewer's own decisions close it. Skipped entries come after all others. With
    `on_update`, the order of the entries changes with the decisions.

    Parameters
    ----------
    queue : ReviewQueue
        Entries in their order.
    store : DecisionStore
        Decisions, also of earlier sessions and of other reviewers.
    samples : TableSamples or ArraySamples
        Content and keys of the samples.
    evidence : Evidence, optional
        Evidence shown beside an entry.
    reviewer : str
        Name of the reviewer.
    overlap : bool, default=False
        Whether entries that others have decided are shown, too.
    title : str, default=""
        Name of the data.

    Examples
    --------
    See `ReviewServer`.
    """

    def __init__(
        self,
        queue: ReviewQueue,
        store: DecisionStore,
        samples: TableSamples | ArraySamples,
        evidence: Evidence | None = None,
        *,
        reviewer: str = "reviewer",
        overlap: bool = False,
        title: str = "",
    ):
        self.queue, self.store, self.samples, self.evidence = queue, store, samples, evidence
        self.reviewer, self.overlap, self.title = reviewer, overlap, title
        self._make_queue: Callable[[dict[Place, str]], ReviewQueue] | None = None
        self._update_every, self._n_new, self._thread = 0, 0, Thread()
        self._lock = RLock()
        self._position: dict[Place, int] = {}
        self._state, self._corrected = np.zeros(0, dtype=np.int8), np.zeros(0, dtype=bool)
        self._set_queue(queue)
        self._refresh()

    def upcoming(self, count: int = 1) -> list[int]:
        """Return the positions of the next entries in the queue."""
        with self._lock:
            self._refresh()
            state = self._state[self._order]
            first = self._order[state == _OPEN][:count].tolist()
            return first + self._order[state == _SKIPPED][: count - len(first)].tolist()

    def decide(self, position: int, answer: str) -> None:
        """Store a decision. It is on disk when the call returns."""
        entry = self._entry(position)
        place = self.samples.keys[entry.sample], self.queue.label_names[entry.label]
        self.store.add(Decision(*place, answer, self.reviewer, sample=entry.sample))
        with self._lock:
            self._n_new += 1
            if self._make_queue is not None and self._n_new >= self._update_every and not self._thread.is_alive():
                self._thread = Thread(target=self.update, daemon=True)
                self._thread.start()

    def on_update(self, make_queue: Callable[[dict[Place, str]], ReviewQueue], every: int = 50) -> None:
        """Set a function that returns a new queue for the outcomes of all decisions, see `resolve`.

        It is called in a thread after a number of decisions, `every`.
        """
        self._make_queue, self._update_every = make_queue, every

    def update(self) -> None:
        """Compute the queue again with the decisions so far. The positions of entries stay the same."""
        if self._make_queue is None:
            return
        self._n_new = 0
        new = self._make_queue(resolve(self.store.decisions()))
        with self._lock:
            self._refresh()
            self._set_queue(self.queue.merge(new, self._state == _CLOSED))

    def undo(self) -> int | None:
        """Take back the last decision of the reviewer, and return its position; None if there is none in the queue."""
        undone = self.store.undo(self.reviewer)
        return None if undone is None else self._position.get(undone.place)

    def progress(self) -> dict[str, Any]:
        """Return the number of entries, decisions and corrections, and the expected corrections that remain."""
        with self._lock:
            self._refresh()
            closed = self._state == _CLOSED
            remaining = np.sort(self.queue.gain[~closed])[::-1]
            return {
                "entries": len(self.queue),
                "decided": int(closed.sum()),
                "skipped": int((self._state == _SKIPPED).sum()),
                "corrected": int(self._corrected.sum()),
                "expected": round(float(self.queue.gain[closed].sum()), 1),
                "remaining": round(float(remaining.sum()), 1),
                "next": round(float(remaining[:100].sum()), 1),
            }

    def describe(self, position: int) -> dict[str, Any]:
        """Return an entry with the content of its sample and the evidence, in types that JSON supports."""
        entry = self._entry(position)
        sample, label = entry.sample, entry.label
        influences = [] if self.evidence is None else self.evidence.influences(sample, label)
        neighbors = None if self.evidence is None else self.evidence.neighbors(sample, label)
        raising, lowering = ([], []) if self.evidence is None else self.evidence.label_features(label)
        view = SampleView.make(self.samples, sample, [influence.feature for influence in influences])
        return {
            **asdict(entry),
            "position": position,
            "sample_name": self.samples.name(sample),
            "name": self.queue.label_names[label],
            "view": asdict(view),
            "influences": [asdict(influence) for influence in influences],
            "raising": raising,
            "lowering": lowering,
            "neighbors": None if neighbors is None else self._describe_neighbors(neighbors),
        }

    def _describe_neighbors(self, neighbors: Any) -> dict[str, Any]:
        positives: Sequence[tuple[int, float]] = neighbors.positives
        rows = [
            {
                "sample": i,
                "sample_name": self.samples.name(i),
                "similarity": similarity,
                "title": self.samples.title(i),
                "image": self.samples.image(i) is not None,
            }
            for i, similarity in positives
        ]
        return {"positives": rows, "n_positive": neighbors.n_positive, "n_nearest": neighbors.n_nearest}

    def _entry(self, position: Any) -> ReviewEntry:
        if not isinstance(position, int) or isinstance(position, bool) or not 0 <= position < len(self.queue):
            raise ValueError(f"position must be an index of one of the {len(self.queue)} entries, got {position!r}")
        return self.queue[position]

    def _set_queue(self, queue: ReviewQueue) -> None:
        added = len(queue) - len(self._state)
        start = len(self._state)
        places = zip(queue.samples[start:].tolist(), queue.labels[start:].tolist(), strict=True)
        for position, (i, j) in enumerate(places, start=start):
            self._position[self.samples.keys[i], queue.label_names[j]] = position
        self._state = np.append(self._state, np.zeros(added, dtype=np.int8))
        self._corrected = np.append(self._corrected, np.zeros(added, dtype=bool))
        self.queue, self._order = queue, np.argsort(-queue.gain, kind="stable")
        # An entry may have been decided in an earlier review, before this queue had it.
        for place in [place for place, position in self._position.items() if position >= start]:
            self._set_state(place)

    def _refresh(self) -> None:
        """Apply the decisions that this or other processes have stored since the last call."""
        for place in self.store.refresh():
            if place in self._position:
                self._set_state(place)

    def _set_state(self, place: Place) -> None:
        """Set the state of an entry of the queue from its decisions."""
        position, decisions = self._position[place], self.store.at(place)
        mine = [d for d in decisions if d.reviewer == self.reviewer] if self.overlap else decisions
        answers = {d.reviewer: d.answer for d in mine}.values()
        closed = any(answer != "skip" for answer in answers)
        self._state[position] = _CLOSED if closed else _SKIPPED if answers else _OPEN
        outcome, entry = resolve(decisions).get(place), self.queue[position]
        current = entry.probability > 0.5 if entry.given is None else bool(entry.given)
        self._corrected[position] = outcome == ("absent" if current else "present")
