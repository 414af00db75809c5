"""Tables of a study: wins and losses, the gap to an oracle, CPU times, and means over conditions."""

import numpy as np
import pytest

from studies.comparison import CARDINALITY, compare_costs, compare_methods, summarize_methods
from studies.config import StudyError
from studies.records import Records
from studies.runner import final_trials, search_trials
from studies.tests.cases import linear, make

SEEDS = list(range(6))
NOISE = 0.001 * np.array([-1, 0.5, 1, -0.5, 0.2, -0.2])
ALL = {
    ("planted", 0.3): {"ours": 0.11, "good": 0.12, "bad": 0.3, "oracle": 0.08},
    ("planted", 0.7): {"ours": 0.11, "good": 0.09, "bad": 0.3, "oracle": 0.05},
}


def study(**changes):
    methods = [
        linear("ours", fixed={"ridge": 3.0}),
        linear("good"),
        linear("bad", fixed={"ridge": 2.0}),
        linear("oracle", oracle=True),
    ]
    parts = {"observed": [0.3, 0.7], "seeds": SEEDS, "reference": "ours", "methods": methods}
    return make(**{**parts, **changes})


def results(study, values, leave_out=()):
    found = []
    for trial in final_trials(study, Records()):
        if trial.method in leave_out:
            continue
        spread = NOISE if trial.method in ("ours", "bad") else NOISE[::-1]
        value = values[trial.data, trial.observed][trial.method] + spread[trial.seed]
        record = {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), "status": "ok"}
        found.append({**record, "metrics": dict.fromkeys(study.metrics, value)})
    return Records(found)


def test_the_reference_is_compared_with_the_best_competitor_of_each_condition():
    found = compare_methods(study(), results(study(), ALL))
    assert found.competitors == ("good", "bad")  # an oracle is not a competitor
    assert [row.best for row in found.rows] == ["good", "good"]
    assert found.counts == {"better": 1, "no significant difference": 0, "worse": 1}
    alone = compare_methods(study(), results(study(), ALL), competitors=["bad"])
    assert alone.counts == {"better": 2, "no significant difference": 0, "worse": 0}
    other = compare_methods(study(), results(study(), ALL), reference="bad", competitors=["good"])
    assert other.counts == {"better": 0, "no significant difference": 0, "worse": 2}


def test_selected_data_sets():
    two = study(data=["planted", "other"])
    values = {**ALL, ("other", 0.3): ALL["planted", 0.7], ("other", 0.7): ALL["planted", 0.7]}
    found = compare_methods(two, results(two, values), data=["other"])
    assert {row.condition.data for row in found.rows} == {"other"}
    assert found.counts == {"better": 0, "no significant difference": 0, "worse": 2}
    with pytest.raises(StudyError, match=r"data set must be one of planted, other in study tiny, got 'third'"):
        compare_methods(two, results(two, values), data=["third"])


def test_differences_within_the_noise_are_not_significant():
    near = {cell: {**values, "good": 0.1101} for cell, values in ALL.items()}
    counts = compare_methods(study(), results(study(), near)).counts
    assert counts == {"better": 0, "no significant difference": 2, "worse": 0}


def test_the_gap_to_the_oracle_is_that_of_the_same_method():
    found = compare_methods(study(), results(study(), ALL))
    ((names, pairs),) = found.oracle_gains().items()
    assert names == ("good", "oracle")
    np.testing.assert_allclose(pairs, [(1 / 12, 4 / 12), (-2 / 9, 4 / 9)])
    gain, gap = (1 / 12 - 2 / 9) / 2, (4 / 12 + 4 / 9) / 2
    assert f"{gain / gap:.0%} of the gap." in found.markdown()


def test_verdicts_are_reversed_for_a_metric_with_greater_is_better():
    turned = study(metrics=["sample_auc"])
    found = compare_methods(turned, results(turned, ALL))
    assert [row.best for row in found.rows] == ["bad", "bad"]
    assert found.counts == {"better": 0, "no significant difference": 0, "worse": 2}
    np.testing.assert_allclose(found.oracle_gains()["good", "oracle"], [(-1 / 12, -4 / 12), (2 / 9, -4 / 9)])


def test_the_table_marks_the_best_and_counts_verdicts():
    lines = compare_methods(study(), results(study(), ALL)).markdown().splitlines()
    assert lines[0] == "Rkl ↓: tiny"
    assert lines[2] == "| data | observed | ours | good | bad | oracle |"
    assert lines[4] == "| planted | 30% | **0.110** | 0.120 - | 0.300 - | 0.0800 + |"
    assert lines[5] == "| planted | 70% | 0.110 | **0.0900** + | 0.300 - | 0.0500 + |"
    assert lines[7] == (
        "ours against the best of good, bad in 2 conditions: better in 1, no significant difference in 0, worse in 1."
    )
    assert lines[8] == (
        "Mean gain over good: 38.9% for the oracle (oracle), -6.9% for ours, which closes -18% of the gap."
    )


def test_missing_records_are_left_out():
    assert compare_methods(study(), results(study(), ALL, leave_out=["ours"])).rows == ()
    some = compare_methods(study(), results(study(), ALL, leave_out=["good"]))
    assert [row.best for row in some.rows] == ["bad", "bad"]
    assert some.oracle_gains() == {}


def test_unknown_names_raise():
    for options, says in (
        ({"metric": "rkl"}, "metric must be a recorded metric, such as ranking_loss, got 'rkl'"),
        ({"reference": "theirs"}, "must be one of ours, good, bad, oracle in study tiny, got 'theirs'"),
        ({"competitors": ["x"]}, "got 'x'"),
    ):
        with pytest.raises(StudyError, match=says):
            compare_methods(study(), Records(), **options)


