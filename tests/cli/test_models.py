"""Commands on a model: output, matching of columns by name, and errors."""

import csv
import io
import json
import os
import pickle
import re
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, RidgeClassifier

import spmld
from spmld.cli import main
from spmld.cli.fitting import fit_model
from spmld.cli.methods import METHODS, build
from spmld.datasets import Dataset, read_csv, write_dataset
from spmld.model_selection import ThresholdClassifier
from tests.cli.songs import FEATURES, LABELS, TEST, process, run, songs, write_songs


@pytest.fixture(scope="module")
def model():
    """A model of the songs, as written by `spmld fit`."""
    data = songs(TEST, observed=0.6)
    frame = pd.DataFrame(data.X, columns=FEATURES), pd.DataFrame(data.Y, columns=LABELS)
    return spmld.MaskedLogistic().fit(*frame)


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys, model):
    """Run a command in a folder with the songs and a model of them; return exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    write_songs(tmp_path)
    spmld.save(model, "songs.skops")

    def call(*args):
        with pytest.raises(SystemExit) as exit:
            main(list(args))
        return exit.value.code, *capsys.readouterr()

    return call


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_columns_are_matched_by_name(cli):
    _, expected, _ = cli("predict", "songs.skops", "test.csv", "--probabilities")
    frame = pd.read_csv("test.csv")
    other = frame[[f"label_{name}" for name in reversed(LABELS)] + FEATURES[::-1]]
    other.insert(2, "title", "a song")  # text is ignored
    other.to_csv("other.csv", index=False)
    status, out, err = cli("predict", "songs.skops", "other.csv", "--probabilities")
    assert (status, out, err) == (0, expected, "")
    assert cli("evaluate", "songs.skops", "other.csv")[1] == cli("evaluate", "songs.skops", "test.csv")[1]
    frame[FEATURES].to_parquet("bare.parquet")  # new samples have no labels
    assert cli("predict", "songs.skops", "bare.parquet", "--probabilities")[1] == expected
    frame.rename(columns=lambda name: name.removeprefix("label_")).to_csv("plain.csv", index=False)
    assert cli("evaluate", "songs.skops", "plain.csv")[1] == cli("evaluate", "songs.skops", "test.csv")[1]


def test_other_formats_are_matched_by_name(cli):
    data = songs(TEST)
    reordered = Dataset(sp.csr_array(data.X[:, ::-1]), data.Y[:, ::-1], FEATURES[::-1], LABELS[::-1], "reordered")
    write_dataset(reordered, "reordered.npz")
    expected = json.loads(cli("evaluate", "songs.skops", "test.csv", "--json")[1])["metrics"]
    metrics = json.loads(cli("evaluate", "songs.skops", "reordered.npz", "--json")[1])["metrics"]
    assert [row["value"] for row in metrics] == pytest.approx([row["value"] for row in expected])


def test_predict_returns_labels_probabilities_and_top_labels(cli, model):
    X = pd.read_csv("test.csv")[FEATURES]
    P = model.predict_proba(X)
    rows = table(cli("predict", "songs.skops", "test.csv", "--probabilities")[1])
    np.testing.assert_allclose([[float(row[name]) for name in LABELS] for row in rows], P, atol=5.1e-5)
    rows = table(cli("predict", "songs.skops", "test.csv")[1])
    assert list(rows[0]) == LABELS + [f"probability_{name}" for name in LABELS]
    assert [float(rows[0][f"probability_{name}"]) for name in LABELS] == np.round(P[0], 4).tolist()
    rows = table(cli("predict", "songs.skops", "test.csv", "--threshold", "0.2")[1])
    np.testing.assert_array_equal([[int(row[name]) for name in LABELS] for row in rows], P > 0.2)
    rows = table(cli("predict", "songs.skops", "test.csv", "--top-k", "2")[1])
    best = np.argsort(-P, axis=1)[:, :2]
    assert [row["label"] for row in rows] == [LABELS[j] for j in best.ravel()]
    assert [int(row["sample"]) for row in rows[:4]] == [0, 0, 1, 1]
    assert [float(row["probability"]) for row in rows[:2]] == np.round(P[0, best[0]], 4).tolist()
    assert len(table(cli("predict", "songs.skops", "test.csv", "--top-k", "9")[1])) == 4 * len(P)


@pytest.mark.parametrize("name", ["tags.csv", "tags.tsv", "tags.parquet", "tags.json"])
def test_predict_writes_by_the_file_extension(name, cli, model):
    status, out, err = cli("predict", "songs.skops", "test.csv", "-o", name)
    assert (status, out, err) == (0, "", f"{name}: 120 samples, 4 labels\n")
    readers = {"tags.csv": pd.read_csv, "tags.tsv": pd.read_table, "tags.parquet": pd.read_parquet}
    predicted = readers.get(name, pd.read_json)(name)[LABELS]
    np.testing.assert_array_equal(predicted, model.predict(pd.read_csv("test.csv")[FEATURES]))
    assert cli("predict", "songs.skops", "test.csv", "-o", name)[0] == 2
    assert cli("predict", "songs.skops", "test.csv", "-o", name, "--force")[0] == 0


def test_json_is_the_same_as_format_json(cli):
    short = cli("predict", "songs.skops", "test.csv", "--json")[1]
    assert short == cli("predict", "songs.skops", "test.csv", "--format", "json")[1]
    assert set(json.loads(short)[0]) == {*LABELS, *(f"probability_{name}" for name in LABELS)}


def test_complete_lists_the_most_confident_missing_labels(cli, model):
    status, out, err = cli("complete", "train.csv", "--model", "songs.skops", "--top", "5", "--min-confidence", "0.6")
    assert status == 0
    rows, data = table(out), read_csv("train.csv")
    P = model.predict_proba(pd.DataFrame(data.X, columns=FEATURES))
    P[~np.isnan(data.Y)] = 0
    confidences = np.sort(P[P >= 0.6])[::-1]
    assert [float(row["confidence"]) for row in rows] == confidences[:5].round(4).tolist()
    for row in rows:
        assert np.isnan(data.Y[int(row["sample"]), LABELS.index(row["label"])])
    assert err == f"listed 5 of {len(confidences)} suggested labels; {np.isnan(data.Y).sum()} entries are missing\n"
    fitted = cli("complete", "train.csv", "--method", "MaskedLogistic", "--json")
    assert fitted[0] == 0
    assert set(json.loads(fitted[1])[0]) == {"sample", "label", "confidence"}
    assert table(cli("complete", "test.csv", "--model", "songs.skops")[1]) == []  # nothing is missing


def test_a_model_fitted_on_arrays_is_matched_by_position(cli):
    data = songs(TEST)
    spmld.save(spmld.MaskedLogistic().fit(data.X, data.Y), "bare.skops")
    assert cli("evaluate", "bare.skops", "test.csv")[0] == 0
    status, out, _ = cli("predict", "bare.skops", "test.csv")
    assert (status, out.splitlines()[0].split(",")[:4]) == (0, ["y0", "y1", "y2", "y3"])
    write_dataset(Dataset(data.X[:, :5], data.Y, FEATURES[:5], LABELS), "five.csv")
    assert cli("predict", "bare.skops", "five.csv")[::2] == (
        2,
        "spmld: five.csv has 5 features, but bare.skops was fitted on 6\n",
    )
    write_dataset(Dataset(data.X, data.Y[:, :3], FEATURES, LABELS[:3]), "three.csv")
    assert "three.csv has 3 labels, but bare.skops was fitted on 4" in cli("evaluate", "bare.skops", "three.csv")[2]


def test_one_label_as_a_vector(cli):
    data = songs(TEST)
    words = np.where(data.Y[:, 0] > 0, "yes", "no")
    spmld.save(spmld.MaskedLogistic().fit(data.X, words), "one.skops", feature_names=FEATURES, label_names=["sad"])
    status, out, _ = cli("predict", "one.skops", "test.csv", "--no-probabilities")
    assert (status, set(out.split())) == (0, {"sad", "0", "1"})
    output = json.loads(cli("evaluate", "one.skops", "test.csv", "--metric", "macro_auc", "--json")[1])
    assert output["metrics"][0]["value"] > 0.8


def test_a_model_without_probabilities(cli):
    data = songs(TEST)
    spmld.save(RidgeClassifier().fit(data.X, data.Y), "ridge.skops", label_names=LABELS, feature_names=FEATURES)
    assert cli("predict", "ridge.skops", "test.csv")[0] == 0
    assert "score" in cli("predict", "ridge.skops", "test.csv", "--top-k", "1")[1].splitlines()[0]
    for args in (["--threshold", "0.3"], ["--probabilities"]):
        status, _, err = cli("predict", "ridge.skops", "test.csv", *args)
        assert (status, err) == (
            2,
            "spmld: ridge.skops contains RidgeClassifier, which does not predict probabilities\n",
        )
    assert (
        "--metric log_loss needs probabilities" in cli("evaluate", "ridge.skops", "test.csv", "--metric", "log_loss")[2]
    )
    assert "cannot complete labels" in cli("complete", "train.csv", "--model", "ridge.skops")[2]


def test_a_model_with_decisions(cli):
    data = songs(TEST)
    model = ThresholdClassifier(spmld.MaskedLogistic(), cv=2, random_state=0).fit(data.X, data.Y)
    spmld.save(model, "tuned.skops", label_names=LABELS, feature_names=FEATURES)
    for args, expected in (([], model.predict(data.X)), (["--probabilities"], model.predict_proba(data.X))):
        printed = pd.read_csv(io.StringIO(cli("predict", "tuned.skops", "test.csv", *args)[1]))
        np.testing.assert_allclose(printed[LABELS], expected, atol=1e-4)


def test_prefix_and_drop_are_needed_for_the_fit_only(cli):
    frame = pd.read_csv("train.csv").rename(columns=lambda name: name.replace("label_", "is_"))
    frame.insert(0, "id", [f"song {i}" for i in range(len(frame))])
    frame.to_csv("other.csv", index=False)
    args = ("--prefix", "is_", "--drop", "id", "--method", "MaskedLogistic")
    assert cli("fit", "other.csv", "-o", "other.skops", *args)[0] == 0
    assert cli("evaluate", "other.skops", "other.csv")[0] == 0


def test_the_official_split_is_used(cli):
    both = songs(np.arange(240))
    split = Dataset(both.X, both.Y, FEATURES, LABELS, "split", np.arange(0, 240, 2), np.arange(1, 240, 2))
    write_dataset(split, "split.npz")
    out = cli("fit", "split.npz", "-o", "split.skops", "--method", "LabelPrior", "--json")[1]
    assert json.loads(out)["n_samples"] == 120
    assert len(table(cli("predict", "split.skops", "split.npz")[1])) == 120
    assert len(table(cli("predict", "split.skops", "split.npz", "--part", "all")[1])) == 240


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
        (["evaluate", "absent.skops", "test.csv"], "file absent.skops does not exist"),
        (["evaluate", "empty.csv", "test.csv"], "empty.csv is empty, expected a model file of spmld"),
        (["evaluate", "test.csv", "test.csv"], "test.csv is not a model file of spmld: it starts with b'pitch,te'"),
        (["evaluate", "pickle.skops", "test.csv"], "pickle.skops is a pickle, which can execute arbitrary code"),
        (["evaluate", "cut.skops", "test.csv"], "cut.skops is truncated or damaged"),
        (["compare", "train.csv", "--folds", "9999"], "--folds must be at most the number of samples in train.csv, "),
        (["tune", "train.csv", "--folds", "9999"], "--folds must be at most the number of samples in train.csv, "),
        (["audit", "train.csv", "--folds", "9999"], "--folds must be at most the number of samples in train.csv, "),
        (["audit", "train.csv", "-o", "absent/a.csv"], "cannot write a.csv: folder absent does not exist"),
        (["data", "convert", "train.csv", "absent/a.arff"], "cannot write a.arff: folder absent does not exist"),
        (
            ["data", "describe", "train.csv", "--figure", "absent/a.png"],
            "cannot write a.png: folder absent does not exist",
        ),
        (["evaluate", "songs.skops", "test.csv", "--metric", "luck"], "metric must be one of ranking_loss"),
        (["evaluate", "songs.skops", "three.csv"], "the file lacks 1 of the 4 labels, fast; it has 9 columns"),
        (
            ["evaluate", "songs.skops", "three.npz"],
            "three.npz has 3 labels, but songs.skops was fitted on 4: missing fast",
        ),
        (
            ["evaluate", "songs.skops", "more.npz"],
            "more.npz has 5 labels, but songs.skops was fitted on 4: not in songs.skops: new",
        ),
        (["evaluate", "songs.skops", "test.csv", "--label", "sad"], "--label must name the labels of the model"),
        (
            ["evaluate", "songs.skops", "test.csv", "--part", "test"],
            "--part test needs an official split, which test.csv does not have",
        ),
        (["predict", "songs.skops", "absent.csv"], "file absent.csv does not exist"),
        (["predict", "songs.skops", "five.csv"], "the file lacks 1 of the 6 features, decay; it has 9 columns"),
        (
            ["predict", "songs.skops", "five.npz"],
            "five.npz has 5 features, but songs.skops was fitted on 6: missing decay",
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
            ["predict", "songs.skops", "test.csv", "--format", "parquet"],
            "--format parquet cannot be printed; pass a file with -o",
        ),
        (
            ["predict", "songs.skops", "test.csv", "--top-k", "1", "--threshold", "0.5"],
            "cannot be combined; pass one of them",
        ),
        (
            ["complete", "train.csv", "--model", "songs.skops", "--param", "a=1"],
            "--param cannot be combined with --model",
        ),
        (["info", "test.csv"], "test.csv is not a model file of spmld"),
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
        (
            ["tune", "train.csv", "--method", "SPMLD", "--range", "tol=1:0"],
            "must be a list of choices, a range (low, high)",
        ),
        (
            ["tune", "train.csv", "--method", "PerLabelClassifier"],
            "PerLabelClassifier has no default search space; pass --choices or --range",
        ),
        (["tune", "train.csv", "-o", "absent/m.skops"], "folder absent does not exist"),
        (["demo", "-o", "absent/demo"], "folder absent does not exist"),
    ],
)
def test_errors_are_one_line_and_write_no_file(args, message, cli):
    data = songs(TEST)
    write_dataset(Dataset(data.X, data.Y[:, :3], FEATURES, LABELS[:3]), "three.csv")
    write_dataset(Dataset(data.X, data.Y[:, :3], FEATURES, LABELS[:3]), "three.npz")
    write_dataset(Dataset(data.X, np.hstack([data.Y, data.Y[:, :1]]), FEATURES, [*LABELS, "new"]), "more.npz")
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


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "complete", "compare", "tune", "demo", "info"])
def test_every_help_has_an_example(command, cli):
    status, out, _ = cli(command, "--help")
    assert status == 0
    assert "  Example" in out
    assert f"\n    spmld {command}" in out  # on a separate line


@pytest.mark.parametrize("command", ["fit", "tune"])
def test_ctrl_c_exits_with_130_and_writes_no_file(command, tmp_path):
    data = Dataset(
        np.random.default_rng(0).normal(size=(20000, 60)), np.random.default_rng(1).integers(2, size=(20000, 40))
    )
    write_dataset(data, tmp_path / "big.npz")
    slow = ("--method", "SPMLD", "--param", "max_iter=100000", "--param", "tol=0")
    running = process(tmp_path, command, "big.npz", "-o", "big.skops", *slow)
    time.sleep(12)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (130, "")
    assert err.strip().endswith("spmld: interrupted")
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == ["big.npz"]


def test_a_model_without_scores_has_no_top_labels(cli):
    data = songs(TEST)
    spmld.save(LinearRegression().fit(data.X, data.Y), "plain.skops", label_names=LABELS, feature_names=FEATURES)
    status, _, err = cli("predict", "plain.skops", "test.csv", "--top-k", "2")
    assert (status, err) == (2, "spmld: plain.skops contains LinearRegression, which does not predict scores\n")


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
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    listed = re.search(r"`--method` is one of (.*?)\.\s", page, re.DOTALL)[1]
    assert re.findall(r"[\w.]+", re.sub(r"\(.*?\)", "", listed).replace(" and ", ", ")) == list(METHODS)


def test_missing_features_are_replaced_by_models_that_were_fitted_on_some(cli, tmp_path):
    lines = (tmp_path / "train.csv").read_text().splitlines()
    cells = lines[3].split(",")
    cells[lines[0].split(",").index("tempo")] = ""
    (tmp_path / "incomplete.csv").write_text("\n".join([*lines[:3], ",".join(cells), *lines[4:]]) + "\n")
    status, out, err = cli("predict", "songs.skops", "incomplete.csv")
    assert (status, out) == (2, "")
    assert "incomplete.csv: features must be finite numbers" in err
    assert "1 are empty or infinite, the first in sample 2, feature tempo" in err
    assert "fit the model on a table with empty fields" in err
    assert cli("fit", "incomplete.csv", "-o", "imputed.skops", "--method", "MaskedLogistic")[0] == 0
    assert cli("predict", "imputed.skops", "incomplete.csv")[0] == 0
    assert cli("complete", "incomplete.csv", "--model", "imputed.skops")[0] == 0
    for command in ("complete", "compare", "audit"):
        options = [] if command == "audit" else ["--method", "MaskedLogistic"]
        assert cli(command, "incomplete.csv", *options)[0] == 0, command


def test_method_cannot_be_combined_with_model(cli):
    for command in (["complete"], ["report", "-o", "x.html"]):
        status, _, err = cli(command[0], "train.csv", "--model", "songs.skops", "--method", "GLOCAL", *command[1:])
        assert status == 2
        assert "--method cannot be combined with --model" in err


@pytest.mark.parametrize("method", ["SPMLD", "SelfPacedEnsemble", "MaskedLogistic"])
def test_a_fit_advances_the_progress_bar_and_resets_the_callback(method, monkeypatch):
    bars = []

    @contextmanager
    def progress_bar(total, title):
        bars.append([total, title, 0])

        def advance(text):
            bars[-1][2] += 1

        yield advance

    monkeypatch.setattr("spmld.cli.fitting.progress_bar", progress_bar)
    model = build(method, {}, 0)
    fit_model(model, songs(TEST, observed=0.6), method)
    if method == "MaskedLogistic":  # it has no callback
        assert bars == [[None, "fitting MaskedLogistic", 0]]
        return
    ((total, title, done),) = bars
    assert title == f"fitting {method}"
    assert done == len(model.cv_results_ if method == "SelfPacedEnsemble" else model.history_)
    assert 0 < done <= total
    assert model.callback is None
