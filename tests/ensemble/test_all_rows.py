"""Fits to more samples than are searched: they search a sample, and calibrate on held-out samples."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

import spmld
from spmld import HierarchicalClassifier, MaskedRidge, PerLabelClassifier, SelfPacedEnsemble
from spmld.app.commands.fitting import quality_metrics
from spmld.audit import find_label_issues
from spmld.core.losses import logistic
from spmld.datasets import make_planted
from spmld.ensemble import View
from spmld.ensemble.division import divide, draw_sample
from spmld.ensemble.trimming import kept_entries, trim
from spmld.estimators import FeatureScaler
from spmld.labels import read_labels
from spmld.metrics import log_loss, ranking_loss
from spmld.model_selection.samples import Samples
from spmld.monitoring import monitor

DATA = make_planted(n_samples=2000, n_labels=5, observed_fraction=0.8, random_state=0)
ORDER = np.random.default_rng(0).permutation(2000)
ALL_X, ALL_Y = DATA.X[ORDER], DATA.Y[ORDER]
X, Y, X_TEST, Y_TEST = ALL_X[:1200], ALL_Y[:1200], ALL_X[1200:], ALL_Y[1200:]
LINEAR = ("ridge", "linear")
EVERY = np.arange(1200)


def fitted(X=X, Y=Y, views=LINEAR, max_search_samples=300, **params):
    return SelfPacedEnsemble(views=views, random_state=0, max_search_samples=max_search_samples, **params).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return fitted(keep_data=True)


def exact_ridge():
    return View("exact", FeatureScaler(), MaskedRidge(alpha=3.0, tol=1e-10, warm_start=True))


def divided(signs, max_samples=100, cv=3, X=None, similar="auto", seed=0):
    signs = np.asarray(signs, dtype=np.int8)
    X = np.arange(float(len(signs)))[:, None] if X is None else X
    labels = read_labels(np.where(signs == 0, np.nan, signs > 0))
    return divide(Samples(X, labels, labels.observed), max_samples, cv, similar, np.random.RandomState(seed))


def test_a_fit_that_may_search_all_samples_is_the_fit_without_a_limit():
    limited, unlimited = fitted(X[:300], Y[:300]), fitted(X[:300], Y[:300], max_search_samples=None)
    np.testing.assert_array_equal(limited.decision_function(X_TEST), unlimited.decision_function(X_TEST))
    np.testing.assert_array_equal(limited.out_of_fold_scores_, unlimited.out_of_fold_scores_)
    np.testing.assert_array_equal(limited.search_samples_, np.arange(300))
    assert len(limited.held_out_samples_) == 0


def test_samples_are_fitted_or_held_out_and_no_held_out_sample_is_searched():
    signs = np.where(np.random.default_rng(0).random((1000, 4)) < [0.5, 0.2, 0.1, 0.01], 1, -1)
    division = divided(signs)
    np.testing.assert_array_equal(np.sort(np.append(division.fitted, division.held_out)), np.arange(1000))
    assert (len(division.searched), len(division.held_out)) == (100, 200)
    assert not set(division.searched) & set(division.held_out)
    assert set(division.searched) <= set(division.fitted)
    held_out, total = ((signs[rows] > 0).sum(axis=0) for rows in (division.held_out, slice(None)))
    assert (np.abs(held_out - total / 5) < 1).all()


def test_rare_labels_keep_ten_positives():
    signs = np.where(np.random.default_rng(0).random((2000, 3)) < [0.3, 0.012, 0.003], 1, -1)
    division = divided(signs)
    available = (signs[division.fitted] > 0).sum(axis=0)
    kept = (signs[division.searched] > 0).sum(axis=0)
    assert (kept >= np.minimum(available, 10)).all()
    assert available[2] < 10 < available[1]


def test_verified_samples_are_searched():
    trusted = np.arange(1000)[:, None] < 40
    signs = np.where(np.arange(1000)[:, None] % 2, 1, -1)
    chosen = draw_sample(signs, 100, np.random.RandomState(0), np.arange(1000), trusted, np.arange(10))
    assert set(range(10, 40)) <= set(chosen)
    assert len(chosen) == 100


def test_copies_are_on_the_same_side():
    signs = np.where(np.random.default_rng(0).random((500, 4)) < 0.3, 1, -1)
    order = np.random.default_rng(1).permutation(1000)
    sample = np.tile(np.arange(1.0, 501.0), 2)[order]
    division = divided(np.vstack([signs, signs])[order], X=sample[:, None])
    assert (division.similar_samples, division.n_repeated) == ("together", 500)
    for rows in (division.searched, division.fitted, division.held_out):
        assert (np.unique(sample[rows], return_counts=True)[1] == 2).all()
    assert divided(np.vstack([signs, signs])[order], X=sample[:, None], similar="apart").similar_samples == "apart"


def test_folds_of_all_samples_are_kept_in_the_search_and_in_the_division():
    """Samples of a group are in the same fold: none of a held-out sample's group is fitted."""
    group = EVERY // 40
    cv = [(np.flatnonzero(group % 4 != k), np.flatnonzero(group % 4 == k)) for k in range(4)]
    division = divided(np.where(Y == 1, 1, -1), 300, cv)
    assert not set(group[division.held_out]) & set(group[division.fitted])
    for train, test in division.cv:
        assert not set(group[division.searched[train]]) & set(group[division.searched[test]])
    assert sum(len(test) for _, test in division.cv) == len(division.searched) == 300
    model = fitted(cv=cv)
    assert ranking_loss(Y_TEST, model.decision_function(X_TEST)) < 0.1
    assert not set(model.held_out_samples_) & set(model.search_samples_)
    assert len(fitted(cv=KFold(5)).held_out_samples_) == 120


