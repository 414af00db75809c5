"""LEML: low-rank linear models of all labels (Yu, Jain, Kar and Dhillon, 2014)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Literal

from sklearn.utils import check_random_state

from spmld._arrays import move, numpy_dtype
from spmld._validation import FloatFraction, NonNegative, Positive, PositiveInt, RandomState
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.core.leml_solver import Factors, solve_leml
from spmld.core.losses import LOSSES
from spmld.core.problem import FEW_OBSERVED
from spmld.estimators.linear_models import FactoredModel
from spmld.estimators.progress import report_progress, set_history
from spmld.model_selection.samples import Samples

LARGE_VALUE = 1e6
"""Largest value of X from which initial factors are divided by it."""


@dataclass(kw_only=True, eq=False, repr=False)
class LEML(FactoredModel):
    r"""Low-rank empirical risk minimization for multi-label learning, for partially observed labels.

    All labels share a few linear features :math:`X W` of the samples [1]_:

    .. math::

        \sum_{ij} J_{ij}\, \ell(Y_{ij}, (X W H^\top + 1 b^\top)_{ij}) + \frac{\lambda}{2} (\|W\|^2 + \|H\|^2)

    with :math:`J` the observed entries or their weights. Note the factors 1/2 of :math:`\lambda` and of the squared
    loss. The minimization alternates between W, by Newton's method with conjugate gradient, and (H, b), label by label.

    Parameters
    ----------
    n_components : int or float, default=10
        Rank k, at most the number of labels. A float in (0, 1] is a fraction of the number of labels, rounded up.
    alpha : float, default=10.0
        :math:`\lambda`. The released code uses 0.1, the paper selects it by validation. Without intercept, W and H
        are 0 if it is at least the largest singular value of :math:`X^\top (J \circ D)`, with D the slopes of the
        losses at 0.
    loss : {"squared", "logistic"}, default="squared"
        Loss of an entry, on labels -1 and +1.
    fit_intercept : bool, default=False
        Whether each label has an intercept, which is not penalized. The published method has none.
    max_iter : int, default=10
        Maximum number of iterations, each of W and then H.
    tol : float or None, default=None
        Relative decrease of the objective below which the iteration stops. None runs `max_iter` iterations, as in the
        published method.
    random_state : int, RandomState or None, default=None
        Seed for the initial values of W and H, uniform on [0, 1). W is divided by the largest absolute
        value of X if this is above 1e6.
    callback, verbose, device
        As in `GLOCAL`.

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
        One record per iteration: "iteration", "objective", "objective_after_W" before the update of H, and "seconds".
    n_iter_ : int
        Number of iterations.

    See Also
    --------
    MaskedRidge : Independent ridge regressions of the labels.
    GLOCAL : Latent labels that the features explain up to an error, and label correlations.
    MultiLabelEstimator : The attributes that all estimators share.

    Notes
    -----
    For :math:`k \ge \min(d, l)` the penalty on the factors equals the nuclear norm of their product:
    the minimum is that of :math:`\sum J \circ \ell(Y, X B) + \lambda \|B\|_*`.

    References
    ----------
    .. [1] H.-F. Yu, P. Jain, P. Kar and I. S. Dhillon. "Large-scale multi-label learning with missing labels." ICML
       2014.

    Examples
    --------
    >>> from spmld import LEML
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, observed_fraction=0.5, random_state=0)
    >>> model = LEML(n_components=0.5, random_state=0).fit(data.X, data.Y)
    >>> model.label_factors_.shape
    (12, 6)
    """

    fits_collections: ClassVar[bool] = True

    n_components: PositiveInt | FloatFraction = 10
    alpha: Positive = 10.0
    loss: Literal["squared", "logistic"] = "squared"
    fit_intercept: bool = False
    max_iter: PositiveInt = 10
    tol: NonNegative | None = None
    device: str | None = None
    random_state: RandomState = None
    callback: Callable[..., Any] | None = None
    verbose: bool | int = False

    def _fit(self, samples: Samples | ClusterSamples) -> None:
        largest = samples.largest
        samples = samples.sparsified().to_device(self.device)
        X = samples.example
        rng = check_random_state(self.random_state)
        n, d, l = samples.shape
        few = samples.n_observed < FEW_OBSERVED * n * l
        problem = samples.problem(bool(self.fit_intercept), observed_only=few, block_rows=n)
        k = self.n_components
        k = min(int(k) if isinstance(k, Integral) else math.ceil(k * l), l)
        W, H = (move(rng.uniform(size=shape).astype(numpy_dtype(X), copy=False), X) for shape in ((d, k), (l, k)))
        # Huge features would make the first scores huge, from which few iterations do not recover.
        W = W / largest if largest > LARGE_VALUE else W
        loss = LOSSES[self.loss]
        factors = Factors(W, H, 0 * H[:, 0])
        options: Any = {"max_iter": self.max_iter, "tol": self.tol, "callback": partial(report_progress, self)}
        result = solve_leml(problem, loss, self.alpha, factors, **options)
        factors = result.state
        self.feature_weights_ = factors.W
        self.label_factors_ = factors.H
        self.intercept_ = factors.b
        set_history(self, result)
