"""Logistic regression on labels without observed negatives, for the track `track_single_positive`."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from spmld._validation import POSITIVE_INT, UNIT_INTERVAL
from spmld.estimators import MaskedLogistic


@dataclass(kw_only=True, eq=False, repr=False)
class AssumeNegative(MaskedLogistic):
    """Logistic regression that treats missing labels as negative.

    Examples
    --------
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> from spmld.studies.positive_only import AssumeNegative
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, kind="single_positive", random_state=0)
    >>> AssumeNegative(C=10.0).fit(data.X, Y).predict_proba(data.X).shape
    (300, 12)
    """

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to labels of 1, and NaN where missing."""
        y = np.asarray(y, dtype=float)
        return self._fit_weighted(X, np.nan_to_num(y), np.where(np.isnan(y), self._negative_weight(y.shape[1]), 1.0))

    def _fit_weighted(self, X: Any, y: Any, weight: Any) -> Self:
        super().fit(X, y, entry_weight=weight)
        return self

    def _negative_weight(self, n_labels: int) -> float:
        return 1.0


@dataclass(kw_only=True, eq=False, repr=False)
class WeakNegatives(AssumeNegative):
    """Logistic regression that treats missing labels as negative, with weight 1 / (n_labels - 1).

    The positive and the assumed negatives of a sample then have the same total weight, as in Cole et al., "Multi-label
    learning from single positive labels", CVPR 2021.
    """

    def _negative_weight(self, n_labels: int) -> float:
        return 1.0 / max(n_labels - 1, 1)


@dataclass(kw_only=True, eq=False, repr=False)
class LargeLossRejection(AssumeNegative):
    """Logistic regression that treats missing labels as negative, except those with the largest losses.

    The first model uses all assumed negatives. In each further iteration, a larger fraction of them is left out, those
    with the largest losses, as in Kim et al., "Large loss matters in weakly supervised multi-label classification",
    CVPR 2022.

    Parameters
    ----------
    rejected : float, default=0.05
        Fraction of the assumed negatives that are left out in the end.
    n_iter : int, default=5
        Number of iterations after the first model.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MaskedLogistic._parameter_constraints,
        "rejected": [UNIT_INTERVAL],
        "n_iter": [POSITIVE_INT],
    }

    rejected: float = 0.05
    n_iter: int = 5

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to labels of 1, and NaN where missing."""
        y = np.asarray(y, dtype=float)
        super().fit(X, y)
        for iteration in range(1, self.n_iter + 1):
            p = np.where(np.isnan(y), self.predict_proba(X), 0.0)
            largest = np.quantile(p[np.isnan(y)], 1 - self.rejected * iteration / self.n_iter)
            self._fit_weighted(X, np.nan_to_num(y), (p <= largest).astype(float))
        return self


@dataclass(kw_only=True, eq=False, repr=False)
class PositiveUnlabelledEM(AssumeNegative):
    r"""Logistic regression fitted by expectation maximization, with the missing labels as latent variables.

    A positive label is observed with the same probability c for all entries, and a negative label never is. The
    probability that a missing label is positive is then

    .. math:: q = p (1 - c) / (1 - c p),

    where p is the probability of the model. In each iteration a missing entry is a positive of weight q and a negative
    of weight 1 - q. The first model treats missing labels as negative. Its mean out-of-fold probability of the observed
    positives is the estimate of c of Elkan and Noto, "Learning classifiers from only positive and unlabeled data", KDD
    2008. It is not updated: its maximum likelihood estimate tends to 1, which is the first model again.

    Parameters
    ----------
    n_iter : int, default=10
        Number of iterations.

    Attributes
    ----------
    label_frequency_ : float
        c.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MaskedLogistic._parameter_constraints,
        "n_iter": [POSITIVE_INT],
    }

    n_iter: int = 10

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to labels of 1, and NaN where missing."""
        y = np.asarray(y, dtype=float)
        observed, p = ~np.isnan(y), np.empty(y.shape)
        for train, test in KFold(3, shuffle=True, random_state=0).split(y):
            p[test] = super().fit(X[train], y[train]).predict_proba(X[test])
        self.label_frequency_ = float(p[observed].mean())
        p = super().fit(X, y).predict_proba(X)
        twice = sp.vstack([X, X], format="csr") if sp.issparse(X) else np.vstack([X, X])
        # The first copy of a sample has its observed positives and negatives, the second one its possible positives.
        labels = np.vstack([observed, np.ones_like(observed)]).astype(float)
        for _ in range(self.n_iter):
            q = expected_label(p, self.label_frequency_)
            weight = np.vstack([np.where(observed, 1.0, 1 - q), np.where(observed, 0.0, q)])
            p = self._fit_weighted(twice, labels, weight).predict_proba(X)
        return self


def expected_label(p: Any, label_frequency: float) -> NDArray[np.float64]:
    """Return the probability that a missing label is positive, from that of a label and that of observing a positive.

    Examples
    --------
    >>> from spmld.studies.positive_only import expected_label
    >>> float(expected_label(0.5, 0.5).round(3))
    0.333
    """
    p = np.asarray(p, dtype=float)
    return p * (1 - label_frequency) / np.maximum(1 - label_frequency * p, np.finfo(float).tiny)
