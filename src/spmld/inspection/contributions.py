r"""Contributions of the features to the score of a label, which add up to the score.

Views that are linear contribute :math:`w_d z_d` for feature d, with the scaled features z.

The kernel view is a function g of the direction :math:`x = z / \|z\|`. Its contributions are integrated gradients from
the origin (Sundararajan et al. 2017),

.. math:: x_d \int_0^1 \frac{\partial g}{\partial x_d}(t x) \, dt,

which add up to :math:`g(x) - g(0)`. For Gaussian kernels the integral has a closed form.

Trees contribute, for each decision, the difference between the mean values of the training samples in the child and in
its parent, to the feature of the decision.

The correction for label dependencies depends on the scores of the other labels through :math:`\sigma(s_k)`. Its slope
is the mean slope of :math:`\sigma` between the base value and the score :math:`s_k`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import erf
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import Array, Matrix, row_slices
from spmld.core.losses import logistic
from spmld.ensemble import SelfPacedEnsemble
from spmld.ensemble.formula import EnsembleFormula, ViewTerm
from spmld.estimators import FeatureScaler, LabelBoosting, MaskedBoosting, MaskedForest
from spmld.estimators.model_parts import linear_coefficients
from spmld.estimators.transformers import LandmarkFeatures
from spmld.estimators.trees import Trees

_Floats = NDArray[np.float64]
SMALL_DIFFERENCE = 1e-6
"""Smallest difference of scores between which a mean slope is computed."""


@dataclass(frozen=True)
class LinearPart:
    """Scores ``z @ coef.T + intercept`` of features z."""

    coef: _Floats
    intercept: _Floats

    @property
    def base(self) -> _Floats:
        """Scores of a sample with z = 0."""
        return self.intercept

    def contributions(self, z: Any, weights: _Floats) -> Matrix:
        """Return the contributions to the weighted sum of the scores of the labels of each sample."""
        return _multiply(z, weights, self.coef)


@dataclass(frozen=True)
class KernelPart:
    """Scores that are linear in the kernels ``exp(-gamma * ||z - c||**2)`` of directions z and landmarks c."""

    coef: _Floats
    intercept: _Floats
    landmarks: Any
    gamma: float

    @property
    def base(self) -> _Floats:
        """Scores of a sample with z = 0."""
        return self.coef @ np.exp(-self.gamma * self._squares) + self.intercept

    @property
    def _squares(self) -> _Floats:
        """Squared norms of the landmarks, 1 or 0."""
        return np.asarray((self.landmarks * self.landmarks).sum(axis=1)).ravel()

    def contributions(self, z: Any, weights: _Floats) -> Matrix:
        """Return the contributions to the weighted sum of the scores of the labels of each sample."""
        gamma = self.gamma
        root = np.sqrt(gamma)
        squares = self._squares
        coef = weights @ self.coef
        q = _dense(z @ self.landmarks.T)
        # Integrals over t in [0, 1] of the kernel at t z, and of t times the kernel.
        scale = np.exp(gamma * (q**2 - squares)) * np.sqrt(np.pi) / (2 * root)
        integral = scale * (erf(root * (1 - q)) + erf(root * q))
        difference = np.exp(-gamma * np.maximum(1 + squares - 2 * q, 0)) - np.exp(-gamma * squares)
        moment = q * integral - difference / (2 * gamma)
        linear = _multiply(z, coef * integral, self.landmarks)
        quadratic = (coef * moment).sum(axis=1, keepdims=True)
        squared = sp.csr_array(z.multiply(z).multiply(quadratic)) if sp.issparse(z) else z**2 * quadratic
        return 2 * gamma * (linear - squared)


@dataclass(frozen=True)
class TreePart:
    """Scores ``trees.scores(z) + intercept`` of features z."""

    trees: Trees
    intercept: _Floats

    @property
    def base(self) -> _Floats:
        """Mean scores of the training samples."""
        return self.trees.expected_values()[self.trees.roots].sum(axis=0) + self.intercept

    def contributions(self, z: Any, weights: _Floats) -> Matrix:
        """Return the contributions to the weighted sum of the scores of the labels of each sample."""
        return self.trees.contributions(z, weights)


@dataclass(frozen=True)
class LabelTreesPart:
    """Scores ``trees[j].scores(z) + intercept[j]`` of label j."""

    trees: Sequence[Trees]
    intercept: _Floats

    @property
    def base(self) -> _Floats:
        """Mean scores of the training samples."""
        return np.array([trees.expected_values()[trees.roots].sum() for trees in self.trees]) + self.intercept

    def contributions(self, z: Any, weights: _Floats) -> Any:
        """Return the contributions to the weighted sum of the scores of the labels of each sample."""
        return label_contributions(self.trees, z, weights)


def label_contributions(trees: Sequence[Trees], z: Any, weights: _Floats) -> Any:
    """Return the contributions to the weighted sum of the values of the trees of each label."""
    return reduce(_add, (of_label.contributions(z, weights[:, [j]]) for j, of_label in enumerate(trees)))


@dataclass(frozen=True)
class ForestPart:
    """Scores of a `MaskedForest` of features z.

    The contributions of a sample to the mean probability of the trees are multiplied by the mean slope of the score
    between the mean probability of the training samples and that of the sample.
    """

    forest: MaskedForest

    @property
    def mean(self) -> _Floats:
        """Mean probabilities of the training samples of the trees."""
        pairs = zip(self.forest.trees_, self.forest.prior_, strict=True)
        return np.array([np.mean(t.expected_values()[t.roots]) if len(t.roots) else p for t, p in pairs])

    @property
    def base(self) -> _Floats:
        """Scores of the mean probabilities of the training samples."""
        return self.forest.scores_of(self.mean)

    def contributions(self, z: Any, weights: _Floats) -> Matrix:
        """Return the contributions to the weighted sum of the scores of the labels of each sample."""
        p = self.forest.mean_probabilities(z)
        change = self.forest.scores_of(p) - self.base
        gap = p - self.mean
        slopes = np.divide(change, gap, out=np.zeros_like(gap), where=np.abs(gap) > np.finfo(float).eps)
        factors = weights * slopes / np.maximum(self.forest.n_trees_, 1)
        return label_contributions(self.forest.trees_, z, factors)


Part = LinearPart | KernelPart | TreePart | LabelTreesPart | ForestPart


@dataclass(frozen=True)
class ExplainedModel:
    """A model whose scores are the correction of s, the sum of its parts times their factors.

    Attributes
    ----------
    parts : sequence of (float, callable, part)
        Factor of each part, and the function that returns its features.
    base : ndarray of shape (n_labels,)
        s of a sample without contributions.
    n_features : int
        Number of features.
    formula : EnsembleFormula, optional
        Formula with the correction of s. By default, there is none.
    """

    parts: Sequence[tuple[float, Callable[[Any], Any], Part]]
    base: _Floats
    n_features: int
    formula: EnsembleFormula | None = None

    @property
    def base_values(self) -> _Floats:
        """Scores of a sample whose scaled features are 0 and, for trees, the mean scores of the training samples."""
        return self.base if self.formula is None else self.formula.correction.apply(self.base[None, :])[0]

    def contributions(self, X: Any, label: int) -> Matrix:
        """Return the contributions of the features to the scores of a label.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Samples.
        label : int
            Index of the label.

        Returns
        -------
        ndarray or sparse array of shape (n_samples, n_features)
            Sparse if X is sparse and its features are not centered. The sum of the contributions of a sample and the
            base value of the label is its score.
        """
        # Weights of the labels of each sample in the score of the label.
        weights = np.tile(np.arange(len(self.base)) == label, (X.shape[0], 1)).astype(float)
        if self.formula is not None:
            correction = self.formula.correction
            mixture = self.formula.mixture(X)
            weights = correction.others[:, label] * _mean_slopes(logistic, mixture, self.base)
            weights[:, label] = correction.own[label]
            log_odds = (correction.log_odds(scores) for scores in (mixture, self.base[None, :]))
            weights *= _mean_slopes(correction.rates.observed_log_odds, *log_odds)[:, [label]]
        terms = (part.contributions(features(X), factor * weights) for factor, features, part in self.parts)
        return reduce(_add, terms)


def explained_model(model: Any) -> ExplainedModel:
    """Return an ensemble, boosted trees, a forest or a linear model in parts; raise ValueError for other models."""
    check_is_fitted(model)
    if not isinstance(model, SelfPacedEnsemble):
        part = _estimator_part(model)
        return ExplainedModel([(1.0, lambda X: X, part)], part.base, model.n_features_in_)
    formula = model.formula_
    parts = [(view.factor, *_view_part(view)) for view in formula.views]
    base = np.sum([factor * part.base for factor, _, part in parts], axis=0) + formula.offset
    return ExplainedModel(parts, base, model.n_features_in_, formula)


def _view_part(view: ViewTerm) -> tuple[Callable[[Any], Any], Part]:
    """Return the function that returns the features of a view, and its part."""
    name = view.name
    transformer = view.transformer
    estimator = view.estimator
    if not isinstance(transformer, FeatureScaler | LandmarkFeatures):
        raise ValueError(
            f"the views of the ensemble must have a FeatureScaler or LandmarkFeatures as transformer, got "
            f"{type(transformer).__name__} in the view {name!r}"
        )
    try:
        if isinstance(transformer, FeatureScaler):
            return transformer.transform, _estimator_part(estimator)
        (coef, intercept), kernel = linear_coefficients(estimator), transformer.kernel_
    except ValueError as error:
        raise ValueError(f"the view {name!r} of the ensemble: {error}") from None
    landmarks = sp.csr_array(kernel.components_) if sp.issparse(kernel.components_) else kernel.components_
    part = KernelPart(coef @ kernel.normalization_, intercept, landmarks, float(kernel.gamma))
    return transformer.directions, part


def _estimator_part(estimator: Any) -> Part:
    if isinstance(estimator, MaskedBoosting):
        return TreePart(estimator.trees_, estimator.intercept_)
    if isinstance(estimator, LabelBoosting):
        return LabelTreesPart(estimator.trees_, estimator.intercept_)
    if isinstance(estimator, MaskedForest):
        return ForestPart(estimator)
    return LinearPart(*linear_coefficients(estimator))


def _mean_slopes(function: Callable[[_Floats], _Floats], s: _Floats, base: _Floats) -> _Floats:
    """Return the mean slopes of a function between the base values and the scores."""
    difference = s - base
    # The slope between points that are close would be inexact.
    step = np.where(np.abs(difference) < SMALL_DIFFERENCE, SMALL_DIFFERENCE, difference)
    return (function(base + step) - function(base)) / step


def _multiply(x: Any, left: _Floats, right: Any) -> Matrix:
    """Return ``x * (left @ right)``, computed only for the stored entries of a sparse x."""
    if not sp.issparse(x):
        return x * (left @ right)
    parts = [x[rows].multiply(left[rows] @ right) for rows in row_slices(*x.shape)]
    return sp.vstack(parts, format="csr")


def _add(a: Any, b: Any) -> Matrix:
    """Return the sum, dense unless both are sparse."""
    if sp.issparse(a) and sp.issparse(b):
        return a + b
    return _dense(a) + _dense(b)


def _dense(a: Any) -> Array:
    return a.toarray() if sp.issparse(a) else a
