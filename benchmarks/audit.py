"""The audit beside cleanlab: who finds planted wrong labels better, on the same out-of-fold probabilities.

``python -m benchmarks.audit [name ...]`` takes some minutes and needs cleanlab, ``pip install "spmld[bench]"``, and the
data sets, from SPMLD_DATA or by download. Labels of the training samples are made wrong in four ways and 70 % are kept;
seeds 0 to 2. It prints the average precision of finding the wrong among the observed entries: for
`spmld.audit.find_label_issues`, and for cleanlab's label quality scores of each class, from the probabilities of the
first round, which is what a plain cross-validation gives, and from those of the last, which the audit itself goes by.
cleanlab knows no missing labels, so each class is scored on its observed samples. Of its three methods for a class
two agree where there are two classes; "adjusted" is its self-confidence with probabilities adjusted by class.
"""

import sys
from importlib.util import find_spec

import numpy as np

from spmld.audit import find_label_issues
from spmld.datasets import fetch_dataset
from spmld.labels import corrupt_labels, hide_labels
from spmld.studies.auditors import label_quality

NAMES = ("emotions", "enron", "medical", "business")
KINDS = {"permute": 0.3, "swap": 0.4, "drop": 0.4, "flip": 0.03}
METHODS = {
    "self": ("self_confidence", False),
    "margin": ("normalized_margin", False),
    "entropy": ("confidence_weighted_entropy", False),
    "adjusted": ("self_confidence", True),
}
SEEDS = range(3)


def main(names=NAMES):
    if find_spec("cleanlab") is None:
        return print('cleanlab is not installed; it comes with: pip install "spmld[bench]"')
    print(f"{'average precision, mean of 3 seeds':<34}{'cleanlab, first round':^36}{'cleanlab, last round':^36}")
    heads = [f"{word:>9}" for word in METHODS]
    print(f"{'data':<10}{'kind':<8}{'audit':>8}{'1 round':>8}" + "".join(heads * 2))
    rows = []
    for name in names:
        data = fetch_dataset(name)
        for kind, rate in KINDS.items():
            found = np.mean([judge(data, kind, rate, seed) for seed in SEEDS], axis=0)
            rows.append(found)
            cells = "".join(f"{value:>9.3f}" for value in found[2:])
            print(f"{name:<10}{kind:<8}{found[0]:>8.3f}{found[1]:>8.3f}{cells}", flush=True)
    rows = np.array(rows)
    mean = rows.mean(axis=0)
    print(f"{'mean':<18}{mean[0]:>8.3f}{mean[1]:>8.3f}" + "".join(f"{value:>9.3f}" for value in mean[2:]))
    first, last = rows[:, 2:6], rows[:, 6:]
    for where, theirs in (("first", first), ("last", last)):
        best, one = theirs.max(axis=1), theirs.mean(axis=0).max()
        alone = theirs[:, theirs.mean(axis=0).argmax()]
        print(
            f"the audit is above the best of cleanlab's, {where} round, in {(rows[:, 0] > best).sum()} of {len(rows)} "
            f"pairs, and above its best on average ({one:.3f}) in {(rows[:, 0] > alone).sum()}"
        )


def judge(data, kind, rate, seed):
    """Average precisions: of the audit, of the audit with one round, and of cleanlab for both rounds."""
    Y = hide_labels(corrupt_labels(data.Y_train, kind, rate, random_state=seed), 0.7, random_state=seed)
    wrong = (data.Y_train != Y) & ~np.isnan(Y)
    found = [find_label_issues(None, data.X_train, Y, n_iter=rounds, random_state=seed) for rounds in (2, 1)]
    ours = [precision(wrong, issues.error_log_odds) for issues in found]
    theirs = [precision(wrong, -label_quality(i, *method)) for i in reversed(found) for method in METHODS.values()]
    return ours + theirs


def precision(wrong, error_probability):
    from sklearn.metrics import average_precision_score

    known = ~np.isnan(error_probability)
    return average_precision_score(wrong[known], error_probability[known])


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
