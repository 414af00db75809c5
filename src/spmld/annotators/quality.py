"""How often annotators differ from the panel, and who copies whom."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import norm

from spmld.annotators.answers import AnnotatorLabels
from spmld.annotators.model import LEVELS, POWERS, RIDGE, AnswerModel

_Floats = NDArray[np.float64]
COPIED_FRACTION = 0.3
"""Fraction of the expected disagreements of two annotators whose absence is called copying."""
COPY_CONFIDENCE = 0.95
"""Confidence with which the fraction of copied answers is above `COPIED_FRACTION`."""

_Counts = tuple[NDArray[Any], NDArray[Any]]


def _all_errors(signs: NDArray[np.int8], lean: Any) -> _Counts:
    return np.where(signs > 0, 1 - lean, (signs < 0) * lean), signs != 0


def _false_positives(signs: NDArray[np.int8], lean: Any) -> _Counts:
    return (signs > 0) * (1 - lean), (signs != 0) * (1 - lean)


def _false_negatives(signs: NDArray[np.int8], lean: Any) -> _Counts:
    return (signs < 0) * lean, (signs != 0) * lean


_KINDS = {
    "error_rate": _all_errors,
    "false_positive_rate": _false_positives,
    "false_negative_rate": _false_negatives,
}
"""Answers that differ from the panel and answers that could have, given the probability that it leans to yes."""


def error_rates(labels: AnnotatorLabels, model: AnswerModel, level: float) -> dict[str, tuple[_Floats, _Floats]]:
    r"""Return the rates of each kind, of shape (n_annotators,), and intervals of shape (n_annotators, 2).

    A rate is a ratio of sums over answers. Its error is the sum of the influences of independent samples: directly,
    and by the parameters, which move by :math:`I^{-1} s` for the scores s of the sample and the observed information
    I (Louis 1982), the sum of the squares of the scores. Half an error and half a correct answer are added, and
    intervals are symmetric in log-odds.
    """
    leans = (model.posterior * model.leaning).sum(axis=-1)
    answers = [labels.of_label(j) for j in range(leans.shape[1])]
    effects = [_parameter_effects(model, signs, j) for j, signs in enumerate(answers)]
    rates = {}
    for kind, count in _KINDS.items():
        counts = [count(signs, lean[:, None]) for signs, lean in zip(answers, leans.T, strict=True)]
        wrong, total = (sum(part.sum(axis=0) for part in parts) for parts in zip(*counts, strict=True))
        rate = (wrong + 0.5) / (total + 1)
        influence = np.zeros((labels.n_samples, len(rate)))
        variance = 0.5 * ((1 - rate) ** 2 + rate**2)
        for signs, lean, (scores, moves), (differs, asked) in zip(answers, leans.T, effects, counts, strict=True):
            no, yes = (wrong - rate * total for wrong, total in (count(signs, 0.0), count(signs, 1.0)))
            influence += differs - rate * asked + scores @ (moves @ (yes - no))
            variance = variance + (lean * (1 - lean)) @ (yes - no) ** 2
        variance += (influence**2).sum(axis=0)
        width = norm.ppf((1 + level) / 2) * np.sqrt(variance) / ((total + 1) * rate * (1 - rate))
        rates[kind] = rate, expit(logit(rate)[:, None] + np.stack([-width, width], axis=1))
    return rates


def _parameter_effects(model: AnswerModel, signs: NDArray[np.int8], label: int) -> tuple[_Floats, _Floats]:
    """Return the scores of the samples, and what parameters that move along them change in each leaning."""
    posterior = model.posterior[:, label]
    p = model.answer_probabilities[:, label]
    design = model.table.design[:, label]

    def derivatives(weights: _Floats, change: _Floats) -> _Floats:
        """Return the derivatives of the log-likelihood: shifts, slopes and prior, summed over levels with weights."""
        shifts = (signs > 0) * weights.sum(axis=1, keepdims=True) - (signs != 0) * (weights @ p.T)
        slopes = (signs > 0) * (weights @ LEVELS)[:, None] - (signs != 0) * (weights @ (p * LEVELS).T)
        prior = np.einsum("nka,na->nk", design, change @ POWERS.T)
        return np.hstack([shifts, slopes, prior])

    scores = derivatives(posterior, posterior - np.exp(model.log_prior[:, label]))
    leaning = model.leaning[label]
    covariance = posterior * (leaning - (posterior @ leaning)[:, None])
    information = scores.T @ scores + RIDGE * np.eye(scores.shape[1])
    return scores, np.asarray(np.linalg.solve(information, derivatives(covariance, covariance).T), dtype=float)


def copied_answers(labels: AnnotatorLabels, model: AnswerModel, min_fraction: float) -> list[tuple[int, int, float]]:
    """Return pairs of annotators with more than this fraction of copied answers, and the fraction.

    The expected number of disagreements is that of the model, for samples that are clear as often as all others.
    """
    n_annotators = len(labels.names)
    expected = np.zeros((n_annotators, n_annotators))
    observed = np.zeros((n_annotators, n_annotators))
    for j in range(labels.signs.shape[1]):
        signs = labels.of_label(j)
        positive = (signs > 0).astype(float)
        negative = (signs < 0).astype(float)
        answered = positive + negative
        p = model.answer_probabilities[:, j]
        frequency = np.exp(model.log_prior[model.table.answered[:, j], j]).mean(axis=0)
        differ = (p * frequency) @ (1 - p).T
        expected += (answered.T @ answered) * (differ + differ.T)
        observed += positive.T @ negative + negative.T @ positive
    bound = observed + norm.ppf(COPY_CONFIDENCE) * np.sqrt(np.maximum(observed, 1.0))
    pairs = np.argwhere(np.triu(bound < (1 - min_fraction) * expected, 1))
    return [(int(a), int(b), float(1 - observed[a, b] / expected[a, b])) for a, b in pairs]
