"""Displays show the numbers of the fit, and refuse what has none."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from spmld import GLOCAL, SPMLD, MaskedLogistic, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.displays import CorrelationDisplay, ObjectiveDisplay, PaceDisplay, ReliabilityDisplay
from spmld.labels import hide_labels

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
    display = PaceDisplay.from_estimator(model)
    shares = np.array([record["share_per_label"] for record in model.history_])
    np.testing.assert_array_equal(display.shares, shares)
    order = np.argsort(-shares.sum(axis=0), kind="stable")
    np.testing.assert_array_equal(drawn(display.ax_), shares[:, order].T)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == [str(model.label_names_[i]) for i in order]


def test_latent_labels_have_a_pace_too(spmld):
    display = PaceDisplay.from_estimator(spmld)
    assert display.names[0] == "latent 0"
    assert display.shares[-1].min() == pytest.approx(1)


def test_the_terms_sum_to_the_objective(spmld):
    display = ObjectiveDisplay.from_estimator(spmld)
    np.testing.assert_allclose(sum(display.terms.values()), display.total)
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    np.testing.assert_array_equal(lines["objective"], display.total)
    np.testing.assert_array_equal(lines["fit"], display.terms["fit"])


def test_warm_rounds_are_not_shown():
    model = GLOCAL(warm_rounds=3, random_state=0).fit(DATA.X, DATA.Y)
    assert len(ObjectiveDisplay.from_estimator(model).total) == len(model.history_) - 3


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
    hidden = np.asarray(hide_labels(Y, observed=0.6, random_state=0))
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
        (PaceDisplay, "history_ of rounds, got MaskedLogistic"),
        (ObjectiveDisplay, "history_ of rounds, got MaskedLogistic"),
        (CorrelationDisplay, "label_correlation, as GLOCAL has, got MaskedLogistic"),
    ],
)
def test_estimators_without_are_refused(display, says):
    with pytest.raises(ValueError, match=says):
        display.from_estimator(MaskedLogistic().fit(DATA.X, DATA.Y))


def test_bins_are_checked():
    with pytest.raises(ValueError, match="n_bins must be an integer of 1 or more, got 0"):
        ReliabilityDisplay.from_predictions([[1, 0]], [[0.5, 0.5]], n_bins=0)
