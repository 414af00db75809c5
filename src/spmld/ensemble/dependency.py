"""Correction of scores for dependencies between labels."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spmld._arrays import move, numpy_dtype, to_device, to_numpy
from spmld._validation import Positive, PositiveInt, Validated
from spmld.core.linear_objective import OtherLabels, Penalty
from spmld.core.losses import LOSSES, logistic
from spmld.core.newton import newton_minimize
from spmld.core.problem import make_problem, split_rows
from spmld.labels import read_labels
from spmld.model_selection.samples import move_weights

_Matrix = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class DependencyCorrection(Validated):
    r"""Correct the score of each label by the other labels of its sample.

    .. math:: \delta_{ij} = \sum_{k \ne j} z_{ik} M_{kj} + a_j s_{ij} + c_j

    is the correction of label j of sample i, with the scores :math:`s` of a model of the features. :math:`z_{ik}` is 1
    or 0 where label k is known to be positive or negative, and otherwise its probability
    :math:`1 / (1 + e^{-s_{ik}})`. This is the conditional distribution of a label given all others in an Ising model
    with the fields s, in which unknown labels are replaced by their means.

    M, a and c minimize the logistic loss of :math:`s + \delta` over observed labels plus
    :math:`(\|M\|^2 + |a|^2 + |c|^2) / (2 C)`, so that :math:`\delta` is 0 without evidence.

    Parameters
    ----------
    C : float, default=1.0
        Inverse regularization strength.
    tol : float, default=1e-2
        Stop when the norm of the gradient of a label is this fraction of its norm at zero.
    max_samples : int, default=10_000
        Maximum number of samples to fit on. If there are more, every second, third, ... sample is used.
    device : str or None, default=None
        As in `MaskedLogistic`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels + 1, n_labels)
        M with a on its diagonal, and c in the last row.
    label_dependencies_ : ndarray of shape (n_labels, n_labels)
        M, with zeros on its diagonal: row k holds the effects of label k on the scores of the other labels.

    Examples
    --------
    The second label always equals the first, which its own score does not show:

    >>> import numpy as np
    >>> from spmld.ensemble.dependency import DependencyCorrection
    >>> scores = np.array([[3.0, 0.0], [-3.0, 0.0]] * 50)
    >>> Y = np.array([[1, 1], [0, 0]] * 50)
    >>> correction = DependencyCorrection().fit(scores, Y)
    >>> (correction.correct(scores[:2]) > 0).astype(int)
    array([[1, 1],
           [0, 0]])
    """

    C: Positive = 1.0
    tol: Positive = 1e-2
    max_samples: PositiveInt = 10_000
    device: str | None = None

    def fit(self, scores: _Matrix, Y: Any, entry_weight: _Matrix | None = None, known: Any = None) -> Self:
        """Learn the dependencies.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Out-of-fold scores of the training samples; scores of models fitted on the samples are overconfident.
        Y : labels in any form accepted by `spmld.labels.read_labels`
            Labels of the training samples.
        entry_weight : ndarray of shape (n_samples, n_labels), optional
            Weights of the entries.
        known : labels in any form accepted by `spmld.labels.read_labels`, optional
            Labels that :math:`z` contains. With ``known=Y`` the correction is fitted for samples with known labels, by
            default for samples without known labels.

        Returns
        -------
        self
        """
        self._validate_params()
        signs = read_labels(Y).signs
        weights = signs != 0 if entry_weight is None else np.where(signs != 0, entry_weight, 0.0)
        z = _label_values(scores, known)
        part = slice(None, None, -(-len(scores) // self.max_samples))
        X, l = to_device(np.concatenate([z[part], scores[part]], axis=1), self.device), scores.shape[1]
        group, dtype = np.zeros(X.shape[0], dtype=np.int8), numpy_dtype(X)
        problem = make_problem(X, move(signs[part], X), move_weights(weights[part], X), move(group, X), 1)
        design, start = OtherLabels(move(np.arange(l), X)), move(np.zeros((l + 1, l), dtype), X)
        options: Any = {"offset": split_rows(X[:, l:], problem.counts), "tol": self.tol, "reorthogonalize": True}
        result = newton_minimize(problem, LOSSES["logistic"], design, Penalty(1 / self.C), start, **options)
        self.coef_ = to_numpy(result.B).astype(float)
        return self

    def correct(self, scores: _Matrix, known: Any = None, *, weight: float = 1.0) -> _Matrix:
        r"""Return the scores plus the weighted correction, :math:`s + w \delta`.

        Parameters
        ----------
        scores : ndarray of shape (n_samples, n_labels)
            Scores of samples.
        known : labels in any form accepted by `spmld.labels.read_labels`, optional
            Known labels of the samples.
        weight : float, default=1.0
            w.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        check_is_fitted(self)
        if weight == 0:
            return scores
        own, intercept = np.diag(self.coef_[:-1]), self.coef_[-1]
        others = _label_values(scores, known) @ self.label_dependencies_
        return scores + weight * (others + scores * own + intercept)

    @property
    def label_dependencies_(self) -> _Matrix:
        """M, with zeros on its diagonal."""
        return self.coef_[:-1] * (1 - np.eye(self.coef_.shape[1]))


def _label_values(scores: _Matrix, known: Any) -> _Matrix:
    """Return z: 1 or 0 for known labels, and the probability of others."""
    if known is None:
        return logistic(scores)
    signs = read_labels(known, name="known").signs
    return np.where(signs == 0, logistic(scores), signs > 0)
