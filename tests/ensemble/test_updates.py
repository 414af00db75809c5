"""Updates of a fitted ensemble: they equal a fit with the same settings, and keep what a fit guarantees."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import spmld
from spmld import MaskedRidge, SelfPacedEnsemble
from spmld.datasets import make_planted
from spmld.ensemble import View
from spmld.ensemble.updating import KeptData, corrected_rates
from spmld.estimators import FeatureScaler
from spmld.labels import Labels, corrupt_labels
from spmld.labels.encoding import SIGNS
from spmld.metrics import log_loss, macro_auc
from spmld.model_selection.samples import Samples
from spmld.monitoring import monitor
from spmld.noise import NoiseRates

DATA = make_planted(n_samples=700, n_labels=5, observed_fraction=0.8, random_state=0)
ORDER = np.random.default_rng(0).permutation(700)
X, Y = DATA.X[ORDER], pd.DataFrame(DATA.Y[ORDER], columns=list("abcde"))
OLD, NEW, TEST = slice(0, 300), slice(300, 500), X[500:]
LINEAR = ("linear", "ridge")


def fitted(X=X[OLD], Y=Y[OLD], views=LINEAR, **params):
    return SelfPacedEnsemble(views=views, keep_data=True, random_state=0, **params).fit(X, Y)


def exact_ridge():
    return View("exact", FeatureScaler(), MaskedRidge(alpha=3.0, tol=1e-10, warm_start=True))


def test_an_update_equals_a_fit_of_the_views_with_the_same_settings():
    model = fitted(views=[exact_ridge()]).update(X[NEW], Y[NEW])
    kept, scaled = model.training_data_, model.transformers_["exact"].transform(X[:500])
    np.testing.assert_array_equal(kept.samples.X, X[:500])
    expected = MaskedRidge(alpha=3.0, tol=1e-10).fit(scaled, Y[:500])
    np.testing.assert_allclose(model.estimators_["exact"].coef_, expected.coef_, atol=1e-7)
    for fold, estimator in enumerate(kept.estimators["exact"]):
        rest = kept.fold != fold
        expected = MaskedRidge(alpha=3.0, tol=1e-10).fit(scaled[rest], Y[:500][rest])
        np.testing.assert_allclose(estimator.coef_, expected.coef_, atol=1e-7)


@pytest.mark.parametrize(("views", "tolerance"), [(LINEAR, 0.01), ("auto", 0.01)])
def test_labels_that_are_corrected_by_themselves_change_nothing(views, tolerance):
    model = fitted(views=views)
    before = model.predict_proba(TEST)
    after = model.update(X[OLD], Y[OLD], samples=np.arange(300)).predict_proba(TEST)
    assert np.abs(after - before).mean() < tolerance
    again = model.update(X[OLD], Y[OLD], samples=np.arange(300)).predict_proba(TEST)
    np.testing.assert_allclose(again, after, atol=1e-9)


def test_the_order_of_new_samples_and_of_labels_does_not_matter():
    model, other = fitted(views="auto"), fitted(views="auto")
    rows = 300 + np.random.default_rng(1).permutation(200)
    model.update(X[NEW], Y[NEW])
    other.update(X[rows], Y.iloc[rows][list("cadbe")])
    assert other.label_names_ == list("abcde")
    np.testing.assert_allclose(other.predict_proba(TEST), model.predict_proba(TEST), atol=1e-6)


def test_missing_entries_are_not_used():
    observed = Y[NEW].notna().to_numpy()
    model = fitted().update(X[NEW], Y[NEW])
    other = fitted().update(X[NEW], Y[NEW].fillna(1.0), mask=observed)
    np.testing.assert_array_equal(other.predict_proba(TEST), model.predict_proba(TEST))
    model.update(
        X[OLD], Y[OLD].where(np.zeros((300, 5), dtype=bool) | (np.arange(300) == 0)[:, None]), samples=range(300)
    )
    np.testing.assert_allclose(model.predict_proba(TEST), other.predict_proba(TEST), atol=1e-9)


def test_sparse_and_dense_samples_can_be_mixed():
    positive = np.maximum(X, 0)
    sparse = fitted(sp.csr_array(positive[OLD])).update(positive[NEW], Y[NEW])
    expected = fitted(sp.csr_array(positive[OLD])).update(sp.csr_array(positive[NEW]), Y[NEW])
    assert sp.issparse(sparse.training_data_.samples.X)
    np.testing.assert_array_equal(sparse.predict_proba(TEST), expected.predict_proba(TEST))
    single = fitted(positive[OLD].astype(np.float32)).update(sp.csr_array(positive[NEW]), Y[NEW])
    assert single.training_data_.samples.X.dtype == np.float32


def test_a_loaded_model_is_updated_in_the_same_way(tmp_path):
    model = fitted(views="auto", keep_fraction=0.9)
    spmld.save(model, tmp_path / "model.skops")
    loaded = spmld.load(tmp_path / "model.skops")
    for part in (slice(300, 400), slice(400, 500)):
        model.update(X[part], Y[part])
        loaded.update(X[part], Y[part])
    np.testing.assert_array_equal(loaded.predict_proba(TEST), model.predict_proba(TEST))


def test_probabilities_follow_the_frequencies_of_new_samples():
    frequent = np.flatnonzero(Y["a"] == 1)
    frequent, test = frequent[frequent < 500], Y["a"][500:] == 1
    model = fitted(views="auto")
    before = model.predict_proba(TEST)[:, 0].mean()
    rows = np.concatenate([frequent, np.arange(300, 400)])
    rows = np.concatenate([rows[rows >= 300]] * 2 + [rows])
    jitter = 0.3 * np.random.default_rng(0).normal(size=(len(rows), X.shape[1]))
    model.update(X[rows] + jitter, Y.iloc[rows])
    p, kept = model.predict_proba(model.training_data_.samples.X)[:, 0], model.training_data_.samples.signs[:, 0]
    assert abs(p[kept != 0].mean() - (kept[kept != 0] > 0).mean()) < 0.03
    assert model.predict_proba(TEST)[:, 0].mean() > before + 0.03
    assert test.any()


def test_corrections_reach_the_quality_of_correct_labels():
    data = make_planted(n_samples=1600, n_labels=8, random_state=1)
    train, test = np.arange(0, 1600, 2), np.arange(1, 1600, 2)
    wrong = corrupt_labels(data.Y[train], "flip", 0.15, random_state=0)
    model = fitted(data.X[train], wrong, views=("linear",))
    assert model.likelihood_rates_.alpha.min() > 0.08
    before = log_loss(data.Y[test], model.predict_proba(data.X[test]))
    model.update(data.X[train], data.Y[train], samples=np.arange(len(train)))
    correct = fitted(data.X[train], data.Y[train], views=("linear",))
    after, expected = (log_loss(data.Y[test], m.predict_proba(data.X[test])) for m in (model, correct))
    assert model.likelihood_rates_.alpha.max() < 0.03
    assert after < before - 0.01
    assert after < expected + 0.005


def kept(signs, trusted):
    signs = np.array(signs, dtype=np.int8)
    samples = Samples(np.empty((len(signs), 0)), Labels(signs, SIGNS, trusted=np.array(trusted)), signs != 0)
    return KeptData(samples, np.zeros((*signs.shape, 0), dtype=bool), np.zeros(len(signs), dtype=int), np.array([]), {})


def test_noise_rates_decrease_by_the_corrected_errors():
    nothing, rates = np.zeros((10, 1), dtype=bool), NoiseRates(np.array([0.2]), np.array([0.0]))
    old = kept([[1]] * 2 + [[-1]] * 8, nothing)  # 10 true negatives, two of them false positives, as expected
    one = kept([[1]] + [[-1]] * 9, nothing)
    np.testing.assert_allclose(corrected_rates(rates, old, one).alpha, 0.2 * (1 - 1 / 1.8))
    both = kept([[-1]] * 10, nothing)
    np.testing.assert_allclose(corrected_rates(rates, old, both).alpha, 0)
    np.testing.assert_allclose(corrected_rates(rates, old, old).alpha, 0.2)
    half = np.arange(10)[:, None] % 2 == 0  # a random half is verified: the rate of the others stays
    np.testing.assert_allclose(corrected_rates(rates, old, kept([[-1], [1]] + [[-1]] * 8, half)).alpha, 0.2, atol=0.03)


def test_a_new_label_is_learned_and_calibrated():
    model = fitted(Y=Y[OLD][list("bcde")], views="auto").update(X[NEW], Y[NEW])
    assert model.label_names_ == list("bcdea")
    p, truth = model.predict_proba(TEST)[:, [4]], Y[["a"]][500:].to_numpy()
    alone = SelfPacedEnsemble(random_state=0).fit(X[NEW], Y[["a"]][NEW])
    assert macro_auc(truth, p) > macro_auc(truth, alone.predict_proba(TEST)) - 0.05
    assert abs(np.nanmean(truth) - p.mean()) < 0.06
    assert not monitor(model, TEST).alarm


def test_monitoring_compares_with_all_samples():
    shifted = X + 2.0
    model = fitted()
    assert monitor(model, shifted[500:]).alarm
    model.update(shifted[300:], Y[300:])
    assert model.reference_.n_samples == 700
    both = np.concatenate([X[500:570], shifted[500:600]])
    assert not monitor(model, both).features.alarm.any()


def test_identical_samples_are_in_the_same_fold():
    model = fitted()
    fold = model.training_data_.fold
    model.update(np.concatenate([X[OLD], X[NEW], X[NEW]]), pd.concat([Y[OLD], Y[NEW], Y[NEW]]))
    new = model.training_data_.fold[300:]
    np.testing.assert_array_equal(new[:300], fold)
    np.testing.assert_array_equal(new[300:500], new[500:])
    assert (np.bincount(new[300:500]) > 40).all()
    assert model.n_repeated_samples_ == 500


def test_trimmed_entries_stay_trimmed_unless_they_are_corrected():
    model = fitted(keep_fraction=0.8)
    trimmed = (model.self_paced_weights_ == 0) & Y[OLD].notna().to_numpy()
    sample, label = np.argwhere(trimmed)[0]
    correction = pd.DataFrame(np.nan, index=[0], columns=Y.columns)
    correction.iloc[0, label] = 1 - Y.iloc[sample, label]
    model.update(X[[sample]], correction, samples=[sample])
    trimmed[sample, label] = False
    np.testing.assert_array_equal((model.self_paced_weights_ == 0) & Y[OLD].notna().to_numpy(), trimmed)


def test_labels_that_are_passed_again_stay_trimmed_and_verified():
    observed = Y[OLD].notna().to_numpy()
    verified = observed & (np.arange(300)[:, None] < 50)
    model = SelfPacedEnsemble(views=("linear",), keep_data=True, keep_fraction=0.8, random_state=0)
    before = model.fit(X[OLD], Y[OLD], trusted=verified).training_data_
    after = model.update(X[OLD], Y[OLD], samples=np.arange(300)).training_data_
    assert before.trimmed[observed].any()
    np.testing.assert_array_equal(after.trimmed, before.trimmed)
    np.testing.assert_array_equal(after.trusted, verified)
    after = model.update(X[OLD], Y[OLD], samples=np.arange(300), trusted=observed).training_data_
    assert not after.trimmed[observed].any()


def test_one_label_in_its_own_words():
    words = np.where(Y["a"] == 1, "yes", "no")
    model = fitted(Y=words[OLD]).update(X[300:310], ["yes"] * 10)
    assert set(model.predict(TEST)) == {"yes", "no"}
    assert (model.training_data_.samples.signs[300:] == 1).all()


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (Y[NEW].assign(f=np.where(Y[NEW]["a"] == 1, 1, np.nan)), {}, "Label f: update needs observed negatives"),
        (Y[NEW].to_numpy()[:, :3], {}, "y must have the 5 labels of the model, got 3"),
        (Y[NEW], {"samples": np.full(200, 300)}, "from 0 to 299 for training samples and -1 for new ones"),
        (Y[NEW], {"samples": [0] * 200}, "must name each training sample once"),
        (Y[NEW] * 3, {}, "Y has values other than labels"),
    ],
)
def test_an_error_leaves_the_model_unchanged(y, options, message):
    model = fitted(views=("ridge",))
    state = vars(model).copy()
    with pytest.raises(ValueError, match=message):
        model.update(X[NEW], y, **options)
    assert all(vars(model)[name] is value for name, value in state.items())


def test_models_that_cannot_be_updated():
    with pytest.raises(ValueError, match="fit it with keep_data=True"):
        SelfPacedEnsemble(views=("ridge",)).fit(X[OLD], Y[OLD]).update(X[NEW], Y[NEW])
    with pytest.warns(spmld.labels.LabelWarning):
        positive_only = fitted(Y=Y[OLD].where(Y[OLD] == 1), views=("ridge",))
    with pytest.raises(ValueError, match="fit a model to all samples, which uses missing entries"):
        positive_only.update(X[NEW], Y[NEW])
