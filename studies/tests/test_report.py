import csv
import re

import matplotlib
import numpy as np
import pytest

from spmld._table import TextTable
from spmld.model_selection.statistics import FriedmanTest
from studies import figures
from studies import runner as runner_module
from studies.critical_difference import CriticalDifferenceDisplay
from studies.figures import radar_figure, rank_figure, surface_figure
from studies.loading import parse_study
from studies.plan import final_trials
from studies.radar import RadarDisplay
from studies.records import Records, read_records
from studies.report import ReportFolder, write_report, write_surfaces
from studies.results import collect_results
from studies.runner import run_study
from studies.surface import SurfaceDisplay
from studies.tests.cases import linear, make

matplotlib.use("Agg")
METRICS = ["coverage", "ranking_loss", "sample_auc"]


def named(study, name):
    return parse_study(study.as_dict(), name=name, source=name)


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


def test_the_surface_has_every_point(written):
    rows = [row for row in read_csv(written / "out" / "surface.csv") if row["metric"] == "coverage"]
    assert [(float(row["row"]), float(row["column"])) for row in rows] == [
        (ridge, noise) for ridge in (0.1, 1.0) for noise in (0.0, 0.1, 0.3)
    ]


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


def test_the_surface_of_the_papers_preset_has_the_papers_units(tmp_path):
    """The preset halves lambda and gamma."""
    sweep = {"pacing__schedule__threshold": [0.05], "pacing__schedule__diversity": [0.5, 5.0]}
    study = make(report="surface", methods=[{"name": "p", "estimator": "spmld.SPMLD.paper", "sweep": sweep}])
    records = Records(
        {"kind": "trial", "key": t.key, "trial": t.as_dict(), "status": "ok", "metrics": {"ranking_loss": 0.1}}
        for t in final_trials(study, Records())
    )
    write_surfaces(study, records, ReportFolder(tmp_path))
    assert [(row["row"], row["column"]) for row in read_csv(tmp_path / "tiny.csv")] == [("0.1", "1"), ("0.1", "10")]


def test_coverage_is_divided_by_the_labels_in_the_radar(written, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(figures, "radar_figure", lambda panels: drawn.append(panels) or radar_figure(panels))
    write_report(read_records(written / "results.jsonl"), tmp_path)
    (row,) = [r for r in read_csv(tmp_path / "radar.csv") if (r["method"], r["metric"]) == ("b", "coverage")]
    ((panel,),) = drawn
    assert panel.title == "planted, 50% observed"
    assert panel.values["b"]["coverage / labels"] == pytest.approx(float(row["mean"]) / 8, rel=1e-5)
    assert set(panel.values["b"]) == {"coverage / labels", "ranking loss", "sample AUC"}


def test_effects_are_corrected_within_a_metric(written):
    rows = [row for row in read_csv(written / "out" / "effects.csv") if row["metric"] == "coverage"]
    assert [row["method"] for row in rows] == ["b", "c"]
    small, large = sorted(rows, key=lambda row: float(row["p"]))
    assert float(small["Holm p"]) == pytest.approx(min(1, 2 * float(small["p"])), rel=1e-4)
    assert float(large["Holm p"]) >= float(small["Holm p"])


def test_radar_charts_share_their_ranges():
    panel = {"a": {"loss": 0.1, "gain": 0.1}, "b": {"loss": 0.3, "gain": 0.2}}
    other = {"a": {"loss": 0.1, "gain": 0.3}, "b": {"loss": 0.5, "gain": 0.2}}
    figure = radar_figure([RadarDisplay(values, {"loss"}, "b") for values in (panel, other)])
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    np.testing.assert_allclose(lines["a"][:2], [1.0, 0.15])  # best loss, worst gain
    np.testing.assert_allclose(lines["b"][:2], [0.15 + 0.85 / 2, 0.15 + 0.85 / 2])


def test_surfaces_are_in_a_grid():
    values = np.arange(6.0).reshape(2, 3)
    display = SurfaceDisplay(values, [0.1, 0.05], [1, 2, 3], "rows", "columns")
    figure = surface_figure({("d", "m"): display, ("e", "m"): display})
    first, last = figure.axes[:2]
    np.testing.assert_array_equal(first.images[0].get_array(), values)
    assert [label.get_text() for label in last.get_yticklabels()] == ["$10^{-1}$", "0.05"]
    assert (first.get_title(), first.get_xlabel(), first.get_ylabel()) == ("m", "", "d\nrows")
    assert (last.get_title(), last.get_xlabel(), last.get_ylabel()) == ("", "columns", "e\nrows")


def test_the_diagram_names_all_methods():
    ranks = FriedmanTest(np.array([1.2, 3.0, 2.0, 3.8]), 5.0, 0.01, 1.0, 6)
    figure = rank_figure([CriticalDifferenceDisplay(ranks, list("abcd"), "b", "title")])
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert {"a  1.20", "c  2.00", "3.00  b", "3.80  d", "title", "critical difference 1.00"} <= set(texts)


def test_without_matplotlib_tables_are_written(written, tmp_path, monkeypatch):
    def missing(*size, **options):
        raise ImportError("matplotlib")

    monkeypatch.setattr(figures, "_figure", missing)
    files = write_report(read_records(written / "results.jsonl"), tmp_path)
    assert {path.suffix for path in files} == {".md", ".csv"}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Records of two studies with the same methods and masks, evaluated on the test set and on missing labels."""
    folder = tmp_path_factory.mktemp("mixed")
    methods = [{"name": "a", "estimator": "spmld.MaskedLogistic"}, {"name": "b", "estimator": "spmld.LabelPrior"}]
    for name, more in {
        "tested": {"reference": "a"},
        "completed": {"reference": "b", "evaluated_on": "missing"},
    }.items():
        study = make(methods=methods, seeds=[0, 1, 2], metrics=["micro_average_precision"], **more)
        run_study(named(study, name), folder / "results.jsonl")
        run_study(named(study, name), folder / f"{name}.jsonl")
    return folder


def test_studies_evaluated_on_other_labels_have_separate_tables(mixed):
    write_report(read_records(mixed / "results.jsonl"), mixed / "both")
    for name, ending in {"tested": "", "completed": "_missing"}.items():
        write_report(read_records(mixed / f"{name}.jsonl"), mixed / name)
        for table in ("table_planted", "effects"):
            file = f"{table}{ending}.csv"
            assert (mixed / "both" / file).read_bytes() == (mixed / name / file).read_bytes()
    text = (mixed / "both" / "README.md").read_text()
    assert "## Tests against a\n" in text
    assert "## Tests against b on missing labels\n" in text
    assert "(effects_missing.csv)" in text


def test_results_on_different_labels_are_not_mixed(mixed):
    records = read_records(mixed / "results.jsonl")
    with pytest.raises(ValueError, match="studies must be evaluated on the same labels, got test, missing"):
        collect_results([records.study(name) for name in records.studies], records)


def test_an_interrupted_file_leaves_the_old_one(tmp_path):
    def rows():
        yield ["SPMLD", 1.5]
        raise KeyboardInterrupt

    class Rows(list):
        __iter__ = staticmethod(rows)

    out = ReportFolder(tmp_path)
    out.write_csv("ranks", TextTable(["method", "rank"], [["GLOCAL", 2.5]]))
    with pytest.raises(KeyboardInterrupt):
        out.write_csv("ranks", TextTable(["method", "rank"], Rows([0])))
    assert [path.name for path in tmp_path.iterdir()] == ["ranks.csv"]
    assert "GLOCAL" in (tmp_path / "ranks.csv").read_text()
