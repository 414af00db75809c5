"""Export of entries and import of annotations: JSON lines and Label Studio."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spmld._io import StrPath, reading, writing
from spmld._table import from_csv_text
from spmld.app.review.annotations import Annotation, Place
from spmld.app.review.editable_tables import open_table
from spmld.app.review.store import AnnotationStore, is_store
from spmld.app.review.table_samples import ZEROS, TableSamples, identifier_key
from spmld.datasets.frames import identifier_text

_CONFIGURATION = """<View>
  <Header value="$question"/>
  {sample}
  <Choices name="annotation" toName="entry" choice="single" required="true">
    <Choice value="present" hotkey="y"/>
    <Choice value="absent" hotkey="n"/>
    <Choice value="unsure" hotkey="u"/>
  </Choices>
</View>
"""
_TEXT = '<Text name="entry" value="$text"/>'
_IMAGE = '<Image name="entry" value="$image"/>\n  <Text name="content" value="$text"/>'


def export_entries(
    queue: Any,
    samples: TableSamples,
    path: StrPath,
    outcomes: Mapping[Place, str] | None = None,
    image: str | None = None,
) -> int:
    r"""Write the entries of a queue for another program, and return their number.

    Each entry has its place, the evidence, the content of the sample, and the answer if there is one. JSON lines can be
    read by `read_annotations` after "answer" is filled in.

    Parameters
    ----------
    queue : DataFrame
        Entries, see `make_queue`.
    samples : TableSamples
        Content and keys of the samples.
    path : str or path-like
        File to write: ``.jsonl`` for JSON lines, or ``.json`` for tasks of Label Studio, whose labeling configuration
        is written to a file ``.xml`` beside it. The prediction of a task is the more probable choice.
    outcomes : mapping, optional
        Result of `resolve`, for entries that have annotations already.
    image : str, optional
        Field with the address of an image, for Label Studio.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import pandas as pd
    >>> from spmld.app.review import export_entries
    >>> from spmld.app.review.table_samples import TableSamples
    >>> from spmld.app.review.editable_tables import CsvTable
    >>> entry = {"sample": 0, "label": "sad", "kind": "absent", "given": "absent", "probability": 0.9, "priority": 0.9}
    >>> queue = pd.DataFrame([entry])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_entries(queue, TableSamples(CsvTable("words,sad\nThe rain,0"), ["sad"]), folder + "/tasks.json")
    ...     task = json.loads(pathlib.Path(folder, "tasks.json").read_text())[0]
    1
    >>> task["data"]["question"], task["data"]["text"]
    ('Does this sample have the label "sad"?', 'words: The rain')
    """
    records = []
    for record in queue.to_dict("records"):
        key = samples.keys[record["sample"]]
        answer = (outcomes or {}).get((key, record["label"]))
        fields = dict(samples.fields(record["sample"]))
        records.append({**record, "key": key, "answer": answer, "fields": fields})
    if Path(path).suffix.lower() == ".jsonl":
        with writing(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        return len(queue)
    tasks = [_task(record, image) for record in records]
    with writing(path) as part:
        part.write_text(json.dumps(tasks, ensure_ascii=False, indent=1), encoding="utf-8")
    with writing(Path(path).with_suffix(".xml")) as part:
        part.write_text(_CONFIGURATION.format(sample=_TEXT if image is None else _IMAGE), encoding="utf-8")
    return len(queue)


def _task(record: Mapping[str, Any], image: str | None) -> dict[str, Any]:
    fields = record["fields"]
    probability = record["probability"]
    choice = "present" if probability > 0.5 else "absent"
    shown = [(name, value) for name, value in fields.items() if value not in ("", *ZEROS) and name != image]
    result = {"from_name": "annotation", "to_name": "entry", "type": "choices", "value": {"choices": [choice]}}
    data = {
        "question": f'Does this sample have the label "{record["label"]}"?',
        "text": "\n".join(f"{name}: {value}" for name, value in shown) or "-",
        **({"image": fields.get(image, "")} if image is not None else {}),
        **{name: record[name] for name in ("key", "sample", "label", "kind", "given", "probability", "priority")},
    }
    score = max(probability, 1 - probability)
    return {"data": data, "predictions": [{"model_version": "spmld", "score": score, "result": [result]}]}


def read_annotations(path: StrPath, id: str | None = None) -> list[Annotation]:
    r"""Read annotations from a file.

    Parameters
    ----------
    path : str or path-like
        SQLite file of `AnnotationStore`; a table (JSON lines, JSON list, CSV, Excel or Parquet) with the columns "key",
        "sample" or that of `id`, "label" and "answer", and optionally "reviewer" and "time"; or an export of Label
        Studio in the format JSON. Rows without an answer are ignored. A list of ``spmld complete`` has "confidence" and
        no "answer": its labels are present, unless "predicted" is absent.
    id : str, optional
        Column that identifies the samples.

    Returns
    -------
    list of Annotation
        Annotations in order of time; those without a time have that of the file. Annotations without a key have an
        empty one and the index of the sample.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from spmld.app.review import read_annotations
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "annotations.csv")
    ...     count = file.write_text("sample,label,answer\n3,sad,absent\n4,sad,\n")
    ...     [(annotation.sample, annotation.answer) for annotation in read_annotations(file)]
    [(3, 'absent')]
    """
    if Path(path).is_file() and is_store(path):
        with AnnotationStore(path) as store:
            return store.annotations()
    with reading(path, "annotations") as file:
        time = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat()
        records = list(_read_records(file))
        if records and not any(record.keys() >= {"label", "answer"} for record in records):
            names = ", ".join(list(records[0])[:10])
            raise ValueError(
                f'annotations must have "label", and "answer" or "confidence", got the columns {names}; an export of '
                'Label Studio must have "data" and "annotations", as in the format JSON'
            )
        answered = [record for record in records if record.get("answer") is not None]
        return sorted((_annotation(record, id, time) for record in answered), key=lambda d: d.time)


def _read_records(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, or the annotations of Label Studio; None where a field is empty.

    The prediction of a model is an answer with a confidence.
    """
    table = open_table(file)
    for i in range(len(table)):
        values = [None if value == "" else from_csv_text(value) for value in table.values(i)]
        row = dict(zip(table.columns, values, strict=False))
        confidence = row.pop("confidence", None)
        if "data" in row:
            yield from _label_studio(row)
        elif confidence is not None and "answer" not in row:
            yield {**row, "answer": row.get("predicted", "present"), "confidence": float(confidence)}
        else:
            yield row


