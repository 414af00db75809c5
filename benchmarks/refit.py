"""Refit after a review: corrected labels only, or decided entries passed as trusted.

``python -m benchmarks.refit [data set ...]`` takes about five minutes and needs the data sets, from SPMLD_DATA or by
download. A fraction of the entries of the training labels is flipped ("flip"), or a fraction of the positives is moved
to another label ("swap"). A reviewer decides 100 entries: the first ones in the order of `spmld review`, or random
ones. Then `SelfPacedEnsemble` is fitted on the labels after the decisions ("corrected"), and with the decided entries
passed as ``trusted``, from which noise rates are estimated. The first two tables show the ranking loss and the
micro F1 on the test samples, means over five seeds. The last table shows how many of the next 100 entries of the queue
are wrong, if the decided entries are passed to the audit as ``trusted``, if they are only removed from the queue, and
after `update_issues`.

Data are those of `benchmarks.review`: at most 500 training and 500 test samples, and labels with at least 10 positives
among the training samples.
"""

import sys
import warnings

import numpy as np

from benchmarks.review import make_data, queue_order
from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble
from spmld._table import TextTable
from spmld.app.review.queue import update_issues
from spmld.audit import find_label_issues
from spmld.labels import corrupt_labels
from spmld.metrics import micro_f1, ranking_loss
from studies.data import load

NAMES = sized(("emotions", "medical", "business"), ("planted",))
KINDS = sized((("flip", 0.05), ("flip", 0.2), ("swap", 0.2)), (("flip", 0.2),))
DECISIONS = 100
VIEWS = sized("auto", ("linear",))
SEEDS = range(sized(5, 1))
METHODS = ("noisy", "corrected", "trusted", "random, corrected", "random, trusted")
AUDITS = ("trusted", "removed", "updated")


def main(names=NAMES):
    warnings.simplefilter("ignore")
    tables = {"ranking loss": [], "micro F1": [], f"wrong entries among the next {DECISIONS}": []}
    for name in names:
        data = load(name)
        for kind, fraction in KINDS:
            results = np.mean([simulate(data, kind, fraction, seed) for seed in SEEDS], axis=0)
            parts = results[: len(METHODS)], results[len(METHODS) : 2 * len(METHODS)], results[2 * len(METHODS) :]
            for rows, values, digits in zip(tables.values(), parts, (4, 3, 1), strict=True):
                rows.append([name, f"{kind}, {fraction:.0%}", *(f"{value:.{digits}f}" for value in values)])
    for metric, rows in tables.items():
        print(f"\n{metric}\n")
        columns = AUDITS if metric.startswith("wrong") else METHODS
        print(TextTable(["data", "labels", *columns], rows).to_markdown())


def simulate(data, kind, fraction, seed):
    """Return the ranking losses and the F1 of the methods, and the number of errors that each audit finds next."""
    X, truth, X_test, Y_test = make_data(data, seed)
    Y = corrupt_labels(truth, kind, fraction, random_state=seed).astype(float)
    issues = find_label_issues(None, X, Y, random_state=0)
    reviewed = chosen(queue_order(issues), Y.shape)
    checked = chosen(np.random.RandomState([seed, 1]).permutation(Y.size), Y.shape)
    labels, other = np.where(reviewed, truth, Y), np.where(checked, truth, Y)
    models = (
        fit(X, Y),
        fit(X, labels),
        fit(X, labels, trusted=reviewed),
        fit(X, other),
        fit(X, other, trusted=checked),
    )
    values = [(ranking_loss(Y_test, m.decision_function(X_test)), micro_f1(Y_test, m.predict(X_test))) for m in models]
    plain = find_label_issues(None, X, labels, random_state=0)
    audits = (
        find_label_issues(None, X, labels, trusted=reviewed, random_state=0),
        plain.mark_verified(reviewed),
        update_issues(issues, X, np.where(reviewed, 2 * truth - 1, 0), random_state=0),
    )
    errors = [(labels != truth).flat[queue_order(audit)[:DECISIONS]].sum() for audit in audits]
    losses, scores = zip(*values, strict=True)
    return [*losses, *scores, *errors]


def chosen(order, shape):
    decided = np.zeros(shape, dtype=bool)
    decided.flat[order[:DECISIONS]] = True
    return decided


def fit(X, Y, trusted=None):
    return SelfPacedEnsemble(views=VIEWS, random_state=0).fit(X, Y, trusted=trusted)


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
