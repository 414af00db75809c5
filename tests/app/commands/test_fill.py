"""Missing labels that are filled in: ``spmld complete -o``, and ``spmld correct`` with a list of ``spmld complete``."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from spmld.app.commands import main
from spmld.app.review.editable_tables import CsvTable
from spmld.datasets import make_planted
from spmld.tables import read_table

NAMES = ["sad", "calm", "loud"]
PLANTED = make_planted(160, 6, 3, n_groups=1, noise=0.05, random_state=0)
MISSING = np.random.default_rng(1).random(PLANTED.Y.shape) < 0.3
METHOD = ["--method", "MaskedLogistic"]


def write(path, words=("yes", "no", "n/a"), **columns):
    """Write a table whose labels are words; missing ones are empty, or the third word in every other row."""
    frame = pd.DataFrame(PLANTED.X.round(4)).add_prefix("x").assign(**columns)
    for j, name in enumerate(NAMES):
        values = np.where(PLANTED.Y[:, j] > 0, words[0], words[1]).astype(object)
        values[MISSING[:, j]] = ""
        values[MISSING[:, j] & (np.arange(160) % 2 == 0)] = words[2]
        frame[f"label_{name}"] = values
    frame.to_csv(path, index=False)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*args):
        with pytest.raises(SystemExit) as exit:
            main(list(args))
        return exit.value.code, *capsys.readouterr()

    return call


def read(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def check_filled(folder, filled, added, minimum):
    """Check that missing fields of the list, and no others, have the predicted word."""
    listed = {(int(row["sample"]), row["label"]): row for row in added}
    old, new = read(folder / "songs.csv"), read(folder / filled)
    for i, (before, after) in enumerate(zip(old, new, strict=True)):
        for column in before:
            row = listed.get((i, column.removeprefix("label_")))
            if row is None:
                assert after[column] == before[column]
            else:
                assert before[column] in ("", "n/a")
                assert after[column] == {"present": "yes", "absent": "no"}[row["predicted"]]
                assert float(row["confidence"]) >= minimum
    return listed


@pytest.mark.parametrize("with_model", [True, False])
def test_missing_labels_are_filled_in_in_the_words_of_the_table(tmp_path, run, with_model):
    write(tmp_path / "songs.csv")
    assert run("fit", "songs.csv", "-o", "m.skops", *METHOD)[0] == 0
    options = ["--model", "m.skops"] if with_model else METHOD
    command = ["complete", "songs.csv", "-o", "filled.csv", "--min-confidence", "0.9", *options]
    status, out, err = run(*command)
    assert (status, out) == (0, ""), err
    listed = check_filled(tmp_path, "filled.csv", read(tmp_path / "filled.added.csv"), 0.9)
    assert 20 < len(listed) < MISSING.sum()
    assert f"filled.csv: {len(listed)} of {MISSING.sum()} missing labels filled in, predicted by the model" in err
    assert "filled.added.csv: list of them" in err
    answers = {row["predicted"] for row in listed.values()}
    assert answers == {"present", "absent"}
    correct = [
        (row["predicted"] == "present") == (PLANTED.Y[i, NAMES.index(name)] > 0) for (i, name), row in listed.items()
    ]
    assert np.mean(correct) > 0.9
    assert "filled.csv already exists; use --force" in run(*command)[2]
    assert not list(tmp_path.glob("*.trusted.csv"))  # no person has verified the predictions
    few = run("complete", "songs.csv", "-o", "few.csv", "--top", "5", *options)
    assert len(check_filled(tmp_path, "few.csv", read(tmp_path / "few.added.csv"), 0.5)) == 5, few


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "parquet"])
def test_a_list_of_complete_is_applied(tmp_path, run, kind):
    pytest.importorskip("pyarrow")
    write(tmp_path / "songs.csv")
    arguments = ["--top", "200", "--min-confidence", "0.8", *METHOD]
    assert run("complete", "songs.csv", "--list", f"list.{kind}", *arguments)[0] == 0
    status, _, err = run("correct", "songs.csv", f"list.{kind}", "-o", "new.csv")
    assert status == 0, err
    assert "the labels are predictions of a model, which no person has verified" in err
    assert not (tmp_path / "new.trusted.csv").exists()
    added = [{**row, "predicted": "present"} for row in read_table(tmp_path / f"list.{kind}").to_dict("records")]
    assert len(check_filled(tmp_path, "new.csv", added, 0.8)) > 10
    status, _, err = run("review", "songs.csv", "--import", f"list.{kind}", "--export", "e.jsonl")
    assert status == 2
    assert "predictions of a model are not annotations of a person; check them, and fill in answer with" in err


def test_the_answers_of_a_person_in_the_list_are_decisions(tmp_path, run):
    write(tmp_path / "songs.csv")
    assert run("complete", "songs.csv", "--list", "list.csv", "--top", "4", *METHOD)[0] == 0
    rows = read(tmp_path / "list.csv")
    answers = ["present", "absent", "unsure", ""]
    with (tmp_path / "list.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "answer"])
        writer.writeheader()
        writer.writerows({**row, "answer": answer} for row, answer in zip(rows, answers, strict=True))
    status, out, err = run("correct", "songs.csv", "list.csv", "-o", "new.csv", "--json")
    assert status == 0, err
    summary = json.loads(out)
    assert (summary["added"], summary["unsure"], summary["trusted_entries"]) == (2, 1, 2)
    new = read(tmp_path / "new.csv")
    assert [new[int(row["sample"])][f"label_{row['label']}"] for row in rows[:2]] == ["yes", "no"]


def test_samples_of_a_list_are_found_by_their_identifier(tmp_path, run):
    write(tmp_path / "songs.csv", nr=[f"{i:03d}" for i in range(160)])
    assert run("complete", "songs.csv", "--id", "nr", "--list", "list.csv", *METHOD)[0] == 0
    frame = pd.read_csv(tmp_path / "songs.csv", dtype=str, keep_default_na=False)
    frame.iloc[::-1].to_csv(tmp_path / "turned.csv", index=False)
    status, out, err = run("correct", "turned.csv", "list.csv", "-o", "new.csv", "--id", "nr", "--json")
    assert status == 0, err
    assert json.loads(out)["added"] == 20
    new = {int(row["nr"]): row for row in read(tmp_path / "new.csv")}
    assert all(new[int(row["nr"])][f"label_{row['label']}"] == "yes" for row in read(tmp_path / "list.csv"))
    status, _, err = run("correct", "turned.csv", "list.csv", "-o", "other.csv", "--drop", "nr")
    assert status == 2
    assert "pass --id if it has the identifiers of the samples" in err


def test_columns_without_a_word_for_absent_get_present_labels_only(tmp_path, run):
    write(tmp_path / "songs.csv", words=("x", "", ""))
    status, _, err = run("complete", "songs.csv", "-o", "filled.csv", "--min-confidence", "0.6", *METHOD)
    assert status == 0, err
    assert "predictions are not written: they are absent, and the label columns have no word for it" in err
    for name in NAMES:
        assert {row[f"label_{name}"] for row in read(tmp_path / "filled.csv")} == {"x", ""}
    assert {row["predicted"] for row in read(tmp_path / "filled.added.csv")} == {"present"}


@pytest.mark.parametrize("untagged", ["negative", "weak"])
def test_tags_are_added_without_changing_other_labels(tmp_path, run, untagged):
    tags = ["; ".join(name for j, name in enumerate(NAMES) if y[j] > 0) or "[]" for y in PLANTED.Y]
    tags = ["" if i % 5 == 0 else text for i, text in enumerate(tags)]
    pd.DataFrame(PLANTED.X.round(4)).add_prefix("x").assign(tags=tags).to_csv(tmp_path / "songs.csv", index=False)
    options = ["--tags", "tags", "--untagged", untagged, "--min-confidence", "0.8", *METHOD]
    status, _, err = run("complete", "songs.csv", "-o", "filled.csv", *options)
    assert status == 0, err
    added, new = read(tmp_path / "filled.added.csv"), CsvTable((tmp_path / "filled.csv").read_text()).column("tags")
    assert added
    samples = {int(row["sample"]) for row in added}
    for i, (before, after) in enumerate(zip(tags, new, strict=True)):
        mine = [row for row in added if int(row["sample"]) == i]
        present = {row["label"] for row in mine if row["predicted"] == "present"}
        if untagged == "negative":
            assert len(mine) in (0, 3)  # a sample without labels gets all of them or none
            assert not mine or before == ""
        assert {row["predicted"] for row in mine} <= ({"present"} if untagged == "weak" else {"present", "absent"})
        if i not in samples:
            assert after == before
        else:
            old = set() if before in ("", "[]") else set(before.split("; "))
            assert set(after.removesuffix("[]").split("; ")) - {""} == old | present
    if untagged == "negative":
        assert "which is filled in only if all tags have the confidence --min-confidence" in err


def test_rows_with_different_separators_of_tags_are_read_and_written(tmp_path, run):
    tags = ["rock; sad", "rock, calm", "sad; rock", "calm", "calm; sad", "rock; calm"] * 4
    pd.DataFrame({"x": np.arange(24) % 5 + 0.5, "tags": tags}).to_csv("songs.csv", index=False)
    annotations = [
        {"sample": 1, "label": "sad", "answer": "present"},
        {"sample": 2, "label": "sad", "answer": "absent"},
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, annotations)), encoding="utf-8")
    command = ["correct", "songs.csv", "d.jsonl", "--tags", "tags"]
    assert (
        "with the separator ';', but the tag 'rock, calm' contains ',' (--tag-sep ';' --tag-sep ,)"
        in run(*command, "-o", "x.csv")[2]
    )
    status, _, err = run(*command, "--tag-sep", ";", "--tag-sep", ",", "-o", "new.csv")
    assert status == 0, err
    assert "tags of 'tags' are separated by ';' or ','; a tag" in err
    assert "(--tag-sep" not in err
    assert pd.read_csv("new.csv")["tags"].tolist() == [tags[0], "rock, calm, sad", "rock", *tags[3:]]
    assert list(pd.read_csv("new.trusted.csv")) == ["calm", "rock", "sad"]


def test_words_for_no_tags_are_replaced_by_tags(tmp_path, run):
    tags = ["rock; sad", "-", "none", "n/a", "rock"] * 5
    pd.DataFrame({"x": np.arange(25) % 5 + 0.5, "tags": tags}).to_csv("songs.csv", index=False)
    answers = [
        "sample,label,answer",
        "1,sad,present",
        "2,rock,present",
        "3,rock,absent",
        "3,sad,absent",
        "4,rock,absent",
    ]
    (tmp_path / "answers.csv").write_text("\n".join(answers))
    status, _, err = run("correct", "songs.csv", "answers.csv", "--tags", "tags", "-o", "new.csv")
    assert status == 0, err
    assert "5 samples have '-' in 'tags', which is not a tag and means no tags" in err
    lines = (tmp_path / "new.csv").read_text().splitlines()
    assert [line.partition(",")[2] for line in lines[1:6]] == ["rock; sad", "sad", "rock", "[]", "[]"]
    assert [line.partition(",")[2] for line in lines[6:]] == tags[5:]