def _annotation(record: Mapping[str, Any], id: str | None, time_of_file: str) -> Annotation:
    key = record.get("key")
    sample = record.get("sample")
    label = record.get("label")
    if isinstance(sample, str) and sample.isdecimal():
        sample = int(sample)
    if not isinstance(sample, int) or isinstance(sample, bool):
        sample = None
    name = "" if id is None or record.get(id) is None else str(record[id])
    if key is None and sample is None and name:
        key = identifier_key(identifier_text(name))
    if not isinstance(label, str) or (not isinstance(key, str) and sample is None):
        content = json.dumps(dict(record), default=str)[:80]
        known = '"key" or "sample"' if id is None else f'"key", "sample" or {json.dumps(id)}'
        advice = "; pass --id if it has the identifiers of the samples" if id is None else ""
        raise ValueError(f'an annotation must have "label", and {known}, got {content}{advice}')
    try:
        time = datetime.fromisoformat(str(record.get("time") or time_of_file))
    except ValueError:
        raise ValueError(
            f'"time" must be in ISO format, such as 2024-05-01T12:00:00Z, got {record["time"]!r}'
        ) from None
    time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    key = key if isinstance(key, str) else ""
    reviewer = str(record.get("reviewer") or "")
    text = time.isoformat(timespec="milliseconds")
    return Annotation(key, label, record["answer"], reviewer, text, sample, record.get("confidence"), name)


def _label_studio(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the annotations of a task that Label Studio has exported."""
    for annotation in task.get("annotations") or []:
        names = [result.get("from_name") for result in annotation.get("result", [])]
        if names and "annotation" not in names:
            raise ValueError(
                f'an annotation of Label Studio must have a choice named "annotation", got {json.dumps(names[0])}; '
                "export the project whose tasks and configuration spmld review --export has written"
            )
        results = [result for result in annotation.get("result", []) if result.get("from_name") == "annotation"]
        choices = [choice for result in results for choice in result["value"]["choices"]]
        if choices and not annotation.get("was_cancelled"):
            time = annotation.get("updated_at") or annotation.get("created_at")
            reviewer = _reviewer(annotation.get("completed_by"))
            yield {**task["data"], "answer": choices[0], "reviewer": reviewer, "time": time}


def _reviewer(completed_by: Any) -> str:
    """Return the reviewer of an annotation, which Label Studio exports as a number or as an object with an e-mail."""
    if isinstance(completed_by, dict):
        return str(completed_by.get("email") or completed_by.get("id") or "")
    return "" if completed_by is None else f"label-studio-{completed_by}"
