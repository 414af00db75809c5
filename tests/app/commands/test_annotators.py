"""Several annotators on the command line: ``spmld annotators`` and ``spmld fit --annotator``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.annotators import find_consensus, fit_consensus, read_annotators
from tests.app.commands.songs import FEATURES, LABELS, PLANTED

ERROR_RATES = {"Ann": 0.03, "bob": 0.15, "Dr. Eve, MD": 0.35}
WORDS = [("nein", "ja"), ("0", "1"), ("no", "x")]
ROLES = ("--annotator", "person", "--id", "song id")
FAST = ("--method", "MaskedLogistic", "--no-held-out")


def simulated_answers():
    rng = np.random.default_rng(0)
    wrong = rng.random((240, 3, 4)) < np.array(list(ERROR_RATES.values()))[:, None]
    answers = np.where(wrong, 1.0 - PLANTED.Y[:, None], PLANTED.Y[:, None])
    return np.where(rng.random(answers.shape) < 0.3, np.nan, answers)


ANSWERS = simulated_answers()


@pytest.fixture
def answers(cli):
    """Write answers.csv: rows in random order, words of each annotator, spaces and a tempo that differs twice."""
    rows = []
    for i, a in np.argwhere(~np.isnan(ANSWERS).all(axis=2)):
        words = ["" if np.isnan(value) else WORDS[a][int(value)] for value in ANSWERS[i, a]]
        names = [f"S{i} " if a == 1 else f"S{i}", list(ERROR_RATES)[a] + " " * (i % 2)]
        rows.append([*names, *PLANTED.X[i].tolist(), *words])
    columns = ["song id", "person", *FEATURES, *(f"label_{name}" for name in LABELS)]
    frame = pd.DataFrame(rows, columns=columns).sample(frac=1, random_state=0, ignore_index=True)
    names = frame["song id"].str.strip()
    frame.loc[names[names.duplicated()].drop_duplicates().index[:2], "tempo"] += 1  # not in the first row of a sample
    frame.to_csv("answers.csv", sep=";", index=False)
    return frame


def first_rows(frame):
    """Return the samples in the order of their first rows."""
    return pd.unique(frame["song id"].str.strip().str[1:]).astype(int)


def test_annotators_from_a_raw_table(cli, answers):
    status, out, err = cli("annotators", "answers.csv", *ROLES, "--json", "-o", "consensus.csv")
    assert status == 0, err
    assert "its first row is used: 'tempo' in 2 samples" in err
    result, order = json.loads(out), first_rows(answers)
    assert [row["annotator"] for row in result["annotators"]] == list(ERROR_RATES)[::-1]
    for row in result["annotators"]:
        low, high = row["error_rate_interval"]
        assert low - 0.02 < ERROR_RATES[row["annotator"]] < high + 0.02
        assert row["n_answers"] == (~np.isnan(ANSWERS[:, list(ERROR_RATES).index(row["annotator"])])).sum()
    labels = read_annotators(ANSWERS[order])
    expected = fit_consensus(PLANTED.X[order], labels)
    assert result["agreement"] == pytest.approx(labels.agreement)
    written = pd.read_csv("consensus.csv")
    assert len(written) == result["entries"] == (labels.counts > 0).sum()
    rows = [list(order).index(int(name[1:])) for name in written["song id"]], written["label"].map(LABELS.index)
    np.testing.assert_allclose(written["probability"], expected.probabilities[rows], atol=2e-3)
    np.testing.assert_allclose(written["fraction"], expected.panel_fraction[rows], atol=2e-3)
    np.testing.assert_array_equal(written["answers"], labels.counts[rows])
    assert len(result["next"]) == 10
    for row in result["next"]:
        place = int(row["sample"][1:]), list(ERROR_RATES).index(row["annotator"]), LABELS.index(row["label"])
        assert np.isnan(ANSWERS[place])


def test_annotators_who_copy_are_named(cli):
    rng = np.random.default_rng(0)
    truth = rng.random((300, 1, 3)) < 0.4
    Y = (truth ^ (rng.random((300, 6, 3)) < 0.15)).astype(int)
    Y[:, 1] = np.where(rng.random((300, 3)) < 0.95, Y[:, 0], Y[:, 1])
    rows = [[i, "abcdef"[a], *Y[i, a]] for i, a in np.ndindex(300, 6)]
    pd.DataFrame(rows, columns=["id", "who", "label_x", "label_y", "label_z"]).to_csv("copies.csv", index=False)
    options = "--annotator", "who", "--id", "id"
    assert "a and b seem to copy" in cli("annotators", "copies.csv", *options)[2]
    (pair,) = json.loads(cli("annotators", "copies.csv", *options, "--json")[1])["copies"]
    assert pair["annotators"] == ["a", "b"]


def test_the_printed_tables_name_annotators_and_entries(cli, answers):
    status, out, err = cli("annotators", "answers.csv", *ROLES, "--top", "2")
    assert status == 0
    quality, following = out.split("\n\n")
    assert [line.split("\t")[0] for line in quality.splitlines()[1:]] == list(ERROR_RATES)[::-1]
    assert len(following.strip().splitlines()) == 3
    assert "of the pairs of answers to an entry agree" in err


def test_rates_without_features_are_those_of_the_answers_alone(cli, answers):
    answers.drop(columns=FEATURES).to_csv("plain.csv", index=False)
    status, out, err = cli("annotators", "plain.csv", *ROLES, "--json")
    assert (status, err) == (0, "")
    expected = find_consensus(read_annotators(ANSWERS[first_rows(answers)])).annotator_quality()
    rates = {row["annotator"]: row["error_rate"] for row in json.loads(out)["annotators"]}
    assert [rates[name] for name in ERROR_RATES] == pytest.approx([row["error_rate"] for row in expected], abs=1e-3)


def test_fit_uses_the_consensus_with_its_weights(cli, answers):
    status, out, err = cli("fit", "answers.csv", *ROLES, *FAST, "-o", "m.skops", "--json")
    assert status == 0, err
    order = first_rows(answers)
    expected = spmld.MaskedLogistic().fit(PLANTED.X[order], ANSWERS[order]).decision_function(PLANTED.X)
    frame = pd.DataFrame(PLANTED.X, columns=FEATURES)
    np.testing.assert_allclose(spmld.load("m.skops").estimator_.decision_function(frame), expected, atol=1e-5)
    summary = json.loads(out)
    assert (summary["annotators"], summary["answers"]) == (3, (~np.isnan(ANSWERS)).sum())
    frame.to_csv("new.csv", index=False)
    assert cli("predict", "m.skops", "new.csv")[0] == 0


def test_one_annotator_is_an_ordinary_fit(cli, answers):
    answers[answers["person"].str.strip() == "bob"].to_csv("bob.csv", index=False)
    probabilities = []
    for options in (ROLES, ("--id", "song id", "--drop", "person")):
        status, _, err = cli("fit", "bob.csv", *options, *FAST, "-o", "m.skops", "--force")
        assert status == 0, err
        probabilities.append(spmld.load("m.skops").predict_proba(pd.DataFrame(PLANTED.X, columns=FEATURES)))
    np.testing.assert_array_equal(*probabilities)
    status, _, err = cli("annotators", "bob.csv", *ROLES)
    assert status == 2
    assert "bob.csv must have entries with answers of several annotators" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--annotator", "person"], "annotator requires the column that identifies the samples"),
        (
            ["--annotator", "persn", "--id", "song id"],
            "column 'persn' of annotator does not exist; did you mean 'person'",
        ),
        (["--annotator", "person", "--id", "person"], "column 'person' has two roles, id and annotator"),
    ],
)
def test_errors_name_the_column(cli, answers, options, message):
    for command in ("annotators", "fit"):
        status, out, err = cli(command, "answers.csv", *options, "-o", {"fit": "m.skops"}.get(command, "c.csv"))
        assert (status, out) == (2, "")
        assert message in " ".join(err.split())
    assert not {"m.skops", "c.csv"} & {path.name for path in Path().iterdir()}


def test_errors_of_the_answers(cli, answers):
    repeated = pd.concat([answers, answers[answers["person"].str.strip() == "Ann"].iloc[:1]])
    tables = {
        "column 'person' is empty in 2 of": answers.assign(person=["", " ", *answers["person"][2:]]),
        "annotator 'Ann' has 2 rows for sample": repeated,
        "must have positive and negative answers": answers.replace(["nein", "no", "0"], ""),
    }
    for message, table in tables.items():
        table.to_csv("table.csv", index=False)
        status, out, err = cli("annotators", "table.csv", *ROLES, "-o", "consensus.csv")
        assert (status, out) == (2, "")
        assert message in " ".join(err.split()), err
        assert not Path("consensus.csv").exists()
    answers.drop(columns=FEATURES).to_csv("plain.csv", index=False)
    for path, options, message in (
        ("plain.csv", (), "no column is left for features"),
        ("answers.csv", ("--trusted", "tempo"), "--trusted cannot be combined with --annotator"),
    ):
        status, _, err = cli("fit", path, *ROLES, *options, "-o", "m.skops")
        assert status == 2
        assert message in err
        assert not Path("m.skops").exists()