def test_views_that_start_from_their_last_fit_are_fitted_to_all_samples():
    model = fitted(views=[exact_ridge()], keep_fraction=1.0, keep_data=True)
    scaled, exact = model.transformers_["exact"].transform(X), MaskedRidge(alpha=3.0, tol=1e-10)
    rest = np.setdiff1d(EVERY, model.held_out_samples_)
    (held_out,) = model.training_data_.estimators["exact"]
    np.testing.assert_allclose(held_out.coef_, clone(exact).fit(scaled[rest], Y[rest]).coef_, atol=1e-7)
    np.testing.assert_allclose(model.estimators_["exact"].coef_, exact.fit(scaled, Y).coef_, atol=1e-7)
    scaler = FeatureScaler().fit(X[model.search_samples_])
    np.testing.assert_array_equal(model.transformers_["exact"].mean_, scaler.mean_)


def test_other_views_are_fitted_to_all_samples_that_are_not_held_out():
    view = View("bayes", FeatureScaler(), PerLabelClassifier(GaussianNB()))
    model = fitted(views=[view], keep_fraction=1.0)
    rest = np.setdiff1d(EVERY, model.held_out_samples_)
    scaled = model.transformers_["bayes"].transform(X)
    expected = clone(view.estimator).fit(scaled[rest], Y[rest]).decision_function(scaled)
    np.testing.assert_allclose(model.estimators_["bayes"].decision_function(scaled), expected)


def test_trees_of_all_samples_are_grown_from_all_samples(monkeypatch):
    from spmld.ensemble import views

    monkeypatch.setattr(views, "MAX_TREE_SAMPLES", 100)
    trees = fitted(views=("boosting",), n_trees=(20,)).estimators_["boosting"]
    assert trees.max_samples is None
    assert not trees.keep_decisions


def test_held_out_samples_have_the_scores_of_the_model_up_to_their_own_labels(model):
    scored = ~np.isnan(model.out_of_fold_scores_).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(scored), model.held_out_samples_)
    assert np.isnan(model.out_of_fold_scores_[~scored]).all()
    rows = model.held_out_samples_
    p, p_out = model.predict_proba(X[rows]), logistic(model.out_of_fold_scores_[rows])
    assert 0 < np.abs(p - p_out).mean() < 0.03


def test_probabilities_are_calibrated_on_all_samples(model):
    p = model.predict_proba(X_TEST)
    frequency = np.nanmean(Y_TEST, axis=0)
    assert np.abs(p.mean(axis=0) - frequency).max() < 0.05
    everything = fitted(max_search_samples=None)
    assert log_loss(Y_TEST, p) < log_loss(Y_TEST, everything.predict_proba(X_TEST)) + 0.02


def test_held_out_scores_of_noise_predict_nothing():
    noise = np.random.default_rng(0).integers(0, 2, Y.shape).astype(float)
    model = fitted(Y=noise)
    assert ranking_loss(noise[model.held_out_samples_], model.out_of_fold_scores_[model.held_out_samples_]) > 0.4


def test_trimming_judges_all_samples_by_models_that_have_not_seen_them():
    model = fitted(views=("ridge",), keep_fraction=0.8)
    kept, observed = model.self_paced_weights_ == 1, ~np.isnan(Y)
    assert not kept[~observed].any()
    for sign, fraction in ((1, 0.8), (0, 1 - 0.3 * 0.2)):
        rest = np.setdiff1d(EVERY, model.search_samples_)
        for rows, tolerance in ((model.search_samples_, 0.03), (rest, 0.1)):
            assert kept[rows][Y[rows] == sign].mean() == pytest.approx(fraction, abs=tolerance)
    wrong = np.where(np.random.default_rng(0).random(Y.shape) < 0.1, 1 - Y, Y)
    weights = fitted(Y=wrong, views=("ridge",), keep_fraction=0.8).self_paced_weights_
    flipped = (wrong != Y) & observed
    assert 1 - weights[flipped].mean() > 3 * (1 - weights[observed & ~flipped].mean())
    trusted = np.arange(1200) % 2 == 0
    model = SelfPacedEnsemble(views=("ridge",), keep_fraction=0.8, max_search_samples=300, random_state=0)
    weights = model.fit(X, np.where(trusted[:, None], Y, wrong), trusted=trusted).self_paced_weights_
    np.testing.assert_array_equal(weights[trusted], observed[trusted])


