"""``spmld compare``, ``tune``, ``info`` and ``demo``."""

import json
import logging
import os

import numpy as np
import pytest

import spmld
from spmld.cli import main
from spmld.cli import progress as module
from spmld.cli import tune as tuning
from spmld.cli.compare import _compared
from spmld.datasets import read_csv
from spmld.metrics import ranking_loss
from spmld.model_selection import MultilabelStratifiedKFold
from tests.cli.songs import run, write_songs


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with the songs; gives exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    write_songs(tmp_path)

    def call(*args):
        with pytest.raises(SystemExit) as left:
            main(list(args))
        return left.value.code, *capsys.readouterr()

    return call


METHODS = ("--method", "MaskedLogistic", "--method", "labelprior", "--method", "MaskedRidge", "--folds", "4")


def test_compare_gives_the_same_folds_to_all(cli):
    status, out, err = cli("compare", "train.csv", *METHODS, "--metric", "ranking_loss", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    rows = {(row["method"], row["metric"]): row for row in found["results"]}
    data = read_csv("train.csv")
    for name in ("MaskedLogistic", "LabelPrior", "MaskedRidge"):
        values = []
        for train, test in MultilabelStratifiedKFold(4, random_state=0).split(data.X, data.Y):
            model = getattr(spmld, name)().fit(data.X[train], data.Y[train])
            values.append(ranking_loss(data.Y[test], model.decision_function(data.X[test])))
        row = rows[name, "ranking_loss"]
        assert row["folds"] == pytest.approx(values)
        assert (row["mean"], row["sd"]) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
        assert row["better"] == "lower"
    assert found["reference"] == "MaskedLogistic"
    assert "verdict" not in rows["MaskedLogistic", "ranking_loss"]


@pytest.mark.parametrize(
    ("metric", "low", "high"), [("ranking_loss", "better", "worse"), ("micro_f1", "worse", "better")]
)
def test_verdicts_go_by_the_direction_of_the_metric(metric, low, high):
    noise = np.array([0.01, -0.01, 0.02, -0.02, 0.0])
    shifts = {"base": 0.0, "low": -0.3, "high": 0.3, "near": 0.001}
    values = {(name, metric): list(0.5 + shift + np.roll(noise, i)) for i, (name, shift) in enumerate(shifts.items())}
    rows = {row["method"]: row for row in _compared(list(shifts), "base", values)}
    assert {name: rows[name]["verdict"] for name in ("low", "high", "near")} == {
        "low": low,
        "high": high,
        "near": "no significant difference",
    }
    assert rows["low"]["difference"] == pytest.approx(-0.3)
    assert min(rows["low"]["p_corrected"] / rows["low"]["p"], rows["high"]["p_corrected"] / rows["high"]["p"]) >= 2
    assert "verdict" not in rows["base"]


def test_the_correction_can_turn_a_verdict():
    base, near = [0.50, 0.51, 0.52, 0.53, 0.54], [0.51, 0.51, 0.54, 0.54, 0.56]
    one = {("base", "micro_f1"): base, ("a", "micro_f1"): near}
    assert _compared(["base", "a"], "base", one)[1]["verdict"] == "better"
    more = {**one, **{(name, "micro_f1"): near for name in "bcdefgh"}}
    verdicts = {row.get("verdict") for row in _compared(["base", *"abcdefgh"], "base", more)}
    assert verdicts == {None, "no significant difference"}


def test_compare_prints_one_table(cli):
    status, out, _ = cli("compare", "train.csv", *METHODS, "--reference", "LabelPrior")
    lines = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert lines[0][:3] == ["method", "ranking_loss (lower)", "macro_auc (higher)"]
    assert [line[0] for line in lines[1:]] == ["MaskedLogistic", "LabelPrior (reference)", "MaskedRidge"]
    assert lines[1][2].endswith(" +")  # the scores of the prior are constant, an AUC of 0.5 in every fold
    assert lines[2][2] == "0.5000 ± 0.0000"
    assert not lines[2][1].endswith((" +", " -", " ="))


def test_compare_goes_on_without_a_method_that_fails(cli, monkeypatch):
    def fails(self, X, y, **_):
        raise ValueError("no luck")

    monkeypatch.setattr(spmld.MLkNN, "fit", fails)
    status, out, err = cli("compare", "train.csv", "--method", "MLkNN", "--method", "LabelPrior", "--folds", "2")
    assert (status, err) == (1, "MLkNN failed: no luck\n")
    assert "LabelPrior" in out


def test_tune_writes_the_best(cli):
    args = ("--method", "MaskedLogistic", "--choices", "C=0.0001,1", "--folds", "2", "--metric", "macro_auc")
    status, out, err = cli("tune", "train.csv", *args, "-o", "best.skops", "--json")
    found = json.loads(out)
    assert (status, found["search"], found["interrupted"]) == (0, "grid", False)
    scores = [row["macro_auc"] for row in found["trials"]]
    assert scores == sorted(scores, reverse=True)
    assert 1 >= scores[0] > scores[1] > 0
    assert found["best"] == {"C": found["trials"][0]["C"]}
    assert found["best"]["C"] == spmld.load("best.skops").C
    info = spmld.model_info("best.skops")
    assert info.summary["tuned"] == found["best"]
    assert info.summary["held_out"]["macro_auc"] == pytest.approx(scores[0])
    assert err.startswith("best.skops: MaskedLogistic with {'C': ")


def test_tune_has_a_space_for_each_method(cli):
    status, out, _ = cli("tune", "train.csv", "--method", "mlknn", "--trials", "2", "--folds", "2", "-o", "m.skops")
    lines = [line.split("\t") for line in out.splitlines()]
    assert (status, lines[0], len(lines)) == (0, ["ranking_loss", "seconds", "n_neighbors"], 3)
    assert 0 < float(lines[1][0]) <= float(lines[2][0]) < 1  # lower is better, and shown as it is


def test_tune_stopped_shows_what_it_found_and_writes_no_model(cli, monkeypatch):
    lines = []

    def stop(handler, record):
        lines.append(record)
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning._Steps, "emit", stop)
    args = ("--method", "MaskedRidge", "--trials", "5", "--folds", "2", "-o", "m.skops", "--json")
    status, out, err = cli("tune", "train.csv", *args)
    found = json.loads(out)
    assert (status, len(found["trials"]), found["interrupted"]) == (130, 1, True)
    assert "stopped, no model written" in err
    assert not os.path.exists("m.skops")
    assert logging.getLogger("spmld.model_selection.search").handlers == []


