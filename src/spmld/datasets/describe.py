"""Statistics of a data set, as numbers and text."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld.datasets.dataset import Dataset


class Description:
    r"""Statistics of a data set; see `describe`.

    ``f_i`` is the frequency of label i, the fraction of positives among its observed entries:

    .. math:: \text{cardinality} = \sum_i f_i, \quad \text{density} = \text{cardinality} / l, \quad
              \text{imbalance}_i = \max_j f_j / f_i

    Without missing labels, the cardinality is the mean number of positives of a sample. With labels missing at random,
    it is an estimate of this number.

    Attributes
    ----------
    name : str
        Name of the data set.
    n_samples, n_train, n_test, n_features, n_labels : int
        Sizes; `n_train` and `n_test` are None without an official split.
    feature_density : float
        Fraction of the features that are not 0.
    cardinality, density : float
        See above.
    label_sets : int
        Number of distinct label sets of samples.
    mean_imbalance : float
        Mean of `imbalance` over the labels with a positive.
    missing : float
        Fraction of the labels that are missing.
    label_names : list of str
        Names of the labels.
    positives, observed : ndarray of shape (n_labels,)
        Numbers of positive and of observed entries of each label.
    frequencies, imbalance : ndarray of shape (n_labels,)
        See above; NaN if no entry of the label is observed. The imbalance of a label without a positive is infinite.
    positives_per_sample : ndarray of shape (n_samples,)
        Number of observed positives of each sample.
    columns : dict
        Kind of each feature column of a table, and how its values are read; empty for other formats.

    Examples
    --------
    See `describe`.
    """

    def __init__(self, data: Dataset):
        self.name = data.name
        self.label_names = list(data.label_names)
        self.columns = dict(data.columns or {})
        self.n_samples, self.n_labels = data.Y.shape
        self.n_features = data.X.shape[1]
        self.n_train, self.n_test = (None if part is None else len(part) for part in (data.train, data.test))
        n_nonzero = data.X.count_nonzero() if sp.issparse(data.X) else np.count_nonzero(data.X)
        self.feature_density = float(n_nonzero / max(self.n_samples * self.n_features, 1))
        missing = np.isnan(data.Y)
        positive = data.Y == 1
        self.missing = float(missing.mean())
        self.label_sets = len(np.unique(np.where(missing, -1, data.Y), axis=0))
        self.positives = positive.sum(axis=0)
        self.observed = self.n_samples - missing.sum(axis=0)
        self.positives_per_sample = positive.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            self.frequencies = self.positives / self.observed
            relative = np.nanmax(self.frequencies) / self.frequencies
        self.cardinality = float(np.nansum(self.frequencies))
        self.density = self.cardinality / self.n_labels
        self.imbalance = np.where(self.frequencies == 0, np.inf, relative)
        finite = self.imbalance[np.isfinite(self.imbalance)]
        self.mean_imbalance = float(finite.mean()) if finite.size else np.nan

    @property
    def positive_only(self) -> NDArray[np.bool_]:
        """Which labels have observed positives, missing entries and no observed negative."""
        return (self.positives > 0) & (self.positives == self.observed) & (self.observed < self.n_samples)

    def summary(self) -> dict[str, Any]:
        """Return the printed statistics of the whole data set by name."""
        split = {} if self.n_train is None else {"train": self.n_train, "test": self.n_test}
        n_positive_only = int(self.positive_only.sum())
        return {
            "samples": self.n_samples,
            **split,
            "features": self.n_features,
            "feature density": self.feature_density,
            "labels": self.n_labels,
            "labels without a positive": int((self.positives == 0).sum()),
            **({"positive-only labels": n_positive_only} if n_positive_only else {}),
            "label sets": self.label_sets,
            "cardinality": self.cardinality,
            "density": self.density,
            "mean imbalance": self.mean_imbalance,
            "missing": self.missing,
        }

    def per_label(self) -> list[dict[str, Any]]:
        """Return the statistics of each label as a dictionary, the most frequent label first."""
        order = np.argsort(-np.nan_to_num(self.frequencies, nan=-1.0), kind="stable")
        return [
            {
                "label": self.label_names[i],
                "positives": int(self.positives[i]),
                "frequency": float(self.frequencies[i]),
                "imbalance": float(self.imbalance[i]),
                "missing": 1 - float(self.observed[i]) / self.n_samples,
            }
            for i in order
        ]

    def __str__(self) -> str:
        lines = [self.name or "data set"]
        for name, value in self.summary().items():
            lines.append(f"  {name:<26}{f'{value:.4g}' if isinstance(value, float) else value}")
        return "\n".join(lines)


def describe(data: Dataset) -> Description:
    """Compute statistics of a data set.

    Parameters
    ----------
    data : Dataset
        Data set. Missing labels count as neither positive nor negative.

    Examples
    --------
    >>> from spmld.datasets import Dataset, describe
    >>> description = describe(Dataset([[0.5], [0.0]], [[1, 0], [1, 1]], label_names=["sad", "calm"], name="tiny"))
    >>> print(description)
    tiny
      samples                   2
      features                  1
      feature density           0.5
      labels                    2
      labels without a positive 0
      label sets                2
      cardinality               1.5
      density                   0.75
      mean imbalance            1.5
      missing                   0
    >>> description.imbalance
    array([1., 2.])
    """
    return Description(data)