def test_trimming_by_limits_is_trimming_by_quantiles():
    rng = np.random.default_rng(0)
    scores, signs = rng.normal(size=(200, 3)), rng.integers(-1, 2, (200, 3)).astype(np.int8)
    kept = trim(scores, signs, 0.7)
    assert [kept[signs[:, j] > 0, j].sum() for j in range(3)] == np.ceil(0.7 * (signs > 0).sum(axis=0)).tolist()
    labels = read_labels(np.where(signs == 0, np.nan, signs > 0))
    np.testing.assert_array_equal(kept_entries(scores, Samples(scores, labels, labels.observed), 0.7), kept)


def test_monitoring_compares_with_held_out_samples(model):
    assert model.reference_.n_samples == len(model.held_out_samples_)
    assert not monitor(model, X_TEST).alarm
    assert monitor(model, X_TEST + 2.0).alarm


def test_an_update_fits_all_samples_and_calibrates_on_held_out_ones(model, tmp_path):
    spmld.save(model, tmp_path / "model.skops")
    updated = spmld.load(tmp_path / "model.skops")
    np.testing.assert_array_equal(updated.search_samples_, model.search_samples_)
    assert updated.training_data_.samples.shape[0] == 1200
    updated.update(X_TEST[:400], Y_TEST[:400])
    assert updated.training_data_.samples.shape[0] == 1600
    fold = updated.training_data_.fold
    np.testing.assert_array_equal(np.flatnonzero(fold[:1200] == 0), model.held_out_samples_)
    assert 50 < np.count_nonzero(fold[1200:] == 0) < 110
    scored = ~np.isnan(updated.out_of_fold_scores_).any(axis=1)
    np.testing.assert_array_equal(scored, fold == 0)
    before, after = (ranking_loss(Y_TEST[400:], m.decision_function(X_TEST[400:])) for m in (model, updated))
    assert after < before + 0.01
    wrong = model.search_samples_[:100]
    again = updated.update(X[wrong], 1 - Y[wrong], samples=wrong)
    assert log_loss(Y_TEST[400:], again.predict_proba(X_TEST[400:])) < 0.6


def test_an_update_of_a_fit_to_all_samples_equals_a_fit_with_the_same_settings():
    model = fitted(views=[exact_ridge()], keep_data=True, keep_fraction=1.0).update(X_TEST, Y_TEST)
    scaled = model.transformers_["exact"].transform(ALL_X)
    expected = MaskedRidge(alpha=3.0, tol=1e-10).fit(scaled, ALL_Y)
    np.testing.assert_allclose(model.estimators_["exact"].coef_, expected.coef_, atol=1e-7)


@pytest.mark.filterwarnings("ignore::spmld.labels.LabelWarning")
def test_hierarchies_project_the_scores_of_held_out_samples():
    base = SelfPacedEnsemble(views=LINEAR, max_search_samples=300, random_state=0)
    model = HierarchicalClassifier(base, {0: [1]}).fit(X, Y)
    p = logistic(model.out_of_fold_scores_)
    scored = ~np.isnan(p).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(scored), model.estimator_.held_out_samples_)
    assert (p[scored, 1] <= p[scored, 0] + 1e-9).all()


def test_an_audit_scores_all_observed_entries():
    issues = find_label_issues(SelfPacedEnsemble(views=("ridge",), max_search_samples=300, random_state=0), X, Y, cv=2)
    assert np.isfinite(issues.log_odds[~np.isnan(Y)]).all()


@pytest.mark.parametrize("change", [sp.csr_array, pd.DataFrame], ids=["sparse", "frame"])
def test_other_forms_of_the_data(change):
    plain, other = fitted(), fitted(X=change(X))
    np.testing.assert_array_equal(plain.search_samples_, other.search_samples_)
    p = other.predict_proba(change(X_TEST))
    np.testing.assert_allclose(p, plain.predict_proba(X_TEST), atol=0.05)


@pytest.mark.filterwarnings("ignore::spmld.labels.LabelWarning")
def test_positive_only_labels():
    model = fitted(Y=np.where(Y == 1, 1, np.nan))
    assert np.isfinite(model.class_prior_).all()
    assert ranking_loss(Y_TEST, model.decision_function(X_TEST)) < 0.15


def test_the_printed_quality_is_that_of_held_out_samples(model):
    rows = model.held_out_samples_
    metrics = quality_metrics(Y, model.out_of_fold_scores_)
    assert metrics["ranking_loss"] == pytest.approx(ranking_loss(Y[rows], model.out_of_fold_scores_[rows]), abs=1e-4)
