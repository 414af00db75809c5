"""GLOCAL: latent labels with global and local label correlations (Zhu, Kwok and Zhou, 2018)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from spmld._validation import NonNegative, NonNegativeInt, Positive, PositiveInt, RandomState
from spmld.estimators._latent import LatentLabelModel


@dataclass(kw_only=True, eq=False, repr=False)
class GLOCAL(LatentLabelModel):
    r"""Multi-label learning with global and local label correlations, for partially observed labels.

    A few latent labels explain the labels, :math:`Y \approx V U^\top + 1 b^\top`, and the features explain the latent
    labels, :math:`V \approx X W`. Label correlations, in all samples and in groups of samples, are learned jointly:

    .. math::

        \begin{array}{l}
        \sum_{ij} J_{ij}\, \ell(Y_{ij}, (V U^\top + 1 b^\top)_{ij}) + \frac{\alpha}{2} \|V - X W\|^2 \\
        + \sum_m \frac12 \left[\frac{\beta_1 n_m}{n} \|F Z_m\|^2 + \beta_2 \|F_m Z_m\|^2\right]
        + \frac12 (\tau_U \|U\|^2 + \tau_V \|V\|^2 + \tau_W \|W\|^2)
        \end{array}

    with :math:`J` the observed entries, :math:`F = X W U^\top`, :math:`F_m` its rows in group m, and rows of
    :math:`Z_m` on the unit sphere. Scores of new samples are :math:`X W U^\top + b`.

    Parameters
    ----------
    n_components : int, default=20
        Number k of latent labels, at most the number of labels.
    n_groups : int, default=3
        Number of groups of samples with separate correlations, found by k-means; at most the number of samples.
    correlation_rank : int, default=20
        Number of columns of each correlation factor :math:`Z_m`.
    coupling : float, default=0.3
        :math:`\alpha`, the penalty on the difference between latent labels and their prediction from the features.
    global_correlation : float, default=1e-3
        :math:`\beta_1`. 0 disables the global correlation.
    local_correlation : float, default=1e-5
        :math:`\beta_2`. 0 disables the groups.
    ridge : float, default=0.03
        :math:`\tau_U` and :math:`\tau_V`.
    feature_ridge : float, default=0.25
        :math:`\tau_W`.
    standardize : bool, default=True
        Whether to scale the features within the fit, so that one penalty suits all of them: columns of mean 0 and
        equal variance, or a single factor if more than half of X is 0.
    rescale : bool, default=True
        Whether to multiply the penalties by size factors, so that one value suits problems of different size. With N
        observed entries, n samples, d features, l labels and g groups: N/(nk) for the coupling and :math:`\tau_V`,
        N/(lk) for :math:`\tau_U`, N/(dk) for :math:`\tau_W`, N/n^2 for :math:`\beta_1`, N/(n/g)^2 for
        :math:`\beta_2`.
    loss : {"logistic", "squared"}, default="logistic"
        Loss of an entry, on labels -1 and +1.
    fit_intercept : bool, default=True
        Whether each label has an intercept, which is not penalized.
    solver : {"exact", "descent"}, default="exact"
        Exact minimization in each block of variables, or steepest descent as in the paper, which is far slower.
    init : {"spectral", "random"}, default="spectral"
        Leading factors of the observed labels, or uniform random factors.
    n_warmup_iter : int, default=0
        Number of warm-up iterations, without correlation.
    max_iter : int, default=100
        Maximum number of iterations after warm-up.
    tol : float or None, default=1e-3
        Relative change of the objective below which the iteration stops. None runs `max_iter` iterations.
    n_jobs : int or None, default=None
        Number of threads, each for a block of samples, if X is in memory.
    device : str or None, default=None
        Device of torch to fit on, such as "cuda", if X is not a tensor. The fitted arrays are those of NumPy.
    random_state : int, RandomState or None, default=None
        Seed for the groups and the initial factors.
    callback : callable or None, default=None
        Called after each iteration with its record of `history_`; the fit stops if it returns True.
    verbose : bool or int, default=False
        Whether to log each iteration, at level INFO to the logger "spmld".

    Attributes
    ----------
    label_factors_ : array of shape (n_labels, k)
        U, the loadings of the labels on the latent labels.
    latent_labels_ : array of shape (n_samples, k)
        V, the latent labels of the training samples.
    feature_weights_ : array of shape (n_features, k)
        W, for the original features.
    latent_offsets_ : array of shape (k,)
        Latent labels are predicted by ``X @ feature_weights_ - latent_offsets_``.
    coef_ : array of shape (n_labels, n_features)
        U W^T.
    intercept_ : array of shape (n_labels,)
        b.
    correlation_factors_ : array of shape (n_groups, n_labels, correlation_rank)
        The factors Z_m, see `label_correlation`.
    group_sizes_ : array of shape (n_groups,)
        Number of training samples in each group.
    self_paced_weights_ : array of shape (n_samples, k)
        P, all ones in GLOCAL.
    history_ : list of dict
        One record per iteration: "stage" ("warm-up" or "main") and "iteration" within it; "objective" and its terms
        "fit", "coupling", "correlation", "ridge" and "pacing"; "mean_weight" and "mean_weight_per_component";
        "threshold" and "diversity" of the pacing; "seconds".
    n_iter_ : int
        Number of iterations, including warm-up.
    converged_ : bool
        Whether the objective converged.

    See Also
    --------
    SPMLD : The same model with self-paced weights.
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import GLOCAL
    >>> from spmld.datasets import make_planted
    >>> data = make_planted(n_samples=300, random_state=0)
    >>> GLOCAL(n_groups=2, random_state=0).fit(data.X, data.Y).label_correlation(group=0).shape
    (12, 12)
    """

    n_components: PositiveInt = 20
    n_groups: PositiveInt = 3
    correlation_rank: PositiveInt = 20
    coupling: Positive = 0.3
    global_correlation: NonNegative = 1e-3
    local_correlation: NonNegative = 1e-5
    ridge: Positive = 0.03
    feature_ridge: NonNegative = 0.25
    standardize: bool = True
    rescale: bool = True
    loss: Literal["logistic", "squared"] = "logistic"
    fit_intercept: bool = True
    solver: Literal["exact", "descent"] = "exact"
    init: Literal["spectral", "random"] = "spectral"
    n_warmup_iter: NonNegativeInt = 0
    max_iter: PositiveInt = 100
    tol: NonNegative | None = 1e-3
    n_jobs: int | None = None
    device: str | None = None
    random_state: RandomState = None
    callback: Callable[..., Any] | None = None
    verbose: bool | int = False
