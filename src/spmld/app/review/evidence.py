"""Evidence about an entry: features that support or contradict a label."""

from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spmld.estimators import FeatureScaler, MaskedLogistic
from spmld.inspection.explanation import Explanation, read_model
from spmld.inspection.feature_importance import summarize_contributions

MAX_BACKGROUND = 500
"""Maximum number of samples for median contributions and top features."""
NO_EVIDENCE: dict[str, list[Any]] = {"influences": [], "raising": [], "lowering": []}
"""Description of an entry without evidence."""


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
        Weights of the entries in the default model, such as their label quality.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.app.review.evidence import Evidence
    >>> X, signs = np.array([[0.1, 2.0], [0.0, 2.1], [0.2, 0.0], [0.0, 0.1]]), np.array([[1], [1], [-1], [-1]])
    >>> described = Evidence(X, signs, ["rain", "sun"]).describe(0)
    >>> described["influences"][0][0], described["raising"]
    ('sun', ['sun'])
    """

    def __init__(
        self,
        X: Any,
        signs: NDArray[np.int8],
        feature_names: Any,
        model: Any = None,
        model_X: Any = None,
        model_labels: Any = None,
        entry_weight: Any = None,
    ):
        X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=float)
        target = None
        values = X
        if model is not None:
            with suppress(TypeError, ValueError):  # of models that cannot be explained
                target = read_model(model, X if model_X is None else model_X)
                values = target.X
        if target is None:
            Y = np.where(signs != 0, signs, np.nan)
            scaled = FeatureScaler().fit_transform(X)
            linear = MaskedLogistic(C=1.0).fit(scaled, Y, entry_weight=entry_weight)
            target = read_model(linear, scaled, [str(name) for name in feature_names])
            model_labels = None
        self._target = target
        self._values = values
        self._labels = list(range(signs.shape[1]) if model_labels is None else model_labels)
        self._background = np.unique(np.linspace(0, X.shape[0] - 1, MAX_BACKGROUND).astype(int))
        self._summary = cache(self._summarize)

    def describe(self, entry: int, top: int = 6) -> dict[str, list[Any]]:
        """Return the evidence about an entry, given by its index in the flattened label matrix.

        Returns
        -------
        dict
            The `top` influences, each with the feature, its value, and the difference of its contribution from the
            median contribution; and the features that raise and lower the score of the label most, see `top_features`.
        """
        sample, position = divmod(entry, len(self._labels))
        label = self._labels[position]
        contributions = self._target.contributions(label, [sample])
        median, raising, lowering = self._summary(label)
        name = self._target.label_names[label]
        names = self._target.feature_names
        explanation = Explanation(name, names, contributions - median, 0.0, self._values[[sample]], [sample])
        return {"influences": explanation.top(n=top), "raising": raising, "lowering": lowering}

    def _summarize(self, label: int) -> tuple[Any, list[str], list[str]]:
        """Return the median contributions to a label, and the features that raise and lower its score most."""
        contributions = self._target.contributions(label, self._background)
        # Most entries of a sparse column are 0.
        median = 0.0 if sp.issparse(contributions) else np.median(contributions, axis=0)
        features = summarize_contributions(self._target, [label], self._background)
        return median, *features.raising_and_lowering(0)
