"""Annotations of reviewers about entries, the rule that resolves conflicts, and a SQLite file that stores them."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spmld._io import StrPath
from spmld.labels import read_annotators
from spmld.noise import find_consensus

ANSWERS = ("present", "absent", "unsure", "skip")
"""Possible annotations about an entry."""
ANSWER_VALUES = {"present": 1, "absent": 0}
"""Labels of the annotations that decide an entry."""
MIN_CONSENSUS = 0.9
"""Probability from which the consensus of reviewers decides an entry, rather than their majority."""
Place: TypeAlias = tuple[str, str]
"""Key of a sample and name of a label, which identify an entry."""
_UNDO = "undo"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS annotation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    label TEXT NOT NULL,
    answer TEXT NOT NULL CHECK (answer IN ('present', 'absent', 'unsure', 'skip', 'undo')),
    reviewer TEXT NOT NULL,
    time TEXT NOT NULL,
    sample INTEGER
)
"""
_COLUMNS = "key, label, answer, reviewer, time, sample"
_HEADER = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Annotation:
    """Annotation of a reviewer about one entry.

    Attributes
    ----------
    key : str
        Key of the sample, which is computed from all of its columns that are not labels; see
        `spmld.review.samples.sample_keys`.
    label : str
        Name of the label.
    answer : {"present", "absent", "unsure", "skip"}
        The annotation. "unsure" closes the entry without a change; "skip" moves it to the end of the queue.
    reviewer : str
        Name of the reviewer.
    time : str
        Time in UTC, in ISO format. By default, now.
    sample : int or None
        Index of the sample in the reviewed file.
    confidence : float or None
        Confidence of the prediction of a model; None for the annotation of a person.

    Examples
    --------
    >>> from spmld.review import Annotation
    >>> Annotation("a1", "sad", "present", "ann").place
    ('a1', 'sad')
    """

    key: str
    label: str
    answer: str
    reviewer: str = ""
    time: str = ""
    sample: int | None = None
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.answer not in ANSWERS:
            raise ValueError(f"answer must be one of {', '.join(ANSWERS)}, got {self.answer!r}")
        if not self.time:
            object.__setattr__(self, "time", datetime.now(UTC).isoformat(timespec="milliseconds"))

    @property
    def place(self) -> Place:
        """Key of the sample and name of the label."""
        return self.key, self.label


def add_keys(annotations: Iterable[Annotation], keys: Sequence[str]) -> list[Annotation]:
    """Return annotations with the keys of their samples. Other programs may write the index of the sample only.

    Examples
    --------
    >>> from spmld.review import Annotation
    >>> from spmld.review.annotations import add_keys
    >>> [annotation.key for annotation in add_keys([Annotation("", "sad", "absent", sample=1)], ["a1", "b2"])]
    ['b2']
    """
    return [
        replace(d, key=keys[d.sample]) if not d.key and d.sample is not None and 0 <= d.sample < len(keys) else d
        for d in annotations
    ]


def resolve(annotations: Iterable[Annotation]) -> dict[Place, str]:
    """Return the outcome for each entry: "present", "absent", "unsure" or "conflict".

    The last annotation of each reviewer counts, and "skip" does not. If reviewers answer "present" and "absent", the
    answer with a probability of at least `MIN_CONSENSUS` wins, given the error rates of the reviewers in all entries
    that several of them have decided; see `spmld.noise.find_consensus`. If there is none, the majority wins. A tie is
    a "conflict", which changes nothing until another annotation resolves it. An entry that all reviewers are unsure
    about is "unsure".

    Parameters
    ----------
    annotations : iterable of Annotation
        Annotations in order of time.

    Returns
    -------
    dict
        Outcome by key of the sample and name of the label.

    Examples
    --------
    >>> from spmld.review import Annotation
    >>> from spmld.review.annotations import resolve
    >>> ann, bob, eve = (Annotation("a1", "sad", answer, name) for answer, name in
    ...                  [("present", "ann"), ("absent", "bob"), ("present", "eve")])
    >>> resolve([ann, bob]), resolve([ann, bob, eve])
    ({('a1', 'sad'): 'conflict'}, {('a1', 'sad'): 'present'})
    """
    last: dict[Place, dict[str, str]] = {}
    for annotation in annotations:
        last.setdefault(annotation.place, {})[annotation.reviewer] = annotation.answer
    names = sorted({name for answers in last.values() for name in answers})
    rows = [[ANSWER_VALUES.get(answers.get(name, ""), np.nan) for name in names] for answers in last.values()]
    outcomes = {}
    for (place, answers), present in zip(last.items(), _presence(np.array(rows)) if rows else (), strict=True):
        if not np.isnan(present):
            outcomes[place] = "conflict" if present == 0.5 else "present" if present > 0.5 else "absent"
        elif "unsure" in answers.values():
            outcomes[place] = "unsure"
    return outcomes


