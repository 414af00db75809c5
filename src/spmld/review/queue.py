r"""Queue of entries to review: in descending order of expected gain, or a random sample.

The *current value* of an entry is the observed label, or the most probable value if the label is missing. A review
changes it with the probability

.. math:: g = |c - p|,

where c is the current value, 0 or 1, and p is the probability that the label is truly positive. This is the expected
number of labels that one annotation corrects. For an observed label it is the error probability of the audit, for a
missing label min(p, 1 - p), so that entries of both kinds can be compared.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._validation import check_scalar_integer
from spmld.audit import LabelIssues, find_label_issues
from spmld.labels.single_class import find_single_class

KINDS = ("suspicious", "missing", "unlabeled")
"""Kinds of entries: observed labels, missing labels, and missing labels of samples without any observed label."""
_ARRAYS = ("samples", "labels", "kinds", "given", "probability", "gain")
MIN_GAIN = 0.01
"""Entries below this expected gain are left out: fewer than one correction in 100 annotations."""


def expected_gain(probability: Any, given: Any) -> NDArray[np.float64]:
    """Return the expected number of labels that one annotation corrects.

    `probability` is that of truly positive labels, and `given` are the observed labels: 1, 0, and NaN where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.review.queue import expected_gain
    >>> expected_gain([0.75, 0.75, 0.75], [1, 0, np.nan])
    array([0.25, 0.75, 0.25])
    """
    p, y = np.asarray(probability, dtype=float), np.asarray(given, dtype=float)
    return np.where(np.isnan(y), np.minimum(p, 1 - p), np.abs(np.nan_to_num(y) - p))


def true_probability(issues: LabelIssues, probabilities: Any = None) -> NDArray[np.float64]:
    """Return the probability that each entry is truly positive.

    The audit determines that of observed entries. That of missing entries is in `probabilities`; by default, and where
    they are NaN, it is the out-of-fold probability of the audit.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.review.queue import true_probability
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.integers(2, size=(200, 4))
    >>> issues = find_label_issues(None, X, Y, random_state=0)
    >>> bool(np.allclose(np.abs(Y - true_probability(issues)), issues.error_probability))
    True
    """
    given = np.full(issues.signs.shape, np.nan) if probabilities is None else np.asarray(probabilities, dtype=float)
    if given.shape != issues.signs.shape:
        raise ValueError(f"probabilities must have the shape of the labels, {issues.signs.shape}, got {given.shape}")
    missing = np.where(np.isnan(given), issues.probabilities, given)
    error = issues.error_probability
    return np.select([issues.signs > 0, issues.signs < 0], [1 - error, error], missing)


@dataclass(frozen=True)
class ReviewEntry:
    """One entry of a queue.

    Attributes
    ----------
    sample, label : int
        Indices of the sample and the label.
    kind : {"suspicious", "missing", "unlabeled"}
        Whether the label is observed, missing, or missing in a sample without any observed label.
    given : int or None
        The observed label, 1 or 0; None if it is missing.
    probability : float
        Probability that the label is truly positive.
    gain : float
        Expected number of labels that an annotation corrects.

    Examples
    --------
    See `make_queue`.
    """

    sample: int
    label: int
    kind: str
    given: int | None
    probability: float
    gain: float


@dataclass(frozen=True, eq=False, repr=False)
class ReviewQueue(Sequence[ReviewEntry]):
    """Entries to review; the result of `make_queue`, in descending order of expected gain, or of `sample_queue`.

    Attributes
    ----------
    samples, labels : ndarray of int of shape (n_entries,)
        Indices of samples and labels.
    kinds : ndarray of int of shape (n_entries,)
        Indices in `spmld.review.queue.KINDS`.
    given : ndarray of shape (n_entries,)
        Observed labels, 1 or 0, NaN where missing.
    probability, gain : ndarray of shape (n_entries,)
        Probability that the label is truly positive, and expected gain.
    label_names : list of str
        Names of all labels.
    is_random : bool
        Whether the entries are a random sample of the observed entries, in random order.

    Examples
    --------
    See `make_queue`.
    """

    samples: NDArray[np.intp]
    labels: NDArray[np.intp]
    kinds: NDArray[np.intp]
    given: NDArray[np.float64]
    probability: NDArray[np.float64]
    gain: NDArray[np.float64]
    label_names: list[str]
    is_random: bool = False

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, index: Any) -> Any:
        i = range(len(self))[index]
        given = None if np.isnan(self.given[i]) else int(self.given[i])
        place, kind = (int(self.samples[i]), int(self.labels[i])), KINDS[int(self.kinds[i])]
        return ReviewEntry(*place, kind, given, float(self.probability[i]), float(self.gain[i]))

    def counts(self) -> dict[str, int]:
        """Return the number of entries of each kind."""
        return dict(zip(KINDS, np.bincount(self.kinds, minlength=len(KINDS)).tolist(), strict=True))

    def order(self) -> NDArray[np.intp]:
        """Return the positions in the order of the review: by descending gain, or as drawn in a random sample."""
        return np.arange(len(self)) if self.is_random else np.argsort(-self.gain, kind="stable")

    def take(self, positions: NDArray[np.intp]) -> "ReviewQueue":
        """Return the entries at some positions."""
        chosen: dict[str, Any] = {name: getattr(self, name)[positions] for name in _ARRAYS}
        return replace(self, **chosen)

    def merge(self, new: "ReviewQueue", closed: NDArray[np.bool_]) -> "ReviewQueue":
        """Return the entries of this queue at their positions, with the values of a new queue, then its new entries.

        Entries that are not in the new queue get a gain of 0. The values of closed entries do not change.
        """
        l = len(self.label_names)
        codes, new_codes = self.samples * l + self.labels, new.samples * l + new.labels
        places = {code: i for i, code in enumerate(new_codes.tolist())}
        match = np.array([places.get(code, -1) for code in codes.tolist()], dtype=np.intp)
        updated, gone = ~closed & (match >= 0), ~closed & (match < 0)
        probability, gain = self.probability.copy(), np.where(gone, 0.0, self.gain)
        probability[updated], gain[updated] = new.probability[match[updated]], new.gain[match[updated]]
        added = new.take(np.flatnonzero(~np.isin(new_codes, codes)))
        values = vars(self) | {"probability": probability, "gain": gain}
        joined: dict[str, Any] = {name: np.concatenate([values[name], getattr(added, name)]) for name in _ARRAYS}
        return replace(self, **joined)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.counts().items() if count)
        return f"ReviewQueue: {len(self)} entries ({counts or 'none'}), {self.gain.sum():.0f} expected corrections"


def make_queue(
    issues: LabelIssues,
    probabilities: Any = None,
    *,
    kinds: Collection[str] = KINDS,
    min_gain: float = MIN_GAIN,
    max_entries: int | None = None,
) -> ReviewQueue:
    """Return the entries to review, in descending order of expected gain.

    Parameters
    ----------
    issues : LabelIssues
        Result of `spmld.audit.find_label_issues`. Verified entries have no gain and are left out.
    probabilities : array-like of shape (n_samples, n_labels), optional
        Probabilities that missing labels are positive, for example from ``complete``. By default, the out-of-fold
        probabilities of the audit.
    kinds : collection of {"suspicious", "missing", "unlabeled"}
        Kinds of entries to include; all by default.
    min_gain : float, default=0.01
        Minimum expected gain.
    max_entries : int, optional
        Maximum number of entries.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> from spmld.review import make_queue
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> queue = make_queue(find_label_issues(None, data.X, Y, random_state=0), max_entries=100)
    >>> entry = queue[0]
    >>> entry.kind, entry.given, int(data.Y[entry.sample, entry.label])
    ('suspicious', 1, 0)
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"kinds must be among {', '.join(KINDS)}, got {unknown[0]!r}")
    entries = _all_entries(issues, probabilities)
    shown = np.isin(entries.kinds, [KINDS.index(name) for name in kinds])
    chosen = np.flatnonzero(shown & (entries.gain >= min_gain) & (entries.gain > 0))
    chosen = chosen[np.argsort(-entries.gain[chosen], kind="stable")]
    if max_entries is not None:
        chosen = chosen[: check_scalar_integer("max_entries", max_entries, minimum=0)]
    return entries.take(chosen)


