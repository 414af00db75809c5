"""Store of annotations: a SQLite file with the annotations of reviewers."""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Self

from spmld._io import StrPath
from spmld.app.review.annotations import Annotation, Place, resolve

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
_SCHEMA_SHOWN = """
CREATE TABLE IF NOT EXISTS shown (reviewer TEXT PRIMARY KEY, key TEXT NOT NULL, label TEXT NOT NULL)
"""
_COLUMNS = "key, label, answer, reviewer, time, sample"
_CONFIRMED = "Confirmed annotations are stored"
_ADVICE = {
    sqlite3.SQLITE_FULL: "free some space on the disk",
    sqlite3.SQLITE_IOERR: "check the disk, stop all reviews of the file, and start them again",
    sqlite3.SQLITE_CANTOPEN: "check the permissions of the folder",
    sqlite3.SQLITE_PERM: "check the permissions of the file",
    sqlite3.SQLITE_READONLY: "check the permissions of the file and of its folder",
}
"""What to do about an error of SQLite, by its code."""
_HEADER = b"SQLite format 3\x00"


class AnnotationStore:
    """Annotations in a SQLite file.

    The file is a journal: rows are added and never changed, and an undo is a row as well. Each call of `add` and `undo`
    is a transaction that is flushed to disk before the call returns, so that a process can be killed at any time
    without losing an annotation. Several processes can use one file. Another table has the entry that each reviewer
    sees.

    Parameters
    ----------
    path : str or path-like
        SQLite file. It is created if it does not exist.
    timeout : float
        Seconds to wait for another process that writes.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.app.review import Annotation, AnnotationStore
    >>> with tempfile.TemporaryDirectory() as folder, AnnotationStore(folder + "/songs.sqlite") as store:
    ...     store.add(Annotation("a1", "sad", "present", "ann"))
    ...     store.add(Annotation("b2", "sad", "absent", "ann"))
    ...     undone = store.undo("ann")
    ...     [annotation.key for annotation in store.annotations()]
    ['a1']
    """

    def __init__(self, path: StrPath, timeout: float = 30):
        self.path = Path(path)
        check_store(self.path)
        self._lock = RLock()
        with self._translate_errors():
            connection = sqlite3.connect(self.path, timeout=timeout, isolation_level=None, check_same_thread=False)
            self._connection = connection
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if tables and "annotation" not in tables:
                raise ValueError(f"{self.path} is a SQLite file of another program; pass the name of a new file")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(_SCHEMA)
            connection.execute(_SCHEMA_SHOWN)
        self._files = self._identify()
        self._closed = False
        self._n_rows = 0
        self._active: list[Annotation] = []
        self._resolved: tuple[int, dict[Place, str]] = (0, {})

    def add(self, *annotations: Annotation) -> None:
        """Write annotations of people in one transaction. They are on disk when the call returns."""
        with self.transaction():
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
        with self.transaction():
            last = {tuple(place): time for *place, time in self._connection.execute(query)}
            new = [d for d in annotations if d.time > last.get((d.key, d.label, d.reviewer), "")]
            self._insert(new)
            return len(new)

    def undo(self, reviewer: str) -> Annotation | None:
        """Take back the last annotation of a reviewer, and return it; None if there is none."""
        with self.transaction():
            self._read()
            last = self._last(reviewer)
            if last is not None:
                now = datetime.now(UTC).isoformat(timespec="milliseconds")
                self._insert([self._active[last]], answer=_UNDO, time=now)
            return None if last is None else self._active[last]

    def annotations(self) -> list[Annotation]:
        """Return the annotations that have not been undone, in order."""
        with self._lock, self._translate_errors():
            self._check_files()
            self._read()
            return list(self._active)

    def outcomes(self) -> dict[Place, str]:
        """Return the outcome for each entry, see `resolve`."""
        with self._lock:
            annotations = self.annotations()
            if self._resolved[0] != self._n_rows:
                self._resolved = self._n_rows, resolve(annotations)
            return self._resolved[1]

    def shown(self) -> dict[str, Place]:
        """Return the entry that each reviewer sees."""
        with self._lock, self._translate_errors():
            self._check_files()
            rows = self._connection.execute("SELECT reviewer, key, label FROM shown")
            return {reviewer: (key, label) for reviewer, key, label in rows}

    def show(self, reviewer: str, place: Place | None) -> None:
        """Write, within a transaction, which entry a reviewer sees; None if there is none."""
        if place is None:
            self._connection.execute("DELETE FROM shown WHERE reviewer = ?", (reviewer,))
        else:
            self._connection.execute("INSERT OR REPLACE INTO shown VALUES (?, ?, ?)", (reviewer, *place))

    def close(self) -> None:
        """Close the file, after the transaction of another thread has ended."""
        with self._lock:
            self._closed = True
            self._connection.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of SQLite as OSError if the file cannot be used, and as ValueError if it is damaged."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # without the extended code
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                reason = "another process has locked it; close the program that uses it, and repeat the last step"
                raise TimeoutError(f"cannot read or write {self.path}: {reason}. {_CONFIRMED}") from error
            if advice := _ADVICE.get(code):
                raise OSError(f"cannot read or write {self.path}: {error}; {advice}. {_CONFIRMED}") from error
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> ValueError:
        return ValueError(f"{self.path} is damaged: {error}; restore it from a copy, or pass a new file")

    def _identify(self) -> list[tuple[int, int] | None]:
        """Return device and inode of the file and of its write-ahead log, None where there is none."""
        identities: list[tuple[int, int] | None] = []
        for path in (self.path, self.path.with_name(f"{self.path.name}-wal")):
            try:
                status = path.stat()
                identities.append((status.st_dev, status.st_ino))
            except FileNotFoundError:
                identities.append(None)
        return identities

    def _check_files(self) -> None:
        """Raise OSError if the file is closed, or if its name does not lead to the file that is open."""
        if self._closed:
            raise OSError(f"cannot read or write {self.path}: it is closed; start spmld review again")
        if self._identify() != self._files:
            raise OSError(
                f"{self.path} or {self.path.name}-wal was deleted, moved or replaced, so that annotations cannot be "
                "stored; stop all reviews of it with Ctrl-C, move the file back or restore it, and start them again"
            )

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
    def transaction(self) -> Iterator[None]:
        """Write all rows of the block, or none if there is an error. No other process writes in the meantime."""
        with self._lock, self._translate_errors():
            self._check_files()
            with self._connection:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._check_files()  # again, since it may have waited for another process

    def _read(self) -> None:
        """Read the rows that this or other processes have added."""
        query = f"SELECT id, {_COLUMNS} FROM annotation WHERE id > ? ORDER BY id"  # nosec B608
        for number, key, label, answer, reviewer, time, sample in self._connection.execute(query, (self._n_rows,)):
            self._n_rows = number
            if answer != _UNDO:
                try:
                    annotation = Annotation(key, label, answer, reviewer, time, sample)
                except (AttributeError, ValueError) as error:  # values of other types
                    raise self._damaged(error) from error
                self._active.append(annotation)
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
