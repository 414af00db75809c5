r"""Positive-unlabeled learning: labels with observed positives, no observed negative and missing entries.

A positive is observed with probability c, the label frequency, and a negative never. With the probability
:math:`\pi_{ij}` that label j of sample i is positive, it is observed with probability :math:`c \pi_{ij}`. This is the
noise model of `spmld.noise` with the rates :math:`\alpha = 0` and :math:`\beta = 1 - c`, where c is estimated by
`label_frequency`. The class prior of a label is the frequency of its observed entries divided by c.

A missing entry is negative with probability :math:`(1 - \pi_{ij}) / (1 - c \pi_{ij})`. It is used as a negative of
c times this weight, beside the observed positives of weight 1. The weights of the positives and of the negatives are
then in expectation c times those of the completely observed label, so that the probabilities of a model are those of
the label, not of its being observed.
"""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.model_selection import KFold
from sklearn.utils.validation import _num_samples

from spmld._arrays import features_to_numpy, to_numpy
from spmld._validation import check_same_samples
from spmld.cluster.cluster_samples import ClusterSamples
from spmld.estimators.inputs import check_weights
from spmld.estimators.progress import warn_caller
from spmld.estimators.transformers import FeatureScaler
from spmld.labels import Labels, LabelWarning, read_labels
from spmld.labels.encoding import SIGNS
from spmld.labels.single_class import (
    MAX_NAMES,
    SingleClassLabels,
    find_single_class,
    list_labels,
    single_class_messages,
)
from spmld.model_selection.cross_fitting import CrossFit, fit_folds, out_of_fold_scores
from spmld.model_selection.linear import LogisticModel
from spmld.model_selection.samples import Samples
from spmld.noise import NoiseRates, PooledCalibration
from spmld.noise.floor import label_frequency

_Matrix = NDArray[np.float64]

N_FOLDS = 3
"""Number of folds of the out-of-fold scores."""
C = 10.0
"""Inverse regularization strength of the logistic regression on scaled features that estimates them."""


class PositiveUnlabeledResult(NamedTuple):
    """Labels in which the missing entries of positive-only labels are weak negatives.

    Attributes
    ----------
    labels : ndarray or DataFrame of shape (n_samples, n_labels)
        The labels, in which the missing entries of positive-only labels are negative. Other labels are unchanged.
    entry_weight : ndarray of shape (n_samples, n_labels)
        Weights of the entries, for ``fit``: those of weak negatives are below 1, those of missing entries are 0.
    class_prior : ndarray of shape (n_labels,)
        Estimated fraction of positives of positive-only labels; NaN for other labels.
    label_frequency : ndarray of shape (n_labels,)
        Estimated fraction of the positives that are observed, for positive-only labels; NaN for other labels.

    Examples
    --------
    See `positive_unlabeled`.
    """

    labels: Any
    entry_weight: _Matrix
    class_prior: _Matrix
    label_frequency: _Matrix


