"""ReviewSession: which entry comes next, what has been decided, and the progress of a review."""

from collections.abc import Callable
from dataclasses import asdict
from threading import RLock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.review.annotations import Annotation, AnnotationStore, Place
from spmld.review.evidence import Evidence
from spmld.review.queue import ReviewEntry, ReviewQueue
from spmld.review.samples import Samples

_CONFLICT, _OPEN, _OWN_CONFLICT, _SKIPPED, _CLOSED = range(5)
"""States of an entry, in the order in which entries are shown."""


class ReviewSession:
    """Review of a queue by one reviewer.

    An entry that any reviewer has decided is closed, so that several reviewers share the work; with `overlap`, only the
    reviewer's own annotations close it. If reviewers disagree, the entry is shown again, before all others, and last to
    the reviewer who has decided last, until it is resolved, or each of them has decided twice. Skipped entries come
    after all others. With `on_update`, the order of the entries changes with the annotations.

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
        store: AnnotationStore,
        samples: Samples,
        evidence: Evidence | None = None,
        *,
        reviewer: str = "reviewer",
        overlap: bool = False,
        title: str = "",
    ):
        self.store, self.samples, self.evidence = store, samples, evidence
        self.reviewer, self.overlap, self.title = reviewer, overlap, title
        self._make_queue: Callable[[dict[Place, str]], ReviewQueue] | None = None
        self._update_every, self._n_new, self._thread = 0, 0, Thread()
        self._lock = RLock()
        self._set_queue(queue)

    def _set_queue(self, queue: ReviewQueue) -> None:
        self.queue, names, keys = queue, queue.label_names, self.samples.keys
        places = zip(queue.samples.tolist(), queue.labels.tolist(), strict=True)
        self._position = {(keys[i], names[j]): position for position, (i, j) in enumerate(places)}

    def upcoming(self, count: int = 1, first: int | None = None) -> list[int]:
        """Return the positions of the next entries in the queue. With `first`, this entry comes before the others."""
        with self._lock:
            state, order = self._states(), self.queue.order()
        order = order[np.argsort(state[order], kind="stable")]
        shown = order[(state[order] != _CLOSED) & (order != first)].tolist()
        return (shown if first is None else [first, *shown])[:count]

    def decide(self, position: int, answer: str) -> None:
        """Store an annotation. It is on disk when the call returns."""
        entry = self._entry(position)
        self.store.add(Annotation(*self._place(entry), answer, self.reviewer, sample=entry.sample))
        with self._lock:
            self._n_new += 1
            if self._make_queue is not None and self._n_new >= self._update_every and not self._thread.is_alive():
                self._thread = Thread(target=self.update, daemon=True)
                self._thread.start()

    def on_update(self, make_queue: Callable[[dict[Place, str]], ReviewQueue], every: int = 50) -> None:
        """Set a function that returns a new queue for the outcomes of all annotations.

        It is called in a thread after a number of annotations, `every`.
        """
        self._make_queue, self._update_every = make_queue, every

    def update(self) -> None:
        """Compute the queue again with the annotations so far. The positions of entries stay the same."""
        if self._make_queue is None:
            return
        self._n_new = 0
        new = self._make_queue(self.store.outcomes())
        with self._lock:
            self._set_queue(self.queue.merge(new, self._states() == _CLOSED))

    def undo(self) -> int | None:
        """Take back the last annotation of the reviewer, and return its position, None if it is not in the queue."""
        undone = self.store.undo(self.reviewer)
        return None if undone is None else self._position.get(undone.place)

    def progress(self) -> dict[str, Any]:
        """Return the number of entries, annotations and corrections, and the expected corrections that remain."""
        with self._lock:
            queue, closed, outcomes = self.queue, self._states() == _CLOSED, self.store.outcomes()
            entries = [
                (self._position[place], outcome) for place, outcome in outcomes.items() if place in self._position
            ]
        current = np.where(np.isnan(queue.given), queue.probability > 0.5, queue.given)
        remaining = np.sort(queue.gain[~closed])[::-1]
        return {
            "entries": len(queue),
            "decided": int(closed.sum()),
            "corrected": sum(outcome == ("absent" if current[i] else "present") for i, outcome in entries),
            "expected": round(float(queue.gain[closed].sum()), 1),
            "remaining": round(float(remaining.sum()), 1),
            "next": round(float(remaining[:100].sum()), 1),
        }

    def checked(self) -> list[bool]:
        """Return whether each verified entry of a random sample is wrong.

        Entries after the first one without an annotation are left out, because an earlier review may have decided them
        for their low label quality. So are those about which reviewers are unsure or disagree.
        """
        annotations = self.store.annotations()
        outcomes, seen, wrong = self.store.outcomes(), {annotation.place for annotation in annotations}, []
        for place, position in self._position.items():
            if place not in seen:
                break
            if outcomes.get(place) in ("present", "absent"):
                wrong.append((outcomes[place] == "present") != bool(self.queue.given[position]))
        return wrong

    def describe(self, position: int) -> dict[str, Any]:
        """Return an entry with the content of its sample and the evidence, in types that JSON supports."""
        entry = self._entry(position)
        sample, label = entry.sample, entry.label
        influences = [] if self.evidence is None else self.evidence.influences(sample, label)
        raising, lowering = ([], []) if self.evidence is None else self.evidence.label_features(label)
        return {
            **asdict(entry),
            **({"kind": "random"} if self.queue.is_random else {}),  # a random entry is not suspicious
            "position": position,
            "sample_name": self.samples.name(sample),
            "name": self.queue.label_names[label],
            "answers": self._conflicting(self._place(entry)),
            "view": self.samples.view(sample, [influence.feature for influence in influences]),
            "influences": [asdict(influence) for influence in influences],
            "raising": raising,
            "lowering": lowering,
        }

    def _conflicting(self, place: Place) -> dict[str, str]:
        """Return the answers of all reviewers if they disagree."""
        if self.store.outcomes().get(place) != "conflict":
            return {}
        return {d.reviewer: d.answer for d in self.store.annotations() if d.place == place and d.answer != "skip"}

    def _entry(self, position: Any) -> ReviewEntry:
        if not isinstance(position, int) or isinstance(position, bool) or not 0 <= position < len(self.queue):
            raise ValueError(f"position must be an index of one of the {len(self.queue)} entries, got {position!r}")
        return self.queue[position]

    def _place(self, entry: ReviewEntry) -> Place:
        return self.samples.keys[entry.sample], self.queue.label_names[entry.label]

    def _states(self) -> NDArray[np.int8]:
        """Return the state of each entry, from the annotations that this and other processes have stored."""
        by_place: dict[Place, list[Annotation]] = {}
        for annotation in self.store.annotations():
            by_place.setdefault(annotation.place, []).append(annotation)
        states, outcomes = np.full(len(self.queue), _OPEN, dtype=np.int8), self.store.outcomes()
        for place, annotations in by_place.items():
            if place in self._position:
                states[self._position[place]] = self._state(annotations, outcomes.get(place) == "conflict")
        return states

    def _state(self, annotations: list[Annotation], conflict: bool) -> int:
        """Return the state of an entry, from its annotations in order, and whether reviewers disagree."""
        mine = [annotation for annotation in annotations if annotation.reviewer == self.reviewer]
        if conflict and sum(d.answer != "skip" for d in mine) < 2:  # each reviewer is asked again once
            return _OWN_CONFLICT if annotations[-1].reviewer == self.reviewer else _CONFLICT
        answers = {d.reviewer: d.answer for d in (mine if self.overlap else annotations)}.values()
        return _CLOSED if any(answer != "skip" for answer in answers) else _SKIPPED if answers else _OPEN
