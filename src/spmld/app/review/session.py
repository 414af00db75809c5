"""ReviewSession: which entry comes next, what has been decided, and the progress of a review."""

import warnings
from collections.abc import Callable
from itertools import chain, islice
from numbers import Integral
from threading import RLock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld.app.review.annotations import Annotation, Place, check_reviewer
from spmld.app.review.evidence import NO_EVIDENCE, Evidence
from spmld.app.review.queue import merge_queues
from spmld.app.review.store import AnnotationStore
from spmld.app.review.table_samples import TableSamples

_CONFLICT, _OPEN, _OWN_CONFLICT, _SKIPPED, _CLOSED = range(5)
"""States of an entry, in the order in which entries are shown."""


class ReviewSession:
    """Review of a queue by one reviewer.

    An entry that any reviewer has decided is closed, and one that another reviewer sees is not shown, so that several
    reviewers share the work; with `overlap`, only the reviewer's own annotations close it. If reviewers disagree, the
    entry is shown again, before all others, and last to the reviewer who has decided last, until it is resolved, or
    each of them has decided twice. Skipped entries come after all others. With `on_update`, the order of the entries
    changes with the annotations.

    Parameters
    ----------
    queue : DataFrame
        Entries in their order, see `make_queue`. They are identified by its index.
    store : AnnotationStore
        Annotations, also of earlier sessions and of other reviewers.
    samples : TableSamples
        Content and keys of the samples.
    evidence : Evidence, optional
        Evidence shown beside an entry.
    reviewer : str
        Name of the reviewer.
    overlap : bool, default=False
        Whether entries that others see or have decided are shown, too.
    title : str, default=""
        Name of the data.

    Examples
    --------
    See `ReviewServer`.
    """

    def __init__(
        self,
        queue: Any,
        store: AnnotationStore,
        samples: TableSamples,
        evidence: Evidence | None = None,
        *,
        reviewer: str = "reviewer",
        overlap: bool = False,
        title: str = "",
    ):
        check_reviewer(reviewer)
        self.store = store
        self.samples = samples
        self.evidence = evidence
        self.reviewer = reviewer
        self.overlap = overlap
        self.title = title
        self._make_queue: Callable[[dict[Place, str]], Any] | None = None
        self._update_every = 0
        self._n_new = 0
        self._thread = Thread()
        self._lock = RLock()
        self._set_queue(queue)

    def _set_queue(self, queue: Any) -> None:
        keys = [self.samples.keys[sample] for sample in queue["sample"]]
        self.queue = queue
        self._places = list(zip(keys, queue.label, strict=True))
        self._known_outcomes: dict[Place, str] | None = None

    def upcoming(self, count: int = 1, first: int | None = None, *, taken: bool = False) -> list[int]:
        """Return the next entries of the queue.

        With `first`, this entry comes before the others. Entries that other reviewers see are left out, unless `taken`.
        """
        with self._lock:
            states = self._states()
            places = self._places
            entries = self.queue.index.to_numpy()
        elsewhere = set() if taken or self.overlap else set(self._shown_to_others().values())
        order = np.argsort(states, kind="stable")
        order = order[states[order] != _CLOSED]
        free = (int(entries[i]) for i in order if entries[i] != first and places[i] not in elsewhere)
        return list(islice(free if first is None else chain([first], free), count))

    def show(self, first: int | None = None, *, taken: bool = False) -> list[int]:
        """Return the next two entries, and store that the reviewer sees the first one.

        Other reviewers who share the work do not get this entry in the meantime, unless they take it.
        """
        with self._lock, self.store.transaction():
            entries = self.upcoming(2, first, taken=taken)
            place = self._place(self._record(entries[0])) if entries else None
            if place != self.store.shown().get(self.reviewer):
                self.store.show(self.reviewer, place)
        return entries

    def release(self) -> None:
        """Store that the reviewer does not see an entry any more."""
        with self.store.transaction():
            self.store.show(self.reviewer, None)

    def waiting_for(self) -> list[str]:
        """Return the reviewers who see entries that are not closed."""
        with self._lock:
            remaining = {place for place, state in zip(self._places, self._states(), strict=True) if state != _CLOSED}
        return [reviewer for reviewer, place in self._shown_to_others().items() if place in remaining]

    def _shown_to_others(self) -> dict[str, Place]:
        """Return the entry that each other reviewer sees."""
        return {reviewer: place for reviewer, place in self.store.shown().items() if reviewer != self.reviewer}

    def decide(self, entry: int, answer: str) -> None:
        """Store an annotation. It is on disk when the call returns."""
        record = self._record(entry)
        self.store.add(Annotation(*self._place(record), answer, self.reviewer, sample=record["sample"]))
        with self._lock:
            self._n_new += 1
            if self._make_queue is not None and self._n_new >= self._update_every and not self._thread.is_alive():
                self._thread = Thread(target=self._update_in_thread, daemon=True)
                self._thread.start()

    def on_update(self, make_queue: Callable[[dict[Place, str]], Any], every: int = 50) -> None:
        """Set a function that returns a new queue for the outcomes of all annotations.

        It is called in a thread after a number of annotations, `every`.
        """
        with self._lock:
            self._make_queue = make_queue
            self._update_every = every

    def update(self) -> None:
        """Compute the queue again with the annotations so far."""
        with self._lock:
            make_queue = self._make_queue
            self._n_new = 0
        if make_queue is None:
            return
        new = make_queue(self.store.outcomes())  # without the lock, since it takes seconds
        with self._lock:
            self._set_queue(merge_queues(self.queue, new, self._states() == _CLOSED))

    def _update_in_thread(self) -> None:
        """Update the queue, or keep it with a warning, since nobody handles the errors of a thread."""
        try:
            self.update()
        except Exception as error:
            warnings.warn(f"the order of the entries is not updated: {error}", RuntimeWarning, stacklevel=1)

    def undo(self) -> int | None:
        """Take back the last annotation of the reviewer, and return its entry, None if it is not in the queue."""
        undone = self.store.undo(self.reviewer)
        with self._lock:
            if undone is None or undone.place not in self._places:
                return None
            return int(self.queue.index[self._places.index(undone.place)])

    def progress(self) -> dict[str, Any]:
        """Return the numbers of entries, decided entries and corrections."""
        with self._lock:
            queue = self.queue
            closed = self._states() == _CLOSED
            outcomes = self.store.outcomes()
            decisions = np.array([outcomes.get(place, "") for place in self._places])
        opposite = np.where(queue.given == "missing", queue.probability <= 0.5, queue.given == "absent")
        return {
            "entries": len(queue),
            "decided": int(closed.sum()),
            "corrected": int((decisions == np.where(opposite, "present", "absent")).sum()),
        }

    def checked(self) -> list[bool]:
        """Return whether each verified entry of a random sample is wrong.

        Entries after the first one without an annotation are left out, because an earlier review may have decided them
        for their low label quality. So are those about which reviewers are unsure or disagree.
        """
        with self._lock:
            places = self._places
            observed = self.queue.given
            annotations = self.store.annotations()
            outcomes = self.store.outcomes()
        seen = {annotation.place for annotation in annotations}
        wrong = []
        for place, given in zip(places, observed, strict=True):
            if place not in seen:
                break
            if outcomes.get(place) in ("present", "absent"):
                wrong.append(outcomes[place] != given)
        return wrong

    def describe(self, entry: int) -> dict[str, Any]:
        """Return an entry with the content of its sample and the evidence, in types that JSON supports."""
        record = self._record(entry)
        sample = record["sample"]
        evidence = NO_EVIDENCE if self.evidence is None else self.evidence.describe(entry)
        return {
            **record,
            **evidence,
            "entry": entry,
            "sample_name": self.samples.name(sample),
            "answers": self._conflicting(self._place(record)),
            "view": self.samples.view(sample, [feature for feature, _, _ in evidence["influences"]]),
        }

    def _conflicting(self, place: Place) -> dict[str, str]:
        """Return the answers of all reviewers if they disagree."""
        if self.store.outcomes().get(place) != "conflict":
            return {}
        return {d.reviewer: d.answer for d in self.store.annotations() if d.place == place and d.answer != "skip"}

    def _record(self, entry: Any) -> dict[str, Any]:
        """Return the row of an entry in the queue."""
        with self._lock:
            queue = self.queue
        if not isinstance(entry, Integral) or isinstance(entry, bool) or entry not in queue.index:
            raise ValueError(f"entry must be an index of one of the {len(queue)} entries, got {entry!r}")
        return queue.loc[[entry]].to_dict("records")[0]

    def _place(self, record: dict[str, Any]) -> Place:
        return self.samples.keys[record["sample"]], record["label"]

    def _states(self) -> NDArray[np.int8]:
        """Return the state of each entry, from the annotations that this and other processes have stored."""
        outcomes = self.store.outcomes()
        if outcomes is not self._known_outcomes:  # the store returns the same object until its file changes
            by_place: dict[Place, list[Annotation]] = {}
            for annotation in self.store.annotations():
                by_place.setdefault(annotation.place, []).append(annotation)
            states = {
                place: self._state(annotations, outcomes.get(place) == "conflict")
                for place, annotations in by_place.items()
            }
            known = [states.get(place, _OPEN) for place in self._places]
            self._known_states = np.array(known, dtype=np.int8)
            self._known_outcomes = outcomes
        return self._known_states

    def _state(self, annotations: list[Annotation], conflict: bool) -> int:
        """Return the state of an entry, from its annotations in order, and whether reviewers disagree."""
        mine = [annotation for annotation in annotations if annotation.reviewer == self.reviewer]
        if conflict and sum(d.answer != "skip" for d in mine) < 2:  # each reviewer is asked again once
            return _OWN_CONFLICT if annotations[-1].reviewer == self.reviewer else _CONFLICT
        answers = {d.reviewer: d.answer for d in (mine if self.overlap else annotations)}.values()
        return _CLOSED if any(answer != "skip" for answer in answers) else _SKIPPED if answers else _OPEN
