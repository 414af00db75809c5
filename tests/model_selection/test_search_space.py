"""Search spaces: ranges include both bounds and are the same for all methods."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.model_selection import ParameterSampler

from spmld.model_selection.search_space import optuna_space, random_space


@given(st.integers(1, 50), st.integers(1, 50), st.integers(0, 100))
@settings(max_examples=10)
def test_ranges_of_integers_include_both_ends_and_nothing_else(low, width, seed):
    for range_ in ((low, low + width), (low, low + width, "log")):
        drawn = [p["k"] for p in ParameterSampler(random_space({"k": range_}), 60, random_state=seed)]
        assert all(isinstance(k, (int, np.integer)) and low <= k <= low + width for k in drawn)
    for range_ in ((low, low + 1), (low, low + 1, "log")):
        drawn = [p["k"] for p in ParameterSampler(random_space({"k": range_}), 60, random_state=seed)]
        assert set(drawn) == {low, low + 1}


def test_log_ranges_are_log_uniform():
    drawn = np.array([p["a"] for p in ParameterSampler(random_space({"a": (1e-4, 1.0, "log")}), 2000, random_state=0)])
    assert_allclose(np.quantile(np.log10(drawn), [0.25, 0.5, 0.75]), [-3, -2, -1], atol=0.15)
    drawn = np.array([p["a"] for p in ParameterSampler(random_space({"a": (2.0, 4.0)}), 2000, random_state=0)])
    assert_allclose(np.quantile(drawn, [0.25, 0.5, 0.75]), [2.5, 3, 3.5], atol=0.1)


def test_spaces_are_the_same_for_optuna():
    distributions = pytest.importorskip("optuna").distributions
    stepped = distributions.FloatDistribution(0, 1, step=0.5)
    space = {"a": (1, 8), "b": (1, 8, "log"), "c": (0.1, 1.0), "d": (0.1, 1.0, "log"), "e": ["x", None], "f": stepped}
    assert optuna_space(space) == {
        "a": distributions.IntDistribution(1, 8),
        "b": distributions.IntDistribution(1, 8, log=True),
        "c": distributions.FloatDistribution(0.1, 1.0),
        "d": distributions.FloatDistribution(0.1, 1.0, log=True),
        "e": distributions.CategoricalDistribution(["x", None]),
        "f": stepped,
    }
