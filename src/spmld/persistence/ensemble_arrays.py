"""SelfPacedEnsemble as arrays: its views, the correction for label dependencies and the calibration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import features_to_numpy, to_numpy
from spmld.estimators import FeatureScaler, LandmarkFeatures, MaskedBoosting, SelfPacedEnsemble
from spmld.estimators.ensemble.score_correction import MIN_SLOPE
from spmld.estimators.trees import Trees
from spmld.persistence.linear import linear_predictor

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearView:
    """A view of an ensemble, linear in the features z = (x - mean) * factor.

    Attributes
    ----------
    mean, factor : ndarray of shape (n_features,)
        Means and factors of the features.
    coef : ndarray of shape (n_labels, n_features)
        Coefficients, multiplied by the weight of the view and the slope of its calibration.
    intercept : ndarray of shape (n_labels,)
        Intercepts, with the shift of the calibration.

    Examples
    --------
    See `ensemble_arrays`.
    """

    mean: _Floats
    factor: _Floats
    coef: _Floats
    intercept: _Floats

    def features(self, X: Any) -> Any:
        """Return z; sparse if X is sparse and no mean is subtracted."""
        return _scale(X, self.mean, self.factor)

    def scores(self, X: Any) -> _Floats:
        """Return the contribution of the view to the scores, of shape (n_samples, n_labels)."""
        return self.features(X) @ self.coef.T + self.intercept

    @property
    def base(self) -> _Floats:
        """Scores of a sample with z = 0."""
        return self.intercept


@dataclass(frozen=True)
class KernelView(LinearView):
    """A view of an ensemble, linear in the Gaussian kernels of the direction z / ||z|| and the landmarks.

    Attributes
    ----------
    mean, factor, intercept
        As in `LinearView`.
    coef : ndarray of shape (n_labels, n_landmarks)
        Coefficients of the kernels.
    landmarks : ndarray or sparse array of shape (n_landmarks, n_features)
        Directions of the landmarks.
    gamma : float
        The kernel is ``exp(-gamma * ||a - b||**2)``.

    Examples
    --------
    See `ensemble_arrays`.
    """

    landmarks: Any
    gamma: float

    def features(self, X: Any) -> Any:
        """Return the directions z / ||z||, and 0 for z = 0."""
        z = super().features(X)
        norms = np.sqrt(np.asarray(z.multiply(z).sum(axis=1)).ravel() if sp.issparse(z) else np.sum(z**2, axis=1))
        inverse = (1 / np.where(norms == 0, 1, norms))[:, None]
        return sp.csr_array(z.multiply(inverse)) if sp.issparse(z) else z * inverse

    @property
    def squares(self) -> _Floats:
        """Squared norms of the landmarks, 1 or 0."""
        C = self.landmarks
        return np.asarray(C.multiply(C).sum(axis=1)).ravel() if sp.issparse(C) else np.sum(C**2, axis=1)

    def kernels(self, directions: Any) -> _Floats:
        """Return the kernels of directions and landmarks, of shape (n_samples, n_landmarks)."""
        norms = np.asarray((directions * directions).sum(axis=1)).reshape(-1, 1)
        products = _dense(directions @ self.landmarks.T)
        return np.exp(-self.gamma * np.maximum(norms + self.squares - 2 * products, 0))

    def scores(self, X: Any) -> _Floats:
        """Return the contribution of the view to the scores, of shape (n_samples, n_labels)."""
        return self.kernels(self.features(X)) @ self.coef.T + self.intercept

    @property
    def base(self) -> _Floats:
        """Scores of a sample with z = 0."""
        return self.coef @ np.exp(-self.gamma * self.squares) + self.intercept


@dataclass(frozen=True)
class TreeView:
    """A view of an ensemble with trees on the features z = (x - mean) * factor.

    Attributes
    ----------
    mean, factor, intercept
        As in `LinearView`.
    trees : Trees
        Trees, whose values are multiplied by the weight of the view and the slope of its calibration.

    Examples
    --------
    See `ensemble_arrays`.
    """

    mean: _Floats
    factor: _Floats
    trees: Trees
    intercept: _Floats

    def features(self, X: Any) -> Any:
        """Return z."""
        return _scale(X, self.mean, self.factor)

    def scores(self, X: Any) -> _Floats:
        """Return the contribution of the view to the scores, of shape (n_samples, n_labels)."""
        return self.trees.scores(self.features(X)) + self.intercept

    @property
    def base(self) -> _Floats:
        """Mean scores of the training samples."""
        return self.trees.expected_values()[self.trees.roots].sum(axis=0) + self.intercept


AnyView = LinearView | TreeView


@dataclass(frozen=True)
class EnsembleArrays:
    """A `SelfPacedEnsemble` as arrays.

    With the sum s of the scores of the views, the scores of the ensemble are ``s * own + expit(s) @ others + offset``.

    Attributes
    ----------
    views : list of LinearView, KernelView and TreeView
        Views.
    own, offset : ndarray of shape (n_labels,)
        Factors and offsets of the scores.
    others : ndarray of shape (n_labels, n_labels)
        Effects of the other labels; the diagonal is 0.

    Examples
    --------
    See `ensemble_arrays`.
    """

    views: Sequence[AnyView]
    own: _Floats
    others: _Floats
    offset: _Floats

    def view_scores(self, X: Any) -> _Floats:
        """Return the sum of the scores of the views."""
        return np.sum([view.scores(X) for view in self.views], axis=0)

    def correct(self, s: _Floats) -> _Floats:
        """Return the scores of the ensemble from the sum of the scores of the views."""
        return s * self.own + expit(s) @ self.others + self.offset


def ensemble_arrays(model: SelfPacedEnsemble) -> EnsembleArrays:
    """Return a fitted ensemble as arrays.

    Parameters
    ----------
    model : SelfPacedEnsemble
        Fitted ensemble. The transformer of each view must be a `FeatureScaler` or `LandmarkFeatures`, and its estimator
        a linear predictor, or `MaskedBoosting` on scaled features; this holds for the built-in views.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld import SelfPacedEnsemble
    >>> from spmld.datasets import make_planted
    >>> from spmld.persistence.ensemble_arrays import ensemble_arrays
    >>> data = make_planted(n_samples=200, random_state=0)
    >>> model = SelfPacedEnsemble(random_state=0).fit(data.X, data.Y)
    >>> arrays = ensemble_arrays(model)
    >>> bool(np.allclose(arrays.correct(arrays.view_scores(data.X)), model.decision_function(data.X)))
    True
    """
    check_is_fitted(model)
    answers = model.correction_
    slope = max(answers.calibration_.slope_, MIN_SLOPE)
    weight, dependency = answers.dependency_weight, answers.dependency_
    own, constant = np.diag(dependency.coef_[:-1]), dependency.coef_[-1]
    return EnsembleArrays(
        [_view(name, model) for name in model.estimators_],
        own=slope * (1 + weight * own),
        others=slope * weight * dependency.label_dependencies_,
        offset=slope * weight * constant + answers.calibration_.intercepts_,
    )


def _view(name: str, model: SelfPacedEnsemble) -> AnyView:
    transformer, calibration = model.transformers_[name], model.mixture_.calibrations_[name]
    if not isinstance(transformer, FeatureScaler | LandmarkFeatures):
        raise ValueError(
            f"the views of the ensemble must have a FeatureScaler or LandmarkFeatures as transformer, got "
            f"{type(transformer).__name__} in the view {name!r}"
        )
    estimator, weight = model.estimators_[name], model.view_weights_[name]
    mean, factor = (
        np.broadcast_to(to_numpy(part), model.n_features_in_).astype(float)
        for part in (transformer.mean_, transformer.factor_)
    )
    if isinstance(estimator, MaskedBoosting) and isinstance(transformer, FeatureScaler):
        trees = replace(estimator.trees_, value=weight * calibration.slopes_ * estimator.trees_.value)
        intercept = weight * (calibration.slopes_ * estimator.intercept_ + calibration.intercepts_)
        return TreeView(mean, factor, trees, intercept)
    try:
        linear = linear_predictor(estimator, decisions=False)
    except ValueError as error:
        raise ValueError(f"the view {name!r} of the ensemble: {error}") from None
    coef = weight * calibration.slopes_ * linear.coef
    intercept = weight * (calibration.slopes_ * linear.intercept + calibration.intercepts_)
    if isinstance(transformer, FeatureScaler):
        return LinearView(mean, factor, coef, intercept)
    kernel = transformer.kernel_
    landmarks = features_to_numpy(kernel.components_)
    coef = coef @ kernel.normalization_
    return KernelView(mean, factor, coef, intercept, landmarks, float(kernel.gamma))


def _scale(X: Any, mean: _Floats, factor: _Floats) -> Any:
    if sp.issparse(X) and not mean.any():
        return sp.csr_array(X.multiply(factor))
    return (_dense(X) - mean) * factor


def _dense(X: Any) -> Any:
    return X.toarray() if sp.issparse(X) else X
