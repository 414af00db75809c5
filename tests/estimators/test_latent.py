"""GLOCAL and SPMLD: reductions to known methods, invariances, array libraries, presets."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from spmld import GLOCAL, SPMLD
from spmld.core.latent_solver import solve_spmld
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.model_selection.samples import Samples
from spmld.pacing import GeometricSchedule, GroupSparsePacing, QuantileSchedule

ESTIMATORS = [GLOCAL, SPMLD]
LOSSES = ["squared", "logistic"]


@pytest.fixture(scope="module")
def data():
    planted = make_planted(n_samples=200, n_features=8, n_labels=6, random_state=0)
    planted.hidden = hide_labels(planted.Y, observed_fraction=0.6, random_state=0)
    return planted


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("solver", ["exact", "descent"])
def test_spmld_with_all_weights_one_is_glocal(loss, solver, data):
    options = {"loss": loss, "solver": solver, "n_warmup_iter": 2, "max_iter": 10, "tol": None, "random_state": 0}
    everything = GroupSparsePacing(schedule=QuantileSchedule(start=1.0, stop=1.0))
    paced = SPMLD(pacing=everything, **options).fit(data.X, data.hidden)
    plain = GLOCAL(**options).fit(data.X, data.hidden)
    assert (paced.self_paced_weights_ == 1).all()
    np.testing.assert_allclose(paced.decision_function(data.X), plain.decision_function(data.X), atol=1e-8)


def test_one_latent_label_per_label_approaches_least_squares(data):
    """Without correlation, with k = l and almost no penalty, the model is a linear regression for each label."""
    options = {"global_correlation": 0, "local_correlation": 0, "ridge": 1e-3, "feature_ridge": 1e-6, "coupling": 10}
    model = GLOCAL(n_components=6, rescale=False, loss="squared", tol=1e-10, max_iter=3000, random_state=0, **options)
    model.fit(data.X, data.Y)
    regression = LinearRegression().fit(data.X, 2 * data.Y - 1)
    np.testing.assert_allclose(model.decision_function(data.X), regression.predict(data.X), atol=1e-3)
    np.testing.assert_allclose(model.coef_, regression.coef_, atol=1e-3)


def test_mostly_zero_dense_matrix_is_converted_to_sparse():
    data = make_planted(n_samples=600, n_features=200, n_labels=4, random_state=0)
    X = data.X * (np.random.default_rng(0).random(data.X.shape) < 0.05)
    dense, sparse = (GLOCAL(random_state=0).fit(x, data.Y) for x in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(dense.coef_, sparse.coef_)


def test_half_precision_and_tracked_tensors_are_accepted(data):
    X, Y = torch.from_numpy(data.X), torch.from_numpy(data.hidden)
    half = GLOCAL(random_state=0).fit(X.half(), Y)
    assert half.label_factors_.dtype == torch.float32
    assert half.predict(X.bfloat16()).shape == Y.shape
    tracked = GLOCAL(random_state=0).fit(X.requires_grad_(True), Y)
    assert not tracked.label_factors_.requires_grad
    words = np.where(data.Y[:, 0] > 0, "yes", "no")
    assert set(GLOCAL(random_state=0).fit(X, words).predict(X)) == {"yes", "no"}
    named = GLOCAL(random_state=0).fit(pd.DataFrame(data.X, columns=list("abcdefgh")), Y)
    assert not hasattr(named.fit(X[:, :5], Y), "feature_names_in_")


def test_invalid_tensors_raise(data):
    X, Y = torch.from_numpy(data.X), torch.from_numpy(data.hidden)
    with pytest.raises(ValueError, match="a torch tensor X must be dense"):
        GLOCAL().fit(X.to_sparse(), Y)
    with pytest.raises(ValueError, match="NaN or infinity"):
        GLOCAL().fit(X * torch.inf, Y)
    with pytest.raises(ValueError, match="shape"):
        GLOCAL().fit(X[0], Y)
    with pytest.raises(ValueError, match="3 features, but GLOCAL is expecting 8"):
        GLOCAL(random_state=0).fit(X, Y).predict(X[:, :3])


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_same_seed_gives_the_same_fit_for_any_row_blocks(cls, data, monkeypatch):
    expected = cls(random_state=3).fit(data.X, data.hidden).coef_
    np.testing.assert_array_equal(cls(random_state=3).fit(data.X, data.hidden).coef_, expected)
    make_problem, counts = Samples.problem, []

    def in_small_blocks(*args, **options):
        problem = make_problem(*args, **options, block_rows=37)
        counts.append(problem.counts)
        return problem

    close = {"random_state": 3, "tol": 1e-12, "max_iter": 6}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        expected = cls(**close).fit(data.X, data.hidden).coef_
        monkeypatch.setattr(Samples, "problem", in_small_blocks)
        coef = cls(**close).fit(data.X, data.hidden).coef_
    assert counts == [(37, 37, 37, 37, 37, 15)]
    np.testing.assert_allclose(coef, expected, atol=1e-6)


def test_the_hardest_latent_entries_have_weight_zero(data):
    pacing = GroupSparsePacing(schedule=QuantileSchedule(start=0.3, stop=0.7, n_iter=3))
    model = SPMLD(pacing=pacing, coupling=0.3, random_state=0).fit(data.X, data.hidden)
    P = model.self_paced_weights_
    losses = (model.latent_labels_ - data.X @ model.feature_weights_ + model.latent_offsets_) ** 2
    assert P.mean() == pytest.approx(0.7, abs=0.01)
    for column, weight in zip(losses.T, P.T, strict=True):
        assert column[weight == 0].min() >= column[weight == 1].max()


def test_history_records_warm_up_and_pacing(data):
    model = SPMLD(random_state=0).fit(data.X, data.hidden)
    warm = [r for r in model.history_ if r["stage"] == "warm-up"]
    main = [r for r in model.history_ if r["stage"] == "main"]
    assert len(warm) == 2
    assert all(r["mean_weight"] == 1 and r["threshold"] is None for r in warm)
    assert [r["mean_weight"] for r in main[:4]] == pytest.approx([1 / 2, 2 / 3, 5 / 6, 1.0], abs=0.006)
    assert len(model.history_) == model.n_iter_
    assert model.converged_


def test_correlation_of_planted_labels_is_recovered():
    """Labels that always occur together have positive, labels that exclude each other negative correlation."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    a, b = X[:, 0] > 0, X[:, 1] > 0
    Y = np.column_stack([a, a, ~a, b])
    model = GLOCAL(global_correlation=10.0, local_correlation=0.0, feature_ridge=0.04, random_state=0).fit(X, Y)
    C = model.label_correlation()
    np.testing.assert_allclose(C, model.label_correlation(0), atol=1e-12)
    np.testing.assert_allclose(C, C.T)
    np.testing.assert_array_equal(np.diag(C), 1)
    assert C[0, 1] > 0.3
    assert C[0, 2] < -0.3
    assert C[1, 2] < -0.3


