"""Explanations: what the features of a sample contribute to the score of a label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from spmld._arrays import Matrix, check_sparse, to_numpy
from spmld._frames import DataFrame
from spmld._io import need
from spmld._table import TextTable
from spmld.estimators.model_parts import check_names, feature_names_of, label_names_of
from spmld.inspection.contributions import ExplainedModel, explained_model

MAX_SHOWN = 5
"""Maximum number of samples that the text of an explanation shows."""


@dataclass(frozen=True)
class Explanation:
    """Contributions of the features to the scores of a label.

    The text of an explanation shows the largest contributions of the first samples.

    Attributes
    ----------
    label : str
        Name of the label.
    feature_names : list of str
        Names of the features.
    contributions : ndarray or sparse array of shape (n_samples, n_features)
        Contributions of the features.
    base_value : float
        Score of a sample without contributions.
    values : ndarray or sparse array of shape (n_samples, n_features)
        Values of the features; those of the last step, for a pipeline.
    samples : sequence
        Names of the samples: the index of a DataFrame, or their numbers.

    Examples
    --------
    See `explain`.
    """

    label: str
    feature_names: list[str]
    contributions: Any
    base_value: float
    values: Any
    samples: Sequence[Any]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Sums of the base value and the contributions of each sample: the scores of the model."""
        return self.base_value + np.asarray(self.contributions.sum(axis=1)).ravel()

    def top(self, sample: int = 0, n: int | None = 10) -> list[tuple[str, float, float]]:
        """Return the name, value and contribution of the features with the largest contributions.

        Parameters
        ----------
        sample : int, default=0
            Position of the sample.
        n : int or None, default=10
            Maximum number of features; None lists all that contribute.
        """
        contributions = _row(self.contributions, sample)
        values = _row(self.values, sample)
        order = [j for j in np.argsort(-np.abs(contributions), kind="stable")[:n] if contributions[j] != 0]
        return [(self.feature_names[j], float(values[j]), float(contributions[j])) for j in order]

    def to_frame(self, n: int | None = 10) -> DataFrame:
        """Return a DataFrame with the columns sample, feature, value and contribution.

        Parameters
        ----------
        n : int or None, default=10
            Maximum number of features of each sample, as in `top`.
        """
        rows = [(name, *part) for i, name in enumerate(self.samples) for part in self.top(i, n)]
        return need("pandas").DataFrame(rows, columns=["sample", "feature", "value", "contribution"])

    def __str__(self) -> str:
        scores = self.scores
        parts = []
        for i, name in enumerate(self.samples[:MAX_SHOWN]):
            title = f"{self.label}, sample {name}: score {scores[i]:.4f}, base value {self.base_value:.4f}"
            parts.append(TextTable(["feature", "value", "contribution"], self.top(i), title).to_text())
        more = len(self.samples) - len(parts)
        if more:
            parts.append(f"and {more} more samples")
        return "\n\n".join(parts)

    __repr__ = __str__


