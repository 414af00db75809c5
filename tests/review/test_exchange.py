"""JSON lines and Label Studio: what is exported can be imported, and Label Studio's own parser accepts it."""

import json

import pytest

from spmld.review import (
    Decision,
    DecisionStore,
    entry_records,
    label_config,
    read_decisions,
    resolve,
    write_jsonl,
    write_tasks,
)
from tests.review.cases import EVIL, make_session


@pytest.fixture
def session(tmp_path):
    with DecisionStore(tmp_path / "store.sqlite") as store:
        yield make_session(store, names=["sad", EVIL, "calm & <b>", "größe"])


def annotate(tasks, answers, reviewer=1):
    """Return tasks as Label Studio exports them, with one annotation each."""
    exported = []
    for number, (task, answer) in enumerate(zip(tasks, answers, strict=True)):
        value = {"choices": [answer]}
        result = [{"id": "x", "from_name": "decision", "to_name": "entry", "type": "choices", "value": value}]
        annotation = {"id": number, "completed_by": reviewer, "result": result, "was_cancelled": False}
        annotation["updated_at"] = f"2026-01-01T00:00:{number % 60:02d}.000000Z"
        exported.append({"id": number, "data": task["data"], "annotations": [annotation], "predictions": []})
    return exported


def test_json_lines_round_trip(session, tmp_path):
    path = tmp_path / "entries.jsonl"
    assert write_jsonl(entry_records(session.queue, session.samples), path) == len(session.queue)
    assert read_decisions(path) == []  # nothing is decided yet
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    places = [(entry.sample, session.queue.label_names[entry.label]) for entry in session.queue]
    assert [(record["sample"], record["label"]) for record in records] == places
    answers = ["present", "absent", "unsure", None] * len(records)
    write_jsonl(({**r, "answer": a, "reviewer": "eve"} for r, a in zip(records, answers, strict=False)), path)
    decisions = read_decisions(path)
    expected = [(r["key"], r["label"], a) for r, a in zip(records, answers, strict=False) if a is not None]
    assert [(d.key, d.label, d.answer) for d in decisions] == expected
    assert {d.reviewer for d in decisions} == {"eve"}


def test_exported_entries_contain_the_outcome(session, tmp_path):
    session.decide(0, "absent")
    session.decide(2, "skip")
    records = list(entry_records(session.queue, session.samples, resolve(session.store.decisions())))
    assert [record["answer"] for record in records[:3]] == ["absent", None, None]
    write_jsonl(records, tmp_path / "entries.jsonl")
    (decision,) = read_decisions(tmp_path / "entries.jsonl")
    assert decision.place == session.store.decisions()[0].place


def test_label_studio_round_trip(session, tmp_path):
    path = tmp_path / "tasks.json"
    count = write_tasks(entry_records(session.queue, session.samples), path)
    tasks = json.loads(path.read_text(encoding="utf-8"))
    assert len(tasks) == count == len(session.queue)
    answers = [("present", "absent", "unsure")[i % 3] for i in range(count)]
    exported = annotate(tasks, answers)
    exported[0]["annotations"][0]["was_cancelled"] = True
    exported[1]["annotations"][0]["completed_by"] = {"id": 7, "email": "ann@example.org"}
    (tmp_path / "export.json").write_text(json.dumps(exported))
    decisions = {decision.place: decision for decision in read_decisions(tmp_path / "export.json")}
    assert len(decisions) == count - 1
    for position in range(1, count):
        entry = session.queue[position]
        place = session.samples.keys[entry.sample], session.queue.label_names[entry.label]
        assert decisions[place].answer == answers[position]
    assert {decision.reviewer for decision in decisions.values()} == {"ann@example.org", "label-studio-1"}


def test_the_prediction_of_a_task_is_the_more_probable_choice(session, tmp_path):
    write_tasks(entry_records(session.queue, session.samples), tmp_path / "tasks.json")
    for task, entry in zip(json.loads((tmp_path / "tasks.json").read_text()), session.queue, strict=True):
        (prediction,) = task["predictions"]
        (choice,) = prediction["result"][0]["value"]["choices"]
        assert choice == ("present" if entry.probability > 0.5 else "absent")
        assert prediction["score"] == pytest.approx(max(entry.probability, 1 - entry.probability))


@pytest.mark.parametrize("image", [None, "words"])
def test_label_studio_accepts_configuration_tasks_and_annotations(session, tmp_path, image):
    label_interface = pytest.importorskip(
        "label_studio_sdk.label_interface", reason='needs label-studio-sdk: pip install "spmld[dev]"'
    )
    write_tasks(entry_records(session.queue, session.samples), tmp_path / "tasks.json", image)
    config = (tmp_path / "tasks.xml").read_text(encoding="utf-8")
    interface = label_interface.LabelInterface(config)
    interface.validate()
    control = interface.get_control("decision")
    assert list(control.labels) == ["present", "absent", "unsure"]
    assert control.to_name == ["entry"]
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    for task in tasks[:20]:
        assert interface.validate_task({"data": task["data"]})
        assert not interface.validate_task({"data": {"question": "?"}})
        assert interface.validate_prediction(task["predictions"][0])
    for exported in annotate(tasks[:20], ["unsure"] * 20):
        assert interface.validate_annotation(exported["annotations"][0])
    wrong = annotate(tasks[:1], ["perhaps"])[0]["annotations"][0]
    assert not interface.validate_annotation(wrong)


