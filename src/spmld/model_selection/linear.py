"""Logistic regression of each label below the estimators, and the parts that `MaskedLogistic` and `MaskedRidge` share.

Noise rates, consensus and label frequencies are estimated from the out-of-fold scores of `LogisticModel`.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from spmld._arrays import Array, move, namespace, numpy_dtype, to_numpy
from spmld._threads import limit_threads, linear_algebra_threads, thread_map
from spmld.core.initialization import label_means
from spmld.core.linear_objective import Features, Penalty, label_laplacian
from spmld.core.losses import LOSSES, Loss
from spmld.core.newton import Minimum, newton_minimize
from spmld.core.problem import Block, Problem
from spmld.labels import Labels
from spmld.model_selection.cross_fitting import CrossFit
from spmld.model_selection.path_search import PathResult, search_path
from spmld.model_selection.samples import Samples

MAX_MEAN = 0.999
"""Factor of the mean signs, with which the log-odds of labels with one sign are finite."""
NOISE_CS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Inverse regularization strengths of `search_logistic`."""
NOISE_START = 3
"""Index of the strength with which the search starts."""
NOISE_TOL = 3e-3
"""Tolerance of the models: the floor of the frequency of positives shows at the lowest scores, which converge last."""


def linear_problem(samples: Any, fit_intercept: bool, *, separate: bool = True) -> Problem:
    """Return the problem of linear models of the labels, which are `separate` without a label graph.

    Only observed entries are stored if labels are fitted faster on their observed rows.
    """
    n, d, l = samples.shape
    observed = samples.n_observed / (n * l)
    few = separate and _few_for_single_labels(n, d, samples.n_values, observed, sp.issparse(samples.example))
    # Labels that are fitted in groups need no blocks of samples to bound the memory.
    problem = samples.problem(fit_intercept, observed_only=few, block_rows=n if separate else None)
    return replace(problem, blocks=problem.engine.sliced(problem.blocks))


def _few_for_single_labels(n: int, d: int, n_values: int, observed_fraction: float, sparse: bool) -> bool:
    """Return whether the labels of a linear model are fitted faster on their observed rows only.

    Compares the time of a product in nanoseconds, as fitted to `benchmarks.observed`, for (n, d) features with a number
    of stored values: entries of X, vectors of features and vectors of rows cost less if many labels share them, but
    missing entries cost as much as observed ones. Calls of functions cost less with sparse features, see
    `spmld.core.label_stack`.
    """
    calls = 30_000 if sparse else 300_000
    return observed_fraction * (3.5 * n_values + 10 * n) + 5 * d + calls < 0.8 * n_values + 20 * d + 10 * n


def initial_parameters(problem: Problem, intercepts: Array, like: Any, last: Any = None) -> Array:
    """Return the parameters of models without features or, where a label can be learned, those of the last fit.

    The last fit may have had fewer labels, the first ones. A model without features, which has the given intercepts, is
    the solution for labels that cannot be learned. The parameters have the library and the precision of `like`.
    """
    d, l = problem.n_features, problem.n_labels
    B = np.zeros((d + int(problem.fit_intercept), l), dtype=numpy_dtype(like))
    B[d:] = to_numpy(intercepts)
    if hasattr(last, "coef_") and last.coef_.shape[0] <= l and last.coef_.shape[1] == d:
        learned = np.flatnonzero(_can_be_learned(problem)[: last.coef_.shape[0]])
        B[:d, learned] = to_numpy(last.coef_)[learned].T
        B[d:, learned] = to_numpy(last.intercept_)[learned]
    return move(B, like)


def _can_be_learned(problem: Problem) -> NDArray[np.bool_]:
    """Return which labels have observed entries, of both classes if there is an intercept."""

    def count(block: Block) -> tuple[Any, Any]:
        observed = block.J != 0
        sums = block.entries.column_sums
        return sums(1.0 * (observed & (block.Y > 0))), sums(1.0 * (observed & (block.Y < 0)))

    positives, negatives = (to_numpy(number) > 0 for number in problem.sum(count))
    return positives & negatives if problem.fit_intercept else positives | negatives


