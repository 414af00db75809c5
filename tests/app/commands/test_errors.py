"""Errors of the commands: one line that names the cause, no file, and exit status 2."""

import os
import pickle
import re
from pathlib import Path

import pandas as pd
import pytest

from spmld.app.commands.fitting import METHODS
from spmld.datasets import Dataset, write_dataset
from tests.app.commands.songs import FEATURES, LABELS, TEST, run, songs, write_songs


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["fit", "absent.csv", "-o", "m.skops"], "file absent.csv does not exist"),
        (["fit", "empty.csv", "-o", "m.skops"], "empty.csv is empty, expected a CSV file"),
        (["fit", "wrong.parquet", "-o", "m.skops"], "wrong.parquet cannot be read as a Parquet file"),
        (["fit", "train.csv", "-o", "absent/m.skops"], "cannot write m.skops: folder absent does not exist"),
        (["fit", "train.csv", "-o", "songs.skops"], "songs.skops already exists; use --force to overwrite it"),
        (["fit", "train.csv", "-o", "."], ". is a folder; pass the name of a file"),
        (
            ["fit", "train.csv", "-o", "m.skops", "--param", "views=" + "[" * 100_000],
            "JSON is nested too deeply: [[[",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--param", "views=" + "[" * 500 + "]" * 500],
            "JSON is nested too deeply: [[[",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--param", "C"],
            "--param must have the form KEY=VALUE, such as C=0.1, got 'C'",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--param", "C=1"],
            "SelfPacedEnsemble has no parameter 'C'; its parameters are Cs",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--method", "SPMLD", "--param", "tol=few"],
            "The 'tol' parameter of SPMLD must be a float in the range [0.0, inf) or None. Got 'few' instead.",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--param", "pacing__x=1"],
            "SelfPacedEnsemble has no parameter 'pacing__x'",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--param", "tol=1", "--param", "tol=2"],
            "--param tol must be passed only once, got two values",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--label", "sad"],
            "column 'sad' of labels does not exist",
        ),
        (
            ["fit", "train.csv", "-o", "m.skops", "--label", "label_sad", "--label", "label_sad"],
            "--label must name each column once, got label_sad twice",
        ),
        (["evaluate", "absent.skops", "test.csv"], "file absent.skops does not exist"),
        (["evaluate", "empty.csv", "test.csv"], "empty.csv is empty, expected a model file of spmld"),
        (
            ["evaluate", "test.csv", "test.csv"],
            "test.csv cannot be read as a model file of spmld: it starts with b'pitch,te'",
        ),
        (
            ["evaluate", "pickle.skops", "test.csv"],
            "pickle.skops cannot be read as a model file of spmld: it is a pickle, which can execute arbitrary code",
        ),
        (["evaluate", "cut.skops", "test.csv"], "cut.skops cannot be read as a model file of spmld"),
        (["compare", "train.csv", "--folds", "9999"], "--folds must be at most the number of samples in train.csv, "),
        (["tune", "train.csv", "--folds", "9999"], "--folds must be at most the number of samples in train.csv, "),
        (["audit", "train.csv", "--folds", "9999"], "--folds must be at most the number of samples in train.csv, "),
        (["audit", "train.csv", "-o", "absent/a.csv"], "cannot write a.csv: folder absent does not exist"),
        (["data", "convert", "train.csv", "absent/a.csv"], "cannot write a.csv: folder absent does not exist"),
        (["evaluate", "songs.skops", "test.csv", "--metric", "luck"], "metric must be one of ranking_loss"),
        (
            ["evaluate", "songs.skops", "three.csv"],
            "the file lacks 1 of the 4 labels, fast; the columns are pitch, tempo, ",
        ),
        (
            ["evaluate", "songs.skops", "three.npz"],
            "three.npz: the file lacks 1 of the 4 labels, fast; the columns are sad, calm, loud",
        ),
        (["evaluate", "songs.skops", "test.csv", "--label", "sad"], "--label must name the labels of the model"),
        (
            ["evaluate", "songs.skops", "test.csv", "--part", "test"],
            "--part test needs an official split, which test.csv does not have",
        ),
        (["predict", "songs.skops", "absent.csv"], "file absent.csv does not exist"),
        (
            ["predict", "songs.skops", "five.csv"],
            "the file lacks 1 of the 6 features, decay; the columns are pitch, tempo, ",
        ),
        (
            ["predict", "songs.skops", "five.npz"],
            "five.npz: the file lacks 1 of the 6 features, decay; the columns are ",
        ),
        (["predict", "songs.skops", "words.csv"], "column 'tempo' contains 'quick', which is not a number"),
        (
            ["predict", "songs.skops", "test.csv", "-o", "absent/a.csv"],
            "cannot write a.csv: folder absent does not exist",
        ),
        (
            ["predict", "songs.skops", "test.csv", "-o", "tags.xyz"],
            'unknown file extension ".xyz" of tags.xyz; supported: .csv, .tsv',
        ),
        (
            ["predict", "songs.skops", "test.csv", "--top-k", "1", "--threshold", "0.5"],
            "cannot be combined; pass one of them",
        ),
        (
            ["complete", "train.csv", "--model", "songs.skops", "--param", "a=1"],
            "--param cannot be combined with --model",
        ),
        (["info", "test.csv"], "test.csv cannot be read as a model file of spmld"),
        (["compare", "train.csv", "--metric", "luck"], "metric must be one of ranking_loss"),
        (
            ["compare", "train.csv", "--method", "LEML", "--reference", "MLLRC"],
            "--reference must be one of the compared methods, LEML, got MLLRC",
        ),
        (["tune", "train.csv", "--range", "tol=1"], "--range must have the form KEY=LOW:HIGH or KEY=LOW:HIGH:log"),
        (["tune", "train.csv", "--choices", "magic=1,2"], "SelfPacedEnsemble has no parameter 'magic'"),
        (["tune", "train.csv", "--choices", "tol"], "--choices must have the form KEY=A,B,C"),
        (
            ["tune", "train.csv", "--range", "tol=0:1", "--param", "tol=1"],
            "--param tol is fixed and cannot be searched as well",
        ),
        (["tune", "train.csv", "--range", "tol=1:0"], "--range must have LOW < HIGH, and 0 < LOW with log"),
        (["tune", "train.csv", "--range", "tol=0:1:log"], "--range must have LOW < HIGH, and 0 < LOW with log"),
        (
            ["tune", "train.csv", "--method", "PerLabelClassifier"],
            "PerLabelClassifier has no default search space; pass --choices or --range",
        ),
        (["tune", "train.csv", "-o", "absent/m.skops"], "folder absent does not exist"),
    ],
)
def test_errors_are_one_line_and_write_no_file(args, message, cli):
    data = songs(TEST)
    write_dataset(Dataset(data.X, data.Y[:, :3], FEATURES, LABELS[:3]), "three.csv")
    write_dataset(Dataset(data.X, data.Y[:, :3], FEATURES, LABELS[:3]), "three.npz")
    write_dataset(Dataset(data.X[:, :5], data.Y, FEATURES[:5], LABELS), "five.csv")
    write_dataset(Dataset(data.X[:, :5], data.Y, FEATURES[:5], LABELS), "five.npz")
    pd.read_csv("test.csv").astype({"tempo": object}).assign(tempo="quick").to_csv("words.csv", index=False)
    content = Path("songs.skops").read_bytes()
    contents = {"empty.csv": b"", "wrong.parquet": b"not parquet", "cut.skops": content[: len(content) // 2]}
    for name, data in {**contents, "pickle.skops": pickle.dumps(1)}.items():
        Path(name).write_bytes(data)
    before = sorted(os.listdir())
    status, out, err = cli(*args)
    assert (status, out) == (2, "")
    assert message in err
    assert err.startswith("spmld: ")
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


def test_errors_of_a_separate_process_have_no_traceback(tmp_path):
    write_songs(tmp_path)
    status, out, err = run(tmp_path, "fit", "train.csv", "-o", "absent/m.skops")
    assert (status, out, err) == (2, "", "spmld: cannot write m.skops: folder absent does not exist\n")
    status, out, err = run(tmp_path, "predict", "absent.skops", "test.csv")
    assert (status, out, err) == (2, "", "spmld: file absent.skops does not exist\n")
    assert run(tmp_path, "fit", "train.csv")[0] == 2  # -o is missing


FITTING = [["fit", "-o", "m.skops"], ["complete"], ["compare"], ["tune"], ["audit"]]


@pytest.mark.parametrize("command", FITTING)
def test_an_unknown_method_is_named(command, cli):
    status, _, err = cli(*command, "train.csv", "--method", "Magic")
    assert status == 2
    assert "Invalid value for '--method': must be one of SelfPacedEnsemble, SPMLD, SPMLD.paper, GLOCAL" in err
    assert "got 'Magic'" in err


@pytest.mark.parametrize("command", FITTING)
def test_an_invalid_seed_is_named(command, cli):
    status, _, err = cli(*command, "train.csv", "--seed", "-1")
    assert status == 2
    assert "Invalid value for '--seed': -1 is not in the range 0<=x<=4294967295" in err


def test_every_method_is_in_the_docs():
    page = (Path(__file__).parents[3] / "docs" / "commands.md").read_text(encoding="utf-8")
    listed = re.search(r"`--method` is one of (.*?)\. ", " ".join(page.split()))[1]
    assert re.findall(r"[\w.]+", re.sub(r"\(.*?\)", "", listed).replace(" and ", ", ")) == list(METHODS)


def test_method_cannot_be_combined_with_model(cli):
    for command in (["complete"], ["report", "-o", "x.html"]):
        status, _, err = cli(command[0], "train.csv", "--model", "songs.skops", "--method", "GLOCAL", *command[1:])
        assert status == 2
        assert "--method cannot be combined with --model" in err