def _all_entries(issues: LabelIssues, probabilities: Any = None) -> ReviewQueue:
    """Return all entries in the order of the flattened label matrix."""
    observed = issues.signs != 0
    probability = true_probability(issues, probabilities)
    given = np.where(observed, issues.signs > 0, np.nan)
    kinds = np.where(observed, 0, np.where(observed.any(axis=1, keepdims=True), 1, 2))
    samples, labels = np.indices(observed.shape)
    arrays = (samples, labels, kinds, given, probability, expected_gain(probability, given))
    flat: dict[str, Any] = {name: values.ravel() for name, values in zip(_ARRAYS, arrays, strict=True)}
    return ReviewQueue(**flat, label_names=[str(name) for name in issues.label_names])


def sample_queue(issues: LabelIssues, n_entries: int = 50, random_state: Any = None) -> ReviewQueue:
    """Return a random sample of the observed entries, see `LabelIssues.sample`, in random order.

    The first entries of a larger sample with the same seed are those of a smaller one.

    Parameters
    ----------
    issues : LabelIssues
        Result of `spmld.audit.find_label_issues`. Verified entries are left out.
    n_entries : int, default=50
        Number of entries, limited to those that are observed and not verified.
    random_state : int, RandomState or None, default=None
        Seed of the random number generator.

    Returns
    -------
    ReviewQueue

    Examples
    --------
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.review import sample_queue
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> queue = sample_queue(find_label_issues(None, data.X, data.Y, random_state=0), 50, random_state=0)
    >>> len(queue), queue.is_random
    (50, True)
    """
    return replace(_all_entries(issues).take(issues.draw(n_entries, random_state)), is_random=True)


