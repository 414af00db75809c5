"""Features and entry weights of any size: the same fit as at scale 1, or an error that says what to do."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.exceptions import ConvergenceWarning

from spmld import (
    GLOCAL,
    LEML,
    MLLRC,
    SPMLD,
    LabelPrior,
    MaskedBoosting,
    MaskedForest,
    MaskedLogistic,
    MaskedRidge,
    SelfPacedClassifier,
    SelfPacedEnsemble,
)
from spmld.estimators import FeatureScaler
from spmld.estimators.transformers import LandmarkFeatures
from spmld.metrics import macro_auc

from .cases import ESTIMATORS, make

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, :3] + 0.1 * RNG.normal(size=(60, 3)) > 0).astype(float)
SPARSE = sp.csr_array(np.where(RNG.random((60, 4)) < 0.3, X, 0))
TINY, HUGE = 2.0**-980, 2.0**490  # powers of two, so that products are exact


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("features", [1e160 * X, sp.csr_array(1e200 * X), (1e19 * X).astype(np.float32)])
def test_features_whose_squares_overflow_raise_in_fit_and_predict(cls, features):
    message = "X contains values too large for float.*scale the features first"
    with pytest.raises(ValueError, match=message):
        cls().fit(features, Y)
    if cls is not SelfPacedEnsemble:  # a fit takes long, and the same function checks its features
        with pytest.raises(ValueError, match=message):
            make(cls).fit(X, Y).predict_proba(features)


@pytest.mark.parametrize("model", [MaskedBoosting(n_estimators=3), MaskedForest(n_estimators=3)])
@pytest.mark.parametrize("features", [1e100 * X, sp.csr_array(1e100 * X)])
def test_features_beyond_the_precision_of_trees_raise_in_fit_and_predict(model, features):
    message = "X contains values too large for float32, got .*e\\+100; scale the features first"
    with pytest.raises(ValueError, match=message):
        model.fit(features, Y)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y).predict_proba(features)


@pytest.mark.parametrize(
    ("cls", "params", "message"),
    [
        (MaskedLogistic, {"C": 1e-320}, "C must have a size between 1e-100 and 1e.100, got 1e-320"),
        (MaskedBoosting, {"learning_rate": 1e308}, r"learning_rate.*in the range \(0.*1"),
        (MaskedBoosting, {"l2_regularization": 1e308}, "l2_regularization must have a size between"),
        (LabelPrior, {"smoothing": 1e308}, "smoothing must have a size between"),
        (GLOCAL, {"coupling": 1e308}, "coupling must have a size between"),
        (GLOCAL, {"n_groups": 2**70}, "n_groups must be an integer of at most 64 bits, got 11805"),
        (MaskedForest, {"min_samples_leaf": 2**63}, "min_samples_leaf must be an integer of at most 64 bits"),
    ],
)
def test_extreme_parameters_raise(cls, params, message):
    with pytest.raises(ValueError, match=message):
        cls(**params).fit(X, Y)


@pytest.mark.parametrize("scale", [TINY, HUGE])
@pytest.mark.parametrize("features", [X, SPARSE, torch.asarray(X)], ids=["dense", "sparse", "torch"])
def test_scaled_features_do_not_depend_on_the_scale(features, scale):
    for transformer in (FeatureScaler(), FeatureScaler(center=False), LandmarkFeatures(10, random_state=0)):
        expected, got = (transformer.fit_transform(factor * features) for factor in (1.0, scale))
        expected, got = (part.toarray() if sp.issparse(part) else np.asarray(part) for part in (expected, got))
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tiny_columns_count_as_much_as_others(dtype):
    tiny = 2.0**-90 if dtype == np.float32 else TINY
    columns = np.array([1, tiny, 1, tiny], dtype=dtype)
    expected, got = (FeatureScaler().fit_transform(part) for part in (X.astype(dtype), X.astype(dtype) * columns))
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("scale", [TINY, HUGE])
@pytest.mark.parametrize("model", [GLOCAL(random_state=0), SPMLD(random_state=0), make(SelfPacedEnsemble)])
def test_models_that_standardize_do_not_depend_on_the_scale(model, scale):
    expected = model.fit(X, Y).decision_function(X)
    np.testing.assert_allclose(model.fit(scale * X, Y).decision_function(scale * X), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_leml_learns_from_huge_features(loss, fit_intercept):
    for scale in (1e8, 1e148):
        model = LEML(loss=loss, fit_intercept=fit_intercept, random_state=0).fit(scale * X, Y)
        assert macro_auc(Y, model.decision_function(scale * X)) > 0.95


@pytest.mark.parametrize("cls", [GLOCAL, SPMLD])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_only_ratios_of_entry_weights_matter_to_latent_models(cls, dtype):
    weights = RNG.uniform(0.5, 1.5, size=Y.shape)
    weights /= weights.mean()
    expected = cls(random_state=0).fit(X.astype(dtype), Y, entry_weight=weights).decision_function(X.astype(dtype))
    for scale in (1e-100, 1e14):
        model = cls(random_state=0).fit(X.astype(dtype), Y, entry_weight=scale * weights)
        np.testing.assert_allclose(model.decision_function(X.astype(dtype)), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("cls", ESTIMATORS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_finite_with_entry_weights_of_mixed_magnitude(cls, dtype):
    if cls is SelfPacedEnsemble and dtype == np.float64:
        pytest.skip("a fit takes long; single precision is the harder case")
    weights = np.where(np.random.default_rng(1).random(Y.shape) < 0.5, 1e15, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(cls).fit(X.astype(dtype), Y, entry_weight=weights)
    assert np.isfinite(model.decision_function(X.astype(dtype))).all()
    assert np.isfinite(model.predict_proba(X.astype(dtype))).all()


@pytest.mark.parametrize("cls", [GLOCAL, MaskedLogistic, MaskedRidge, SelfPacedClassifier])
def test_larger_entry_weights_raise(cls):
    with pytest.raises(ValueError, match=r"entry_weight must be in \[0, 1e\+15\] .*got values from 0 to 1e\+50"):
        cls().fit(X, Y, entry_weight=np.where(Y > 0, 1e50, 0))


@pytest.mark.parametrize("cls", [LEML, MLLRC, MaskedLogistic, MaskedRidge])
@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e10), (np.float64, 1e140)])
def test_linear_models_learn_from_huge_features_and_weights(cls, dtype, scale):
    features = (scale * X).astype(dtype)
    model = make(cls).fit(features, Y, entry_weight=np.full(Y.shape, 1e15))
    assert macro_auc(Y, model.decision_function(features)) > 0.95


@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_weights_and_penalty_of_linear_models_have_no_unit(factor):
    weights = np.random.default_rng(1).uniform(0.5, 1.5, size=Y.shape)
    for model, penalty in ((LEML(random_state=0), "alpha"), (MaskedRidge(), "alpha"), (MaskedLogistic(), "C")):
        expected = model.fit(X, Y, entry_weight=weights).decision_function(X)
        value = getattr(model, penalty) * (factor if penalty == "alpha" else 1 / factor)
        model.set_params(**{penalty: value}).fit(X, Y, entry_weight=factor * weights)
        np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-4)
