"""Fits with row blocks in threads: the result of one thread."""

import threading

import numpy as np
import pytest

from spmld import GLOCAL, SPMLD
from spmld._threads import thread_map
from spmld.core.problem import Engine
from spmld.datasets import make_planted
from spmld.labels import hide_labels

DATA = make_planted(n_samples=1001, random_state=0)


@pytest.mark.parametrize("observed", [0.05, 0.6])
@pytest.mark.parametrize(
    "model", [GLOCAL(random_state=0), SPMLD(random_state=0)], ids=lambda model: type(model).__name__
)
def test_threads_do_not_change_the_fit(model, observed):
    Y = hide_labels(DATA.Y, observed_fraction=observed, random_state=0)
    expected = model.set_params(n_jobs=None).fit(DATA.X, Y).decision_function(DATA.X)
    scores = model.set_params(n_jobs=3).fit(DATA.X, Y).decision_function(DATA.X)
    np.testing.assert_allclose(scores, expected, atol=1e-6 * np.abs(expected).max())
    assert model.latent_labels_.shape[0] == 1001


def test_blocks_run_at_the_same_time_and_sums_keep_their_order():
    barrier = threading.Barrier(3, timeout=20)
    with thread_map(3) as over:
        engine = Engine(over)

        def wait(x):
            barrier.wait()  # is passed only if three blocks run at once
            return x

        assert engine.map(wait, "abc") == ("a", "b", "c")
        assert engine.sum(lambda x: x, "abcdef") == "abcdef"
        with pytest.raises(ZeroDivisionError):
            engine.map(lambda x: 1 // x, [1, 0])
