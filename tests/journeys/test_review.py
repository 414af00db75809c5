"""From a raw file to reviewed labels: tags, text and identifiers in every format, in processes of their own."""

import csv
import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from spmld.datasets import read_dataset
from spmld.labels import read_tags
from tests.app.review.running import RunningReview
from tests.journeys.songs import TAGS, make_songs, spmld, succeed, tag_lists

FRAME, TRUTH = make_songs(120)
IDS = FRAME["song_id"].tolist()
N_REVIEWED = 80
ROLES = ["--text", "review", "--tags", "tags", "--id", "song_id"]


def make_tags(sep="; "):
    """Return tags with 5 % wrong entries and some empty fields; the first song has all tags."""
    wrong = np.random.default_rng(1).random(TRUTH.shape) < 0.05
    wrong[0] = ~TRUTH.to_numpy()[0]
    tags = tag_lists(TRUTH ^ wrong, sep)
    return ["" if i % 20 == 7 else text for i, text in enumerate(tags)]


def is_true(entry):
    return bool(TRUTH[entry["label"]][entry["sample"]])


def test_text_tags_and_identifiers_with_the_roles_of_the_model(tmp_path):
    FRAME.assign(tags=make_tags()).to_csv(tmp_path / "songs.csv", index=False, lineterminator="\r\n")
    succeed(tmp_path, "fit", "songs.csv", *ROLES, "-o", "songs.skops", "--no-held-out")
    review = RunningReview(tmp_path, "songs.csv", "--model", "songs.skops", "--reviewer", "ann")
    state, seen = review.ask(), {}
    raising = []
    for _ in range(N_REVIEWED):
        entry = state["entries"][0]
        assert entry["sample_name"] == IDS[entry["sample"]]
        assert FRAME["review"][entry["sample"]] in [text for _, text in entry["view"]["texts"]]
        assert "tags" not in dict(entry["view"]["fields"])
        # Words of the model are the evidence, not columns of the table.
        assert any(feature.startswith("review: ") for feature, _, _ in entry["influences"])
        raising += entry["raising"]
        answer = "present" if is_true(entry) else "absent"
        seen[entry["sample"], entry["label"]] = is_true(entry)
        state = review.ask("POST", "/api/annotation", {"entry": entry["entry"], "answer": answer})
    assert any(word.startswith("review: ") for word in raising)
    assert review.stop() == 0
    command = re.search(r"spmld (correct .*)$", review.lines[-1])[1].replace("FILE", "reviewed.csv")
    assert "--tags tags --tag-sep ';' --id song_id --text review" in command
    arguments = [word.strip("'") for word in command.split()]
    _, err = succeed(tmp_path, *arguments)
    assert re.search(r"reviewed\.csv: \d+ labels changed, \d+ added, \d+ confirmed", err)

    # Only tags of decided songs differ, and all bytes around them are the same.
    old, new = ((tmp_path / name).read_bytes().decode() for name in ("songs.csv", "reviewed.csv"))
    assert new.count("\r\n") == old.count("\r\n")
    before, after = (list(csv.DictReader(io.StringIO(text))) for text in (old, new))
    decided = {sample for sample, _ in seen}
    for i, (a, b) in enumerate(zip(before, after, strict=True)):
        assert {**a, "tags": ""} == {**b, "tags": ""}
        assert i in decided or a["tags"] == b["tags"]
    Y = read_tags([row["tags"] for row in after], sep=";", names=TAGS).Y
    trusted = pd.read_csv(tmp_path / "reviewed.trusted.csv", index_col="song_id")
    assert list(trusted.index) == IDS
    for (sample, label), truth in seen.items():
        if trusted.loc[IDS[sample], label]:
            assert Y[sample, TAGS.index(label)] == truth
        else:
            assert (before[sample]["tags"], truth) == ("", False)  # [] would mean that all tags are absent
    missing = N_REVIEWED - trusted.to_numpy().sum()
    counted = "1 entry" if missing == 1 else f"{missing} entries"
    assert f"{counted}: absent, but not written, because the field 'tags' is empty" in err
    arguments = [word.replace("reviewed.csv", "negative.csv") for word in arguments]
    out, _ = succeed(tmp_path, *arguments, "--empty-is", "negative", "--json")
    assert (json.loads(out)["trusted_entries"], json.loads(out)["unwritten"]) == (N_REVIEWED, 0)

    # The trusted entries are matched by identifier, and are not shown again.
    pd.read_csv(tmp_path / "reviewed.csv")[::-1].to_csv(tmp_path / "reversed.csv", index=False)
    options = [*ROLES, "--trusted", "reviewed.trusted.csv", "--export", "again.jsonl", "--db", "again.sqlite"]
    succeed(tmp_path, "review", "reversed.csv", *options)
    again = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text(encoding="utf-8").splitlines()]
    assert again
    assert not any(trusted.loc[record["fields"]["song_id"], record["label"]] for record in again)


