import json

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

import spmld
from spmld.labels import hide_labels
from spmld.metrics import micro_average_precision, ranking_loss
from spmld.metrics.registry import METRICS
from studies import trial as module
from studies.config import Corruption, StudyError, is_metric
from studies.tests.cases import LINEAR, Memory, tiny
from studies.trial import Trial, attempt, build, find_estimator, run

MEMORY = "studies.tests.cases.Memory"


class Poisoned(Bunch):
    """Data set that raises when its test part is read."""

    def __getattr__(self, name):
        if name in ("X_test", "Y_test"):
            raise AssertionError(f"{name} was read")
        return super().__getattr__(name)


@pytest.mark.parametrize("kind", ["test", "held-out"])
@pytest.mark.parametrize("estimator", [LINEAR, "spmld.SPMLD"])
def test_a_trial_run_twice_is_identical(kind, estimator):
    trial = tiny(kind, estimator=estimator)
    first, second = run(trial), run(Trial.from_dict(trial.as_dict()))
    assert list(first) == list(second)
    np.testing.assert_array_equal(list(first.values()), list(second.values()))


def test_selection_never_reads_the_test_set(loads, planted):
    loads(Poisoned(X_train=planted["X_train"], Y_train=planted["Y_train"]))
    assert 0 < run(tiny("held-out"))["ranking_loss"] < 1
    with pytest.raises(AssertionError, match="X_test was read"):
        run(tiny("test"))


def test_selection_uses_observed_labels_only(loads, planted, monkeypatch):
    loads(Bunch(**planted))
    trial = tiny("held-out")
    hidden = np.isnan(hide_labels(planted["Y_train"], trial.observed, random_state=trial.seed))
    missing, evaluate = [], module.evaluate
    monkeypatch.setattr(module, "evaluate", lambda Y, **rest: missing.append(np.isnan(Y).sum()) or evaluate(Y, **rest))
    run(trial)
    assert len(missing) == 3
    assert sum(missing) == hidden.sum() > 0


class Strict(Memory):
    """Raise an error unless about half of the labels are missing."""

    def fit(self, X, Y):
        assert 0.45 < np.isnan(Y).mean() < 0.55
        return super().fit(X, Y)


@pytest.mark.parametrize("kind", ["test", "held-out"])
def test_the_fit_uses_only_the_entries_that_the_mask_shows(loads, planted, kind):
    loads(Bunch(**planted))
    run(tiny(kind, estimator=f"{__name__}.Strict"))
    with pytest.raises(AssertionError):
        run(tiny(kind, estimator=f"{__name__}.Strict", observed=0.9))


def test_held_out_samples_are_not_used_for_fitting(loads, planted):
    loads(Bunch(**planted))
    estimator = MEMORY
    assert run(tiny("held-out", estimator=estimator))["ranking_loss"] == 1.0  # all tied, and ties are errors
    loads(Bunch(**{**planted, "X_test": planted["X_train"], "Y_test": planted["Y_train"]}))
    assert run(tiny(estimator=estimator, observed=1.0))["ranking_loss"] == 0.0


def test_test_metrics_are_those_of_the_test_set(loads, planted):
    loads(Bunch(**planted))
    trial = tiny(observed=1.0)
    model = build(trial).fit(planted["X_train"], planted["Y_train"])
    expected = ranking_loss(planted["Y_test"], model.decision_function(planted["X_test"]))
    assert run(trial)["ranking_loss"] == expected


def test_corruption_changes_training_labels_only(loads, planted):
    loads(Bunch(**planted))
    clean, wrong = run(tiny()), run(tiny(corruption=Corruption("flip", 0.4)))
    assert wrong["ranking_loss"] > clean["ranking_loss"]
    assert run(tiny(corruption=Corruption("flip", 0.4))) == wrong


class Faithful(Memory):
    """Raise an error if a label is wrong."""

    truth = None

    def fit(self, X, Y):
        assert ((self.truth == Y) | np.isnan(Y)).all()
        return super().fit(X, Y)


def test_an_oracle_is_fitted_without_corrupted_entries(loads, planted, monkeypatch):
    loads(Bunch(**planted))
    monkeypatch.setattr(Faithful, "truth", planted["Y_train"])
    wrong = {"estimator": f"{__name__}.Faithful", "corruption": Corruption("flip", 0.2)}
    run(tiny(oracle=True, **wrong))
    with pytest.raises(AssertionError):
        run(tiny(**wrong))


def test_completion_is_evaluated_on_missing_entries(loads, planted):
    loads(Poisoned(X_train=planted["X_train"], Y_train=planted["Y_train"]))
    trial = tiny("missing", estimator="spmld.MaskedLogistic")
    X, truth = planted["X_train"], planted["Y_train"]
    Y = hide_labels(truth, trial.observed, random_state=trial.seed)
    scores = build(trial).fit(X, Y).decision_function(X)
    expected = micro_average_precision(truth, scores, mask=np.isnan(Y))
    assert run(trial)["micro_average_precision"] == pytest.approx(expected)


