"""The ensemble and the audit on generated data of ordinary kinds, whose true probabilities are known.

``python -m benchmarks.designs [design ...]`` takes three hours of processor time. Each design has its own features and
probabilities of the labels, see `DESIGNS`; there are five seeds. The first table is of clean labels: the log loss of
`SelfPacedEnsemble` on 2,000 new samples, of logistic regression with the C of the lowest out-of-fold loss, and of the
label frequencies; the number of fits that claim noise, without and with 50 verified samples; and how much worse
`complete` is than `predict_proba` where 30 % of the entries are hidden. The second table is of labels of which 5 % are
flipped, or 5 % of the negatives are changed to positives: how often the range of `find_label_issues` covers the number
of errors, its median width relative to this number, and how often the estimate from 50 verified entries covers it.
"""

import sys
import warnings

import numpy as np
from joblib import Parallel, cpu_count, delayed
from scipy.special import expit, logit

from benchmarks.sizes import sized
from spmld import LabelPrior, MaskedLogistic, SelfPacedEnsemble
from spmld._table import TextTable
from spmld.audit import find_label_issues
from spmld.estimators import FeatureScaler
from spmld.metrics import log_loss
from spmld.model_selection import cross_fit, make_folds

N_TEST = sized(2000, 300)
SEEDS = range(sized(5, 1))
CS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
N_VERIFIED = 50
KINDS = ("flipped", "added")
DESIGNS = {}


def design(n, l):
    """Register a function of a generator and numbers of samples and labels, which returns features and log-odds."""

    def register(function):
        DESIGNS[function.__name__.replace("_", " ")] = function, n, l
        return function

    return register


def linear(rng, X, l, strength, rate=0.2):
    """Return linear log-odds with standard deviation `strength` and about the given rate of positives."""
    W = rng.standard_normal((X.shape[1], l))
    signal = X @ W
    signal = strength * (signal - signal.mean(axis=0)) / np.maximum(signal.std(axis=0), 1e-12)
    return shifted(signal, np.broadcast_to(rate, l))


