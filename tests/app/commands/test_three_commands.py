"""From a CSV file with missing labels to a fitted and evaluated model in three commands."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.datasets import make_songs, read_dataset
from spmld.metrics import evaluate, macro_auc, ranking_loss
from tests.app.commands.songs import FEATURES, LABELS, run, write_songs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("songs")
    write_songs(folder)
    return folder


def test_fit_evaluate_predict(folder):
    assert ",,\n" in (folder / "train.csv").read_text()  # missing labels are empty cells
    status, out, err = run(folder, "fit", "train.csv", "-o", "songs.skops")
    assert (status, out) == (0, "")
    assert err.startswith("songs.skops: SelfPacedEnsemble fitted to 4 labels of 120 samples in ")
    assert "identical to an earlier sample" not in err

    status, out, err = run(folder, "evaluate", "songs.skops", "test.csv", "--all")
    assert (status, err) == (0, "")
    lines = [line.split("\t") for line in out.splitlines()]
    assert lines[0] == ["metric", "value", "better", "over", "used", "left out"]
    values = {line[0]: float(line[1]) for line in lines[1:]}
    # The same as in Python, and better than chance.
    train, test = read_dataset(folder / "train.csv"), read_dataset(folder / "test.csv")
    model = spmld.SelfPacedEnsemble(random_state=0).fit(train.X, train.Y)
    scores = model.decision_function(test.X)
    answers = {"predictions": model.predict(test.X), "probabilities": model.predict_proba(test.X)}
    assert set(values) == set(evaluate(test.Y, scores=scores, **answers))
    assert values["ranking_loss"] == pytest.approx(ranking_loss(test.Y, scores), abs=5.1e-5)
    assert values["macro_auc"] == pytest.approx(macro_auc(test.Y, scores), abs=5.1e-5)
    assert values["macro_auc"] > 0.85

    status, out, err = run(folder, "predict", "songs.skops", "test.csv")
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0])[:4] == LABELS
    predicted = np.array([[int(row[name]) for name in LABELS] for row in rows])
    np.testing.assert_array_equal(predicted, model.predict(test.X).astype(int))


def test_fit_says_how_many_samples_are_identical_to_an_earlier_one(folder):
    lines = (folder / "train.csv").read_text().splitlines(keepends=True)
    for repeated, note in ((lines[5:6], "1 sample"), (lines[1:4] + lines[1:2], "4 samples")):
        (folder / "repeated.csv").write_text("".join([*lines[:41], *repeated]))
        status, _, err = run(
            folder, "fit", "repeated.csv", "-o", "repeated.skops", "--no-held-out", "--force", "--param", "n_trees=[20]"
        )
        assert status == 0, err
        assert f"; identical to an earlier sample: {note} (copies)\n" in err


def test_the_commands_of_the_readme_run(tmp_path):
    text = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    block = text.split("On the command line")[1].split("```")[1]
    commands = [line.split()[1:] for line in block.strip().splitlines()]
    assert [command[0] for command in commands] == ["fit", "evaluate", "predict"]
    songs = make_songs(200, n_labels=4, observed_fraction=0.5, as_frame=True, random_state=0)
    songs.frame[:150].to_csv(tmp_path / "songs.csv", index=False)
    songs.frame[150:].to_csv(tmp_path / "test.csv", index=False)
    songs.frame[150:].drop(columns="tags").to_csv(tmp_path / "new.csv", index=False)
    for command in commands:
        status, _, err = run(tmp_path, *command)
        assert status == 0, err
    predicted = pd.read_csv(tmp_path / "predicted.csv")
    assert list(predicted.columns[:5]) == ["song_id", *sorted(songs.label_names)]
    assert list(predicted["song_id"]) == list(songs.frame["song_id"][150:])


def test_json_output(folder):
    status, out, _ = run(folder, "fit", "train.csv", "-o", "j.skops", "--method", "LabelPrior", "--json")
    assert status == 0
    summary = json.loads(out) | {"seconds": 0}
    quality = summary.pop("held_out")
    assert list(quality) == ["model", "label prior", "logistic regression"]
    assert quality["model"]["ranking_loss"] == pytest.approx(quality["label prior"]["ranking_loss"], abs=0.1)
    assert quality["logistic regression"]["ranking_loss"] < quality["label prior"]["ranking_loss"]
    assert summary == {
        "model": "j.skops",
        "data": "train.csv",
        "method": "LabelPrior",
        "n_samples": 120,
        "n_features": 6,
        "n_labels": 4,
        "observed": pytest.approx(0.6, abs=0.02),
        "seconds": 0,
        "columns": dict.fromkeys(FEATURES, "number"),
        "decision": "f1",
    }
    options = ("--metric", "ndcg_at_2", "--metric", "micro_f1", "--json")
    status, out, _ = run(folder, "evaluate", "j.skops", "test.csv", *options)
    output = json.loads(out)
    assert [row["name"] for row in output["metrics"]] == ["ndcg_at_2", "micro_f1"]
    assert output["metrics"][0]["better"] == "higher"
