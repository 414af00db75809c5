"""A generated data set whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

__all__ = ["make_planted"]


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
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Multi-label data from a low-rank model, with groups of samples in which labels correlate differently.

    Samples are Gaussian around the centres of their groups. Latent labels are linear in the features, ``V = X W``, and
    scores are linear in them, ``F = V U_m^T`` in group m, with ``U_m`` a common matrix plus `local` times one of the
    group's own. Label i is positive where its score, plus noise, is among the highest share ``frequencies[i]``.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
        Size.
    n_components : int, default=4
        Rank of the scores in a group.
    n_groups : int, default=2
        Number of groups of samples.
    local : float, default=0.5
        How much the groups differ. 0: one linear model for all samples.
    frequencies : array-like of shape (n_labels,), optional
        Share of positives of each label. By default a long tail from 0.4 down to 0.03.
    noise : float, default=0.3
        Standard deviation of the noise, in standard deviations of the scores.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Bunch
        ``X`` (n_samples, n_features); ``Y`` (n_samples, n_labels), 0 and 1; and the truth: ``scores`` without noise,
        ``latent_labels``, ``feature_weights``, ``label_factors`` (n_groups, n_labels, n_components), ``groups`` of the
        samples, ``label_correlation`` (n_groups, n_labels, n_labels) of the scores and ``frequencies``.

    Examples
    --------
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=200, frequencies=[0.5, 0.2, 0.05], n_labels=3, random_state=0)
    >>> data.Y.mean(axis=0)
    array([0.5 , 0.2 , 0.05])
    """
    sizes = {"n_samples": n_samples, "n_features": n_features, "n_labels": n_labels, "n_components": n_components}
    for name, value in {**sizes, "n_groups": n_groups}.items():
        if value < 1:
            raise ValueError(f"{name} must be 1 or more, got {value!r}")
    if noise < 0 or local < 0:
        raise ValueError(f"noise and local must be 0 or more, got {noise!r} and {local!r}")
    shares = np.geomspace(0.4, 0.03, n_labels) if frequencies is None else np.asarray(frequencies, dtype=float)
    if shares.shape != (n_labels,) or (shares <= 0).any() or (shares >= 1).any():
        raise ValueError(f"frequencies must be {n_labels} shares between 0 and 1, got {frequencies!r}")
    rng = check_random_state(random_state)
    groups = np.sort(rng.randint(n_groups, size=n_samples))
    centres = 2 * rng.normal(size=(n_groups, n_features)) / np.sqrt(n_features)
    X = centres[groups] + rng.normal(size=(n_samples, n_features))
    W = rng.normal(size=(n_features, n_components)) / np.sqrt(n_features)
    U = rng.normal(size=(n_labels, n_components)) + local * rng.normal(size=(n_groups, n_labels, n_components))
    V = X @ W
    scores = np.empty((n_samples, n_labels))
    for m in range(n_groups):
        scores[groups == m] = V[groups == m] @ U[m].T
    spread = scores.std(axis=0) + np.finfo(float).tiny
    noisy = scores + noise * spread * rng.normal(size=scores.shape)
    ranks = noisy.argsort(axis=0).argsort(axis=0)
    Y = (ranks >= n_samples - np.round(shares * n_samples)).astype(np.int64)
    covariance = np.stack([u @ W.T @ W @ u.T for u in U])
    scale = np.sqrt(np.einsum("gii->gi", covariance))
    return Bunch(
        X=X,
        Y=Y,
        scores=scores,
        latent_labels=V,
        feature_weights=W,
        label_factors=U,
        groups=groups,
        label_correlation=covariance / scale[:, :, None] / scale[:, None, :],
        frequencies=shares,
    )
