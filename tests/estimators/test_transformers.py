"""FeatureScaler, and models whose coefficients are converted back to the original features."""

import numpy as np
import pytest
import scipy.sparse as sp

from spmld import GLOCAL, SPMLD
from spmld.datasets import make_planted
from spmld.estimators import FeatureScaler
from spmld.estimators.transformers import LandmarkFeatures
from spmld.labels import hide_labels

torch = pytest.importorskip("torch", reason="needs the extra torch")

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(60, 7)) * [1, 10, 1e-3, 5, 1, 2, 3] + [0, 5, 1, -3, 0, 100, 0]
SPARSE = sp.random_array((50, 20), density=0.1, random_state=0, format="csr")
DATA = make_planted(n_samples=200, n_features=6, n_labels=5, random_state=0)
Y = hide_labels(DATA.Y, 0.6, random_state=0)


def square_norm(X):
    return np.mean(np.asarray(X.multiply(X).sum(axis=1) if sp.issparse(X) else (X**2).sum(axis=1)))


@pytest.mark.parametrize("X", [DENSE, SPARSE, SPARSE.toarray(), sp.csr_array(DENSE)])
@pytest.mark.parametrize("center", [True, False])
def test_samples_have_mean_square_norm_one(X, center):
    assert square_norm(FeatureScaler(center=center).fit_transform(X)) == pytest.approx(1)


def test_dense_features_have_mean_0_and_equal_variance():
    scaled = FeatureScaler().fit_transform(DENSE)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.var(axis=0), 1 / 7)
    uncentered = FeatureScaler(center=False).fit_transform(DENSE)
    np.testing.assert_allclose(uncentered / DENSE, np.broadcast_to(uncentered[0] / DENSE[0], DENSE.shape))


@pytest.mark.parametrize("X", [DENSE, SPARSE.toarray()])
def test_the_storage_format_does_not_matter(X):
    expected = FeatureScaler().fit_transform(X)
    sparse = FeatureScaler().fit_transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse.toarray() if sp.issparse(sparse) else sparse, expected)
    np.testing.assert_allclose(FeatureScaler().fit_transform(torch.from_numpy(X)).numpy(), expected)


def test_zeros_stay_zeros_and_new_samples_are_scaled_as_in_the_fit():
    scaled = FeatureScaler().fit_transform(SPARSE)
    np.testing.assert_array_equal(scaled.toarray() == 0, SPARSE.toarray() == 0)
    np.testing.assert_allclose(
        FeatureScaler().fit(DENSE).transform(DENSE[:3]), FeatureScaler().fit_transform(DENSE)[:3]
    )


@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_constant_feature_becomes_zero(value, dtype):
    """Because of rounding its variance is above 0, which must not be amplified."""
    X = np.column_stack([DENSE, np.full(60, value)]).astype(dtype)
    scaled = FeatureScaler().fit_transform(X)
    assert scaled.dtype == dtype
    np.testing.assert_allclose(scaled[:, -1], 0, atol=1e-3)


@pytest.mark.parametrize("X", [DENSE, SPARSE])
@pytest.mark.parametrize("center", [True, False])
def test_weights_of_scaled_and_of_original_features_agree(X, center):
    scaler, W = FeatureScaler(center=center).fit(X), RNG.normal(size=(X.shape[1], 3))
    weights, offsets = scaler.unscale(W)
    np.testing.assert_allclose(X @ weights - offsets, scaler.transform(X) @ W, atol=1e-10)


@pytest.mark.parametrize("cls", [GLOCAL, SPMLD])
def test_units_and_origins_of_features_do_not_matter(cls):
    units, origins = np.array([1, 10, 1e-3, 5, 1, 2]), np.array([0, 5, 1, -3, 0, 100])
    one, two = cls(random_state=0).fit(DATA.X, Y), cls(random_state=0).fit(units * DATA.X + origins, Y)
    X, other = DATA.X[:50], units * DATA.X[:50] + origins
    np.testing.assert_allclose(two.decision_function(other), one.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(two.complete(other, Y[:50])[1], one.complete(X, Y[:50])[1], atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"standardize": False}])
def test_coefficients_and_latent_labels_refer_to_the_original_features(options):
    X = DATA.X * [1, 10, 1e-3, 5, 1, 2] + 3
    model = SPMLD(random_state=0, coupling=100.0, **options).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_, atol=1e-9)
    followed = X @ model.feature_weights_ - model.latent_offsets_
    assert np.abs(model.latent_labels_ - followed).max() < 0.1 * np.abs(followed).max()
    if not options.get("fit_intercept", True):
        np.testing.assert_array_equal(model.intercept_, 0)


def test_frames_and_lists_are_accepted_and_the_number_of_features_is_checked():
    pd = pytest.importorskip("pandas")
    scaler = FeatureScaler().fit(pd.DataFrame(DENSE, columns=list("abcdefg")))
    assert list(scaler.feature_names_in_) == list("abcdefg")
    np.testing.assert_allclose(FeatureScaler().fit_transform(DENSE.tolist()), FeatureScaler().fit_transform(DENSE))
    with pytest.raises(ValueError, match="features"):
        FeatureScaler().fit(DENSE).transform(DENSE[:, :3])


@pytest.mark.parametrize("X", [DENSE, SPARSE])
def test_no_more_landmarks_than_samples(X):
    assert LandmarkFeatures(1000, random_state=0).fit_transform(X).shape == (X.shape[0], X.shape[0])


def test_features_of_landmarks_are_uncorrelated_on_the_training_samples():
    F = LandmarkFeatures(20, random_state=0).fit_transform(DENSE)
    np.testing.assert_allclose(F.T @ F, np.diag(np.sum(F**2, axis=0)), atol=1e-8)


def test_equal_landmarks_do_not_amplify_rounding_errors():
    X = np.repeat(DENSE, 2, axis=0)
    first, second = (LandmarkFeatures(120, random_state=0).fit_transform(A) for A in (X, X * (1 + 1e-14)))
    signs = np.sign(np.sum(first * second, axis=0))  # those of eigenvectors are arbitrary
    np.testing.assert_allclose(first, signs * second, atol=1e-9)
    # All samples are landmarks, so the inner products of the features are the kernel.
    np.testing.assert_allclose(np.sum(first * first, axis=1), 1)


def test_a_sorted_copy_does_not_change_the_features_of_the_caller():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([4, 0, 2]), np.array([0, 2, 3])), shape=(2, 9))
    before = X.toarray()
    FeatureScaler().fit_transform(X).sort_indices()
    np.testing.assert_array_equal(X.toarray(), before)
