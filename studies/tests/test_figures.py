"""Figures of recorded results."""

import numpy as np
import pytest

from studies.config import Condition, Method
from studies.figures import (
    Radar,
    Surface,
    radar_figure,
    radars,
    surface_figure,
    surfaces,
)
from studies.records import Records
from studies.results import collect_results
from studies.runner import final_trials
from studies.tests.cases import linear, make

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
    (chart,) = radars(collect_results([study], records), records, "b")
    assert (chart.highlight, str(chart.condition)) == ("b", "planted, 50% observed")
    assert chart.values["a"] == pytest.approx({"coverage / labels": 1.5 / 4, "ranking loss": 0.015})
    assert chart.lower_is_better == {"coverage / labels", "ranking loss"}


def test_radar_charts_share_their_ranges_and_the_lowest_loss_is_the_best():
    panel = {"a": {"loss": 0.1, "gain": 0.1}, "b": {"loss": 0.3, "gain": 0.2}}
    other = {"a": {"loss": 0.1, "gain": 0.3}, "b": {"loss": 0.5, "gain": 0.2}}
    figure = radar_figure([Radar(Condition("d", 0.5), values, frozenset({"loss"}), "b") for values in (panel, other)])
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    np.testing.assert_allclose(lines["a"][:2], [1.0, 0.15])  # best loss, worst gain
    np.testing.assert_allclose(lines["b"][:2], [0.15 + 0.85 / 2, 0.15 + 0.85 / 2])


def test_a_surface_has_every_combination():
    sweep = {"ridge": [0.1, 1.0], "noise": [0.0, 0.1, 0.3]}
    study, records = recorded("surface", methods=[linear("s", sweep=sweep)], seeds=[0])
    (surface,) = (surface for surface in surfaces(study, records) if surface.metric == "ranking_loss")
    np.testing.assert_allclose(surface.values, np.arange(1, 7).reshape(2, 3) / 100)
    assert (surface.names, surface.parameters) == (["ridge", "noise"], list(sweep.values()))


def test_the_surface_of_the_papers_preset_has_the_papers_units():
    """The preset halves lambda and gamma."""
    sweep = {"pacing__schedule__threshold": [0.05], "pacing__schedule__diversity": [0.5, 5.0]}
    study, records = recorded("surface", methods=[{"name": "p", "estimator": "spmld.SPMLD.paper", "sweep": sweep}])
    assert surfaces(study, records)[0].parameters == [[0.1], [1.0, 10.0]]


def test_surfaces_are_in_a_grid():
    values = np.arange(6.0).reshape(2, 3)
    method = Method("s", "spmld.GLOCAL", sweep={"rows": [0.1, 0.05], "columns": [1, 2, 3]})
    figure = surface_figure([Surface(method, Condition(data, 0.5), "coverage", values) for data in ("d", "e")])
    first, last = figure.axes[:2]
    np.testing.assert_array_equal(first.images[0].get_array(), values)
    assert [label.get_text() for label in last.get_yticklabels()] == ["$10^{-1}$", "0.05"]
    assert (first.get_title(), first.get_xlabel(), first.get_ylabel()) == ("COV ↓", "", "d\nrows")
    assert (last.get_title(), last.get_xlabel(), last.get_ylabel()) == ("", "columns", "e\nrows")
