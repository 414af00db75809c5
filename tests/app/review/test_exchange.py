"""JSON lines and Label Studio: what is exported can be imported, and Label Studio's own parser accepts it."""

import json

import pytest

from spmld.app.review import Annotation, AnnotationStore, export_entries, read_annotations
from spmld.app.review.annotations import match_annotations, resolve
from spmld.app.review.editable_tables import CsvTable
from spmld.app.review.table_samples import TableSamples
from tests.app.review.cases import EVIL, make_session


@pytest.fixture
def session(tmp_path):
    with AnnotationStore(tmp_path / "store.sqlite") as store:
        yield make_session(store, names=["sad", EVIL, "calm & <b>", "größe"])


def annotate(tasks, answers, reviewer=1):
    """Return tasks as Label Studio exports them, with one annotation each."""
    exported = []
    for number, (task, answer) in enumerate(zip(tasks, answers, strict=True)):
        value = {"choices": [answer]}
        result = [{"id": "x", "from_name": "annotation", "to_name": "entry", "type": "choices", "value": value}]
        annotation = {"id": number, "completed_by": reviewer, "result": result, "was_cancelled": False}
        annotation["updated_at"] = f"2026-01-01T00:00:{number % 60:02d}.000000Z"
        exported.append({"id": number, "data": task["data"], "annotations": [annotation], "predictions": []})
    return exported


