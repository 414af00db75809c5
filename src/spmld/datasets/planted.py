"""A generated data set with known true parameters."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from spmld._validation import FRACTION, NON_NEGATIVE, POSITIVE_INT, validate_params
from spmld.labels import hide_labels

_SIZES = ("n_samples", "n_features", "n_labels", "n_components", "n_groups")
_CONSTRAINTS = {
    **{size: [POSITIVE_INT] for size in _SIZES},
    "local": [NON_NEGATIVE],
    "noise": [NON_NEGATIVE],
    "observed_fraction": [FRACTION],
    "frequencies": ["array-like", None],
    "random_state": ["random_state"],
}


@validate_params(_CONSTRAINTS, prefer_skip_nested_validation=True)
def make_planted(
    n_samples: int = 1000,
    n_features: int = 30,
    n_labels: int = 12,
    *,
    n_components: int = 4,
    n_groups: int = 2,
    local: float = 0.5,
    frequencies: Any = None,
    noise: float = 0.3,
    observed_fraction: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Generate multi-label data from a low-rank model in which label correlations differ between groups of samples.

    Samples are Gaussian around the centers of their groups. Latent labels are ``V = X W`` and scores ``F = V U_m^T`` in
    group m, where ``U_m`` is a common matrix plus `local` times a matrix of the group. Label i is positive for the
    fraction ``frequencies[i]`` of samples with the highest noisy scores.

    Parameters
    ----------
    n_samples, n_features, n_labels : int, default=1000, 30 and 12
        Numbers of samples, features and labels.
    n_components, n_groups : int, default=4 and 2
        Rank of the scores in a group, and number of groups of samples.
    local : float, default=0.5
        Size of the differences between groups. 0 is one linear model for all samples.
    frequencies : array-like of shape (n_labels,), optional
        Fraction of positives of each label. By default, a long tail from 0.4 to 0.03.
    noise : float, default=0.3
        Standard deviation of the noise, in standard deviations of the scores.
    observed_fraction : float in (0, 1], default=1.0
        Fraction of the labels to keep in ``Y``; the others are hidden by `spmld.labels.hide_labels`.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    Bunch
        ``X``; ``Y`` of 0 and 1, NaN where hidden; ``Y_true`` without hidden labels; and the true parameters: ``scores``
        without noise, ``latent_labels``, ``feature_weights``, ``label_factors`` (n_groups, n_labels, n_components),
        ``groups`` of the samples, ``label_correlation`` (n_groups, n_labels, n_labels) of the scores, ``frequencies``.

    Examples
    --------
    >>> from spmld.datasets import make_planted
    >>> make_planted(n_samples=200, n_labels=3, frequencies=[0.5, 0.2, 0.05], random_state=0).Y.mean(axis=0)
    array([0.5 , 0.2 , 0.05])
    """
    frequencies = check_frequencies(frequencies, n_labels, default=(0.4, 0.03))
    rng = check_random_state(random_state)
    groups = np.sort(rng.randint(n_groups, size=n_samples))
    centers = 2 * rng.normal(size=(n_groups, n_features)) / np.sqrt(n_features)
    X = centers[groups] + rng.normal(size=(n_samples, n_features))
    W = rng.normal(size=(n_features, n_components)) / np.sqrt(n_features)
    U = rng.normal(size=(n_labels, n_components)) + local * rng.normal(size=(n_groups, n_labels, n_components))
    data = _label_samples(X, W, U, groups, frequencies, noise, rng)
    if observed_fraction < 1:
        data.Y = hide_labels(data.Y_true, observed_fraction, random_state=random_state)
    return data


def _label_samples(X: Any, W: Any, U: Any, groups: Any, frequencies: Any, noise: float, rng: Any) -> Bunch:
    V = X @ W
    scores = np.empty((len(X), U.shape[1]))
    for m in range(len(U)):
        scores[groups == m] = V[groups == m] @ U[m].T
    scale = scores.std(axis=0) + np.finfo(float).tiny
    noisy = scores + noise * scale * rng.normal(size=scores.shape)
    ranks = noisy.argsort(axis=0, kind="stable").argsort(axis=0)
    covariance = np.stack([u @ W.T @ W @ u.T for u in U])
    deviation = np.sqrt(np.einsum("gii->gi", covariance))
    Y = (ranks >= len(X) - np.round(frequencies * len(X))).astype(np.int64)
    return Bunch(
        X=X,
        Y=Y,
        Y_true=Y,
        scores=scores,
        latent_labels=V,
        feature_weights=W,
        label_factors=U,
        groups=groups,
        label_correlation=covariance / deviation[:, :, None] / deviation[:, None, :],
        frequencies=frequencies,
    )


def check_frequencies(frequencies: Any, n_labels: int, default: tuple[float, float]) -> Any:
    """Return the frequencies of the labels; by default, a long tail between two numbers."""
    if frequencies is None:
        return np.geomspace(*default, n_labels)
    values = np.asarray(frequencies, dtype=float)
    if values.shape != (n_labels,) or (values <= 0).any() or (values >= 1).any():
        raise ValueError(f"frequencies must be {n_labels} numbers between 0 and 1, got {frequencies!r}")
    return values
