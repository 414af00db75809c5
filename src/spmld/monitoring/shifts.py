"""Tests for shifts between two sets of samples, and the adjustment of probabilities to new label frequencies."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, hypergeom

_Floats = NDArray[np.float64]

MAX_EM_ITER = 500
"""Maximum number of EM iterations."""
COUNT_TOLERANCE = 1e-3
"""Change of the number of positives at which the EM algorithm stops."""
MIN_POSITIVES = 10
"""Minimum expected number of positives, and of negatives, with which the frequency of a label is tested."""
MIN_FREQUENCY = 1e-6
"""Lower limit of frequencies, and of those of negatives, by which probabilities are divided."""


def adjust_probabilities(p: _Floats, frequency: _Floats, new_frequency: _Floats) -> _Floats:
    """Return probabilities of labels whose frequency has changed, while the features given the label have not."""
    positive = p * (new_frequency / frequency)
    negative = (1 - p) * ((1 - new_frequency) / (1 - frequency))
    return np.asarray(positive / (positive + negative))


def estimate_frequencies(p: _Floats, frequency: _Floats, start: _Floats | None = None) -> _Floats:
    r"""Return the frequencies of labels in new samples by maximum likelihood.

    The EM algorithm of Saerens, Latinne and Decaestecker (Neural Computation 14, 2002) alternates the adjustment of
    the probabilities to the frequencies, and the mean of the adjusted probabilities. No iteration decreases the
    likelihood :math:`\sum_i \log(p_i \pi / \pi_0 + (1 - p_i) (1 - \pi) / (1 - \pi_0))`.

    Parameters
    ----------
    p : ndarray of shape (n_samples, n_labels)
        Probabilities of new samples by a model that is calibrated for the frequencies `frequency`.
    frequency : ndarray of shape (n_labels,)
        Frequencies of the labels in the training data.
    start : ndarray of shape (n_labels,), optional
        Frequencies of the first iteration, by default `frequency`.

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.monitoring import estimate_frequencies
    >>> p = np.repeat([[0.9], [0.1]], [80, 20], axis=0)  # if half are positive, it is 0.9 for half of the samples
    >>> estimate_frequencies(p, np.array([0.5])).round(3)
    array([0.875])
    """
    new = frequency if start is None else start
    for _ in range(MAX_EM_ITER):
        last = new
        new = adjust_probabilities(p, frequency, last).mean(axis=0)
        if np.abs(new - last).max(initial=0.0) < COUNT_TOLERANCE / len(p):
            break
    return new


def log_likelihood(p: _Floats, frequency: _Floats, new_frequency: _Floats) -> _Floats:
    """Return the log-likelihood of new frequencies, for each label; see `estimate_frequencies`."""
    odds = p * (new_frequency / frequency) + (1 - p) * ((1 - new_frequency) / (1 - frequency))
    return np.asarray(np.log(odds).sum(axis=0))


def frequency_test(p: _Floats, p_new: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    """Return frequencies of the labels in two sets of samples with given probabilities, and p-values of their equality.

    The statistic is twice the difference of the log-likelihoods of two frequencies and of one; without a shift it has
    a chi-squared distribution with one degree of freedom. A label has one entry in each sample, so that the entries
    are independent. With fewer than 10 expected positives or negatives in one of the sets, the new frequency is NaN and
    the p-value 1.
    """
    prior = np.clip(p.mean(axis=0), MIN_FREQUENCY, 1 - MIN_FREQUENCY)
    both = np.concatenate([p, p_new])
    old = estimate_frequencies(p, prior)
    new = estimate_frequencies(p_new, prior)
    common = estimate_frequencies(both, prior)
    gain = log_likelihood(p, prior, old) + log_likelihood(p_new, prior, new) - log_likelihood(both, prior, common)
    few = np.minimum(prior, 1 - prior) * min(len(p), len(p_new)) < MIN_POSITIVES
    return old, np.where(few, np.nan, new), np.where(few, 1.0, chi2.sf(2 * np.maximum(gain, 0.0), 1))


def distribution_test(below: Any, n: int, below_new: Any, n_new: int, compared: Any = True) -> tuple[_Floats, Any]:
    """Return p-values of equal distributions, and the most different edges, from counts of values up to some edges.

    Each edge is tested by the hypergeometric distribution of its count in the new samples, given the count in all
    samples (the test of Fisher). The smallest p-value counts, multiplied by the number of edges. Counts have a row for
    each edge and a column for each feature or label; `compared` is True for the edges to use.
    """
    compared = np.broadcast_to(compared, np.shape(below))
    total = below + below_new
    p_values = np.ones(np.shape(below))
    margins = n + n_new, total[compared], n_new
    lower = hypergeom.cdf(below_new[compared], *margins)
    upper = hypergeom.sf(below_new[compared] - 1, *margins)
    p_values[compared] = 2 * np.minimum(lower, upper)
    return np.minimum(p_values.min(axis=0) * compared.sum(axis=0), 1.0), p_values.argmin(axis=0)
