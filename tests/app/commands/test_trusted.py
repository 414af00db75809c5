"""Verified entries and decisions on the command line."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.app.commands import main
from spmld.app.commands.fitting import METHODS, build
from spmld.app.commands.loading import Source, _match_samples
from spmld.datasets import Dataset, make_planted, read_dataset, write_dataset
from spmld.tables import TableWarning
from tests.app.commands.songs import FEATURES, LABELS

PLANTED = make_planted(400, 6, 4, n_components=3, random_state=0)
X = pd.DataFrame(PLANTED.X, columns=FEATURES)
RATES = np.array([0.0, 0.1, 0.2, 0.4])  # of false positives
VERIFIED = np.arange(400) % 4 == 0
SMALL = {"views": ["linear"], "Cs": [3.0, 30.0], "cv": 2}
SETTINGS = [word for name, value in SMALL.items() for word in ("--param", f"{name}={json.dumps(value)}")]


def noisy_labels():
    """Return labels of which those of unverified samples have false positives, and some are missing."""
    rng = np.random.default_rng(0)
    false = (rng.random(PLANTED.Y.shape) < RATES) & ~VERIFIED[:, None]
    return np.where(rng.random(PLANTED.Y.shape) < 0.1, np.nan, np.where(false, 1, PLANTED.Y))


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with songs.csv; return exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    write_dataset(Dataset(PLANTED.X, noisy_labels(), FEATURES, LABELS, "songs"), "songs.csv")

    def call(*args):
        with pytest.raises(SystemExit) as exit:
            main(list(args))
        return exit.value.code, *capsys.readouterr()

    return call


def add_column(values, name="verified"):
    """Write marked.csv: the songs with an additional column after the third feature."""
    frame = pd.read_csv("songs.csv")
    frame.insert(3, name, values)
    frame.to_csv("marked.csv", index=False)


def expected_model(trusted, **params):
    frames = X, pd.DataFrame(noisy_labels(), columns=LABELS)
    return spmld.SelfPacedEnsemble(**SMALL, **params, random_state=0).fit(*frames, trusted=trusted)


@pytest.mark.parametrize("words", [("0", "1"), ("no", "yes"), ("false", "True"), ("", "1")])
def test_words_of_a_column_that_marks_verified_samples(cli, words):
    add_column(np.where(VERIFIED, words[1], words[0]))
    data = Source("marked.csv", None, "all", {}, "verified").load()
    np.testing.assert_array_equal(data.trusted, VERIFIED[:, None] & ~np.isnan(noisy_labels()))


def test_column_marks_verified_samples_and_is_not_a_feature(cli):
    add_column(VERIFIED.astype(int))
    status, out, err = cli("fit", "marked.csv", "--trusted", "verified", "-o", "m.skops", "--json", *SETTINGS)
    assert (status, err) == (0, "")
    summary, model = json.loads(out), spmld.load("m.skops")
    assert list(model.feature_names_in_) == FEATURES
    assert summary["n_features"] == len(FEATURES)
    assert summary["trusted_entries"] == (VERIFIED[:, None] & ~np.isnan(noisy_labels())).sum()
    expected = expected_model(VERIFIED)
    np.testing.assert_allclose(model.false_positive_rate_, expected.false_positive_rate_)
    assert summary["false_positive_rate"] == pytest.approx(expected.false_positive_rate_.mean(), abs=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X))
    # New samples need no such column.
    assert cli("predict", "m.skops", "songs.csv")[0] == 0


def test_files_mark_verified_entries(cli):
    mask = np.random.default_rng(1).random(PLANTED.Y.shape) < 0.3
    frame = pd.DataFrame(mask.astype(int), columns=LABELS)
    frame[LABELS[::-1]].assign(note="text").to_csv("plain.csv", index=False)
    frame.replace(0, np.nan).add_prefix("label_").to_parquet("prefixed.parquet")
    expected = expected_model(mask).decision_function(X)
    for file in ("plain.csv", "prefixed.parquet"):
        status, _, err = cli("fit", "songs.csv", "--trusted", file, "-o", "m.skops", "--force", *SETTINGS)
        assert status == 0, err
        assert f"trusted entries: {(mask & ~np.isnan(noisy_labels())).sum()}, " in err
        np.testing.assert_allclose(spmld.load("m.skops").decision_function(X), expected)


def test_verified_samples_follow_the_official_split(cli):
    train, test = np.arange(0, 400, 2), np.arange(1, 400, 2)
    data = Dataset(PLANTED.X, noisy_labels(), train=train, test=test, trusted=VERIFIED)
    write_dataset(data, "split.npz")
    np.testing.assert_array_equal(read_dataset("split.npz").part("train").trusted, data.trusted[train])
    pd.DataFrame(np.tile(VERIFIED[:, None], 4).astype(int), columns=data.label_names).to_csv("mask.csv", index=False)
    for options in ([], ["--trusted", "mask.csv"]):
        status, out, _ = cli("fit", "split.npz", *options, "-o", "m.skops", "--json", "--force", *SETTINGS)
        assert status == 0
        assert json.loads(out)["trusted_entries"] == data.trusted[train].sum()


def test_complete_and_report_accept_verified_samples(cli):
    add_column(VERIFIED.astype(int))
    status, out, _ = cli("complete", "marked.csv", "--trusted", "verified", "--min-confidence", "0", *SETTINGS)
    Y = pd.DataFrame(noisy_labels(), columns=LABELS)
    model = expected_model(VERIFIED, completion="boosting")
    suggestions = model.complete(X, Y).suggestions(Y, min_confidence=0)
    assert status == 0
    assert float(out.split()[1].split(",")[2]) == pytest.approx(suggestions[0][2], abs=1e-4)
    options = ["--method", "MaskedLogistic", "--param", "false_positive_rate=0.1", "--no-audit", "-o", "report.html"]
    status, _, err = cli("report", "marked.csv", "--trusted", "verified", *options)
    assert status == 0, err
    with open("report.html", encoding="utf-8") as file:
        assert "trusted entries" in file.read()


FAST = ("--method", "MaskedLogistic", "--no-held-out")


@pytest.mark.parametrize("text", ["f1", "micro_f1", "0.25", "2"])
def test_decision_is_used_by_predict(cli, text):
    decision = int(text) if text == "2" else float(text) if text == "0.25" else text
    status, out, err = cli("fit", "songs.csv", "--decision", text, "-o", "m.skops", "--json", *FAST)
    assert (status, err) == (0, "")
    assert json.loads(out)["decision"] == decision
    printed = cli("predict", "m.skops", "songs.csv", "--no-probabilities")[1]
    predicted = np.array([line.split(",") for line in printed.split()[1:]], dtype=int)
    P = spmld.load("m.skops").predict_proba(X)
    if decision == 2:
        np.testing.assert_array_equal(predicted.sum(axis=1), 2)
    elif decision == 0.25:
        np.testing.assert_array_equal(predicted, P > 0.25)
    else:
        assert 0.5 * P.mean() < predicted.mean() < 2 * P.mean()


def test_fit_describes_what_was_estimated(cli):
    status, _, err = cli("fit", "songs.csv", "--param", "false_positive_rate=0.05", "-o", "m.skops", *SETTINGS)
    lines = err.splitlines()
    assert (status, len(lines)) == (0, 6)
    names = ["m.skops", "observed", "columns", "settings", "held-out", "next"]
    assert [line.split(":")[0] for line in lines] == names
    assert ", mean false positive rate: 0.050, " in lines[3]
    assert lines[3].endswith(", decision: f1")
    assert lines[5].endswith("verify about 50 samples, and mark them in a column for --trusted")
    add_column(VERIFIED.astype(int))
    _, _, err = cli("fit", "marked.csv", "--trusted", "verified", "-o", "m.skops", "--force", *SETTINGS)
    assert "mean false positive rate: 0." in err.splitlines()[3]
    assert "for --trusted" not in err
    zero = [*SETTINGS, "--param", "false_positive_rate=0", "--param", "false_negative_rate=0"]
    _, _, err = cli("fit", "songs.csv", *zero, "-o", "m.skops", "--force")
    assert "rate" not in err.splitlines()[3]
    _, _, err = cli("fit", "songs.csv", "--method", "LabelPrior", "-o", "m.skops", "--force")
    assert err.splitlines()[3] == "settings: decision: f1"
    _, _, err = cli("fit", "songs.csv", "--method", "LabelPrior", "--decision", "none", "-o", "m.skops", "--force")
    assert err.splitlines()[3] == "settings: defaults"


def test_methods_that_use_trusted_entries():
    assert [name for name in METHODS if build(name, {}, 0).uses_trusted()] == ["SelfPacedEnsemble"]
    rates = {"false_positive_rate": [0.1, 0.0]}
    for name in ("MaskedLogistic", "MaskedBoosting"):
        assert build(name, rates, 0, trusted=True).uses_trusted()
    with pytest.raises(ValueError, match="or MaskedBoosting with --param false_positive_rate, got MaskedForest"):
        build("MaskedForest", rates, 0, trusted=True)


COLUMN_OR_FILE = "--trusted must be a column of a table with 1 for each verified sample, or a file"


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (["--trusted", "checked"], [COLUMN_OR_FILE, "'checked', which is neither a column nor a file"]),
        (["--trusted", "calm"], [COLUMN_OR_FILE, "'calm', which is a label of songs.csv"]),
        (["--trusted", "pitch"], ["trusted column 'pitch' contains ", "accepted: yes/no"]),
        (["--trusted", "short.csv"], ["--trusted short.csv must have the shape", "(400, 4), got (3, 4)"]),
        (["--trusted", "part.csv"], ["part.csv", "lacks 2 of the 4 labels, loud, fast"]),
        (["--trusted", "notes.txt"], ["must be a table, such as a .csv, .tsv or .parquet file, got notes.txt"]),
        (
            ["--trusted", "short.csv", "--method", "GLOCAL"],
            ["SelfPacedEnsemble, or MaskedLogistic", "got GLOCAL"],
        ),
        (["--decision", "accuracy"], ["f1, micro_f1, macro_f1, sample_f1, none, a threshold", "got 'accuracy'"]),
        (["--decision", "1.5"], ["a threshold between 0 and 1", "got '1.5'"]),
        (["--decision", "0"], ["a number of labels of at least 1", "got '0'"]),
        (["--decision", "true"], ["got 'true'"]),
        (["--decision", "9"], ["at most the number of labels, 4, got 9"]),
        (["--decision", "none"], ["needs a method without a decision rule, got SelfPacedEnsemble; pass 0.5"]),
        (
            ["--decision", "f1", "--method", "MaskedLogistic", "--param", "false_positive_rate=0.1"],
            ["--decision cannot be combined with the noise rates of MaskedLogistic", "--threshold or --top-k"],
        ),
        (["--decision", "f1", "--param", "decision=0.5"], ["--param decision cannot be combined with other options"]),
    ],
)
def test_errors_name_the_option_and_what_is_accepted(cli, options, messages):
    pd.DataFrame(np.ones((3, 4)), columns=LABELS).to_csv("short.csv", index=False)
    pd.DataFrame(np.ones((400, 2)), columns=LABELS[:2]).to_csv("part.csv", index=False)
    with open("notes.txt", "w", encoding="utf-8") as file:
        file.write("verified")
    status, out, err = cli("fit", "songs.csv", "-o", "m.skops", *options)
    assert (status, out) == (2, "")
    assert all(message in " ".join(err.split()) for message in messages), err


def test_trusted_cannot_be_combined_with_a_model(cli):
    add_column(VERIFIED.astype(int))
    assert cli("fit", "songs.csv", "--method", "LabelPrior", "-o", "m.skops")[0] == 0
    status, _, err = cli("complete", "marked.csv", "--model", "m.skops", "--trusted", "verified")
    assert status == 2
    assert "--trusted cannot be combined with --model" in err


def test_rows_are_matched_by_identifiers():
    mask = np.array([[True], [False], [True]])
    data = SimpleNamespace(roles=SimpleNamespace(id="song"), sample_names=["7", "b", "c "])
    for names, expected in (
        (["c", "007", "b"], [0, 1, 1]),  # in another order, and 007 is 7
        (["7.0", "x", "c"], [1, 0, 1]),  # b is not in the file
        (["x", "x", "c"], [0, 0, 1]),  # repeated, but not in the data
    ):
        matched = _match_samples("mask.csv", pd.DataFrame({"song": names}), mask, data, "songs.csv")
        np.testing.assert_array_equal(matched[:, 0], expected)
    with pytest.raises(ValueError, match="has no sample of the data: the values of 'song' are x, y, z"):
        _match_samples("mask.csv", pd.DataFrame({"song": ["x", "y", "z"]}), mask, data, "songs.csv")
    for other in (data, SimpleNamespace(roles=None), SimpleNamespace(roles=data.roles, sample_names=None)):
        matched = _match_samples("mask.csv", pd.DataFrame({"a": [1, 0, 1]}), mask, other, "songs.csv")
        np.testing.assert_array_equal(matched, mask)


@pytest.mark.parametrize(
    ("verified", "samples", "shown"),
    [
        (["b", "b", "c"], ["7", "b", "c"], "'b' is repeated in mask.csv"),
        (["7", "007", "c"], ["7", "b", "c"], "'7' is repeated in mask.csv"),
        (["7", "b", "c"], ["b", "c", "b"], "'b' is repeated in songs.csv"),
        (["7", None, None], ["", "7", ""], "an empty field is repeated in mask.csv"),
    ],
)
def test_repeated_identifiers_are_not_matched_by_position(verified, samples, shown):
    data = SimpleNamespace(roles=SimpleNamespace(id="song"), sample_names=samples)
    message = f"--trusted mask.csv is matched by the column 'song', in which {shown}; make the identifiers unique, or"
    with pytest.raises(ValueError, match=message):
        _match_samples("mask.csv", pd.DataFrame({"song": verified}), np.ones((3, 1), dtype=bool), data, "songs.csv")


def test_a_file_of_a_review_is_not_matched_by_repeated_identifiers(cli):
    frame = pd.read_csv("songs.csv").assign(song=["a", "a", *map(str, range(398))])
    frame.to_csv("named.csv", index=False)
    pd.DataFrame({"sample": [1], "label": [LABELS[0]], "answer": ["present"]}).to_csv("answers.csv", index=False)
    status, _, err = cli("correct", "named.csv", "answers.csv", "--id", "song", "-o", "new.csv")
    assert status == 0, err
    verified = pd.read_csv("new.trusted.csv")
    assert list(verified.columns) == LABELS
    with pytest.warns(TableWarning, match="not unique: 'a'"):
        data = Source("new.csv", None, "all", {"id": "song"}, "new.trusted.csv").load()
    assert np.argwhere(data.trusted).tolist() == [[1, 0]]
    verified.assign(song=frame["song"]).to_csv("named.trusted.csv", index=False)
    status, _, err = cli("fit", "new.csv", "--id", "song", "--trusted", "named.trusted.csv", "-o", "m.skops")
    assert status == 2
    assert "'a' is repeated in named.trusted.csv" in err
