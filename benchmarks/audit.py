"""Detection of corrupted labels: the audit compared with cleanlab on the same out-of-fold probabilities.

``python -m benchmarks.audit [data set ...]`` takes a few minutes and requires cleanlab, ``pip install --group bench``,
and the data sets, from SPMLD_DATA or by download. The training labels are corrupted in four ways, and 70 % of them are
observed; seeds 0 to 2. The output is the average precision of detecting corrupted observed entries, for
`spmld.audit.find_label_issues` and for cleanlab's label quality scores per class, from the same probabilities. Since
cleanlab does not support missing labels, each class is scored on its observed samples. Two of its three methods agree
for two classes. "adjusted" is self-confidence with probabilities adjusted by class.
"""

import sys
from importlib.util import find_spec

import numpy as np
from sklearn.metrics import average_precision_score

from benchmarks.sizes import sized
from spmld.audit import find_label_issues
from spmld.labels import corrupt_labels, hide_labels
from studies.data import load
from studies.methods import label_quality

NAMES = sized(("emotions", "enron", "medical", "business"), ("planted",))
KINDS = {"permute": 0.3, "swap": 0.4, "drop": 0.4, "flip": 0.03}
METHODS = {
    "self": ("self_confidence", False),
    "margin": ("normalized_margin", False),
    "entropy": ("confidence_weighted_entropy", False),
    "adjusted": ("self_confidence", True),
}
SEEDS = range(sized(3, 1))


def main(names=NAMES):
    if find_spec("cleanlab") is None:
        return print("cleanlab is not installed; install it with: pip install --group bench")
    print("average precision, mean of 3 seeds")
    print(f"{'data':<10}{'kind':<8}{'audit':>9}" + "".join(f"{word:>9}" for word in METHODS))
    rows = []
    for name in names:
        data = load(name)
        for kind, rate in KINDS.items():
            rows.append(np.mean([precisions(data, kind, rate, seed) for seed in SEEDS], axis=0))
            print(f"{name:<10}{kind:<8}{format_row(rows[-1])}", flush=True)
    rows = np.array(rows)
    print(f"{'mean':<18}{format_row(rows.mean(axis=0))}")
    audit, cleanlab = rows[:, 0], rows[:, 1:]
    best, means = cleanlab.max(axis=1), cleanlab.mean(axis=0)
    single = cleanlab[:, means.argmax()]
    print(
        f"the audit is better than the best of cleanlab's methods in {(audit > best).sum()} of {len(rows)} cases, and "
        f"better than the method with the best mean ({means.max():.3f}) in {(audit > single).sum()}"
    )


def format_row(values):
    return "".join(f"{value:>9.3f}" for value in values)


def precisions(data, kind, rate, seed):
    """Return average precisions of the audit and of cleanlab's methods."""
    Y = hide_labels(corrupt_labels(data.Y_train, kind, rate, random_state=seed), 0.7, random_state=seed)
    observed = ~np.isnan(Y)
    wrong = (data.Y_train != Y)[observed]
    issues = find_label_issues(None, data.X_train, Y, random_state=seed)
    scores = [issues.error_log_odds, *(-label_quality(issues, *method) for method in METHODS.values())]
    return [average_precision_score(wrong, score[observed]) for score in scores]


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
