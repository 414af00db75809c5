"""Consensus of several annotators: what their panel says, and what is known about each of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from spmld.annotators.answers import AnnotatorLabels, read_annotators
from spmld.annotators.model import AnswerModel, fit_answers
from spmld.annotators.quality import COPIED_FRACTION, copied_answers, error_rates
from spmld.noise.likelihood import NoiseRates

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Consensus:
    """Result of `find_consensus`.

    The panel is all annotators of the data, each of whom answers each entry once more. Given answers are evidence of
    how the panel would answer: two of three positive answers make a positive majority likely, not certain.

    Attributes
    ----------
    labels : AnnotatorLabels
        The answers.
    model : AnswerModel
        The model of the answers.

    Examples
    --------
    See `find_consensus`.
    """

    labels: AnnotatorLabels
    model: AnswerModel

    @cached_property
    def panel_fraction(self) -> _Floats:
        """Expected fraction of the panel that gives a positive answer to each entry."""
        return self._mean(self.model.answer_probabilities.mean(axis=0))

    @cached_property
    def probabilities(self) -> _Floats:
        """Probability that the majority of the panel gives a positive answer to each entry; a tie counts one half."""
        return self._mean(self._majority)

    @cached_property
    def leaning(self) -> _Floats:
        """Probability that the panel leans to yes: that most of its answers would be positive if it answered often."""
        return self._mean(self.model.leaning)

    @cached_property
    def answer_probabilities(self) -> _Floats:
        """Probability that each annotator gives a positive answer, of shape (n_samples, n_annotators, n_labels)."""
        return np.einsum("nlq,alq->nal", self.model.posterior, self.model.answer_probabilities, optimize=True)

    @property
    def confidence(self) -> _Floats:
        """Probability of the more likely majority of each entry."""
        return np.maximum(self.probabilities, 1 - self.probabilities)

    @property
    def rates(self) -> NoiseRates:
        """Probability that each annotator differs from the panel, where it leans to no and where it leans to yes."""
        leaning = self._mean_level * self.model.leaning
        opposite = self._mean_level - leaning
        p = self.model.answer_probabilities
        return NoiseRates(
            (opposite * p).sum(axis=-1) / opposite.sum(axis=-1),
            (leaning * (1 - p)).sum(axis=-1) / leaning.sum(axis=-1),
        )

    def annotator_quality(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return how often each annotator differs from the panel, over all labels.

        An answer differs if it is positive and the panel leans to no, which means that its expected fraction of
        positive answers is below one half, or the other way round. The interval of the error rate contains the
        sampling error of the samples and the error of the model's parameters. Rates of false positives and of false
        negatives, each alone, have no intervals.
        """
        signs = self.labels.signs
        lean = self.leaning[self.labels.samples]
        rates, intervals = error_rates(self.labels, self.model, level)
        columns = {
            "n_answers": self._by_annotator(signs != 0).astype(int),
            "error_rate": rates,
            "false_positive_rate": self._fraction((signs > 0) * (1 - lean), (signs != 0) * (1 - lean)),
            "false_negative_rate": self._fraction((signs < 0) * lean, (signs != 0) * lean),
        }
        table: list[dict[str, Any]] = []
        for a, name in enumerate(self.labels.names):
            row = {kind: values[a].item() for kind, values in columns.items()}
            table.append({"annotator": name, **row, "error_rate_interval": tuple(intervals[a].tolist())})
        return table

    def _by_annotator(self, values: NDArray[Any]) -> _Floats:
        return self.labels.by_annotator(values).sum(axis=1)

    def _fraction(self, part: _Floats, whole: _Floats) -> _Floats:
        """Return a fraction of the answers of each annotator, with half an answer of each kind added."""
        return (self._by_annotator(part) + 0.5) / (self._by_annotator(whole) + 1)

    def copies(self, min_fraction: float = COPIED_FRACTION) -> list[tuple[int, int, float]]:
        """Return pairs of annotators who agree more than the model explains, and the fraction that seems copied.

        If one annotator copies a fraction of the answers of the other, this fraction of the expected disagreements is
        missing. Pairs are listed if the fraction is above `min_fraction` with a confidence of 95 %.
        """
        return copied_answers(self.labels, self.model, min_fraction)

    def next_answers(self, count: int = 10) -> list[tuple[int, int, int, float]]:
        """Return the entries to show next: sample, label, annotator and the gain of the answer.

        The gain is the expected decrease of the entropy of the panel's majority. Each entry is listed once, with the
        annotator whose answer is worth most among those who have not answered it.
        """
        p = self.probabilities
        best = np.full(p.shape, -1.0)
        chosen = np.zeros(p.shape, dtype=np.intp)
        for annotator, given_level in enumerate(self.model.answer_probabilities):
            positive = self._mean(given_level)
            both = self._mean(given_level * self._majority)
            of_no = np.clip((p - both) / (1 - positive), 0.0, 1.0)
            gain = _entropy(p) - positive * _entropy(both / positive) - (1 - positive) * _entropy(of_no)
            answered = np.zeros(p.shape, dtype=bool)
            rows = self.labels.annotators == annotator
            answered[self.labels.samples[rows]] = self.labels.signs[rows] != 0
            better = (gain > best) & ~answered
            best[better] = gain[better]
            chosen[better] = annotator
        order = np.argsort(-best, axis=None, kind="stable")[:count]
        places = zip(*np.unravel_index(order, p.shape), strict=True)
        return [(int(i), int(j), int(chosen[i, j]), float(best[i, j])) for i, j in places if best[i, j] >= 0]

    def _mean(self, values: NDArray[Any]) -> _Floats:
        """Return the expected value of each entry of a function of its level."""
        return np.asarray((self.model.posterior * values).sum(axis=-1))

    @cached_property
    def _mean_level(self) -> _Floats:
        return np.asarray(self.model.posterior.mean(axis=0))

    @cached_property
    def _majority(self) -> _Floats:
        """Probability of a positive majority of the panel at each level: that of a sum of independent answers."""
        n_annotators = len(self.labels.names)
        counts = np.zeros((n_annotators + 1, *self.model.leaning.shape))
        counts[0] = 1.0
        for p in self.model.answer_probabilities:
            counts[1:] = counts[1:] * (1 - p) + counts[:-1] * p
            counts[0] *= 1 - p
        excess = np.arange(n_annotators + 1) - n_annotators / 2
        return np.tensordot((np.sign(excess) + 1) / 2, counts, 1)


