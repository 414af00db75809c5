"""LabelIssues: what an audit has found, as tables, files and for cleanlab."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spmld._io import writing
from spmld._table import TextTable
from spmld.core.losses import logistic

__all__ = ["LabelIssues"]

COLUMNS = ["sample", "label", "given", "probability", "error_probability", "kind"]
KINDS = {1: "wrong positive", -1: "missed positive"}


@dataclass(frozen=True, eq=False, repr=False)
class LabelIssues:
    """How likely each observed label is wrong; see `find_label_issues`.

    Tables are DataFrames where pandas is installed, or else lists with a dictionary for each row.

    Attributes
    ----------
    signs : ndarray of shape (n_samples, n_labels)
        The labels: 1, -1, and 0 where unobserved.
    classes : ndarray of shape (2,)
        How a negative and a positive were written.
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold log-odds, for unobserved labels too.
    error_log_odds : ndarray of shape (n_samples, n_labels)
        Log-odds that a label is wrong, NaN where unobserved.
    alpha, beta : ndarray of shape (n_labels,)
        Estimated share of the truly negative written as positive, and of the truly positive written as negative.
    label_names, sample_names : list
        Names of the columns and rows, or their numbers.

    Examples
    --------
    >>> from spmld.audit import find_label_issues
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import corrupt_labels
    >>> data = make_planted(n_samples=600, noise=0.1, random_state=0)
    >>> Y = corrupt_labels(data.Y, "flip", 0.03, random_state=0)
    >>> issues = find_label_issues(None, data.X, Y, random_state=0)
    >>> [row["kind"] for row in issues.entries(top=3)]
    ['wrong positive', 'wrong positive', 'wrong positive']
    """

    signs: NDArray[np.int8]
    classes: NDArray[Any]
    scores: NDArray[np.float64]
    error_log_odds: NDArray[np.float64]
    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    label_names: list[Any]
    sample_names: list[Any]

    @property
    def error_probability(self) -> NDArray[np.float64]:
        """Probability that a label is wrong, NaN where unobserved."""
        return logistic(self.error_log_odds)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Out-of-fold probabilities of each label, as the estimator gives them."""
        return logistic(self.scores)

    def order(self) -> NDArray[np.intp]:
        """Places of the observed entries in the flattened matrix, the most suspicious first."""
        places = np.flatnonzero(self.signs)
        return places[np.argsort(-self.error_log_odds.flat[places], kind="stable")]

    def entries(self, top: int | None = None, threshold: float | None = None) -> list[dict[str, Any]]:
        """The rows of `table`, as dictionaries."""
        order = self.order()
        if threshold is not None:
            if not 0 <= threshold <= 1:
                raise ValueError(f"threshold must be from 0 to 1, got {threshold!r}")
            order = order[self.error_probability.flat[order] >= threshold]
        if top is not None:
            if isinstance(top, bool) or not isinstance(top, (int, np.integer)) or top < 0:
                raise ValueError(f"top must be an integer of 0 or more, got {top!r}")
            order = order[:top]
        l = self.signs.shape[1]
        error_probability, probabilities = self.error_probability, self.probabilities
        return [
            {
                "sample": self.sample_names[i],
                "label": self.label_names[j],
                "given": self.classes[int(self.signs[i, j] > 0)].item(),
                "probability": float(probabilities[i, j]),
                "error_probability": float(error_probability[i, j]),
                "kind": KINDS[int(self.signs[i, j])],
            }
            for i, j in (divmod(int(place), l) for place in order)
        ]

    def table(self, top: int | None = None, threshold: float | None = None) -> Any:
        """Observed entries, the most suspicious first.

        Parameters
        ----------
        top : int, optional
            How many. None: all.
        threshold : float, optional
            Least error_probability.

        Returns
        -------
        DataFrame or list of dict
            With the columns sample, label, given, probability (of a positive, out of fold), error_probability and kind.
        """
        return _frame(self.entries(top, threshold), COLUMNS)

    def label_rows(self) -> list[dict[str, Any]]:
        """The rows of `per_label`, as dictionaries."""
        return [
            {"label": name, **row, "alpha": float(alpha), "beta": float(beta)}
            for name, row, alpha, beta in zip(self.label_names, self._sums(0), self.alpha, self.beta, strict=True)
        ]

    def per_label(self) -> Any:
        """For each label: entries observed, positives, expected wrong and missed ones, their share, and the rates.

        Returns
        -------
        DataFrame or list of dict
        """
        return _frame(self.label_rows())

    def per_sample(self) -> Any:
        """For each sample: entries observed, positives, expected wrong and missed ones, and their share.

        Returns
        -------
        DataFrame or list of dict
        """
        pairs = zip(self.sample_names, self._sums(1), strict=True)
        return _frame([{"sample": name, **row} for name, row in pairs])

    def _sums(self, axis: int) -> list[dict[str, Any]]:
        known, positive = self.signs != 0, self.signs > 0
        error_probability = np.where(known, self.error_probability, 0.0)
        seen = known.sum(axis=axis)
        columns = (
            seen,
            positive.sum(axis=axis),
            (error_probability * positive).sum(axis=axis),
            (error_probability * ~positive).sum(axis=axis),
            np.divide(error_probability.sum(axis=axis), seen, out=np.full(len(seen), np.nan), where=seen > 0),
        )
        words = ("observed", "positives", "wrong positives", "missed positives", "share")
        return [dict(zip(words, row, strict=True)) for row in zip(*(c.tolist() for c in columns), strict=True)]

    def to_csv(self, path: str | os.PathLike[str], top: int | None = None, threshold: float | None = None) -> None:
        """Write `table` as CSV. The file is complete or absent.

        Parameters
        ----------
        path : str or path
            The file.
        top, threshold
            As in `table`.
        """
        rows = self.entries(top, threshold)
        with writing(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["sample", "label", "given", "probability", "error_probability", "kind"])
            writer.writerows(row.values() for row in rows)

    def to_cleanlab(self, missing: str = "refuse") -> tuple[list[list[int]], NDArray[np.float64]]:
        """What the functions of ``cleanlab.multilabel_classification`` take.

        Parameters
        ----------
        missing : {"refuse", "predict"}
            cleanlab does not know of missing labels. "refuse": an error, if there are any. "predict": they become what
            the estimator predicts, so that cleanlab finds little wrong with them.

        Returns
        -------
        labels : list of list of int
            For each sample the numbers of its positive labels.
        pred_probs : ndarray of shape (n_samples, n_labels)
            `probabilities`.
        """
        if missing not in ("refuse", "predict"):
            raise ValueError(f'missing must be "refuse" or "predict", got {missing!r}')
        gaps = self.signs == 0
        if missing == "refuse" and gaps.any():
            raise ValueError(
                f"cleanlab takes no missing labels, and {int(gaps.sum())} of {gaps.size} are missing: give "
                'missing="predict" to put predictions in their place'
            )
        positive = np.where(gaps, self.scores > 0, self.signs > 0)
        return [np.flatnonzero(row).tolist() for row in positive], self.probabilities

    def __repr__(self) -> str:
        n, l = self.signs.shape
        known, doubted = int((self.signs != 0).sum()), self.error_probability >= 0.5
        wrong, missed = (int((doubted & (self.signs == sign)).sum()) for sign in (1, -1))
        return (
            f"LabelIssues: {known} observed entries of {n} samples and {l} labels, about "
            f"{np.nansum(self.error_probability):.0f} of them wrong; more likely wrong than right: "
            f"{wrong} positives, {missed} negatives"
        )

    def _repr_html_(self) -> str:
        return TextTable.from_records(self.entries(top=10), title=repr(self)).to_html()


def _frame(rows: list[dict[str, Any]], columns: list[str] | None = None) -> Any:
    """A DataFrame, or the rows where pandas is not installed."""
    if find_spec("pandas") is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
