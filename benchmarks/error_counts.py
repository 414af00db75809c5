"""Numbers of label errors that the audit estimates, compared with those that were planted.

``python -m benchmarks.error_counts [data set ...]`` takes a few minutes and needs the data sets, from SPMLD_DATA or by
download. The training labels are left as they are or corrupted in four ways, and 70 % of them are observed; seeds 0 to
2. The table shows the mean numbers of false positives and false negatives, estimated by
`spmld.audit.find_label_issues` and true. The last lines show the reliability of the error probabilities over all
corrupted conditions: of the entries in each range, the number, the mean error probability and the fraction that is
wrong.
"""

import sys
import warnings
from itertools import pairwise

import numpy as np

from spmld._table import TextTable
from spmld.audit import find_label_issues
from spmld.datasets import fetch_dataset
from spmld.labels import corrupt_labels, hide_labels

NAMES = ("business", "computers", "education", "emotions", "enron", "medical")
KINDS = {"none": 0.0, "permute": 0.3, "swap": 0.4, "drop": 0.4, "flip": 0.03}
EDGES = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0])
SEEDS = range(3)


COLUMNS = ("data", "labels", "observed", "false positives", "false negatives", "wrong")
RANGES = ("error probability", "entries", "mean", "wrong")


def main(names=NAMES):
    warnings.simplefilter("ignore")
    rows, reliability = [], np.zeros((3, len(EDGES) - 1))
    for name in names:
        data = fetch_dataset(name)
        for kind in KINDS:
            results = [audit(data, kind, seed) for seed in SEEDS]
            counts = np.mean([numbers for numbers, _ in results], axis=0)
            pairs = [f"{estimated:.0f} / {true:.0f}" for estimated, true in [*counts, counts.sum(axis=0)]]
            rows.append([name, kind, int(results[0][1][0].sum()), *pairs])
            reliability += sum(part for _, part in results) if kind != "none" else 0
    print("Estimated and true numbers, mean of three seeds\n")
    print(TextTable(COLUMNS, rows).to_markdown())
    ranges = [f"{low:g} to {high:g}" for low, high in pairwise(EDGES)]
    count, predicted, wrong = reliability
    values = zip(ranges, count, predicted / count, wrong / count, strict=True)
    print()
    print(TextTable(RANGES, [[name, f"{n:.0f}", f"{p:.2f}", f"{w:.2f}"] for name, n, p, w in values]).to_markdown())


def audit(data, kind, seed):
    """Return estimated and true numbers of false positives and negatives, and the sums of each range."""
    Y, truth = data.Y_train, data.Y_train
    if kind != "none":
        Y = corrupt_labels(Y, kind, KINDS[kind], random_state=np.random.RandomState([seed, 1]))
    Y = hide_labels(Y, 0.7, random_state=seed)
    observed = ~np.isnan(Y)
    issues = find_label_issues(None, data.X_train, Y, random_state=seed)
    p, wrong, positive = issues.error_probability[observed], (truth != Y)[observed], Y[observed] == 1
    counts = [[p[positive == sign].sum(), wrong[positive == sign].sum()] for sign in (True, False)]
    bins = np.digitize(p, EDGES[1:-1])
    sums = [np.bincount(bins, values, minlength=len(EDGES) - 1) for values in (np.ones(len(p)), p, wrong)]
    return np.array(counts), np.array(sums)


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
