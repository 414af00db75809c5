"""Decisions of methods without a decision rule: calibrated on out-of-fold scores, with a high F1."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import spmld
from spmld.app.commands.fitting import METHODS, build, with_decision
from spmld.ensemble import hierarchical_ensemble
from spmld.estimators import ThresholdClassifier
from spmld.labels import Hierarchy
from spmld.metrics import macro_auc, macro_f1

NAMES = ["a", "b", "c", "d"]


def rare_labels(n, seed):
    """Return features that determine rare labels, and weak enough that a regularized model predicts few positives."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8)) / 6
    return X, (X[:, :4] > 1.3 / 6).astype(float)


@pytest.fixture
def files(tmp_path):
    for name, n, seed, observed in (("train", 400, 0, 0.4), ("test", 400, 1, 1.0)):
        X, Y = rare_labels(n, seed)
        Y[np.random.default_rng(2).random(Y.shape) > observed] = np.nan
        frame = pd.DataFrame(X).add_prefix("x").join(pd.DataFrame(Y, columns=[f"label_{name}" for name in NAMES]))
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("method", ["MaskedLogistic", "SPMLD"])
def test_predictions_are_as_good_as_the_ranking(cli, files, method):
    _, Y = rare_labels(400, 1)
    f1 = {}
    for decision in ("none", "f1"):
        model, options = f"{decision}.skops", ["--method", method, "--no-held-out", "--decision", decision]
        assert cli("fit", "train.csv", "-o", model, *options)[0] == 0
        predicted = pd.read_csv(io.StringIO(cli("predict", model, "test.csv")[1]))
        f1[decision] = macro_f1(Y, predicted[NAMES].to_numpy())
        assert macro_auc(Y, predicted[[f"probability_{name}" for name in NAMES]].to_numpy()) > 0.95
    assert f1["none"] < 0.2
    assert f1["f1"] > 0.6


def test_the_saved_model_is_a_threshold_classifier(cli, files):
    out = cli("fit", "train.csv", "-o", "m.skops", "--method", "MaskedLogistic", "--json")[1]
    assert json.loads(out)["decision"] == "f1"
    frame = pd.read_csv("train.csv")
    X, Y = frame[[c for c in frame if c.startswith("x")]], frame[[f"label_{name}" for name in NAMES]]
    expected = ThresholdClassifier(spmld.MaskedLogistic(), cv=3, random_state=0).fit(X, Y)
    model = spmld.load("m.skops")
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    # Completion uses the base estimator, which may use the observed labels of a sample.
    assert cli("complete", "train.csv", "--model", "m.skops")[0] == 0
    assert cli("report", "test.csv", "--model", "m.skops", "-o", "m.html", "--no-audit")[0] == 0


def test_methods_with_and_without_a_decision_rule():
    Y = np.array([[1, 0], [0, np.nan]])
    for method in METHODS:
        model = with_decision(build(method, {}, 0), None, 0, Y)
        assert isinstance(model, ThresholdClassifier) == (method != "SelfPacedEnsemble")
        assert model.decision == "f1"
    rates = {"false_positive_rate": 0.1}  # calibration would fit the wrong labels
    assert type(with_decision(build("MaskedLogistic", rates, 0), None, 0, Y)) is spmld.MaskedLogistic
    only = np.array([[1.0, np.nan]])  # nothing to calibrate on
    assert type(with_decision(build("MaskedLogistic", {}, 0), None, 0, only)) is spmld.MaskedLogistic
    assert with_decision(build("SelfPacedEnsemble", {}, 0), 0.3, 0, Y).decision == 0.3


def test_the_ensemble_of_a_hierarchy_has_its_defaults_and_the_parameters_of_the_user():
    params = {"scoring": "coverage", "n_landmarks": 20}
    hierarchy = Hierarchy([(0, 1)])
    model = with_decision(build("SelfPacedEnsemble", params, 7), 0.3, 7, np.eye(2), hierarchy).estimator
    assert repr(model) == repr(hierarchical_ensemble(**params, decision=0.3, random_state=7))
    assert model.n_trees[-1] == 800


