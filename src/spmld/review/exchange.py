"""Export and import of entries and decisions: JSON lines and Label Studio."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from spmld._io import StrPath, need, reading, writing
from spmld._table import csv_text
from spmld.datasets.frames import identifier_text
from spmld.review.decisions import ANSWERS, Decision, Place
from spmld.review.queue import ReviewQueue
from spmld.review.samples import ArraySamples, TableSamples, identifier_key
from spmld.review.store import DecisionStore, is_store

CHOICES = ("present", "absent", "unsure")
_KEYS = {"present": "y", "absent": "n", "unsure": "u"}
_STORES = (".sqlite", ".sqlite3", ".db")
_ACCEPTED = (
    ".sqlite (written by spmld review), .jsonl, .csv, .tsv or .parquet (a decision in each row), or .json (export of "
    "Label Studio in the format JSON)"
)


def entry_records(
    queue: ReviewQueue, samples: TableSamples | ArraySamples, outcomes: Mapping[Place, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield one dictionary for each entry of a queue: place, evidence, content of the sample, and the decision if any.

    Parameters
    ----------
    queue : ReviewQueue
        Entries.
    samples : TableSamples or ArraySamples
        Content and keys of the samples.
    outcomes : mapping, optional
        Result of `resolve`, for entries that are already decided.

    Examples
    --------
    See `write_tasks`.
    """
    for entry in queue:
        key, label = samples.keys[entry.sample], queue.label_names[entry.label]
        record = {**asdict(entry), "key": key, "label": label, "answer": (outcomes or {}).get((key, label))}
        yield {**record, "fields": dict(samples.fields(entry.sample))}


