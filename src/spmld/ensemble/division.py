"""Division of the samples of a fit: those that are searched, those that are fitted, and those that are held out."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._arrays import features_to_numpy
from spmld._validation import MAX_SEED
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.ensemble.formula import MAX_CALIBRATED
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.folds import Fold, make_folds, stratify
from spmld.model_selection.samples import Samples
from spmld.model_selection.similarity import are_copies, group_identical, hash_samples
from spmld.noise.calibration import has_both_classes

MIN_SEARCH_POSITIVES = 10
"""Number of positives of each label in the search sample, where there are so many."""
HELD_OUT_FRACTION = 1 / 5
"""Maximum fraction of the samples that are held out."""


@dataclass(frozen=True)
class Division:
    """Division of the samples of a fit. Indices are in ascending order.

    Attributes
    ----------
    searched : ndarray of int
        Samples on which settings are searched.
    fitted, held_out : ndarray of int
        Samples to which the views are fitted, and others, which are not searched; none if all samples are searched.
    learned : ndarray of bool of shape (n_labels,)
        Labels of which the fitted samples have both classes.
    cv : int or list of (train, test)
        Number of folds of the searched samples, or the folds.
    similar_samples : {"auto", "together", "apart"}
        Whether similar searched samples are in the same fold.
    n_repeated : int
        Number of samples that are identical to an earlier one.

    Examples
    --------
    See `divide`.
    """

    searched: NDArray[np.intp]
    fitted: NDArray[np.intp]
    held_out: NDArray[np.intp]
    learned: NDArray[np.bool_]
    cv: Any
    similar_samples: str
    n_repeated: int

    @property
    def is_partial(self) -> bool:
        """Whether the searched samples are a part of all."""
        return len(self.held_out) > 0


def divide(
    samples: Samples | ClusterSamples, max_samples: int | None, cv: Any, similar: str, rng: np.random.RandomState
) -> Division:
    """Divide the samples: more than `max_samples` are not searched, and some of them are held out.

    The held-out samples are at most 10,000 and a fifth of all, stratified by the labels, with their copies. If `cv` has
    folds, they are a part of the samples that its first fold tests, and those that it trains on are fitted.

    Parameters
    ----------
    samples : Samples or ClusterSamples
        All samples.
    max_samples : int or None
        Maximum number of samples to search; None is all.
    cv, similar
        Parameters `cv` and `similar_samples` of `SelfPacedEnsemble`.
    rng : RandomState
        Random number generator, which is used for more than `max_samples` samples only.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.division import divide
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection.samples import Samples
    >>> labels = read_labels(np.arange(100)[:, None] % 2)
    >>> samples = Samples(np.arange(100.0)[:, None], labels, labels.observed)
    >>> division = divide(samples, 40, 3, "auto", np.random.RandomState(0))
    >>> len(division.searched), len(division.fitted), len(division.held_out)
    (40, 80, 20)
    """
    n, _, n_labels = samples.shape
    every = np.arange(n)
    if max_samples is None or n <= max_samples:
        return Division(every, every, every[:0], np.ones(n_labels, dtype=bool), cv, similar, 0)
    signs, hashes = _signs_and_hashes(samples)
    groups, n_repeated = group_identical(hashes)
    n_held_out = max(min(MAX_CALIBRATED, int(HELD_OUT_FRACTION * n)), 1)
    if isinstance(cv, Integral):
        together = n_repeated > 0 and similar != "apart"
        together = together and (similar == "together" or are_copies(groups, signs))
        groups = groups if together else every
        part = stratify(signs, (n - n_held_out, n_held_out), rng.randint(MAX_SEED), groups)
        fitted, held_out = np.flatnonzero(part == 0), np.flatnonzero(part == 1)
        searched = draw_sample(signs, max_samples, rng, groups, samples.labels.trusted, held_out)
    else:
        together, groups = False, every
        folds = make_folds(cv, hashes[:, None], Labels(signs, SIGNS).write_with_missing(None))
        fitted, tested = folds[0]
        held_out = np.sort(rng.permutation(tested)[: max(min(n_held_out, len(tested) // 2), 1)])
        searched = draw_sample(signs, max_samples, rng, groups, samples.labels.trusted, held_out)
        cv = restrict_folds(folds, searched, n)
    if n_repeated > 0:  # otherwise, similar samples are those of the search sample
        similar = "together" if together else "apart"
    return Division(searched, np.sort(fitted), held_out, has_both_classes(signs[fitted]), cv, similar, n_repeated)


def _signs_and_hashes(samples: Samples | ClusterSamples) -> tuple[NDArray[np.int8], NDArray[np.uint64]]:
    """Return the signs of the labels and the hashes of the features of all samples in memory."""
    if isinstance(samples, Samples):
        return samples.signs, hash_samples(features_to_numpy(samples.X))
    return samples.gather(samples.signs), samples.gather(samples.engine.map(hash_samples, samples.X))


def draw_sample(
    signs: NDArray[np.int8],
    max_samples: int,
    rng: np.random.RandomState,
    groups: NDArray[np.intp],
    trusted: NDArray[np.bool_] | None,
    excluded: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Return a random sample of whole groups, with ten positives of each label where there are so many.

    In random order, it has the first ten positives of each label, then samples with verified entries, then others.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.division import draw_sample
    >>> every = np.arange(1000)
    >>> signs = np.where(every < 5, 1, -1)[:, None]
    >>> draw_sample(signs, 20, np.random.RandomState(0), every, None, every[:2])[:3]
    array([2, 3, 4])
    """
    n = len(signs)
    allowed = np.ones(n, dtype=bool)
    allowed[excluded] = False
    rank = rng.permutation(n)[groups]
    place = np.ones(n) if trusted is None else np.where(trusted.any(axis=1), 0.5, 1.0)
    for of_label in signs.T:
        positives = np.flatnonzero((of_label > 0) & allowed)
        place[positives[np.argsort(rank[positives], kind="stable")[:MIN_SEARCH_POSITIVES]]] = 0
    first = np.ones(n)
    np.minimum.at(first, groups, place)
    rows = np.flatnonzero(allowed)
    order = rows[np.lexsort((rank[rows], first[groups[rows]]))]
    chosen = order[:max_samples]
    if len(chosen) < len(order):  # the last group may be incomplete
        complete = groups[chosen] != groups[order[max_samples]]
        chosen = chosen[complete] if complete.any() else chosen
    return np.sort(chosen)


