"""What labels say about each other, beyond what the features say of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spmld.core.linear import Others, Penalty
from spmld.core.losses import LOSSES, logistic
from spmld.core.newton import minimise
from spmld.core.problem import Problem, make_problem

__all__ = ["DependencyCorrection"]

C = 1.0
"""Inverse strength of the penalty."""
MOST = 50_000
"""Samples to learn from, and to work on at a time: more would need memory and tell nothing new."""
Matrix = NDArray[np.float64]
Signs = NDArray[np.int8]


class DependencyCorrection:
    r"""How much to add to the score of each label for what its sample's other labels are.

    .. math:: \delta_{ij} = \sum_{k \ne j} z_{ik} M_{kj} + a_j s_{ij} + c_j

    with :math:`s` the scores of a model of the features, and :math:`z_{ik}` 1 or 0 where label k of sample i is known
    to be positive or negative, else its probability :math:`1 / (1 + e^{-s_{ik}})`. It is each label given all others
    in an Ising model with the fields s, where what is not known stands at its mean.

    M, a and c minimise the logistic loss of :math:`s + \delta` over observed labels and
    :math:`(\|M\|^2 + |a|^2 + |c|^2) / (2 C)`, so that without evidence :math:`\delta` is 0. It has to be learned from
    scores by models that have not seen the samples: others are too sure.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        s of the training samples, by models that have not seen them.
    signs : ndarray of shape (n_samples, n_labels)
        Their labels, -1 and +1, and 0 where unobserved.
    weights : ndarray of shape (n_samples, n_labels)
        How much each label counts; 0 where unobserved.
    known : ndarray of shape (n_samples, n_labels), optional
        Labels that z may show, as in `signs`. None: none of them.
    """

    def __init__(self, scores: Matrix, signs: Signs, weights: Matrix, known: Signs | None = None):
        some = slice(None, None, -(-len(scores) // MOST))
        scores, signs, weights = scores[some], signs[some], weights[some]
        problem, l = _beside(scores, None if known is None else known[some], signs, weights), scores.shape[1]
        design, penalty, start = Others(np.arange(l)), Penalty(1 / C), np.zeros((l + 1, l))
        offset = problem.split(scores)
        self.coef = minimise(problem, LOSSES["logistic"], design, penalty, start, offset=offset, tol=1e-2).B

    def __call__(self, scores: Matrix, known: Signs | None = None) -> Matrix:
        """What to add for samples with the scores s, and labels that are known."""
        design, changes = Others(np.arange(scores.shape[1])), np.empty(scores.shape)
        for start in range(0, len(scores), MOST):
            s = slice(start, start + MOST)
            nothing = np.zeros(scores[s].shape, dtype=np.int8)
            problem = _beside(scores[s], None if known is None else known[s], nothing, nothing)
            changes[s] = np.concatenate(problem.map(lambda block: design.scores(block, self.coef)))
        return changes

    def between(self) -> Matrix:
        """M, with zeros on its diagonal."""
        return self.coef[:-1] * (1 - np.eye(self.coef.shape[1]))


def _beside(scores: Matrix, known: Signs | None, signs: Signs, weights: NDArray[np.number]) -> Problem:
    """The features z and s, side by side, with labels and their weights."""
    z = logistic(scores) if known is None else np.where(known == 0, logistic(scores), known > 0)
    group = np.zeros(len(scores), dtype=np.int8)
    return make_problem(np.concatenate([z, scores], axis=1), signs, weights, group, 1)