def shifted(signal, rates):
    """Return log-odds with shifts that give the rates of positives, by bisection."""
    low, high = np.full(signal.shape[1], -60.0), np.full(signal.shape[1], 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        above = expit(signal + middle).mean(axis=0) > rates
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return signal + low


@design(600, 5)
def strong_labels(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, linear(rng, X, l, 6.0)


@design(600, 5)
def weak_labels(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, linear(rng, X, l, 0.5)


@design(600, 5)
def no_signal(rng, n, l):
    return rng.standard_normal((n, 10)), np.full((n, l), logit(0.2))


@design(800, 24)
def strong_beside_rare(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, np.hstack([linear(rng, X, 4, 8.0), np.full((n, l - 4), logit(0.03))])


@design(800, 20)
def scales_of_labels(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, np.hstack([linear(rng, X, l // 4, scale) for scale in (12.0, 3.0, 1.0, 0.3)])


@design(800, 12)
def half_without_signal(rng, n, l):
    X = rng.standard_normal((n, 12))
    return X, np.hstack([linear(rng, X, l // 2, 4.0), np.full((n, l // 2), logit(0.1))])


@design(800, 6)
def unobserved_causes(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, logit(0.04 + 0.96 * expit(linear(rng, X, l, 8.0)))


@design(800, 6)
def threshold_with_floors(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, np.where(linear(rng, X, l, 1.0, 0.3) > logit(0.3), logit(0.92), logit(0.08))


@design(800, 6)
def thresholds(rng, n, l):
    X = rng.random((n, 8))
    return X, np.where(X[:, :l] > 0.7, logit(0.9), logit(0.1))


@design(800, 6)
def one_sided_floor(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, np.maximum(linear(rng, X, l, 6.0), logit(0.08))


@design(600, 4)
def interaction_of_three_bits(rng, n, l):
    X = rng.integers(0, 2, (n, 3)).astype(float)
    odd = (X.sum(axis=1) % 2)[:, None] == np.arange(l) % 2
    return X, np.where(odd, logit(0.85), logit(0.15))


@design(800, 5)
def interactions_of_categories(rng, n, l):
    groups = rng.integers(0, 4, (n, 3))
    effects = rng.standard_normal((l, 4, 4, 4)) * 2
    X = (groups[:, :, None] == np.arange(4)).reshape(n, -1).astype(float)
    return X, effects[:, groups[:, 0], groups[:, 1], groups[:, 2]].T - 1


@design(800, 6)
def one_category(rng, n, l):
    group = rng.integers(0, 6, n)
    return (group[:, None] == np.arange(6)).astype(float), rng.standard_normal((6, l))[group] * 2 - 1


@design(800, 6)
def few_integers(rng, n, l):
    X = rng.integers(0, 3, (n, 4)).astype(float)
    return X, linear(rng, X, l, 1.5)


@design(800, 6)
def hidden_subpopulation(rng, n, l):
    X, part = rng.standard_normal((n, 10)), rng.random((n, 1)) < 0.15
    F = linear(rng, X, l, 4.0)
    return X, np.where(part, -F, F)


@design(800, 6)
def visible_subpopulation(rng, n, l):
    part = rng.random((n, 1)) < 0.3
    X = np.hstack([rng.standard_normal((n, 8)), part])
    return X, np.where(part, -1, 1) * linear(rng, X[:, :8], l, 3.0, 0.4)


@design(800, 10)
def label_copies(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, np.repeat(linear(rng, X, l // 2, 30.0), 2, axis=1)


@design(800, 8)
def groups_of_samples(rng, n, l):
    centers = 3 * rng.standard_normal((12, 6))
    group = rng.integers(0, 12, n)
    return centers[group] + rng.standard_normal((n, 6)), 2 * rng.standard_normal((12, l))[group] - 1.5


@design(800, 6)
def heavy_tails(rng, n, l):
    X = rng.standard_t(1.5, (n, 10))
    return X, linear(rng, np.sign(X) * np.log1p(abs(X)), l, 3.0)


@design(800, 6)
def log_normal_features(rng, n, l):
    X = np.exp(1.5 * rng.standard_normal((n, 10)))
    return X, linear(rng, np.log(X), l, 3.0)


@design(1500, 20)
def rare_labels(rng, n, l):
    X = rng.standard_normal((n, 15))
    return X, linear(rng, X, l, 3.0, 0.01)


@design(1500, 20)
def rare_labels_without_signal(rng, n, l):
    return rng.standard_normal((n, 15)), np.full((n, l), logit(0.01))


@design(600, 200)
def two_hundred_labels(rng, n, l):
    X = rng.standard_normal((n, 20))
    return X, linear(rng, X, l, 3.0, 0.05)


@design(150, 5)
def few_samples(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, linear(rng, X, l, 2.0, 0.3)


@design(150, 5)
def few_samples_many_features(rng, n, l):
    X = rng.standard_normal((n, 400))
    return X, linear(rng, X[:, :5], l, 3.0, 0.3)


@design(600, 10)
def ten_independent_labels(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, linear(rng, X, l, 2.0)


@design(600, 30)
def thirty_independent_labels(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, linear(rng, X, l, 2.0)


@design(600, 60)
def sixty_independent_labels(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, linear(rng, X, l, 2.0)


@design(800, 12)
def shared_hidden_causes(rng, n, l):
    X, hidden = rng.standard_normal((n, 10)), rng.standard_normal((n, 2))
    return X, linear(rng, np.hstack([X, 3 * hidden]), l, 4.0)


@design(800, 8)
def one_of_eight(rng, n, l):
    X = rng.standard_normal((n, 10))
    scores = linear(rng, X, l, 3.0)
    return X, np.where(scores == scores.max(axis=1, keepdims=True), 8.0, -8.0)


@design(800, 8)
def frequent_labels(rng, n, l):
    X = rng.standard_normal((n, 10))
    return X, linear(rng, X, l, 3.0, 0.9)


@design(800, 8)
def squares(rng, n, l):
    X = rng.standard_normal((n, 8))
    return X, linear(rng, X**2, l, 3.0)


@design(800, 6)
def products(rng, n, l):
    X = rng.standard_normal((n, 6))
    return X, 2 * X[:, :l] * np.roll(X[:, :l], 1, axis=1) - 1


@design(800, 6)
def waves(rng, n, l):
    X = rng.random((n, 6))
    return X, 3 * np.sin(9 * X[:, :l]) - 1


@design(800, 12)
def sparse_words(rng, n, l):
    X = (rng.random((n, 300)) < rng.beta(0.4, 12, 300)).astype(float)
    return X, linear(rng, X, l, 3.0, 0.15)


@design(800, 8)
def correlated_features(rng, n, l):
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, 40)) + 0.1 * rng.standard_normal((n, 40))
    return X, linear(rng, X, l, 3.0)


@design(800, 8)
def noise_features(rng, n, l):
    X = rng.standard_normal((n, 60))
    return X, linear(rng, X[:, :4], l, 3.0)


@design(800, 8)
def constant_and_repeated_features(rng, n, l):
    X = rng.standard_normal((n, 6))
    return np.hstack([X, X, np.ones((n, 2)), 1e6 * X[:, :1]]), linear(rng, X, l, 3.0)


@design(800, 6)
def drift_along_the_samples(rng, n, l):
    time = np.linspace(-1, 1, n)[rng.permutation(n)][:, None]
    X = np.hstack([rng.standard_normal((n, 8)), time])
    return X, linear(rng, X, l, 2.0) + 2 * time


@design(800, 9)
def chain_of_labels(rng, n, l):
    X = rng.standard_normal((n, 8))
    return X, np.sort(linear(rng, X, l, 3.0, 0.4), axis=1)[:, ::-1]


def draw(name, seed):
    """Return training and test samples of a design: features and labels of each."""
    function, n, l = DESIGNS[name]
    n = sized(n, 150)
    rng = np.random.default_rng([list(DESIGNS).index(name), seed])
    X, log_odds = function(rng, n + N_TEST, l)
    Y = (rng.random(log_odds.shape) < expit(log_odds)).astype(float)
    return X[:n], Y[:n], X[n:], Y[n:]


def verified_samples(Y, seed):
    """Return a mask of random samples whose labels are verified."""
    chosen = np.random.default_rng(seed).permutation(len(Y))[:N_VERIFIED]
    return np.isin(np.arange(len(Y)), chosen)


def tuned_logistic(X, Y):
    """Return logistic regression with the C of the lowest out-of-fold log loss, and its scaler."""
    scaler, folds = FeatureScaler().fit(X), make_folds(3, X, Y, random_state=0)
    scaled = scaler.transform(X)
    losses = [log_loss(Y, expit(cross_fit(MaskedLogistic(C=C), scaled, Y, folds).scores)) for C in CS]
    return scaler, MaskedLogistic(C=CS[int(np.argmin(losses))]).fit(scaled, Y)


def run_clean(name, seed):
    """Return log losses, claims of noise, and the loss of the completion, for clean labels."""
    X, Y, X_test, Y_test = draw(name, seed)
    model = SelfPacedEnsemble(random_state=seed).fit(X, Y)
    verified = verified_samples(Y, seed)
    claimed = SelfPacedEnsemble(random_state=seed).fit(X, Y, trusted=verified).noise_.identified
    scaler, logistic = tuned_logistic(X, Y)
    p = model.predict_proba(X_test)
    hidden = np.random.default_rng(seed).random(Y_test.shape) < 0.3
    completion = model.complete(X_test, np.where(hidden, np.nan, Y_test))
    completed = np.where(completion.labels == 1, completion.confidences, 1 - completion.confidences)
    losses = [
        log_loss(Y_test, p),
        log_loss(Y_test, logistic.predict_proba(scaler.transform(X_test))),
        log_loss(Y_test, LabelPrior().fit(X, Y).predict_proba(X_test)),
        log_loss(Y_test, completed, mask=hidden) - log_loss(Y_test, p, mask=hidden),
    ]
    return [*losses, model.noise_.identified, claimed]


def run_wrong(name, seed, kind):
    """Return whether the range covers the number of errors, its relative width, and whether the estimate covers it."""
    X, truth, *_ = draw(name, seed)
    changed = np.random.default_rng(seed).random(truth.shape) < 0.05
    if kind == "added":
        changed &= truth == 0
    Y = np.where(changed, 1 - truth, truth)
    n_wrong = int(changed.sum())
    issues = find_label_issues(None, X, Y, random_state=seed)
    low, high = issues.total_range
    sample = issues.sample(N_VERIFIED, random_state=seed)
    estimate = issues.estimate(changed[sample["sample"], sample["label"]])
    covers = low <= n_wrong <= high
    return covers, (high - low) / n_wrong, estimate.lower <= n_wrong <= estimate.upper


def run(name, seed):
    """Return the results of clean labels, and of each kind of errors."""
    warnings.simplefilter("ignore")
    return run_clean(name, seed), [run_wrong(name, seed, kind) for kind in KINDS]


def report(results):
    """Print tables of the results of each design, a list with those of each seed."""
    clean, wrong = [], []
    for name, of_name in results.items():
        values = np.array([of_clean for of_clean, _ in of_name], dtype=float)
        means, claims = values[:, :4].mean(axis=0), values[:, 4:].sum(axis=0).astype(int)
        clean.append([name, *(f"{value:.3f}" for value in means), *claims])
        for k, kind in enumerate(KINDS):
            covered, widths, estimated = zip(*(of_wrong[k] for _, of_wrong in of_name), strict=True)
            wrong.append([name, kind, int(np.sum(covered)), f"{np.median(widths):.2f}", int(np.sum(estimated))])
    columns = ("design", "ensemble", "logistic", "frequencies", "complete", "claims", "with verified samples")
    print("\n" + TextTable(columns, clean).to_markdown())
    columns = ("design", "errors", "range covers", "median width", "estimate covers")
    print("\n" + TextTable(columns, wrong).to_markdown())
    losses = np.array([[float(value) for value in row[1:4]] for row in clean])
    best = losses[:, 1:].min(axis=1)
    n_runs = sum(len(of_name) for of_name in results.values()) * len(KINDS)
    print(f"\nAt most .01 above the better of the two: {(losses[:, 0] <= best + 0.01).sum()} of {len(clean)} designs")
    print(f"More than .01 above the frequencies: {(losses[:, 0] > losses[:, 2] + 0.01).sum()}")
    print(f"Claims of noise: {sum(row[5] for row in clean)}, with verified samples {sum(row[6] for row in clean)}")
    print(f"The range covers {sum(row[2] for row in wrong)} of {n_runs}, the estimate {sum(row[4] for row in wrong)}")
    print(f"Median relative width of the range: {np.median([float(row[3]) for row in wrong]):.2f}")


def main(names=None):
    names = names or list(DESIGNS)[:: sized(1, 20)]
    jobs = [(name, seed) for name in names for seed in SEEDS]
    runs = Parallel(n_jobs=cpu_count())(delayed(run)(*job) for job in jobs)
    results = {name: [] for name in names}
    for (name, _), result in zip(jobs, runs, strict=True):
        results[name].append(result)
    report(results)


if __name__ == "__main__":
    main(sys.argv[1:])
