"""LabelIssues: the result of a label audit as tables, files and input for cleanlab."""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spmld._io import writing
from spmld._table import TextTable
from spmld._validation import UNIT_INTERVAL, check_scalar_integer
from spmld.core.losses import logistic

COLUMNS = ["sample", "label", "given", "probability", "error_probability", "kind"]
"""Columns of the table of entries."""
KINDS = {1: "false positive", -1: "false negative"}
"""Kinds of errors by the sign of the label."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelIssues:
    """Error probabilities of observed labels, the result of `find_label_issues`.

    Tables are DataFrames if pandas is installed, and lists of dictionaries otherwise.

    Attributes
    ----------
    signs : ndarray of shape (n_samples, n_labels)
        The audited labels: 1, -1, and 0 where missing.
    classes : ndarray of shape (2,)
        Encoding of a negative and of a positive label.
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-fold log-odds, also of missing labels.
    error_log_odds : ndarray of shape (n_samples, n_labels)
        Log-odds that a label is wrong, NaN where missing and -inf where verified.
    alpha, beta : ndarray of shape (n_labels,)
        Estimated noise rates: probability that a true negative is labeled positive, and that a true positive is
        labeled negative.
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
    >>> [entry["kind"] for entry in issues.entries(top=3)]
    ['false positive', 'false positive', 'false positive']
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
        """Probability that a label is wrong, NaN where missing."""
        return logistic(self.error_log_odds)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Out-of-fold probabilities of the estimator that each label is positive."""
        return logistic(self.scores)

    def order(self) -> NDArray[np.intp]:
        """Return the indices of the observed entries in the flattened matrix, by descending error probability."""
        indices = np.flatnonzero(self.signs)
        return indices[np.argsort(-self.error_log_odds.flat[indices], kind="stable")]

    def entries(self, top: int | None = None, threshold: float | None = None) -> list[dict[str, Any]]:
        """Return the rows of `table` as dictionaries."""
        order = self.order()
        if threshold is not None:
            if not UNIT_INTERVAL.is_satisfied_by(threshold):
                raise ValueError(f"threshold must be in [0, 1], got {threshold!r}")
            order = order[self.error_probability.flat[order] >= threshold]
        if top is not None:
            order = order[: check_scalar_integer("top", top, minimum=0)]
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
            for i, j in (divmod(int(index), l) for index in order)
        ]

    def table(self, top: int | None = None, threshold: float | None = None) -> Any:
        """Return the observed entries by descending error probability.

        Parameters
        ----------
        top : int, optional
            Maximum number of entries. By default, all entries.
        threshold : float, optional
            Minimum error probability.

        Returns
        -------
        DataFrame or list of dict
            Columns: sample, label, given (the audited label), probability (that it is positive, out-of-fold),
            error_probability, and kind, "false positive" or "false negative".
        """
        return _to_frame(self.entries(top, threshold), COLUMNS)

    def label_rows(self) -> list[dict[str, Any]]:
        """Return the rows of `per_label` as dictionaries."""
        return [
            {"label": name, **counts, "alpha": float(alpha), "beta": float(beta)}
            for name, counts, alpha, beta in zip(self.label_names, self._counts(0), self.alpha, self.beta, strict=True)
        ]

    def per_label(self) -> Any:
        """Return, for each label, the number of observed entries and positives, expected errors and noise rates.

        Returns
        -------
        DataFrame or list of dict
            Columns: label, observed, positives, false positives, false negatives (expected numbers), error_rate (the
            expected fraction of wrong entries), alpha and beta.
        """
        return _to_frame(self.label_rows())

    def per_sample(self) -> Any:
        """Return, for each sample, the number of observed entries and positives, expected errors and label quality.

        Returns
        -------
        DataFrame or list of dict
            Columns as in `per_label`, without the noise rates, and quality, see `sample_quality`.
        """
        rows = zip(self.sample_names, self._counts(1), self.sample_quality().tolist(), strict=True)
        return _to_frame([{"sample": name, **counts, "quality": quality} for name, counts, quality in rows])

    def sample_quality(self) -> NDArray[np.float64]:
        """Return the label quality score of each sample: the probability that all of its observed labels are correct.

        Errors are taken as independent given the scores, so the score is the product of the probabilities that the
        labels are correct. It is 1 for samples without observed labels.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.exp(np.where(self.signs != 0, np.log1p(-self.error_probability), 0.0).sum(axis=1))

    def _counts(self, axis: int) -> list[dict[str, Any]]:
        observed, positive = self.signs != 0, self.signs > 0
        error_probability = np.where(observed, self.error_probability, 0.0)
        n_observed = observed.sum(axis=axis)
        undefined = np.full(len(n_observed), np.nan)
        columns = {
            "observed": n_observed,
            "positives": positive.sum(axis=axis),
            "false positives": (error_probability * positive).sum(axis=axis),
            "false negatives": (error_probability * ~positive).sum(axis=axis),
            "error_rate": np.divide(error_probability.sum(axis=axis), n_observed, out=undefined, where=n_observed > 0),
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def to_csv(self, path: str | os.PathLike[str], top: int | None = None, threshold: float | None = None) -> None:
        """Write `table` to a CSV file. No incomplete file is left if writing fails.

        Parameters
        ----------
        path : str or path
            File to write.
        top, threshold
            As in `table`.
        """
        table = TextTable(COLUMNS, [list(entry.values()) for entry in self.entries(top, threshold)])
        with writing(path) as part:
            part.write_text(table.to_csv(), encoding="utf-8", newline="")

    def to_cleanlab(
        self, missing: Literal["raise", "predict"] = "raise"
    ) -> tuple[list[list[int]], NDArray[np.float64]]:
        """Return labels and probabilities for the functions of ``cleanlab.multilabel_classification``.

        Parameters
        ----------
        missing : {"raise", "predict"}, default="raise"
            Treatment of missing labels, which cleanlab does not support. "raise": raise ValueError. "predict": replace
            them by the predictions of the estimator, which cleanlab will rarely flag.

        Returns
        -------
        labels : list of list of int
            The indices of the positive labels of each sample.
        pred_probs : ndarray of shape (n_samples, n_labels)
            `probabilities`.
        """
        if missing not in ("raise", "predict"):
            raise ValueError(f'missing must be "raise" or "predict", got {missing!r}')
        is_missing = self.signs == 0
        if missing == "raise" and is_missing.any():
            raise ValueError(
                f"cleanlab does not support missing labels, got {int(is_missing.sum())} of {is_missing.size}; use "
                'missing="predict" to replace them with predictions'
            )
        positive = np.where(is_missing, self.scores > 0, self.signs > 0)
        return [np.flatnonzero(row).tolist() for row in positive], self.probabilities

    def __repr__(self) -> str:
        n, l = self.signs.shape
        positives, negatives = (float(self.error_probability[self.signs == sign].sum()) for sign in (1, -1))
        return (
            f"LabelIssues: {int((self.signs != 0).sum())} observed entries of {n} samples and {l} labels; estimated "
            f"{positives + negatives:.0f} wrong (false positives {positives:.0f}, false negatives {negatives:.0f})"
        )

    def _repr_html_(self) -> str:
        return TextTable.from_records(self.entries(top=10), title=repr(self)).to_html()


def _to_frame(rows: list[dict[str, Any]], columns: list[str] | None = None) -> Any:
    """Return a DataFrame, or the rows if pandas is not installed."""
    if find_spec("pandas") is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)