def write_jsonl(records: Iterable[Mapping[str, Any]], path: StrPath) -> int:
    """Write dictionaries as JSON lines, and return their number.

    Examples
    --------
    See `read_decisions`.
    """
    count = 0
    with writing(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for count, record in enumerate(records, start=1):  # noqa: B007
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return count


def label_config(text: bool = True, image: bool = False) -> str:
    """Return the labeling configuration of Label Studio: the question, the sample, and the choices.

    Parameters
    ----------
    text, image : bool
        Whether tasks have text and images.

    Examples
    --------
    >>> from spmld.review import label_config
    >>> print(label_config())
    <View>
      <Header value="$question"/>
      <Text name="entry" value="$text"/>
      <Choices name="decision" toName="entry" choice="single" required="true">
        <Choice value="present" hotkey="y"/>
        <Choice value="absent" hotkey="n"/>
        <Choice value="unsure" hotkey="u"/>
      </Choices>
    </View>
    """
    objects = [("Image", "image")] * image + [("Text", "text")] * (text or not image)
    names = ["entry", "content"]
    lines = ["<View>", '  <Header value="$question"/>']
    lines += [f'  <{tag} name="{name}" value="${field}"/>' for (tag, field), name in zip(objects, names, strict=False)]
    lines += ['  <Choices name="decision" toName="entry" choice="single" required="true">']
    lines += [f"    <Choice value={quoteattr(choice)} hotkey={quoteattr(_KEYS[choice])}/>" for choice in CHOICES]
    return "\n".join([*lines, "  </Choices>", "</View>"])


def write_tasks(records: Iterable[Mapping[str, Any]], path: StrPath, image: str | None = None) -> int:
    """Write tasks for Label Studio, one for each entry, and the labeling configuration in a file ``.xml`` beside it.

    Parameters
    ----------
    records : iterable of dict
        Entries, see `entry_records`. The prediction of a task is the more probable choice.
    path : str or path-like
        JSON file to write.
    image : str, optional
        Field with the address of an image.

    Returns
    -------
    int
        Number of tasks.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from spmld.review import write_tasks
    >>> entry = {"key": "a1", "sample": 0, "label": "sad", "probability": 0.9, "gain": 0.9, "given": 0}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tasks([{**entry, "kind": "suspicious", "fields": {"words": "The rain"}}], folder + "/tasks.json")
    ...     task = json.loads(pathlib.Path(folder, "tasks.json").read_text())[0]
    1
    >>> task["data"]["question"], task["data"]["text"]
    ('Does this sample have the label "sad"?', 'words: The rain')
    """
    tasks = [_task(record, image) for record in records]
    with writing(path) as part:
        part.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    with writing(Path(path).with_suffix(".xml")) as part:
        part.write_text(label_config(image=image is not None) + "\n", encoding="utf-8")
    return len(tasks)


def _task(record: Mapping[str, Any], image: str | None) -> dict[str, Any]:
    fields, probability = record["fields"], record["probability"]
    given = {None: "missing", 1: "present", 0: "absent"}[record["given"]]
    choice = "present" if probability > 0.5 else "absent"
    shown = [(name, value) for name, value in fields.items() if value not in ("", "0", "0.0") and name != image]
    result = {"from_name": "decision", "to_name": "entry", "type": "choices", "value": {"choices": [choice]}}
    data = {
        "question": f'Does this sample have the label "{record["label"]}"?',
        "text": "\n".join(f"{name}: {value}" for name, value in shown) or "-",
        **({"image": fields.get(image, "")} if image is not None else {}),
        **{name: record[name] for name in ("key", "sample", "label", "kind", "probability", "gain")},
        "given": given,
    }
    score = max(probability, 1 - probability)
    return {"data": data, "predictions": [{"model_version": "spmld", "score": score, "result": [result]}]}


def read_decisions(path: StrPath, id: str | None = None) -> list[Decision]:
    """Read decisions from a file.

    Parameters
    ----------
    path : str or path-like
        SQLite file of `DecisionStore`; a table (JSON lines, JSON list, CSV or Parquet) with the columns "key", "sample"
        or that of `id`, "label" and "answer", and optionally "reviewer" and "time"; or an export of Label Studio in the
        format JSON. Rows without an answer are ignored. A list of ``spmld complete`` has "confidence" and no "answer":
        its labels are present, unless "predicted" is absent.
    id : str, optional
        Column that identifies the samples.

    Returns
    -------
    list of Decision
        Decisions in order of time; those without a time have that of the file. Decisions without a key have an empty
        one and the index of the sample.

    Examples
    --------
    >>> import tempfile
    >>> from spmld.review import read_decisions, write_jsonl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     records = [{"sample": 3, "label": "sad", "answer": "absent"}, {"sample": 4, "label": "sad", "answer": None}]
    ...     count = write_jsonl(records, folder + "/decisions.jsonl")
    ...     [(decision.sample, decision.answer) for decision in read_decisions(folder + "/decisions.jsonl")]
    [(3, 'absent')]
    """
    extension = Path(path).suffix.lower()
    if extension in _STORES:
        with reading(path, "decisions of spmld review") as file:
            if not is_store(file):
                raise ValueError("it is not a SQLite file")
        with DecisionStore(path) as store:
            return store.decisions()
    if extension not in _READERS:
        raise ValueError(f'unknown file extension "{Path(path).suffix}" of {path}; supported: {_ACCEPTED}')
    with reading(path, "decisions") as file:
        time = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()
        records = _READERS[extension](file)
        if records and not any("label" in record and record.keys() & {"answer", "confidence"} for record in records):
            names = ", ".join(list(records[0])[:10])
            raise ValueError(f'decisions must have "label", and "answer" or "confidence", got the columns {names}')
        records = [record for record in records if _answer(record) is not None]
        return sorted((_decision(record, id, time) for record in records), key=lambda d: d.time)


def _json_lines(file: Path) -> list[dict[str, Any]]:
    lines = enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
    return [_parse_line(number, line) for number, line in lines if line.strip()]


def _csv_rows(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t" if file.suffix.lower() == ".tsv" else ","))
    return [{name: _plain(value) if value else None for name, value in row.items()} for row in rows]


def _plain(value: str) -> str:
    """Return text without the apostrophe that `spmld._table.csv_text` has added."""
    return value[1:] if value[:1] == "'" and csv_text(value[1:]) == value else value


def _parquet_rows(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = need("pyarrow.parquet").read_table(file).to_pylist()
    return rows


def _json_list(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a list, or those of an export of Label Studio."""
    items = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(items, list) or not all(
        isinstance(item, dict) and ("data" in item or "label" in item) for item in items
    ):
        raise ValueError(
            'expected a list of tasks with "data" and "annotations"; export in the format JSON; or a list of objects '
            'with "label" and "answer"'
        )
    return [record for item in items for record in ([item] if "label" in item else _annotations(item))]


_READERS: dict[str, Callable[[Path], list[dict[str, Any]]]] = {
    ".jsonl": _json_lines,
    ".json": _json_list,
    ".csv": _csv_rows,
    ".tsv": _csv_rows,
    ".parquet": _parquet_rows,
}


def _parse_line(number: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} is not JSON: {error}") from error
    if not isinstance(record, dict):
        raise ValueError(f"line {number} must be a JSON object, got {line[:40]!r}")
    return record


def _answer(record: Mapping[str, Any]) -> Any:
    """Return the answer of a person, or else the prediction of a model."""
    predicted = "present" if "confidence" in record and "answer" not in record else None
    return record.get("answer") or (record.get("predicted", predicted) if predicted else None)


def _decision(record: Mapping[str, Any], id: str | None, time_of_file: str) -> Decision:
    key, sample, label, answer = record.get("key"), record.get("sample"), record.get("label"), _answer(record)
    if isinstance(sample, str) and sample.isdecimal():
        sample = int(sample)
    if key is None and not isinstance(sample, int) and id is not None and record.get(id) is not None:
        key = identifier_key(identifier_text(record[id]))
    if not isinstance(label, str) or (not isinstance(key, str) and not isinstance(sample, int)):
        content = json.dumps(dict(record), default=str)[:80]
        known = '"key" or "sample"' if id is None else f'"key", "sample" or {json.dumps(id)}'
        advice = "; pass --id if it has the identifiers of the samples" if id is None else ""
        raise ValueError(f'a decision must have "label", and {known}, got {content}{advice}')
    if answer not in ANSWERS:
        raise ValueError(f"answer must be one of {', '.join(ANSWERS)}, got {answer!r} for the label {label!r}")
    try:
        time = datetime.fromisoformat(str(record.get("time") or time_of_file))
    except ValueError:
        raise ValueError(
            f'"time" must be in ISO format, such as 2024-05-01T12:00:00Z, got {record["time"]!r}'
        ) from None
    time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    confidence = None if record.get("answer") else float(record["confidence"])
    place = key if isinstance(key, str) else "", label
    text = time.isoformat(timespec="milliseconds")
    return Decision(*place, answer, str(record.get("reviewer") or ""), text, sample, confidence)


def _annotations(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the decisions about a task that Label Studio has exported."""
    for annotation in task.get("annotations", []):
        choices = [
            choice
            for result in annotation.get("result", [])
            if result.get("from_name") == "decision"
            for choice in result["value"]["choices"]
        ]
        if choices and not annotation.get("was_cancelled"):
            time = annotation.get("updated_at") or annotation.get("created_at")
            record = {**task["data"], "answer": choices[0], "reviewer": _reviewer(annotation.get("completed_by"))}
            yield {**record, **({"time": time} if time else {})}


def _reviewer(completed_by: Any) -> str:
    """Return the reviewer of an annotation, which Label Studio exports as a number or as an object with an e-mail."""
    if isinstance(completed_by, dict):
        return str(completed_by.get("email") or completed_by.get("id") or "")
    return "" if completed_by is None else f"label-studio-{completed_by}"
