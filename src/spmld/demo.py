"""Demo on generated data: ``python -m spmld.demo [figure.png]``.

GLOCAL and SPMLD are fitted on data with most labels missing and evaluated on test samples. The baseline predicts the
frequency of the labels.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from spmld import GLOCAL, SPMLD
from spmld._io import writing
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import (
    coverage,
    label_ranking_average_precision,
    macro_auc,
    macro_f1,
    micro_f1,
    ranking_loss,
    sample_auc,
    sample_f1,
)

SEED = 0
OBSERVED = 0.3
METRICS = {
    "ranking loss -": ranking_loss,
    "coverage -": coverage,
    "sample AUC +": sample_auc,
    "macro AUC +": macro_auc,
    "avg precision +": label_ranking_average_precision,
}
F1 = {"sample F1 +": sample_f1, "macro F1 +": macro_f1, "micro F1 +": micro_f1}


def main(figure: str = "demo.png") -> None:
    """Fit both methods, print a table and draw a figure."""
    data = make_planted(n_samples=3000, n_features=60, n_labels=20, n_components=6, random_state=SEED)
    train, test = np.arange(0, 3000, 2), np.arange(1, 3000, 2)
    Y = hide_labels(data.Y[train], observed_fraction=OBSERVED, random_state=SEED)
    print(
        f"{len(train)} training and {len(test)} test samples, {data.X.shape[1]} features, {data.Y.shape[1]} labels "
        f"with {data.frequencies.max():.0%} to {data.frequencies.min():.0%} positives; "
        f"{1 - OBSERVED:.0%} of the training labels are missing.\n"
    )
    prior = np.broadcast_to(np.nanmean(Y, axis=0), data.Y[test].shape)
    table = {"label frequency": _evaluate(data.Y[test], prior, (prior > 0.5).astype(int)) | {"seconds": 0.0}}
    models: dict[str, Any] = {}
    for cls in (GLOCAL, SPMLD):
        started = time.perf_counter()
        model = models[cls.__name__] = cls(random_state=SEED).fit(data.X[train], Y)
        seconds = time.perf_counter() - started
        scores, labels = model.decision_function(data.X[test]), model.predict(data.X[test])
        table[cls.__name__] = _evaluate(data.Y[test], scores, labels) | {"seconds": seconds}
    _print(table)
    completion, missing = models["SPMLD"].complete(data.X[train], Y), np.isnan(Y)
    correct = (completion.labels == data.Y[train])[missing]
    confident = completion.confidences[missing] > 0.9
    print(
        f"\nSPMLD recovers {correct.mean():.1%} of the missing training labels, and {correct[confident].mean():.1%} of "
        f"the {confident.mean():.0%} with a confidence above 90 %."
    )
    if _draw(models["SPMLD"], data, figure):
        print(f"Figure: {figure}")


def _evaluate(truth: Any, scores: Any, labels: Any) -> dict[str, float]:
    ranking = {name: float(metric(truth, scores)) for name, metric in METRICS.items()}
    return ranking | {name: float(metric(truth, labels)) for name, metric in F1.items()}


def _print(table: dict[str, dict[str, float]]) -> None:
    """Print one row per metric; "-" marks metrics for which lower is better, "+" those for which higher is better."""
    width = max(map(len, table)) + 2
    print(" " * 16 + "".join(f"{name:>{width}}" for name in table))
    for metric in next(iter(table.values())):
        print(f"{metric:<16}" + "".join(f"{column[metric]:>{width}.3f}" for column in table.values()))


def _draw(model: Any, data: Any, path: str) -> bool:
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as plt
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        print('No figure: matplotlib is not installed; install it with: pip install "spmld[plot]"')
        return False
    figure, (pacing, terms, learned, planted) = plt.subplots(1, 4, figsize=(17, 4.2), layout="constrained")
    history = model.history_
    iterations = np.arange(1, len(history) + 1)
    weights = [np.mean(record["mean_weight_per_component"]) for record in history]
    warmup = sum(record["stage"] == "warm-up" for record in history)
    for axis in (pacing, terms):
        axis.axvspan(0.5, warmup + 0.5, color="0.92", label="warm-up")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    pacing.plot(iterations, weights, color="tab:blue", lw=2.5, marker="o", label="mean over latent labels")
    pacing.set(title="Self-paced weights", xlabel="iteration", ylabel="mean weight", ylim=(0, 1.05))
    pacing.legend(loc="lower right")
    for name in ("fit", "coupling", "ridge", "correlation"):
        terms.plot(iterations, [record[name] or np.nan for record in history], marker="o", ms=3, label=name)
    terms.set(title="Objective by term", xlabel="iteration", yscale="log")
    terms.legend()
    scores = data.X @ model.coef_.T
    order = np.argsort(np.linalg.svd(np.corrcoef(data.scores.T))[0][:, 0])
    for axis, matrix, title in (
        (learned, np.corrcoef(scores.T), "Correlation of the learned scores"),
        (planted, np.corrcoef(data.scores.T), "Correlation of the planted scores"),
    ):
        image = axis.imshow(matrix[np.ix_(order, order)], cmap="RdBu_r", vmin=-1, vmax=1)
        axis.set(title=title, xlabel="label (ordered)", ylabel="label (ordered)", xticks=[], yticks=[])
    figure.colorbar(image, ax=(learned, planted), shrink=0.85)
    with writing(path) as part:
        figure.savefig(part, dpi=110)
    plt.close(figure)
    return True


if __name__ == "__main__":
    main(*sys.argv[1:2])
