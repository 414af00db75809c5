"""Progress of a fit: callbacks, log lines, early stopping and convergence warnings."""

import logging
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

import spmld
from spmld import GLOCAL, LEML, MLLRC, SPMLD, MaskedLogistic, SelfPacedClassifier, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import scorer

from .cases import make

ITERATIVE = [GLOCAL, SPMLD, LEML, MLLRC, SelfPacedClassifier]


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=120, n_features=8, n_labels=5, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.6, random_state=0)
    return planted


@pytest.mark.parametrize("cls", ITERATIVE)
def test_callback_receives_the_records_and_does_not_change_the_fit(cls, data):
    records = []
    model = make(cls, callback=records.append).fit(data.X, data.hidden)
    assert len(records) == model.n_iter_ > 1
    assert all(a is b for a, b in zip(records, model.history_, strict=True))
    plain = make(cls).fit(data.X, data.hidden)
    np.testing.assert_array_equal(model.decision_function(data.X), plain.decision_function(data.X))


@pytest.mark.parametrize("cls", ITERATIVE)
def test_fit_stops_if_the_callback_returns_true(cls, data, recwarn):
    records = []

    def stop(record):
        records.append(record)
        return len(records) == 2

    model = make(cls, callback=stop).fit(data.X, data.hidden)
    assert len(records) == model.n_iter_ == 2
    assert not recwarn.list  # stopping was requested
    if cls is not SPMLD:  # whose first two iterations are warm-up
        limited = make(cls, max_iter=2).fit(data.X, data.hidden)
        np.testing.assert_array_equal(model.decision_function(data.X), limited.decision_function(data.X))


def test_stopping_during_warm_up_skips_the_main_iterations(data):
    model = SPMLD(random_state=0, n_warmup_iter=3, callback=lambda record: True).fit(data.X, data.hidden)
    assert [record["stage"] for record in model.history_] == ["warm-up"]
    assert not model.converged_
    assert model.predict(data.X).shape == data.Y.shape


def test_stopping_the_ensemble_keeps_the_best_setting_so_far(data):
    records = []
    everything = make(SelfPacedEnsemble, callback=records.append).fit(data.X, data.hidden)
    assert all(a is b for a, b in zip(records, everything.cv_results_, strict=True))
    views = ["linear", "ridge", "kernel", "boosting"]
    model = SelfPacedEnsemble(views=views, random_state=0, callback=lambda record: True).fit(data.X, data.hidden)
    assert [record["part"] for record in model.cv_results_] == views
    first = {"ridge": {"alpha": 1.0}, "linear": {"C": 3.0}, "kernel": {"C": 10.0}, "boosting": {"n_estimators": 200}}
    assert model.params_ == first


@pytest.mark.parametrize("cls", [*ITERATIVE, SelfPacedEnsemble])
def test_verbose_logs_a_line_per_iteration(cls, data, caplog, capsys):
    caplog.set_level(logging.INFO, logger="spmld")
    make(cls).fit(data.X, data.hidden)
    assert not caplog.records
    model = make(cls, verbose=1).fit(data.X, data.hidden)
    records = model.cv_results_ if cls is SelfPacedEnsemble else model.history_
    assert len(caplog.records) == len(records)
    assert {(record.name, record.levelname) for record in caplog.records} == {("spmld", "INFO")}
    value = records[-1]["loss" if cls is SelfPacedEnsemble else "objective"]
    assert caplog.messages[-1].startswith(f"{cls.__name__}: ")
    assert f" {value:.4g}" in caplog.messages[-1]
    assert capsys.readouterr().out == ""


CALLS = []


def count(record):
    CALLS.append(record["iteration"])


def test_callback_survives_clone_pickle_and_search(data):
    CALLS.clear()
    model = pickle.loads(pickle.dumps(clone(GLOCAL(random_state=0, callback=count))))
    assert model.get_params()["callback"] is count
    search = GridSearchCV(model, {"ridge": [0.03, 0.3]}, cv=KFold(2), scoring=scorer("ranking_loss"))
    search.fit(data.X, data.hidden)
    assert CALLS.count(1) == 5  # two settings in two folds, and the refit


def test_callbacks_are_not_written_to_files(data, tmp_path):
    model = SelfPacedClassifier(GLOCAL(random_state=0, callback=count), callback=count).fit(data.X, data.hidden)
    with pytest.warns(UserWarning, match="The callback of SelfPacedClassifier is not written"):
        spmld.save(model, tmp_path / "model.skops")
    again = spmld.load(tmp_path / "model.skops")
    assert again.callback is again.estimator.callback is again.estimator_.callback is None
    assert model.callback is model.estimator_.callback is count
    np.testing.assert_array_equal(again.decision_function(data.X), model.decision_function(data.X))
    assert spmld.model_info(tmp_path / "model.skops").params["callback"] is None


LIMITED = [
    GLOCAL(max_iter=1, random_state=0),
    SPMLD(max_iter=1, random_state=0),
    LEML(max_iter=1, tol=1e-9, random_state=0),
    MLLRC(max_iter=1),
    MaskedLogistic(max_iter=1, tol=1e-9),
    SelfPacedClassifier(max_iter=1),
    SelfPacedClassifier(MaskedLogistic(max_iter=1, tol=1e-9)),
    GridSearchCV(GLOCAL(max_iter=1), {"ridge": [0.1]}, cv=KFold(2), scoring=scorer("ranking_loss")),
]


@pytest.mark.parametrize("model", LIMITED, ids=repr)
def test_convergence_warning_points_at_the_line_that_called_fit(model, data):
    with pytest.warns(ConvergenceWarning) as caught:
        clone(model).fit(data.X, data.hidden)
    assert {warning.filename for warning in caught} == {__file__}
