"""Store of annotations: a SQLite file with the annotations of reviewers."""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Self

from spmld._io import StrPath
from spmld.review.annotations import Annotation, Place, resolve

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