def solve_linear(
    problem: Problem,
    loss: Loss,
    t: float,
    like: Any,
    *,
    label_graph_penalty: float = 0.0,
    last: Any = None,
    n_jobs: int | None = None,
    **tolerances: Any,
) -> Minimum:
    """Minimize the loss of linear models plus t/2 (|W|^2 + g tr(W L W^T)), g the label graph penalty.

    The initial values are those of `initial_parameters`. `tolerances` are those of `newton_minimize`.
    """
    intercepts = move(np.zeros(problem.n_labels, dtype=numpy_dtype(like)), like)
    if problem.fit_intercept:
        intercepts = label_means(problem, intercepts)
        if loss.scores_are_log_odds:
            intercepts = 2 * namespace(intercepts).atanh(MAX_MEAN * intercepts)
    B = initial_parameters(problem, intercepts, like, last)
    separate = label_graph_penalty == 0
    laplacian = None if separate else label_laplacian(problem, B)
    penalty = Penalty(t, problem.fit_intercept, laplacian, t * label_graph_penalty)
    design = Features(problem.fit_intercept)
    # Groups of labels in threads are faster than threads within the products of a group.
    grouped = separate and problem.engine.in_memory and not hasattr(B, "detach")
    n_threads = linear_algebra_threads() if n_jobs is None else n_jobs
    with thread_map(n_threads if grouped else 1) as over:
        options: Any = {"intercepts": intercepts, "over": over, "reorthogonalize": True, **tolerances}
        return newton_minimize(problem, loss, design, penalty, B, **options)


class LogisticModel(BaseEstimator):
    """Logistic regression of each label on its observed entries, which starts from its last fit.

    It is `MaskedLogistic` without validation.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength.
    tol : float, default=1e-3
        Tolerance, as in `MaskedLogistic`.
    device : str or None, default=None
        Device of torch to fit on.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.labels import read_labels
    >>> from spmld.model_selection.linear import LogisticModel
    >>> from spmld.model_selection.samples import Samples
    >>> labels = read_labels([[1, 0], [0, None], [None, 1]])
    >>> samples = Samples(np.array([[0.0], [1.0], [2.0]]), labels, labels.observed)
    >>> LogisticModel().fit_samples(samples).coef_.ravel().round(2)
    array([-0.44,  0.67])
    """

    def __init__(self, C: float = 1.0, tol: float = 1e-3, device: str | None = None):
        self.C = C
        self.tol = tol
        self.device = device

    def fit_samples(self, samples: Samples) -> Self:
        """Fit the model to samples."""
        with limit_threads(samples.n_values * samples.shape[2]):
            samples = samples.sparsified().to_device(self.device)
            problem = linear_problem(samples, True)
            result = solve_linear(problem, LOSSES["logistic"], 1 / self.C, samples.X, last=self, tol=self.tol)
        self.coef_ = to_numpy(result.B[:-1, :].T)
        self.intercept_ = to_numpy(result.B[-1, :])
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the log-odds."""
        return X @ move(self.coef_.T, X) + move(self.intercept_, X)


def entry_log_loss(Y: Any, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log loss of each entry, NaN where labels are missing."""
    signs = Y.write_with_missing(None) if isinstance(Y, Labels) else Y
    return np.asarray(LOSSES["logistic"].value(signs, scores))


def search_logistic(samples: Samples, cross: CrossFit, device: str | None = None) -> PathResult:
    """Return the logistic regression with the lowest out-of-fold log loss, for scaled features."""
    model = LogisticModel(tol=NOISE_TOL, device=device)
    models = [clone(model) for _ in cross.folds]
    return search_path(models, [{"C": C} for C in NOISE_CS], samples, cross, entry_log_loss, start=NOISE_START)
