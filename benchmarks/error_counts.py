"""Limits of the number of label errors that the audit finds, compared with the number that was planted.

``python -m benchmarks.error_counts [data set ...]`` takes a few minutes and needs the data sets, from SPMLD_DATA or by
download. The training labels are left as they are or corrupted in four ways, and 70 % of them are observed; seeds 0 to
2. The table shows the mean of the true number of wrong observed entries, of the range of
`spmld.audit.find_label_issues`, and of that with 100 verified samples, in which errors are corrected. "covered" is the
number of seeds whose range covers the true number. "found" is the number of wrong entries among as many entries at the
top of the list of both kinds. The last line is the fraction of all audits whose range covers the true number. Labels of
the data sets that are wrong already are not counted.
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
COLUMNS = ("data", "labels", "observed", "wrong", "found", "range", "covered", "wrong others", "range", "covered")
N_VERIFIED = sized(100, 20)


def main(names=NAMES):
    warnings.simplefilter("ignore")
    rows = []
    covered = []
    for name in names:
        data = load(name)
        for kind in CORRUPTED:
            results = np.array([audit(data, kind, seed) for seed in SEEDS])
            observed, wrong, found, lower, upper, left, *limits = results.T
            covered += [covers(wrong, lower, upper), covers(left, *limits)]
            counts = [f"{part.sum()} of {len(SEEDS)}" for part in covered[-2:]]
            sizes = [f"{part.mean():.0f}" for part in (observed, wrong, found)]
            first = [f"{lower.mean():.0f} to {upper.mean():.0f}", counts[0]]
            second = [f"{left.mean():.0f}", " to ".join(f"{limit.mean():.0f}" for limit in limits), counts[1]]
            rows.append([name, kind, *sizes, *first, *second])
    print(f"Means of {len(SEEDS)} seeds\n")
    print(TextTable(COLUMNS, rows).to_markdown())
    print(f"\nThe range covers the true number in {np.sum(covered)} of {np.size(covered)} audits")


def covers(number, lower, upper):
    return (lower <= number) & (number <= upper)


def audit(data, kind, seed):
    """Return the numbers of observed, wrong and found entries, the range, and wrong entries and range after a check."""
    truth = data.Y_train
    Y = truth
    if kind != "none":
        Y = corrupt_labels(Y, kind, KINDS[kind], random_state=np.random.RandomState([seed, 1]))
    Y = hide_labels(Y, 0.7, random_state=seed)
    observed = ~np.isnan(Y)
    wrong = (truth != Y) & observed
    n_wrong = int(wrong.sum())
    issues = find_label_issues(None, data.X_train, Y, random_state=seed)
    verified = np.isin(np.arange(len(Y)), np.random.default_rng(seed).permutation(len(Y))[:N_VERIFIED])
    corrected = np.where(verified[:, None] & observed, truth, Y)
    checked = find_label_issues(None, data.X_train, corrected, trusted=verified, random_state=seed)
    n_left = int(wrong[~verified].sum())
    n_found = wrong.flat[issues.order()[:n_wrong]].sum()
    return observed.sum(), n_wrong, n_found, *issues.total_range, n_left, *checked.total_range


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
