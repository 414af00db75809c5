"""With few observed entries, estimators compute on these entries only, and find the same solution."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld import GLOCAL, LEML, SPMLD, MaskedLogistic, MaskedRidge
from spmld.model_selection.samples import Samples

RNG = np.random.default_rng(0)
X = sp.csr_array(sp.random(3000, 4000, density=0.01, random_state=0))
SIGNS = np.sign(X @ RNG.normal(size=(4000, 30)) @ RNG.normal(size=(30, 12)) + 0.1)
Y = np.where(RNG.random(SIGNS.shape) < 0.05, (SIGNS > 0).astype(float), np.nan)
TRUSTED = ~np.isnan(Y) & (RNG.random(Y.shape) < 0.1)

each_estimator = pytest.mark.parametrize(
    "estimator",
    [
        MaskedLogistic(tol=1e-8),
        MaskedLogistic(tol=1e-8, false_positive_rate=0.1, false_negative_rate=0.05),
        MaskedRidge(tol=1e-8),
        LEML(n_components=3, random_state=0, tol=1e-6, max_iter=30),
        GLOCAL(n_components=3, random_state=0, max_iter=5, tol=None),
        SPMLD(n_components=3, random_state=0, max_iter=5, tol=None),
    ],
    ids=lambda estimator: type(estimator).__name__,
)


def fit(estimator, monkeypatch, observed_only):
    """Fit with or without the missing entries, and return the scores."""
    stored, make_problem = [], Samples.problem

    def make(*args, **options):
        problem = make_problem(*args, **{**options, "observed_only": observed_only})
        stored.append(problem.blocks[0].Y.ndim == 1)
        return problem

    monkeypatch.setattr(Samples, "problem", make)
    options = {"trusted": TRUSTED} if estimator.uses_trusted() else {}
    scores = estimator.fit(X, Y, **options).decision_function(X)
    monkeypatch.undo()
    assert stored == [observed_only]
    return scores


@each_estimator
def test_the_solution_does_not_depend_on_the_algorithm(estimator, monkeypatch):
    expected, scores = (fit(estimator, monkeypatch, observed_only) for observed_only in (False, True))
    np.testing.assert_allclose(scores, expected, atol=1e-3 * np.abs(expected).max())


@each_estimator
def test_few_entries_are_noticed(estimator, monkeypatch):
    """The default is the algorithm on the observed entries for large data with few of them, and on all otherwise."""
    shapes = []

    def stop(*args, **options):
        shapes.append(options["observed_only"])
        raise StopIteration

    monkeypatch.setattr(Samples, "problem", stop)
    for labels in (Y, np.where(np.isnan(Y), 0, Y)):
        with pytest.raises(StopIteration):
            estimator.fit(sp.hstack([X, sp.csr_array((3000, 30_000))]).tocsr() if labels is Y else X[:, :50], labels)
    assert shapes == [True, False]
