"""GLOCAL: latent labels with global and local label correlations (Zhu, Kwok and Zhou, 2018)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import Array, move, numpy_dtype, on_accelerator, to_numpy
from spmld._threads import thread_map
from spmld._validation import NonNegative, NonNegativeInt, Positive, PositiveInt, RandomState
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.core.descent import DESCENT
from spmld.core.initialization import random_init, spectral_init
from spmld.core.iteration import Result, Status
from spmld.core.latent_solver import Pacing, exact_steps, solve_spmld, solve_V
from spmld.core.losses import LOSSES
from spmld.core.problem import FEW_OBSERVED, Problem, State, make_problem
from spmld.core.scaling import fit_scaling, unscale
from spmld.core.steps import BlockUpdate
from spmld.core.terms import Correlation, Coupling, Fit, Objective, Ridge
from spmld.estimators.inputs import cluster_samples
from spmld.estimators.linear_models import FactoredModel, align_arrays
from spmld.estimators.progress import report_progress, set_history
from spmld.labels import Labels
from spmld.model_selection.samples import Samples

INITS = {"spectral": spectral_init, "random": random_init}
MIN_MEAN_WEIGHT = 1e-3
"""Entry weights are divided by their mean if it is below this number or above its inverse."""


@dataclass(kw_only=True, eq=False, repr=False)
class GLOCAL(FactoredModel):
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

    fits_collections: ClassVar[bool] = True

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

    def _fit(self, samples: Samples | ClusterSamples) -> None:
        in_memory = isinstance(samples, Samples)
        if self.solver != "exact" and not in_memory:
            raise ValueError(f'solver must be "exact" if X is not in memory, got {self.solver!r}')
        samples = samples.sparsified()
        samples = samples if sp.issparse(samples.example) else samples.to_device(self.device)
        mean: Any = 0.0
        factor: Any = 1.0
        if self.standardize:
            mean, factor = fit_scaling(samples.total, samples.shape[0], samples.example, self.fit_intercept)
            samples = samples.scaled(mean, factor)
        weight = samples.total_weight / samples.n_observed
        if self.rescale and not MIN_MEAN_WEIGHT <= weight <= 1 / MIN_MEAN_WEIGHT:  # only the ratios of weights matter
            samples = samples.multiply_weights(1 / weight)
        rng = check_random_state(self.random_state)
        n, _, l = samples.shape
        n_groups = min(self.n_groups, n) if self.local_correlation > 0 else 1
        group = cluster_samples(samples, n_groups, rng) if n_groups > 1 else None
        samples = samples.to_device(self.device)
        like = samples.example
        few = samples.n_observed < FEW_OBSERVED * n * l
        n_threads = effective_n_jobs(self.n_jobs) if in_memory and not on_accelerator(like) else 1

        def uniform(shape: tuple[int, ...]) -> Array:
            return move(rng.uniform(size=shape).astype(numpy_dtype(like), copy=False), like)

        with thread_map(n_threads) as over:
            threads: Any = {"n_threads": n_threads, "over": over}
            problem = samples.problem(self.fit_intercept, group, n_groups, observed_only=few, **threads)
            k = min(self.n_components, l)
            objective = self._objective(problem, samples.total_weight, k)
            state = INITS[self.init](problem, k, self.correlation_rank, uniform)
            steps = self._steps()
            report = partial(report_progress, self)
            run = partial(solve_spmld, problem, extrapolate=self.solver == "exact", callback=report)
            result: Result[State] = Result(state, Status.COMPLETED, [])
            try:
                if self.n_warmup_iter:
                    uncorrelated = replace(objective, correlation=Correlation())
                    _, update_V, update_U, update_W = steps
                    order = (update_U, update_V, update_W)
                    result = run(uncorrelated, state, order, max_iter=self.n_warmup_iter, tol=None, stage="warm-up")
                if result.status is not Status.STOPPED:
                    options: Any = {"pacing": self._pacing(), "max_iter": self.max_iter, "tol": self.tol}
                    main = run(objective, result.state, steps, **options)
                    result = replace(main, history=result.history + main.history)
            except (FloatingPointError, np.linalg.LinAlgError) as error:
                raise ValueError(f"{error}; scale the values of X or entry_weight") from error
            self._set_result(problem, objective, result, mean, factor)

    def _n_numbers(self, n: int, d: int, l: int) -> int:
        return 8 * (n + d + l) * min(self.n_components, l)

    def _objective(self, problem: Problem, observed: float, k: int) -> Objective:
        """Return the terms with their weights, multiplied by size factors if `rescale`."""
        n = problem.n
        d = self.n_features_in_
        l = problem.n_labels
        g = problem.sizes.shape[0]

        def scaled(value: float, size: float) -> float:
            return value * observed / size if self.rescale else float(value)

        return Objective(
            Fit(LOSSES[self.loss]),
            Coupling(scaled(self.coupling, n * k)),
            Correlation(scaled(self.global_correlation, n**2), scaled(self.local_correlation, (n / g) ** 2)),
            Ridge(tU=scaled(self.ridge, l * k), tV=scaled(self.ridge, n * k), tW=scaled(self.feature_ridge, d * k)),
        )

    def _steps(self) -> tuple[BlockUpdate, ...]:
        """Return the updates of Z, V, U and W."""
        return exact_steps(self.tol) if self.solver == "exact" else DESCENT

    def _pacing(self) -> Pacing | None:
        """Return the pacing of the main iterations."""
        return None

    def _set_result(
        self, problem: Problem, objective: Objective, result: Result[State], mean: Any, factor: Any
    ) -> None:
        """Set the fitted attributes, given the means and factors of the scaled features."""
        state = result.state
        self._fitted_objective = objective
        self.label_factors_ = state.U
        self.feature_weights_, self.latent_offsets_ = unscale(state.W, mean, factor)
        self.intercept_ = state.b - state.U @ self.latent_offsets_
        self.correlation_factors_ = state.Z
        if problem.engine.in_memory:
            self.latent_labels_ = state.V
            self.self_paced_weights_ = state.P
        self.group_sizes_ = to_numpy(problem.sizes)
        self.converged_ = result.status is Status.CONVERGED
        set_history(self, result)

    def _completed_scores(self, X: Any, labels: Labels) -> Array:
        """Return V U^T + b, with V fitted to both features and observed labels for fixed U, W and b."""
        X, U, W, b = align_arrays(X, self.label_factors_, self.feature_weights_, self.intercept_)
        offsets = move(to_numpy(self.latent_offsets_), U)
        b = b + U @ offsets
        group = move(np.zeros(X.shape[0], dtype=np.int8), X)
        problem = make_problem(X, move(labels.signs, X), move(labels.observed, X), group, 1, dtype=U.dtype)
        return solve_V(problem, self._fitted_objective, U, b, X @ W - offsets) @ U.T + b

    def label_correlation(self, group: int | None = None) -> np.ndarray:
        """Return the learned label correlation matrix.

        The rows of the factor Z of a group have unit length, so Z Z^T is a Laplacian with unit diagonal: I minus the
        correlations. Labels whose scores rise together have a correlation near 1. A label that is independent of all
        others has arbitrary correlations, not zeros, because its row has unit length too.

        Parameters
        ----------
        group : int, optional
            Index of a group of samples. None returns the global correlation: the mean over groups, weighted by size.

        Returns
        -------
        ndarray of shape (n_labels, n_labels)
            Symmetric, with ones on the diagonal and values in [-1, 1].
        """
        check_is_fitted(self)
        if not self._fitted_objective.correlation.active:
            raise ValueError("global_correlation or local_correlation must be positive during fit, got 0 for both")
        Z = to_numpy(self.correlation_factors_)
        if group is None:
            laplacian = np.einsum("g,gir,gjr->ij", self.group_sizes_ / self.group_sizes_.sum(), Z, Z)
        elif isinstance(group, (int, np.integer)) and 0 <= group < len(Z):
            laplacian = Z[group] @ Z[group].T
        else:
            raise ValueError(f"group must be None or an integer from 0 to {len(Z) - 1}, got {group!r}")
        correlation = np.clip(-laplacian, -1, 1)
        np.fill_diagonal(correlation, 1)
        return correlation