class PerfectAudit(BaseEstimator):
    """Assign the highest scores to wrong labels."""

    truth = None

    def error_scores(self, X, Y):
        return np.where(np.isnan(Y), np.nan, (self.truth != Y) + 0.01 * np.arange(Y.shape[1]))


def test_an_audit_is_evaluated_on_the_corrupted_labels(loads, planted, monkeypatch):
    loads(Poisoned(X_train=planted["X_train"], Y_train=planted["Y_train"]))
    wrong = {"estimator": f"{__name__}.PerfectAudit", "corruption": Corruption("flip", 0.1)}
    monkeypatch.setattr(PerfectAudit, "truth", planted["Y_train"])
    assert run(tiny("audit", **wrong))["micro_average_precision"] == 1
    monkeypatch.setattr(PerfectAudit, "truth", 1 - planted["Y_train"])
    assert run(tiny("audit", **wrong))["micro_average_precision"] < 0.1


def test_features_are_standardized_by_the_training_samples(loads, planted):
    X, new = planted["X_train"], planted["X_test"]
    units = np.arange(1.0, 1 + X.shape[1])
    loads(Bunch(**planted))
    expected = run(tiny(standardize=True))
    loads(Bunch(**{**planted, "X_train": units * X + 7, "X_test": units * new + 7}))
    metrics = run(tiny(standardize=True))
    assert metrics == pytest.approx(expected)
    assert run(tiny())["ranking_loss"] != pytest.approx(expected["ranking_loss"])


def test_every_metric_that_studies_accept_is_recorded():
    recorded = set(run(tiny(estimator="spmld.GLOCAL")))
    named = {name.removesuffix("k") + str(k) if name.endswith("_k") else name for name in METRICS for k in (1, 3, 5)}
    assert {name for name in named if is_metric(name)} == recorded - {"predicted_cardinality", "true_cardinality"}


def test_the_key_depends_on_the_description():
    assert tiny().key == tiny().key
    others = [tiny(seed=4), tiny(observed=0.3), tiny(params={"ridge": 2}), tiny("held-out"), tiny(method="other")]
    others += [tiny(corruption=Corruption("flip", 0.1)), tiny(oracle=True), tiny("missing"), tiny("audit")]
    others += [tiny(standardize=True), tiny(trusted=5), tiny(hiding="single_positive")]
    assert len({tiny().key, *(other.key for other in others)}) == 13
    later = {"oracle", "standardize", "trusted", "hiding"}
    assert not later & set(tiny().as_dict())  # older records keep their keys
    for other in others:
        assert Trial.from_dict(json.loads(json.dumps(other.as_dict()))) == other


def test_a_failure_is_recorded():
    record = attempt(tiny(params={"fail_on": 3}))
    assert (record["status"], record["error"]) == ("failed", "RuntimeError: no fit with seed 3")
    assert record["metrics"] == {}
    assert attempt(tiny(params={"fail_on": 4}))["status"] == "ok"


def test_undefined_metrics_are_null(loads, planted):
    loads(Bunch(**{**planted, "Y_test": np.zeros_like(planted["Y_test"])}))
    record = attempt(tiny())
    assert record["metrics"]["ranking_loss"] is None
    json.dumps(record, allow_nan=False)


def test_parameters_can_be_nested():
    params = {"pacing__schedule__threshold": 0.25}
    model = build(tiny(estimator="spmld.SPMLD.paper", params=params))
    assert model.pacing.schedule.threshold == 0.25
    assert model.random_state == 3
    with pytest.raises(StudyError, match=r"parameters of linear: .*'speed'"):
        build(tiny(params={"speed": 3}))


@pytest.mark.parametrize("path", ["spmld.Nothing", "nowhere.at.all", "spmld.SPMLD.unreleased", "spmld.__version__"])
def test_unknown_estimators_raise(path):
    with pytest.raises(StudyError, match=f"got {path}"):
        find_estimator(path)


def test_the_version_names_the_commit_of_the_code(monkeypatch):
    outputs = {"log": "20260102.0a1b2c3d", "status": ""}
    monkeypatch.setattr(module, "_git", lambda command, *arguments: outputs[command])
    version = module.code_version.__wrapped__
    assert version() == f"{spmld.__version__}+20260102.0a1b2c3d"
    outputs["status"] = " M src/spmld/app/commands/main.py"
    assert version() == f"{spmld.__version__}+20260102.0a1b2c3d.changed"

    def without_git(*arguments):
        raise FileNotFoundError

    monkeypatch.setattr(module, "_git", without_git)
    assert version() == spmld.__version__
