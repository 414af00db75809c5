"""Audit of labels after some of them have been reviewed.

Models are fitted on the corrected labels. Reviewed entries are not a random selection, because their labels looked
wrong, so no noise rates are estimated from them.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from spmld.audit import LabelIssues, find_label_issues
from spmld.labels.single_class import find_single_class


def update_issues(issues: LabelIssues, X: Any, decisions: Any, *, cv: Any = 5, random_state: Any = None) -> LabelIssues:
    """Audit labels again after decisions of reviewers.

    Parameters
    ----------
    issues : LabelIssues
        Result of `spmld.audit.find_label_issues` for the original labels.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    decisions : array-like of shape (n_samples, n_labels)
        Decisions: 1 for present, -1 for absent, 0 for entries without a decision.
    cv, random_state
        As in `spmld.audit.find_label_issues`.

    Returns
    -------
    LabelIssues
        With the labels after the decisions. Decided entries count as verified.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> from spmld.review import make_queue, update_issues
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> issues = find_label_issues(None, data.X, Y, random_state=0)
    >>> decisions = np.zeros(Y.shape, dtype=int)
    >>> for entry in make_queue(issues, max_entries=100):
    ...     decisions[entry.sample, entry.label] = 2 * data.Y[entry.sample, entry.label] - 1
    >>> updated = update_issues(issues, data.X, decisions, random_state=0)
    >>> bool(updated.error_probability[decisions != 0].any())
    False
    """
    decided = np.asarray(decisions) != 0
    if decided.shape != issues.signs.shape:
        raise ValueError(f"decisions must have the shape of the labels, {issues.signs.shape}, got {decided.shape}")
    # Missing entries of positive-only labels stay negatives, even if a reviewer has found the first negative.
    weak = find_single_class(issues.signs).positive_only & (issues.signs == 0)
    signs = np.where(decided, decisions, issues.signs).astype(np.int8)
    current = np.where(weak & ~decided, -1, signs)
    Y = np.where(current != 0, current, np.nan)
    again = find_label_issues(None, X, Y, cv=cv, random_state=random_state, label_names=list(issues.label_names))
    verified = np.isneginf(issues.error_log_odds) | decided
    errors = replace(again.errors, error_log_odds=np.where(issues.signs != 0, again.error_log_odds, np.nan))
    return replace(issues, signs=signs, errors=errors).mark_verified(verified)
