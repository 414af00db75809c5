"""Records of trials: a file with one JSON object per line, compressed if its name ends in .xz.

==========  ===========================================================================================
kind        content
==========  ===========================================================================================
``study``   study whose trials are in the file, as in its TOML file
``data``    size of a data set
``trial``   description and key of a trial, status, metrics, error, warnings, times, version of the code
==========  ===========================================================================================

Each record is on disk before the next one is written. A killed process leaves at most an incomplete last line, which
is dropped. Of two records of the same trial, the later one is valid. New records of a compressed file are appended to
a second file, whose name ends in .journal, until the study is finished.
"""

import json
import lzma
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from spmld._io import write_error, writing
from studies.config import Study, parse_study
from studies.trial import Trial, trial_key

Record = dict[str, Any]
_FIELDS = {"study": {"name", "study"}, "data": {"name"}, "trial": {"key", "trial", "status", "metrics"}}


class RecordError(ValueError):
    """Error of a file of records: it cannot be read, is damaged, or another process is writing it.

    Examples
    --------
    >>> from studies.records import read_records
    >>> read_records("nothing.jsonl")
    Traceback (most recent call last):
    studies.records.RecordError: nothing.jsonl cannot be read: No such file or directory
    """


class Records:
    """Records in memory, the latest of each trial.

    Attributes
    ----------
    studies, data : dict
        Records by name.
    trials : dict
        Records by the key of their description.

    Examples
    --------
    >>> from studies.records import Records
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
        """Add a record, or replace an earlier one of the same trial."""
        if record["kind"] == "trial":
            self.trials[trial_key(record["trial"])] = record
        else:
            (self.studies if record["kind"] == "study" else self.data)[record["name"]] = record

    def finished(self, trial: Trial, retry: bool = False) -> bool:
        """Return whether a trial is recorded; failed trials do not count if `retry` is True."""
        record = self.trials.get(trial.key)
        return record is not None and (record["status"] == "ok" or not retry)

    def metrics(self, trial: Trial) -> dict[str, float] | None:
        """Return the metrics of a successful trial, or None."""
        record = self.trials.get(trial.key)
        if record is None or record["status"] != "ok":
            return None
        return {name: float("nan") if value is None else value for name, value in record["metrics"].items()}

    def failed(self) -> list[Record]:
        """Return the records of failed trials."""
        return [record for record in self.trials.values() if record["status"] != "ok"]

    def unconverged(self, trials: Iterable[Trial]) -> int:
        """Return the number of trials whose fit stopped before convergence."""
        found = (self.trials.get(trial.key, {}).get("warnings", []) for trial in trials)
        return sum(any(text.startswith("ConvergenceWarning") for text in warnings) for warnings in found)

    def cpu_hours(self) -> float:
        """Return the CPU time of all trials in hours."""
        return sum(record.get("cpu_seconds") or 0.0 for record in self.trials.values()) / 3600

    def versions(self) -> list[str]:
        """Return the versions of the code that trials were run with."""
        return sorted({str(record.get("version")) for record in self.trials.values()})

    def study(self, name: str) -> Study:
        """Return a study of the file."""
        return parse_study(self.studies[name]["study"], name)

    def in_order(self) -> list[Record]:
        """Return all records in an order that does not depend on when trials finished; studies keep their order."""

        def position(record: Record) -> tuple[Any, ...]:
            trial = record["trial"]
            corruption, params = (json.dumps(trial[name], sort_keys=True) for name in ("corruption", "params"))
            condition = (trial["data"], trial["observed"], corruption, trial["method"])
            return (trial["kind"], *condition, params, trial["seed"], record["key"])

        data = [self.data[name] for name in sorted(self.data)]
        return [*self.studies.values(), *data, *sorted(self.trials.values(), key=position)]


def read_records(path: str | Path) -> Records:
    """Read a file of records, compressed or not. An incomplete last line is ignored.

    Parameters
    ----------
    path : path
        File.

    Raises
    ------
    RecordError
        If the file does not exist, is damaged or does not contain records.
    """
    path, journal = Path(path), _journal(path)
    if not path.exists() and not journal.exists():
        raise RecordError(f"{path} cannot be read: No such file or directory")
    return _records(path, journal)[0]


class RecordWriter:
    """File of records that is open for appending. Use it as a context manager.

    Parameters
    ----------
    path : path
        File. It and its folder are created if necessary; a name that ends in .xz is a compressed file.

    Attributes
    ----------
    records : Records
        Records of the file.

    Examples
    --------
    >>> import tempfile
    >>> from studies.records import RecordWriter, read_records
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with RecordWriter(folder + "/results.jsonl") as file:
    ...         file.append({"kind": "data", "name": "tiny", "labels": 3})
    ...     read_records(folder + "/results.jsonl").data["tiny"]["labels"]
    3
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        journal = _journal(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = journal.open("a+b")
            while not self._lock(journal):
                self._file.close()
                self._file = journal.open("a+b")
        except OSError as error:
            raise RecordError(f"{path} cannot be written: {error.strerror}") from None
        try:
            self.records, end = _records(self.path, journal)
            self._file.truncate(end)
        except BaseException:
            self._file.close()
            raise

    def _lock(self, journal: Path) -> bool:
        """Lock the file, and return whether it still has its name; the lock is released when the process ends.

        Between opening and locking, another process may have replaced the file by one with the records in order.
        """
        try:
            import fcntl
        except ImportError:  # Windows
            return True
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise RecordError(f"{self.path} is being written by another process") from None
        return journal.exists() and os.path.samestat(os.fstat(self._file.fileno()), journal.stat())

    def append(self, record: Record) -> None:
        """Write a record to the disk."""
        try:
            self._file.write(_line(record))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            with suppress(OSError):  # closing writes the rest again
                self._file.close()
            raise RecordError(f"{write_error(self.path, error)}; finished trials are recorded") from error
        self.records.add(record)

    def put_in_order(self) -> None:
        """Replace the file by one with the records in order, atomically. It is then closed."""
        content = b"".join(map(_line, self.records.in_order()))
        try:
            with writing(self.path) as part, part.open("wb") as file:
                file.write(lzma.compress(content) if self.path.suffix == ".xz" else content)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RecordError(f"{error}; finished trials are recorded") from error
        if (journal := _journal(self.path)) != self.path:
            journal.unlink()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _journal(path: str | Path) -> Path:
    """Return the file that records are appended to."""
    path = Path(path)
    return path.with_name(path.name + ".journal") if path.suffix == ".xz" else path


def _records(path: Path, journal: Path) -> tuple[Records, int]:
    """Return the records of a file and its journal, and the length of the complete lines of the journal."""
    content = _read(journal)
    end = _complete(content, journal)
    return Records(_archived(path) + _parse(content[:end], journal)), end


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None


def _archived(path: Path) -> list[Record]:
    """Return the records of a compressed file; no records if it does not exist."""
    if path.suffix != ".xz" or not path.exists():
        return []
    try:
        content = lzma.decompress(_read(path))
    except lzma.LZMAError as error:
        raise RecordError(f"{path} is damaged or not an xz file: {error}; restore it from a copy") from None
    return _parse(content, path)


def _line(record: Record) -> bytes:
    return json.dumps(record, allow_nan=False).encode() + b"\n"


def _complete(content: bytes, path: Path) -> int:
    """Return the length of the complete lines. An incomplete last line must be the start of a record."""
    end = content.rfind(b"\n") + 1
    start = b'{"kind": "'
    tail = content[end:]
    if not (tail.startswith(start) or start.startswith(tail)):
        raise RecordError(f"{path} is not a file of records: its last line is not the start of a record")
    return end


def _parse(content: bytes, path: Path) -> list[Record]:
    records = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise RecordError(f"{path} line {number} is not a record: it is not valid JSON") from None
        kind = record.get("kind") if isinstance(record, dict) else None
        if kind not in _FIELDS or not _FIELDS[kind] <= set(record):
            raise RecordError(f"{path} line {number} is not a record of a study, a data set or a trial")
        records.append(record)
    return records
