"""Feature transformers: scaling, and similarities to landmarks."""

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import Matrix, features_to_numpy, namespace, on_accelerator
from spmld._validation import MAX_SEED, PositiveInt, RandomState, Validated
from spmld.core.scaling import dense, fit_scaling, inverse_root, on_device, power_of_two, scale, total_of, unscale
from spmld.estimators.inputs import check_features

MAX_LANDMARK_SAMPLES = 20_000
"""Maximum number of samples from which landmarks and their kernel are computed."""
MAX_DISTANCE_SAMPLES = 500
"""Maximum number of samples from which the median distance is computed."""


class _FeatureTransformer(TransformerMixin, Validated):
    """Base class of the transformers, which implement `_fit` and `_transform` of validated features."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer to an array, sparse matrix or torch tensor of shape (n_samples, n_features)."""
        self._validate_params()
        with self._new_state() as fitted:
            fitted._fit(check_features(fitted, X, reset=True))
        return self

    def transform(self, X: Any) -> Matrix:
        """Return the features of samples, which are of the same form as in `fit`."""
        check_is_fitted(self)
        return self._transform(check_features(self, X, reset=False))

    @abstractmethod
    def _fit(self, X: Any) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _transform(self, X: Any) -> Matrix:
        """Return the transformed features."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureScaler(_FeatureTransformer):
    """Scale features so that samples have mean square norm 1.

    The same penalty then suits all data sets. Dense features get mean 0 and equal variances. Features with mostly
    zeros are divided by a single number, because centering would fill a sparse matrix, and its features, such as word
    counts, are already on a common scale. This depends on the fraction of zeros, not on the format of X.

    Parameters
    ----------
    center : bool, default=True
        Whether to subtract the means of dense features. Otherwise they get equal mean squares.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,) or 0.0
        Means that are subtracted.
    factor_ : ndarray of shape (n_features,) or float
        Factors of the features; one number if most entries of X are zero.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.estimators import FeatureScaler
    >>> FeatureScaler().fit_transform([[1.0, 30.0], [3.0, 10.0]]) * np.sqrt(2)
    array([[-1.,  1.],
           [ 1., -1.]])
    """

    center: bool = True

    def _fit(self, X: Any) -> None:
        self.mean_, self.factor_ = fit_scaling(total_of(X), X.shape[0], X, self.center)

    def _transform(self, X: Any) -> Matrix:
        return scale(X, self.mean_, self.factor_)

    def unscale(self, W: Any) -> tuple[Any, Any]:
        """Convert weights of scaled features into weights of the original features.

        Parameters
        ----------
        W : array of shape (n_features, k)
            Weights of scaled features.

        Returns
        -------
        weights : array of shape (n_features, k)
            Weights of the original features.
        offsets : array of shape (k,)
            ``transform(X) @ W`` equals ``X @ weights - offsets``.
        """
        return unscale(W, self.mean_, self.factor_)


@dataclass(eq=False, repr=False)
class LandmarkFeatures(_FeatureTransformer):
    """Nystroem features of a Gaussian kernel: similarities to landmarks, which are training samples.

    The kernel compares directions: features get equal variances and samples unit length. Samples near the same
    landmarks form overlapping local groups, and a linear model has separate weights for each group. At most 20,000
    samples are used to fit the transformer.

    Parameters
    ----------
    n_landmarks : int, default=300
        Number of landmarks, limited to the number of training samples.
    random_state : int, RandomState or None, default=None
        Seed for the landmarks.

    Attributes
    ----------
    kernel_ : sklearn.kernel_approximation.Nystroem
        The fitted kernel approximation.
    mean_, factor_ : ndarray of shape (n_features,)
        Means that are subtracted (0 for a sparse X), and scale factors of the features.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from spmld.datasets import make_planted
    >>> from spmld.estimators.transformers import LandmarkFeatures
    >>> X = make_planted(n_samples=100, random_state=0).X
    >>> LandmarkFeatures(n_landmarks=20, random_state=0).fit_transform(X).shape
    (100, 20)
    """

    n_landmarks: PositiveInt = 300
    _: KW_ONLY
    random_state: RandomState = None

    def _fit(self, X: Any) -> None:
        rng = check_random_state(self.random_state)
        n = X.shape[0]
        X = features_to_numpy(X)
        if n > MAX_LANDMARK_SAMPLES:
            X = X[np.sort(rng.permutation(n)[:MAX_LANDMARK_SAMPLES])]
        if sp.issparse(X):
            unit = power_of_two(abs(X).max(axis=0).toarray().ravel(), X)
            scaled = X.multiply(1 / unit).tocsr()
            means = np.asarray(scaled.mean(axis=0)).ravel()
            variances = np.asarray(scaled.multiply(scaled).mean(axis=0)).ravel() - means**2
            self.mean_: Any = 0.0
        else:
            self.mean_ = X.mean(axis=0)
            unit, variances = _unit_and_variances(X - self.mean_)
        self.factor_ = inverse_root(np.maximum(variances, 0)) / unit
        directions = self.directions(X)
        drawn = directions[rng.permutation(X.shape[0])[:MAX_DISTANCE_SAMPLES]]
        cosines = dense(drawn @ drawn.T)
        # The width of the kernel is relative to the median of the squared distances.
        distance = max(float(np.median(2 - 2 * cosines)), 1e-3)
        n_landmarks = min(self.n_landmarks, X.shape[0])
        seed = rng.randint(MAX_SEED)
        self.kernel_ = Nystroem(gamma=0.7 / distance, n_components=n_landmarks, random_state=seed).fit(directions)
        # Equal landmarks make the kernel matrix singular, and its inverse root would amplify rounding errors, which
        # depend on the CPU: tiny eigenvalues are dropped.
        values, vectors = np.linalg.eigh(rbf_kernel(self.kernel_.components_, gamma=self.kernel_.gamma))
        roots = inverse_root(np.where(values > 1e-10 * values[-1], values, 0.0))
        self.kernel_.normalization_ = (vectors * roots).T
        # Uncorrelated features: solvers that scale each feature need a third of the iterations.
        features = self.kernel_.transform(directions)
        self.kernel_.normalization_ = np.linalg.eigh(features.T @ features)[1].T @ self.kernel_.normalization_

    def _transform(self, X: Any) -> Matrix:
        if not on_accelerator(X):
            return self.kernel_.transform(self.directions(features_to_numpy(X)))
        xp = namespace(X)
        kernel = self.kernel_
        X = (X - on_device(self.mean_, X)) * on_device(self.factor_, X)
        norm = xp.sqrt(xp.sum(X * X, axis=1, keepdims=True))
        X = X / xp.where(norm > 0, norm, xp.ones_like(norm))
        landmarks, mixing = (on_device(A, X) for A in (kernel.components_, kernel.normalization_.T))
        squares = xp.sum(landmarks * landmarks, axis=1) - 2 * (X @ landmarks.T) + xp.astype(norm > 0, X.dtype)
        return xp.exp(-kernel.gamma * squares) @ mixing

    def directions(self, X: Any) -> Matrix:
        """Return the scaled features divided by their norms, 0 for zeros, from which the kernel is computed."""
        # A kernel of dense features subtracts their means from sparse ones, too.
        if sp.issparse(X) and isinstance(self.mean_, float):
            return normalize(X.multiply(self.factor_).tocsr(), copy=False)
        return normalize((dense(X) - self.mean_) * self.factor_, copy=False)


def _unit_and_variances(centered: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the units of centered features, and their variances in these units. The features are overwritten."""
    unit = power_of_two(np.maximum(centered.max(axis=0), -centered.min(axis=0)), centered)
    centered /= unit
    return unit, np.square(centered, out=centered).mean(axis=0)
