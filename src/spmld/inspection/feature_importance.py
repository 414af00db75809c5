"""Top features: those whose contributions to the scores of each label vary most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._frames import DataFrame
from spmld._io import need
from spmld._table import TextTable
from spmld.inspection.explanation import ModelInput, read_model

_Floats = NDArray[np.float64]
MIN_FRACTION = 0.1
"""Minimum importance of the features in the table of a label, relative to the largest one."""


@dataclass(frozen=True)
class TopFeatures:
    """Importances and coefficients of the features of each label. Printing it shows the top features of each label.

    Attributes
    ----------
    labels : list of str
        Names of the labels.
    feature_names : list of str
        Names of the features.
    importances : ndarray of shape (n_labels, n_features)
        Mean absolute deviation of the contribution of each feature to the score of the label from its mean over the
        samples. It is 0 for a feature that contributes the same to all samples.
    coefficients : ndarray of shape (n_labels, n_features)
        Least-squares slope of the contribution by the value of the feature; the coefficient, for a linear model. It is
        positive where larger values of the feature raise the score.

    Examples
    --------
    See `top_features`.
    """

    labels: list[str]
    feature_names: list[str]
    importances: _Floats
    coefficients: _Floats

    def to_frame(self, n: int = 10) -> DataFrame:
        """Return the `n` most important features of each label: label, feature, importance and coefficient."""
        rows = [
            (label, self.feature_names[j], importance[j], coefficient[j])
            for label, importance, coefficient in zip(self.labels, self.importances, self.coefficients, strict=True)
            for j in np.argsort(-importance, kind="stable")[:n]
            if importance[j] > 0
        ]
        return need("pandas").DataFrame(rows, columns=["label", "feature", "importance", "coefficient"])

    def table(self, n: int = 5) -> TextTable:
        """Return a table with the most important features that raise and that lower the score of each label.

        Features with less than a tenth of the largest importance of the label are left out.
        """
        rows = []
        for i, label in enumerate(self.labels):
            raising, lowering = self.raising_and_lowering(i, n)
            rows.append([label, ", ".join(raising) or "-", ", ".join(lowering) or "-"])
        return TextTable(["label", "raise the score", "lower the score"], rows)

    def raising_and_lowering(self, label: int, n: int = 5) -> tuple[list[str], list[str]]:
        """Return the names of the features in the table of a label, given by its position in `labels`."""
        importance = self.importances[label]
        coefficient = self.coefficients[label]
        least = MIN_FRACTION * importance.max()
        order = [j for j in np.argsort(-importance, kind="stable") if importance[j] >= least]
        raising = [self.feature_names[j] for j in order if coefficient[j] > 0]
        lowering = [self.feature_names[j] for j in order if coefficient[j] < 0]
        return raising[:n], lowering[:n]

    def __str__(self) -> str:
        return self.table().to_text()

    __repr__ = __str__


def top_features(
    model: Any, X: Any, *, labels: Sequence[Any] | None = None, feature_names: Sequence[str] | None = None
) -> TopFeatures:
    """Return the importance of the features for each label: how much their contributions to the scores vary.

    The importance is the mean absolute deviation of the contribution from its mean over the samples. A word that occurs
    in all texts in the same way is not important, even if its coefficient is large.

    Parameters
    ----------
    model, feature_names
        As in `explain`.
    X : array-like or sparse matrix of shape (n_samples, n_features), or what a pipeline accepts
        Samples over which contributions are averaged, such as the training samples; a few hundred are enough.
    labels : sequence of str or int, optional
        Names or indices of the labels. By default, all.

    Returns
    -------
    TopFeatures

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from spmld import MaskedLogistic
    >>> from spmld.inspection import top_features
    >>> songs = ["slow rain", "slow night", "fast dance", "fast sun"] * 10
    >>> tags = [[1, 0], [1, 0], [0, 1], [0, 1]] * 10
    >>> model = make_pipeline(TfidfVectorizer(), MaskedLogistic()).fit(songs, tags)
    >>> print(top_features(model, songs).table(n=2))
    label    raise the score  lower the score
    label 0  slow, night      fast, dance
    label 1  fast, dance      slow, night
    """
    target = read_model(model, X, feature_names)
    chosen = list(range(len(target.label_names))) if labels is None else [target.find(label) for label in labels]
    return summarize_contributions(target, chosen)


def summarize_contributions(target: ModelInput, labels: Sequence[int], samples: Any = slice(None)) -> TopFeatures:
    """Return the top features of the labels with the given indices, from the contributions of some samples."""
    summaries = [_summarize(target.contributions(j, samples), target.X[samples]) for j in labels]
    importances = np.array([importance for importance, _ in summaries])
    coefficients = np.array([coefficient for _, coefficient in summaries])
    return TopFeatures([target.label_names[j] for j in labels], target.feature_names, importances, coefficients)


def _summarize(contributions: Any, X: Any) -> tuple[_Floats, _Floats]:
    """Return the mean absolute deviations and the slopes of the contributions by the values of the features."""
    mean = np.asarray(contributions.mean(axis=0)).ravel()
    if sp.issparse(contributions):  # contributions of zeros are zeros
        n = contributions.shape[0]
        indices = contributions.indices
        sums = np.bincount(indices, np.abs(contributions.data - mean[indices]), minlength=len(mean))
        importance = (sums + (n - np.bincount(indices, minlength=len(mean))) * np.abs(mean)) / n
        products = contributions.multiply(X).sum(axis=0)
        squares = X.multiply(X).sum(axis=0)
    else:
        importance = np.abs(contributions - mean).mean(axis=0)
        X = X.toarray() if sp.issparse(X) else X
        deviations = X - X.mean(axis=0)
        products = (contributions * deviations).sum(axis=0)
        squares = (deviations**2).sum(axis=0)
    products = np.asarray(products).ravel()
    squares = np.asarray(squares).ravel()
    return importance, np.divide(products, squares, out=np.zeros_like(products), where=squares > 0)