@pytest.mark.filterwarnings("ignore::spmld.tables.TableWarning")
@pytest.mark.parametrize("name", ["songs.csv.gz", "songs.xlsx", "songs.jsonl", "songs.parquet"])
def test_decisions_are_written_in_the_format_of_the_file(tmp_path, name):
    pytest.importorskip("openpyxl")
    pytest.importorskip("pyarrow")
    tags = make_tags()
    songs = FRAME.assign(tags=[text or None for text in tags])
    lists = songs.assign(tags=[text.split("; ") if text else None for text in tags])
    write = {
        "songs.csv.gz": lambda path: songs.to_csv(path, index=False),
        "songs.xlsx": lambda path: songs.to_excel(path, index=False),
        "songs.jsonl": lambda path: lists.to_json(path, orient="records", lines=True),
        "songs.parquet": lists.to_parquet,
    }
    write[name](tmp_path / name)
    succeed(tmp_path, "review", name, *ROLES, "--export", "entries.jsonl")
    records = [json.loads(line) for line in (tmp_path / "entries.jsonl").read_text(encoding="utf-8").splitlines()]
    names = [record["fields"]["song_id"] for record in records]
    chosen = []
    for record, song in zip(records, names, strict=True):
        if record["kind"] in ("present", "absent") and record["label"] in TAGS and len(chosen) < 25:
            record["answer"] = "present" if TRUTH[record["label"]][IDS.index(song)] else "absent"
            chosen.append((song, record["label"], record["answer"] == "present"))
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    out = f"reviewed.{name.partition('.')[2]}"
    text, _ = succeed(tmp_path, "correct", name, *ROLES, "answers.jsonl", "-o", out, "--json")
    summary = json.loads(text)
    assert summary["changed"] + summary["confirmed"] == len(chosen) == 25
    assert summary["changed"] > 5
    # Read back: all decided entries are correct.
    data = read_dataset(tmp_path / out, tags="tags", text="review", id="song_id")
    rows = [str(sample) for sample in data.sample_names]
    for song, label, present in chosen:
        assert data.Y[rows.index(song), data.label_names.index(label)] == present
    assert len(rows) >= len(IDS)


def test_formats_that_cannot_be_written_are_named_before_the_work(tmp_path):
    FRAME.assign(tags=make_tags()).to_csv(tmp_path / "songs.csv", index=False)
    for args, message in (
        (["songs.csv", *ROLES, "-o", "y.parquet"], "in the format of songs.csv, to a file .csv, got y.parquet"),
        (
            ["songs.arff", "-o", "y.arff"],
            "a table (.csv, .tsv, .csv.gz, .tsv.gz, .xlsx, .xlsm, .jsonl, .ndjson, .json, .jsonl.gz, ",
        ),
        (["songs.csv", "-o", "y.csv"], "--tags tags"),
    ):
        status, out, err = spmld(tmp_path, "correct", *args[:1], "x.jsonl", *args[1:])
        assert (status, out) == (2, "")
        assert message in err
        assert "Traceback" not in err