def update_issues(
    issues: LabelIssues, X: Any, annotations: Any, *, cv: Any = 5, random_state: Any = None
) -> LabelIssues:
    """Audit labels again after annotations of reviewers.

    Models are fitted on the corrected labels. Reviewed entries are not a random selection, because their labels looked
    wrong, so no noise rates are estimated from them.

    Parameters
    ----------
    issues : LabelIssues
        Result of `spmld.audit.find_label_issues` for the original labels.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    annotations : array-like of shape (n_samples, n_labels)
        Annotations: 1 for present, -1 for absent, 0 for entries without an annotation.
    cv, random_state
        As in `spmld.audit.find_label_issues`.

    Returns
    -------
    LabelIssues
        With the labels after the annotations. Decided entries count as verified.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> from spmld.review import make_queue
    >>> from spmld.review.queue import update_issues
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> issues = find_label_issues(None, data.X, Y, random_state=0)
    >>> annotations = np.zeros(Y.shape, dtype=int)
    >>> for entry in make_queue(issues, max_entries=100):
    ...     annotations[entry.sample, entry.label] = 2 * data.Y[entry.sample, entry.label] - 1
    >>> updated = update_issues(issues, data.X, annotations, random_state=0)
    >>> bool(updated.error_probability[annotations != 0].any())
    False
    """
    decided = np.asarray(annotations) != 0
    if decided.shape != issues.signs.shape:
        raise ValueError(f"annotations must have the shape of the labels, {issues.signs.shape}, got {decided.shape}")
    # Missing entries of positive-only labels stay negatives, even if a reviewer has found the first negative.
    weak = find_single_class(issues.signs).positive_only & (issues.signs == 0)
    signs = np.where(decided, annotations, issues.signs).astype(np.int8)
    current = np.where(weak & ~decided, -1, signs)
    Y = np.where(current != 0, current, np.nan)
    again = find_label_issues(None, X, Y, cv=cv, random_state=random_state, label_names=list(issues.label_names))
    verified = np.isneginf(issues.error_log_odds) | decided
    errors = replace(again.errors, error_log_odds=np.where(issues.signs != 0, again.error_log_odds, np.nan))
    return replace(issues, signs=signs, errors=errors).mark_verified(verified)
