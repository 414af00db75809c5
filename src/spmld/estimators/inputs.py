"""Validation and conversion of the inputs of estimators: features, labels, weights, and their size in memory."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from inspect import signature
from math import inf
from pathlib import Path
from typing import Any, NoReturn

import array_api_compat
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples, validate_data

from spmld._arrays import (
    Array,
    Matrix,
    check_masked,
    check_range,
    check_sparse,
    check_tensor,
    features_to_numpy,
    largest_value,
    namespace,
)
from spmld._validation import MAX_SEED, check_same_samples, did_you_mean
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.labels import Labels, read_labels
from spmld.labels.encoding import read_weights
from spmld.model_selection.samples import Samples
from spmld.noise import NoiseRates

GIB = 2**30
MAX_CLUSTERED = 20_000
"""Maximum number of samples from which clusters are found."""


def check_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> Matrix:
    """Return X as a matrix of finite float32 or float64 numbers; sparse matrices as CSR, torch tensors unchanged.

    Values whose squares overflow raise an error.
    """
    check_masked(X)
    if sp.issparse(X):
        check_sparse(X)
    if not array_api_compat.is_torch_array(X):
        X = validate_data(estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
    else:
        X = validate_data(estimator, _check_tensor(X), reset=reset, skip_check_array=True)  # names and number
    check_range(largest_value(X), X.shape[0] * X.shape[1], namespace(X).finfo(X.dtype))
    return X


def _check_tensor(X: Any) -> Array:
    """Return a torch tensor as a matrix of finite floating-point numbers."""
    check_tensor(X, "X")
    xp = namespace(X)
    X = X.detach()
    if X.ndim != 2:
        raise ValueError(f"X must have shape (n_samples, n_features), got {tuple(X.shape)}")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"X must have at least one sample and one feature, got shape {tuple(X.shape)}")
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float32 if X.dtype.itemsize == 2 and X.dtype.is_floating_point else xp.float64)
    if not bool(xp.all(xp.isfinite(X))):
        raise ValueError("X contains NaN or infinity; impute these values or remove the samples first")
    return X


def check_labels(estimator: BaseEstimator, X: Any, Y: Any, mask: Any, *, classes: Any = None) -> Labels:
    """Return the labels Y, with the same number of samples as X; `classes` is the encoding of a previous fit."""
    if Y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )
    labels = read_labels(Y, mask, classes=classes)
    n, l = labels.signs.shape
    check_same_samples(_num_samples(X), n)
    if l == 0:
        raise ValueError("Y must have at least one label, got 0 columns")
    return labels


def cluster_samples(
    samples: Samples | ClusterSamples, count: int, rng: np.random.RandomState, max_samples: int = MAX_CLUSTERED
) -> Any:
    """Return the k-means cluster of each sample; centers are those of at most `max_samples` samples."""
    n = samples.shape[0]
    rows = np.sort(rng.permutation(n)[:max_samples]) if n > max_samples else np.arange(n)
    features = with_short_indices(features_to_numpy(samples.sample_features(rows)))
    means = KMeans(count, n_init=1, random_state=rng.randint(MAX_SEED), copy_x=False)
    with warnings.catch_warnings():
        # With fewer distinct samples than clusters some clusters are empty, which is harmless.
        warnings.simplefilter("ignore", ConvergenceWarning)
        centers = means.fit(features).cluster_centers_
    return samples.groups(centers)


def with_short_indices(X: Any) -> Matrix:
    """Return a sparse matrix with 32-bit indices, which k-means and trees of scikit-learn require."""
    if not sp.issparse(X) or X.nnz >= 2**31:
        return X
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def check_weights(entry_weight: Any, labels: Labels) -> tuple[Labels, np.ndarray]:
    """Return the labels and the entry weights, which are 0 for missing entries; entries of weight 0 become missing."""
    if entry_weight is None:
        return labels, labels.observed
    weights = read_weights(entry_weight, labels.signs)
    if not weights.any():
        raise ValueError("entry_weight must be positive for at least one observed label, got zeros only")
    return replace(labels, signs=labels.signs * (weights > 0)), weights


def check_rates(estimator: Any, n_labels: int) -> NoiseRates:
    """Return the noise rates of an estimator, `false_positive_rate` and `false_negative_rate`, for each label."""
    rates = NoiseRates(*(_check_rate(estimator, f"false_{sign}_rate", n_labels) for sign in ("positive", "negative")))
    if (rates.alpha + rates.beta >= 1).any():
        raise ValueError(
            "false_positive_rate and false_negative_rate must have a sum below 1 for each label, "
            f"got {estimator.false_positive_rate!r} and {estimator.false_negative_rate!r}"
        )
    return rates


def check_trusted(estimator: Any) -> None:
    """Raise ValueError if a fit would ignore verified entries."""
    if not estimator.uses_trusted():
        raise ValueError(
            f"trusted is not used by {type(estimator).__name__}, but by SelfPacedEnsemble, and by MaskedLogistic and "
            "MaskedBoosting with false_positive_rate or false_negative_rate above 0; fit one of them, or leave it out"
        )


def check_collection(estimator: Any, trusted: Any) -> None:
    """Raise an error if the estimator cannot be fitted to Dask collections, or not with verified entries."""
    if trusted is not None:
        raise ValueError("trusted is not supported if X is not in memory; leave it out")
    if not estimator.fits_collections:
        raise TypeError(
            f"{type(estimator).__name__} requires X in memory, got a Dask collection; pass X.compute(), or use "
            "SelfPacedEnsemble or a linear or latent model"
        )


def raise_unknown(estimator: Any, unknown: Mapping[str, Any]) -> NoReturn:
    """Raise TypeError for the first of the arguments that `fit` does not have."""
    name = next(iter(unknown))
    hint = did_you_mean(name, signature(estimator.fit).parameters)
    if name == "sample_weight":
        hint = "; pass entry_weight, which accepts one weight for each sample or for each entry"
    raise TypeError(f"{type(estimator).__name__}.fit() got an unexpected keyword argument {name!r}{hint}")


def has_rates(estimator: Any) -> bool:
    """Return whether an estimator has noise rates other than 0, so that it distinguishes verified entries."""
    return bool(np.any(estimator.false_positive_rate) or np.any(estimator.false_negative_rate))


def _check_rate(estimator: Any, name: str, n_labels: int) -> np.ndarray:
    rate = getattr(estimator, name)
    try:
        values = np.asarray(rate, dtype=float)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.shape not in ((), (n_labels,)) or not ((values >= 0) & (values < 1)).all():
        raise ValueError(f"{name} must be a number in [0, 1), or an array with one for each label, got {rate!r}")
    return values + np.zeros(n_labels)


def available_memory() -> float:
    """Return the bytes that can still be allocated, as far as the system tells; infinity if it does not."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return inf


def check_memory(estimator: Any, X: Any, y: Any, mapped: int = 0) -> None:
    """Raise MemoryError if the labels y and the numbers of a fit to X do not fit into memory.

    `mapped` is the number of bytes of X that are in a file, and that a fit reads into memory.
    """
    (n, d), l = X.shape, y.shape[1] if len(getattr(y, "shape", ())) == 2 else 1
    n_bytes = 3 * n * l + X.dtype.itemsize * estimator._n_numbers(n, d, l) + mapped
    available = available_memory()
    if n_bytes > available:
        name = type(estimator).__name__
        chunks = "pass dask.array.from_array(X) to read X in chunks, " if mapped else ""
        raise MemoryError(
            f"{name} needs about {n_bytes / GIB:.1f} GiB for {n} samples, {d} features and {l} labels, and "
            f"{available / GIB:.1f} GiB are available; {chunks}select features, use fewer labels, or convert X to "
            "float32"
        )
