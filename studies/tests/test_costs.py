"""CPU time: all fits of the search, and the mean of the final fits."""

import pytest

from studies.comparison import compare_costs
from studies.records import Records
from studies.runner import final_trials, search_trials
from studies.tests.cases import linear, make


def study():
    searched = linear("searched", search={"ridge": [1.0, 2.0]})
    return make(seeds=[0, 1], reference="fixed", methods=[linear("fixed"), searched])


def record(trial, seconds, status="ok"):
    values = {"metrics": {"ranking_loss": 0.1}, "cpu_seconds": seconds, "status": status}
    return {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), **values}


def records(status="ok"):
    recorded = [record(trial, 3.0 + i) for i, trial in enumerate(search_trials(study()))]
    for trial in final_trials(study(), Records(recorded)):
        seconds = {"fixed": 20.0, "searched": 2.0}[trial.method] + 2 * trial.seed
        recorded.append(record(trial, seconds, status if trial.method == "searched" else "ok"))
    return Records(recorded)


def test_the_cost_is_that_of_the_search_and_one_fit():
    result = compare_costs(study(), records(), "fixed")
    ((_, seconds),) = result.seconds.items()
    assert seconds == {"fixed": 21.0, "searched": 3.0 + 4.0 + 3.0}
    assert result.ratios("searched") == [pytest.approx(2.1)]
    assert "fixed needs 2.1 times the CPU time of searched (median; range 2.1 to 2.1)" in result.markdown()


def test_selected_data_sets():
    assert compare_costs(study(), records(), "fixed", data=["other"]).seconds == {}
    assert len(compare_costs(study(), records(), "fixed", data=["planted"]).seconds) == 1


def test_methods_without_a_final_fit_are_left_out():
    result = compare_costs(study(), records(status="failed"), "fixed")
    assert "searched" not in result.markdown()
    assert result.ratios("searched") == []
