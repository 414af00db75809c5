"""From a raw file to predictions: each test starts from a file that people have, in processes of its own."""

import io
import json
import os

import numpy as np
import pandas as pd
import pytest

from spmld.metrics import macro_auc, macro_f1
from tests.journeys.songs import TAGS, make_songs, spmld, succeed, tag_lists

FRAME, Y = make_songs()
TRAIN, TEST = slice(0, 110), slice(110, None)
FAST = ["--method", "MaskedLogistic", "--no-held-out"]


def predicted(text):
    return pd.read_csv(io.StringIO(text))


def f1(table, rows=TEST):
    return macro_f1(Y[rows].to_numpy(), table[TAGS].to_numpy())


def test_text_and_tags_from_fit_to_audit(tmp_path):
    """The first command of the manual, and every command after it, with identifiers carried through."""
    songs = FRAME.assign(tags=tag_lists(Y))
    songs.loc[3, "tags"] = "dance; folk; rock; sad"  # wrong for this song
    songs[TRAIN].to_csv(tmp_path / "songs.csv")  # with the unnamed index column
    songs[TEST].to_csv(tmp_path / "test.csv")
    songs[TEST].drop(columns="tags").to_csv(tmp_path / "new.csv", index=False)
    roles = ["--text", "review", "--tags", "tags", "--id", "song_id"]
    _, err = succeed(tmp_path, "fit", "songs.csv", *roles, "-o", "songs.skops", "--param", "n_trees=[20]")
    assert "column 'Unnamed: 0' contains the numbers of the rows and is not used as a feature" in err
    assert "tags of 'tags' are separated by ';'; a tag that is not listed in 'tags' is negative" in err
    lines = [line for line in err.splitlines() if not line.startswith("spmld: note")]
    assert [line.split(":")[0] for line in lines] == [
        "songs.skops",
        "observed",
        "columns",
        "settings",
        "held-out",
        "next",
    ]
    assert lines[2].endswith("; text: review; number: tempo; category: format; date (ISO 8601): released")
    assert "label prior" in lines[4]
    assert "logistic regression" in lines[4]

    out, err = succeed(tmp_path, "predict", "songs.skops", "new.csv")
    table = predicted(out)
    assert list(table.columns) == ["song_id", *TAGS, *(f"probability_{tag}" for tag in TAGS)]
    assert table["song_id"].tolist() == FRAME["song_id"][TEST].tolist()
    assert f1(table) > 0.9
    assert all(len(value.partition(".")[2]) <= 4 for line in out.splitlines()[1:] for value in line.split(",")[5:])

    out, _ = succeed(tmp_path, "evaluate", "songs.skops", "test.csv", "--json")
    content = json.loads(out)
    assert len(content["metrics"]) == 5
    assert {row["label"] for row in content["per label"]} == set(TAGS)
    assert next(row["value"] for row in content["metrics"] if row["name"] == "macro_f1") == pytest.approx(f1(table))

    out, _ = succeed(tmp_path, "complete", "songs.csv", "--model", "songs.skops", "--untagged", "weak")
    assert out.splitlines()[0] == "song_id,label,confidence"

    out, _ = succeed(tmp_path, "audit", "songs.csv", *roles, "--json")
    issue = json.loads(out)["issues"][0]
    assert (issue["sample"], issue["kind"]) == ("S003", "present")
    assert not Y[issue["label"]][3]

    succeed(tmp_path, "report", "test.csv", "--model", "songs.skops", "-o", "report.html", "--no-audit")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert all(name in page for name in Y.columns)


