r"""Consensus of several annotators.

Annotator a answers label j with a false positive rate :math:`\alpha_{aj}` and a false negative rate
:math:`\beta_{aj}`. Answers to an entry are independent given its true label, so that the log-odds of the entry are
the prior log-odds f plus the evidence

.. math:: L = \sum_{a\,+} \log \frac{1 - \beta_{aj}}{\alpha_{aj}} + \sum_{a\,-} \log \frac{\beta_{aj}}{1 - \alpha_{aj}}.

The answers are therefore equivalent to one label, the sign of L, with both noise rates equal to
:math:`1 / (1 + e^{|L|})`. Rates are estimated by the EM algorithm twice: with a Beta prior that has the weight of the
uniform distribution, and with priors whose strengths maximize the likelihood of the numbers of errors that the first
fit expects. They shrink the rates of a label to those of the annotator, and these to those of all annotators.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import betaln, entr, expit, logit
from scipy.stats import beta as beta_distribution

from spmld.annotators.answers import AnnotatorLabels, read_annotators
from spmld.noise.likelihood import NoiseRates, error_log_odds

_Floats = NDArray[np.float64]
MAX_ITERATIONS = 100
"""Maximum number of iterations of the EM algorithm."""
TOLERANCE = 1e-4
"""Change of the probabilities at which the EM algorithm stops."""
UNIFORM_STRENGTH = 2.0
"""Strength of the uniform distribution: one error and one correct answer."""
MAX_STRENGTH = 1e4
"""Maximum strength of a prior, in answers."""


class ErrorCounts(NamedTuple):
    """Expected numbers of errors, and of answers that could have been this error, for each annotator and label."""

    errors: _Floats
    totals: _Floats

    def sum_labels(self) -> "ErrorCounts":
        """Return the counts of each annotator over all labels."""
        return ErrorCounts(*(values.sum(axis=1, keepdims=True) for values in self))

    def pooled_rate(self) -> float:
        """Return the rate of all annotators, which is above 0 and below 1."""
        return float((self.errors.sum() + 0.5) / (self.totals.sum() + 1))


class BetaPrior(NamedTuple):
    """Beta distribution of a rate, in errors and correct answers: `mean` times `strength` of these are errors."""

    mean: Any
    strength: float

    def rate(self, counts: ErrorCounts) -> _Floats:
        """Return the posterior means of the rates."""
        return np.asarray((counts.errors + self.strength * self.mean) / (counts.totals + self.strength))

    def interval(self, counts: ErrorCounts, level: float) -> tuple[_Floats, _Floats]:
        """Return quantiles of the posterior distribution, which contain a rate with probability `level`."""
        a = counts.errors + self.strength * self.mean
        b = counts.totals + self.strength - a
        return beta_distribution.ppf((1 - level) / 2, a, b), beta_distribution.ppf((1 + level) / 2, a, b)


@dataclass(frozen=True, eq=False)
class Consensus:
    """Result of `find_consensus`.

    Attributes
    ----------
    probabilities : ndarray of shape (n_samples, n_labels)
        Probability of each label, given its answers and the prior.
    rates : NoiseRates
        Rates of each annotator (rows) and label (columns).
    labels : AnnotatorLabels
        The answers.

    Examples
    --------
    See `find_consensus`.
    """

    probabilities: _Floats
    rates: NoiseRates
    labels: AnnotatorLabels

    @property
    def confidence(self) -> _Floats:
        """Probability of the more likely value of each entry."""
        return np.maximum(self.probabilities, 1 - self.probabilities)

    def evidence(self) -> _Floats:
        """Return the log-likelihood ratio L of the answers to each entry; 0 without answers."""
        return answer_evidence(self.labels, self.rates)

    def annotator_quality(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return the error rates of each annotator over all labels, with intervals.

        Expected errors count as observed ones, so that intervals are too narrow if the consensus is uncertain. Rates of
        annotators with few answers are shrunk to those of all annotators.
        """
        false_positives, false_negatives = count_errors(self.labels, self.probabilities)
        positives = false_positives.sum_labels()
        negatives = false_negatives.sum_labels()
        answers = ErrorCounts(positives.errors + negatives.errors, positives.totals + negatives.totals)
        table: list[dict[str, Any]] = [
            {"annotator": name, "n_answers": round(float(n))}
            for name, (n,) in zip(self.labels.names, answers.totals, strict=True)
        ]
        kinds = {"error_rate": answers, "false_positive_rate": positives, "false_negative_rate": negatives}
        for kind, pooled in kinds.items():
            prior = _annotator_prior(pooled)
            rate = prior.rate(pooled)
            low, high = prior.interval(pooled, level)
            for a, row in enumerate(table):
                row[kind] = float(rate[a, 0])
                row[f"{kind}_interval"] = float(low[a, 0]), float(high[a, 0])
        return table

    def next_answers(self, count: int = 10) -> list[tuple[int, int, int, float]]:
        """Return the entries to show next: sample, label, annotator and expected decrease of the log loss.

        The decrease is the mutual information of the true label and one more answer. Each entry is listed once, with
        the annotator whose answer is worth most among those who have not answered it.
        """
        p = self.probabilities
        best = np.full(p.shape, -1.0)
        chosen = np.zeros(p.shape, dtype=np.intp)
        for annotator, (alpha, beta) in enumerate(zip(*self.rates, strict=True)):
            rows = self.labels.annotators == annotator
            gain = _entropy(alpha + (1 - alpha - beta) * p) - p * _entropy(beta) - (1 - p) * _entropy(alpha)
            answered = np.zeros(p.shape, dtype=bool)
            answered[self.labels.samples[rows]] = self.labels.signs[rows] != 0
            better = (gain > best) & ~answered
            best[better] = gain[better]
            chosen[better] = annotator
        order = np.argsort(-best, axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, p.shape), strict=True)
        return [(int(i), int(j), int(chosen[i, j]), float(best[i, j])) for i, j in places if best[i, j] >= 0]