def positive_unlabeled(X: Any, Y: Any, mask: Any = None, sample_weight: Any = None) -> PositiveUnlabeledResult:
    """Replace the missing entries of positive-only labels by weak negatives.

    A label is positive-only if it has observed positives, no observed negative and missing entries. If no label has an
    observed negative, labels without an observed entry are treated in the same way. The estimators of this library call
    this function in ``fit``, unless ``entry_weight`` has one column for each label. Call it before a fit to inspect or
    change the result.

    Parameters
    ----------
    X : array-like, sparse matrix or torch tensor of shape (n_samples, n_features)
        Samples.
    Y, mask
        Labels, as in `spmld.labels.read_labels`.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the samples.

    Returns
    -------
    PositiveUnlabeledResult

    Notes
    -----
    Positives are assumed to be observed at random: whether a positive is observed does not depend on the features. The
    label frequency is then the highest probability that a label is observed, if some samples are positive with near
    certainty [1]_. Without clear evidence that it is below 1, missing entries are used as negatives of weight 1.

    References
    ----------
    .. [1] C. Elkan and K. Noto. "Learning classifiers from only positive and unlabeled data." KDD 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld import MaskedLogistic
    >>> from spmld.datasets import make_planted
    >>> from spmld.estimators import positive_unlabeled
    >>> data = make_planted(n_samples=2000, n_labels=3, frequencies=[0.4, 0.3, 0.2], random_state=0)
    >>> rng = np.random.default_rng(0)
    >>> Y = np.where((data.Y == 1) & (rng.random(data.Y.shape) < 0.5), 1, np.nan)
    >>> labels, weights, class_prior, label_frequency = positive_unlabeled(data.X, Y)
    >>> class_prior.round(1)
    array([0.4, 0.3, 0.2])
    >>> MaskedLogistic().fit(data.X, labels, entry_weight=weights).predict_proba(data.X).mean(axis=0).round(1)
    array([0.4, 0.3, 0.2])
    """
    labels = read_labels(Y, mask)
    check_same_samples(_num_samples(X), len(labels.signs))
    if sample_weight is not None and np.shape(sample_weight) != (len(labels.signs),):
        raise ValueError(f"sample_weight must have shape ({len(labels.signs)},), got {np.shape(sample_weight)}")
    labels, weights = check_weights(sample_weight, labels)
    completed = complete_positive_only(X, labels, weights, sample_weight)
    return completed._replace(labels=completed.labels.write_with_missing(Y))


def complete_positive_only(
    X: Any, labels: Labels, weights: NDArray[Any], sample_weight: Any = None
) -> PositiveUnlabeledResult:
    """Return the result of `positive_unlabeled` for validated labels and entry weights, with `Labels` as labels."""
    n, l = labels.signs.shape
    v = np.ones((n, 1)) if sample_weight is None else np.asarray(to_numpy(sample_weight), dtype=float).reshape(n, 1)
    used = v[:, 0] > 0
    single = find_single_class(labels.signs[used])
    prior = np.full(l, np.nan)
    frequency = np.full(l, np.nan)
    if not single.positive_only.any():
        return PositiveUnlabeledResult(labels, weights, prior, frequency)
    chosen = single.positive_only if (labels.signs < 0).any() else single.positive_only | single.unobserved
    observed = labels.signs[np.ix_(used, chosen)] > 0
    scores = _out_of_fold_scores(features_to_numpy(X)[used], observed, v[used])
    relative = v[used] / v[used].mean()
    c = label_frequency(scores, observed, relative)
    log_odds = _positive_log_odds(scores, observed, relative, c)
    frequency[chosen] = c
    prior[chosen] = np.minimum((relative * observed).mean(axis=0) / c, 1.0)
    entries = np.ix_(used, chosen)
    signs = labels.signs.copy()
    weights = weights.astype(float)
    signs[entries] = np.where(observed, 1, -1)
    weights[entries] = v[used] * np.where(observed, 1.0, _negative_weight(log_odds, c))
    signs[weights == 0] = 0
    return PositiveUnlabeledResult(replace(labels, signs=signs), weights, prior, frequency)


def complete_labels(
    X: Any,
    labels: Labels,
    weights: NDArray[Any],
    single: SingleClassLabels,
    entry_weight: Any,
    accepts_weights: bool,
) -> tuple[Labels, NDArray[Any], _Matrix]:
    """Replace missing entries of positive-only labels by weak negatives, and warn about labels of one class.

    Labels with a weight for each entry are used as they are.

    Returns
    -------
    labels, weights, class_prior
    """
    class_prior = np.full(labels.shape[1], np.nan)
    if accepts_weights and _weighs_samples(entry_weight):
        labels, weights, class_prior, _ = complete_positive_only(X, labels, weights, entry_weight)
    rare = np.logical_and(single.unobserved, class_prior == 0)
    warn_of_labels(
        labels,
        single._replace(unobserved=single.unobserved & ~rare),
        (rare, "no observed entry. Missing entries are used as negatives of lower weight"),
        (single.positive_only, _positive_only_message(class_prior[single.positive_only])),
    )
    return labels, weights, class_prior


