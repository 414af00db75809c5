"""Searches with Optuna: better candidates than random ones, storage in a file, resumed studies."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning

from spmld.model_selection import tune

from .search_cases import Ridge, Stops, X, Y

optuna = pytest.importorskip("optuna")
optuna.logging.set_verbosity(optuna.logging.WARNING)


def test_optuna_approaches_the_maximum():
    def score(fitted, X_test, Y_test):
        return -((np.log10(fitted.alpha) - 1) ** 2) + fitted.degree

    space = {"alpha": (1e-3, 1e3, "log"), "degree": [1, 2]}
    result = tune(Ridge(), X, Y, space, scoring=score, method="optuna", n_trials=30, cv=2, random_state=0)
    assert len(result.trials) == 30
    assert result.best_params["degree"] == 2
    assert abs(np.log10(result.best_params["alpha"]) - 1) < 0.5
    assert result.best_estimator.alpha == result.best_params["alpha"] == result.study.best_params["alpha"]


def test_a_stored_study_is_resumed_after_an_interruption(tmp_path):
    call = {"method": "optuna", "n_trials": 6, "cv": 2, "storage": tmp_path / "study.db", "random_state": 0}
    space = {"alpha": (0.1, 10.0), "degree": (1, 3)}
    first = tune(Ridge(), X, Y, space, scoring=Stops(7), **call)
    assert first.interrupted
    assert len(first.trials) == 3
    assert [trial.state.name for trial in first.study.trials] == ["COMPLETE"] * 3 + ["FAIL"]
    second = tune(Ridge(), X, Y, space, scoring=Stops(0), **call)
    assert not second.interrupted
    assert second.trials[:3] == first.trials
    assert len(second.trials) == 6
    assert len({trial.params["alpha"] for trial in second.trials}) == 6  # no candidate is evaluated twice
    third = tune(
        Ridge(), X, Y, space, scoring=Stops(1), **call
    )  # raises KeyboardInterrupt in the first call, but no trial is left
    assert third.trials == second.trials
    with pytest.raises(
        ValueError, match=r"scoring must be 'Stops' to resume the study 'spmld' of .*, got 'ranking_loss'"
    ):
        tune(Ridge(), X, Y, space, scoring="ranking_loss", **call)


def test_failed_fits_are_stored_as_failed(tmp_path):
    call = {"method": "optuna", "n_trials": 8, "storage": f"sqlite:///{tmp_path}/study.db", "random_state": 0, "cv": 2}
    with pytest.warns(FitFailedWarning):
        result = tune(Ridge(), X, Y, {"alpha": [-1.0, 1.0]}, **call)
    failed = [np.isnan(trial.score) for trial in result.trials]
    assert failed == [trial.params["alpha"] < 0 for trial in result.trials]
    assert 0 < sum(failed) < 8
    again = tune(Ridge(), X, Y, {"alpha": [-1.0, 1.0]}, **call)
    assert [t.params for t in again.trials] == [t.params for t in result.trials]


def test_without_optuna_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"pip install \"spmld\[tune\]\""):
        tune(Ridge(), X, Y, {"alpha": [1.0]}, method="optuna")


def test_a_study_is_resumed_only_with_the_same_parameters(tmp_path):
    call = {"method": "optuna", "cv": 2, "storage": tmp_path / "new" / "folder" / "study.db", "random_state": 0}
    tune(Ridge(), X, Y, {"alpha": (0.1, 1.0)}, n_trials=2, **call)
    with pytest.raises(ValueError, match=r"space must have the parameters alpha to resume .* got degree"):
        tune(Ridge(), X, Y, {"degree": [1, 2]}, n_trials=3, **call)
    wider = tune(Ridge(), X, Y, {"alpha": (0.1, 100.0)}, n_trials=3, **call)
    assert len(wider.trials) == 3


def test_a_study_scored_by_a_function_is_resumed_in_another_process(tmp_path):
    script = (
        "import numpy as np; from sklearn.dummy import DummyClassifier; from spmld.model_selection import tune\n"
        "def score(fitted, X, Y): return 1.0\n"
        "Y = np.eye(6)[:, :2]\n"
        f"call = dict(method='optuna', cv=2, storage={str(tmp_path / 'study.db')!r}, random_state=0)\n"
        "space = {'strategy': ['prior', 'uniform']}\n"
        "found = tune(DummyClassifier(), Y, Y, space, scoring=score, n_trials=int(__import__('sys').argv[1]), **call)\n"
        "print(len(found.trials), found.scoring)"
    )
    printed = [
        subprocess.run([sys.executable, "-c", script, n], capture_output=True, text=True, check=True).stdout.split()
        for n in ("1", "3")
    ]
    assert printed == [["1", "score"], ["3", "score"]]
