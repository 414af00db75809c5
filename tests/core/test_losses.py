"""Losses: slopes equal finite differences, and majorizers touch the losses from above."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spmld.core.losses import LOSSES, Squared, logistic
from spmld.noise.likelihood import NoisyLogistic

scores = st.floats(-30, 30)
signs = st.sampled_from([-1.0, 1.0])
RATES = [(0.0, 0.0), (0.1, 0.0), (0.0, 0.3), (0.2, 0.4)]
NOISY = {f"noisy {alpha} {beta}": NoisyLogistic(np.asarray(alpha), np.asarray(beta)) for alpha, beta in RATES}
ALL = {**LOSSES, **NOISY}


@pytest.mark.parametrize("loss", ALL.values(), ids=ALL)
class TestLoss:
    @given(y=signs, f=scores)
    def test_slope_is_the_derivative(self, loss, y, f):
        y, f, h = np.asarray(y), np.asarray(f), 1e-5
        expected = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
        assert loss.slope(y, f) == pytest.approx(expected, abs=5e-6 * (1 + abs(expected)))

    @given(y=signs, f=scores)
    def test_curvature_is_the_derivative_of_the_slope(self, loss, y, f):
        y, f, h = np.asarray(y), np.asarray(f), 1e-5
        expected = (loss.slope(y, f + h) - loss.slope(y, f - h)) / (2 * h)
        slope, curvature = loss.derivatives(y, f)
        assert slope == loss.slope(y, f)
        if isinstance(loss, NoisyLogistic):  # the mean of both labels, in proportion to their probabilities
            likelihood = np.exp(-loss.value(y, f))
            opposite = (loss.slope(-y, f + h) - loss.slope(-y, f - h)) / (2 * h)
            expected = likelihood * expected + (1 - likelihood) * opposite
        assert curvature == pytest.approx(expected, abs=1e-6)

    @given(t=st.floats(0, 1), f=scores)
    def test_the_soft_loss_is_the_expected_loss_and_has_its_derivatives(self, loss, t, f):
        f, h, one = np.asarray([f]), 1e-5, np.ones(1)
        expected = t * loss.value(one, f) + (1 - t) * loss.value(-one, f)
        np.testing.assert_allclose(loss.soft_value(t, f), expected, rtol=1e-12, atol=1e-12)
        slope, curvature = loss.soft_derivatives(t, f)
        difference = (loss.soft_value(t, f + h) - loss.soft_value(t, f - h)) / (2 * h)
        np.testing.assert_allclose(slope, difference, atol=5e-6 * (1 + abs(difference[0])))
        np.testing.assert_array_equal(curvature, loss.derivatives(one, f)[1])

    @given(y=signs, f=scores, other=scores)
    def test_majorizer_lies_above_and_touches(self, loss, y, f, other):
        y, f, other = (np.asarray(v) for v in (y, f, other))
        slope, curvature = loss.model(y, f)

        def parabola(x):
            return loss.value(y, f) + slope * (x - f) + curvature / 2 * (x - f) ** 2

        assert parabola(other) >= loss.value(y, other) - 1e-9 * (1 + abs(parabola(other)))
        assert slope == pytest.approx(loss.slope(y, f), abs=1e-8)

    @given(y=signs, f=scores)
    def test_close_model_has_the_slope_of_the_loss_and_no_more_curvature(self, loss, y, f):
        y, f = np.asarray(y), np.asarray(f)
        slope, curvature = loss.model(y, f, safe=False)
        assert slope == pytest.approx(loss.slope(y, f), abs=1e-8)
        assert 0 < curvature <= loss.model(y, f)[1] + 1e-4


METHODS = (
    lambda loss, y, f: loss.value(y, f),
    lambda loss, y, f: loss.slope(y, f),
    lambda loss, y, f: loss.derivatives(y, f),
    lambda loss, y, f: loss.model(y, f),
    lambda loss, y, f: loss.model(y, f, safe=False),
)


@pytest.mark.parametrize("f", [0.0, 1e-9, 1e-5, 9.9e-5, 1.1e-4])
def test_logistic_weight_is_continuous_at_zero(f):
    _, curvature = LOSSES["logistic"].model(np.asarray(1.0), np.asarray(f))
    assert curvature == pytest.approx(0.25 - f**2 / 48, abs=1e-12)


def test_logistic_does_not_overflow():
    y, f = np.array([-1.0, 1.0]), np.array([1e4, -1e4])
    np.testing.assert_allclose(LOSSES["logistic"].value(y, f), [1e4, 1e4])
    np.testing.assert_allclose(LOSSES["logistic"].slope(y, f), [1.0, -1.0])


def test_squared_loss_is_its_own_model():
    assert Squared().model(np.asarray(1.0), np.asarray(0.3)) == (-0.7, 1.0)


@given(y=signs, f=scores)
def test_without_noise_the_noisy_loss_is_the_logistic_loss(y, f):
    y, f = np.asarray(y), np.asarray(f)
    noisy, plain = NoisyLogistic(np.asarray(0.0), np.asarray(0.0)), LOSSES["logistic"]
    for method in METHODS:
        np.testing.assert_allclose(method(noisy, y, f), method(plain, y, f), rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize(("alpha", "beta"), RATES)
def test_the_noisy_loss_is_the_negative_log_likelihood(alpha, beta):
    loss, f = NoisyLogistic(np.asarray(alpha), np.asarray(beta)), np.linspace(-5, 5, 11)
    positive, negative = np.exp(-loss.value(np.asarray(1.0), f)), np.exp(-loss.value(np.asarray(-1.0), f))
    np.testing.assert_allclose(positive, alpha + (1 - alpha - beta) * logistic(f))
    np.testing.assert_allclose(positive + negative, 1)


@pytest.mark.parametrize(("alpha", "beta"), RATES)
def test_the_slope_of_the_noisy_loss_is_that_of_the_expected_true_label(alpha, beta):
    loss, f = NoisyLogistic(np.asarray(alpha), np.asarray(beta)), np.linspace(-5, 5, 11)
    true = logistic(f) * (1 - beta) / (logistic(f) * (1 - beta) + (1 - logistic(f)) * alpha)
    np.testing.assert_allclose(loss.slope(np.ones(11), f), logistic(f) - true, atol=1e-12)
    # A label with an unlikely score has almost no slope: it is probably wrong.
    far = loss.slope(np.asarray([1.0, -1.0]), np.asarray([-20.0, 20.0]))
    np.testing.assert_allclose(far, [-1.0 if alpha == 0 else 0.0, 1.0 if beta == 0 else 0.0], atol=1e-5)


def test_rates_of_labels_or_entries_are_those_of_their_scores():
    rng = np.random.default_rng(0)
    alpha, beta = rng.random((2, 4)) / 2
    Y, F = rng.choice([-1.0, 1.0], size=(6, 4)), 3 * rng.normal(size=(6, 4))
    by_label = NoisyLogistic(alpha, beta)
    by_entry = NoisyLogistic(np.tile(alpha, (6, 1)), np.tile(beta, (6, 1)))
    keep = np.array([2, 0])
    for method in METHODS:
        expected = np.asarray(method(by_label, Y, F))
        np.testing.assert_allclose(method(by_entry, Y, F), expected)
        for loss in (by_label, by_entry):
            columns = method(loss.columns(keep), Y[:, keep], F[:, keep])
            np.testing.assert_allclose(columns, expected[..., keep])
        single = [np.asarray(a, dtype=np.float32) for a in (alpha, beta, Y, F)]
        result = np.asarray(method(NoisyLogistic(*single[:2]), *single[2:]))
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-5)
        tensors = [torch.from_numpy(a) for a in (alpha, beta, Y, F)]
        result = method(NoisyLogistic(*tensors[:2]), *tensors[2:])
        np.testing.assert_allclose(torch.stack(result) if isinstance(result, tuple) else result, expected)


def test_the_noisy_loss_does_not_overflow():
    loss, f = NoisyLogistic(np.asarray(0.1), np.asarray(0.2)), np.array([-1e4, 1e4])
    np.testing.assert_allclose(loss.value(np.ones(2), f), -np.log([0.1, 0.8]))
    np.testing.assert_allclose(loss.value(-np.ones(2), f), -np.log([0.9, 0.2]))
    assert np.isfinite(NoisyLogistic(np.asarray(0.0), np.asarray(0.0)).derivatives(np.ones(2), f)).all()
