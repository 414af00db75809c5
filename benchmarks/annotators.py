"""Consensus of simulated annotators, compared with majority vote and with Dawid-Skene for each label.

``python -m benchmarks.annotators [data set ...]`` takes a few minutes and requires the data sets, from SPMLD_DATA or by
download. There are 2 to 7 annotators; each answers a random 30 % of the entries. The rates of an annotator are drawn
from Beta distributions with the means 0.08 (false positives) and 0.25 (false negatives) and strength 8, and those of
its labels from Beta distributions around these with strength 12. Seeds 0 to 2.

The output is the log loss and the accuracy on the entries with an answer. Probabilities are clipped to [0.001, 0.999].
Majority vote is smoothed: the probability is (positive answers + f) / (answers + 1) with the frequency f of positive
answers of the label. Dawid-Skene is the EM algorithm with one error and one correct answer added to each count.
"error rate" is the mean absolute error of the estimated fraction of wrong answers of an annotator; "alpha" and "beta"
are those of the rates of each annotator and label.
"""

import sys

import numpy as np
from scipy.special import expit, logit

from benchmarks.sizes import sized
from spmld.annotators import find_consensus, fit_consensus, read_annotators
from spmld.annotators.consensus import answer_evidence, count_errors
from spmld.labels import read_labels
from spmld.noise import NoiseRates
from studies.data import load

NAMES = sized(("emotions", "scene", "medical", "business"), ("planted",))
COUNTS = range(2, sized(8, 3))
SEEDS = range(sized(3, 1))
METHODS = ("majority", "Dawid-Skene", "votes", "consensus")
COLUMNS = (*METHODS, *METHODS, "error rate", "alpha", "beta")


def main(names=NAMES):
    print(f"{'':<10}{'':>4}{'log loss':>48}{'accuracy':>48}{'mean absolute error':>36}")
    print(f"{'data':<10}{'n':>4}" + "".join(f"{name:>12}" for name in COLUMNS))
    rows = []
    for name in names:
        data = load(name)
        truth = read_labels(data.Y).signs > 0
        for n_annotators in COUNTS:
            found = [evaluate(data.X, truth, n_annotators, seed) for seed in SEEDS]
            rows += found
            print(f"{name:<10}{n_annotators:>4}" + format_row(np.mean(found, axis=0)), flush=True)
    table = np.array(rows)
    parts = dict(zip(names, np.split(table, len(names)), strict=True))
    for name, part in [*parts.items(), ("all", table)]:
        print(f"{name:<10}mean" + format_row(part.mean(axis=0)))
    for name, part in [*parts.items(), ("all", table)]:
        for j, method in enumerate(METHODS[:3]):
            wins, right = (part[:, 3] < part[:, j]).sum(), (part[:, 7] > part[:, 4 + j]).sum()
            print(f"{name}: lower log loss than {method} in {wins}, higher accuracy in {right} of {len(part)} runs")
        print(f"{name}: error rates within 0.03 in {(part[:, 8] < 0.03).sum()} of {len(part)} runs")


def format_row(values):
    return "".join(f"{value:>12.4f}" for value in values)


def evaluate(X, truth, n_annotators, seed):
    """Return log losses and accuracies of the methods, and errors of the rates."""
    answers, rates = simulate(truth, n_annotators, np.random.default_rng(seed))
    labels = read_annotators(answers)
    votes, consensus = find_consensus(labels), fit_consensus(X, labels)
    probabilities = majority(labels), dawid_skene(labels), votes.probabilities, consensus.probabilities
    answered = labels.counts > 0
    clipped = [np.clip(p, 1e-3, 1 - 1e-3)[answered] for p in probabilities]
    losses = [-np.log(np.where(truth[answered], p, 1 - p)).mean() for p in clipped]
    accuracies = [((p > 0.5) == truth[answered]).mean() for p in clipped]
    given = np.where(np.isnan(answers), np.nan, (answers == 1) != truth[:, None])
    wrong = [row["error_rate"] for row in consensus.annotator_quality()]
    errors = [np.abs(wrong - np.nanmean(given, axis=(0, 2))).mean()]
    errors += [np.abs(a - b).mean() for a, b in zip(consensus.rates, rates, strict=True)]
    return [*losses, *accuracies, *errors]


def simulate(truth, n_annotators, rng, answered=0.3):
    """Return answers of shape (n_samples, n_annotators, n_labels), NaN where missing, and the rates."""
    n, l = truth.shape
    means = [np.clip(rng.beta(8 * m, 8 * (1 - m), size=(n_annotators, 1)), 0.005, 0.95) for m in (0.08, 0.25)]
    alpha, beta = (rng.beta(12 * mean, 12 * (1 - mean), size=(n_annotators, l)) for mean in means)
    wrong = rng.random((n, n_annotators, l)) < np.where(truth[:, None], beta, alpha)
    answers = (truth[:, None] != wrong).astype(float)
    return np.where(rng.random(answers.shape) < answered, answers, np.nan), NoiseRates(alpha, beta)


def majority(labels):
    positive = labels.signs > 0
    frequency = (positive.sum(axis=0) + 0.5) / ((labels.signs != 0).sum(axis=0) + 1)
    return (labels.by_sample(positive) + frequency) / (labels.counts + 1)


def dawid_skene(labels, n_iterations=50):
    p, answered = majority(labels), labels.counts > 0
    for _ in range(n_iterations):
        rates = NoiseRates(*((counts.errors + 1) / (counts.totals + 2) for counts in count_errors(labels, p)))
        frequency = ((p * answered).sum(axis=0) + 1) / (answered.sum(axis=0) + 2)
        p = expit(logit(frequency) + answer_evidence(labels, rates))
    return p


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
