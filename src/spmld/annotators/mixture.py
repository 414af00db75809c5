"""Consensus of several annotators, with the out-of-fold scores of a classifier of their answers."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from spmld._arrays import features_to_numpy
from spmld._validation import check_same_samples
from spmld.annotators.answers import AnnotatorLabels, read_annotators
from spmld.annotators.consensus import Consensus, find_consensus
from spmld.core.scaling import scaled
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit
from spmld.model_selection.folds import make_folds
from spmld.model_selection.linear import search_logistic
from spmld.model_selection.samples import Samples

N_ANSWER_FOLDS = 3
"""Number of folds of the classifier of the answers."""


def fit_consensus(X: Any, Y: Any) -> Consensus:
    """Estimate what the panel of the annotators says from answers and features.

    Logistic regression on scaled features, with the C of the lowest out-of-fold log loss, is fitted to the answers. Its
    out-of-fold log-odds are the scores of `find_consensus`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples.
    Y : AnnotatorLabels or array-like of shape (n_samples, n_annotators, n_labels)
        Answers, see `spmld.annotators.read_annotators`.

    Returns
    -------
    Consensus

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.datasets import make_planted
    >>> from spmld.annotators import fit_consensus
    >>> rng, data = np.random.default_rng(0), make_planted(n_samples=300, random_state=0)
    >>> wrong = rng.random((300, 2, 12)) < 0.2
    >>> answers = np.where(wrong, 1 - data.Y[:, None], data.Y[:, None])
    >>> consensus = fit_consensus(data.X, answers)
    >>> float(((consensus.probabilities > 0.5) == (data.Y == 1)).mean()) > 0.85
    True
    """
    answers = read_annotators(Y)
    X = check_array(features_to_numpy(X), accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    return find_consensus(answers, _answer_scores(scaled(X), answers))


def _answer_scores(X: Any, answers: AnnotatorLabels) -> NDArray[np.float64]:
    """Return out-of-fold log-odds of a positive answer.

    Each sample is there twice: with its positive and with its negative answers, weighted by their numbers.
    """
    n = answers.n_samples
    positive = answers.by_sample(answers.signs > 0)
    negative = answers.by_sample(answers.signs < 0)
    signs = np.sign(positive - negative).astype(np.int8)
    folds = CrossFit(make_folds(min(N_ANSWER_FOLDS, n), X, Labels(signs, SIGNS), random_state=0), n)
    weights = np.concatenate([positive, negative])
    signs = np.sign(np.concatenate([positive, -negative])).astype(np.int8)
    twice = Samples(X[np.tile(np.arange(n), 2)], Labels(signs, SIGNS), weights)
    return search_logistic(twice, CrossFit.of(np.tile(folds.number, 2))).scores[:n]


def consensus_labels(consensus: Consensus) -> tuple[Labels, NDArray[np.float64]]:
    """Return the more likely majority of each entry with an answer, and weights 2 p - 1 with its probability p."""
    p = consensus.probabilities
    answered = consensus.labels.counts > 0
    signs = np.where(answered, np.where(p > 0.5, 1, -1), 0).astype(np.int8)
    weights = np.where(answered, np.abs(2 * p - 1), 0.0)
    return replace(consensus.labels.answers, signs=signs * (weights > 0), trusted=None), weights


def annotated_labels(X: Any, y: Any, **others: Any) -> tuple[Labels, NDArray[np.float64] | None]:
    """Return labels and entry weights of a fit; those of the answers if no entry has several answers."""
    answers = read_annotators(y)
    check_same_samples(_num_samples(X), answers.n_samples, "y")
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name} cannot be combined with labels of several annotators; leave it out")
    if answers.counts.max() > 1:
        return consensus_labels(fit_consensus(X, answers))
    return replace(answers.answers, signs=answers.by_sample(answers.signs).astype(np.int8)), None
