"""What a data set is like, as numbers, text and a figure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld._io import need, writing
from spmld.datasets.dataset import Dataset

__all__ = ["Description", "describe"]


@dataclass(frozen=True, eq=False)
class Description:
    r"""Statistics of a data set; see `describe`.

    With ``f_i`` the frequency of label i, the share of positives among its observed entries:

    .. math:: \text{cardinality} = \sum_i f_i, \quad \text{density} = \text{cardinality} / l, \quad
              \text{imbalance}_i = \max_j f_j / f_i

    Without missing labels the cardinality is the mean number of positives of a sample; with labels missing at random it
    estimates what that would be.

    Attributes
    ----------
    name : str
        Of the data set.
    n_samples, n_train, n_test, n_features, n_labels : int
        Sizes; `n_train` and `n_test` are None without an official split.
    feature_density : float
        Share of the features that are not 0.
    cardinality, density : float
        As above.
    label_sets : int
        Number of different rows of labels.
    mean_imbalance : float
        Mean of `imbalance` over the labels with a positive.
    missing : float
        Share of the labels that are missing.
    label_names : list of str
        Of the labels, for the arrays that follow.
    positives, observed : ndarray of shape (n_labels,)
        Counts of each label.
    frequencies, imbalance : ndarray of shape (n_labels,)
        As above; NaN where nothing is observed. The imbalance of a label without a positive is infinite.
    positives_per_sample : ndarray of shape (n_samples,)
        Observed positives of each sample.

    Examples
    --------
    See `describe`.
    """

    name: str
    n_samples: int
    n_train: int | None
    n_test: int | None
    n_features: int
    n_labels: int
    feature_density: float
    cardinality: float
    density: float
    label_sets: int
    mean_imbalance: float
    missing: float
    label_names: list[str]
    positives: NDArray[np.int64]
    observed: NDArray[np.int64]
    frequencies: NDArray[np.float64]
    imbalance: NDArray[np.float64]
    positives_per_sample: NDArray[np.int64]

    @property
    def missing_per_label(self) -> NDArray[np.float64]:
        """Share of the entries of each label that are missing."""
        return 1 - self.observed / self.n_samples

    def summary(self) -> dict[str, Any]:
        """The numbers of the whole set, by the words that the text and the command line use."""
        split = {} if self.n_train is None else {"train": self.n_train, "test": self.n_test}
        without = int((self.positives == 0).sum())
        return {
            "samples": self.n_samples,
            **split,
            "features": self.n_features,
            "feature density": self.feature_density,
            "labels": self.n_labels,
            "labels without a positive": without,
            "label sets": self.label_sets,
            "cardinality": self.cardinality,
            "density": self.density,
            "mean imbalance": self.mean_imbalance,
            "missing": self.missing,
        }

    def per_label(self) -> list[dict[str, Any]]:
        """One dictionary for each label, the most frequent first."""
        order = np.argsort(-np.nan_to_num(self.frequencies, nan=-1.0), kind="stable")
        return [
            {
                "label": self.label_names[i],
                "positives": int(self.positives[i]),
                "frequency": float(self.frequencies[i]),
                "imbalance": float(self.imbalance[i]),
                "missing": float(self.missing_per_label[i]),
            }
            for i in order
        ]

    def __str__(self) -> str:
        lines = [self.name or "data set"]
        for word, value in self.summary().items():
            lines.append(f"  {word:<26}{f'{value:.4g}' if isinstance(value, float) else value}")
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """A figure: frequency, imbalance and missing share of the labels, and positives per sample.

        Parameters
        ----------
        path : str or path, optional
            File to write it into, as png, pdf or svg.

        Returns
        -------
        matplotlib.figure.Figure
        """
        if path is not None and Path(path).suffix.lower() not in (".png", ".pdf", ".svg"):
            raise ValueError(f"a figure can be written as png, pdf or svg, not as {path}")
        need("matplotlib", "plot")
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        rows = self.per_label()
        names = [row["label"] for row in rows]
        place = np.arange(len(rows))
        few = len(rows) <= 40
        width = 0.9 if few else 1.0
        figure = Figure(figsize=(12, 7.5), layout="constrained")
        (often, rare), (gaps, each) = figure.subplots(2, 2)
        figure.suptitle(
            f"{self.name or 'data set'}: {self.n_samples} samples, {self.n_labels} labels, "
            f"cardinality {self.cardinality:.3f}, density {self.density:.3f}",
            parse_math=False,  # names are text, whatever stands in them
        )
        often.bar(place, [row["frequency"] for row in rows], width=width, color="tab:blue")
        often.set(title="Frequency of the labels", ylabel="positives among the observed")
        finite = [row["imbalance"] if np.isfinite(row["imbalance"]) else np.nan for row in rows]
        rare.plot(place, finite, color="tab:red", marker="o", ms=4 if few else 2, lw=1)
        rare.axhline(self.mean_imbalance, color="0.4", ls="--", label=f"mean {self.mean_imbalance:.3g}")
        rare.set(title="Imbalance: most frequent label over this one", ylabel="ratio")
        if any(value > 20 for value in finite):
            rare.set_yscale("log")
            rare.yaxis.set_major_formatter("{x:g}")
        rare.legend()
        gaps.bar(place, [row["missing"] for row in rows], width=width, color="tab:orange")
        gaps.set(title=f"Missing labels: {self.missing:.1%} of all", ylabel="missing", ylim=(0, 1))
        if not self.missing:
            gaps.text(0.5, 0.5, "none", transform=gaps.transAxes, ha="center", color="0.4")
        for axis in (often, gaps):
            axis.yaxis.set_major_formatter(PercentFormatter(1.0))
        for axis in (often, rare, gaps):
            axis.set_xlim(-0.7, len(rows) - 0.3)
            if few:
                axis.set_xticks(place, names, rotation=90, fontsize=7, parse_math=False)
            else:
                axis.set_xlabel("labels, the most frequent first")
        counts = np.bincount(self.positives_per_sample)
        each.bar(np.arange(len(counts)), counts, width=0.9, color="tab:green")
        each.xaxis.set_major_locator(MaxNLocator(integer=True))
        each.set(title="Positives of a sample", xlabel="observed positives", ylabel="samples")
        if path is not None:
            with writing(path) as part:
                figure.savefig(part, dpi=120)
        return figure


def describe(data: Dataset) -> Description:
    """Count what is in a data set.

    Parameters
    ----------
    data : Dataset
        What to describe. Missing labels count as neither positive nor negative.

    Returns
    -------
    Description

    Examples
    --------
    >>> from spmld.datasets import Dataset, describe
    >>> found = describe(Dataset([[0.5], [0.0]], [[1, 0], [1, 1]], label_names=["sad", "calm"], name="tiny"))
    >>> print(found)
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
    >>> found.imbalance
    array([1., 2.])
    """
    n, l = data.Y.shape
    known = ~np.isnan(data.Y)
    positive = data.Y == 1
    positives, observed = positive.sum(axis=0), known.sum(axis=0)
    frequencies = np.divide(positives, observed, out=np.full(l, np.nan), where=observed > 0)
    highest = np.nanmax(frequencies)
    imbalance = np.full(l, np.inf)
    np.divide(highest, frequencies, out=imbalance, where=frequencies > 0)
    imbalance[observed == 0] = np.nan
    finite = imbalance[np.isfinite(imbalance)]
    cardinality = float(np.nansum(frequencies))
    filled = data.X.count_nonzero() if sp.issparse(data.X) else np.count_nonzero(data.X)
    return Description(
        name=data.name,
        n_samples=n,
        n_train=None if data.train is None else len(data.train),
        n_test=None if data.test is None else len(data.test),
        n_features=data.X.shape[1],
        n_labels=l,
        feature_density=float(filled / max(data.X.shape[0] * data.X.shape[1], 1)),
        cardinality=cardinality,
        density=cardinality / l,
        label_sets=len(np.unique(np.where(known, data.Y, -1), axis=0)),
        mean_imbalance=float(finite.mean()) if finite.size else np.nan,
        missing=float(1 - known.mean()),
        label_names=list(data.label_names),
        positives=positives,
        observed=observed,
        frequencies=frequencies,
        imbalance=imbalance,
        positives_per_sample=positive.sum(axis=1),
    )
