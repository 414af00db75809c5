"""ML-LRC: labels completed by a low-rank map of themselves (after Xu, Wang, Shen, Wang and Chen, 2014)."""

from __future__ import annotations

from typing import Any

import numpy as np

from spmld._arrays import move, numpy_dtype
from spmld.core.mllrc import MapFit, regression, solve, targets
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import is_integer, is_number, require
from spmld.estimators._linear import pose, together
from spmld.estimators._progress import CallbackSupportMixin, check_progress, rounds, warn_of_limit
from spmld.labels import Labels

__all__ = ["MLLRC"]


class MLLRC(CallbackSupportMixin, MultiLabelEstimator):
    r"""Multi-label learning with low-rank label correlations, on partly observed labels: a reconstruction of ML-LRC.

    No code of ML-LRC [1]_ was ever released. What is certain is its plan: a low-rank matrix S of label correlations,
    labels Y S that supplement the observed ones Y, and a linear model of those. This class minimises

    .. math::

        \frac12 \|X W + 1 b^\top - Y S\|^2 + \frac{\alpha}{2} \sum_{ij} J_{ij} (Y S - Y)_{ij}^2
        + \frac{\beta}{2} \|W\|^2 + \gamma \|S\|_*

    with labels -1 and +1, zeros for those that are missing, :math:`J` the observed entries and :math:`\|\cdot\|_*` the
    sum of the singular values. Whether its authors weigh the terms like this is not known.

    Parameters
    ----------
    completion_penalty : float, default=10.0
        :math:`\alpha`, how closely Y S keeps to the observed labels. It must be positive: with 0 the minimum is
        W = S = 0.
    alpha : float, default=30.0
        :math:`\beta`.
    nuclear_penalty : float, default=30.0
        :math:`\gamma`. The larger, the lower the rank of S; 0 leaves the rank free.
    fit_intercept : bool, default=False
        Whether each label has an intercept, which is not penalised.
    max_iter : int, default=500
        Most proximal steps.
    tol : float, default=1e-4
        Stop when a step moves S by less than this share of the norm of the unit matrix. The regression is solved until
        its gradient is this share of what it is at zero.
    callback : callable or None, default=None
        Called after each step with its record of `history_`; if it returns True the fit ends there.
    verbose : bool or int, default=False
        Whether to log each step, at level INFO to the logger "spmld".

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
        W^T.
    intercept_ : array of shape (n_labels,)
        b.
    label_map_ : array of shape (n_labels, n_labels)
        S. A row of labels with zeros for the missing, times S, is a completed row.
    history_ : list of dict
        After each proximal step: its number "step", the "objective" and the "rank" of S.
    n_iter_ : int
        Proximal steps.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_
        As in `GLOCAL`.

    See Also
    --------
    MaskedRidge : Ridge regression for each label on its observed entries alone.

    Notes
    -----
    Given S, the best W is the ridge regression of Y S, which is the ridge regression of Y times S. So features are
    used in one regression for all labels, and what is left is a convex problem in S alone, solved by accelerated
    proximal gradient with singular-value thresholding from S = I.

    ``entry_weight`` multiplies both the squares of the second term and the labels themselves: a label of weight 1/2 is
    half a label, and one of weight 0 is missing.

    References
    ----------
    .. [1] L. Xu, Z. Wang, Z. Shen, Y. Wang and E. Chen. "Learning low-rank label correlations for multi-label
       classification with missing labels." ICDM 2014.

    Examples
    --------
    >>> from spmld import MLLRC
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> model = MLLRC(nuclear_penalty=1000.0).fit(data.X, Y)
    >>> model.history_[-1]["rank"]
    3
    """

    loss = "squared"

    def __init__(
        self,
        *,
        completion_penalty: float = 10.0,
        alpha: float = 30.0,
        nuclear_penalty: float = 30.0,
        fit_intercept: bool = False,
        max_iter: int = 500,
        tol: float = 1e-4,
        callback: Any = None,
        verbose: bool | int = False,
    ):
        self.completion_penalty = completion_penalty
        self.alpha = alpha
        self.nuclear_penalty = nuclear_penalty
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_progress(self)
        enough = is_number(self.completion_penalty) and self.completion_penalty > 0
        require(self, "completion_penalty", "positive (with 0 the minimum is W = S = 0)", enough)
        require(self, "alpha", "positive", is_number(self.alpha) and self.alpha > 0)
        require(self, "nuclear_penalty", "0 or more", is_number(self.nuclear_penalty) and self.nuclear_penalty >= 0)
        require(self, "fit_intercept", "True or False", isinstance(self.fit_intercept, (bool, np.bool_)))
        require(self, "max_iter", "an integer of 1 or more", is_integer(self.max_iter) and self.max_iter >= 1)
        require(self, "tol", "positive", is_number(self.tol) and self.tol > 0)

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        problem = pose(X, labels, weights, bool(self.fit_intercept))
        d, l = X.shape[1], labels.signs.shape[1]
        start = move(np.zeros((d + int(self.fit_intercept), l), dtype=numpy_dtype(X)), X)
        full = targets(problem, start.dtype)
        B = regression(full, self.alpha, start, self.tol)
        fit = MapFit.of(problem, full, B, self.alpha, self.completion_penalty)
        with rounds(self) as report:
            S, self.history_, settled = solve(
                fit, self.nuclear_penalty, max_iter=self.max_iter, tol=self.tol, callback=report
            )
        B = B @ S
        self.coef_ = B[:d, :].T
        self.intercept_ = B[-1, :] if self.fit_intercept else 0 * B[0, :]
        self.label_map_ = S
        self.n_iter_ = len(self.history_)
        if not settled:
            warn_of_limit(self, f"max_iter={self.max_iter} proximal steps were not enough to reach tol={self.tol}")

    def _scores(self, X: Any) -> Any:
        X, W, b = together(X, self.coef_, self.intercept_)
        return X @ W.T + b
