"""Displays of recorded results."""

import numpy as np
import pytest

from spmld.studies import Records
from spmld.studies.figures import radar_displays, rankings, surfaces
from spmld.studies.plan import final_trials
from spmld.studies.results import collect_results
from tests.studies.studies import linear, make

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
