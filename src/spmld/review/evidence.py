"""Evidence about an entry: features that support or contradict a label, and the nearest samples."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from spmld.estimators import FeatureScaler, MaskedLogistic

_Signs = NDArray[np.int8]


@dataclass(frozen=True)
class Influence:
    """Influence of a feature on the score of a label: coefficient times the difference from the median."""

    feature: str
    value: float
    influence: float


@dataclass(frozen=True)
class Neighbors:
    """Nearest samples with an observed label: indices and similarities of positives, and counts among the nearest."""

    positives: list[tuple[int, float]]
    n_positive: int
    n_nearest: int


class Evidence:
    """Evidence about entries of a label matrix.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Features.
    signs : array of shape (n_samples, n_labels)
        Labels: 1, -1, and 0 where missing.
    feature_names : sequence of str
        Names of the features.
    coef : array of shape (n_labels, n_features), optional
        Coefficients of a linear model. By default, those of `MaskedLogistic` on scaled features.
    entry_weight : array of shape (n_samples, n_labels), optional
        Weights of the entries in the default model, such as the probabilities that they are correct.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.review import Evidence
    >>> X, signs = np.array([[0.0, 1.0], [0.1, 1.0], [1.0, 0.0], [0.9, 0.0]]), np.array([[1], [1], [-1], [-1]])
    >>> evidence = Evidence(X, signs, ["rain", "sun"], coef=np.array([[-1.0, 2.0]]))
    >>> evidence.influences(0, 0)[0].feature, evidence.neighbors(0, 0).positives[0][0]
    ('sun', 1)
    """

    def __init__(self, X: Any, signs: _Signs, feature_names: Any, coef: Any = None, entry_weight: Any = None):
        self._X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=float)
        self._signs, self._names = signs, [str(name) for name in feature_names]
        scaler = FeatureScaler().fit(self._X)
        scaled = scaler.transform(self._X)
        self._unit = normalize(scaled)
        self._scaled = self._X
        if coef is None:
            Y = np.where(signs != 0, signs, np.nan)
            self._scaled, coef = scaled, MaskedLogistic(C=1.0).fit(scaled, Y, entry_weight=entry_weight).coef_
        self._coef = np.asarray(coef)
        # Most entries of a sparse column are 0.
        self._median = np.zeros(X.shape[1]) if sp.issparse(self._scaled) else np.median(self._scaled, axis=0)

    def influences(self, sample: int, label: int, top: int = 6) -> list[Influence]:
        """Return the features with the largest influence on the score of a label, in descending order."""
        products = self._coef[label] * (_row(self._scaled, sample) - self._median)
        order = np.argsort(-np.abs(products), kind="stable")[:top]
        values = _row(self._X, sample)
        return [Influence(self._names[i], float(values[i]), float(products[i])) for i in order if products[i] != 0]

    def neighbors(self, sample: int, label: int, top: int = 3, n_nearest: int = 10) -> Neighbors:
        """Return the nearest positives by cosine similarity, and the number of positives among the nearest samples."""
        similarity = np.asarray(
            (self._unit @ self._unit[[sample]].T).todense()
            if sp.issparse(self._unit)
            else self._unit @ self._unit[sample]
        ).ravel()
        observed = self._signs[:, label] != 0
        observed[sample] = False
        candidates = np.flatnonzero(observed)
        order = candidates[np.argsort(-similarity[candidates], kind="stable")]
        positive = self._signs[order, label] > 0
        chosen = order[positive][:top]
        nearest = positive[:n_nearest]
        pairs = list(zip(chosen.tolist(), similarity[chosen].tolist(), strict=True))
        return Neighbors(pairs, int(nearest.sum()), len(nearest))


def _row(X: Any, sample: int) -> NDArray[np.float64]:
    row = X[[sample]]
    return np.ravel(row.toarray() if sp.issparse(row) else row).astype(float)
