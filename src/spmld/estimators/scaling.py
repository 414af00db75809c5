"""Feature transformers: scaling, and similarities to landmarks."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import features_to_numpy, move, namespace, numpy_dtype, on_accelerator, to_numpy
from spmld._validation import PositiveInt, RandomState, Validated
from spmld.core.lazy_matrix import loaded
from spmld.core.problem import Engine
from spmld.estimators.inputs import check_features
from spmld.scale.block_data import count_nonzero, largest_value, take_rows

MAX_LANDMARK_SAMPLES = 20_000
"""Maximum number of samples from which landmarks and their kernel are computed."""


class _FeatureTransformer(TransformerMixin, Validated):
    """Base class of the transformers, which implement `fit_blocks` and `_transform` of validated features."""

    stored: ClassVar[bool] = False
    """Whether the features of row blocks are stored, because it takes long to compute them."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer to an array, sparse matrix or torch tensor of shape (n_samples, n_features)."""
        self._validate_params()
        X = check_features(self, X, reset=True)
        self.fit_blocks(Engine(), (X,), X, (X.shape[0],))
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of samples, which are of the same form as in `fit`."""
        check_is_fitted(self)
        return self._transform(check_features(self, X, reset=False))

    @abstractmethod
    def fit_blocks(self, engine: Engine, blocks: Sequence[Any], like: Any, counts: Sequence[int]) -> None:
        """Fit the transformer to validated features in row blocks.

        Parameters
        ----------
        engine : Engine
            Operations on the blocks.
        blocks : sequence
            Features, known to the engine.
        like : array or sparse matrix
            An array with the features, the library, the format and the precision of the features.
        counts : sequence of int
            Number of samples of each block.
        """

    @abstractmethod
    def _transform(self, X: Any) -> Any:
        """Return the transformed features."""

    def __sklearn_tags__(self) -> Any:
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

    def fit_blocks(self, engine: Engine, blocks: Sequence[Any], like: Any, counts: Sequence[int]) -> None:
        """Set the fitted attributes from sums over the blocks."""
        n, d = sum(counts), like.shape[1]
        self._one_factor = engine.sum(lambda X: count_nonzero(loaded(X)), blocks) < 0.5 * n * d
        self.mean_: Any = 0.0
        if self._one_factor:
            unit: Any = float(_unit(engine.sum(lambda X: largest_value(loaded(X)), blocks, combine=max), like))
            self.factor_: Any = _inverse_root(engine.sum(partial(_square, unit=unit), blocks) / n) / unit
            return
        high, low = map(to_numpy, engine.sum(_extremes, blocks, combine=np.maximum))
        mean = engine.sum(_column_sums, blocks) / n
        self.mean_ = center = to_numpy(mean) if self.center else 0.0
        unit = _unit(np.maximum(high - center, low + center), like)
        squares = to_numpy(engine.sum(partial(_centered_squares, center=center, unit=unit), blocks) / n)
        # Because of rounding errors, the variance of a constant feature may be above 0.
        rounding = (n * np.finfo(squares.dtype).eps * to_numpy(mean) / unit) ** 2
        factor = _inverse_root(np.where(squares > rounding, squares, 0.0)) / np.sqrt(d) / unit
        self.factor_ = factor.astype(squares.dtype)

    def _transform(self, X: Any) -> Any:
        if not self._one_factor:
            return (_dense(X) - _on_device(self.mean_, X)) * _on_device(self.factor_, X)
        if sp.issparse(X):
            # Shared indices would be sorted in place, without the values of X.
            return sp.csr_array((X.data * self.factor_, X.indices, X.indptr), shape=X.shape, copy=True)
        return X * float(self.factor_)

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
        xp = namespace(W)
        weights = W * (float(self.factor_) if self._one_factor else _on_device(self.factor_, W)[:, None])
        means = _on_device(self.mean_, W) + xp.zeros_like(W[:, 0])
        return weights, xp.sum(weights * xp.reshape(means, (-1, 1)), axis=0)


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
    >>> from spmld.estimators.scaling import LandmarkFeatures
    >>> X = make_planted(n_samples=100, random_state=0).X
    >>> LandmarkFeatures(n_landmarks=20, random_state=0).fit_transform(X).shape
    (100, 20)
    """

    stored: ClassVar[bool] = True

    n_landmarks: PositiveInt = 300
    _: KW_ONLY
    random_state: RandomState = None

    def fit_blocks(self, engine: Engine, blocks: Sequence[Any], like: Any, counts: Sequence[int]) -> None:
        """Set the fitted attributes from a sample of the rows."""
        rng, n = check_random_state(self.random_state), sum(counts)
        rows = np.sort(rng.permutation(n)[:MAX_LANDMARK_SAMPLES]) if n > MAX_LANDMARK_SAMPLES else None
        X = features_to_numpy(take_rows(engine, blocks, counts, rows))
        X = X if sp.issparse(like) else _dense(X)
        if sp.issparse(X):
            unit = _unit(abs(X).max(axis=0).toarray().ravel(), X)
            scaled = X.multiply(1 / unit).tocsr()
            means = np.asarray(scaled.mean(axis=0)).ravel()
            variances = np.asarray(scaled.multiply(scaled).mean(axis=0)).ravel() - means**2
            self.mean_: Any = 0.0
        else:
            self.mean_ = X.mean(axis=0)
            unit, variances = _unit_and_variances(X - self.mean_)
        self.factor_ = _inverse_root(np.maximum(variances, 0)) / unit
        directions = self.directions(X)
        drawn = directions[rng.permutation(X.shape[0])[:500]]
        cosines = _dense(drawn @ drawn.T)
        # The width of the kernel is relative to the median of the squared distances.
        distance = max(float(np.median(2 - 2 * cosines)), 1e-3)
        n_landmarks, seed = min(self.n_landmarks, X.shape[0]), rng.randint(2**31 - 1)
        self.kernel_ = Nystroem(gamma=0.7 / distance, n_components=n_landmarks, random_state=seed).fit(directions)
        # Equal landmarks make the kernel matrix singular, and its inverse root would amplify rounding errors, which
        # depend on the CPU: tiny eigenvalues are dropped.
        values, vectors = np.linalg.eigh(rbf_kernel(self.kernel_.components_, gamma=self.kernel_.gamma))
        roots = _inverse_root(np.where(values > 1e-10 * values[-1], values, 0.0))
        self.kernel_.normalization_ = (vectors * roots).T
        # Uncorrelated features: solvers that scale each feature need a third of the iterations.
        features = self.kernel_.transform(directions)
        self.kernel_.normalization_ = np.linalg.eigh(features.T @ features)[1].T @ self.kernel_.normalization_

    def _transform(self, X: Any) -> Any:
        if not on_accelerator(X):
            return self.kernel_.transform(self.directions(features_to_numpy(X)))
        xp, kernel = namespace(X), self.kernel_
        X = (X - _on_device(self.mean_, X)) * _on_device(self.factor_, X)
        norm = xp.sqrt(xp.sum(X * X, axis=1, keepdims=True))
        X = X / xp.where(norm > 0, norm, xp.ones_like(norm))
        landmarks, mixing = (_on_device(A, X) for A in (kernel.components_, kernel.normalization_.T))
        squares = xp.sum(landmarks * landmarks, axis=1) - 2 * (X @ landmarks.T) + xp.astype(norm > 0, X.dtype)
        return xp.exp(-kernel.gamma * squares) @ mixing

    def directions(self, X: Any) -> Any:
        """Return the scaled features divided by their norms, of which the kernel is computed; 0 for zeros."""
        # A model of dense features subtracts their means also if row blocks are stored as sparse matrices.
        if sp.issparse(X) and isinstance(self.mean_, float):
            return normalize(X.multiply(self.factor_).tocsr(), copy=False)
        return normalize((_dense(X) - self.mean_) * self.factor_, copy=False)


