"""Bias of each metric when labels are missing: its value on the observed entries minus its value on all entries.

``python -m benchmarks.missingness`` takes about ten seconds. Labels are drawn from a logistic model of 20 features, and
are more likely than not for 50 % (the first label) to 5 % (the last one) of the samples. Logistic regression is fitted
on 1,000 samples with all labels and evaluated on 2,000 others, some of whose labels are missing, in four ways:

- completely at random: each entry is observed with probability 0.4;
- features: an entry is observed with a probability from 0.1 to 0.9 that increases with the distance of its true
  probability from one half, as if annotators skipped difficult entries;
- value: positives are observed with probability 0.8, negatives with 0.3;
- label: labels are observed with probabilities from 0.1 to 0.9, the rarest most often.

The tables show means over 50 seeds and their standard errors, without weights and, for the metrics that accept them,
with entry weights: the inverse of the probability that an entry is observed.
"""

import numpy as np

from benchmarks.sizes import sized
from spmld import MaskedLogistic
from spmld._table import TextTable
from spmld.metrics import evaluate

SEEDS = range(sized(50, 2))
N_TRAIN, N_TEST, N_FEATURES, N_LABELS = 1000, 2000, 20, 12


def draw(rng):
    """Return features, labels and true probabilities."""
    X = rng.normal(size=(N_TRAIN + N_TEST, N_FEATURES))
    W = rng.normal(size=(N_FEATURES, N_LABELS))
    scores = 3 * X @ (W / np.linalg.norm(W, axis=0))
    base_rates = np.linspace(0.5, 0.05, N_LABELS)
    scores -= [np.quantile(column, 1 - rate) for column, rate in zip(scores.T, base_rates, strict=True)]
    truth = 1 / (1 + np.exp(-scores))
    return X, (rng.random(truth.shape) < truth).astype(float), truth


def propensities(Y, truth):
    """Return the probabilities that the entries are observed, by kind of missingness."""
    return {
        "completely at random": np.full(Y.shape, 0.4),
        "features": 0.1 + 0.8 * np.abs(2 * truth - 1) ** 2,
        "value": np.where(Y == 1, 0.8, 0.3),
        "label": np.broadcast_to(np.linspace(0.1, 0.9, N_LABELS), Y.shape),
    }


def biases(seed):
    """Return the values on all entries, and the differences without and with weights, by kind and metric."""
    rng = np.random.default_rng(seed)
    X, Y, truth = draw(rng)
    model = MaskedLogistic().fit(X[:N_TRAIN], Y[:N_TRAIN])
    X, Y, truth = X[N_TRAIN:], Y[N_TRAIN:], truth[N_TRAIN:]
    outputs = model.decision_function(X), model.predict(X), model.predict_proba(X)
    full = evaluate(Y, *outputs, k=3)
    plain, weighted = {}, {}
    for kind, propensity in propensities(Y, truth).items():
        observed = rng.random(Y.shape) < propensity
        for differences, weights in ((plain, None), (weighted, 1 / propensity)):
            partial = evaluate(Y, *outputs, observed, k=3, entry_weight=weights)
            differences |= {(name, kind): value - full[name] for name, value in partial.items()}
    return full, plain, weighted


def table(full, samples):
    """Return the means over seeds and their standard errors."""
    kinds = list(dict.fromkeys(kind for _, kind in samples[0]))
    rows = []
    for name in dict.fromkeys(name for name, _ in samples[0]):
        cells = []
        for kind in kinds:
            values = [sample[name, kind] for sample in samples]
            mean = np.round(np.mean(values), 3) + 0.0  # no negative zero
            cells.append(f"{mean:+.3f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.3f}")
        rows.append([name, f"{np.mean([values[name] for values in full]):.3f}", *cells])
    return TextTable(["metric", "all entries", *kinds], rows)


def main():
    full, plain, weighted = zip(*map(biases, SEEDS), strict=True)
    print(f"\nWithout weights\n\n{table(full, plain).to_markdown()}")
    print(f"\nWith inverse-propensity weights\n\n{table(full, weighted).to_markdown()}")


if __name__ == "__main__":
    main()
