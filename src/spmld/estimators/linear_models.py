"""Linear models of all labels: scores from coefficients or from two factors, `MaskedLogistic` and `MaskedRidge`."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from spmld._arrays import Array, move, namespace, numpy_dtype, to_numpy
from spmld._validation import NonNegative, Positive, PositiveInt
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.core.losses import LOSSES, Loss
from spmld.estimators.base import MultiLabelEstimator
from spmld.estimators.inputs import check_rates, has_rates
from spmld.estimators.progress import warn_not_converged
from spmld.labels import Labels
from spmld.model_selection.linear import linear_problem, solve_linear
from spmld.model_selection.samples import Samples
from spmld.noise import NoiseRates


def align_arrays(X: Any, *arrays: Any) -> tuple[Any, ...]:
    """Return X and fitted arrays in the library and on the device of X and, for torch, in one precision."""
    if hasattr(X, "detach") or hasattr(arrays[0], "detach"):
        arrays = tuple(move(to_numpy(a), X) for a in arrays)
    if hasattr(X, "detach"):
        X = namespace(X).astype(X, arrays[0].dtype)
    return X, *arrays


class LinearModel(MultiLabelEstimator):
    """Scores X W + b with `coef_` W^T and `intercept_` b."""

    def _set_coefficients(self, B: Any) -> None:
        """Set the coefficients from W, with b below it if there is an intercept."""
        self.coef_ = B[: self.n_features_in_, :].T
        self.intercept_ = B[-1, :] if self.fit_intercept else 0 * B[0, :]

    def _scores(self, X: Any) -> Array:
        X, W, b = align_arrays(X, self.coef_, self.intercept_)
        return X @ W.T + b


class FactoredModel(MultiLabelEstimator):
    """Scores X W U^T + b with `feature_weights_` W, `label_factors_` U and `intercept_` b."""

    @property
    def coef_(self) -> Array:
        """Coefficients of each label, of shape (n_labels, n_features)."""
        return self.label_factors_ @ self.feature_weights_.T

    def _scores(self, X: Any) -> Array:
        X, U, W, b = align_arrays(X, self.label_factors_, self.feature_weights_, self.intercept_)
        return (X @ W) @ U.T + b


@dataclass(kw_only=True, eq=False, repr=False)
class _MaskedLinear(LinearModel):
    """Minimizes sum J o loss(Y, X W + 1 b^T) + t/2 (|W|^2 + g tr(W L W^T)); subclasses define the loss and t."""

    fits_collections: ClassVar[bool] = True
    label_graph_penalty: NonNegative = 0.0
    fit_intercept: bool = True
    tol: Positive = 1e-3
    max_iter: PositiveInt = 100
    warm_start: bool = False
    n_jobs: int | None = None
    device: str | None = None

    @abstractmethod
    def _ridge(self) -> float:
        """Return the factor t."""

    def _make_loss(self, labels: Labels, like: Any) -> Loss:
        """Return the loss, with the array type of the features."""
        return LOSSES[self.loss]

    def _fit(self, samples: Samples | ClusterSamples) -> None:
        samples = samples.sparsified().to_device(self.device)
        like = samples.example
        problem = linear_problem(samples, bool(self.fit_intercept), separate=self.label_graph_penalty == 0)
        result = solve_linear(
            problem,
            self._make_loss(samples.labels, like),
            self._ridge(),
            like,
            label_graph_penalty=self.label_graph_penalty,
            last=self if self.warm_start else None,
            n_jobs=self.n_jobs,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        self._set_coefficients(result.B)
        self.n_iter_ = result.steps
        if not result.converged:
            warn_not_converged(self, f"max_iter={self.max_iter} Newton steps were not enough to reach tol={self.tol}")

    def _n_numbers(self, n: int, d: int, l: int) -> int:
        return 3 * d * l if self.label_graph_penalty == 0 else 12 * d * l + 6 * n * l


@dataclass(kw_only=True, eq=False, repr=False)
class MaskedLogistic(_MaskedLinear):
    r"""Logistic regression for each label on its observed entries, all labels solved together.

    .. math::

        C \sum_{ij} J_{ij} \log(1 + e^{-Y_{ij} F_{ij}}) + \frac12 \|W\|^2 + \frac{g}{2} \mathrm{tr}(W L W^\top),
        \quad F = X W + 1 b^\top

    with :math:`J` the observed entries or their weights. Without the label graph (:math:`g = 0`) the solution is that
    of scikit-learn's `LogisticRegression` on the samples where a label is observed, label by label. It is computed for
    all labels at once, by a truncated Newton method whose products with X serve all labels. The label graph draws the
    weights of co-occurring labels toward each other.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength, as in `LogisticRegression`.
    label_graph_penalty : float, default=0.0
        :math:`g`. :math:`L` is the Laplacian of the label graph. The weight of an edge is the cosine similarity of the
        positives of two labels, among the samples where both are observed.
    fit_intercept : bool, default=True
        Whether each label has an intercept, which is not penalized.
    tol : float, default=1e-3
        Stop when the norm of the gradient of a label is this fraction of its norm for a model without features, whose
        intercept is the log-odds of the label's frequency. Labels with one class only keep this intercept, because
        their loss has no minimum. A label graph makes all labels one problem with one norm. With thousands of labels,
        0.1 takes less than half of the time.
    max_iter : int, default=100
        Maximum number of Newton steps.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    n_jobs : int or None, default=None
        Number of threads, each for a group of labels.
    device : str or None, default=None
        Device of torch to fit on, such as "cuda", if X is not a tensor. The fitted arrays are those of NumPy.
    false_positive_rate, false_negative_rate : float or array-like of shape (n_labels,), default=0.0
        Noise rates of the labels: the probability :math:`\alpha` that a true negative is observed as positive, and the
        probability :math:`\beta` that a true positive is observed as negative. If they are not 0, the loss is the
        negative log-likelihood of the observed labels,
        :math:`P(Y_{ij} = 1) = \alpha_j + (1 - \alpha_j - \beta_j) / (1 + e^{-F_{ij}})`, so that scores are log-odds of
        the true labels. Entries that are ``trusted`` in `fit` have no noise.

    Attributes
    ----------
    coef_ : array of shape (n_labels, n_features)
        W^T.
    intercept_ : array of shape (n_labels,)
        b.
    n_iter_ : int
        Maximum number of Newton steps over the labels.

    See Also
    --------
    MaskedRidge : Variant with the squared loss.
    PerLabelClassifier : Any scikit-learn classifier for each label.
    MultiLabelEstimator : The attributes that all estimators share.

    Examples
    --------
    >>> from spmld import MaskedLogistic
    >>> MaskedLogistic().fit([[0.0], [1.0], [2.0]], [[1, 0], [0, None], [None, 1]]).coef_.ravel().round(2)
    array([-0.44,  0.67])
    """

    loss = "logistic"

    C: Positive = 1.0
    false_positive_rate: Any = 0.0
    false_negative_rate: Any = 0.0

    def uses_trusted(self) -> bool:
        """Return whether `fit` distinguishes verified entries: if noise rates are above 0."""
        return has_rates(self)

    def _ridge(self) -> float:
        return 1 / self.C

    def _make_loss(self, labels: Labels, like: Any) -> Loss:
        rates = check_rates(self, labels.shape[1]).unless(labels.trusted)
        return NoiseRates(*(move(rate.astype(numpy_dtype(like)), like) for rate in rates)).loss()


@dataclass(kw_only=True, eq=False, repr=False)
class MaskedRidge(_MaskedLinear):
    r"""Ridge regression for each label on its observed entries, all labels solved together.

    .. math::

        \|\sqrt{J} \circ (Y - X W - 1 b^\top)\|^2 + \alpha \|W\|^2 + \alpha g\, \mathrm{tr}(W L W^\top)

    on labels -1 and +1, with :math:`J` the observed entries or their weights. Without the label graph, the solution for
    each label is that of scikit-learn's `Ridge` on the samples where the label is observed. It is computed by conjugate
    gradients for all labels at once.

    Parameters
    ----------
    alpha : float, default=1.0
        Regularization strength, as in `Ridge`.
    label_graph_penalty, fit_intercept, tol, max_iter, warm_start, n_jobs, device
        As in `MaskedLogistic`; one Newton step is usually enough.

    Attributes
    ----------
    coef_, intercept_, n_iter_
        As in `MaskedLogistic`.

    Examples
    --------
    >>> from spmld import MaskedRidge
    >>> X, Y = [[0.0], [1.0], [2.0]], [[1, 0], [0, None], [None, 1]]
    >>> MaskedRidge(alpha=0.5).fit(X, Y).coef_.ravel().round(3)
    array([-1. ,  0.8])
    """

    loss = "squared"

    alpha: Positive = 1.0

    def _ridge(self) -> float:
        return self.alpha
