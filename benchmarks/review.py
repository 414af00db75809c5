"""Simulated review: quality after k decisions, in the order of spmld, in cleanlab's order, and at random.

``python -m benchmarks.review [data set ...]`` takes about ten minutes and needs the data sets, from SPMLD_DATA or by
download. It writes a figure to ``docs/_static/review.svg`` and prints two tables. The training labels are corrupted: a
fraction of 0.4 of the positives is moved to another label ("swap") or dropped ("drop"), or 5 % of the entries are
flipped ("flip"). A reviewer then corrects one entry at a time. After k decisions, `MaskedLogistic` with C = 10 on
scaled features is fitted again, and evaluated on the test samples: ranking loss, and micro F1 of the labels with a
probability above 0.5. At most 500 training and 500 test samples are used, and labels with at least 10 positives
among the training samples; seeds 0 and 1.

The orders are

- spmld: the queue of `spmld.app.review.make_queue`, updated with the decisions after each point of the curve up to 30 %
  of the entries, as `spmld review` does after every 50 decisions;
- spmld, fixed: the same queue without updates;
- cleanlab: ascending self-confidence, the probability of the given label, of the out-of-fold probabilities of the same
  estimator, which is cleanlab's default label quality score;
- random.

The gap is the difference between the quality with the corrupted labels and with fully corrected labels. The tables show
the fraction of the entries that must be reviewed to close 90 % of the gap, interpolated on the mean curve; lower is
better.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np

from benchmarks.sizes import sized
from spmld import MaskedLogistic
from spmld._table import TextTable
from spmld.app.review import make_queue
from spmld.app.review.queue import update_issues
from spmld.audit import find_label_issues
from spmld.estimators import FeatureScaler
from spmld.labels import corrupt_labels
from spmld.metrics import micro_f1, ranking_loss
from studies.data import load

NAMES = sized(("business", "education", "emotions", "enron", "medical"), ("planted",))
KINDS = sized({"swap": 0.4, "drop": 0.4, "flip": 0.05}, {"swap": 0.4})
ORDERS = ("spmld", "spmld, fixed", "cleanlab", "random")
METRICS = ("ranking loss", "micro F1")
FRACTIONS = np.array(sized([0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 0.9, 1], [0, 0.2, 1]))
LAST_UPDATE = 0.3
CLOSED = 0.9
SIZE = 500
SEEDS = range(sized(2, 1))
FIGURE = sized(Path(__file__).parents[1] / "docs" / "_static" / "review.svg", Path(os.devnull))


def main(names=NAMES):
    warnings.simplefilter("ignore")
    curves, rows = {}, []
    for kind in KINDS:
        for name in names:
            data = load(name)
            curves[name, kind] = np.mean([simulate(data, kind, seed) for seed in SEEDS], axis=0)
            rows.append([name, kind, *needed(curves[name, kind])])
            print(name, kind, *(f"{value:.3f}" for value in rows[-1][2:]), flush=True)
    for place, metric in enumerate(METRICS):
        first = 2 + place * len(ORDERS)
        cells = [[*row[:2], *(percent(value) for value in row[first : first + len(ORDERS)])] for row in rows]
        print(f"\nDecisions to close {CLOSED:.0%} of the gap in {metric}, as a fraction of all entries\n")
        print(TextTable(["data", "labels", *ORDERS], cells).to_markdown())
    plot(curves)


def percent(value):
    return f"{100 * value:.1f} %"


def simulate(data, kind, seed):
    """Return the metrics of each order after each fraction of the decisions: an array of orders, fractions, metrics."""
    X, truth, X_test, Y_test = make_data(data, seed)
    Y = corrupt_labels(truth, kind, KINDS[kind], random_state=seed).astype(float)
    scaler = FeatureScaler().fit(X)
    train, test = scaler.transform(X), scaler.transform(X_test)

    def evaluate(labels):
        p = MaskedLogistic(C=10.0).fit(train, labels).predict_proba(test)
        return ranking_loss(Y_test, p), micro_f1(Y_test, p > 0.5)

    counts = np.round(FRACTIONS * Y.size).astype(int)
    return np.array([[evaluate(labels) for labels in review(X, Y, truth, order, counts, seed)] for order in ORDERS])


def make_data(data, seed):
    rng = np.random.RandomState(seed)
    train, test = (rng.permutation(len(Y))[:SIZE] for Y in (data.Y_train, data.Y_test))
    frequent = data.Y_train[train].sum(axis=0) >= 10
    truth, Y_test = data.Y_train[train][:, frequent].astype(float), data.Y_test[test][:, frequent]
    return data.X_train[train], truth, data.X_test[test], Y_test


def review(X, Y, truth, order, counts, seed):
    """Yield the labels after each number of decisions."""
    labels, decided = Y.copy(), np.zeros(Y.shape, dtype=bool)
    issues = find_label_issues(None, X, Y, random_state=0)
    entries = first_order(Y, issues, order, seed)
    for before, count in zip([0, *counts[:-1]], counts, strict=True):
        if order == "spmld" and 0 < before <= LAST_UPDATE * Y.size:
            decisions = np.where(decided, 2 * labels - 1, 0)
            entries = queue_order(update_issues(issues, X, decisions, random_state=0))
            entries = np.concatenate([np.flatnonzero(decided), entries[~decided.flat[entries]]])
        part = entries[before:count]
        labels.flat[part], decided.flat[part] = truth.flat[part], True
        yield labels.copy()


def first_order(Y, issues, order, seed):
    if order == "random":
        return np.random.RandomState([seed, 1]).permutation(Y.size)  # not the numbers of the corruption
    if order == "cleanlab":
        p = issues.probabilities
        return np.argsort(np.where(Y == 1, p, 1 - p), axis=None, kind="stable")
    return queue_order(issues)


def queue_order(issues):
    """Return all entries in the order of the queue; verified entries, which are not in it, come last."""
    entries = make_queue(issues, min_priority=0).index
    return np.concatenate([entries, np.setdiff1d(np.arange(issues.signs.size), entries)])


def needed(curve):
    """Return the fraction of decisions that closes the gap, for each metric and order."""
    start, end = curve[:, :1], curve[:, -1:]
    gap = (curve - end) / (start - end)
    return [crossing(gap[order, :, metric]) for metric in range(len(METRICS)) for order in range(len(ORDERS))]


def crossing(gap):
    """Return the fraction after which the gap stays below its limit, by linear interpolation."""
    limit = 1 - CLOSED
    last = np.flatnonzero(gap > limit)[-1]
    weight = (gap[last] - limit) / (gap[last] - gap[last + 1])
    return FRACTIONS[last] + weight * (FRACTIONS[last + 1] - FRACTIONS[last])


def plot(curves):
    import matplotlib.pyplot as plt

    from spmld.plotting.displays import COLORS, HIGHLIGHT

    names = list(dict.fromkeys(name for name, _ in curves))
    figure, axes = plt.subplots(
        2, len(names), figsize=(3 * len(names), 5.2), layout="constrained", sharex=True, squeeze=False
    )
    styles = [(HIGHLIGHT, "-"), (HIGHLIGHT, ":"), (COLORS[0], "--"), ("0.5", "-.")]
    for column, name in enumerate(names):
        for row, metric in enumerate(METRICS):
            ax = axes[row, column]
            for order, (color, line) in enumerate(styles):
                values = curves[name, "swap"][order, :, row]
                ax.plot(100 * FRACTIONS, values, color=color, ls=line, label=ORDERS[order])
            ax.axhline(curves[name, "swap"][0, -1, row], color="0.8", lw=1, zorder=0)
            ax.set(title=name.capitalize() if row == 0 else "", ylabel=metric if column == 0 else "")
            ax.set(xlabel="reviewed entries in %" if row else "", xlim=(0, 60))
            ax.spines[["top", "right"]].set_visible(False)
    axes[0, -1].legend(frameon=False)
    figure.savefig(FIGURE, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
