"""The raw results: a file with one JSON record a line.

==========  =============================================================================================
kind        content
==========  =============================================================================================
``study``   a study whose trials are in the file, as its TOML file says it
``data``    size of a data set
``trial``   description and key of a trial, status, metrics, error, warnings, times, peak_mib, version
==========  =============================================================================================

A record is written in one piece and forced to the disk before the next. What a killed process leaves behind is at most
an unfinished last line, which is dropped. Of two records of the same thing the later one counts.
"""

from __future__ import annotations

import json
import lzma
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from spmld.studies.config import Study, parse_study
from spmld.studies.trial import Trial

__all__ = ["RecordError", "RecordWriter", "Records", "read_records"]

Record = dict[str, Any]

_KINDS = ("study", "data", "trial")


class RecordError(ValueError):
    """A file that does not hold records, or that another process writes.

    Examples
    --------
    >>> from spmld.studies import read_records
    >>> read_records("nothing.jsonl")
    Traceback (most recent call last):
    spmld.studies.records.RecordError: nothing.jsonl cannot be read: No such file or directory
    """


class Records:
    """Records in memory, the latest of each thing.

    Attributes
    ----------
    studies, data : dict
        Records by name.
    trials : dict
        Records by key.

    Examples
    --------
    >>> from spmld.studies.records import Records
    >>> Records([{"kind": "data", "name": "tiny", "labels": 2}, {"kind": "data", "name": "tiny", "labels": 3}]).data
    {'tiny': {'kind': 'data', 'name': 'tiny', 'labels': 3}}
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.studies: dict[str, Record] = {}
        self.data: dict[str, Record] = {}
        self.trials: dict[str, Record] = {}
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Add a record in place of an earlier one of the same thing."""
        if record["kind"] == "trial":
            self.trials[record["key"]] = record
        else:
            (self.studies if record["kind"] == "study" else self.data)[record["name"]] = record

    def finished(self, trial: Trial, retry: bool = False) -> bool:
        """Whether a trial need not be run; one that failed counts as finished unless it is to be tried again."""
        record = self.trials.get(trial.key)
        return record is not None and (record["status"] == "ok" or not retry)

    def metrics(self, trial: Trial) -> dict[str, float] | None:
        """The metrics of a trial that went well, None of any other."""
        record = self.trials.get(trial.key)
        if record is None or record["status"] != "ok":
            return None
        return {name: float("nan") if value is None else value for name, value in record["metrics"].items()}

    def study(self, name: str) -> Study:
        """A study of the file."""
        return parse_study(self.studies[name]["study"], name=name, source=f"study {name}")

    def in_order(self) -> list[Record]:
        """All records in an order that does not depend on how they came about."""

        def place(record: Record) -> tuple[Any, ...]:
            trial = record["trial"]
            corruption, params = (json.dumps(trial[name], sort_keys=True) for name in ("corruption", "params"))
            cell = (trial["data"], trial["observed"], corruption, trial["method"])
            return (trial["kind"], *cell, params, trial["seed"], record["key"])

        named = [table[name] for table in (self.studies, self.data) for name in sorted(table)]
        return named + sorted(self.trials.values(), key=place)


def read_records(path: str | Path) -> Records:
    """Read a file of records; an unfinished last line is left out.

    Parameters
    ----------
    path : path
        The file.

    Raises
    ------
    RecordError
        If there is no such file, or a line in it is not a record.

    Examples
    --------
    See `run_study`.
    """
    try:
        content = Path(path).read_bytes()
        content = lzma.decompress(content) if Path(path).suffix == ".xz" else content
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    return Records(_parse(content[: _complete(content, path)], path))


class RecordWriter:
    """A file of records, open to be continued. Use it in a ``with`` statement.

    Parameters
    ----------
    path : path
        The file; it is made if need be, with its folder.

    Attributes
    ----------
    records : Records
        What is in the file.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.studies import RecordWriter, read_records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with RecordWriter(folder + "/results.jsonl") as file:
    ...         file.append({"kind": "data", "name": "tiny", "labels": 3})
    ...     read_records(folder + "/results.jsonl").data["tiny"]["labels"]
    3
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a+b")
        except OSError as error:
            raise RecordError(f"{path} cannot be written: {error.strerror}") from None
        try:
            self._lock()
            self._file.seek(0)
            content = self._file.read()
            end = _complete(content, path)
            self.records = Records(_parse(content[:end], path))
            if end < len(content):
                self._file.truncate(end)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """One process at a time; the system lifts the lock when the process ends, however it ends."""
        try:
            import fcntl
        except ImportError:  # not on Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RecordError(f"{self.path} is being written by another process") from None

    def append(self, record: Record) -> None:
        """Write a record and wait until it is on the disk."""
        self._file.write(_line(record))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records.add(record)

    def put_in_order(self) -> None:
        """Replace the file by one with its records in order, each thing once. A kill leaves either of the two files."""
        beside = self.path.with_name(self.path.name + ".part")
        with beside.open("wb") as file:
            file.writelines(map(_line, self.records.in_order()))
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.path)

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _line(record: Record) -> bytes:
    return json.dumps(record, allow_nan=False).encode() + b"\n"


def _complete(content: bytes, path: str | Path) -> int:
    """Length of the complete lines. An unfinished one must look like the start of a record, or the file is not ours."""
    end = content.rfind(b"\n") + 1
    start = b'{"kind": "'
    tail = content[end:]
    if not (tail.startswith(start) or start.startswith(tail)):
        raise RecordError(f"{path} is not a file of records: its last line does not begin as one")
    return end


def _parse(content: bytes, path: str | Path) -> list[Record]:
    records = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError:
            raise RecordError(f"{path} line {number} is not a record: it is not JSON") from None
        needs = {"study": {"name", "study"}, "data": {"name"}, "trial": {"key", "trial", "status", "metrics"}}
        kind = record.get("kind") if isinstance(record, dict) else None
        if kind not in _KINDS or not needs[kind] <= set(record):
            raise RecordError(f"{path} line {number} is not a record: it has no kind, or lacks parts of it")
        records.append(record)
    return records
