"""Standings: the best competitor of each cell, verdicts, and the gap to an oracle."""

import numpy as np
import pytest
from spmld.studies.standings import standings

from spmld.studies import Corruption, Records, StudyError
from spmld.studies.plan import final_trials
from tests.studies.studies import linear, make

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


def test_the_reference_is_set_against_the_best_rival_of_each_cell():
    found = standings(study(), results(study(), ALL))
    assert found.competitors == ("good", "bad")  # who is told is no competitor
    assert [row.best for row in found.rows] == ["good", "good"]
    assert found.counts == {"better": 1, "no significant difference": 0, "worse": 1}
    alone = standings(study(), results(study(), ALL), competitors=["bad"])
    assert alone.counts == {"better": 2, "no significant difference": 0, "worse": 0}
    other = standings(study(), results(study(), ALL), reference="bad", competitors=["good"])
    assert other.counts == {"better": 0, "no significant difference": 0, "worse": 2}


def test_some_data_sets_alone():
    two = study(data=["planted", "other"])
    values = {**ALL, ("other", 0.3): ALL["planted", 0.7], ("other", 0.7): ALL["planted", 0.7]}
    found = standings(two, results(two, values), data=["other"])
    assert {row.cell.data for row in found.rows} == {"other"}
    assert found.counts == {"better": 0, "no significant difference": 0, "worse": 2}
    with pytest.raises(StudyError, match=r"data set of .* must be one of planted, other, got 'third'"):
        standings(two, results(two, values), data=["third"])


def test_differences_within_the_noise_are_not_told_apart():
    near = {cell: {**values, "good": 0.1101} for cell, values in ALL.items()}
    counts = standings(study(), results(study(), near)).counts
    assert counts == {"better": 0, "no significant difference": 2, "worse": 0}


def test_the_gap_to_the_oracle_is_that_of_the_same_method():
    found = standings(study(), results(study(), ALL))
    ((names, pairs),) = found.gaps().items()
    assert names == ("good", "oracle")
    np.testing.assert_allclose(pairs, [(1 / 12, 4 / 12), (-2 / 9, 4 / 9)])
    gain, gap = (1 / 12 - 2 / 9) / 2, (4 / 12 + 4 / 9) / 2
    assert f"{gain / gap:.0%} of the gap." in found.markdown()


def test_a_measure_of_which_more_is_better_turns_everything_round():
    turned = study(metrics=["sample_auc"])
    found = standings(turned, results(turned, ALL))
    assert [row.best for row in found.rows] == ["bad", "bad"]
    assert found.counts == {"better": 0, "no significant difference": 0, "worse": 2}
    np.testing.assert_allclose(found.gaps()["good", "oracle"], [(-1 / 12, -4 / 12), (2 / 9, -4 / 9)])


def test_the_table_marks_the_best_and_says_who_wins():
    lines = standings(study(), results(study(), ALL)).markdown().splitlines()
    assert lines[0] == "Rkl ↓: tiny"
    assert lines[2] == "| data | observed | ours | good | bad | told |"
    assert lines[4] == "| planted | 30% | **0.110** | 0.120 - | 0.300 - | 0.0800 + |"
    assert lines[5] == "| planted | 70% | 0.110 | **0.0900** + | 0.300 - | 0.0500 + |"
    assert lines[7] == ("ours against the best of good, bad in 2 cells: better in 1, not told apart in 0, worse in 1.")
    assert lines[8].startswith("Told what is wrong, good gains 38.9% on average (told); ours gains -6.9% over good")


def test_cells_with_wrong_labels_say_so():
    wrong = study(corruption=[{"kind": "flip", "rate": 0.03}], observed=[0.3])
    text = standings(wrong, results(wrong, ALL)).markdown()
    assert "| planted | flip 3% | 30% |" in text
    assert Corruption("flip", 0.03) == standings(wrong, results(wrong, ALL)).rows[0].cell.corruption


def test_what_is_not_on_record_is_left_out():
    assert standings(study(), results(study(), ALL, leave_out=["ours"])).rows == ()
    some = standings(study(), results(study(), ALL, leave_out=["good"]))
    assert [row.best for row in some.rows] == ["bad", "bad"]
    assert some.gaps() == {}


def test_names_that_are_not_there_are_refused():
    for options, says in (
        ({"metric": "coverage"}, "metric must be one of ranking_loss, got 'coverage'"),
        ({"reference": "theirs"}, "must be one of ours, good, bad, told, got 'theirs'"),
        ({"competitors": ["x"]}, "got 'x'"),
    ):
        with pytest.raises(StudyError, match=says):
            standings(study(), Records(), **options)


def test_the_figure_has_a_dot_for_each_rival_of_each_cell():
    pytest.importorskip("matplotlib")
    near = {cell: {**values, "good": 0.1101} for cell, values in ALL.items()}
    figure = standings(study(), results(study(), near)).figure()
    (axis,) = figure.axes
    dots = [(x, y, len(each.get_facecolor()) and each.get_facecolor()[0][:3].tolist() == [1.0, 1.0, 1.0])
            for each in axis.collections for x, y in np.ma.filled(each.get_offsets(), np.nan)]  # fmt: skip
    expected = [(v / 0.11 - 1, place, n == "good") for place, values in enumerate(near.values())
                for n, v in values.items() if n != "ours"]  # fmt: skip
    np.testing.assert_allclose(sorted(d[:2] for d in dots), sorted(e[:2] for e in expected), atol=2e-2)
    assert sum(hollow for *_, hollow in dots) == sum(hollow for *_, hollow in expected) == 2


def test_in_the_figure_right_is_worse_whatever_the_metric():
    pytest.importorskip("matplotlib")
    for metric, side in (("ranking_loss", 1), ("label_ranking_average_precision", -1)):
        own = study(metrics=[metric])
        (axis,) = standings(own, results(own, ALL), competitors=["bad"]).figure().axes
        ends = [x for each in axis.collections for x, _ in np.ma.filled(each.get_offsets(), np.nan)]
        assert side * max(ends, key=abs) > 1.5  # "bad" has nearly three times the value
