"""Summary of a study: means over conditions, and the number of predicted labels."""

import numpy as np
import pytest

from studies.comparison import CARDINALITY, summarize_methods
from studies.config import StudyError
from studies.records import Records
from studies.runner import final_trials
from studies.tests.cases import linear, make

METHODS = [linear("a"), linear("b"), linear("oracle", oracle=True)]
VALUES = {("a", 0.3): 0.2, ("a", 0.7): 0.4, ("b", 0.3): 0.5, ("b", 0.7): 0.3, ("oracle", 0.3): 0.9, ("oracle", 0.7): 1}


def study(**changes):
    return make(**{"methods": METHODS, "observed": [0.3, 0.7], "metrics": ["micro_f1"], **changes})


def records(leave_out=()):
    recorded = []
    for trial in final_trials(study(), Records()):
        if (trial.method, trial.observed) in leave_out:
            continue
        value = VALUES[trial.method, trial.observed] + (0.1 if trial.seed else -0.1)
        metrics = {"micro_f1": value, "predicted_cardinality": 4 * value, "true_cardinality": 2.0}
        content = {"key": trial.key, "trial": trial.as_dict(), "status": "ok", "metrics": metrics}
        recorded.append({"kind": "trial", **content})
    return Records(recorded)


def test_means_over_conditions_and_masks():
    summary = summarize_methods(study(), records(), ["micro_f1", CARDINALITY])
    assert summary.n_conditions == 2
    assert summary.means["a"] == pytest.approx({"micro_f1": 0.3, CARDINALITY: 0.6})
    assert summary.means["b"] == pytest.approx({"micro_f1": 0.4, CARDINALITY: 0.8})


def test_the_best_mean_without_an_oracle_is_bold():
    lines = summarize_methods(study(), records(), ["micro_f1", CARDINALITY]).markdown().splitlines()
    assert lines[0] == "Means over 2 conditions: tiny"
    assert lines[2] == "| method | micro F1 ↑ | predicted / true labels |"
    assert lines[4:] == ["| a | 0.300 | 0.600 |", "| b | **0.400** | 0.800 |", "| oracle | 0.950 | 1.900 |"]


def test_a_method_without_a_result_has_no_mean():
    summary = summarize_methods(study(), records(leave_out=[("b", 0.7)]))
    assert np.isnan(summary.means["b"]["micro_f1"])
    assert "| b | - |" in summary.markdown()
    assert "| a | **0.300** |" in summary.markdown()


def test_selected_data_and_unknown_names():
    assert summarize_methods(study(), records(), data=["planted"]).n_conditions == 2
    with pytest.raises(StudyError, match="data set must be one of planted in study tiny, got 'other'"):
        summarize_methods(study(), records(), data=["other"])
    with pytest.raises(StudyError, match="metric must be cardinality_ratio or a recorded metric, got 'f1'"):
        summarize_methods(study(), records(), ["f1"])
