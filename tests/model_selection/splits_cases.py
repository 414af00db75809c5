"""Labels for the tests of splits, and the deviation of their folds from balanced ones."""

import numpy as np
from hypothesis import strategies as st

NAN = np.nan


def make_labels(n, l, missing=0.0, seed=0, low=0.02, high=0.4):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n, l)) < np.geomspace(low, high, l)).astype(float)
    Y[rng.random((n, l)) < missing] = NAN
    return Y


def counts(Y, tests):
    """Positives and observed entries of each label in each fold."""
    Y = np.asarray(Y, dtype=float)
    return np.array([(Y[t] == 1).sum(0) for t in tests]), np.array([(~np.isnan(Y[t])).sum(0) for t in tests])


def worst(table):
    """The largest deviation of a count from its mean."""
    return np.abs(table - table.mean(axis=0)).max()


@st.composite
def labels_and_folds(draw):
    n, l = draw(st.integers(2, 40)), draw(st.integers(1, 6))
    values = draw(st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=n * l, max_size=n * l))
    Y = np.array(values).reshape(n, l)
    Y[0, 0] = 1.0  # at least one entry must be observed
    return Y, draw(st.integers(2, min(n, 7))), draw(st.integers(0, 1000))
