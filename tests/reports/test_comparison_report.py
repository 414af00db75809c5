"""Reports on comparisons."""

import pytest

from spmld.model_selection import Comparison
from spmld.reports import comparison_report
from tests.reports.tables import Page

METRICS = ["ranking_loss", "macro_auc", "micro_f1"]


def comparison(**changes):
    values = {("SPMLD", metric): [0.2, 0.21, 0.22] for metric in METRICS}
    values |= {("other", metric): [0.3, 0.31, 0.33] for metric in METRICS}
    parts = {"values": values, "failed": {"<b>": "no fit"}}
    return Comparison(METRICS, ["SPMLD", "other", "<b>"], "SPMLD", 3, 0.5, **{**parts, **changes})


def test_a_comparison_shows_means_and_verdicts():
    html = comparison_report(comparison(), facts={"data": "songs.csv"})
    page = Page(html)
    assert page.sections == ["Summary", "Results", "Folds", "Failed methods"]
    first, second = page.tables["All methods"]
    assert first["ranking loss (lower)"] == "0.2100 ± 0.0100"
    assert second["ranking loss (lower)"] == "0.3133 ± 0.0153 -"
    assert second["micro F1 (higher)"] == "0.3133 ± 0.0153 +"
    assert page.tables["Errors"] == [{"method": "<b>", "error": "no fit"}]
    assert "<b>" not in html
    assert "the best mean is that of SPMLD, 0.2100" in page.alts[0]
    assert "the best mean is that of other, 0.3133" in page.alts[1]
    assert "songs.csv" in page.text


def test_undefined_means_are_shown_as_a_dash():
    values = {("SPMLD", "macro_auc"): [0.2, 0.4], ("other", "macro_auc"): [float("nan")] * 2}
    page = Page(comparison_report(Comparison(["macro_auc"], ["SPMLD", "other"], "SPMLD", 2, 1.0, values)))
    assert page.tables["All methods"][1]["macro AUC (higher)"] == "-"


def test_a_comparison_without_results_raises():
    with pytest.raises(ValueError, match="must contain results of at least one method, got none"):
        comparison_report(comparison(values={}))
