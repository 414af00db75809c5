"""``spmld review`` and ``correct`` in separate processes, from raw files; the review is killed at random."""

import csv
import json
import re

import numpy as np
import pytest

from spmld.app.commands import main
from spmld.app.review import AnnotationStore
from tests.app.commands.songs import run
from tests.app.review.running import RunningReview

LABELS = {
    "sad": ["rain", "tears", "alone", "goodbye"],
    "calm": ["river", "breeze", "moon", "dream"],
    "loud": ["drums", "fire", "scream", "thunder"],
}
WORDS = sorted(word for words in LABELS.values() for word in words)
DROP = ["--drop", "title", "--drop", "lyrics"]
TRUTH: dict[tuple[int, str], bool] = {}


@pytest.fixture(scope="module")
def songs(tmp_path_factory):
    """A file with text, quotes, yes and no, empty fields, Windows line ends and 5 % wrong labels."""
    folder, rng = tmp_path_factory.mktemp("songs"), np.random.default_rng(0)
    with (folder / "songs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(["title", "lyrics", *WORDS, *(f"label_{name}" for name in LABELS)])
        for i in range(240):
            truth = {name: rng.random() < 0.4 for name in LABELS}
            lyrics = [word for name in LABELS if truth[name] for word in rng.choice(LABELS[name], 3)]
            lyrics = [*lyrics, *rng.choice(WORDS, 1), 'the "night",', "so"]
            rng.shuffle(lyrics)
            labels = []
            for name, positive in truth.items():
                TRUTH[i, name] = bool(positive)
                wrong, missing = rng.random() < 0.05, rng.random() < 0.1 or i % 24 == 0
                labels.append("" if missing else "yes" if positive != wrong else "no")
            writer.writerow([f"Sång {i}", " ".join(lyrics), *(lyrics.count(word) for word in WORDS), *labels])
    return folder


class Review(RunningReview):
    """A review of the songs, decided by the true labels."""

    def __init__(self, folder, *args):
        super().__init__(folder, "songs.csv", *DROP, *args)

    def decide(self, entry, answer=None):
        answer = answer or ("present" if TRUTH[entry["sample"], entry["label"]] else "absent")
        return self.ask("POST", "/api/annotation", {"entry": entry["entry"], "answer": answer})


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def rows(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_from_a_file_to_reviewed_labels_and_a_new_model(songs):
    review = Review(songs, "--reviewer", "ann", "--db", "journey.sqlite")
    state, corrected = review.ask(), 0
    for _ in range(30):
        entry = state["entries"][0]
        truth = TRUTH[entry["sample"], entry["label"]]
        corrected += entry["given"] == ("absent" if truth else "present")
        assert entry["view"]["texts"][0][1] == f"Sång {entry['sample']}"
        assert entry["influences"]
        state = review.decide(entry)
    assert corrected > 8
    assert review.stop() == 0
    assert "30 of" in "".join(review.lines)
    assert "spmld correct songs.csv journey.sqlite -o FILE --drop title --drop lyrics" in "".join(review.lines)

    arguments = ["journey.sqlite", "-o", "reviewed.csv"]
    status, out, err = run(songs, "correct", "songs.csv", *arguments, *DROP)
    assert (status, out) == (0, "")
    changed, added, confirmed = map(int, re.search(r"(\d+) labels changed, (\d+) added, (\d+) confirmed", err).groups())
    assert (changed, changed + added + confirmed) == (corrected, 30)
    assert "30 trusted entries; with spmld review --trusted they are not shown again" in err

    # Only fields of decided labels differ, and they are correct now.
    old, new = ((songs / name).read_bytes().split(b"\r\n") for name in ("songs.csv", "reviewed.csv"))
    assert len(old) == len(new)
    assert sum(a != b for a, b in zip(old, new, strict=True)) <= changed + added
    trusted = rows(songs / "reviewed.trusted.csv")
    for i, (before, after) in enumerate(zip(rows(songs / "songs.csv"), rows(songs / "reviewed.csv"), strict=True)):
        for column in before:
            name = column.removeprefix("label_")
            if column in after and not (name in LABELS and trusted[i][name] == "1"):
                assert before[column] == after[column]
            else:
                assert after[column] == ("yes" if TRUTH[i, name] else "no")

    arguments = ["--trusted", "reviewed.trusted.csv", "--db", "again.sqlite", "--export", "again.jsonl"]
    status, _, err = run(songs, "review", "reviewed.csv", *DROP, *arguments)
    assert status == 0, err
    again = [json.loads(line) for line in (songs / "again.jsonl").read_text(encoding="utf-8").splitlines()]
    assert again
    assert not any(trusted[record["sample"]][record["label"]] == "1" for record in again)


def test_two_reviewers_at_the_same_time(songs):
    ann, bob = (Review(songs, "--reviewer", name, "--db", "two.sqlite") for name in ("ann", "bob"))
    first = ann.ask()["entries"][0]
    ann.decide(first, "present")
    second = bob.ask()["entries"][0]
    assert (second["sample"], second["label"]) != (first["sample"], first["label"])
    bob.decide(second, "absent")
    assert bob.ask()["progress"]["decided"] == ann.ask()["progress"]["decided"] == 2
    shown = ann.ask()["entries"][0]
    assert bob.ask()["entries"][0]["entry"] != shown["entry"]  # each of them has another one
    ann.decide(shown, "present")
    bob.decide(shown, "absent")
    again = ann.ask()["entries"][0]
    assert (again["entry"], again["answers"]) == (shown["entry"], {"ann": "present", "bob": "absent"})
    assert (ann.stop(), bob.stop()) == (0, 0)
    with AnnotationStore(songs / "two.sqlite") as store:
        assert store.shown() == {}
        assert {annotation.reviewer for annotation in store.annotations()} == {"ann", "bob"}


def test_a_file_that_is_deleted_during_a_review_ends_it_with_an_error(songs):
    review = Review(songs, "--db", "deleted.sqlite")
    review.decide(review.ask()["entries"][0])
    (songs / "deleted.sqlite").unlink()
    assert review.stop() == 1
    assert review.lines[-1].startswith("spmld: deleted.sqlite or deleted.sqlite-wal was deleted, moved or replaced, so")
    assert "Traceback" not in "".join(review.lines)


def test_label_studio_and_json_lines(songs):
    status, out, err = run(songs, "review", "songs.csv", *DROP, "--export", "tasks.json", "--db", "empty.sqlite")
    assert (status, out) == (0, "")
    assert "tasks for Label Studio; paste tasks.xml into its labeling interface" in err
    assert "next: spmld correct songs.csv EXPORT.json -o FILE --drop title --drop lyrics writes" in err
    assert not (songs / "empty.sqlite").exists()
    tasks = json.loads((songs / "tasks.json").read_text(encoding="utf-8"))
    exported = []
    for task in tasks[:40]:
        answer = "present" if TRUTH[task["data"]["sample"], task["data"]["label"]] else "absent"
        result = [{"from_name": "annotation", "to_name": "entry", "type": "choices", "value": {"choices": [answer]}}]
        annotation = {"result": result, "completed_by": 1, "updated_at": "2026-01-01T00:00:00Z"}
        exported.append({"data": task["data"], "annotations": [annotation]})
    (songs / "export.json").write_text(json.dumps(exported))
    status, _, err = run(songs, "correct", "songs.csv", "export.json", "-o", "studio.csv", *DROP, "--json")
    assert status == 0, err

    arguments = ["--import", "export.json", "--export", "entries.jsonl", "--db", "imported.sqlite"]
    status, _, err = run(songs, "review", "songs.csv", *DROP, *arguments)
    assert "imported.sqlite: 40 annotations imported from export.json\n" in err, err
    status, _, err = run(songs, "review", "songs.csv", *DROP, *arguments, "--force")
    assert "imported.sqlite: 0 annotations imported from export.json; 40 are skipped, since the same reviewer" in err, (
        err
    )
    status, _, err = run(songs, "correct", "songs.csv", "entries.jsonl", "-o", "lines.csv", *DROP)
    assert status == 0, err
    status, _, err = run(songs, "correct", "songs.csv", "imported.sqlite", "-o", "imported.csv", *DROP)
    assert status == 0, err
    contents = [(songs / name).read_bytes() for name in ("studio.csv", "lines.csv", "imported.csv")]
    assert contents[0] == contents[1] == contents[2] != (songs / "songs.csv").read_bytes()


def test_a_model_predicts_the_missing_labels(songs):
    assert run(songs, "fit", "songs.csv", *DROP, "-o", "model.skops", "--method", "MaskedLogistic")[0] == 0
    arguments = ["--model", "model.skops", "--kind", "missing", "--kind", "unlabeled", "--db", "model.sqlite"]
    status, _, err = run(songs, "review", "songs.csv", *DROP, *arguments, "--export", "missing.jsonl")
    assert status == 0, err
    records = [json.loads(line) for line in (songs / "missing.jsonl").read_text(encoding="utf-8").splitlines()]
    assert records
    assert {record["given"] for record in records} == {"missing"}
    right = [(r["probability"] > 0.5) == TRUTH[r["sample"], r["label"]] for r in records]
    assert np.mean(right) > 0.7


def test_a_verified_random_sample_estimates_the_number_of_wrong_entries(songs):
    given = {(i, name): row[f"label_{name}"] for i, row in enumerate(rows(songs / "songs.csv")) for name in LABELS}
    observed = {place: value == "yes" for place, value in given.items() if value}
    review = Review(songs, "--verify", "60", "--db", "random.sqlite")
    assert "60 random entries to verify" in "".join(review.lines)
    state, shown = review.ask(), []
    for _ in range(40):
        entry = state["entries"][0]
        assert entry["kind"] == "random"
        shown.append((entry["sample"], entry["label"]))
        state = review.decide(entry)
    assert review.stop() == 0
    n_wrong = sum(observed[place] != TRUTH[place] for place in shown)
    match = re.search(
        r"about (\d+) wrong entries \(90 % interval: (\d+) to (\d+)\), since (\d+) of 40 ", "".join(review.lines)
    )
    assert int(match[4]) == n_wrong
    assert int(match[1]) == round(n_wrong / 40 * len(observed))
    assert int(match[2]) <= sum(observed[place] != TRUTH[place] for place in observed) <= int(match[3])
    # The same sample is continued, and a larger one starts with it.
    again = Review(songs, "--verify", "80", "--db", "random.sqlite")
    assert again.ask()["progress"]["decided"] == 40
    assert again.stop() == 0
    assert f"since {n_wrong} of 40 entries of the random sample are wrong" in "".join(again.lines)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["review", "absent.csv"], "file absent.csv does not exist"),
        (["review", "songs.csv", *DROP, "--export", "x.txt"], "--export must be a file .jsonl, or .json for Label"),
        (
            ["review", "songs.csv", *DROP, "--verify", "5", "--kind", "missing"],
            "--kind missing cannot be combined with --verify",
        ),
        (["review", "emotions"], "labels can be written into a table (.csv, .tsv, .csv.gz,"),
        (["review", "songs.csv", *DROP, "--db", "songs.csv"], "songs.csv is not a SQLite file; pass the name of a"),
        (["review", "songs.csv", *DROP, "--image", "cover", "--no-browser"], "of image does not exist; "),
        (["correct", "songs.csv", "absent.sqlite", "-o", "y.csv", *DROP], "file absent.sqlite does not exist"),
        (
            ["correct", "songs.csv", "x.jsonl", "-o", "y.xlsx", *DROP],
            "the format of songs.csv, to a file .csv, got",
        ),
        (
            ["correct", "emotions", "x.jsonl", "-o", "y.csv"],
            "labels can be written into a table (.csv, .tsv, .csv.gz,",
        ),
        (
            ["correct", "songs.csv", "songs.csv", "-o", "y.csv", *DROP],
            'must have "label", and "answer" or "confidence", got',
        ),
        (["correct", "songs.csv", "x.jsonl", "-o", "songs.csv", *DROP], "songs.csv is also an input of the command"),
        (
            ["correct", "songs.csv", "gone.jsonl", "-o", "y.csv", *DROP],
            "annotations of gone.jsonl that are not in songs.csv: 2 of 2, such as that of sample gone; pass the",
        ),
        (
            ["correct", "songs.csv", "open.jsonl", "-o", "y.csv", *DROP],
            "open.jsonl has no answers; decide entries with",
        ),
        (
            ["correct", "songs.csv", "other.json", "-o", "y.csv", *DROP],
            'must have a choice named "annotation", got "mood"',
        ),
        (
            ["review", "songs.csv", *DROP, "--import", "partly.jsonl", "--export", "e.jsonl"],
            "annotations of partly.jsonl that are not in songs.csv: 2 of 3, such as that of label 'merry'; nothing is",
        ),
        (
            ["review", "songs.csv", *DROP, "--import", "open.jsonl", "--export", "e.jsonl"],
            "open.jsonl has no answers; decide entries with",
        ),
    ],
)
def test_errors_exit_with_2(songs, args, message, monkeypatch, capsys):
    gone = [{"key": "gone", "label": label, "answer": "present"} for label in ("sad", "calm")]
    write_lines(songs / "gone.jsonl", gone)
    write_lines(songs / "open.jsonl", [{**gone[0], "answer": None}, {**gone[1], "answer": "skip"}])
    rows = [(3, "sad"), (3, "merry"), (240, "sad")]
    write_lines(songs / "partly.jsonl", [{"sample": i, "label": name, "answer": "absent"} for i, name in rows])
    result = {"from_name": "mood", "value": {"choices": ["present"]}}
    (songs / "other.json").write_text(json.dumps([{"data": {"text": "x"}, "annotations": [{"result": [result]}]}]))
    monkeypatch.chdir(songs)
    with pytest.raises(SystemExit) as ended:
        main(args)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not (songs / "absent.review.sqlite").exists()
    assert not (songs / "y.csv").exists()
    assert not (songs / "songs.review.sqlite").exists()


def test_annotations_of_samples_that_are_gone_are_counted_and_the_others_are_written(songs):
    decided = [{"sample": i, "label": "sad", "answer": "present"} for i in (3, 5, 240)]
    write_lines(songs / "some.jsonl", decided)
    status, _, err = run(songs, "correct", "songs.csv", "some.jsonl", "-o", "some.csv", *DROP)
    assert status == 0, err
    assert "annotations of some.jsonl that are not in songs.csv: 1 of 3, such as that of sample 240\n" in err
    assert [rows(songs / "some.csv")[i]["label_sad"] for i in (3, 5)] == ["yes", "yes"]


def test_a_review_without_answers_is_not_written(songs):
    AnnotationStore(songs / "untouched.sqlite").close()
    status, _, err = run(songs, "correct", "songs.csv", "untouched.sqlite", "-o", "same.csv", *DROP)
    assert (status, err.split("; ")[0]) == (2, "spmld: untouched.sqlite has no answers")
    assert not (songs / "same.csv").exists()
