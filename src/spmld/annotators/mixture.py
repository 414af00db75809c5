"""Consensus of several annotators, with the out-of-fold probabilities of a classifier as the prior."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from spmld._arrays import features_to_numpy
from spmld._validation import check_same_samples
from spmld.annotators.answers import read_annotators
from spmld.annotators.consensus import Consensus, find_consensus
from spmld.core.scaling import scaled
from spmld.labels import Labels
from spmld.labels.encoding import SIGNS
from spmld.model_selection.cross_fitting import CrossFit
from spmld.model_selection.folds import make_folds
from spmld.model_selection.linear import search_logistic
from spmld.model_selection.samples import Samples
from spmld.noise import NoiseRates, PooledCalibration

N_CONSENSUS_FOLDS = 3
N_ALTERNATIONS = 2
"""Number of alternations of the fit of the classifier and the EM algorithm."""


def fit_consensus(X: Any, Y: Any) -> Consensus:
    """Estimate labels and error rates of annotators from answers and features.

    Logistic regression on scaled features, with the C of the lowest out-of-fold log loss, is fitted to the consensus.
    Its calibrated out-of-fold log-odds are the prior of the next consensus.

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
    consensus = find_consensus(answers)
    X = check_array(features_to_numpy(X), accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X")
    X = scaled(X)
    folds = None
    for _ in range(N_ALTERNATIONS):
        labels, weights = consensus_labels(consensus)
        folds = folds or make_folds(
            min(N_CONSENSUS_FOLDS, len(weights)), X, Labels(labels.signs, SIGNS), random_state=0
        )
        samples = Samples(X, replace(labels, classes=SIGNS, one_dimensional=False), weights)
        scores = search_logistic(samples, CrossFit(folds, len(weights))).scores
        evidence = consensus.evidence()
        signs = np.where(answers.counts > 0, np.where(evidence > 0, 1, -1), 0).astype(np.int8)
        rate = expit(-np.abs(evidence))
        calibration = PooledCalibration().fit(scores, signs, rates=NoiseRates(rate, rate))
        consensus = find_consensus(answers, calibration.transform(scores))
    return consensus


def consensus_labels(consensus: Consensus) -> tuple[Labels, NDArray[np.float64]]:
    """Return the more likely label of each entry with an answer, and weights 2 p - 1 with its probability p."""
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