def write_jsonl(records, path):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def read_jsonl(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_json_lines_round_trip(session, tmp_path):
    path = tmp_path / "entries.jsonl"
    assert export_entries(session.queue, session.samples, path) == len(session.queue)
    assert read_annotations(path) == []  # nothing is decided yet
    records = read_jsonl(path)
    assert [(r["sample"], r["label"]) for r in records] == list(
        session.queue[["sample", "label"]].itertuples(False, None)
    )
    answers = ["present", "absent", "unsure", None] * len(records)
    write_jsonl(({**r, "answer": a, "reviewer": "eve"} for r, a in zip(records, answers, strict=False)), path)
    annotations = read_annotations(path)
    expected = [(r["key"], r["label"], a) for r, a in zip(records, answers, strict=False) if a is not None]
    assert [(d.key, d.label, d.answer) for d in annotations] == expected
    assert {d.reviewer for d in annotations} == {"eve"}


def test_exported_entries_contain_the_outcome(session, tmp_path):
    session.decide(session.queue.index[0], "absent")
    session.decide(session.queue.index[2], "skip")
    export_entries(session.queue, session.samples, tmp_path / "entries.jsonl", resolve(session.store.annotations()))
    assert [record["answer"] for record in read_jsonl(tmp_path / "entries.jsonl")[:3]] == ["absent", None, None]
    (annotation,) = read_annotations(tmp_path / "entries.jsonl")
    assert annotation.place == session.store.annotations()[0].place


def test_label_studio_round_trip(session, tmp_path):
    path = tmp_path / "tasks.json"
    count = export_entries(session.queue, session.samples, path)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    assert len(tasks) == count == len(session.queue)
    answers = [("present", "absent", "unsure")[i % 3] for i in range(count)]
    exported = annotate(tasks, answers)
    exported[0]["annotations"][0]["was_cancelled"] = True
    exported[1]["annotations"][0]["completed_by"] = {"id": 7, "email": "ann@example.org"}
    (tmp_path / "export.json").write_text(json.dumps(exported))
    annotations = {annotation.place: annotation for annotation in read_annotations(tmp_path / "export.json")}
    assert len(annotations) == count - 1
    for entry, answer in list(zip(session.queue.itertuples(), answers, strict=True))[1:]:
        assert annotations[session.samples.keys[entry.sample], entry.label].answer == answer
    assert {annotation.reviewer for annotation in annotations.values()} == {"ann@example.org", "label-studio-1"}


def test_the_prediction_of_a_task_is_the_more_probable_choice(session, tmp_path):
    export_entries(session.queue, session.samples, tmp_path / "tasks.json")
    for task, entry in zip(json.loads((tmp_path / "tasks.json").read_text()), session.queue.itertuples(), strict=True):
        (prediction,) = task["predictions"]
        (choice,) = prediction["result"][0]["value"]["choices"]
        assert choice == ("present" if entry.probability > 0.5 else "absent")
        assert prediction["score"] == pytest.approx(max(entry.probability, 1 - entry.probability))


@pytest.mark.parametrize("image", [None, "words"])
def test_label_studio_accepts_configuration_tasks_and_annotations(session, tmp_path, image):
    label_interface = pytest.importorskip(
        "label_studio_sdk.label_interface", reason="needs label-studio-sdk: pip install --group dev"
    )
    export_entries(session.queue, session.samples, tmp_path / "tasks.json", image=image)
    config = (tmp_path / "tasks.xml").read_text(encoding="utf-8")
    interface = label_interface.LabelInterface(config)
    interface.validate()
    control = interface.get_control("annotation")
    assert list(control.labels) == ["present", "absent", "unsure"]
    assert control.to_name == ["entry"]
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    for task in tasks[:20]:
        assert interface.validate_task({"data": task["data"]})
        assert not interface.validate_task({"data": {"question": "?"}})
        assert interface.validate_prediction(task["predictions"][0])
    for exported in annotate(tasks[:20], ["unsure"] * 20):
        assert interface.validate_annotation(exported["annotations"][0])
    (generated,) = interface.generate_sample_annotation()["result"]
    assert (generated["from_name"], generated["to_name"], generated["type"]) == ("annotation", "entry", "choices")
    wrong = annotate(tasks[:1], ["perhaps"])[0]["annotations"][0]
    assert not interface.validate_annotation(wrong)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"sample": 0, "label": "sad", "answer": "maybe"}', "answer must be one of present, absent"),
        ("a.jsonl", '{"sample": true, "label": "sad", "answer": "absent"}', 'must have "label", and "key" or "sample"'),
        ("a.jsonl", "nothing", "line 1 is not JSON"),
        ("a.jsonl", "1", "line 1 must be a JSON object"),
        ("a.jsonl", '{"label": "sad", "answer": "present"}', 'must have "label", and "key" or "sample"'),
        ("a.json", '{"a": 1}', 'an export of Label Studio must have "data"'),
        ("a.sqlite", "text", 'unknown file extension ".sqlite"'),
        ("a.txt", "text", 'unknown file extension ".txt"'),
    ],
)
def test_errors_name_the_file_and_the_reason(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        read_annotations(tmp_path / name)
    assert name in str(error.value)


def test_an_import_that_is_repeated_does_not_override_newer_decisions(tmp_path):
    places = [("a1", "sad"), ("b2", "sad"), ("c3", "sad"), ("d4", "sad")]
    records = [{"key": key, "label": label, "answer": "present", "reviewer": "ann"} for key, label in places]
    records[3]["time"] = "2020-01-01T00:00:00Z"  # older than the file
    write_jsonl(records, tmp_path / "annotations.jsonl")
    with AnnotationStore(tmp_path / "store.sqlite") as store:
        store.add(Annotation(*places[3], "absent", "ann"))  # newer than the record
        assert store.merge(read_annotations(tmp_path / "annotations.jsonl")) == 3
        store.add(Annotation(*places[0], "absent", "ann"))
        store.add(Annotation(*places[1], "absent", "bob"))
        store.add(Annotation(*places[2], "unsure", "ann"))
        store.undo("ann")
        outcomes = resolve(store.annotations())
        assert store.merge(read_annotations(tmp_path / "annotations.jsonl")) == 0
        assert resolve(store.annotations()) == outcomes
        assert [outcomes[place] for place in places] == ["absent", "conflict", "present", "absent"]
        later = Annotation(*places[0], "unsure", "ann", "2999-01-01T00:00:00.000+00:00")
        assert store.merge([later]) == 1
        assert resolve(store.annotations())[places[0]] == "unsure"


def test_an_undone_decision_is_not_imported_again(tmp_path):
    write_jsonl([{"key": "a1", "label": "sad", "answer": "present"}], tmp_path / "annotations.jsonl")
    with AnnotationStore(tmp_path / "store.sqlite") as store:
        for added in (1, 0):
            assert store.merge(read_annotations(tmp_path / "annotations.jsonl")) == added
            store.undo("")
        assert store.annotations() == []


def test_annotations_get_the_keys_and_labels_of_the_table(tmp_path):
    samples = TableSamples(CsvTable("song,sad\n007,1\n008,0\n"), ["sad"], id="song")
    records = [{"song": 7, "label": "Sad"}, {"sample": 1, "label": "sad"}, {"song": 9, "label": "sad"}]
    records += [{"sample": 2, "label": "sad"}, {"sample": 0, "label": "merry"}, {"sample": -1, "label": "sad"}]
    write_jsonl([{**record, "answer": "present"} for record in records], tmp_path / "annotations.jsonl")
    matched, unmatched = match_annotations(read_annotations(tmp_path / "annotations.jsonl", "song"), samples, ["sad"])
    assert [(d.key, d.label, d.sample) for d in matched[:2]] == [(samples.keys[i], "sad", i) for i in (0, 1)]
    assert matched[2:] == unmatched
    assert [(d.sample_name, d.sample, d.label) for d in unmatched] == [
        ("9", None, "sad"),
        ("", 2, "sad"),
        ("", 0, "merry"),
        ("", -1, "sad"),
    ]


def test_decisions_are_ordered_by_their_time(tmp_path):
    times = ["2026-01-02T00:00:00Z", "2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00"]
    records = [{"sample": i, "label": "sad", "answer": "skip", "time": time} for i, time in enumerate(times)]
    write_jsonl(records, tmp_path / "annotations.jsonl")
    annotations = read_annotations(tmp_path / "annotations.jsonl")
    assert [annotation.sample for annotation in annotations] == [1, 2, 0]
    assert annotations[0].time == "2026-01-01T10:00:00.000+00:00"
    write_jsonl([{**records[0], "time": "yesterday"}], tmp_path / "annotations.jsonl")
    with pytest.raises(
        ValueError, match="\"time\" must be in ISO format, such as 2024-05-01T12:00:00Z, got 'yesterday'"
    ):
        read_annotations(tmp_path / "annotations.jsonl")


def test_reviewers_that_cannot_be_stored_raise_with_the_name_of_the_file(tmp_path):
    record = {"sample": 0, "label": "sad", "answer": "present", "reviewer": "\ud800"}
    write_jsonl([record], tmp_path / "annotations.jsonl")
    with pytest.raises(ValueError, match=r"annotations\.jsonl.*reviewer must be printable text, got '.ud800'"):
        read_annotations(tmp_path / "annotations.jsonl")
