"""Ranges of the number of label errors that the audit finds, compared with the number that was planted.

``python -m benchmarks.error_counts [data set ...]`` takes a few minutes and needs the data sets, from SPMLD_DATA or by
download. The training labels are left as they are or corrupted in four ways, and 70 % of them are observed; seeds 0 to
2. The table shows the mean of the true number of wrong observed entries and of both ends of the range of
`spmld.audit.find_label_issues`, the number of seeds whose range covers the true number, and the number of wrong entries
among as many entries at the top of the audit. The last line is the fraction of all audits whose range covers the true
number. Labels of the data sets that are wrong already are not counted.
"""

import sys
import warnings

import numpy as np

from benchmarks.sizes import sized
from spmld._table import TextTable
from spmld.audit import find_label_issues
from spmld.labels import corrupt_labels, hide_labels
from studies.data import load

NAMES = sized(("business", "computers", "education", "emotions", "enron", "medical"), ("planted",))
KINDS = {"none": 0.0, "permute": 0.3, "swap": 0.4, "drop": 0.4, "flip": 0.03}
CORRUPTED = sized(tuple(KINDS), ("none", "flip"))
SEEDS = range(sized(3, 1))
COLUMNS = ("data", "labels", "observed", "wrong", "range", "covered", "found")


def main(names=NAMES):
    warnings.simplefilter("ignore")
    rows, covered = [], []
    for name in names:
        data = load(name)
        for kind in CORRUPTED:
            results = np.array([audit(data, kind, seed) for seed in SEEDS])
            observed, wrong, lower, upper, found = results.mean(axis=0)
            covered.append((results[:, 2] <= results[:, 1]) & (results[:, 1] <= results[:, 3]))
            count = f"{covered[-1].sum()} of {len(SEEDS)}"
            rows.append([name, kind, *np.round([observed, wrong]).astype(int), f"{lower:.0f} to {upper:.0f}", count])
            rows[-1].append(f"{found:.0f}")
    print(f"Means of {len(SEEDS)} seeds\n")
    print(TextTable(COLUMNS, rows).to_markdown())
    print(f"\nThe range covers the true number in {np.sum(covered)} of {np.size(covered)} audits")


def audit(data, kind, seed):
    """Return the number of observed and of wrong entries, the range, and the number of errors found."""
    Y, truth = data.Y_train, data.Y_train
    if kind != "none":
        Y = corrupt_labels(Y, kind, KINDS[kind], random_state=np.random.RandomState([seed, 1]))
    Y = hide_labels(Y, 0.7, random_state=seed)
    observed = ~np.isnan(Y)
    issues = find_label_issues(None, data.X_train, Y, random_state=seed)
    wrong = (truth != Y) & observed
    n_wrong = int(wrong.sum())
    return observed.sum(), n_wrong, *issues.total_range, wrong.flat[issues.order()[:n_wrong]].sum()


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
