"""Displays show the numbers of the fit, and refuse what has none."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from spmld import GLOCAL, SPMLD, MaskedLogistic, SelfPacedClassifier, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.plotting import (
    CorrelationDisplay,
    CriticalDifferenceDisplay,
    ObjectiveDisplay,
    PacingDisplay,
    RadarDisplay,
    ReliabilityDisplay,
    SurfaceDisplay,
)
from spmld.studies import Records
from spmld.studies.plan import final_trials
from tests.studies.studies import linear, make

plt = pytest.importorskip("matplotlib.pyplot")
DATA = make_planted(n_samples=200, n_labels=6, random_state=0)


@pytest.fixture(scope="module")
def spmld():
    return SPMLD(random_state=0).fit(DATA.X, DATA.Y)


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def drawn(ax):
    """The values of the heat map on some axes."""
    return np.asarray(ax.images[0].get_array())


def test_pace_shows_the_shares_of_the_history_with_the_earliest_on_top():
    model = SelfPacedClassifier().fit(DATA.X, DATA.Y)
    display = PacingDisplay.from_estimator(model)
    shares = np.array([record["mean_weight_per_label"] for record in model.history_])
    np.testing.assert_array_equal(display.shares, shares)
    order = np.argsort(-shares.sum(axis=0), kind="stable")
    np.testing.assert_array_equal(drawn(display.ax_), shares[:, order].T)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == [str(model.label_names_[i]) for i in order]


def test_latent_labels_have_a_pace_too(spmld):
    display = PacingDisplay.from_estimator(spmld)
    assert display.names[0] == "latent 0"
    assert display.shares[-1].min() == pytest.approx(1)


def test_the_terms_sum_to_the_objective(spmld):
    display = ObjectiveDisplay.from_estimator(spmld)
    np.testing.assert_allclose(sum(display.terms.values()), display.total)
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    np.testing.assert_array_equal(lines["objective"], display.total)
    np.testing.assert_array_equal(lines["fit"], display.terms["fit"])


def test_warm_rounds_are_not_shown():
    model = GLOCAL(n_warmup_iter=3, random_state=0).fit(DATA.X, DATA.Y)
    assert len(ObjectiveDisplay.from_estimator(model).total) == len(model.history_) - 3


def test_what_labels_add_to_each_other_is_shown_up_to_the_largest():
    options = {"Cs": (3.0,), "label_graph_penalties": (1.0,), "views": ("own",), "shares": (1.0,)}
    model = SelfPacedEnsemble(**options, random_state=0).fit(DATA.X, DATA.Y)
    display = CorrelationDisplay.from_estimator(model)
    M = model.label_correlation_
    np.testing.assert_array_equal(drawn(display.ax_), M[np.ix_(display.order_, display.order_)])
    assert display.ax_.images[0].get_clim() == (-np.abs(M).max(), np.abs(M).max())


def test_correlated_labels_stand_side_by_side():
    rng = np.random.default_rng(0)
    blocks = np.repeat([0, 1, 2], 4)[shuffle := rng.permutation(12)]
    C = np.where(blocks[:, None] == blocks[None], 0.9, -0.3)
    np.fill_diagonal(C, 1)
    display = CorrelationDisplay(C, shuffle).plot()
    assert (np.diff(blocks[display.order_]) != 0).sum() == 2
    np.testing.assert_array_equal(drawn(display.ax_), C[np.ix_(display.order_, display.order_)])


@pytest.mark.parametrize("group", [None, 0])
def test_correlation_is_that_of_the_estimator(spmld, group):
    display = CorrelationDisplay.from_estimator(spmld, group=group)
    np.testing.assert_array_equal(display.correlation, spmld.label_correlation(group))


def test_reliability_is_scikit_learns_on_what_is_observed():
    rng = np.random.default_rng(0)
    p, Y = rng.random((80, 5)), (rng.random((80, 5)) < 0.4).astype(float)
    hidden = np.asarray(hide_labels(Y, observed_fraction=0.6, random_state=0))
    seen = ~np.isnan(hidden)
    display = ReliabilityDisplay.from_predictions(hidden, p, n_bins=7)
    found, predicted = calibration_curve(Y[seen], p[seen], n_bins=7)
    np.testing.assert_allclose(display.found, found)
    np.testing.assert_allclose(display.predicted, predicted)
    assert display.counts.sum() == seen.sum()


def test_reliability_of_an_estimator_is_that_of_its_probabilities():
    model = MaskedLogistic().fit(DATA.X, DATA.Y)
    one = ReliabilityDisplay.from_estimator(model, DATA.X, DATA.Y)
    other = ReliabilityDisplay.from_predictions(DATA.Y, model.predict_proba(DATA.X))
    np.testing.assert_array_equal(one.found, other.found)
    single = MaskedLogistic().fit(DATA.X, DATA.Y[:, 0])
    alone = ReliabilityDisplay.from_estimator(single, DATA.X, DATA.Y[:, 0])
    assert alone.counts.sum() == 200


def test_given_axes_are_drawn_on(spmld):
    figure, ax = plt.subplots()
    display = ObjectiveDisplay.from_estimator(spmld, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


@pytest.mark.parametrize(
    ("display", "says"),
    [
        (PacingDisplay, "history_ of rounds, got MaskedLogistic"),
        (ObjectiveDisplay, "history_ of rounds, got MaskedLogistic"),
        (CorrelationDisplay, "label_correlation, as GLOCAL has, got MaskedLogistic"),
    ],
)
def test_estimators_without_are_refused(display, says):
    with pytest.raises(ValueError, match=says):
        display.from_estimator(MaskedLogistic().fit(DATA.X, DATA.Y))


def test_bins_are_checked():
    with pytest.raises(ValueError, match="n_bins must be an integer of at least 1, got 0"):
        ReliabilityDisplay.from_predictions([[1, 0]], [[0.5, 0.5]], n_bins=0)


SCORES = {"a": {"ranking_loss": 0.1, "macro_f1": 0.3}, "b": {"ranking_loss": 0.2, "macro_f1": 0.5}}


def test_radar_turns_losses_round_by_the_metric():
    display = RadarDisplay.from_scores(SCORES, stressed="b")
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    np.testing.assert_allclose(lines["a"][:2], [1.0, 0.15])
    np.testing.assert_allclose(lines["b"][:2], [0.15, 1.0])


def recorded(report, **parts):
    """Records of a study whose values are known: 1, 2, ... in the order of the trials."""
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
    return Records([{"kind": "study", "name": "tiny", "study": study.as_dict()}, *sizes, *trials])


THREE = [linear("a"), linear("b"), linear("c")]


def test_radar_of_records_is_the_mean_over_masks():
    records = recorded("radar", methods=THREE, reference="b")
    display = RadarDisplay.from_records(records)
    assert display.stressed == "b"
    assert display.values["a"] == pytest.approx({"coverage / labels": 1.5 / 4, "ranking loss": 0.015})
    assert display.lower_is_better == {"coverage / labels", "ranking loss"}


def test_surface_of_records_has_every_point():
    sweep = {"ridge": [0.1, 1.0], "noise": [0.0, 0.1, 0.3]}
    records = recorded("surface", methods=[linear("s", sweep=sweep)], seeds=[0])
    display = SurfaceDisplay.from_records(records, metric="ranking_loss")
    np.testing.assert_allclose(display.values, np.arange(1, 7).reshape(2, 3) / 100)
    np.testing.assert_array_equal(drawn(display.ax_), display.values)
    assert (display.ax_.get_ylabel(), display.ax_.get_xlabel()) == ("ridge", "noise")


def test_critical_difference_of_records_ranks_over_data():
    records = recorded("tables", methods=THREE, data=["planted", "emotions"], reference="c", seeds=[0])
    display = CriticalDifferenceDisplay.from_records(records, metric="ranking_loss")
    assert (display.names, display.stressed, display.ranks.n) == (["a", "b", "c"], "c", 2)
    np.testing.assert_array_equal(display.ranks.means, [1, 2, 3])
    assert "critical difference" in " ".join(text.get_text() for text in display.ax_.texts)


@pytest.mark.parametrize(
    ("make_display", "says"),
    [
        (lambda: RadarDisplay({"a": {"x": 1}, "b": {"y": 1}}), "values must give the same metrics"),
        (lambda: RadarDisplay.from_scores(SCORES, ["coverage"]), "a lacks coverage"),
        (lambda: RadarDisplay.from_scores(SCORES, stressed="z"), "stressed must be one of a, b, got 'z'"),
        (lambda: RadarDisplay.from_scores(SCORES, ax=plt.subplots()[1]), "ax must be polar axes, got rectilinear"),
        (lambda: SurfaceDisplay([[1, 2]], [1], [1]), r"values must have a row .* got shape \(1, 2\)"),
        (
            lambda: RadarDisplay.from_records(recorded("radar", methods=THREE, observed=[0.3, 0.7]), data="planted"),
            "data and observed must single out one of: planted, 30% observed, planted, 70% observed; got data=",
        ),
        (lambda: SurfaceDisplay.from_records(recorded("tables"), study="tiny"), "study must be one of none on record"),
        (
            lambda: CriticalDifferenceDisplay.from_records(recorded("tables", methods=THREE)),
            "three methods on two data sets",
        ),
    ],
)
def test_what_cannot_be_drawn_says_why(make_display, says):
    with pytest.raises(ValueError, match=says):
        make_display()


def test_a_dollar_sign_in_a_name_is_no_formula():
    display = CorrelationDisplay(np.eye(2), ["from $5", r"\frac to $6$"]).plot()
    display.figure_.canvas.draw()