def _weighs_samples(entry_weight: Any) -> bool:
    """Return whether weights are None or those of samples, so that the missing entries have none of their own."""
    return entry_weight is None or np.shape(entry_weight)[1:] in ((), (1,))


def check_single_class(samples: ClusterSamples, entry_weight: Any, accepts_weights: bool) -> None:
    """Warn about labels of one class on a cluster, and raise ValueError if missing entries would be weak negatives."""

    def count(signs: NDArray[np.int8]) -> tuple[Any, Any]:
        return (signs > 0).sum(axis=0), (signs < 0).sum(axis=0)

    positives, negatives = samples.engine.sum(count, samples.signs)
    single = SingleClassLabels.from_counts(positives, negatives, samples.shape[0])
    if accepts_weights and single.positive_only.any() and _weighs_samples(entry_weight):
        raise ValueError(
            f"{list_labels(samples.labels, single.positive_only)}: observed positives, missing entries and no observed "
            "negative. Missing entries are used as weak negatives only if X is in memory: load X, or a part of it. If "
            "missing means negative, write 0. To ignore missing entries, pass entry_weight with one column for each "
            "label"
        )
    warn_of_labels(samples.labels, single, (single.positive_only, _positive_only_message(np.array([np.nan]))))


def warn_of_labels(labels: Labels, single: SingleClassLabels, *others: tuple[NDArray[np.bool_], str]) -> None:
    """Warn about labels of one class, and about others that are given with a text."""
    for message in single_class_messages(labels, single, *others):
        warn_caller(message, LabelWarning)


def _positive_only_message(class_prior: _Matrix) -> str:
    start = "observed positives, missing entries and no observed negative. "
    if np.isnan(class_prior).all():
        return start + (
            "Missing entries are ignored, so that only positives can be learned. If missing means negative, write 0 "
            "(--empty-is negative, or --untagged negative for tags); otherwise see spmld.estimators.positive_unlabeled"
        )
    priors = ", ".join(f"{prior:.2g}" for prior in class_prior[:MAX_NAMES])
    return start + (
        f"Missing entries are used as negatives of lower weight; the estimated fraction of positives is {priors}"
        f"{', ...' if len(class_prior) > MAX_NAMES else ''}. If missing means negative, write 0 "
        "(--empty-is negative, or --untagged negative for tags). To ignore missing entries instead, pass entry_weight "
        "with one column for each label to fit"
    )


def _out_of_fold_scores(X: Any, observed: NDArray[np.bool_], v: _Matrix) -> _Matrix:
    """Return the log-odds that an entry is observed, by logistic regression on scaled features.

    The folds do not depend on the labels, so that a permutation of the labels permutes the scores.
    """
    n = len(observed)
    signs = np.where(observed, 1, -1).astype(np.int8)
    samples = Samples(
        FeatureScaler().fit_transform(X), Labels(signs, SIGNS), np.broadcast_to(v / v.mean(), observed.shape)
    )
    cross = CrossFit(list(KFold(min(N_FOLDS, n), shuffle=True, random_state=0).split(observed)), n)
    models = fit_folds(cross, [LogisticModel(C=C) for _ in cross.folds], samples)
    return out_of_fold_scores(cross, models, samples).astype(float)


def _positive_log_odds(scores: _Matrix, observed: NDArray[np.bool_], v: _Matrix, c: float) -> _Matrix:
    """Return the log-odds that each entry is positive."""
    signs = np.where(observed, 1, -1).astype(np.int8)
    rates = NoiseRates(np.zeros(1), np.full(1, 1 - c))
    return PooledCalibration().fit(scores, signs, np.broadcast_to(v, signs.shape), rates).transform(scores)


def _negative_weight(log_odds: _Matrix, c: Any) -> _Matrix:
    """Return c times the probability that a missing entry is negative, given the log-odds that it is positive."""
    if np.all(c == 1):
        return np.ones(np.shape(log_odds))  # every missing entry is negative, even if it is positive almost surely
    return np.asarray(c * expit(-log_odds) / (1 - c * expit(log_odds)))