def restrict_folds(folds: Sequence[Fold], rows: NDArray[np.intp], n_samples: int) -> list[Fold]:
    """Return folds of all samples as folds of some of them.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.division import restrict_folds
    >>> restrict_folds([(np.array([0, 2]), np.array([1, 3]))], np.array([1, 2, 3]), 4)
    [(array([1]), array([0, 2]))]
    """
    place = np.full(n_samples, -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    places = ((place[train], place[test]) for train, test in folds)
    return [(train[train >= 0], test[test >= 0]) for train, test in places]


def in_memory(samples: Samples | ClusterSamples, rows: NDArray[np.intp]) -> Samples:
    """Return some samples, given by increasing numbers, in memory."""
    if isinstance(samples, ClusterSamples):
        return samples.in_memory(rows)
    return samples if len(rows) == samples.shape[0] else samples.rows(rows)


def spread(values: NDArray[Any], rows: NDArray[np.intp], n_samples: int) -> NDArray[np.float64]:
    """Return values of some samples as values of all, NaN for the others.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.ensemble.division import spread
    >>> spread(np.array([2.0, 3.0]), np.array([0, 2]), 3)
    array([ 2., nan,  3.])
    """
    every = np.full((n_samples, *values.shape[1:]), np.nan)
    every[rows] = values
    return every
