"""``spmld compare``, ``tune`` and ``info``."""

import json
import os
import shlex
from contextlib import nullcontext
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import spmld
from spmld.app.commands import main, printing
from spmld.datasets import read_dataset
from spmld.estimators import ThresholdClassifier
from spmld.metrics import ranking_loss, scorer
from spmld.model_selection import MultilabelStratifiedKFold
from spmld.tables import TableEncoder
from tests.app.commands.songs import write_songs

tune_command = import_module("spmld.app.commands.compare")


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run a command in a folder with the songs; return exit status, output and errors."""
    monkeypatch.chdir(tmp_path)
    write_songs(tmp_path)

    def call(*args):
        with pytest.raises(SystemExit) as exit:
            main(list(args))
        return exit.value.code, *capsys.readouterr()

    return call


METHODS = ("--method", "MaskedLogistic", "--method", "labelprior", "--method", "MaskedRidge", "--folds", "4")


def test_compare_uses_the_same_folds_for_all_methods(cli):
    status, out, err = cli("compare", "train.csv", *METHODS, "--metric", "ranking_loss", "--json")
    assert status == 0
    assert "Traceback" not in err
    output = json.loads(out)
    rows = {(row["method"], row["metric"]): row for row in output["results"]}
    data = read_dataset("train.csv")
    for name in ("MaskedLogistic", "LabelPrior", "MaskedRidge"):
        values = []
        for train, test in MultilabelStratifiedKFold(4, random_state=0).split(data.X, data.Y):
            model = ThresholdClassifier(getattr(spmld, name)(), cv=3, random_state=0)  # as in `spmld fit`
            model.fit(data.X[train], data.Y[train])
            values.append(ranking_loss(data.Y[test], model.predict_proba(data.X[test])))
        row = rows[name, "ranking_loss"]
        assert row["folds"] == pytest.approx(values)
        assert (row["mean"], row["std"]) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
        assert row["better"] == "lower"
    assert output["reference"] == "MaskedLogistic"
    assert "verdict" not in rows["MaskedLogistic", "ranking_loss"]


def test_compare_prints_one_table(cli):
    status, out, _ = cli("compare", "train.csv", *METHODS, "--reference", "LabelPrior")
    lines = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert lines[0][:3] == ["method", "ranking_loss (lower)", "macro_auc (higher)"]
    assert [line[0] for line in lines[1:]] == ["MaskedLogistic", "LabelPrior (reference)", "MaskedRidge"]
    assert lines[1][2].endswith(" +")  # the scores of the prior are constant, an AUC of 0.5 in every fold
    assert lines[2][2] == "0.5000 ± 0.0000"
    assert not lines[2][1].endswith((" +", " -", " ="))


def test_compare_continues_without_a_method_that_fails(cli, monkeypatch):
    def fails(self, X, y, **_):
        raise ValueError("no luck")

    monkeypatch.setattr(spmld.MaskedRidge, "fit", fails)
    status, out, err = cli("compare", "train.csv", "--method", "MaskedRidge", "--method", "LabelPrior", "--folds", "2")
    assert (status, err) == (1, "MaskedRidge failed: no luck\n")
    assert "LabelPrior" in out


def test_tune_writes_the_best(cli):
    args = ("--method", "MaskedLogistic", "--choices", "C=0.0001,1", "--folds", "2", "--metric", "macro_auc")
    status, out, err = cli("tune", "train.csv", *args, "-o", "best.skops", "--json")
    output = json.loads(out)
    assert (status, output["interrupted"]) == (0, False)
    scores = [row["macro_auc"] for row in output["trials"]]
    assert scores == sorted(scores, reverse=True)
    assert 1 >= scores[0] > scores[1] > 0
    assert output["best"] == {"C": output["trials"][0]["C"]}
    assert output["best"]["C"] == spmld.load("best.skops").estimator_.C
    info = spmld.model_info("best.skops")
    assert info.summary["tuned"] == output["best"]
    assert info.summary["held_out"]["macro_auc"] == pytest.approx(scores[0])
    assert err.startswith("best.skops: MaskedLogistic with C ")
    command = cli("tune", "train.csv", *args)[2].partition("next: spmld ")[2].partition(" fits the best")[0]
    assert command == f"fit train.csv --method MaskedLogistic --param C={output['best']['C']} -o MODEL"
    assert cli(*command.replace("MODEL", "again.skops").split())[0] == 0


@pytest.mark.parametrize("metric", ["ranking_loss", "micro_f1"])
def test_tune_uses_decisions_for_metrics_of_predictions(cli, metric):
    args = ("--method", "MaskedLogistic", "--choices", "C=0.01", "--folds", "2", "--metric", metric, "--json")
    trial = json.loads(cli("tune", "train.csv", *args)[1])["trials"][0]
    data, model = read_dataset("train.csv"), spmld.MaskedLogistic(C=0.01)
    decided = ThresholdClassifier(model, cv=3, random_state=0)
    searched = decided if metric == "micro_f1" else model
    folds = MultilabelStratifiedKFold(2, random_state=0)
    scores = cross_val_score(searched, data.X, data.Y, cv=folds, scoring=scorer(metric))
    assert (trial["C"], trial[metric]) == (0.01, pytest.approx(abs(scores.mean())))


def test_tune_has_default_search_spaces(cli):
    status, out, _ = cli(
        "tune", "train.csv", "--method", "maskedridge", "--trials", "2", "--folds", "2", "-o", "m.skops"
    )
    lines = [line.split("\t") for line in out.splitlines()]
    assert (status, lines[0], len(lines)) == (0, ["ranking_loss", "seconds", "alpha"], 3)
    assert 0 < float(lines[1][0]) <= float(lines[2][0]) < 1  # lower is better


def test_tune_draws_parameters_from_ranges_and_continues_after_a_failed_fit(cli):
    space = ("--range", "min_samples_leaf=2:50:log", "--choices", "n_estimators=2,4")
    args = ("--method", "MaskedForest", *space, "--trials", "6", "--folds", "2", "--json")
    status, out, err = cli("tune", "train.csv", *args)
    trials = json.loads(out)["trials"]
    losses = [row["ranking_loss"] for row in trials if row["ranking_loss"] is not None]
    assert (status, len(trials), losses) == (0, 6, sorted(losses))
    assert all(2 <= row["min_samples_leaf"] <= 50 and row["n_estimators"] in (2, 4) for row in trials)
    failing = ("--method", "MaskedLogistic", "--choices", "C=-1,1", "--folds", "2", "--json")
    status, out, err = cli("tune", "train.csv", *failing)
    assert (status, [row["C"] for row in json.loads(out)["trials"]]) == (0, [1, -1])
    assert "A fit with {'C': -1} failed" in err
    assert "none of the 1 trials has a score" in cli("tune", "train.csv", "--choices", "C=-1", *failing[:2])[2]


@pytest.mark.parametrize("log", [(), ("log",)])
def test_ranges_of_integers_include_both_ends(log):
    drawn = tune_command._distribution((2, 3, *log)).rvs(size=200, random_state=0)
    assert {*drawn} == {2, 3}
    wide = tune_command._distribution((1, 1000, *log)).rvs(size=4000, random_state=0)
    assert np.median(wide) == pytest.approx(23 if log else 500, rel=0.2)  # the sum of 1/k up to 23 is half of all
    low, high = tune_command._distribution((0.1, 10.0, *log)).support()
    assert (low, high) == pytest.approx((0.1, 10.0))


def test_interrupted_tune_prints_finished_trials_and_writes_no_model(cli, monkeypatch):
    def stop(text):
        raise KeyboardInterrupt

    monkeypatch.setattr(tune_command, "progress_bar", lambda *_: nullcontext(stop))
    args = ("--method", "MaskedRidge", "--trials", "5", "--folds", "2", "-o", "m.skops", "--json")
    status, out, err = cli("tune", "train.csv", *args)
    output = json.loads(out)
    assert (status, len(output["trials"]), output["interrupted"]) == (130, 1, True)
    assert "interrupted, no model written; spmld fit train.csv --method MaskedRidge --param alpha=" in err
    assert not os.path.exists("m.skops")
    command = err.partition("spmld fit ")[2].partition(" fits the best so far")[0]
    assert cli("fit", *shlex.split(command))[0] == 0
    assert spmld.load("m.skops").estimator_.alpha == pytest.approx(output["best"]["alpha"])


def test_info_prints_versions_and_devices(cli):
    status, out, err = cli("info", "--json")
    output = json.loads(out)
    assert (status, err) == (0, "")
    assert output["spmld"] == spmld.__version__
    assert output["libraries"]["numpy"] == np.__version__
    assert output["devices"][0] == "cpu"
    assert output["cores"] >= 1
    assert f"spmld\t{spmld.__version__}" in cli("info")[1].splitlines()


def test_info_prints_the_content_of_a_model_file(cli):
    data = read_dataset("train.csv")
    spmld.save(spmld.LabelPrior().fit(data.X, data.Y), "m.skops", label_names=data.label_names)
    output = json.loads(cli("info", "m.skops", "--json")[1])
    assert (output["estimator"], output["label_names"]) == ("LabelPrior", data.label_names)
    assert "labels\t4: sad, calm, loud, fast" in cli("info", "m.skops")[1].splitlines()
    cli("fit", "train.csv", "-o", "n.skops", "--method", "LabelPrior")
    lines = cli("info", "n.skops")[1].splitlines()
    quality = json.loads(cli("info", "n.skops", "--json")[1])["summary"]["held_out"]["label prior"]["ranking_loss"]
    assert f"label prior: ranking loss {quality:.4f}, " in "".join(lines)


def test_info_leaves_out_default_parameters(cli):
    data = read_dataset("train.csv")
    spmld.save(spmld.MaskedLogistic(C=0.3).fit(data.X, data.Y), "m.skops")
    lines = cli("info", "m.skops")[1].splitlines()
    assert lines[1:3] == ["model\tMaskedLogistic", "parameter C\t0.3"]
    assert sum(line.startswith("parameter") for line in lines) == 1
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    pipeline = make_pipeline(TableEncoder(), spmld.LabelPrior(smoothing=2.0))
    spmld.save(pipeline.fit(frame, data.Y), "p.skops")
    lines = cli("info", "p.skops")[1].splitlines()
    steps = "[('tableencoder', TableEncoder()), ('labelprior', LabelPrior(smoothing=2.0))]"
    assert {"model\tPipeline", f"parameter steps\t{steps}"} <= set(lines)


def test_progress_bars_are_shown_on_terminals_only(monkeypatch, capsys):
    for terminal in (False, True):
        monkeypatch.setattr(printing.sys.stderr, "isatty", lambda terminal=terminal: terminal, raising=False)
        with printing.progress_bar(2, "comparing") as advance:
            advance("one")
            advance("")
        with printing.progress_bar(None, "fitting"):
            pass
        err = capsys.readouterr().err
        assert ("comparing" in err) == terminal