def test_a_held_out_estimate_that_fails_keeps_the_model(cli, files, monkeypatch):
    import spmld.model_selection

    def fail(*_, **__):
        raise ValueError("too few samples")

    monkeypatch.setattr(spmld.model_selection, "cross_fit", fail)
    status, _, err = cli("fit", "train.csv", "-o", "m.skops", "--method", "LabelPrior", "--decision", "none")
    assert (status, err.count("the held-out quality of model is not available: too few samples")) == (0, 1)
    assert "held-out: not available" in err
    assert spmld.load("m.skops").n_labels_ == 4


@pytest.mark.parametrize("method", ["SelfPacedEnsemble", "MaskedLogistic"])
def test_precision_and_threshold_of_single_labels(cli, files, method):
    small = ["--param", "n_trees=[20]"] if method == "SelfPacedEnsemble" else []
    options = ["--method", method, *small, "--no-held-out", "--precision", "a=0.3", "--threshold", "b = 0.7"]
    status, _, err = cli("fit", "train.csv", "-o", "m.skops", *options)
    assert status == 0
    rule = spmld.load("m.skops").decision_rule_
    a, b = rule.label_precisions_["a"], rule.label_precisions_["b"]
    assert a.precision >= 0.3
    assert b.threshold == 0.7
    interval = f"held-out precision {a.precision:.2f} (90 % interval {a.low:.2f} to {a.high:.2f}, {a.n_predicted} pred"
    assert f"decisions: a above {a.threshold:.3g}: {interval}icted), recall {a.recall:.2f}; b above 0.7: " in err
    assert "decision: f1" in err
    assert ("(inverse regularization " in err) == ("(regularization " in err) == (method == "SelfPacedEnsemble")
    summary = spmld.export.model_info("m.skops").summary
    assert summary["decision"] == {"a": "precision>=0.3", "b": 0.7}
    assert summary["precision"]["a"]["n_predicted"] == a.n_predicted
    predicted = pd.read_csv(io.StringIO(cli("predict", "m.skops", "test.csv")[1]))
    for name, threshold in (("a", a.threshold), ("b", 0.7)):
        np.testing.assert_array_equal(predicted[name] == 1, predicted[f"probability_{name}"] > threshold)
    assert cli("report", "test.csv", "--model", "m.skops", "-o", "m.html", "--no-audit")[0] == 0
    assert f"a above {a.threshold:.3g}; b above 0.7; of the others, labels that" in (files / "m.html").read_text()


@pytest.mark.parametrize("precision", ["3e-1", "a=3e-1"])
def test_precisions_may_have_an_exponent(cli, files, precision):
    options = ["--method", "LabelPrior", "--no-held-out", "--precision", precision]
    assert cli("fit", "train.csv", "-o", "m.skops", *options)[0] == 0
    targets = {"3e-1": "precision>=3e-1", "a=3e-1": {"a": "precision>=3e-1"}}
    assert spmld.export.model_info("m.skops").summary["decision"] == targets[precision]


def test_a_precision_that_is_not_reached_is_printed(cli, files):
    frame = pd.read_csv("train.csv")
    frame["label_a"] = np.random.default_rng(0).permutation(frame["label_a"])
    frame.to_csv("noise.csv", index=False)
    status, _, err = cli("fit", "noise.csv", "-o", "m.skops", "--method", "MaskedLogistic", "--precision", "a=1")
    assert status == 0
    assert "warning: Label a: the precision 1 is not reachable, and no positive is predicted; the best" in err
    assert "decisions: a is never predicted" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--precision", "A1=0.9"],
            "decision must name labels of Y, got 'A1'; the labels are a, b, c, d; did you mean",
        ),
        (["--precision", "a"], "--precision must have the form LABEL=NUMBER, such as sad=0.9, got 'a'"),
        (["--threshold", "a=1"], "--threshold must have the form LABEL=NUMBER, such as sad=0.9, got 'a=1'"),
        (["--precision", "a=0.9", "--threshold", "a=0.5"], "must name each label once, got a twice"),
        (
            ["--precision", "a=0.9", "--decision", "f1"],
            "--decision cannot be combined with --precision and --threshold",
        ),
        (
            ["--precision", "a=0.9", "--param", 'decision="f1"'],
            "--param decision cannot be combined with other options",
        ),
    ],
)
def test_wrong_options_for_single_labels(cli, files, options, message):
    status, _, err = cli("fit", "train.csv", "-o", "m.skops", *options)
    assert status == 2
    assert message in err
    assert not (files / "m.skops").exists()
