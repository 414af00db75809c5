"""Trimming: zero weights for hard entries, which are likely errors."""

from collections.abc import Collection, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spmld.core.losses import LOSSES
from spmld.model_selection.cross_fitting import CrossFit, cross_fit_scores, nested_scores
from spmld.model_selection.path_search import HeldOut, PathResult
from spmld.model_selection.samples import Samples

NEGATIVE_RATIO = 0.3
"""Ratio of the trimmed fractions of negatives and positives: negatives are numerous, and few of them are wrong."""
KEEP_FRACTION = 0.9
"""Fraction of the positives to keep by default, if held-out losses allow it."""
MIN_TRIMMING_FOLDS = 3
"""Minimum number of folds with which entries are trimmed: fewer leave no samples for `nested_scores`."""
TIE_TOLERANCE = 1e-6
"""Relative difference up to which losses are equal: rounding errors depend on the CPU."""


class Trimming(NamedTuple):
    """Entries that are kept in fits.

    Attributes
    ----------
    keep_fraction : float
        The fraction of positives to keep; 1 without trimming.
    kept : ndarray of bool of shape (n_samples, n_labels)
        Which entries are kept.
    fold_weights : list or None
        Entry weights for the training samples of each fold, which do not depend on labels of the fold; None without
        trimming, or if the models of the folds are fitted with these weights already.
    """

    keep_fraction: float
    kept: NDArray[np.bool_]
    fold_weights: list[NDArray[Any]] | None


def check_keep_fraction(keep_fraction: float | str, n_folds: int) -> None:
    """Raise ValueError for a fraction below 1 with too few folds to trim the training samples of each."""
    if keep_fraction not in ("auto", 1) and n_folds < MIN_TRIMMING_FOLDS:
        raise ValueError(
            f"keep_fraction={keep_fraction} requires a cv with at least {MIN_TRIMMING_FOLDS} folds, got {n_folds}; "
            "pass more folds, or keep_fraction=1.0 to keep all entries"
        )


def choose_trimming(
    results: Mapping[str, PathResult],
    samples: Mapping[str, Samples],
    cross: CrossFit,
    loss: Any,
    keep_fraction: float | str,
    *,
    costly: Collection[str],
    noisy: bool,
) -> Trimming:
    """Choose the fraction to keep by held-out entries; parameters as in `SelfPacedEnsemble`.

    With ``keep_fraction="auto"``, nothing is trimmed if the data are `noisy`. The entries are judged by the best view
    that is not `costly`.
    """
    ranked = sorted(results, key=lambda name: results[name].loss)
    judge = next((name for name in ranked if name not in costly), ranked[0])
    result = results[judge]
    judged = samples[judge]
    automatic = isinstance(keep_fraction, str)
    fraction = KEEP_FRACTION if automatic else float(keep_fraction)
    weights = None
    if fraction < 1 and len(cross.folds) >= MIN_TRIMMING_FOLDS and not (automatic and noisy):
        nested = nested_scores(cross, result.estimators[0], judged)
        weights = [
            judged.weights * kept_entries(scores, judged, fraction, train)
            for scores, (train, _) in zip(nested, cross.folds, strict=True)
        ]
        if automatic:  # copies, because estimators may have a warm start
            trimmed = cross_fit_scores(cross, deepcopy(result.estimators), judged, weights)
            weights = weights if HeldOut(judged.signs, loss).mean(trimmed) < result.loss else None
    chosen = 1.0 if weights is None else fraction
    return Trimming(chosen, kept_entries(results[ranked[0]].scores, judged, chosen), weights)


def kept_entries(
    scores: NDArray[Any], samples: Samples, keep_fraction: float, rows: NDArray[np.intp] | None = None
) -> NDArray[np.bool_]:
    """Return which entries `trim` keeps, and verified ones; with `rows`, only entries of these samples are kept."""
    signs = samples.signs
    if rows is not None:
        signs = np.zeros_like(signs)
        signs[rows] = samples.signs[rows]
    kept = trim(scores, signs, keep_fraction)
    return kept if samples.labels.trusted is None else kept | samples.labels.trusted


def trim(scores: NDArray[Any], signs: NDArray[Any], keep_fraction: float) -> NDArray[np.bool_]:
    r"""Return which entries to keep: all but the hardest of each label.

    The loss of entry (i, j) is :math:`\log(1 + e^{-Y_{ij} s_{ij}})`. Of the positives of each label, a fraction q with
    the smallest losses is kept, and of its negatives a fraction 1 - 0.3 (1 - q). This is `HardPacing` with a threshold
    for each label and polarity, the quantile of its losses.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold scores.
    signs : ndarray of shape (n_samples, n_labels)
        Labels -1 and +1; 0 where missing.
    keep_fraction : float
        q, in (0, 1].

    Returns
    -------
    ndarray of bool of shape (n_samples, n_labels)
        Entries to keep; False where a label is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.trimming import trim
    >>> scores = np.array([[3.0], [2.0], [1.0], [0.0], [-5.0], [-2.0]])
    >>> trim(scores, np.array([[1], [1], [1], [1], [1], [-1]]), keep_fraction=0.8).ravel()
    array([ True,  True,  True,  True, False,  True])
    """
    if keep_fraction == 1:
        return signs != 0
    return easy_entries(scores, signs, loss_limits(scores, signs, keep_fraction))


def loss_limits(scores: NDArray[Any], signs: NDArray[Any], keep_fraction: float) -> NDArray[np.float64]:
    """Return the largest losses of positives and of negatives of each label that `trim` keeps."""
    losses = entry_losses(scores, signs)
    limits = np.empty((2, signs.shape[1]))
    for i, (sign, fraction) in enumerate(((1, keep_fraction), (-1, 1 - NEGATIVE_RATIO * (1 - keep_fraction)))):
        chosen = signs == sign
        # 0.55 of 100 losses are 55 losses, although the floating-point product is slightly larger.
        n_kept = np.ceil(fraction * chosen.sum(axis=0) * (1 - 8 * np.finfo(float).eps)).astype(np.intp)
        ascending = np.sort(np.where(chosen, losses, np.inf), axis=0)
        limits[i] = np.take_along_axis(ascending, np.maximum(n_kept - 1, 0)[None], axis=0)
    return limits


def easy_entries(scores: NDArray[Any], signs: NDArray[Any], limits: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which observed entries have losses up to the limits of their label and polarity."""
    limit = np.where(signs > 0, limits[0], limits[1])
    return (signs != 0) & (entry_losses(scores, signs) <= limit * (1 + TIE_TOLERANCE))


def entry_losses(scores: NDArray[Any], signs: NDArray[Any]) -> NDArray[np.float64]:
    """Return the logistic losses of entries."""
    return np.asarray(LOSSES["logistic"].value(signs, scores), dtype=float)
