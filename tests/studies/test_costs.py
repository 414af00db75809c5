"""Costs: every fit of a search counts, of the final fits one."""

import pytest

from spmld.studies import Records
from spmld.studies.costs import costs
from spmld.studies.plan import final_trials, search_trials
from tests.studies.studies import linear, make


def study():
    searched = linear("searched", search={"ridge": [1.0, 2.0]})
    return make(seeds=[0, 1], reference="fixed", methods=[linear("fixed"), searched])


def record(trial, seconds, status="ok"):
    values = {"metrics": {"ranking_loss": 0.1}, "cpu_seconds": seconds, "status": status}
    return {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), **values}


def records(status="ok"):
    found = [record(trial, 3.0 + i) for i, trial in enumerate(search_trials(study()))]
    for trial in final_trials(study(), Records(found)):
        seconds = {"fixed": 20.0, "searched": 2.0}[trial.method] + 2 * trial.seed
        found.append(record(trial, seconds, status if trial.method == "searched" else "ok"))
    return Records(found)


def test_the_search_and_one_fit_count():
    found = costs(study(), records(), "fixed")
    ((_, seconds),) = found.seconds.items()
    assert seconds == {"fixed": 21.0, "searched": 3.0 + 4.0 + 3.0}
    assert found.ratios("searched") == [pytest.approx(2.1)]
    assert "fixed takes 2.1 times searched (median; 2.1 to 2.1)" in found.markdown()


def test_some_data_sets_alone():
    assert costs(study(), records(), "fixed", data=["other"]).seconds == {}
    assert len(costs(study(), records(), "fixed", data=["planted"]).seconds) == 1


def test_methods_without_a_final_fit_are_left_out():
    found = costs(study(), records(status="failed"), "fixed")
    assert "searched" not in found.markdown()
    assert found.ratios("searched") == []