def _unit(largest: Any, X: Any) -> NDArray[Any]:
    """Return powers of two close to the largest values, in the precision of X, so that squares of quotients are exact.

    Values that are 0, or whose inverse would overflow, have the unit 1.
    """
    dtype = numpy_dtype(X)
    usable = largest > 2.0**20 * np.finfo(dtype).smallest_normal
    return np.where(usable, np.ldexp(1.0, np.frexp(largest)[1]), 1.0).astype(dtype)


def _unit_and_variances(centered: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the units of centered features, and their variances in these units. The features are overwritten."""
    unit = _unit(np.maximum(centered.max(axis=0), -centered.min(axis=0)), centered)
    centered /= unit
    return unit, np.square(centered, out=centered).mean(axis=0)


def _inverse_root(squares: Any) -> Any:
    """Return 1 / sqrt(squares), and 0 where there is nothing to scale."""
    squares = np.asarray(squares, dtype=float)
    return np.where(squares > 1e-300, 1 / np.sqrt(np.maximum(squares, 1e-300)), 0.0)


def _square(X: Any, unit: float) -> float:
    """Return |X / unit|^2."""
    X = loaded(X)
    values = (X.data if sp.issparse(X) else X) / unit
    return float(namespace(values).sum(values * values))


def _column_sums(X: Any) -> Any:
    """Return the sum of each column."""
    X = _dense(loaded(X))
    return namespace(X).sum(X, axis=0)


def _extremes(X: Any) -> tuple[Any, Any]:
    """Return the largest values of the columns of X and of -X."""
    X = _dense(loaded(X))
    return namespace(X).max(X, axis=0), -namespace(X).min(X, axis=0)


def _centered_squares(X: Any, center: Any, unit: Any) -> Any:
    """Return the sum of the squares of each column of (X - center) / unit."""
    X = _dense(loaded(X))
    X = X - _on_device(center, X)
    X /= _on_device(unit, X)
    return namespace(X).sum(X**2, axis=0)


def _on_device(values: Any, X: Any) -> Any:
    """Return a fitted array in the library, on the device and in the precision of X; numbers are unchanged."""
    return values if isinstance(values, float) else move(values.astype(numpy_dtype(X), copy=False), X)


def _dense(X: Any) -> Any:
    """Return a dense array."""
    return X.toarray() if sp.issparse(X) else X
