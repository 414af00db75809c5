"""Queue of entries to review: in descending order of priority, or a random sample.

The *current value* of an entry is the observed label, or the most probable value if the label is missing. The priority
is the probability of its opposite: one minus the label quality for an observed label, and min(p, 1 - p) for a missing
label that is positive with the probability p. Priorities of observed labels are scaled so that their sum is at most the
number of errors that the features could reveal, since most labels of low quality are correct where it is small. They
order the entries, and do not count corrections.
"""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._frames import DataFrame
from spmld._io import need
from spmld._validation import check_scalar_integer
from spmld.audit import LabelIssues, find_label_issues
from spmld.labels.single_class import find_single_class

KINDS = ("present", "absent", "missing", "unlabeled")
"""Kinds of entries: labels that are present, labels that are absent, and missing labels of samples with and without
observed labels."""
MIN_PRIORITY = 0.01
"""Entries below this priority are left out."""


def opposite_probability(probability: Any, signs: Any) -> NDArray[np.float64]:
    """Return the probability of the opposite of the current value of each entry.

    `probability` is that of positive labels, and `signs` are the observed labels: 1, -1, and 0 where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.app.review.queue import opposite_probability
    >>> opposite_probability(np.array([0.75, 0.75, 0.75]), np.array([1, -1, 0]))
    array([0.25, 0.75, 0.25])
    """
    current = np.where(signs != 0, signs > 0, probability > 0.5)
    return np.abs(current - probability)


def present_probability(issues: LabelIssues, probabilities: Any = None) -> NDArray[np.float64]:
    """Return the probability that the label of each entry is present.

    The audit determines that of observed entries. That of missing entries is in `probabilities`; by default, and where
    they are NaN, it is the out-of-fold probability of the audit.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.app.review.queue import present_probability
    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 3)), rng.integers(2, size=(200, 4))
    >>> issues = find_label_issues(None, X, Y, random_state=0)
    >>> bool(np.allclose(np.abs(Y - present_probability(issues)), 1 - issues.label_quality))
    True
    """
    missing = issues.probabilities
    quality = issues.label_quality
    if probabilities is not None:
        given = np.asarray(probabilities, dtype=float)
        if given.shape != missing.shape:
            raise ValueError(f"probabilities must have the shape of the labels, {missing.shape}, got {given.shape}")
        missing = np.where(np.isnan(given), missing, given)
    return np.select([issues.signs > 0, issues.signs < 0], [quality, 1 - quality], missing)


def make_queue(
    issues: LabelIssues,
    probabilities: Any = None,
    *,
    kinds: Collection[str] = KINDS,
    min_priority: float = MIN_PRIORITY,
    max_entries: int | None = None,
) -> DataFrame:
    """Return the entries to review, in descending order of priority.

    Parameters
    ----------
    issues : LabelIssues
        Result of `spmld.audit.find_label_issues`. Verified entries have no priority and are left out.
    probabilities : array-like of shape (n_samples, n_labels), optional
        Probabilities that missing labels are positive, for example from ``complete``, without a floor, below which
        none would be. By default, the out-of-fold probabilities of the audit.
    kinds : collection of {"present", "absent", "missing", "unlabeled"}
        Kinds of entries to include; all by default. Labels that are present and unlikely, and labels that are absent
        and likely, are the two lists of the audit.
    min_priority : float, default=0.01
        Minimum priority.
    max_entries : int, optional
        Maximum number of entries.

    Returns
    -------
    DataFrame
        A row for each entry. The index is that of the entry in the flattened label matrix. Columns: sample (index),
        label (name), kind, given (the observed label: present, absent or missing), probability (that the label is
        present) and priority (the scaled probability of the opposite of the current value).

    Examples
    --------
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> from spmld.app.review import make_queue
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> queue = make_queue(find_label_issues(None, data.X, Y, random_state=0), max_entries=100)
    >>> queue.kind.iloc[0], queue.given.iloc[0], int(data.Y.flat[queue.index[0]])
    ('present', 'present', 0)
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"kinds must be among {', '.join(KINDS)}, got {unknown[0]!r}")
    if max_entries is not None:
        check_scalar_integer("max_entries", max_entries, minimum=0)
    entries = _all_entries(issues, probabilities)
    entries = entries[entries.kind.isin(kinds) & (entries.priority >= min_priority) & (entries.priority > 0)]
    return entries.sort_values("priority", ascending=False, kind="stable")[:max_entries]


def _all_entries(issues: LabelIssues, probabilities: Any = None) -> DataFrame:
    """Return a DataFrame of all entries in the order of the flattened label matrix."""
    pandas = need("pandas")
    signs = issues.signs
    names = np.array([str(name) for name in issues.label_names], dtype=object)
    samples = np.arange(len(signs))
    missing = np.where(signs.any(axis=1, keepdims=True), "missing", "unlabeled")
    kinds = np.select([signs > 0, signs < 0], ["present", "absent"], missing)
    probability = present_probability(issues, probabilities)
    priority = opposite_probability(probability, signs)
    largest = issues.total_range[1]
    priority[signs != 0] *= largest / max(priority[signs != 0].sum(), largest, 1.0)
    return pandas.DataFrame(
        {
            "sample": np.repeat(samples, len(names)),
            "label": np.tile(names, len(samples)),
            "kind": pandas.Categorical(kinds.ravel(), KINDS),
            "given": pandas.Categorical.from_codes(signs.ravel() + 1, ("absent", "missing", "present")),
            "probability": probability.ravel(),
            "priority": priority.ravel(),
        }
    )


def merge_queues(queue: Any, new: Any, closed: NDArray[np.bool_]) -> Any:
    """Return the closed entries of a queue, the others of a new queue, and the remaining ones with a priority of 0.

    Entries are in descending order of priority.
    """
    remaining = closed | ~queue.index.isin(new.index)
    kept = queue.assign(priority=queue.priority.where(closed, 0.0))[remaining]
    added = new[~new.index.isin(kept.index)]
    return need("pandas").concat([kept, added]).sort_values("priority", ascending=False, kind="stable")


def sample_queue(issues: LabelIssues, n_entries: int = 50, random_state: Any = None) -> DataFrame:
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
    DataFrame
        As in `make_queue`; the kind of all entries is "random".

    Examples
    --------
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.app.review import sample_queue
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> queue = sample_queue(find_label_issues(None, data.X, data.Y, random_state=0), 50, random_state=0)
    >>> len(queue), set(queue.kind)
    (50, {'random'})
    """
    drawn = issues.sample(n_entries, random_state).index
    return _all_entries(issues).loc[drawn].assign(kind="random")


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
    >>> from spmld.app.review import make_queue
    >>> from spmld.app.review.queue import update_issues
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> issues = find_label_issues(None, data.X, Y, random_state=0)
    >>> annotations, entries = np.zeros(Y.shape, dtype=int), make_queue(issues, max_entries=100).index.to_numpy()
    >>> annotations.flat[entries] = 2 * data.Y.flat[entries] - 1
    >>> updated = update_issues(issues, data.X, annotations, random_state=0)
    >>> bool((updated.label_quality[annotations != 0] == 1).all())
    True
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
    verified = np.isposinf(issues.quality_log_odds) | decided
    audited = np.where(issues.signs != 0, again.quality_log_odds, np.nan)
    updated = replace(again, signs=signs, quality_log_odds=audited)
    return replace(updated, classes=issues.classes, sample_names=issues.sample_names).mark_verified(verified)
