"""ML-LRC: labels completed by a low-rank map (after Xu, Wang, Shen, Wang and Chen, 2014)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from spmld._arrays import move, numpy_dtype
from spmld._validation import NonNegative, Positive, PositiveInt
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.core.mllrc_solver import MapFit, regression, solve_mllrc, targets
from spmld.estimators.linear_models import LinearModel
from spmld.estimators.progress import report_progress, set_history
from spmld.model_selection.samples import Samples


@dataclass(kw_only=True, eq=False, repr=False)
class MLLRC(LinearModel):
    r"""Multi-label learning with low-rank label correlations, for partially observed labels (ML-LRC, reconstructed).

    The code of ML-LRC [1]_ was not released. The method has a low-rank matrix S of label correlations, labels Y S that
    supplement the observed labels Y, and a linear model of Y S. This class minimizes

    .. math::

        \frac12 \|X W + 1 b^\top - Y S\|^2 + \frac{\alpha}{2} \sum_{ij} J_{ij} (Y S - Y)_{ij}^2
        + \frac{\beta}{2} \|W\|^2 + \gamma \|S\|_*

    with labels -1 and +1, and 0 where missing, :math:`J` the observed entries and :math:`\|\cdot\|_*` the sum of the
    singular values. The weights of the terms in the original method are unknown.

    Parameters
    ----------
    completion_penalty : float, default=10.0
        :math:`\alpha`, the penalty on differences between Y S and the observed labels. With 0 the minimum would be
        W = S = 0.
    alpha : float, default=30.0
        :math:`\beta`, the ridge penalty on W.
    nuclear_penalty : float, default=30.0
        :math:`\gamma`. Larger values lower the rank of S.
    fit_intercept : bool, default=False
        Whether each label has an intercept, which is not penalized.
    max_iter : int, default=500
        Maximum number of proximal gradient steps.
    tol : float, default=1e-4
        The iteration stops when a step moves S by less than `tol` times the norm of the identity matrix. The regression
        is solved until the norm of its gradient is `tol` times that at 0.
    callback, verbose
        As in `GLOCAL`.

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
        W^T.
    intercept_ : array of shape (n_labels,)
        b.
    label_map_ : array of shape (n_labels, n_labels)
        S. The labels of a sample, with 0 for the missing ones, times S are its completed labels.
    history_ : list of dict
        One record per proximal step: "iteration", "objective", "rank" of S, and "seconds".
    n_iter_ : int
        Number of proximal steps.

    See Also
    --------
    MaskedRidge : Ridge regression of each label on its observed entries.
    MultiLabelEstimator : The attributes that all estimators share.

    Notes
    -----
    Given S, the optimal W is the ridge regression of Y S, which is the ridge regression of Y times S. The features are
    therefore used in one regression only, and the remaining problem is convex in S. It is solved by accelerated
    proximal gradient with singular-value thresholding, from S = I.

    ``entry_weight`` multiplies both the squares of the second term and the labels themselves. Labels of weight 0 are
    missing.

    References
    ----------
    .. [1] L. Xu, Z. Wang, Z. Shen, Y. Wang and E. Chen. "Learning low-rank label correlations for multi-label
       classification with missing labels." ICDM 2014.

    Examples
    --------
    >>> from spmld import MLLRC
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> MLLRC(nuclear_penalty=1000.0).fit(data.X, data.Y).history_[-1]["rank"]
    3
    """

    fits_collections: ClassVar[bool] = True
    loss = "squared"

    completion_penalty: Positive = 10.0
    alpha: Positive = 30.0
    nuclear_penalty: NonNegative = 30.0
    fit_intercept: bool = False
    max_iter: PositiveInt = 500
    tol: Positive = 1e-4
    callback: Callable[..., Any] | None = None
    verbose: bool | int = False

    def _fit(self, samples: Samples | ClusterSamples) -> None:
        samples = samples.sparsified()
        X = samples.example
        _, d, l = samples.shape
        problem = samples.problem(bool(self.fit_intercept))
        zeros = move(np.zeros((d + int(self.fit_intercept), l), dtype=numpy_dtype(X)), X)
        full = targets(problem, zeros.dtype)
        B = regression(full, self.alpha, zeros, self.tol)
        fit = MapFit.of(problem, full, B, self.alpha, self.completion_penalty)
        report = partial(report_progress, self)
        result = solve_mllrc(fit, self.nuclear_penalty, max_iter=self.max_iter, tol=self.tol, callback=report)
        self.label_map_ = result.state
        self._set_coefficients(B @ self.label_map_)
        set_history(self, result)
