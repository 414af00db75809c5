"""Commands in separate processes on Emotions: audio features of songs, labeled with moods."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from tests.app.commands.songs import run


@pytest.fixture(scope="module")
def emotions(load, tmp_path_factory):
    """A folder with the training samples as a table, the same with 40 % of the labels missing, and a model."""
    load("emotions")
    folder = tmp_path_factory.mktemp("emotions")
    call = ["fit", "emotions", "-o", "model.skops", "--method", "MaskedLogistic", "--json"]
    status, out, err = run(folder, *call)
    assert status == 0, err
    assert json.loads(out)["n_samples"] == 391
    status, _, err = run(folder, "data", "convert", "emotions", "songs.csv", "--part", "train")
    assert status == 0, err
    lines = (folder / "songs.csv").read_text().splitlines()
    labels = [i for i, name in enumerate(lines[0].split(",")) if name.startswith("label_")]
    masked = [lines[0]]
    for number, line in enumerate(lines[1:]):
        cells = line.split(",")
        for column in labels:
            if (number + column) % 5 < 2:
                cells[column] = ""
        masked.append(",".join(cells))
    (folder / "missing.csv").write_text("\n".join(masked) + "\n")
    return folder


def succeed(folder, *args):
    """Return the output of a command that succeeds."""
    status, out, err = run(folder, *args)
    assert status == 0, err
    return out


def fail(folder, *args):
    """Return the message of a command that fails, and check that it leaves the folder unchanged."""
    before = sorted(os.listdir(folder))
    status, out, err = run(folder, *args)
    assert (status, out) == (2, "")
    assert "Traceback" not in err
    assert sorted(os.listdir(folder)) == before
    return err


def test_evaluate(emotions):
    output = json.loads(succeed(emotions, "evaluate", "model.skops", "emotions", "--json"))
    (loss,) = [metric for metric in output["metrics"] if metric["name"] == "ranking_loss"]
    assert loss["used"] == 202
    assert 0.1 < loss["value"] < 0.25
    assert "nothing.csv" in fail(emotions, "evaluate", "model.skops", "nothing.csv")


def test_complete(emotions):
    succeed(emotions, "complete", "missing.csv", "--param", "n_trees=[20]", "--top", "30", "--list", "added.csv")
    masked = pd.read_csv(emotions / "missing.csv")
    truth = pd.read_csv(emotions / "songs.csv")
    added = pd.read_csv(emotions / "added.csv")
    entries = [(sample, f"label_{label}") for sample, label in zip(added["sample"], added["label"], strict=True)]
    assert len(entries) == 30
    assert all(np.isnan(masked.at[entry]) for entry in entries)
    assert np.mean([truth.at[entry] for entry in entries]) > 0.8  # fewer than a third of all labels are positive
    assert "--min-confidence" in fail(emotions, "complete", "missing.csv", "--min-confidence", "2")
