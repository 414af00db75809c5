import numpy as np
import pytest
from scipy import stats

from studies.config import parse_study
from studies.records import Records
from studies.results import agreement, collect_results, contradictions, published
from studies.runner import final_trials
from studies.tables import result_table
from studies.tests.cases import linear, make

SEEDS = list(range(4))
JITTER = np.array([-0.001, 0.0005, 0.001, -0.0005])


def study(**changes):
    methods = [
        linear("competitor", published="GLOCAL"),
        linear("SPMLD", published="SPMLD"),
        linear("SPMLD()", published="SPMLD"),
    ]
    parts = {"data": ["business"], "observed": [0.3], "seeds": SEEDS, "reference": "SPMLD", "methods": methods}
    return make(**{**parts, **changes})


def results(study, values, extra=()):
    """Return records; `values` has the ranking losses of each method by seed, None for a failed fit."""
    found = []
    for trial in final_trials(study, Records()):
        value = values[trial.method][study.seeds.index(trial.seed)]
        status = "failed" if value is None else "ok"
        metrics = {} if value is None else dict.fromkeys(study.metrics, value)
        found.append(
            {"kind": "trial", "key": trial.key, "trial": trial.as_dict(), "status": status, "metrics": metrics}
        )
    return Records([*found, *extra])


def marks(values, **changes):
    tiny = study(**changes)
    return {result.method.name: result.mark for result in collect_results([tiny], results(tiny, values))}


def test_means_deviations_and_the_papers_values():
    tiny = study()
    found = collect_results(
        [tiny], results(tiny, {"competitor": 0.05 + JITTER, "SPMLD": 0.04 + JITTER, "SPMLD()": 0.04 - JITTER})
    )
    competitor, ours, _ = found
    assert ours.mean == pytest.approx(0.04)
    assert ours.std == pytest.approx(np.std(JITTER, ddof=1))
    assert ours.published == published("business", 0.3, "SPMLD", "ranking_loss")
    assert ours.deviation == pytest.approx((0.04 - 0.044) / 0.0021)
    assert (ours.better_than_published, competitor.better_than_published) == (True, True)
    table = result_table(found)
    assert table.columns == ["Method", "observed", "Rkl ↓", "paper", "dev."]
    lines = table.to_markdown().splitlines()
    assert lines[3] == "| SPMLD | 30% | **0.0400 ± 0.0009** | 0.0440 ± 0.0021 | -1.9 |"
    assert lines[2] == "| competitor | 30% | 0.0500 ± 0.0009 | 0.0540 ± 0.0025 | -1.6 |"


def test_marks_follow_the_paper():
    noise = JITTER[::-1]
    best = {"competitor": 0.05 + noise, "SPMLD": 0.04 + JITTER, "SPMLD()": 0.04 + noise}
    assert marks(best) == {"competitor": "", "SPMLD": "bold", "SPMLD()": "italic"}
    tied = {**best, "competitor": 0.04 + 2 * noise}
    assert marks(tied) == {"competitor": "italic", "SPMLD": "italic", "SPMLD()": "italic"}
    beaten = {**best, "competitor": 0.03 + noise}
    assert marks(beaten) == {"competitor": "bold", "SPMLD": "", "SPMLD()": "italic"}


def test_marks_are_reversed_if_higher_is_better():
    values = {"competitor": 0.9 + JITTER[::-1], "SPMLD": 0.8 + JITTER, "SPMLD()": 0.7 + JITTER}
    assert marks(values, metrics=["sample_auc"]) == {"competitor": "bold", "SPMLD": "", "SPMLD()": ""}
    assert marks(values)["SPMLD"] == "bold"


def test_without_a_reference_nothing_is_marked():
    methods = [linear("a"), linear("b")]
    tiny = study(methods=methods, reference="a")
    both = {"a": 0.1 + JITTER, "b": 0.2 + JITTER}
    assert {result.mark for result in collect_results([tiny], results(tiny, both))} == {"bold", ""}
    content = tiny.as_dict()
    del content["reference"]
    plain = parse_study(content, "tiny")
    assert {result.mark for result in collect_results([plain], results(plain, both))} == {""}


