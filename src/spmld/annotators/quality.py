"""How often annotators differ from the panel, and who copies whom."""

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


def error_rates(labels: AnnotatorLabels, model: AnswerModel, level: float) -> tuple[_Floats, _Floats]:
    r"""Return how often each annotator differs from the panel, and intervals of shape (n_annotators, 2).

    A rate is a ratio of sums over answers. Its error is the sum of the influences of independent samples: directly,
    and by the parameters, which move by :math:`I^{-1} s` for the scores s of the sample and the observed information
    I (Louis 1982), the sum of the squares of the scores. Half an error and half a correct answer are added, and
    intervals are symmetric in log-odds.
    """
    leans = (model.posterior * model.leaning).sum(axis=-1)
    answers = np.stack([labels.of_label(j) for j in range(leans.shape[1])])
    differs = (answers != 0) * np.abs((answers > 0) - leans.T[:, :, None])
    total = (answers != 0).sum(axis=(0, 1))
    rate = (differs.sum(axis=(0, 1)) + 0.5) / (total + 1)
    influence = (differs - rate * (answers != 0)).sum(axis=0)
    variance = 0.5 * ((1 - rate) ** 2 + rate**2)
    for j, (signs, lean) in enumerate(zip(answers, leans.T, strict=True)):
        scores, moves = _parameter_effects(model, signs, j)
        influence -= scores @ (moves @ signs)  # another leaning turns an error into a correct answer
        variance += (lean * (1 - lean)) @ signs**2
    variance += (influence**2).sum(axis=0)
    width = norm.ppf((1 + level) / 2) * np.sqrt(variance) / ((total + 1) * rate * (1 - rate))
    return rate, expit(logit(rate)[:, None] + np.stack([-width, width], axis=1))


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
