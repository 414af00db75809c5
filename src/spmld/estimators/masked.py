"""One linear model per label, each on its own observed entries, all solved together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from spmld._arrays import move, namespace, numpy_dtype, to_numpy
from spmld.core.initialization import label_means
from spmld.core.linear import Features, Penalty, label_laplacian
from spmld.core.losses import LOSSES
from spmld.core.newton import minimise
from spmld.core.problem import Problem
from spmld.estimators._base import MultiLabelEstimator
from spmld.estimators._inputs import is_integer, is_number, require
from spmld.estimators._linear import pose, together
from spmld.estimators.progress import warn_not_converged
from spmld.labels import Labels

__all__ = ["MaskedLogistic", "MaskedRidge"]


class _MaskedLinear(MultiLabelEstimator):
    """sum J o loss(Y, X W + 1 b^T) + t/2 (|W|^2 + g tr(W L W^T)). Subclasses give the loss and t."""

    label_graph_penalty: float
    fit_intercept: bool
    tol: float
    max_iter: int
    warm_start: bool
    n_jobs: int | None

    @abstractmethod
    def _ridge(self) -> float:
        """The factor t."""

    @abstractmethod
    def _level(self, means: Any) -> Any:
        """The scores of a model without features, from the mean sign of each label."""

    def _check_parameters(self) -> None:
        require(
            self,
            "label_graph_penalty",
            "0 or more",
            is_number(self.label_graph_penalty) and self.label_graph_penalty >= 0,
        )
        require(self, "tol", "positive", is_number(self.tol) and self.tol > 0)
        require(self, "max_iter", "an integer of 1 or more", is_integer(self.max_iter) and self.max_iter >= 1)
        for name in ("fit_intercept", "warm_start"):
            require(self, name, "True or False", isinstance(getattr(self, name), (bool, np.bool_)))

    def _fit(self, X: Any, labels: Labels, weights: Any) -> None:
        problem = pose(X, labels, weights, bool(self.fit_intercept))
        start = self._start(X, problem)
        graph = label_laplacian(problem, start) if self.label_graph_penalty > 0 else None
        t = self._ridge()
        result = minimise(
            problem,
            LOSSES[self.loss],
            Features(self.fit_intercept),
            Penalty(t, self.fit_intercept, graph, t * self.label_graph_penalty),
            start,
            tol=self.tol,
            max_iter=self.max_iter,
            over=self._over,
        )
        self.coef_ = result.B[: X.shape[1], :].T
        self.intercept_ = result.B[-1, :] if self.fit_intercept else 0 * result.B[0, :]
        self.n_iter_ = result.steps
        if not result.converged:
            warn_not_converged(self, f"max_iter={self.max_iter} Newton steps were not enough to reach tol={self.tol}")

    def _start(self, X: Any, problem: Problem) -> Any:
        """What the last fit found, with `warm_start`; else zeros, and intercepts as without features."""
        d, l = X.shape[1], problem.blocks[0].Y.shape[1]
        xp, rows = namespace(X), d + int(self.fit_intercept)
        if self.warm_start and hasattr(self, "coef_") and tuple(self.coef_.shape) == (l, d):
            last = np.column_stack([to_numpy(self.coef_), to_numpy(self.intercept_)]).T[:rows]
            seen = problem.sum(lambda block: namespace(block.J).any(block.J != 0, axis=0))
            return move((last * (to_numpy(seen) > 0)).astype(numpy_dtype(X)), X)
        start = move(np.zeros((rows, l), dtype=numpy_dtype(X)), X)
        if self.fit_intercept:
            start = xp.concat([start[:-1, :], self._level(label_means(problem, start))[None, :]])
        return start

    def _over(self, function: Callable[..., Any], groups: Iterable[Any]) -> Iterable[Any]:
        """Groups of labels one after the other, or in threads: the products they spend their time in allow it."""
        return Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(function)(group) for group in groups)

    def _scores(self, X: Any) -> Any:
        X, W, b = together(X, self.coef_, self.intercept_)
        return X @ W.T + b


class MaskedLogistic(_MaskedLinear):
    r"""Logistic regression for each label on its observed entries, all labels solved together.

    .. math::

        C \sum_{ij} J_{ij} \log(1 + e^{-Y_{ij} F_{ij}}) + \frac12 \|W\|^2 + \frac{g}{2} \mathrm{tr}(W L W^\top),
        \quad F = X W + 1 b^\top

    with :math:`J` the observed entries or their weights. Without the label graph (:math:`g = 0`) this is scikit-learn's
    `LogisticRegression` on the rows where a label is observed, label by label, but solved in one go: truncated Newton
    in which every product with X serves all labels. The label graph draws the models of labels that occur together
    towards each other.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, as in `LogisticRegression`.
    label_graph_penalty : float, default=0.0
        :math:`g`. :math:`L` is the Laplacian of the graph of the labels, whose edges are the cosines of their
        positives among the samples where both are observed.
    fit_intercept : bool, default=True
        Whether each label has an intercept, which is not penalised.
    tol : float, default=1e-3
        Stop when the norm of a label's gradient is this share of what it is at zero, or where rounding stops it. With
        features of similar scale 1e-8 gives coefficients that are right to about 1e-4.
    max_iter : int, default=100
        Most Newton steps.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    n_jobs : int or None, default=None
        Threads for groups of labels.

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
        W^T.
    intercept_ : array of shape (n_labels,)
        b.
    n_iter_ : int
        Newton steps of the label that took most.
    classes_, n_labels_, label_names_, n_features_in_, feature_names_in_
        As in `GLOCAL`.

    See Also
    --------
    MaskedRidge : The same with the squared loss.
    PerLabelClassifier : Any scikit-learn classifier for each label.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> MaskedLogistic(C=3.0).fit(data.X, Y).predict_proba(data.X[:2]).shape
    (2, 12)
    """

    loss = "logistic"

    def __init__(
        self,
        *,
        C: float = 1.0,
        label_graph_penalty: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ):
        self.C = C
        self.label_graph_penalty = label_graph_penalty
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require(self, "C", "positive", is_number(self.C) and self.C > 0)

    def _ridge(self) -> float:
        return 1 / self.C

    def _level(self, means: Any) -> Any:
        """The logit of the share of positives, which a label of one sign alone must not take to infinity."""
        return 2 * namespace(means).atanh(0.999 * means)


class MaskedRidge(_MaskedLinear):
    r"""Ridge regression for each label on its observed entries, all labels solved together.

    .. math::

        \|\sqrt{J} \circ (Y - X W - 1 b^\top)\|^2 + \alpha \|W\|^2 + \alpha g\, \mathrm{tr}(W L W^\top)

    on labels -1 and +1, with :math:`J` the observed entries (weights multiply the squares). Without the label graph
    this is scikit-learn's `Ridge` on the rows where a label is observed, label by label, solved by conjugate gradient
    for all labels at once.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, as in `Ridge`.
    label_graph_penalty : float, default=0.0
        :math:`g`, see `MaskedLogistic`.
    fit_intercept : bool, default=True
        Whether each label has an intercept, which is not penalised.
    tol : float, default=1e-3
        Stop when the norm of a label's gradient is this share of what it is at zero.
    max_iter : int, default=100
        Most Newton steps, of which one is usually enough.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    n_jobs : int or None, default=None
        Threads for groups of labels.

    Attributes
    ----------
    coef_, intercept_, n_iter_, classes_, n_labels_, label_names_, n_features_in_, feature_names_in_
        As in `MaskedLogistic`.

    See Also
    --------
    MaskedLogistic : The same with the logistic loss.

    Examples
    --------
    >>> from spmld import MaskedRidge
    >>> from spmld.datasets import make_planted
    >>> from spmld.labels import hide_labels
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    >>> MaskedRidge(alpha=1.0).fit(data.X, Y).decision_function(data.X[:2]).shape
    (2, 12)
    """

    loss = "squared"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        label_graph_penalty: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 100,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ):
        self.alpha = alpha
        self.label_graph_penalty = label_graph_penalty
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require(self, "alpha", "positive", is_number(self.alpha) and self.alpha > 0)

    def _ridge(self) -> float:
        return self.alpha

    def _level(self, means: Any) -> Any:
        return means
