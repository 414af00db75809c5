"""Every command, as people run it, on Emotions: songs, their sound in numbers, and what listeners felt."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from tests.cli.songs import run


@pytest.fixture(scope="module")
def emotions(load, tmp_path_factory):
    """A folder with the training rows as a table, two fifths of the labels blank, and a model of them."""
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
    gaps = [lines[0]]
    for number, line in enumerate(lines[1:]):
        cells = line.split(",")
        for place in labels:
            if (number + place) % 5 < 2:
                cells[place] = ""
        gaps.append(",".join(cells))
    (folder / "gaps.csv").write_text("\n".join(gaps) + "\n")
    return folder


def good(folder, *args):
    status, out, err = run(folder, *args)
    assert status == 0, err
    return out


def refused(folder, *args):
    """The message of a command that does not go through, which leaves the folder as it was."""
    before = sorted(os.listdir(folder))
    status, out, err = run(folder, *args)
    assert (status, out) == (2, "")
    assert "Traceback" not in err
    assert sorted(os.listdir(folder)) == before
    return err


def test_evaluate(emotions):
    found = json.loads(good(emotions, "evaluate", "model.skops", "emotions", "--json"))
    (loss,) = [metric for metric in found["metrics"] if metric["name"] == "ranking_loss"]
    assert loss["used"] == 202
    assert 0.1 < loss["value"] < 0.25
    assert "nothing.csv" in refused(emotions, "evaluate", "model.skops", "nothing.csv")


def test_predict(emotions):
    lines = good(emotions, "predict", "model.skops", "emotions", "--top-k", "2").splitlines()
    assert len(lines) == 1 + 2 * 202
    assert "amazed-suprised" in "\n".join(lines)
    (emotions / "empty.csv").write_text("")
    assert "empty.csv" in refused(emotions, "predict", "model.skops", "empty.csv")


def test_complete(emotions):
    good(emotions, "complete", "gaps.csv", "--top", "30", "-o", "added.csv")
    blank = pd.read_csv(emotions / "gaps.csv")
    truth = pd.read_csv(emotions / "songs.csv")
    added = pd.read_csv(emotions / "added.csv")
    places = [(sample, f"label_{label}") for sample, label in zip(added["sample"], added["label"], strict=True)]
    assert len(places) == 30
    assert all(np.isnan(blank.at[place]) for place in places)
    assert np.mean([truth.at[place] for place in places]) > 0.8  # of all labels less than a third is there
    err = refused(emotions, "complete", "gaps.csv", "--at-least", "2")
    assert "--at-least" in err


def test_audit(emotions):
    out = good(emotions, "audit", "gaps.csv", "--top", "5")
    assert sum("positive" in line for line in out.splitlines()) >= 5
    assert "tag_" in refused(emotions, "audit", "gaps.csv", "--prefix", "tag_")


def test_compare_and_tune(emotions):
    methods = ["--method", "MaskedLogistic", "--method", "LabelPrior"]
    out = good(emotions, "compare", "gaps.csv", *methods, "--folds", "3")
    assert "LabelPrior" in out
    best = good(emotions, "tune", "gaps.csv", "--method", "MaskedRidge", "--trials", "3")
    assert "alpha" in best
    assert "Nobody" in refused(emotions, "compare", "gaps.csv", "--method", "Nobody")
    assert "Nobody" in refused(emotions, "tune", "gaps.csv", "--method", "Nobody")


def test_report_and_info(emotions):
    good(emotions, "report", "emotions", "--model", "model.skops", "-o", "page.html")
    assert "amazed-suprised" in (emotions / "page.html").read_text()
    assert "MaskedLogistic" in good(emotions, "info", "model.skops")
    (emotions / "cut.skops").write_bytes((emotions / "model.skops").read_bytes()[:500])
    assert "cut.skops" in refused(emotions, "info", "cut.skops")
    assert "cut.skops" in refused(emotions, "report", "emotions", "--model", "cut.skops", "-o", "other.html")


def test_data_reproduce_and_demo(emotions):
    assert "emotions" in good(emotions, "data", "list")
    assert "391" in good(emotions, "data", "describe", "emotions")
    good(emotions, "reproduce", "run", "smoke", "--out", "r.jsonl")
    assert "cells: better in" in good(emotions, "reproduce", "table", "r.jsonl")
    assert "nothing.jsonl" in refused(emotions, "reproduce", "table", "nothing.jsonl")
    assert "nowhere" in refused(emotions, "data", "describe", "nowhere")
    assert "SPMLD" in good(emotions, "demo")
