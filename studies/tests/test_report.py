"""The report: files, tables and links, from the records alone."""

import csv
import re

import numpy as np
import pytest

from studies import runner as runner_module
from studies.config import StudyError, parse_study
from studies.records import Records, read_records
from studies.report import write_report
from studies.results import collect_results
from studies.runner import run_study
from studies.tests.cases import linear, make

METRICS = ["coverage", "ranking_loss", "sample_auc"]


def named(study, name):
    return parse_study(study.as_dict(), name)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Report of three studies in one file; writing it must not fit anything."""
    folder = tmp_path_factory.mktemp("report")
    methods = [linear("a", search={"ridge": [1.0, 1e5]}), linear("b", fixed={"noise": 0.2}), linear("c")]
    tables = make(methods=methods, reference="a", metrics=METRICS, data=["planted"], seeds=[0, 1, 2])
    radars = make(report="radar", methods=methods, reference="a", metrics=METRICS)
    sweep = {"ridge": [0.1, 1.0], "noise": [0.0, 0.1, 0.3]}
    surface = make(report="surface", metrics=METRICS, methods=[linear("s", sweep=sweep)])
    for name, study in {"tables": tables, "radar": radars, "surface": surface}.items():
        run_study(named(study, name), folder / "results.jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner_module, "attempt", lambda trial: pytest.fail("the report fitted a model"))
        write_report(read_records(folder / "results.jsonl"), folder / "out")
    return folder


def read_csv(path):
    return list(csv.DictReader(path.open(encoding="utf-8")))


def test_all_files_are_written(written):
    names = {path.name for path in (written / "out").iterdir()}
    assert names == {
        *("README.md", "table1.csv", "table1.md", "table_planted.csv", "table_planted.md", "effects.csv"),
        *("chosen.csv", "radar.csv", "radar_planted.png", "surface.csv", "surface_50.png"),
    }


def test_the_report_is_deterministic(written):
    write_report(read_records(written / "results.jsonl"), written / "again")
    for path in (written / "out").iterdir():
        assert path.read_bytes() == (written / "again" / path.name).read_bytes(), path.name


def test_all_links_of_the_page_exist(written):
    text = (written / "out" / "README.md").read_text()
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (written / "out" / target).exists()
    assert "2 settings for every method with a search (a)" in text
    assert "impossible" in text


def test_the_tables_hold_the_recorded_values(written):
    records = read_records(written / "results.jsonl")
    values = [
        record["metrics"]["coverage"]
        for record in records.trials.values()
        if record["trial"]["method"] == "b" and record["trial"]["kind"] == "test"
    ]
    assert len(values) == 3
    (row,) = [
        r for r in read_csv(written / "out" / "table_planted.csv") if (r["method"], r["metric"]) == ("b", "coverage")
    ]
    assert float(row["mean"]) == pytest.approx(np.mean(values), rel=1e-5)
    assert float(row["std"]) == pytest.approx(np.std(values, ddof=1), rel=1e-5)


def test_chosen_lists_all_settings_and_marks_the_best(written):
    rows = [row for row in read_csv(written / "out" / "chosen.csv") if row["study"] == "tables"]
    assert [row["setting"] for row in rows] == ['{"ridge": 1.0}', '{"ridge": 100000.0}']
    best = min(rows, key=lambda row: float(row["held-out score"]))
    assert [row["chosen"] for row in rows] == [str(int(row is best)) for row in rows]


def test_the_surface_is_the_mean_over_masks(written):
    records = read_records(written / "results.jsonl")
    values = [
        record["metrics"]["coverage"]
        for record in records.trials.values()
        if record["trial"]["params"] == {"ridge": 1.0, "noise": 0.3}
    ]
    assert len(set(values)) == 2
    rows = read_csv(written / "out" / "surface.csv")
    (value,) = [r["value"] for r in rows if (r["metric"], r["row"], r["column"]) == ("coverage", "1", "0.3")]
    assert float(value) == pytest.approx(np.mean(values), rel=1e-5)


def test_effects_are_corrected_within_a_metric(written):
    rows = [row for row in read_csv(written / "out" / "effects.csv") if row["metric"] == "coverage"]
    assert [row["method"] for row in rows] == ["b", "c"]
    small, large = sorted(rows, key=lambda row: float(row["p"]))
    assert float(small["Holm p"]) == pytest.approx(min(1, 2 * float(small["p"])), rel=1e-4)
    assert float(large["Holm p"]) >= float(small["Holm p"])


def test_other_studies_are_not_reported(tmp_path):
    study = make(evaluated_on="missing")
    with pytest.raises(StudyError, match="study tiny is not one of the paper; use: python -m studies table"):
        write_report(Records([{"kind": "study", "name": "tiny", "study": study.as_dict()}]), tmp_path)


def test_results_on_different_labels_are_not_mixed():
    with pytest.raises(StudyError, match="studies must be evaluated on the same labels, got missing, test"):
        collect_results([make(), make(evaluated_on="missing")], Records())


def test_the_page_and_the_figure_count_fits_without_convergence(tmp_path):
    sweep = {"ridge": [0.1, 1.0], "noise": [0.0, 0.1]}
    run_study(make(report="surface", methods=[linear("s", sweep=sweep)]), tmp_path / "r.jsonl")
    records = read_records(tmp_path / "r.jsonl")
    first, second, *_ = records.trials.values()
    first["warnings"] = second["warnings"] = ["ConvergenceWarning: max_iter iterations", "LabelWarning: Label 1"]
    write_report(records, tmp_path)
    assert "- **tiny**: tiny (not converged: 2 of 8 fits)\n" in (tmp_path / "README.md").read_text()
