r"""A model of the answers of several annotators.

Samples differ in how clear they are, annotators in how readily they say yes. The clarity x of an entry is one of 21
levels from -1 to 1. Given it, annotator a gives a positive answer to label j with the log-odds

.. math:: \eta_{aj}(x) = s_{aj} x + b_{aj},

independently of the others. With a mean m of the entry, the clarity has the distribution

.. math:: P(x) \propto \exp(m x + \kappa_j x^2).

It is normal for :math:`\kappa < 0`, truncated at the ends of the scale. For large :math:`\kappa` only the ends remain:
the model of a hidden true label that annotators flip. The mean is a constant of the label, or slope and shift of
out-of-fold scores. Parameters maximize the likelihood of the answers with quadratic penalties, by the EM algorithm:
:math:`s_{aj}` is shrunk to the sum of a value of the label and one of the annotator, the values of the labels to their
mean, and :math:`b_{aj}` to a value of the annotator.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, logit, logsumexp

from spmld.annotators.answers import AnnotatorLabels

_Floats = NDArray[np.float64]
N_LEVELS = 21
"""Number of levels of clarity."""
RIDGE = 1.0
"""Weight of the quadratic penalties: one over the variance, in log-odds, of what they shrink."""
FLAT_RIDGE = 0.01
"""Weight of the penalty of the prior, which is nearly flat: it only keeps the prior finite if all answers are equal."""
INITIAL_SLOPE = 5.0
"""Slope from which the EM algorithm starts: 99 % say yes to the clearest samples."""
MAX_ITERATIONS = 200
"""Maximum number of iterations of the EM algorithm."""
TOLERANCE = 1e-7
"""Increase of the penalized log-likelihood, for each answer, at which the EM algorithm stops."""
MAX_NEWTON_STEP = 2.0
"""Maximum length of a Newton step."""


LEVELS = np.linspace(-1.0, 1.0, N_LEVELS)
_FEATURES = np.stack([LEVELS, np.ones(N_LEVELS)])
"""Features of the levels in the log-odds of an answer."""
POWERS = np.stack([LEVELS, LEVELS**2])
"""Features of the levels in the logarithm of the prior."""


class AnswerTable:
    """Answers as sparse matrices with a row for each entry and a column for each pair of an annotator and a label.

    Attributes
    ----------
    positive, negative : csr_array of shape (n_samples * n_labels, n_annotators * n_labels)
        Indicators of the answers.
    answered : ndarray of bool of shape (n_samples, n_labels)
        Whether an entry has an answer.
    design : ndarray of shape (n_samples, n_labels, 3, 2)
        Coefficients of x and of its square, for each parameter of the prior: shift, slope of the scores, curvature.
    prior : ndarray of shape (n_labels, 3)
        Initial prior of each label.
    """

    def __init__(self, labels: AnnotatorLabels, scores: _Floats | None) -> None:
        n = labels.n_samples
        a = len(labels.names)
        l = labels.signs.shape[1]

        def indicator(answers: NDArray[np.bool_]) -> Any:
            row, label = np.nonzero(answers)
            places = labels.samples[row] * l + label, labels.annotators[row] * l + label
            return sp.csr_array((np.ones(len(row)), places), shape=(n * l, a * l))

        self.shape = a, l
        self.positive = indicator(labels.signs > 0)
        self.negative = indicator(labels.signs < 0)
        self.answered = labels.counts > 0
        self.design = np.zeros((n, l, 3, 2))
        self.design[:, :, 0, 0] = 1.0
        self.design[:, :, 2, 1] = 1.0
        self.prior = np.zeros((l, 3))
        if scores is None:
            n_positives = (labels.signs > 0).sum(axis=0)
            self.prior[:, 0] = logit((n_positives + 0.5) / ((labels.signs != 0).sum(axis=0) + 1))
        else:
            self.design[:, :, 1, 0] = scores
            self.prior[:, 1] = 1.0

    def log_likelihood(self, log_odds: _Floats) -> _Floats:
        """Return the logarithm of the probability of the answers to each entry, at each level."""
        flat = log_odds.reshape(-1, N_LEVELS)
        values = self.positive @ log_expit(flat) + self.negative @ log_expit(-flat)
        return np.asarray(values).reshape(*self.answered.shape, N_LEVELS)

    def by_annotator(self, posterior: _Floats) -> tuple[_Floats, _Floats]:
        """Return the expected numbers of positive and negative answers at each level."""
        flat = posterior.reshape(-1, N_LEVELS)
        positive, negative = (np.asarray(side.T @ flat) for side in (self.positive, self.negative))
        return positive.reshape(*self.shape, N_LEVELS), negative.reshape(*self.shape, N_LEVELS)


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """Parameters of the model.

    Attributes
    ----------
    table : AnswerTable
        The answers.
    slopes, shifts : ndarray of shape (n_annotators, n_labels)
        s and b.
    label_slopes, annotator_slopes, annotator_shifts : ndarray
        Values to which slopes and shifts are shrunk.
    prior : ndarray of shape (n_labels, 3)
        Shift, slope of the scores and curvature of each label.
    """

    table: AnswerTable
    slopes: _Floats
    shifts: _Floats
    label_slopes: _Floats
    annotator_slopes: _Floats
    annotator_shifts: _Floats
    prior: _Floats

    @cached_property
    def answer_log_odds(self) -> _Floats:
        """Log-odds of a positive answer of each annotator to each label, at each level."""
        return self.slopes[:, :, None] * LEVELS + self.shifts[:, :, None]

    @cached_property
    def answer_probabilities(self) -> _Floats:
        """Probability of a positive answer of each annotator to each label, at each level."""
        return np.asarray(expit(self.answer_log_odds))

    @cached_property
    def leaning(self) -> NDArray[np.bool_]:
        """Whether more than half of the answers to each label are positive, at each level."""
        return np.asarray(self.answer_probabilities.mean(axis=0) > 0.5)

    @cached_property
    def log_prior(self) -> _Floats:
        """Logarithm of the prior probability of each level, for each entry."""
        coefficients = np.einsum("nlka,lk->nla", self.table.design, self.prior)
        return np.asarray(log_softmax(coefficients @ POWERS, axis=-1))

    @cached_property
    def log_joint(self) -> _Floats:
        """Logarithm of the probability of each level and the answers, for each entry."""
        return self.log_prior + self.table.log_likelihood(self.answer_log_odds)

    @cached_property
    def evidence(self) -> _Floats:
        """Logarithm of the probability of the answers, for each entry."""
        return np.asarray(logsumexp(self.log_joint, axis=-1))

    @cached_property
    def posterior(self) -> _Floats:
        """Probability of each level given the answers, for each entry."""
        return np.exp(self.log_joint - self.evidence[..., None])

    @cached_property
    def log_likelihood(self) -> float:
        """The penalized log-likelihood of the answers."""
        deviations = [
            self.slopes - self.label_slopes - self.annotator_slopes,
            self.shifts - self.annotator_shifts,
            self.label_slopes - self.label_slopes.mean(),
            self.annotator_slopes,
            self.annotator_shifts,
        ]
        penalty = RIDGE * _square(deviations) + FLAT_RIDGE * _square([self.prior - self.table.prior])
        return float(self.evidence.sum()) - penalty / 2

    def step(self) -> "AnswerModel":
        """Return the parameters after an iteration of the EM algorithm."""
        slopes, shifts = self._answer_step()
        n_annotators, n_labels = slopes.shape
        mean = self.label_slopes.mean()
        label_slopes = ((slopes - self.annotator_slopes).sum(axis=0) + mean) / (n_annotators + 1)
        return AnswerModel(
            self.table,
            slopes,
            shifts,
            label_slopes,
            (slopes - label_slopes).sum(axis=1, keepdims=True) / (n_labels + 1),
            shifts.sum(axis=1, keepdims=True) / (n_labels + 1),
            self._prior_step(),
        )

    def _answer_step(self) -> tuple[_Floats, _Floats]:
        """Return slopes and shifts after a Newton step of the expected log-likelihood of the answers."""
        positive, negative = self.table.by_annotator(self.posterior)
        total = positive + negative
        p = self.answer_probabilities
        deviations = self.slopes - self.label_slopes - self.annotator_slopes, self.shifts - self.annotator_shifts
        gradient = (positive - total * p) @ _FEATURES.T - RIDGE * np.stack(deviations, axis=-1)
        step = _newton_step(gradient, np.einsum("alq,kq,mq->alkm", total * p * (1 - p), _FEATURES, _FEATURES), RIDGE)
        return self.slopes + step[:, :, 0], self.shifts + step[:, :, 1]

    def _prior_step(self) -> _Floats:
        """Return the prior after a Newton step of the expected log-likelihood of the levels."""
        prior = np.exp(self.log_prior) * self.table.answered[:, :, None]
        mean = prior @ POWERS.T
        squares = prior @ (POWERS[:, None] * POWERS).reshape(4, N_LEVELS).T
        variance = squares.reshape(*mean.shape, 2) - mean[..., None] * mean[..., None, :]
        design = self.table.design
        curvature = np.einsum("nlka,nlab,nlmb->lkm", design, variance, design, optimize=True)
        gradient = self.prior_scores().sum(axis=0) - FLAT_RIDGE * (self.prior - self.table.prior)
        return self.prior + _newton_step(gradient, curvature, FLAT_RIDGE)

    def prior_scores(self) -> _Floats:
        """Return the derivatives of the log-likelihood of each entry with respect to the prior of its label."""
        change = (self.posterior - np.exp(self.log_prior)) @ POWERS.T
        return np.asarray((self.table.design @ change[..., None])[..., 0])


_PARAMETERS = [item.name for item in fields(AnswerModel)][1:]


def initial_model(table: AnswerTable) -> AnswerModel:
    """Return a model in which all annotators are equal."""
    a, l = table.shape
    slopes = np.full((a, l), INITIAL_SLOPE)
    return AnswerModel(table, slopes, np.zeros((a, l)), slopes[0], np.zeros((a, 1)), np.zeros((a, 1)), table.prior)


def fit_answers(labels: AnnotatorLabels, scores: _Floats | None) -> AnswerModel:
    """Return the parameters that maximize the penalized log-likelihood."""
    table = AnswerTable(labels, scores)
    model = initial_model(table)
    n_answers = table.positive.nnz + table.negative.nnz
    for _ in range(MAX_ITERATIONS):
        last = model
        model = _accelerated(last)
        if model.log_likelihood - last.log_likelihood <= TOLERANCE * n_answers:
            break
    return model


def _accelerated(model: AnswerModel) -> AnswerModel:
    """Return the parameters after two iterations, extrapolated if this increases the likelihood (Varadhan 2008)."""
    path = [model, model.step()]
    path.append(path[1].step())
    steps = [[getattr(item, name) for item in path] for name in _PARAMETERS]
    first = [b - a for a, b, _ in steps]
    change = [c - 2 * b + a for a, b, c in steps]
    length = np.sqrt(_square(first) / max(_square(change), np.finfo(float).tiny))
    moved = [a + 2 * length * r + length**2 * v for (a, _, _), r, v in zip(steps, first, change, strict=True)]
    candidate = AnswerModel(model.table, *moved)
    return candidate if candidate.log_likelihood >= path[2].log_likelihood else path[2]


def _square(values: list[_Floats]) -> float:
    return sum(float((part**2).sum()) for part in values)


def _newton_step(gradient: _Floats, curvature: _Floats, ridge: float) -> _Floats:
    """Return Newton steps of penalized parameters, none of which is longer than `MAX_NEWTON_STEP`."""
    step = np.linalg.solve(curvature + ridge * np.eye(gradient.shape[-1]), gradient[..., None])[..., 0]
    length = np.linalg.norm(step, axis=-1, keepdims=True)
    return np.asarray(step / np.maximum(length / MAX_NEWTON_STEP, 1.0))
