"""LabelIssues: the result of a label audit as tables and files."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from scipy.stats import binomtest
from sklearn.utils import check_random_state

from spmld._frames import DataFrame
from spmld._io import need
from spmld._table import TextTable
from spmld._validation import check_scalar_integer
from spmld.noise import NoiseRates

LISTS = {
    "present": "Labels that are present and unlikely",
    "absent": "Labels that are absent and likely",
    "both": "Labels of low quality",
}
"""Kinds of lists, and their titles."""
LIMITS_TITLE = "Errors that the features could reveal"
LIMITS_NOTE = "Limits of each label alone. The limit of all labels uses more entries, so it is lower than the sum."
"""Title and explanation of the table of labels."""


class ErrorEstimate(NamedTuple):
    """Estimated number of wrong entries, from a verified random sample.

    Attributes
    ----------
    n_wrong : float
        Estimate.
    lower, upper : float
        Ends of the confidence interval.

    Examples
    --------
    >>> from spmld.audit import ErrorEstimate
    >>> ErrorEstimate(n_wrong=80.0, lower=32.0, upper=159.0).upper  # see `LabelIssues.estimate`
    159.0
    """

    n_wrong: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False, repr=False)
class LabelIssues:
    """Likely label errors, the result of `find_label_issues` and of `label_issues`.

    Attributes
    ----------
    log_odds : ndarray of shape (n_samples, n_labels)
        Out-of-fold log-odds that each label is positive, also of missing labels.
    quality_log_odds : ndarray of shape (n_samples, n_labels)
        Log-odds of the label quality, by which entries are ordered. NaN where missing and inf where verified.
    label_limits : ndarray of shape (n_labels,)
        Upper limit of the number of wrong entries of each label that the features could reveal.
    total_range : tuple of float
        Lower and upper limit of the number of all wrong entries that the features could reveal. The lower limit is 0
        unless verified entries show errors.
    weak : bool
        Whether the features do not confirm the positives: more than half of them may be wrong.
    rates : NoiseRates or None
        Noise rates of each label that verified entries determine; None if they do not.
    signs : ndarray of shape (n_samples, n_labels)
        The audited labels: 1, -1, and 0 where missing.
    classes : ndarray of shape (2,)
        Encoding of a negative and of a positive label.
    label_names, sample_names : list
        Names or indices of labels and samples.

    Examples
    --------
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> issues = find_label_issues(None, data.X, Y, random_state=0)
    >>> wrong = (Y != data.Y).flat[issues.order("present")]  # labels that are present, the most unlikely ones first
    >>> bool(wrong[:50].mean() > 5 * wrong.mean())
    True
    >>> lower, upper = issues.total_range
    >>> bool(lower <= (Y != data.Y).sum() <= upper)
    True
    """

    log_odds: NDArray[np.float64]
    quality_log_odds: NDArray[np.float64]
    label_limits: NDArray[np.float64]
    total_range: tuple[float, float]
    weak: bool
    rates: NoiseRates | None
    signs: NDArray[np.int8]
    classes: NDArray[Any]
    label_names: list[Any]
    sample_names: list[Any]

    @property
    def label_quality(self) -> NDArray[np.float64]:
        """Label quality scores, NaN where missing and 1 where verified.

        The score is the self-confidence: the out-of-fold probability of the observed label. It orders the entries, but
        is not the probability that the label is correct. If verified entries determine `rates`, it is.
        """
        return np.asarray(expit(self.quality_log_odds))

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Out-of-fold probabilities that each label is positive, calibrated on the observed labels."""
        return np.asarray(expit(self.log_odds))

    def sample(self, n_entries: int = 50, random_state: Any = None) -> DataFrame:
        """Return a random sample of the observed entries, to be verified by a person.

        Parameters
        ----------
        n_entries : int, default=50
            Number of entries, limited to those that are observed and not verified.
        random_state : int, RandomState or None, default=None
            Seed of the random number generator.

        Returns
        -------
        DataFrame
            Entries as in `table`. Pass the outcome to `estimate`.
        """
        indices = self._unverified()
        n = min(check_scalar_integer("n_entries", n_entries, minimum=1), len(indices))
        return self._table(check_random_state(random_state).choice(indices, n, replace=False))

    def _unverified(self) -> NDArray[np.intp]:
        """Return the indices of the observed entries that are not verified."""
        return np.flatnonzero((self.signs != 0) & ~np.isposinf(self.quality_log_odds))

    def estimate(self, wrong: Any, confidence: float = 0.9) -> ErrorEstimate:
        """Return the estimated number of wrong entries, from a verified random sample.

        The interval is that of Clopper and Pearson (1934), whose coverage is at least the confidence level.

        Parameters
        ----------
        wrong : array-like of bool of shape (n_entries,)
            Whether each entry of `sample` is wrong.
        confidence : float, default=0.9
            Confidence level.

        Returns
        -------
        ErrorEstimate

        Examples
        --------
        >>> import numpy as np
        >>> from spmld.audit import find_label_issues
        >>> X, Y = np.eye(4).repeat(50, axis=0), np.eye(4).repeat(50, axis=0)
        >>> issues = find_label_issues(None, X, Y, random_state=0)
        >>> issues.estimate([True] * 5 + [False] * 45)  # doctest: +ELLIPSIS
        ErrorEstimate(n_wrong=80.0, lower=32.18..., upper=159.06...)
        """
        values = np.asarray(wrong, dtype=bool)
        if values.ndim != 1 or len(values) == 0:
            raise ValueError(f"wrong must be a non-empty sequence of booleans, got {wrong!r}")
        if not 0 < confidence < 1:
            raise ValueError(f"confidence must be a number between 0 and 1, got {confidence!r}")
        n = len(self._unverified())
        test = binomtest(int(values.sum()), len(values))
        lower, upper = test.proportion_ci(confidence)
        return ErrorEstimate(n * float(test.statistic), n * float(lower), n * float(upper))

    def mark_verified(self, verified: NDArray[np.bool_]) -> "LabelIssues":
        """Return the issues with a label quality of 1 for verified entries."""
        return replace(self, quality_log_odds=np.where(verified, np.inf, self.quality_log_odds))

    def order(self, kind: str = "both") -> NDArray[np.intp]:
        """Return the indices of observed entries in the flattened matrix, by ascending label quality.

        Parameters
        ----------
        kind : {"present", "absent", "both"}, default="both"
            Labels that are present and unlikely, labels that are absent and likely, or both. The two lists have errors
            of different kinds, so choose one if you know which errors the labels have.
        """
        indices = np.flatnonzero(self._listed(kind))
        return indices[np.argsort(self.quality_log_odds.flat[indices], kind="stable")]

    def _listed(self, kind: str) -> NDArray[np.bool_]:
        """Return which entries are in a list."""
        if kind not in LISTS:
            raise ValueError(f"kind must be one of {', '.join(LISTS)}, got {kind!r}")
        return {"present": self.signs > 0, "absent": self.signs < 0, "both": self.signs != 0}[kind]

    def table(self, top: int | None = None, *, kind: str = "both") -> DataFrame:
        """Return observed entries by ascending label quality.

        Parameters
        ----------
        top : int, optional
            Maximum number of entries. By default, all entries.
        kind : {"present", "absent", "both"}, default="both"
            As in `order`.

        Returns
        -------
        DataFrame
            A row for each entry. The index is that of the entry in the flattened label matrix. Columns: sample, label,
            given (the audited label), kind ("present" or "absent"), and label_quality.
        """
        order = self.order(kind)
        if top is not None:
            order = order[: check_scalar_integer("top", top, minimum=0)]
        return self._table(order)

    def _table(self, entries: NDArray[np.intp]) -> DataFrame:
        """Return the table of entries, given by their indices in the flattened matrix."""
        samples, labels = np.unravel_index(entries, self.signs.shape)
        positive = self.signs.flat[entries] > 0
        columns = {
            "sample": [self.sample_names[i] for i in samples],
            "label": [self.label_names[j] for j in labels],
            "given": self.classes[positive.astype(int)],
            "kind": np.where(positive, "present", "absent"),
            "label_quality": self.label_quality.flat[entries],
        }
        return need("pandas").DataFrame(columns, index=entries)

    def per_label(self) -> DataFrame:
        """Return, for each label, the number of observed entries and positives, and the limit of wrong entries.

        Returns
        -------
        DataFrame
            Columns: label, observed, positives, at_most (wrong entries of the label that the features could reveal).
            The upper end of `total_range` uses the entries of all labels, so it is lower than the sum of at_most.
        """
        columns = {
            "label": self.label_names,
            "observed": (self.signs != 0).sum(axis=0),
            "positives": (self.signs > 0).sum(axis=0),
            "at_most": np.ceil(self.label_limits).astype(int),
        }
        return need("pandas").DataFrame(columns)

    def sample_quality(self, kind: str = "both") -> NDArray[np.float64]:
        """Return the label quality score of each sample: the product of the quality of its observed labels.

        It is 1 for samples without observed labels.

        Parameters
        ----------
        kind : {"present", "absent", "both"}, default="both"
            Labels that count, as in `order`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.exp(np.where(self._listed(kind), log_expit(self.quality_log_odds), 0.0).sum(axis=1))

    def summary(self) -> str:
        """Return the number of errors that the features could reveal, and what verified entries say, in a sentence."""
        n = int((self.signs != 0).sum())
        lower, upper = self.total_range
        text = f"of {n} observed entries, {lower:.0f} to {upper:.0f} are errors that these features could reveal"
        if self.rates is not None:
            text += f", about {np.nansum(1 - self.label_quality):.0f} by the rates of the verified entries"
        if self.weak:
            text += ". They do not confirm most of the positives"
        return text

    def __repr__(self) -> str:
        n, l = self.signs.shape
        return f"LabelIssues of {n} samples and {l} labels: {self.summary()}"

    def _repr_html_(self) -> str:
        return TextTable.from_frame(self.table(top=10), title=repr(self)).to_html()
