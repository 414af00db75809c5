"""LEML: low-rank linear models of all labels (Yu, Jain, Kar and Dhillon, 2014)."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from spmld._arrays import move, numpy_dtype
from spmld.core.leml import Factors, solve
from spmld.core.losses import LOSSES
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import is_integer, is_number, require
from spmld.estimators._linear import pose, together
from spmld.estimators._progress import CallbackSupportMixin, check_progress, rounds, warn_of_limit
from spmld.labels import Labels

__all__ = ["LEML"]


class LEML(CallbackSupportMixin, MultiLabelEstimator):
    r"""Low-rank empirical risk minimisation for multi-label learning, on partly observed labels.

    All labels share few linear features :math:`X W` of the samples [1]_:

    .. math::

        \sum_{ij} J_{ij}\, \ell(Y_{ij}, (X W H^\top + 1 b^\top)_{ij}) + \frac{\lambda}{2} (\|W\|^2 + \|H\|^2)

    with :math:`J` the observed entries or their weights. Mind the half before :math:`\lambda`, and before the squared
    losses. W and then (H, b) are minimised in turn: W in one problem of n_features x k unknowns, by Newton's method and
    conjugate gradient without a matrix of that size squared, H label by label.

    Parameters
    ----------
    n_components : int or float, default=10
        Rank k. A float in (0, 1] is a share of the number of labels, rounded up. No more than there are labels are
        used.
    alpha : float, default=10.0
        :math:`\lambda`. The released code has 0.1, the paper chooses it by validation. Without
        intercept, from the largest singular value of :math:`X^\top (J \circ D)` on, with D the slopes of the losses at
        zero, W and H are zero.
    loss : {"squared", "logistic", "squared_hinge"}, default="squared"
        Loss of an entry, on labels -1 and +1.
    fit_intercept : bool, default=False
        Whether each label has an intercept, which is not penalised. As published there is none.
    max_iter : int, default=10
        Most rounds, each W and then H.
    tol : float or None, default=None
        Stop when a round lowers the objective by less than this share of it, and warn if none does. None: run
        `max_iter` rounds, as published.
    random_state : int, RandomState or None, default=None
        Seed of the start: W, then H, uniform on [0, 1).
    callback : callable or None, default=None
        Called after each round with its last record of `history_`; if it returns True the fit ends there.
    verbose : bool or int, default=False
        Whether to log each round, at level INFO to the logger "spmld".

    Attributes
    ----------
    feature_weights_ : array of shape (n_features, k)
        W.
    label_factors_ : array of shape (n_labels, k)
        H.
    coef_ : array of shape (n_labels, n_features)
        H W^T.
    intercept_ : array of shape (n_labels,)
        b.
    history_ : list of dict
        After each half of a round: its "iteration", its "step", "W" or "H", and the "objective".
    n_iter_ : int
        Rounds run.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_
        As in `GLOCAL`.

    See Also
    --------
    MaskedRidge : A model of its own for each label.
    GLOCAL : Latent labels of the samples that the features explain up to an error, and label correlations.

    Notes
    -----
    For :math:`k \ge \min(d, l)` the penalty on the factors is that of their product by its nuclear norm:
    the minimum is the one of :math:`\sum J \circ \ell(Y, X B) + \lambda \|B\|_*`.

    References
    ----------
    .. [1] H.-F. Yu, P. Jain, P. Kar and I. S. Dhillon. "Large-scale multi-label learning with missing labels." ICML
       2014.

    Examples
    --------
    >>> from spmld import LEML
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> model = LEML(n_components=0.5, random_state=0).fit(data.X, Y)
    >>> model.label_factors_.shape
    (12, 6)
    """

    def __init__(
        self,
        *,
        n_components: float = 10,
        alpha: float = 10.0,
        loss: Literal["squared", "logistic", "squared_hinge"] = "squared",
        fit_intercept: bool = False,
        max_iter: int = 10,
        tol: float | None = None,
        random_state: Any = None,
        callback: Any = None,
        verbose: bool | int = False,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_progress(self)
        k = self.n_components
        share = isinstance(k, (float, np.floating)) and 0 < k <= 1
        require(
            self, "n_components", "an integer of 1 or more, or a float in (0, 1]", share or (is_integer(k) and k >= 1)
        )
        require(self, "alpha", "positive", is_number(self.alpha) and self.alpha > 0)
        known = isinstance(self.loss, str) and self.loss in LOSSES
        require(self, "loss", " or ".join(map(repr, LOSSES)), known)
        require(self, "fit_intercept", "True or False", isinstance(self.fit_intercept, (bool, np.bool_)))
        require(self, "max_iter", "an integer of 1 or more", is_integer(self.max_iter) and self.max_iter >= 1)
        require(self, "tol", "0 or more, or None", self.tol is None or (is_number(self.tol) and self.tol >= 0))

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        problem = pose(X, labels, weights, bool(self.fit_intercept))
        rng = check_random_state(self.random_state)
        (d, l), k = (X.shape[1], labels.signs.shape[1]), self.n_components
        k = min(int(k) if is_integer(k) else math.ceil(k * l), l)
        W, H = (move(rng.uniform(size=shape).astype(numpy_dtype(X), copy=False), X) for shape in ((d, k), (l, k)))
        start = Factors(W, H, 0 * H[:, 0])
        with rounds(self) as report:
            factors, self.history_, settled = solve(
                problem, LOSSES[self.loss], self.alpha, start, max_iter=self.max_iter, tol=self.tol, callback=report
            )
        self.feature_weights_, self.label_factors_, self.intercept_ = factors.W, factors.H, factors.b
        self.n_iter_ = len(self.history_) // 2
        if self.tol is not None and not settled:
            warn_of_limit(self, f"max_iter={self.max_iter} rounds were not enough to reach tol={self.tol}")

    @property
    def coef_(self) -> Any:
        """(n_labels, n_features): the linear predictor of each label, H W^T."""
        return self.label_factors_ @ self.feature_weights_.T

    def _scores(self, X: Any) -> Any:
        X, W, H, b = together(X, self.feature_weights_, self.label_factors_, self.intercept_)
        return (X @ W) @ H.T + b
