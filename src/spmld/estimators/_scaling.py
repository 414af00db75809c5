"""Features on a common scale, so that one strength of a penalty suits all data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import normalize

from spmld._arrays import move, namespace, to_numpy

__all__ = ["Landmarks", "Scale"]


class Scale:
    """Rows of mean square norm 1: columns of mean 0 and equal variance, or, if most of X is 0, a factor for all.

    Centring would fill a sparse matrix, and its columns, such as words, are on a common scale as they are. What
    decides is how much of X is 0, not how X is stored.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Samples to take the scale from.
    center : bool, default=True
        Whether means may be taken away; otherwise columns of a dense X get equal mean squares.
    """

    def __init__(self, X: Any, *, center: bool = True):
        xp, (n, d) = namespace(X), X.shape
        nonzero = X.nnz if sp.issparse(X) else int(xp.sum(xp.astype(X != 0, xp.int64)))
        self.sparse = nonzero < 0.5 * n * d
        self.mean: Any = 0.0
        if self.sparse:
            values = X.data if sp.issparse(X) else X
            self.factor: Any = _inverse_root(float(xp.sum(values * values)) / n)
            return
        X = _dense(X)
        mean = xp.mean(X, axis=0)
        if center:
            self.mean = mean
        squares = to_numpy(xp.mean((X - self.mean) ** 2, axis=0))
        # Rounding leaves a constant column of some size a variance above 0.
        rounding = (n * np.finfo(squares.dtype).eps * to_numpy(mean)) ** 2
        factor = _inverse_root(np.where(squares > rounding, squares, 0.0)) / np.sqrt(d)
        self.factor = move(factor.astype(squares.dtype), X)

    def __call__(self, X: Any) -> Any:
        """The samples on this scale."""
        if not self.sparse:
            return (_dense(X) - self.mean) * self.factor
        if sp.issparse(X):
            return sp.csr_array((X.data * self.factor, X.indices, X.indptr), shape=X.shape)
        return X * float(self.factor)

    def on_features(self, W: Any) -> tuple[Any, Any]:
        """Weights for samples as they were given, and what the weights make of the means.

        Parameters
        ----------
        W : array of shape (n_features, k)
            Weights for samples on this scale: `Scale(X) @ W` is `X @ weights - offsets`.

        Returns
        -------
        weights : array of shape (n_features, k)
            For samples as given.
        offsets : array of shape (k,)
            To be taken away.
        """
        xp = namespace(W)
        weights = W * (float(self.factor) if self.sparse else self.factor[:, None])
        return weights, xp.sum(weights * xp.reshape(self.mean + xp.zeros_like(W[:, 0]), (-1, 1)), axis=0)


class Landmarks:
    """How near samples are to some of the training samples: Nystroem's features of a Gaussian kernel.

    Nearness is that of directions: columns get equal variance and rows unit length. Samples near the same landmarks
    are a local group without a border, and the weights on a landmark are the label correlations of its group.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples to draw landmarks from.
    count : int
        Number of landmarks.
    rng : RandomState
        Draws them.
    """

    def __init__(self, X: Any, count: int, rng: np.random.RandomState):
        if sp.issparse(X):
            means = np.asarray(X.mean(axis=0)).ravel()
            variances = np.asarray(X.multiply(X).mean(axis=0)).ravel() - means**2
            self.mean: Any = 0.0
        else:
            variances, self.mean = X.var(axis=0), X.mean(axis=0)
        self.factor = _inverse_root(np.maximum(variances, 0))
        directions = self._directions(X)
        some = directions[rng.permutation(X.shape[0])[:500]]
        cosines = some @ some.T
        cosines = cosines.toarray() if sp.issparse(cosines) else cosines
        # The median of squared distances is the unit of the kernel's width.
        typical = max(float(np.median(2 - 2 * cosines)), 1e-3)
        self.kernel = Nystroem(
            gamma=0.7 / typical, n_components=min(count, X.shape[0]), random_state=rng.randint(2**31 - 1)
        ).fit(directions)

    def __call__(self, X: Any) -> Any:
        """Features of the samples, as many as there are landmarks."""
        return self.kernel.transform(self._directions(X))

    def _directions(self, X: Any) -> Any:
        X = X.multiply(self.factor).tocsr() if sp.issparse(X) else (X - self.mean) * self.factor
        return normalize(X)


def _inverse_root(squares: Any) -> Any:
    """1 / sqrt, and 0 where there is nothing to scale."""
    squares = np.asarray(squares, dtype=float)
    return np.where(squares > 1e-300, 1 / np.sqrt(np.maximum(squares, 1e-300)), 0.0)


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X