def test_info_tells_versions_and_devices(cli):
    status, out, err = cli("info", "--json")
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert found["spmld"] == spmld.__version__
    assert found["libraries"]["numpy"] == np.__version__
    assert found["devices"][0] == "cpu"
    assert found["cores"] >= 1
    assert f"spmld\t{spmld.__version__}" in cli("info")[1].splitlines()


def test_info_tells_what_a_model_file_holds(cli):
    data = read_csv("train.csv")
    spmld.save(spmld.LabelPrior().fit(data.X, data.Y), "m.skops", label_names=data.label_names)
    found = json.loads(cli("info", "m.skops", "--json")[1])
    assert (found["estimator"], found["label_names"]) == ("LabelPrior", data.label_names)
    assert "label_names\tsad, calm, loud, fast" in cli("info", "m.skops")[1].splitlines()


def test_demo_runs_the_demo(tmp_path):
    status, out, err = run(tmp_path, "demo", "--figure", "songs.png")
    assert (status, err) == (0, "")
    assert "ranking loss -" in out
    assert os.listdir(tmp_path) == ["songs.png"]


def test_bars_are_for_terminals(monkeypatch, capsys):
    for terminal in (False, True):
        monkeypatch.setattr(module.sys.stderr, "isatty", lambda terminal=terminal: terminal, raising=False)
        with module.steps(2, "comparing") as advance:
            advance("one")
            advance("")
        with module.working("fitting"):
            pass
        err = capsys.readouterr().err
        assert ("comparing" in err) == terminal
