"""Displays show the numbers of fits, and raise errors if there are none."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from spmld import SPMLD, MaskedLogistic, SelfPacedClassifier, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.plotting import CorrelationDisplay, PacingDisplay, ReliabilityDisplay

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


def test_pacing_shows_the_mean_weights_of_the_history_with_the_earliest_on_top():
    model = SelfPacedClassifier().fit(DATA.X, DATA.Y)
    display = PacingDisplay.from_estimator(model)
    weights = np.array([record["mean_weight_per_label"] for record in model.history_])
    np.testing.assert_array_equal(display.mean_weights, weights)
    order = np.argsort(-weights.sum(axis=0), kind="stable")
    np.testing.assert_array_equal(drawn(display.ax_), weights[:, order].T)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == [str(model.label_names_[i]) for i in order]


def test_pacing_of_latent_labels(spmld):
    display = PacingDisplay.from_estimator(spmld)
    assert display.names[0] == "latent 0"
    assert display.mean_weights[-1].min() == pytest.approx(1)


def test_label_dependencies_are_shown_up_to_the_largest():
    model = SelfPacedEnsemble(Cs=(3.0,), views=("linear",), keep_fraction=1.0, random_state=0).fit(DATA.X, DATA.Y)
    display = CorrelationDisplay.from_estimator(model)
    M = model.label_dependencies_
    np.testing.assert_array_equal(drawn(display.ax_), M[np.ix_(display.order_, display.order_)])
    assert display.ax_.images[0].get_clim() == (-np.abs(M).max(), np.abs(M).max())


def test_correlated_labels_are_next_to_each_other():
    rng = np.random.default_rng(0)
    blocks = np.repeat([0, 1, 2], 4)[shuffle := rng.permutation(12)]
    C = np.where(blocks[:, None] == blocks[None], 0.9, -0.3)
    np.fill_diagonal(C, 1)
    display = CorrelationDisplay(C, shuffle).plot()
    assert (np.diff(blocks[display.order_]) != 0).sum() == 2
    np.testing.assert_array_equal(drawn(display.ax_), C[np.ix_(display.order_, display.order_)])


def test_correlation_is_that_of_the_estimator(spmld):
    display = CorrelationDisplay.from_estimator(spmld)
    np.testing.assert_array_equal(display.correlation, spmld.label_correlation())
    assert display.ax_.images[0].get_clim() == (-1, 1)


def test_reliability_is_that_of_scikit_learn_on_observed_entries():
    rng = np.random.default_rng(0)
    p, Y = rng.random((80, 5)), (rng.random((80, 5)) < 0.4).astype(float)
    hidden = np.asarray(hide_labels(Y, observed_fraction=0.6, random_state=0))
    observed = ~np.isnan(hidden)
    display = ReliabilityDisplay.from_predictions(hidden, p, n_bins=7)
    prob_true, prob_pred = calibration_curve(Y[observed], p[observed], n_bins=7)
    np.testing.assert_allclose(display.prob_true, prob_true)
    np.testing.assert_allclose(display.prob_pred, prob_pred)
    assert display.counts.sum() == observed.sum()


def test_reliability_of_an_estimator_is_that_of_its_probabilities():
    model = MaskedLogistic().fit(DATA.X, DATA.Y)
    one = ReliabilityDisplay.from_estimator(model, DATA.X, DATA.Y)
    other = ReliabilityDisplay.from_predictions(DATA.Y, model.predict_proba(DATA.X))
    np.testing.assert_array_equal(one.prob_true, other.prob_true)
    single = MaskedLogistic().fit(DATA.X, DATA.Y[:, 0])
    alone = ReliabilityDisplay.from_estimator(single, DATA.X, DATA.Y[:, 0])
    assert alone.counts.sum() == 200


@pytest.mark.parametrize(
    ("display", "message"),
    [
        (PacingDisplay, "mean weights in its history_, such as SPMLD, got MaskedLogistic"),
        (CorrelationDisplay, "label_correlation, such as GLOCAL, or .* got MaskedLogistic"),
    ],
)
def test_estimators_without_the_attribute_raise(display, message):
    with pytest.raises(ValueError, match=message):
        display.from_estimator(MaskedLogistic().fit(DATA.X, DATA.Y))


def test_bins_are_checked():
    with pytest.raises(ValueError, match="n_bins must be an integer of at least 1, got 0"):
        ReliabilityDisplay.from_predictions([[1, 0]], [[0.5, 0.5]], n_bins=0)


def test_a_dollar_sign_in_a_name_does_not_start_a_formula():
    display = CorrelationDisplay(np.eye(2), ["from $5", r"\frac to $6$"]).plot()
    display.figure_.canvas.draw()