def find_consensus(labels: Any, log_odds: _Floats | None = None) -> Consensus:
    """Estimate what the panel of the annotators says, and how often each annotator differs from it.

    Parameters
    ----------
    labels : AnnotatorLabels, array-like of shape (n_samples, n_annotators, n_labels) or DataFrame
        Answers, in any form that `spmld.annotators.read_annotators` accepts without further arguments.
    log_odds : ndarray of shape (n_samples, n_labels), optional
        Out-of-fold scores of a classifier of the answers, in log-odds. Their slope and shift are estimated for each
        label. By default, samples are distinguished by their answers alone.

    Returns
    -------
    Consensus

    Examples
    --------
    >>> import numpy as np
    >>> from spmld.annotators import find_consensus
    >>> rng = np.random.default_rng(0)
    >>> clear = rng.random((2000, 1, 2)) < 0.4
    >>> wrong = rng.random((2000, 3, 2)) < np.array([0.1, 0.2, 0.3])[:, None]
    >>> consensus = find_consensus((clear ^ wrong).astype(float))
    >>> [round(row["error_rate"], 1) for row in consensus.annotator_quality()]
    [0.1, 0.2, 0.3]
    >>> bool(((consensus.probabilities > 0.5) == clear[:, 0]).mean() > 0.88)
    True
    """
    labels = read_annotators(labels)
    return Consensus(labels, fit_answers(labels, log_odds))


def _entropy(p: _Floats) -> _Floats:
    return np.asarray(entr(p) + entr(1 - p))