def test_worse_methods_are_on_the_right_for_every_metric():
    pytest.importorskip("matplotlib")
    for metric, side in (("ranking_loss", 1), ("label_ranking_average_precision", -1)):
        own = study(metrics=[metric])
        (axis,) = compare_methods(own, results(own, ALL), competitors=["bad"]).figure().axes
        ends = [x for markers in axis.collections for x, _ in np.ma.filled(markers.get_offsets(), np.nan)]
        assert side * max(ends, key=abs) > 1.5  # "bad" has nearly three times the value


def cost_study():
    searched = linear("searched", search={"ridge": [1.0, 2.0]})
    return make(seeds=[0, 1], reference="fixed", methods=[linear("fixed"), searched])


def cost_record(trial, seconds, status="ok"):
    values = {"metrics": {"ranking_loss": 0.1}, "cpu_seconds": seconds, "status": status}
    return {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), **values}


def cost_records(status="ok"):
    recorded = [cost_record(trial, 3.0 + i) for i, trial in enumerate(search_trials(cost_study()))]
    for trial in final_trials(cost_study(), Records(recorded)):
        seconds = {"fixed": 20.0, "searched": 2.0}[trial.method] + 2 * trial.seed
        recorded.append(cost_record(trial, seconds, status if trial.method == "searched" else "ok"))
    return Records(recorded)


def test_the_cost_is_that_of_the_search_and_one_fit():
    result = compare_costs(cost_study(), cost_records(), "fixed")
    ((_, seconds),) = result.seconds.items()
    assert seconds == {"fixed": 21.0, "searched": 3.0 + 4.0 + 3.0}
    assert result.ratios("searched") == [pytest.approx(2.1)]
    assert "fixed needs 2.1 times the CPU time of searched (median; range 2.1 to 2.1)" in result.markdown()


METHODS = [linear("a"), linear("b"), linear("oracle", oracle=True)]
VALUES = {("a", 0.3): 0.2, ("a", 0.7): 0.4, ("b", 0.3): 0.5, ("b", 0.7): 0.3, ("oracle", 0.3): 0.9, ("oracle", 0.7): 1}


def summary_study(**changes):
    return make(**{"methods": METHODS, "observed": [0.3, 0.7], "metrics": ["micro_f1"], **changes})


def summary_records(leave_out=()):
    recorded = []
    for trial in final_trials(summary_study(), Records()):
        if (trial.method, trial.observed) in leave_out:
            continue
        value = VALUES[trial.method, trial.observed] + (0.1 if trial.seed else -0.1)
        metrics = {"micro_f1": value, "predicted_cardinality": 4 * value, "true_cardinality": 2.0}
        content = {"key": trial.key, "trial": trial.as_dict(), "status": "ok", "metrics": metrics}
        recorded.append({"kind": "trial", **content})
    return Records(recorded)


def test_means_over_conditions_and_masks():
    summary = summarize_methods(summary_study(), summary_records(), ["micro_f1", CARDINALITY])
    assert summary.n_conditions == 2
    assert summary.means["a"] == pytest.approx({"micro_f1": 0.3, CARDINALITY: 0.6})
    assert summary.means["b"] == pytest.approx({"micro_f1": 0.4, CARDINALITY: 0.8})


def test_the_best_mean_without_an_oracle_is_bold():
    lines = summarize_methods(summary_study(), summary_records(), ["micro_f1", CARDINALITY]).markdown().splitlines()
    assert lines[0] == "Means over 2 conditions: tiny"
    assert lines[2] == "| method | micro F1 ↑ | predicted / true labels |"
    assert lines[4:] == ["| a | 0.300 | 0.600 |", "| b | **0.400** | 0.800 |", "| oracle | 0.950 | 1.900 |"]


def test_a_method_without_a_result_has_no_mean():
    summary = summarize_methods(summary_study(), summary_records(leave_out=[("b", 0.7)]))
    assert np.isnan(summary.means["b"]["micro_f1"])
    assert "| b | - |" in summary.markdown()
    assert "| a | **0.300** |" in summary.markdown()


def test_summary_of_selected_data_and_unknown_names():
    assert summarize_methods(summary_study(), summary_records(), data=["planted"]).n_conditions == 2
    with pytest.raises(StudyError, match="data set must be one of planted in study tiny, got 'other'"):
        summarize_methods(summary_study(), summary_records(), data=["other"])
    with pytest.raises(StudyError, match="metric must be cardinality_ratio or a recorded metric, got 'f1'"):
        summarize_methods(summary_study(), summary_records(), ["f1"])


def test_tables_name_the_code_of_the_fits():
    two = make(data=["first", "second"], seeds=[0, 1], metrics=["micro_f1"], methods=[linear("a"), linear("b")])
    records = []
    for trial in final_trials(two, Records()):
        old = trial.method == "b" or (trial.data, trial.seed) == ("second", 0)
        record = {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), "status": "ok"}
        records.append({**record, "metrics": {"micro_f1": 0.5}, "version": "1+20250101.c" if old else "1+20260101.d"})
    note = "Code of the fits: 1+20260101.d (a), 1+20250101.c (b; a on second)."
    assert compare_methods(two, Records(records), reference="a").markdown().splitlines()[-3] == note
    assert summarize_methods(two, Records(records)).markdown().splitlines()[-1] == note
    alone = summarize_methods(two, Records([record for record in records if record["version"] == "1+20250101.c"]))
    assert alone.note == "Code of the fits: 1+20250101.c."
