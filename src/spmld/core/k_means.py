"""k-means on the device of the samples."""

import numpy as np

from spmld._arrays import namespace
from spmld.core.losses import Array

SAMPLE = 10_000
"""Maximum number of samples among which the first centers are chosen."""


def k_means(X: Array, count: int, rng: np.random.RandomState, max_iter: int = 30) -> Array:
    """Return the index of the cluster of each sample, by Lloyd's algorithm from the centers of k-means++.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.core.k_means import k_means
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> index = k_means(X, 2, np.random.RandomState(0))
    >>> bool(index[0] == index[1]), bool(index[1] == index[2])
    (True, False)
    """
    xp = namespace(X)
    centers = _first_centers(X, count, rng)
    norms, last = xp.sum(X * X, axis=1), None
    for _ in range(max_iter):
        index = xp.argmin(_distances(X, norms, centers), axis=1)
        if last is not None and xp.all(index == last):
            break
        last = index
        member = xp.astype(index[:, None] == xp.arange(count, device=X.device)[None, :], X.dtype)
        sizes = xp.sum(member, axis=0)[:, None]
        means = (member.T @ X) / xp.where(sizes > 0, sizes, xp.ones_like(sizes))
        centers = xp.where(sizes > 0, means, centers)
    return index


def _first_centers(X: Array, count: int, rng: np.random.RandomState) -> Array:
    """Draw samples with probabilities proportional to the squared distance to the nearest center drawn before."""
    xp, n = namespace(X), X.shape[0]
    drawn = rng.permutation(n)[:SAMPLE] if n > SAMPLE else np.arange(n)
    X = X[xp.asarray(drawn, device=X.device), :]
    norms, centers = xp.sum(X * X, axis=1), X[:1, :]
    for uniform in rng.random_sample(count - 1):
        nearest = xp.clip(xp.min(_distances(X, norms, centers), axis=1), 0, None)
        total = xp.cumulative_sum(nearest)
        at = min(int(xp.searchsorted(total, float(uniform) * total[-1:])[0]), X.shape[0] - 1)
        centers = xp.concat([centers, X[at : at + 1, :]])
    return centers


def _distances(X: Array, norms: Array, centers: Array) -> Array:
    """Return the squared distances to the centers."""
    return norms[:, None] - 2 * (X @ centers.T) + namespace(X).sum(centers * centers, axis=1)[None, :]
