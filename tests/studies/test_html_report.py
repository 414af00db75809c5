"""HTML reports on studies."""

import numpy as np
import pytest

from spmld.studies import Records, read_records, run_study
from spmld.studies.html_report import study_report
from spmld.studies.plan import final_trials
from tests.reports.tables import Page
from tests.studies.studies import linear, make


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    file = tmp_path_factory.mktemp("study") / "results.jsonl"
    methods = [linear("a", search={"ridge": [1.0, 1e5]}), linear("b", fixed={"noise": 0.2}), linear("c")]
    metrics = ["coverage", "ranking_loss", "sample_auc"]
    run_study(make(methods=methods, reference="a", metrics=metrics, report="radar"), file)
    return read_records(file)


def test_the_report_shows_recorded_means(records):
    page = Page(study_report(records))
    assert page.sections == ["Summary", "Data", "Results", "All metrics", "Parameter search"]
    values = [
        record["metrics"]["ranking_loss"]
        for record in records.trials.values()
        if record["trial"]["method"] == "b" and record["trial"]["kind"] == "test"
    ]
    (row,) = [row for row in page.tables["planted"] if row["method"] == "b"]
    assert row["Rkl ↓"].startswith(f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.4f}")
    (chosen,) = page.tables["Selected settings"]
    assert chosen["setting"] in ('{"ridge": 1.0}', '{"ridge": 100000.0}')


def test_failed_fits_are_listed(records):
    broken = dict(next(iter(records.trials.values())), status="failed", error="no <i> fit", key="broken")
    page = Page(study_report(Records([*records.in_order(), broken])))
    assert page.sections[-1] == "Failed fits: 1"
    assert page.tables["Errors"][0]["error"] == "no <i> fit"


def test_records_without_a_study_raise():
    with pytest.raises(ValueError, match="records must contain a study, got none"):
        study_report(Records())


@pytest.mark.parametrize(
    ("evaluated_on", "title"), [("missing", "on missing labels"), ("audit", "of finding label errors")]
)
def test_studies_evaluated_on_other_labels_have_separate_sections(evaluated_on, title, records):
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
