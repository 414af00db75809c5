"""Displays of recorded results."""

import numpy as np
import pytest

from spmld.model_selection.statistics import FriedmanTest
from studies.critical_difference import CriticalDifferenceDisplay
from studies.figures import radar_displays, rankings, surfaces
from studies.plan import final_trials
from studies.radar import RadarDisplay
from studies.records import Records
from studies.results import collect_results
from studies.surface import SurfaceDisplay
from studies.tests.cases import linear, make

plt = pytest.importorskip("matplotlib.pyplot")
THREE = [linear("a"), linear("b"), linear("c")]


def recorded(report, **parts):
    """Return a study and records whose values are 1, 2, ... in the order of the trials."""
    study = make(report=report, metrics=["coverage", "ranking_loss"], **parts)
    trials = [
        {
            "kind": "trial",
            "key": trial.key,
            "trial": trial.as_dict(),
            "status": "ok",
            "metrics": {"coverage": float(i + 1), "ranking_loss": (i + 1) / 100},
        }
        for i, trial in enumerate(final_trials(study, Records()))
    ]
    sizes = [{"kind": "data", "name": name, "labels": 4} for name in study.data]
    return study, Records([*sizes, *trials])


def test_the_radar_shows_means_over_masks():
    study, records = recorded("radar", methods=THREE, reference="b")
    (display,) = radar_displays(collect_results([study], records), records, "b").values()
    assert display.highlight == "b"
    assert display.values["a"] == pytest.approx({"coverage / labels": 1.5 / 4, "ranking loss": 0.015})
    assert display.lower_is_better == {"coverage / labels", "ranking loss"}


def test_a_surface_has_every_combination():
    sweep = {"ridge": [0.1, 1.0], "noise": [0.0, 0.1, 0.3]}
    study, records = recorded("surface", methods=[linear("s", sweep=sweep)], seeds=[0])
    (display,) = (surface.display for surface in surfaces(study, records) if surface.metric == "ranking_loss")
    np.testing.assert_allclose(display.values, np.arange(1, 7).reshape(2, 3) / 100)
    assert (display.row_name, display.column_name) == ("ridge", "noise")


def test_methods_are_ranked_over_data_sets():
    study, records = recorded("tables", methods=THREE, data=["planted", "emotions"], reference="c", seeds=[0])
    ranked = rankings(collect_results([study], records), "c")
    (display,) = (ranking.display for ranking in ranked if ranking.metric == "ranking_loss")
    assert (display.names, display.highlight, display.ranks.n) == (["a", "b", "c"], "c", 2)
    np.testing.assert_array_equal(display.ranks.means, [1, 2, 3])


def test_one_data_set_is_not_enough_for_a_ranking():
    study, records = recorded("tables", methods=THREE)
    assert rankings(collect_results([study], records), None) == []


SCORES = {"a": {"ranking_loss": 0.1, "macro_f1": 0.3}, "b": {"ranking_loss": 0.2, "macro_f1": 0.5}}


def test_the_lowest_loss_is_the_best_in_a_radar_chart():
    display = RadarDisplay.from_scores(SCORES, highlight="b")
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    np.testing.assert_allclose(lines["a"][:2], [1.0, 0.15])
    np.testing.assert_allclose(lines["b"][:2], [0.15, 1.0])


def test_bars_join_methods_without_significant_difference():
    def bars(means, difference):
        ranks = FriedmanTest(np.array(means), 0.0, 1.0, difference, 5)
        return CriticalDifferenceDisplay(ranks, range(len(means))).bars()

    assert bars([1, 2, 3, 4], 1.0) == [(1, 2), (2, 3), (3, 4)]
    assert bars([4, 1, 2.5, 2], 1.5) == [(1, 2.5), (2.5, 4)]
    assert bars([1, 2, 3], 5) == [(1, 3)]
    assert bars([1, 2, 3], 0.5) == []


def test_a_surface_shows_its_values_and_names():
    values = np.arange(6.0).reshape(2, 3)
    display = SurfaceDisplay(values, [0.1, 0.05], [1, 2, 3], "rows", "columns").plot()
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), values)
    assert (display.ax_.get_ylabel(), display.ax_.get_xlabel()) == ("rows", "columns")


@pytest.mark.parametrize(
    ("make_display", "message"),
    [
        (lambda: RadarDisplay({"a": {"x": 1}, "b": {"y": 1}}), "values must have the same metrics"),
        (lambda: RadarDisplay.from_scores(SCORES, ["coverage"]), "got a without coverage"),
        (lambda: RadarDisplay.from_scores(SCORES, highlight="z"), "highlight must be one of a, b, got 'z'"),
        (lambda: RadarDisplay.from_scores(SCORES, ax=plt.subplots()[1]), "ax must be polar axes, got rectilinear"),
        (lambda: SurfaceDisplay([[1, 2]], [1], [1]), r"values must have shape \(1, 1\), .* got shape \(1, 2\)"),
        (
            lambda: CriticalDifferenceDisplay.from_scores([[1, 2]], "ab", greater_is_better=True),
            "at least two data sets",
        ),
    ],
)
def test_invalid_arguments_raise(make_display, message):
    with pytest.raises(ValueError, match=message):
        make_display()