def _presence(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that a label is present where it decides, elsewhere the fraction of positive answers.

    `values` has a row for each entry, a column for each reviewer, and NaN where there is no answer. In the estimate,
    each entry has a copy with the opposite answers, so that a reviewer has one error rate for both answers. It needs
    fewer entries, and two reviewers who disagree are a tie unless others have decided some of their entries.
    """
    n_answers = (~np.isnan(values)).sum(axis=1)
    fraction = np.where(n_answers > 0, np.nansum(values, axis=1) / np.maximum(n_answers, 1), np.nan)
    disputed, several = (fraction > 0) & (fraction < 1), values[n_answers > 1]
    if not disputed.any():
        return fraction
    answers = read_annotators(np.concatenate([several, 1 - several])[:, :, None])
    probability = np.full(len(values), 0.5)
    probability[n_answers > 1] = find_consensus(answers).probabilities[: len(several), 0]
    decisive = disputed & (np.maximum(probability, 1 - probability) >= MIN_CONSENSUS)
    return np.where(decisive, probability, fraction)


class AnnotationStore:
    """Annotations in a SQLite file.

    The file is a journal: rows are added and never changed, and an undo is a row as well. Each call of `add` and `undo`
    is a transaction that is flushed to disk before the call returns, so that a process can be killed at any time
    without losing an annotation. Several processes can use one file.

    Parameters
    ----------
    path : str or path-like
        SQLite file. It is created if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.review import Annotation, AnnotationStore
    >>> with tempfile.TemporaryDirectory() as folder, AnnotationStore(folder + "/songs.sqlite") as store:
    ...     store.add(Annotation("a1", "sad", "present", "ann"))
    ...     store.add(Annotation("b2", "sad", "absent", "ann"))
    ...     undone = store.undo("ann")
    ...     [annotation.key for annotation in store.annotations()]
    ['a1']
    """

    def __init__(self, path: StrPath):
        self.path = Path(path)
        check_store(self.path)
        self._lock = RLock()
        with self._translate_errors():
            self._connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(_SCHEMA)
        self._n_rows = 0
        self._active: list[Annotation] = []
        self._resolved: tuple[int, dict[Place, str]] = (0, {})

    def add(self, *annotations: Annotation) -> None:
        """Write annotations of people in one transaction. They are on disk when the call returns."""
        with self._transaction():
            self._insert(annotations)

    def merge(self, annotations: Collection[Annotation]) -> int:
        """Write annotations of a file that are newer than all of the same reviewer about the same entry.

        Annotations that have been written before are skipped, also if the reviewer has changed or undone them since.

        Returns
        -------
        int
            Number of annotations that were written.
        """
        query = "SELECT key, label, reviewer, MAX(time) FROM annotation GROUP BY key, label, reviewer"
        with self._transaction():
            last = {tuple(place): time for *place, time in self._connection.execute(query)}
            new = [d for d in annotations if d.time > last.get((d.key, d.label, d.reviewer), "")]
            self._insert(new)
            return len(new)

    def undo(self, reviewer: str) -> Annotation | None:
        """Take back the last annotation of a reviewer, and return it; None if there is none."""
        with self._transaction():
            self._read()
            last = self._last(reviewer)
            if last is not None:
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                self._insert([self._active[last]], answer=_UNDO, time=now)
            return None if last is None else self._active[last]

    def annotations(self) -> list[Annotation]:
        """Return the annotations that have not been undone, in order."""
        with self._lock, self._translate_errors():
            self._read()
            return list(self._active)

    def outcomes(self) -> dict[Place, str]:
        """Return the outcome for each entry, see `resolve`."""
        with self._lock:
            annotations = self.annotations()
            if self._resolved[0] != self._n_rows:
                self._resolved = self._n_rows, resolve(annotations)
            return self._resolved[1]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of SQLite as OSError if the file cannot be used, and as ValueError if it is damaged."""
        try:
            yield
        except sqlite3.ProgrammingError:  # such as a store that is closed
            raise
        except sqlite3.OperationalError as error:
            reason = f"{error}; choose another folder or free some space. Confirmed annotations are stored"
            raise OSError(f"cannot read or write {self.path}: {reason}") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is damaged: {error}; restore it from a copy, or pass a new file") from error

    def _insert(self, annotations: Collection[Annotation], **values: str) -> None:
        """Add rows for annotations, with other values in some columns."""
        if any(annotation.confidence is not None for annotation in annotations):
            raise ValueError(
                "predictions of a model are not annotations of a person; check them, and fill in answer with present, "
                "absent or unsure"
            )
        names = _COLUMNS.split(", ")
        rows = [[values.get(name, getattr(annotation, name)) for name in names] for annotation in annotations]
        self._connection.executemany(f"INSERT INTO annotation ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", rows)  # nosec B608

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all rows of the block, or none if there is an error."""
        with self._lock, self._translate_errors(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def _read(self) -> None:
        """Read the rows that this or other processes have added."""
        query = f"SELECT id, {_COLUMNS} FROM annotation WHERE id > ? ORDER BY id"  # nosec B608
        for number, key, label, answer, reviewer, time, sample in self._connection.execute(query, (self._n_rows,)):
            self._n_rows = number
            if answer != _UNDO:
                self._active.append(Annotation(key, label, answer, reviewer, time, sample))
            elif (last := self._last(reviewer)) is not None:
                del self._active[last]

    def _last(self, reviewer: str) -> int | None:
        """Return the position of the last annotation of a reviewer."""
        return next((i for i in reversed(range(len(self._active))) if self._active[i].reviewer == reviewer), None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def is_store(path: StrPath) -> bool:
    """Return whether a file is a SQLite file."""
    with Path(path).open("rb") as file:
        return file.read(len(_HEADER)) == _HEADER


def check_store(path: StrPath) -> None:
    """Raise an error if a file cannot be used as a store."""
    file = Path(path)
    if file.is_dir():
        raise ValueError(f"{file} is a folder; pass the name of a SQLite file")
    if not file.parent.is_dir():
        raise FileNotFoundError(f"cannot write {file.name}: folder {file.parent} does not exist")
    if file.is_file() and file.stat().st_size and not is_store(file):
        raise ValueError(f"{file} is not a SQLite file; pass the name of a new file")
