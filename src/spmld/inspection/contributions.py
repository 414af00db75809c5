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

from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import erf, expit

from spmld._arrays import row_slices
from spmld.estimators import MaskedBoosting, SelfPacedEnsemble
from spmld.persistence import linear_predictor
from spmld.persistence.ensemble_arrays import AnyView, EnsembleArrays, KernelView, LinearView, TreeView, ensemble_arrays

_Floats = NDArray[np.float64]


def model_arrays(model: Any) -> EnsembleArrays:
    """Return an ensemble, boosted trees or a linear predictor as arrays; raise ValueError for other models."""
    if isinstance(model, SelfPacedEnsemble):
        return ensemble_arrays(model)
    if isinstance(model, MaskedBoosting):
        l, d = model.n_labels_, model.n_features_in_
        view: AnyView = TreeView(np.zeros(d), np.ones(d), model.trees_, model.intercept_)
    else:
        linear = linear_predictor(model, decisions=False)
        l, d = linear.coef.shape
        view = LinearView(np.zeros(d), np.ones(d), linear.coef, linear.intercept)
    return EnsembleArrays([view], np.ones(l), np.zeros((l, l)), np.zeros(l))


def label_contributions(arrays: EnsembleArrays, X: Any, label: int, s: _Floats) -> tuple[Any, float]:
    """Return the contributions of the features to the scores of a label, and the base value.

    Parameters
    ----------
    arrays : EnsembleArrays
        The model.
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples.
    label : int
        Index of the label.
    s : ndarray of shape (n_samples, n_labels)
        ``arrays.view_scores(X)``.

    Returns
    -------
    contributions : ndarray or sparse array of shape (n_samples, n_features)
        Sparse if X is sparse and its features are not centered.
    base_value : float
        Score of a sample whose scaled features are 0 and, for trees, the mean score of the training samples. The sum of
        the contributions of a sample and the base value is its score.
    """
    base = np.sum([view.base for view in arrays.views], axis=0)
    # Weights of the labels of each sample in the score of the label.
    weights = arrays.others[:, label] * _mean_slopes(s, base)
    weights[:, label] = arrays.own[label]
    parts = (_view_contributions(view, X, weights) for view in arrays.views)
    return reduce(_add, parts), float(arrays.correct(base[None, :])[0, label])


def _mean_slopes(s: _Floats, base: _Floats) -> _Floats:
    """Return the mean slopes of the logistic function between the base values and the scores."""
    difference = s - base
    small = np.abs(difference) < 1e-6
    slope = (expit(s) - expit(base)) / np.where(small, 1, difference)
    return np.where(small, expit(s) * expit(-s), slope)


def _view_contributions(view: AnyView, X: Any, weights: _Floats) -> Any:
    """Return the contributions to the weighted sum of the scores of the labels of each sample."""
    x = view.features(X)
    if isinstance(view, TreeView):
        return view.trees.contributions(x, weights)
    if not isinstance(view, KernelView):
        return _multiply(x, weights, view.coef)
    coef = weights @ view.coef
    q, gamma = _dense(x @ view.landmarks.T), view.gamma
    root, squares = np.sqrt(gamma), view.squares
    # Integrals over t in [0, 1] of the kernel at t x, and of t times the kernel.
    integral = np.exp(gamma * (q**2 - squares)) * (erf(root * (1 - q)) + erf(root * q)) * np.sqrt(np.pi) / (2 * root)
    difference = np.exp(-gamma * np.maximum(1 + squares - 2 * q, 0)) - np.exp(-gamma * squares)
    moment = q * integral - difference / (2 * gamma)
    linear = _multiply(x, coef * integral, view.landmarks)
    quadratic = (coef * moment).sum(axis=1, keepdims=True)
    squared = sp.csr_array(x.multiply(x).multiply(quadratic)) if sp.issparse(x) else x**2 * quadratic
    return 2 * gamma * (linear - squared)


def _multiply(x: Any, left: _Floats, right: Any) -> Any:
    """Return ``x * (left @ right)``, computed only for the stored entries of a sparse x."""
    if not sp.issparse(x):
        return x * (left @ right)
    x, data = sp.csr_array(x), np.empty(x.nnz)
    for rows in row_slices(*x.shape):
        start, stop = x.indptr[rows.start], x.indptr[min(rows.stop, x.shape[0])]
        local = np.repeat(np.arange(x[rows].shape[0]), np.diff(x[rows].indptr))
        data[start:stop] = x.data[start:stop] * (left[rows] @ right)[local, x.indices[start:stop]]
    return sp.csr_array((data, x.indices, x.indptr), shape=x.shape)


def _add(a: Any, b: Any) -> Any:
    """Return the sum, dense unless both are sparse."""
    if sp.issparse(a) and sp.issparse(b):
        return a + b
    return _dense(a) + _dense(b)


def _dense(a: Any) -> Any:
    return a.toarray() if sp.issparse(a) else a
