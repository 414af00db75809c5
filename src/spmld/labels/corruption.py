"""Hiding and corrupting labels, for experiments."""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld._arrays import ROUNDING_ERROR, Matrix
from spmld.labels.encoding import read_labels


def hide_labels(
    Y: Any,
    observed_fraction: float = 0.3,
    kind: Literal["stratified", "uniform", "single_positive"] = "stratified",
    random_state: int | np.random.RandomState | None = None,
) -> Matrix:
    """Hide labels at random.

    Parameters
    ----------
    Y : labels in any form accepted by `read_labels`
        Labels. Missing entries stay missing.
    observed_fraction : float in (0, 1], default=0.3
        Fraction of the observed entries to keep. It is not used if `kind` is "single_positive".
    kind : {"stratified", "uniform", "single_positive"}, default="stratified"
        "stratified" keeps this fraction, rounded up, of the positives and of the negatives of each label.
        "uniform" keeps this fraction, rounded up, of all entries.
        "single_positive" keeps one positive of each sample, chosen at random, and hides everything else. Nothing is
        observed of a sample without a positive.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator.

    Returns
    -------
    ndarray or DataFrame of float
        Labels in the encoding of `Y`, NaN where hidden or missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import hide_labels
    >>> Y = np.repeat([[1, 0], [0, 1]], 50, axis=0)
    >>> np.nansum(hide_labels(Y, observed_fraction=0.3, random_state=0), axis=0)
    array([15., 15.])
    """
    if not 0 < observed_fraction <= 1:
        raise ValueError(f"observed_fraction must be in (0, 1], got {observed_fraction!r}")
    labels = read_labels(Y)
    rng = check_random_state(random_state)
    signs = np.zeros_like(labels.signs)

    def choose(entries: NDArray[np.bool_]) -> NDArray[np.intp]:
        candidates = np.flatnonzero(entries)
        # Rounded up; 0.07 of 100 is 7, although the floating-point product is slightly larger.
        return rng.permutation(candidates)[: math.ceil(observed_fraction * len(candidates) - ROUNDING_ERROR)]

    if kind == "stratified":
        for column, source in zip(signs.T, labels.signs.T, strict=True):
            for sign in (1, -1):
                column[choose(source == sign)] = sign
    elif kind == "uniform":
        kept = choose(labels.signs != 0)
        signs.flat[kept] = labels.signs.flat[kept]
    elif kind == "single_positive":
        # The positive with the highest of independent random numbers is uniformly distributed.
        draws = np.where(labels.signs > 0, rng.uniform(size=signs.shape), -1.0)
        rows = np.flatnonzero((labels.signs > 0).any(axis=1))
        signs[rows, draws[rows].argmax(axis=1)] = 1
    else:
        raise ValueError(f'kind must be "stratified", "uniform" or "single_positive", got {kind!r}')
    return labels.write_with_missing(Y, signs)


def corrupt_labels(
    Y: Any,
    kind: Literal["permute", "swap", "drop", "flip"],
    rate: float,
    random_state: int | np.random.RandomState | None = None,
) -> Matrix:
    """Corrupt labels at random.

    Parameters
    ----------
    Y : labels in any form accepted by `read_labels`
        Labels. Missing entries stay missing; "permute" moves them with the other entries of the sample.
    kind : {"permute", "swap", "drop", "flip"}
        "permute": the labels of a fraction `rate` of the samples are permuted, and none of them keeps its own.
        "swap": a fraction `rate` of the positives moves to an observed negative label of the same sample.
        "drop": a fraction `rate` of the positives becomes negative.
        "flip": a fraction `rate` of the observed entries changes sign.
    rate : float in [0, 1]
        Fraction to corrupt, rounded to a whole number of samples or entries.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator.

    Returns
    -------
    ndarray or DataFrame of float
        Labels in the encoding of `Y`, NaN where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import corrupt_labels
    >>> Y = np.eye(4)
    >>> int((corrupt_labels(Y, "drop", 0.5, random_state=0) != Y).sum())
    2
    """
    if not 0 <= rate <= 1:
        raise ValueError(f"rate must be in [0, 1], got {rate!r}")
    labels = read_labels(Y)
    rng = check_random_state(random_state)
    signs = labels.signs.copy()
    if kind == "permute":
        rows = rng.permutation(len(signs))[: round(rate * len(signs))]
        if len(rows) == 1 < len(signs):
            raise ValueError(
                f'"permute" needs at least two samples to exchange, got rate={rate!r} of {len(signs)} samples'
            )
        signs[rows] = signs[np.roll(rows, 1)]
    elif kind == "swap":
        _swap(signs, rate, rng)
    elif kind in ("drop", "flip"):
        candidates = np.flatnonzero(signs > 0 if kind == "drop" else signs)
        chosen = rng.permutation(candidates)[: round(rate * len(candidates))]
        signs.flat[chosen] *= -1
    else:
        raise ValueError(f'kind must be "permute", "swap", "drop" or "flip", got {kind!r}')
    return labels.write_with_missing(Y, signs)


def _swap(signs: NDArray[np.int8], rate: float, rng: np.random.RandomState) -> None:
    """Move positives within their samples, in place. Samples without an observed negative do not change."""
    rows, columns = np.nonzero(signs > 0)
    original = signs.copy()
    for i in rng.permutation(len(rows))[: round(rate * len(rows))]:
        row = rows[i]
        free = np.flatnonzero((signs[row] < 0) & (original[row] < 0))
        if len(free):
            signs[row, columns[i]] = -1
            signs[row, rng.choice(free)] = 1
