"""The reports of a comparison and of a study."""

import numpy as np
import pytest

from spmld.reports import comparison_report, study_report
from spmld.studies import Records, read_records, run_study
from spmld.studies.plan import final_trials
from tests.reports.tables import Page
from tests.studies.studies import linear, make

METRICS = {"ranking_loss": "lower", "macro_auc": "higher", "micro_f1": "higher"}


def row(method, metric, folds, **test):
    values = {"mean": float(np.mean(folds)), "sd": float(np.std(folds, ddof=1)), "folds": folds}
    return {"method": method, "metric": metric, "better": METRICS[metric], **values, **test}


COMPARED = {
    "data": "songs.csv",
    "folds": 2,
    "seed": 0,
    "reference": "SPMLD",
    "failed": {"<b>": "no fit"},
    "results": [
        *(row("SPMLD", metric, [0.2, 0.4]) for metric in METRICS),
        *(row("other", metric, [0.3, 0.6], verdict="worse") for metric in METRICS),
    ],
}


def test_a_comparison_shows_means_and_verdicts():
    html = comparison_report(COMPARED)
    page = Page(html)
    assert page.sections == ["Summary", "Results", "Folds", "All metrics at once", "Failed"]
    first, second = page.tables["All methods"]
    assert first["ranking loss (lower)"] == "0.3000 ± 0.1414"
    assert second["micro F1 (higher)"] == "0.4500 ± 0.2121 -"
    assert page.tables["Errors"] == [{"method": "<b>", "error": "no fit"}]
    assert "<b>" not in html
    assert "the best mean is that of SPMLD, 0.3000" in page.alts[0]
    assert "the best mean is that of other, 0.4500" in page.alts[1]


def test_what_has_no_value_is_a_dash():
    nothing = {**row("gone", "macro_auc", [0.1, 0.2]), "mean": None, "sd": None, "folds": [None, None]}
    page = Page(comparison_report({**COMPARED, "results": [*COMPARED["results"], nothing]}))
    assert page.tables["All methods"][2]["macro AUC (higher)"] == "-"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({}, "with a list of results"),
        ([1], "with a list of results"),
        ({"results": [{"method": "a"}]}, "with a list of results"),
        ({"results": []}, "must have the results of a method, got none"),
    ],
)
def test_what_is_no_comparison_is_refused(content, says):
    with pytest.raises(ValueError, match=says):
        comparison_report(content)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    file = tmp_path_factory.mktemp("study") / "results.jsonl"
    methods = [linear("a", search={"ridge": [1.0, 1e5]}), linear("b", fixed={"noise": 0.2}), linear("c")]
    metrics = ["coverage", "ranking_loss", "sample_auc"]
    run_study(make(methods=methods, reference="a", metrics=metrics, report="radar"), file)
    return read_records(file)


def test_a_study_shows_the_means_on_record(records):
    page = Page(study_report(records))
    assert page.sections == ["Summary", "Data", "Results", "All metrics at once", "Choice of settings"]
    values = [
        record["metrics"]["ranking_loss"]
        for record in records.trials.values()
        if record["trial"]["method"] == "b" and record["trial"]["kind"] == "test"
    ]
    (row,) = [row for row in page.tables["planted"] if row["method"] == "b"]
    assert row["Rkl ↓"].startswith(f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.4f}")
    (chosen,) = page.tables["What was chosen"]
    assert chosen["setting"] in ('{"ridge": 1.0}', '{"ridge": 100000.0}')


def test_a_failed_fit_is_told(records):
    broken = dict(next(iter(records.trials.values())), status="failed", error="no <i> fit", key="broken")
    page = Page(study_report(Records([*records.in_order(), broken])))
    assert page.sections[-1] == "1 fits failed"
    assert page.tables["Errors"][0]["error"] == "no <i> fit"


def test_records_without_a_study_are_refused():
    with pytest.raises(ValueError, match="records must hold a study, got none"):
        study_report(Records())


@pytest.mark.parametrize(
    ("evaluated_on", "title"), [("missing", "on missing labels"), ("audit", "in finding wrong labels")]
)
def test_studies_evaluated_on_other_labels_have_sections_of_their_own(evaluated_on, title, records):
    content = {**make(methods=[linear("b", fixed={"noise": 0.2}), linear("c")]).as_dict(), "evaluated_on": evaluated_on}
    other = {"kind": "study", "name": "other", "study": content}
    trials = [
        {
            "kind": "trial",
            "key": trial.key,
            "trial": trial.as_dict(),
            "status": "ok",
            "metrics": {"ranking_loss": 0.875},
        }
        for trial in final_trials(Records([other]).study("other"), Records())
    ]
    page = Page(study_report(Records([*records.in_order(), other, *trials])))
    assert {"Results", f"Results {title}"} <= set(page.sections)
    assert page.tables["planted"] == Page(study_report(records)).tables["planted"]
    assert [row["Rkl ↓"] for row in page.tables[f"planted {title}"]] == ["0.875 ± 0.0000"] * 2
