"""Evidence about an entry: features that support or contradict a label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld.estimators import FeatureScaler, MaskedLogistic
from spmld.inspection.explanation import ModelInput, read_model
from spmld.inspection.feature_importance import summarize_contributions
from spmld.review.samples import dense_row

MAX_BACKGROUND = 500
"""Maximum number of samples for median contributions and top features."""
_Signs = NDArray[np.int8]


@dataclass(frozen=True)
class Influence:
    """Influence of a feature on the score of a label: difference of its contribution from the median contribution."""

    feature: str
    value: float
    influence: float


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
    model : fitted estimator, optional
        Model that `spmld.inspection.explain` accepts. By default, and for other models, `MaskedLogistic` is fitted on
        scaled features.
    model_X : array-like, sparse matrix or DataFrame, optional
        The samples in the form that the model accepts. By default, X.
    model_labels : sequence of int, optional
        Index of each label in the model. By default, the labels have the same order.
    entry_weight : array of shape (n_samples, n_labels), optional
        Weights of the entries in the default model, such as the probabilities that they are correct.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.review.evidence import Evidence
    >>> X, signs = np.array([[0.1, 2.0], [0.0, 2.1], [0.2, 0.0], [0.0, 0.1]]), np.array([[1], [1], [-1], [-1]])
    >>> evidence = Evidence(X, signs, ["rain", "sun"])
    >>> evidence.influences(0, 0)[0].feature, evidence.label_features(0)[0]
    ('sun', ['sun'])
    """

    def __init__(
        self,
        X: Any,
        signs: _Signs,
        feature_names: Any,
        model: Any = None,
        model_X: Any = None,
        model_labels: Any = None,
        entry_weight: Any = None,
    ):
        X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=float)
        target = None if model is None else _read_model(model, X if model_X is None else model_X)
        if target is not None:
            self._target, self._values = target, target.X
            self._labels = list(range(signs.shape[1]) if model_labels is None else model_labels)
        else:
            Y, scaled = np.where(signs != 0, signs, np.nan), FeatureScaler().fit_transform(X)
            linear = MaskedLogistic(C=1.0).fit(scaled, Y, entry_weight=entry_weight)
            self._target, self._values = read_model(linear, scaled, [str(name) for name in feature_names]), X
            self._labels = list(range(signs.shape[1]))
        n = X.shape[0]
        self._background = np.unique(np.linspace(0, n - 1, min(n, MAX_BACKGROUND)).astype(int))
        self._typical: dict[int, Any] = {}
        self._features: dict[int, tuple[list[str], list[str]]] = {}

    def influences(self, sample: int, label: int, top: int = 6) -> list[Influence]:
        """Return the features with the largest influence on the score of a label, in descending order."""
        contributions, _ = self._target.contributions(self._labels[label], [sample])
        influence = dense_row(contributions, 0) - self._typical_contribution(label)
        order = np.argsort(-np.abs(influence), kind="stable")[:top]
        values, names = dense_row(self._values, sample), self._target.feature_names
        return [Influence(names[i], float(values[i]), float(influence[i])) for i in order if influence[i] != 0]

    def label_features(self, label: int, top: int = 5) -> tuple[list[str], list[str]]:
        """Return the features that raise and those that lower the score of a label most, see `top_features`."""
        if label not in self._features:
            features = summarize_contributions(self._target, [self._labels[label]], self._background)
            self._features[label] = features.raising_and_lowering(0, top)
        return self._features[label]

    def _typical_contribution(self, label: int) -> Any:
        """Return the median contribution of each feature; most entries of a sparse column are 0."""
        if label not in self._typical:
            contributions, _ = self._target.contributions(self._labels[label], self._background)
            self._typical[label] = 0.0 if sp.issparse(contributions) else np.median(contributions, axis=0)
        return self._typical[label]


def _read_model(model: Any, X: Any) -> ModelInput | None:
    """Return a model with the features that reach it, None if it cannot be explained."""
    try:
        return read_model(model, X)
    except (TypeError, ValueError):
        return None