def test_ids_dates_notes_and_gaps(tmp_path):
    table = FRAME.assign(label_dance=Y["dance"].astype(int), label_sad=Y["sad"].astype(int), empty=None)
    table.loc[::7, "label_sad"] = np.nan
    table.to_csv(tmp_path / "songs.csv", index=False)
    _, err = succeed(tmp_path, "fit", "songs.csv", "-o", "m.skops", "--method", "MaskedLogistic")
    assert (
        "column 'song_id' looks like an identifier and is not used as a feature (--id song_id or --category song_id)"
        in err
    )
    assert "column 'review' is encoded as text" in err
    assert "column 'empty' is empty" in err
    other = FRAME.assign(format="tape", released=None, tempo=None)  # new categories and missing values
    other.to_csv(tmp_path / "new.csv", index=False)
    out, err = succeed(tmp_path, "predict", "m.skops", "new.csv", "--id", "song_id")
    assert err == ""
    table = predicted(out)
    assert table.shape == (len(FRAME), 5)
    scores = table[["probability_dance", "probability_sad"]].to_numpy()
    assert macro_auc(Y[["dance", "sad"]].to_numpy(), scores) > 0.9


def test_german_file(tmp_path):
    """Semicolons, decimal commas, dates with the day first, ja and nein, and the byte order mark of Excel."""
    table = FRAME.rename(columns={"song_id": "Nr", "review": "Kritik", "tempo": "Tempo", "released": "Erschienen"})
    table["Erschienen"] = pd.to_datetime(table["Erschienen"]).dt.strftime("%d.%m.%Y")
    for tag in TAGS:
        table[f"label_{tag}"] = np.where(Y[tag], "ja", "nein")
    table.to_csv(tmp_path / "lieder.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    out, _ = succeed(tmp_path, "fit", "lieder.csv", "--id", "Nr", "--text", "Kritik", "-o", "m.skops", "--json", *FAST)
    assert json.loads(out)["observed"] == 1
    out, _ = succeed(tmp_path, "info", "m.skops", "--json")
    assert json.loads(out)["feature_names"] == ["Kritik", "Tempo", "format", "Erschienen"]
    # The same table in English format is encoded in the same way.
    table.to_csv(tmp_path / "songs.csv", index=False)
    assert succeed(tmp_path, "predict", "m.skops", "songs.csv") == succeed(tmp_path, "predict", "m.skops", "lieder.csv")


def test_excel_with_crosses(tmp_path):
    pytest.importorskip("openpyxl")
    table = FRAME[["song_id", "tempo", "review"]].assign(**{tag: np.where(Y[tag], "x", None) for tag in TAGS})
    table.to_excel(tmp_path / "songs.xlsx", index=False)
    labels = [word for tag in TAGS for word in ("--label", tag)]
    status, _, err = spmld(tmp_path, "fit", "songs.xlsx", "-o", "m.skops")
    assert (status, " ".join(labels) in err) == (2, True)  # the error names the options
    _, err = succeed(tmp_path, "fit", "songs.xlsx", *labels, "--id", "song_id", "-o", "weak.skops", *FAST)
    assert "have only x and empty fields, and empty fields are missing labels (--empty-is negative)" in err
    options = [*labels, "--empty-is", "negative", "--id", "song_id", "--method", "MaskedLogistic"]
    out, _ = succeed(tmp_path, "fit", "songs.xlsx", *options, "-o", "m.skops", "--json")
    assert json.loads(out)["observed"] == 1
    out, _ = succeed(tmp_path, "predict", "m.skops", "songs.xlsx")
    assert f1(predicted(out), slice(None)) > 0.9


@pytest.mark.parametrize("name", ["songs.jsonl", "songs.parquet", "songs.csv.gz"])
def test_other_formats_are_read_as_the_same_table(tmp_path, name):
    songs = FRAME.assign(tags=tag_lists(Y, sep="|"))
    songs.to_csv(tmp_path / "plain.csv", index=False)
    write = {
        "songs.jsonl": lambda path: songs.to_json(path, orient="records", lines=True),
        "songs.parquet": songs.to_parquet,
        "songs.csv.gz": lambda path: songs.to_csv(path, index=False),
    }
    write[name](tmp_path / name)
    options = ["--tags", "tags", "--id", "song_id", "--empty-is", "negative", *FAST]
    succeed(tmp_path, "fit", name, *options, "-o", "m.skops")
    out, _ = succeed(tmp_path, "predict", "m.skops", name)
    assert out == succeed(tmp_path, "predict", "m.skops", "plain.csv")[0]
    assert f1(predicted(out), slice(None)) > 0.9


@pytest.mark.parametrize(("untagged", "missing"), [("negative", 0.0), ("missing", 0.6), ("weak", 0.6)])
def test_unlisted_tags_are_what_the_option_says(tmp_path, untagged, missing):
    FRAME.assign(tags=[text or "other" for text in tag_lists(Y)]).to_csv(tmp_path / "songs.csv", index=False)
    options = ["--tags", "tags", "--untagged", untagged, *FAST]
    out, err = succeed(tmp_path, "fit", "songs.csv", *options, "-o", "m.skops", "--json")
    assert json.loads(out)["observed"] == pytest.approx(1 - missing, abs=0.15)
    assert f"is {'a negative of lower weight' if untagged == 'weak' else untagged} (see --untagged)" in err
    status, out, _ = spmld(tmp_path, "evaluate", "m.skops", "songs.csv", "--metric", "macro_auc", "--json")
    value = json.loads(out)["metrics"][0]["value"] if status == 0 else None
    assert (value is None) == (untagged == "missing")  # weak negatives are negatives in metrics


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty.csv is empty, expected a CSV file"),
        ("head.csv", b"a,label_b\n", "head.csv: the table has no samples"),
        ("row.csv", b"a,label_b\n1,1\n", "row.csv must have at least 3 samples, got 1"),
        ("old.csv", "größe,label_b\n1,1\n".encode("cp1252"), "is not utf-8 text (byte 0xf6 at position 2)"),
        ("image.csv", b"\x89PNG\r\n\x1a\n\x00\xff", "is not utf-8 text"),
        ("image.xlsx", b"\x89PNG\r\n\x1a\n\x00\xff", "image.xlsx cannot be read as an Excel file"),
        ("lines.jsonl", b'{"a": 1}\n{"a": \n', "line 2 is not JSON"),
        ("cut.csv", b"a,b,label_c\n1,2,1\n1,2\n", "line 3 has 2 values, but there are 3 columns"),
        ("notes.docx", b"PK\x03\x04", 'unknown file extension ".docx"'),
        ("folder/image.png", b"\x89PNG", "folder is a folder, expected a file"),
    ],
)
def test_wrong_files_are_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    if name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
    status, out, err = spmld(tmp_path, "fit", name.split("/")[0], "-o", "m.skops")
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_suggestions_for_names(tmp_path):
    FRAME.assign(tags=tag_lists(Y)).to_csv(tmp_path / "songs.csv", index=False)
    for args, hint in (
        (["fit", "songs.csv", "--method", "MaskedLogistc", "-o", "m"], "did you mean 'MaskedLogistic'?"),
        (["fit", "songs.csv", "--tag", "tags", "-o", "m"], "--tags"),
        (["evalute", "m"], "did you mean 'evaluate'?"),
        (["compare", "songs.csv", "--metric", "macrof1"], "did you mean 'macro_f1'?"),
        (["fit", "emotion", "-o", "m"], "did you mean 'emotions'?"),
        (["fit", "songs.csv", "--param", "decison=f1", "-o", "m"], "did you mean 'decision'?"),
    ):
        status, _, err = spmld(tmp_path, *args)
        assert (status, hint in err) == (2, True), err


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root can write everywhere")
def test_a_folder_that_cannot_be_written_is_an_error_before_the_fit(tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    FRAME.assign(tags=tag_lists(Y)).to_csv(tmp_path / "songs.csv", index=False)
    status, _, err = spmld(tmp_path, "fit", "songs.csv", "--tags", "tags", "-o", "locked/m.skops")
    assert (status, "permission denied; choose another folder" in err) == (1, True)
    assert "note" not in err  # the table was not read