def test_label_studio_predictions_are_sampled_from_the_configuration():
    """A sample that Label Studio generates from our configuration is read as a decision."""
    label_interface = pytest.importorskip(
        "label_studio_sdk.label_interface", reason='needs label-studio-sdk: pip install "spmld[dev]"'
    )
    interface = label_interface.LabelInterface(label_config())
    annotation = interface.generate_sample_annotation()
    (result,) = annotation["result"]
    assert (result["from_name"], result["to_name"], result["type"]) == ("decision", "entry", "choices")
    assert set(result["value"]["choices"]) <= {"present", "absent", "unsure"}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"sample": 0, "label": "sad", "answer": "maybe"}', "answer must be one of present, absent"),
        ("a.jsonl", "nothing", "line 1 is not JSON"),
        ("a.jsonl", "[]", "line 1 must be a JSON object"),
        ("a.jsonl", '{"label": "sad", "answer": "present"}', 'must have "label", and "key" or "sample"'),
        ("a.json", '{"a": 1}', "expected a list of tasks"),
        ("a.sqlite", "text", "it is not a SQLite file"),
        ("a.txt", "text", 'unknown file extension ".txt"'),
    ],
)
def test_errors_name_the_file_and_the_reason(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        read_decisions(tmp_path / name)
    assert name in str(error.value)


def test_decisions_of_a_store_are_read(tmp_path):
    with DecisionStore(tmp_path / "store.sqlite") as store:
        store.add(Decision("a1", "sad", "present", "ann"), Decision("b2", "sad", "absent", "bob"))
        store.undo("bob")
    assert [decision.place for decision in read_decisions(tmp_path / "store.sqlite")] == [("a1", "sad")]


def test_an_import_that_is_repeated_does_not_override_newer_decisions(tmp_path):
    places = [("a1", "sad"), ("b2", "sad"), ("c3", "sad"), ("d4", "sad")]
    records = [{"key": key, "label": label, "answer": "present", "reviewer": "ann"} for key, label in places]
    records[3]["time"] = "2020-01-01T00:00:00Z"  # older than the file
    write_jsonl(records, tmp_path / "decisions.jsonl")
    with DecisionStore(tmp_path / "store.sqlite") as store:
        store.add(Decision(*places[3], "absent", "ann"))  # newer than the record
        assert store.merge(read_decisions(tmp_path / "decisions.jsonl")) == 3
        store.add(Decision(*places[0], "absent", "ann"))
        store.add(Decision(*places[1], "absent", "bob"))
        store.add(Decision(*places[2], "unsure", "ann"))
        store.undo("ann")
        outcomes = resolve(store.decisions())
        assert store.merge(read_decisions(tmp_path / "decisions.jsonl")) == 0
        assert resolve(store.decisions()) == outcomes
        assert [outcomes[place] for place in places] == ["absent", "conflict", "present", "absent"]
        later = Decision(*places[0], "unsure", "ann", "2999-01-01T00:00:00.000+00:00")
        assert store.merge([later]) == 1
        assert resolve(store.decisions())[places[0]] == "unsure"


def test_an_undone_decision_is_not_imported_again(tmp_path):
    write_jsonl([{"key": "a1", "label": "sad", "answer": "present"}], tmp_path / "decisions.jsonl")
    with DecisionStore(tmp_path / "store.sqlite") as store:
        for added in (1, 0):
            assert store.merge(read_decisions(tmp_path / "decisions.jsonl")) == added
            store.undo("")
        assert store.decisions() == []


def test_decisions_are_ordered_by_their_time(tmp_path):
    times = ["2026-01-02T00:00:00Z", "2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00"]
    records = [{"sample": i, "label": "sad", "answer": "skip", "time": time} for i, time in enumerate(times)]
    write_jsonl(records, tmp_path / "decisions.jsonl")
    decisions = read_decisions(tmp_path / "decisions.jsonl")
    assert [decision.sample for decision in decisions] == [1, 2, 0]
    assert decisions[0].time == "2026-01-01T10:00:00.000+00:00"
    write_jsonl([{**records[0], "time": "yesterday"}], tmp_path / "decisions.jsonl")
    with pytest.raises(
        ValueError, match="\"time\" must be in ISO format, such as 2024-05-01T12:00:00Z, got 'yesterday'"
    ):
        read_decisions(tmp_path / "decisions.jsonl")
