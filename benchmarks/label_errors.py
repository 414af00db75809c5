"""Detection of samples with label errors: the audit compared with cleanlab on the data of cleanlab's own benchmark.

``python -m benchmarks.label_errors [small] [large]`` takes about ten minutes and requires cleanlab, ``pip install
--group bench``. The data follow the protocol of https://github.com/cleanlab/multilabel-error-detection-benchmarks
(Thyagarajan, Snorrason, Northcutt and Mueller 2022, arXiv:2211.13895): `make_multilabel_classification` with 4 labels
and 5,000 training samples or 50 labels and 30,000 training samples, seeds 0 to 9, and for each label a random noise
matrix whose mean accuracy is 1 minus a Gamma variable; at most three labels of a sample are wrong. Random number
generators have changed since then, so the data are new draws of the same distribution.

The models are those of their benchmark, logistic regression and random forest (only with 4 labels), and the default
estimator of the audit. For each model there are four rows with the same out-of-fold probabilities: cleanlab's
self-confidence, pooled to scores of samples by the minimum, the exponential moving average and softmin; and
`spmld.audit.find_label_issues`, pooled by `LabelIssues.sample_quality`.

Columns: AUPRC and lift at 100 of samples with an error, AUPRC of wrong entries, and the number of errors found per 100
entries reviewed, if as many entries are reviewed as are wrong. Then the number of errors that the features could
reveal, and the true number.
"""

import sys
import warnings
from importlib.util import find_spec

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import normalize

from benchmarks.sizes import sized
from spmld.audit import find_label_issues

SETTINGS = {
    "small": {
        "n_samples": sized(6000, 600),
        "n_features": 3,
        "n_classes": 4,
        "n_labels": 2,
        "test_size": sized(1000, 100),
    },
    "large": {"n_samples": 37500, "n_features": 20, "n_classes": 50, "n_labels": 5, "test_size": 7500},
}
MODELS = {
    "logistic regression": LogisticRegression(),
    "random forest": RandomForestClassifier(random_state=0, n_jobs=2),
    "default of the audit": None,
}
SEEDS = range(sized(10, 1))
COLUMNS = ("AUPRC", "lift@100", "entries", "per 100", "at most", "wrong")


def main(sizes=sized(tuple(SETTINGS), ("small",))):
    if find_spec("cleanlab") is None:
        return print("cleanlab is not installed; install it with: pip install --group bench")
    warnings.simplefilter("ignore")
    for size in sizes:
        models = [name for name in MODELS if size == "small" or name != "random forest"]
        results = [[evaluate(MODELS[name], *data) for name in models] for data in (make_data(size, s) for s in SEEDS)]
        print(f"\n{f'{size}, mean of {len(SEEDS)} seeds':<52}" + "".join(f"{name:>10}" for name in COLUMNS))
        for name, rows in zip(models, zip(*results, strict=True), strict=True):
            for method in rows[0]:
                values = np.mean([row[method] for row in rows], axis=0)
                print(f"{name:<22}{method:<30}" + "".join(f"{value:>10.3f}" for value in values[:3]), end="")
                print("".join(f"{value:>10.0f}" for value in values[3:]), flush=True)


def make_data(size, seed):
    """Return features, noisy labels and true labels of the training samples."""
    from cleanlab.benchmarking.noise_generation import generate_noise_matrix_from_trace, generate_noisy_labels

    options = dict(SETTINGS[size])
    n_test, n_labels = options.pop("test_size"), options["n_classes"]
    np.random.seed(seed)  # noqa: NPY002, cleanlab's generators use the global state
    accuracies = 1 - np.random.default_rng(seed).gamma(2.0, 0.01, size=n_labels)
    order = np.argsort(accuracies)
    accuracies[order] *= 1 - np.exp(-(np.arange(n_labels) ** 2) / n_labels) / (2 * n_labels)
    X, truth = make_multilabel_classification(**options, length=500, random_state=seed)
    X, _, truth, _ = train_test_split(normalize(X), truth, test_size=n_test, random_state=seed)
    Y = truth.copy()
    for j, accuracy in enumerate(np.maximum(accuracies, 1 - accuracies)):
        frequency = truth[:, j].mean()
        noise = generate_noise_matrix_from_trace(
            2, trace=2 * accuracy, py=np.array([1 - frequency, frequency]), valid_noise_matrix=True, seed=seed + j
        )
        allowed = (truth != Y).sum(axis=1) < 3
        Y[allowed, j] = generate_noisy_labels(Y[allowed, j], noise)
    return X, Y, truth


def evaluate(model, X, Y, truth):
    """Return the metrics by row."""
    from cleanlab.internal.multilabel_scorer import exponential_moving_average, softmin

    wrong = truth != Y
    _, label_sets = np.unique(Y, axis=0, return_inverse=True)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, label_sets))
    issues = find_label_issues(model, X, Y, cv=folds)
    confidence = np.where(Y == 1, issues.probabilities, 1 - issues.probabilities)
    pooled = {
        "cleanlab, minimum": confidence.min(axis=1),
        "cleanlab, moving average 0.8": exponential_moving_average(confidence, alpha=0.8),
        "cleanlab, softmin 0.1": softmin(confidence, temperature=0.1),
    }
    rows = {name: metrics(wrong, -confidence, -quality) for name, quality in pooled.items()}
    return rows | {"audit": metrics(wrong, -issues.quality_log_odds, -issues.sample_quality(), issues.total_range[1])}


def metrics(wrong, entry_scores, sample_scores, at_most=np.nan):
    samples, n_wrong = wrong.any(axis=1), int(wrong.sum())
    reviewed = np.argsort(-entry_scores, axis=None)[:n_wrong]
    return [
        average_precision_score(samples, sample_scores),
        samples[np.argsort(-sample_scores)[:100]].mean() / samples.mean(),
        average_precision_score(wrong.ravel(), entry_scores.ravel()),
        100 * wrong.flat[reviewed].mean(),
        at_most,
        n_wrong,
    ]


if __name__ == "__main__":
    main(sys.argv[1:] or SETTINGS)