def explain(model: Any, X: Any, label: Any, *, feature_names: Sequence[str] | None = None) -> Explanation:
    r"""Explain the scores of a label by the features.

    The contributions of the features of a sample and the base value add up to its score, which is that of
    `decision_function`; for a `ThresholdClassifier`, it is the log-odds of the probability.

    Linear models contribute :math:`w_d x_d` for feature d; their base value is the intercept. A `SelfPacedEnsemble`
    scales its features: its base value is the score of the mean training sample, or of a sample of zeros if most
    features are zeros, as in text. Its linear views are exact. The kernel view contributes its integrated gradients,
    and the correction for label dependencies is linearized for each sample, by the mean slope of the probability of
    each label; see `spmld.inspection.contributions`.

    Parameters
    ----------
    model : fitted estimator
        `SelfPacedEnsemble`, `MaskedBoosting`, `MaskedForest`, a linear model, or a pipeline or search of scikit-learn
        with one of these at its end. A pipeline is explained by the features of its last step.
    X : array-like or sparse matrix of shape (n_samples, n_features), or what a pipeline accepts
        Samples.
    label : str or int
        Name or index of the label.
    feature_names : sequence of str, optional
        Names of the features. By default, those seen during fit, those of ``get_feature_names_out`` of a pipeline, or
        x0, x1, ...

    Returns
    -------
    Explanation

    See Also
    --------
    top_features : The features with the largest contributions to each label.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from spmld import MaskedLogistic
    >>> from spmld.inspection import explain
    >>> songs = ["slow rain", "slow night", "slow sun", "fast dance", "fast sun"] * 10
    >>> tags = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]] * 10
    >>> model = make_pipeline(TfidfVectorizer(), MaskedLogistic()).fit(songs, tags)
    >>> print(explain(model, ["slow dance"], 0))
    label 0, sample 0: score 0.5687, base value 0.5288
    feature   value  contribution
    slow     0.5089        1.0195
    dance    0.8608       -0.9795
    """
    target = read_model(model, X, feature_names)
    j = target.find(label)
    contributions = target.contributions(j)
    base_value = float(target.model.base_values[j])
    return Explanation(target.label_names[j], target.feature_names, contributions, base_value, target.X, target.samples)


@dataclass(frozen=True)
class ModelInput:
    """A model in parts, with the features that reach it and the names of labels, features and samples."""

    model: ExplainedModel
    X: Any
    label_names: list[str]
    feature_names: list[str]
    samples: Sequence[Any]

    def contributions(self, label: int, samples: Any = slice(None)) -> Matrix:
        """Return the contributions of the features to the scores of a label, for some samples."""
        return self.model.contributions(self.X[samples], label)

    def find(self, label: Any) -> int:
        """Return the index of a label."""
        if str(label) in self.label_names:
            return self.label_names.index(str(label))
        n_labels = len(self.label_names)
        if isinstance(label, (int, np.integer)) and 0 <= label < n_labels:
            return int(label)
        raise ValueError(
            f"label must be the name of a label or an index from 0 to {n_labels - 1}, got {label!r}. Labels: "
            f"{', '.join(self.label_names[:20])}{', ...' if n_labels > 20 else ''}"
        )


def read_model(model: Any, X: Any, feature_names: Sequence[str] | None = None) -> ModelInput:
    """Return the last step of a pipeline or search, and the features that it is fitted on."""
    samples = list(X.index) if hasattr(X, "iloc") else None
    names = None
    while isinstance(model, Pipeline | BaseSearchCV):
        if isinstance(model, BaseSearchCV):
            model = model.best_estimator_
            continue
        steps = model[:-1]
        model = model[-1]
        X = steps.transform(X) if len(steps) else X
        names = _names_out(steps) or names
    explained = explained_model(model)
    d = explained.n_features
    names = check_names(feature_names, d, "feature") or feature_names_of(model) or names or [f"x{j}" for j in range(d)]
    if sp.issparse(X):
        check_sparse(X)
        X = sp.csr_array(X)
    else:
        X = np.asarray(to_numpy(X), dtype=float)
    if X.ndim != 2 or X.shape[1] != d:
        raise ValueError(f"X must have shape (n_samples, {d}), as in fit, got {X.shape}")
    labels = label_names_of(model) or [f"label {j}" for j in range(len(explained.base))]
    return ModelInput(explained, X, labels, list(names), samples if samples is not None else range(X.shape[0]))


def _names_out(steps: Any) -> list[str] | None:
    """Return the names of the output features of the steps of a pipeline, None if one of them has none."""
    try:
        return [str(name) for name in steps.get_feature_names_out()]
    except (AttributeError, ValueError):
        return None


def _row(array: Any, i: int) -> NDArray[Any]:
    return array[[i]].toarray().ravel() if sp.issparse(array) else array[i]
