"""Losses: slopes equal finite differences, and majorizers touch the losses from above."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from spmld.core.losses import LOSSES, Squared

scores = st.floats(-30, 30)
signs = st.sampled_from([-1.0, 1.0])


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
class TestLoss:
    @given(y=signs, f=scores)
    def test_slope_is_the_derivative(self, loss, y, f):
        y, f, h = np.asarray(y), np.asarray(f), 1e-5
        expected = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
        assert loss.slope(y, f) == pytest.approx(expected, abs=5e-6 * (1 + abs(expected)))

    @given(y=signs, f=scores)
    def test_curvature_is_the_derivative_of_the_slope(self, loss, y, f):
        y, f, h = np.asarray(y), np.asarray(f), 1e-5
        assume(loss.name != "squared_hinge" or abs(y * f - 1) > h)
        expected = (loss.slope(y, f + h) - loss.slope(y, f - h)) / (2 * h)
        slope, curvature = loss.derivatives(y, f)
        assert curvature == pytest.approx(expected, abs=1e-6)
        assert slope == loss.slope(y, f)

    @given(y=signs, f=scores, other=scores)
    def test_majorizer_lies_above_and_touches(self, loss, y, f, other):
        y, f, other = (np.asarray(v) for v in (y, f, other))
        c, r = loss.majorizer(y, f)

        def parabola(x):
            return loss.value(y, f) + c / 2 * ((x - r) ** 2 - (f - r) ** 2)

        assert parabola(other) >= loss.value(y, other) - 1e-9 * (1 + abs(parabola(other)))
        assert c * (f - r) == pytest.approx(loss.slope(y, f), abs=1e-8)

    @given(y=signs, f=scores)
    def test_close_model_has_the_slope_of_the_loss_and_no_more_curvature(self, loss, y, f):
        y, f = np.asarray(y), np.asarray(f)
        c, r = loss.model(y, f)
        assert c * (f - r) == pytest.approx(loss.slope(y, f), abs=1e-8)
        assert 0 < c <= loss.majorizer(y, f)[0] + 1e-4


@pytest.mark.parametrize("f", [0.0, 1e-9, 1e-5, 9.9e-5, 1.1e-4])
def test_logistic_weight_is_continuous_at_zero(f):
    c, _ = LOSSES["logistic"].majorizer(np.asarray(1.0), np.asarray(f))
    assert c == pytest.approx(0.25 - f**2 / 48, abs=1e-12)


def test_logistic_does_not_overflow():
    y, f = np.array([-1.0, 1.0]), np.array([1e4, -1e4])
    np.testing.assert_allclose(LOSSES["logistic"].value(y, f), [1e4, 1e4])
    np.testing.assert_allclose(LOSSES["logistic"].slope(y, f), [1.0, -1.0])


def test_squared_loss_is_its_own_model():
    assert Squared().model(np.asarray(1.0), np.asarray(0.3)) == (1.0, 1.0)