def test_global_correlation_is_the_mean_over_groups_by_size(data):
    model = GLOCAL(random_state=0, n_groups=3, local_correlation=1.0).fit(data.X, data.hidden)
    assert model.group_sizes_.sum() == len(data.X)
    assert (model.group_sizes_ > 0).all()
    weights = model.group_sizes_ / len(data.X)
    expected = sum(w * model.label_correlation(m) for m, w in enumerate(weights))
    np.testing.assert_allclose(model.label_correlation(), expected, atol=1e-12)
    with pytest.raises(ValueError, match="group must be None or an integer from 0 to 2, got 3"):
        model.label_correlation(3)


def test_strong_correlation_penalty_draws_correlated_labels_together():
    """The scores of two correlated labels become more similar as the penalty grows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] + rng.normal(size=400) > 0, X[:, 1] > 0])
    plain = GLOCAL(local_correlation=0, feature_ridge=0.04, random_state=0)
    weak, strong = (clone(plain).set_params(global_correlation=b).fit(X, Y) for b in (1e-9, 1e3))
    gap = [np.abs(m.decision_function(X)[:, 0] - m.decision_function(X)[:, 1]).mean() for m in (weak, strong)]
    assert gap[1] < gap[0]


def test_the_preset_of_the_paper_accepts_every_parameter():
    paper = SPMLD.paper()
    assert isinstance(paper.pacing.schedule, GeometricSchedule)
    assert (paper.solver, paper.fit_intercept, paper.loss) == ("exact", False, "squared")
    for name in paper.get_params(deep=False):
        mark = object()
        assert getattr(SPMLD.paper(**{name: mark}), name) is mark


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("rescale", [False, True])
def test_terms_have_the_documented_weights(cls, rescale, data):
    values = {"coupling": 2.0, "global_correlation": 3.0, "local_correlation": 5.0, "ridge": 7.0, "feature_ridge": 11.0}
    model = cls(rescale=rescale, n_components=4, n_groups=2, max_iter=1, tol=None, **values)
    objective = model.fit(data.X, data.hidden)._fitted_objective
    N, n, d, l, k, g = (~np.isnan(data.hidden)).sum(), *data.X.shape, 6, 4, 2
    sizes = {"a": n * k, "b1": n**2, "b2": (n / g) ** 2, "tU": l * k, "tV": n * k, "tW": d * k}
    factor = {name: N / size if rescale else 1.0 for name, size in sizes.items()}
    assert objective.coupling.a == pytest.approx(2 * factor["a"])
    assert objective.correlation.b1 == pytest.approx(3 * factor["b1"])
    assert objective.correlation.b2 == pytest.approx(5 * factor["b2"])
    assert objective.ridge.tU == pytest.approx(7 * factor["tU"])
    assert objective.ridge.tV == pytest.approx(7 * factor["tV"])
    assert objective.ridge.tW == pytest.approx(11 * factor["tW"])


def test_paper_converges_when_all_weights_are_one(data):
    model = SPMLD.paper(random_state=0).fit(data.X, data.hidden)
    assert model.converged_
    assert model.history_[-1]["mean_weight"] == 1
    assert any(record["mean_weight"] < 0.9 for record in model.history_)


def test_extrapolation_speeds_up_convergence(monkeypatch):
    from spmld.estimators import glocal

    data = make_planted(n_samples=600, n_features=30, n_labels=15, random_state=0)
    Y = hide_labels(data.Y, 0.4, random_state=0)

    def objective(**options):
        return GLOCAL(random_state=0, **options).fit(data.X, Y).history_[-1]["objective"]

    best, extrapolated = objective(tol=1e-7, max_iter=2000), objective(tol=None, max_iter=12)
    monkeypatch.setattr(
        glocal, "solve_spmld", lambda *args, **options: solve_spmld(*args, **{**options, "extrapolate": False})
    )
    plain = objective(tol=None, max_iter=12)
    assert extrapolated - best < 0.5 * (plain - best)