def find_consensus(labels: Any, log_odds: _Floats | None = None) -> Consensus:
    """Estimate the labels and the error rates of annotators.

    Parameters
    ----------
    labels : AnnotatorLabels, array-like of shape (n_samples, n_annotators, n_labels) or DataFrame
        Answers, in any form that `spmld.annotators.read_annotators` accepts without further arguments.
    log_odds : ndarray of shape (n_samples, n_labels), optional
        Prior log-odds of each entry, such as calibrated out-of-fold scores. By default, those of the frequency of each
        label, which is estimated.

    Returns
    -------
    Consensus

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.annotators import find_consensus
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((2000, 1, 2)) < 0.4
    >>> wrong = rng.random((2000, 3, 2)) < np.array([0.1, 0.2, 0.3])[:, None]
    >>> consensus = find_consensus((truth ^ wrong).astype(float))
    >>> consensus.rates.alpha.mean(axis=1).round(1)
    array([0.1, 0.2, 0.3])
    >>> bool(((consensus.probabilities > 0.5) == truth[:, 0]).mean() > 0.88)
    True
    """
    labels = read_annotators(labels)
    positive = labels.signs > 0
    frequency = (positive.sum(axis=0) + 0.5) / ((labels.signs != 0).sum(axis=0) + 1)
    p = (labels.by_sample(positive) + frequency) / (labels.counts + 1)
    p = p if log_odds is None else expit(log_odds + logit(p) - logit(frequency))
    priors = [BetaPrior(counts.pooled_rate(), UNIFORM_STRENGTH) for counts in count_errors(labels, p)]
    p, _ = expectation_maximization(labels, p, priors, log_odds)
    priors = [_label_prior(counts) for counts in count_errors(labels, p)]
    return Consensus(*expectation_maximization(labels, p, priors, log_odds), labels)


def expectation_maximization(
    labels: AnnotatorLabels, p: _Floats, priors: list[BetaPrior], log_odds: _Floats | None, max_iter: int | None = None
) -> tuple[_Floats, NoiseRates]:
    """Return probabilities and rates; no iteration decreases the penalized log-likelihood of the answers."""
    answered = labels.counts > 0
    for _ in range(max_iter or MAX_ITERATIONS):
        false_positives, false_negatives = count_errors(labels, p)
        rates = NoiseRates(priors[0].rate(false_positives), priors[1].rate(false_negatives))
        frequency = ((p * answered).sum(axis=0) + 0.5) / (answered.sum(axis=0) + 1)
        prior_log_odds = logit(frequency) if log_odds is None else log_odds
        last = p
        p = expit(prior_log_odds + answer_evidence(labels, rates))
        if np.abs(p - last).max() < TOLERANCE:
            break
    return p, rates


def answer_evidence(labels: AnnotatorLabels, rates: NoiseRates) -> _Floats:
    """Return the log-likelihood ratio of the answers to each entry."""
    of_rows = NoiseRates(*(rate[labels.annotators] for rate in rates))
    wrong = error_log_odds(np.zeros(labels.signs.shape), labels.signs, of_rows)
    return labels.by_sample(-labels.signs * wrong)


def count_errors(labels: AnnotatorLabels, p: _Floats) -> tuple[ErrorCounts, ErrorCounts]:
    """Return the expected false positives among negatives, and false negatives among positives."""
    q = p[labels.samples]
    answered = labels.signs != 0
    false_positives = labels.by_annotator((labels.signs > 0) * (1 - q))
    false_negatives = labels.by_annotator((labels.signs < 0) * q)
    return (
        ErrorCounts(false_positives, labels.by_annotator(answered * (1 - q))),
        ErrorCounts(false_negatives, labels.by_annotator(answered * q)),
    )


def _annotator_prior(pooled: ErrorCounts) -> BetaPrior:
    mean = pooled.pooled_rate()
    return BetaPrior(mean, _strength(pooled, mean))


def _label_prior(counts: ErrorCounts) -> BetaPrior:
    pooled = counts.sum_labels()
    mean = _annotator_prior(pooled).rate(pooled)
    return BetaPrior(mean, _strength(counts, mean))


def _strength(counts: ErrorCounts, mean: Any) -> float:
    """Return the strength of the Beta prior that maximizes the beta-binomial likelihood of the numbers of errors."""
    correct = counts.totals - counts.errors
    mean = np.broadcast_to(mean, correct.shape)

    def loss(log_strength: float) -> float:
        a = np.exp(log_strength) * mean
        b = np.exp(log_strength) * (1 - mean)
        return -float((betaln(counts.errors + a, correct + b) - betaln(a, b)).sum())

    return float(np.exp(minimize_scalar(loss, bounds=(0.0, np.log(MAX_STRENGTH)), method="bounded").x))


def _entropy(p: _Floats) -> _Floats:
    return np.asarray(entr(p) + entr(1 - p))
