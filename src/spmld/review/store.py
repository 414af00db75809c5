"""DecisionStore: decisions in a SQLite file, each one on disk before the call returns."""

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Self

from spmld._io import StrPath
from spmld.review.decisions import Decision, Place

_UNDO = "undo"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS decision (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    label TEXT NOT NULL,
    answer TEXT NOT NULL CHECK (answer IN ('present', 'absent', 'unsure', 'skip', 'undo')),
    reviewer TEXT NOT NULL,
    time TEXT NOT NULL,
    sample INTEGER
)
"""
_LEASES = """
CREATE TABLE IF NOT EXISTS lease (
    key TEXT NOT NULL,
    label TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    until REAL NOT NULL,
    PRIMARY KEY (key, label)
)
"""
_COLUMNS = "key, label, answer, reviewer, time, sample"
_HEADER = b"SQLite format 3\x00"


class DecisionStore:
    """Decisions in a SQLite file.

    The file is a journal: rows are added and never changed, and an undo is a row as well. Each call of `add` and `undo`
    is a transaction that is flushed to disk before the call returns, so that a process can be killed at any time
    without losing a decision. Several processes can use one file, and `lease` shares the entries between reviewers.

    Parameters
    ----------
    path : str or path-like
        SQLite file. It is created if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.review import Decision, DecisionStore
    >>> with tempfile.TemporaryDirectory() as folder, DecisionStore(folder + "/songs.sqlite") as store:
    ...     store.add(Decision("a1", "sad", "present", "ann"))
    ...     store.add(Decision("b2", "sad", "absent", "ann"))
    ...     undone = store.undo("ann")
    ...     [decision.key for decision in store.decisions()]
    ['a1']
    """

    def __init__(self, path: StrPath):
        self.path = Path(path)
        check_store(self.path)
        self._lock = RLock()
        with self._clear_errors():
            self._connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute(_SCHEMA)
            self._connection.execute(_LEASES)
        self._seen = 0
        self._active: dict[str, list[Decision]] = {}  # by reviewer, in order
        self._places: dict[Place, list[Decision]] = {}
        self._changed: set[Place] = set()

    def add(self, *decisions: Decision) -> None:
        """Write decisions of people in one transaction. They are on disk when the call returns."""
        with self._lock, self._clear_errors(), self._transaction():
            self._insert(decisions)

    def merge(self, decisions: Collection[Decision]) -> int:
        """Write decisions of a file that are newer than all of the same reviewer about the same entry.

        Decisions that have been written before are skipped, also if the reviewer has changed or undone them since.

        Returns
        -------
        int
            Number of decisions that were written.
        """
        query = "SELECT key, label, reviewer, MAX(time) FROM decision GROUP BY key, label, reviewer"
        with self._lock, self._clear_errors(), self._transaction():
            last = {tuple(place): time for *place, time in self._connection.execute(query)}
            new = [d for d in decisions if d.time > last.get((d.key, d.label, d.reviewer), "")]
            self._insert(new)
            return len(new)

    def lease(self, reviewer: str, choose: Callable[[set[Place]], Collection[Place]], seconds: float) -> None:
        """Reserve entries for a reviewer, so that others get other entries; earlier ones of the reviewer are released.

        Parameters
        ----------
        reviewer : str
            Name of the reviewer.
        choose : callable
            Function that returns the entries to reserve, given those that are reserved for others. No other process
            writes decisions or reserves entries before it returns.
        seconds : float
            Duration of the reservation.
        """
        with self._lock, self._clear_errors(), self._transaction():
            now = datetime.now(UTC).timestamp()
            held = self._connection.execute(
                "SELECT key, label FROM lease WHERE reviewer != ? AND until > ?", (reviewer, now)
            )
            chosen = choose({(key, label) for key, label in held})
            self._connection.execute("DELETE FROM lease WHERE reviewer = ? OR until <= ?", (reviewer, now))
            rows = [(*place, reviewer, now + seconds) for place in chosen]
            self._connection.executemany("INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?)", rows)

    def undo(self, reviewer: str) -> Decision | None:
        """Take back the last decision of a reviewer, and return it; None if there is none."""
        with self._lock, self._clear_errors():
            self._refresh()
            stack = self._active.get(reviewer)
            if not stack:
                return None
            with self._transaction():
                self._insert([stack[-1]], answer=_UNDO, time=datetime.now(UTC).isoformat(timespec="milliseconds"))
            return stack[-1]

    def decisions(self) -> list[Decision]:
        """Return the decisions that have not been undone, in order."""
        with self._lock, self._clear_errors():
            self._refresh()
            return [decision for place in self._places.values() for decision in place]

    def at(self, place: Place) -> list[Decision]:
        """Return the decisions about one entry that have not been undone, in order."""
        return list(self._places.get(place, ()))

    def refresh(self) -> set[Place]:
        """Read the rows that this or other processes have added, and return the entries that have changed."""
        with self._lock, self._clear_errors():
            self._refresh()
            changed, self._changed = self._changed, set()
            return changed

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Raise errors of SQLite as OSError if the file cannot be used, and as ValueError if it is damaged."""
        try:
            yield
        except sqlite3.ProgrammingError:  # such as a store that is closed
            raise
        except sqlite3.OperationalError as error:
            reason = f"{error}; choose another folder or free some space. Confirmed decisions are stored"
            raise OSError(f"cannot read or write {self.path}: {reason}") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self.path} is damaged: {error}; restore it from a copy, or pass a new file") from error

    def _insert(self, decisions: Collection[Decision], **values: str) -> None:
        """Add rows for decisions, with other values in some columns."""
        if any(decision.confidence is not None for decision in decisions):
            raise ValueError(
                "predictions of a model are not decisions of a person; check them, and fill in answer with present, "
                "absent or unsure"
            )
        names = _COLUMNS.split(", ")
        rows = [[values.get(name, getattr(decision, name)) for name in names] for decision in decisions]
        self._connection.executemany(f"INSERT INTO decision ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", rows)  # nosec B608

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all rows of the block, or none if there is an error."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # SQLite may have rolled back already
                self._connection.execute("ROLLBACK")
            raise

    def _refresh(self) -> None:
        query = f"SELECT id, {_COLUMNS} FROM decision WHERE id > ? ORDER BY id"  # nosec B608
        for number, key, label, answer, reviewer, time, sample in self._connection.execute(query, (self._seen,)):
            self._seen, stack = number, self._active.setdefault(reviewer, [])
            if answer != _UNDO:
                stack.append(Decision(key, label, answer, reviewer, time, sample))
                self._places.setdefault((key, label), []).append(stack[-1])
            elif stack:  # two processes may undo the same decision
                undone = stack.pop()
                key, label = undone.place
                self._places[key, label].remove(undone)
            self._changed.add((key, label))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