@pytest.mark.parametrize(("data", "ratio"), [("business", 0.0), ("yeastbp", 1 / 9), ("mirflickr", 1 / 9)])
def test_tests_over_folds_are_corrected_for_their_overlap(data, ratio):
    """Data sets with candidate labels have ten folds; the masks of the others share one official split."""
    values = {"competitor": 0.05 + 10 * JITTER, "SPMLD": 0.04 + JITTER, "SPMLD()": 0.04 - JITTER}
    tiny = study(data=[data])
    test = collect_results([tiny], results(tiny, values))[0].test
    d = values["competitor"] - values["SPMLD"]
    t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / len(SEEDS) + ratio))
    assert test.p == pytest.approx(2 * stats.t.sf(abs(t), len(SEEDS) - 1))


def test_tests_pair_the_masks_that_both_have():
    values = {"competitor": [0.05, None, 0.06, 0.05], "SPMLD": [0.04, 0.04, 0.05, None], "SPMLD()": [None] * 4}
    tiny = study()
    competitor, ours = collect_results([tiny], results(tiny, values))
    assert (len(competitor.values), len(ours.values), competitor.test.n) == (3, 3, 2)
    assert competitor.test.difference == pytest.approx(0.01)
    assert [row[0] for row in result_table([competitor, ours]).rows] == ["competitor", "SPMLD"]


def test_studies_share_a_table():
    released = study(methods=[linear("Released SPMLD", published="SPMLD")], reference="Released SPMLD")
    tiny = study()
    values = {
        "competitor": 0.05 + JITTER,
        "SPMLD": 0.04 + JITTER,
        "SPMLD()": 0.04 - JITTER,
        "Released SPMLD": 0.06 + JITTER,
    }
    records = results(tiny, values, extra=results(released, values).trials.values())
    found = collect_results([tiny, released], records)
    assert [result.method.name for result in found] == ["competitor", "SPMLD", "SPMLD()", "Released SPMLD"]
    assert found[-1].test.verdict == "worse"  # against the first study's reference
    assert found[1].mark == "bold"


def test_agreement_counts_values_within_two_deviations():
    tiny = study(observed=[0.3, 0.7])
    values = {
        "competitor": 0.0541 + JITTER,
        "SPMLD": 0.044 + 2.1 * 0.0021 + JITTER,
        "SPMLD()": 0.044 - 2.1 * 0.0021 + JITTER,
    }
    competitor, ours, default = agreement(collect_results([tiny], results(tiny, values)))
    # Published GLOCAL is 0.046 ± 0.0022 at 70 %: 0.0541 is more than two deviations away.
    assert (competitor.values, competitor.within, competitor.better) == (2, 1, 0)
    assert (ours.within, ours.better) == (0, 0)
    assert (default.better, [result.condition.observed for result in default.outside]) == (2, [0.3])


def test_corrupted_labels_have_no_published_value():
    tiny = study(corruption=[{"kind": "flip", "rate": 0.1}])
    found = collect_results([tiny], results(tiny, dict.fromkeys(("competitor", "SPMLD", "SPMLD()"), 0.05 + JITTER)))
    assert [result.published for result in found] == [None] * 3
    assert agreement(found) == []
    assert result_table(found).columns == ["Method", "observed", "Rkl ↓"]


def test_contradictions_are_sums_that_differ_from_one():
    found = {(c.data, c.observed, c.method): c for c in contradictions()}
    assert sum(c.impossible for c in found.values()) == 15
    assert found["business", 0.3, "GLOCAL"].total == pytest.approx(0.991)
    # The sum is explained by samples whose features are all zero: 1.45 % of the test samples of Computers.
    assert found["computers", 0.7, "SPMLD"].ties == pytest.approx(0.0145, abs=1e-3)
    assert not any(c.method == "SPMLD" and c.impossible for c in found.values())
    assert ("social", 0.3, "LEML") not in found
