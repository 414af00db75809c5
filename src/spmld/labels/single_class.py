"""Labels that are not observed, or observed in one class only, and the warning that names them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spmld.labels.encoding import Labels

MAX_NAMES = 10
"""Maximum number of labels that a message lists."""


class LabelWarning(UserWarning):
    """Warning about labels that cannot be learned from their observed entries, or not without an assumption.

    Examples
    --------
    >>> import warnings
    >>> from spmld import LabelPrior
    >>> from spmld.labels import LabelWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", LabelWarning)
    ...     LabelPrior().fit([[0], [1]], [[1, 0], [1, 1]]).prior_
    array([0.75, 0.5 ])
    """


class SingleClassLabels(NamedTuple):
    """Labels without an observed positive or without an observed negative, as boolean arrays of shape (n_labels,).

    Attributes
    ----------
    unobserved
        Labels without an observed entry.
    negative
        Labels with observed negatives only.
    positive
        Labels with observed positives only and no missing entry.
    positive_only
        Labels with observed positives, no observed negative and missing entries.

    Examples
    --------
    See `find_single_class`.
    """

    unobserved: NDArray[np.bool_]
    negative: NDArray[np.bool_]
    positive: NDArray[np.bool_]
    positive_only: NDArray[np.bool_]

    @classmethod
    def from_counts(cls, n_positives: NDArray[Any], n_negatives: NDArray[Any], n: int) -> "SingleClassLabels":
        """Return the labels of n samples with given numbers of observed positives and negatives."""
        positive = (n_positives > 0) & (n_negatives == 0)
        negative = (n_positives == 0) & (n_negatives > 0)
        unobserved = (n_positives == 0) & (n_negatives == 0)
        return cls(unobserved, negative, positive & (n_positives == n), positive & (n_positives < n))


def find_single_class(signs: NDArray[Any]) -> SingleClassLabels:
    """Return the labels without an observed positive or without an observed negative.

    Parameters
    ----------
    signs : array of shape (n_samples, n_labels)
        +1 for positive, -1 for negative, 0 for missing.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels.single_class import find_single_class
    >>> find_single_class(np.array([[1, 1, 1, -1, 0], [1, 0, -1, 0, 0]])).positive_only
    array([False,  True, False, False, False])
    """
    return SingleClassLabels.from_counts((signs > 0).sum(axis=0), (signs < 0).sum(axis=0), len(signs))


def list_labels(labels: Labels, chosen: NDArray[np.bool_]) -> str:
    """Return "Label" or "Labels" and the names of the chosen labels, or their indices if they have no names.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import read_labels
    >>> from spmld.labels.single_class import list_labels
    >>> list_labels(read_labels([[0, 1, 1]]), np.array([False, True, True]))
    'Labels 1, 2'
    """
    indices = np.flatnonzero(chosen)
    names = [str(labels.names[j]) if labels.names else str(j) for j in indices[:MAX_NAMES]]
    more = f" and {len(indices) - MAX_NAMES} more" if len(indices) > MAX_NAMES else ""
    return f"Label{'s' if len(indices) > 1 else ''} {', '.join(names)}{more}"


def single_class_messages(
    labels: Labels, single: SingleClassLabels, *others: tuple[NDArray[np.bool_], str]
) -> list[str]:
    """Return the messages about labels that cannot be learned, and about others that are given with a text.

    Positive-only labels are left out.

    Examples
    --------
    >>> from spmld.labels import read_labels
    >>> from spmld.labels.single_class import find_single_class, single_class_messages
    >>> labels = read_labels([[1, 0], [1, 1]])
    >>> single_class_messages(labels, find_single_class(labels.signs))
    ['Label 0: all entries are positive, so that only positives can be learned']
    """
    reasons = (
        (single.unobserved, "no observed entry, so that the predictions carry no information"),
        (single.negative, "all observed entries are negative, so that only negatives can be learned"),
        (single.positive, "all entries are positive, so that only positives can be learned"),
        *others,
    )
    return [f"{list_labels(labels, chosen)}: {reason}" for chosen, reason in reasons if chosen.any()]


def warn_of_metrics(labels: Labels) -> None:
    """Warn about labels without an observed negative, whose false positives no metric counts."""
    single = find_single_class(labels.signs)
    chosen = single.positive | single.positive_only
    if chosen.any():
        warnings.warn(
            f"{list_labels(labels, chosen)}: no observed negative, so that metrics do not count false positives or are "
            "undefined",
            LabelWarning,
            stacklevel=3,
        )


@contextmanager
def ignore_label_warnings() -> Iterator[None]:
    """Ignore `LabelWarning`, in fits to a part of the labels that a caller has checked."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelWarning)
        yield
