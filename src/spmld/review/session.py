"""ReviewSession: which entry comes next, what has been decided, and the progress of a review."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from threading import RLock, Thread
from typing import Any

import numpy as np

from spmld.review.annotations import Annotation, AnnotationStore, Place, resolve
from spmld.review.evidence import Evidence
from spmld.review.queue import ReviewEntry, ReviewQueue
from spmld.review.samples import Samples

LEASE = 600.0
"""Seconds for which an entry that is shown to a reviewer is not shown to others."""
_CONFLICT, _OPEN, _OWN_CONFLICT, _SKIPPED, _CLOSED = range(5)
"""States of an entry, in the order in which entries are shown."""


class ReviewSession:
    """Review of a queue by one reviewer.

    An entry that any reviewer has decided is closed, and an entry that is shown to one reviewer is not shown to others
    for some time, so that several reviewers share the work; with `overlap`, only the reviewer's own annotations close
    it. If reviewers disagree, the entry is shown again, before all others, and last to the reviewer who has decided
    last, until the majority has decided, or each of them has decided twice. Skipped entries come after all others. With
    `on_update`, the order of the entries changes with the annotations.

    Parameters
    ----------
    queue : ReviewQueue
        Entries in their order.
    store : AnnotationStore
        Annotations, also of earlier sessions and of other reviewers.
    samples : TableSamples or ArraySamples
        Content and keys of the samples.
    evidence : Evidence, optional
        Evidence shown beside an entry.
    reviewer : str
        Name of the reviewer.
    overlap : bool, default=False
        Whether entries that others have decided or look at are shown, too.
    lease : float, default=600.0
        Seconds for which an entry that is shown is not shown to others.
    title : str, default=""
        Name of the data.

    Examples
    --------
    See `ReviewServer`.
    """

    def __init__(
        self,
        queue: ReviewQueue,
        store: AnnotationStore,
        samples: Samples,
        evidence: Evidence | None = None,
        *,
        reviewer: str = "reviewer",
        overlap: bool = False,
        lease: float = LEASE,
        title: str = "",
    ):
        self.queue, self.store, self.samples, self.evidence = queue, store, samples, evidence
        self.reviewer, self.overlap, self.lease, self.title = reviewer, overlap, lease, title
        self._make_queue: Callable[[dict[Place, str]], ReviewQueue] | None = None
        self._update_every, self._n_new, self._thread = 0, 0, Thread()
        self._lock = RLock()
        self._position: dict[Place, int] = {}
        self._state, self._corrected = np.zeros(0, dtype=np.int8), np.zeros(0, dtype=bool)
        self._set_queue(queue)
        self._refresh()

    def upcoming(self, count: int = 1, first: int | None = None) -> list[int]:
        """Return the positions of the next entries in the queue, and reserve them for the reviewer.

        With `first`, this entry comes before the others.
        """
        positions: list[int] = []

        def choose(held: set[Place]) -> list[Place]:
            self._refresh()
            positions[:] = self._choose(count, first, {self._position[place] for place in held & self._position.keys()})
            return [self._place(position) for position in positions]

        with self._lock:
            if self.overlap:
                choose(set())
            else:
                self.store.lease(self.reviewer, choose, self.lease)
        return positions

    def release(self) -> None:
        """Release the entries that are reserved for the reviewer."""
        self.store.lease(self.reviewer, lambda held: [], 0)

    def _choose(self, count: int, first: int | None, held: set[int]) -> list[int]:
        """Return the positions of the next entries that are not held by others."""
        state, chosen = self._state[self._order], [] if first is None else [first]
        for shown in (_CONFLICT, _OPEN, _OWN_CONFLICT, _SKIPPED):
            few = self._order[state == shown][: count + len(held) + 1].tolist()
            chosen += [position for position in few if position not in held and position != first]
        return chosen[:count]

    def _place(self, position: int) -> Place:
        sample, label = int(self.queue.samples[position]), int(self.queue.labels[position])
        return self.samples.keys[sample], self.queue.label_names[label]

    def decide(self, position: int, answer: str) -> None:
        """Store an annotation. It is on disk when the call returns."""
        entry = self._entry(position)
        self.store.add(Annotation(*self._place(position), answer, self.reviewer, sample=entry.sample))
        with self._lock:
            self._n_new += 1
            if self._make_queue is not None and self._n_new >= self._update_every and not self._thread.is_alive():
                self._thread = Thread(target=self.update, daemon=True)
                self._thread.start()

    def on_update(self, make_queue: Callable[[dict[Place, str]], ReviewQueue], every: int = 50) -> None:
        """Set a function that returns a new queue for the outcomes of all annotations, see `resolve`.

        It is called in a thread after a number of annotations, `every`.
        """
        self._make_queue, self._update_every = make_queue, every

    def update(self) -> None:
        """Compute the queue again with the annotations so far. The positions of entries stay the same."""
        if self._make_queue is None:
            return
        self._n_new = 0
        new = self._make_queue(resolve(self.store.annotations()))
        with self._lock:
            self._refresh()
            self._set_queue(self.queue.merge(new, self._state == _CLOSED))

    def undo(self) -> int | None:
        """Take back the last annotation of the reviewer, and return its position, None if it is not in the queue."""
        undone = self.store.undo(self.reviewer)
        return None if undone is None else self._position.get(undone.place)

    def progress(self) -> dict[str, Any]:
        """Return the number of entries, annotations and corrections, and the expected corrections that remain."""
        with self._lock:
            self._refresh()
            closed = self._state == _CLOSED
            remaining = np.sort(self.queue.gain[~closed])[::-1]
            return {
                "entries": len(self.queue),
                "decided": int(closed.sum()),
                "skipped": int((self._state == _SKIPPED).sum()),
                "conflicts": int(np.isin(self._state, (_CONFLICT, _OWN_CONFLICT)).sum()),
                "corrected": int(self._corrected.sum()),
                "expected": round(float(self.queue.gain[closed].sum()), 1),
                "remaining": round(float(remaining.sum()), 1),
                "next": round(float(remaining[:100].sum()), 1),
            }

    def checked(self) -> list[bool]:
        """Return whether each verified entry of a random sample is wrong.

        Entries after the first one without an annotation are left out, because an earlier review may have decided them
        for their low label quality. So are those about which reviewers are unsure or disagree.
        """
        outcomes = resolve(self.store.annotations())
        wrong = []
        for position, entry in enumerate(self.queue):
            place = self._place(position)
            if not self.store.at(place):
                break
            if outcomes.get(place) in ("present", "absent"):
                wrong.append((outcomes[place] == "present") != bool(entry.given))
        return wrong

    def describe(self, position: int) -> dict[str, Any]:
        """Return an entry with the content of its sample and the evidence, in types that JSON supports."""
        entry = self._entry(position)
        sample, label = entry.sample, entry.label
        influences = [] if self.evidence is None else self.evidence.influences(sample, label)
        neighbors = None if self.evidence is None else self.evidence.neighbors(sample, label)
        raising, lowering = ([], []) if self.evidence is None else self.evidence.label_features(label)
        return {
            **asdict(entry),
            **({"kind": "random"} if self.queue.is_random else {}),  # a random entry is not suspicious
            "position": position,
            "sample_name": self.samples.name(sample),
            "name": self.queue.label_names[label],
            "answers": self._conflicting(position),
            "view": self.samples.view(sample, [influence.feature for influence in influences]),
            "influences": [asdict(influence) for influence in influences],
            "raising": raising,
            "lowering": lowering,
            "neighbors": None if neighbors is None else self._describe_neighbors(neighbors),
        }

    def _conflicting(self, position: int) -> dict[str, str]:
        """Return the answers of all reviewers if they disagree."""
        place = self._place(position)
        annotations = self.store.at(place)
        conflict = resolve(annotations).get(place) == "conflict"
        return {d.reviewer: d.answer for d in annotations if d.answer != "skip"} if conflict else {}

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
        self.queue, self._order = queue, queue.order()
        # An entry may have been decided in an earlier review, before this queue had it.
        for place in [place for place, position in self._position.items() if position >= start]:
            self._set_state(place)

    def _refresh(self) -> None:
        """Apply the annotations that this or other processes have stored since the last call."""
        for place in self.store.refresh():
            if place in self._position:
                self._set_state(place)

    def _set_state(self, place: Place) -> None:
        """Set the state of an entry of the queue from its annotations."""
        position, annotations = self._position[place], self.store.at(place)
        outcome, entry = resolve(annotations).get(place), self.queue[position]
        mine = [d for d in annotations if d.reviewer == self.reviewer]
        answers = {d.reviewer: d.answer for d in (mine if self.overlap else annotations)}.values()
        if outcome == "conflict" and sum(d.answer != "skip" for d in mine) < 2:  # each reviewer is asked again once
            self._state[position] = _OWN_CONFLICT if annotations[-1].reviewer == self.reviewer else _CONFLICT
        else:
            closed = any(answer != "skip" for answer in answers)
            self._state[position] = _CLOSED if closed else _SKIPPED if answers else _OPEN
        current = entry.probability > 0.5 if entry.given is None else bool(entry.given)
        self._corrected[position] = outcome == ("absent" if current else "present")
