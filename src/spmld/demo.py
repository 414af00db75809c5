"""Demo on generated data: ``python -m spmld.demo [figure.png]``.

GLOCAL and SPMLD are fitted on data with most labels missing and evaluated on test samples. The baseline predicts the
frequency of the labels.
"""

import sys
import time
from typing import Any

import numpy as np

from spmld import GLOCAL, SPMLD
from spmld._io import writing
from spmld._table import TextTable
from spmld.datasets import make_planted
from spmld.labels import hide_labels
from spmld.metrics import evaluate, get_metric
from spmld.plotting import ObjectiveDisplay, PacingDisplay
from spmld.plotting.style import metric_label

SEED = 0
OBSERVED = 0.3
RANKING = ("ranking_loss", "coverage", "sample_auc", "macro_auc", "label_ranking_average_precision")
METRICS = (*RANKING, "sample_f1", "macro_f1", "micro_f1")


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
    results = {"label frequency": (evaluate(data.Y[test], prior, (prior > 0.5).astype(int)), 0.0)}
    for model in (GLOCAL(random_state=SEED), SPMLD(random_state=SEED)):
        started = time.perf_counter()
        model.fit(data.X[train], Y)
        seconds = time.perf_counter() - started
        evaluation = evaluate(data.Y[test], model.decision_function(data.X[test]), model.predict(data.X[test]))
        results[type(model).__name__] = (evaluation, seconds)
    signs = {name: "+" if get_metric(name)[0].greater_is_better else "-" for name in METRICS}
    rows = [[f"{metric_label(name)} {signs[name]}", *(e[name] for e, _ in results.values())] for name in METRICS]
    rows.append(["seconds", *(seconds for _, seconds in results.values())])
    print(TextTable(["lower (-) or higher (+) is better", *results], rows))
    completion, missing = model.complete(data.X[train], Y), np.isnan(Y)
    correct = (completion.labels == data.Y[train])[missing]
    confident = completion.confidences[missing] > 0.9
    print(
        f"\nSPMLD recovers {correct.mean():.1%} of the missing training labels, and {correct[confident].mean():.1%} of "
        f"the {confident.mean():.0%} with a confidence above 90 %."
    )
    if _draw(model, data, figure):
        print(f"Figure: {figure}")


def _draw(model: Any, data: Any, path: str) -> bool:
    """Plot the fit, and the label correlations of the learned and of the planted scores."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print('No figure: matplotlib is not installed; install it with: pip install "spmld[plot]"')
        return False
    figure = Figure(figsize=(17, 4.2), layout="constrained")
    pacing, objective, learned, planted = figure.subplots(1, 4)
    PacingDisplay.from_estimator(model, ax=pacing)
    ObjectiveDisplay.from_estimator(model, ax=objective)
    # The same order of the labels in both heat maps, which CorrelationDisplay would order separately.
    order = np.argsort(np.linalg.svd(np.corrcoef(data.scores.T))[0][:, 0])
    for ax, name, scores in ((learned, "learned", data.X @ model.coef_.T), (planted, "planted", data.scores)):
        correlation = np.corrcoef(scores.T)[np.ix_(order, order)]
        image = ax.imshow(correlation, cmap="RdBu_r", vmin=-1, vmax=1)
        ax.set(title=f"Correlation of the {name} scores", xlabel="label (ordered)", ylabel="label (ordered)")
    figure.colorbar(image, ax=(learned, planted), shrink=0.85)
    with writing(path) as part:
        figure.savefig(part, dpi=110)
    return True


if __name__ == "__main__":
    main(*sys.argv[1:2])
