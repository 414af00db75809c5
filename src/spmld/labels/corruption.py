"""Labels hidden or made wrong on purpose, for experiments."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from spmld.labels.read import read_labels

__all__ = ["corrupt_labels", "hide_labels"]


def hide_labels(
    Y: Any,
    observed_fraction: float = 0.3,
    kind: Literal["stratified", "uniform"] = "stratified",
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Hide labels, keeping a share of the observed ones.

    Parameters
    ----------
    Y : labels in any form of `read_labels`
        What is missing stays missing.
    observed_fraction : float in (0, 1]
        Share of the observed entries to keep.
    kind : {"stratified", "uniform"}
        "stratified" keeps the same share, rounded up, of the positives and of the negatives of each label.
        "uniform" keeps entries at random.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    ndarray or DataFrame of float
        The labels as they were written, NaN where hidden or missing.

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
    if kind == "stratified":
        for column, source in zip(signs.T, labels.signs.T, strict=True):
            for sign in (1, -1):
                places = np.flatnonzero(source == sign)
                keep = rng.permutation(places)[: _kept(observed_fraction, len(places))]
                column[keep] = sign
    elif kind == "uniform":
        places = np.flatnonzero(labels.signs)
        keep = rng.permutation(places)[: _kept(observed_fraction, len(places))]
        signs.flat[keep] = labels.signs.flat[keep]
    else:
        raise ValueError(f'kind must be "stratified" or "uniform", got {kind!r}')
    return labels.write_with_missing(Y, signs)


def corrupt_labels(
    Y: Any,
    kind: Literal["permute", "swap", "drop", "flip"],
    rate: float,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Make labels wrong, in one of four ways.

    Parameters
    ----------
    Y : labels in any form of `read_labels`
        What is missing stays missing (with "permute" it moves with its row).
    kind : {"permute", "swap", "drop", "flip"}
        "permute": a share `rate` of the rows exchange their labels, none keeps its own.
        "swap": a share `rate` of the positives moves to an observed negative label of the same row.
        "drop": a share `rate` of the positives becomes negative.
        "flip": a share `rate` of the observed entries changes sign.
    rate : float in [0, 1]
        How much to corrupt, rounded to whole rows or entries.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    ndarray or DataFrame of float
        The labels as they were written, NaN where missing.

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
            raise ValueError(f'"permute" needs two rows or more to exchange, got rate={rate!r} of {len(signs)} rows')
        signs[rows] = signs[np.roll(rows, 1)]
    elif kind == "swap":
        _swap(signs, rate, rng)
    elif kind in ("drop", "flip"):
        places = np.flatnonzero(signs > 0 if kind == "drop" else signs)
        chosen = rng.permutation(places)[: round(rate * len(places))]
        signs.flat[chosen] *= -1
    else:
        raise ValueError(f'kind must be "permute", "swap", "drop" or "flip", got {kind!r}')
    return labels.write_with_missing(Y, signs)


def _kept(share: float, n: int) -> int:
    """A share of n, rounded up; 0.07 of 100 is 7, though their product in floating point is a little more."""
    return math.ceil(share * n - 1e-9)


def _swap(signs: NDArray[np.int8], rate: float, rng: np.random.RandomState) -> None:
    """Move positives within their rows, in place. A row without an observed negative keeps its positives."""
    rows, columns = np.nonzero(signs > 0)
    original = signs.copy()
    for place in rng.permutation(len(rows))[: round(rate * len(rows))]:
        row = rows[place]
        free = np.flatnonzero((signs[row] < 0) & (original[row] < 0))
        if len(free):
            signs[row, columns[place]] = -1
            signs[row, rng.choice(free)] = 1
