"""Precision with a guarantee: how often the precision on new samples is below the target, and what it costs.

``python -m benchmarks.precision`` takes about five minutes and requires the data sets, from SPMLD_DATA or by download.
`SelfPacedEnsemble` with linear views is fitted to at most 1,500 samples of six data sets, with 30, 60 and 100 % of the
labels observed. A case is a label with both classes and a fraction. The guarantee is compared with the lowest threshold
whose precision on the out-of-fold entries reaches the target. A case is below the target if its precision on the other
samples is, and significantly below if this has a probability of at most 5 % with the target as precision. The recall is
that of all cases.
"""

import sys
import warnings

import numpy as np
from scipy.stats import binom

from benchmarks.sizes import sized
from spmld import SelfPacedEnsemble
from spmld._table import TextTable
from spmld.core.losses import logistic
from spmld.labels import hide_labels
from spmld.model_selection import DecisionRule
from studies.data import load

NAMES = sized(("emotions", "scene", "medical", "enron", "business", "health"), ("planted",))
OBSERVED, TARGETS, MAX_SAMPLES = sized((0.3, 0.6, 1.0), (1.0,)), (0.7, 0.8, 0.9), 1500


def lowest_threshold(p, y, target):
    """Return the lowest threshold with the precision on the observed entries, without a guarantee."""
    order = np.argsort(-p)
    reached = np.flatnonzero(np.cumsum(y[order]) / np.arange(1, len(p) + 1) >= target)
    return np.append(p[order], 0.0)[reached[-1] + 1] if len(reached) else 1.0


def cases(name, observed):
    """Yield, for each label and target, the thresholds and what they predict on new samples."""
    data, rng = load(name), np.random.default_rng(0)
    Y = np.asarray(data.Y, dtype=float)
    order = rng.permutation(len(Y))
    train, new = order[: min(int(0.6 * len(Y)), MAX_SAMPLES)], order[min(int(0.6 * len(Y)), MAX_SAMPLES) :]
    shown = hide_labels(Y[train], observed, kind="uniform", random_state=0) if observed < 1 else Y[train]
    model = SelfPacedEnsemble(views=("linear", "ridge"), random_state=0).fit(data.X[train], shown)
    held_out, P = logistic(model.out_of_fold_scores_), model.predict_proba(data.X[new])
    for target in TARGETS:
        guaranteed = DecisionRule(decision=f"precision>={target}").fit(held_out, shown).thresholds_
        for j in np.flatnonzero((np.nanmin(shown, axis=0) == 0) & (np.nanmax(shown, axis=0) == 1)):
            seen = ~np.isnan(shown[:, j])
            plain = lowest_threshold(held_out[seen, j], shown[seen, j], target)
            for rule, threshold in (("without", plain), ("with", guaranteed[j])):
                chosen = P[:, j] > threshold
                yield target, rule, chosen.sum(), Y[new][chosen, j].sum(), Y[new][:, j].sum()


def main():
    warnings.simplefilter("ignore")
    results = [case for name in NAMES for observed in OBSERVED for case in cases(name, observed)]
    rows = []
    for target in TARGETS:
        for rule in ("without", "with"):
            n, hits, positives = np.array([case[2:] for case in results if case[:2] == (target, rule)]).T
            used = n > 0
            below = used & (hits < target * n)
            clear = used & (binom.cdf(hits, n, target) <= 0.05)
            rates = [f"{rate:.1%}" for rate in (used.mean(), below.mean(), clear.mean())]
            rows.append([target, rule, len(n), *rates, hits.sum() / n.sum(), hits.sum() / positives.sum()])
    head = ["target", "guarantee", "cases", "predicted", "below", "significantly below", "precision", "recall"]
    print(TextTable(head, rows).to_markdown())


if __name__ == "__main__":
    main(*sys.argv[1:])
