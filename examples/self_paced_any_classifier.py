"""
Self-paced learning with any classifier
=======================================

Two classifiers of scikit-learn as base estimators of ``SelfPacedClassifier``, on labels that are partly missing and
partly wrong.

Run it with ``python examples/self_paced_any_classifier.py``. It takes a few seconds. The figure requires
``pip install "spmld[plot]"``.

30 % of the training samples have the labels of another sample, and 30 % of the labels are missing. Each classifier is
fitted in three ways: on all observed labels; self-paced, which leaves out the hardest positives and negatives of each
label; and as an oracle, without the wrong labels. The oracle is an upper bound on the benefit of leaving out labels.
The test labels are correct.

These data favor self-paced learning, because the labels depend on the features with little noise, so that wrong labels
have large losses. The pacing rule is the default one. The penalties were chosen for the classifiers *without* pacing,
on data of other seeds. Self-paced learning lowers the ranking loss of both classifiers; the average precision of
``SGDClassifier`` does not change.
"""

import sys
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, SGDClassifier

from spmld import PerLabelClassifier, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.labels import corrupt_labels, hide_labels
from spmld.metrics import label_ranking_average_precision, ranking_loss

ESTIMATORS = {
    "LogisticRegression": LogisticRegression(C=0.1),
    "SGDClassifier": SGDClassifier(alpha=0.01, random_state=0),
}
METHODS = ("plain", "self-paced", "oracle")
SEEDS = range(4)
CORRECT, WRONG, PACED, PLAIN = "#0072B2", "#D55E00", "#009E73", "#9A9A9A"  # Okabe-Ito palette


def make_data(seed):
    """Return training samples, their corrupted and true labels, and test samples."""
    frequencies = np.geomspace(0.2, 0.03, 10)
    data = make_planted(2000, 40, 10, n_groups=1, noise=0.1, frequencies=frequencies, random_state=seed)
    X, truth = data.X[::2], data.Y[::2]
    Y = hide_labels(corrupt_labels(truth, "permute", 0.3, random_state=seed), observed_fraction=0.7, random_state=seed)
    return X, Y, truth, data.X[1::2], data.Y[1::2]


def fit(estimator, X, Y, truth):
    """Fit the three models. The wrong labels are missing for the oracle."""
    return {
        "plain": PerLabelClassifier(estimator).fit(X, Y),
        "self-paced": SelfPacedClassifier(estimator).fit(X, Y),
        "oracle": PerLabelClassifier(estimator).fit(X, Y, mask=truth == Y),
    }


def compare():
    """Return ranking loss and average precision on test samples: estimators x methods x metrics, mean of the seeds."""
    results = np.zeros((len(ESTIMATORS), len(METHODS), 2))
    for seed in SEEDS:
        X, Y, truth, X_test, Y_test = make_data(seed)
        for i, estimator in enumerate(ESTIMATORS.values()):
            models = fit(estimator, X, Y, truth)
            for j, method in enumerate(METHODS):
                scores = models[method].decision_function(X_test)
                results[i, j] += ranking_loss(Y_test, scores), label_ranking_average_precision(Y_test, scores)
    return results / len(SEEDS)


def weights_by_iteration(model, X, Y):
    """Return the self-paced weights after each iteration, from fits that stop there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # they stop before the end of the schedule
        models = [clone(model).set_params(max_iter=i) for i in range(1, model.n_iter_ + 1)]
        return np.array([stopped.fit(X, Y).self_paced_weights_ for stopped in models])


def main(figure="self_paced_any_classifier.png"):
    results = compare()
    print(f"{f'mean of {len(SEEDS)} seeds, test samples':<40}{'ranking loss':>14}{'average precision':>20}")
    for estimator, rows in zip(ESTIMATORS, results, strict=True):
        for method, (loss, precision) in zip(METHODS, rows, strict=True):
            print(f"{estimator + ', ' + method:<40}{loss:>14.4f}{precision:>20.4f}")

    X, Y, truth, _, _ = make_data(SEEDS[0])
    model = SelfPacedClassifier(ESTIMATORS["LogisticRegression"]).fit(X, Y)
    weights = weights_by_iteration(model, X, Y)
    kinds = {
        "correct positives": (Y == 1) & (truth == 1),
        "wrong positives": (Y == 1) & (truth == 0),
        "correct negatives": (Y == 0) & (truth == 0),
        "wrong negatives": (Y == 0) & (truth == 1),
    }
    print(f"\n{'mean weight by iteration':<25}" + "".join(f"{t:>7}" for t in range(1, len(weights) + 1)))
    for kind, entries in kinds.items():
        print(f"{kind:<25}" + "".join(f"{P[entries].mean():>7.2f}" for P in weights))
    if draw(figure, results, weights, kinds, (Y == 1).sum(axis=0)):
        print(f"\nFigure: {figure}")


def draw(path, results, weights, kinds, n_positives):
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        print('\nNo figure: matplotlib is not installed; install it with: pip install "spmld[plot]"')
        return False
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, 4, figsize=(15, 4.4), width_ratios=(1.45, 1, 1, 1.15), layout="constrained")
    figure.get_layout_engine().set(wspace=0.05)
    draw_means(axes[0], weights, kinds)
    for axis, kind in zip(axes[1:3], ("correct positives", "wrong positives"), strict=True):
        image = draw_labels(axis, weights, kinds[kind], n_positives)
        axis.set_title(f"{kind.capitalize()} by label")
    axes[2].set(ylabel="", yticks=[])
    bar = figure.colorbar(image, ax=axes[2], shrink=0.7, aspect=14, label="mean weight", ticks=(0, 0.5, 1))
    bar.outline.set_visible(False)
    draw_losses(axes[3], results)
    figure.savefig(path, dpi=120)
    return True


def draw_means(axis, weights, kinds):
    iterations = np.arange(1, len(weights) + 1)
    for kind, entries in kinds.items():
        color = CORRECT if kind.startswith("correct") else WRONG
        style = "-" if kind.endswith("positives") else "--"
        means = [P[entries].mean() for P in weights]
        axis.plot(iterations, means, style, color=color, lw=2.2, marker="o", ms=5)
        # The lines of correct labels end close together, so their names are moved apart.
        shift = {"correct positives": 7, "correct negatives": -7}.get(kind, 0)
        position = {"xytext": (9, shift), "textcoords": "offset points", "va": "center"}
        axis.annotate(kind, (iterations[-1], means[-1]), color=color, annotation_clip=False, **position)
    axis.set(title="Self-paced weights (LogisticRegression)", xlabel="iteration", ylabel="mean weight")
    axis.set(xticks=iterations, ylim=(0, 1.03))


def draw_labels(axis, weights, entries, n_positives):
    """Draw a row for each label and a column for each iteration."""
    means = np.array([(P * entries).sum(axis=0) / entries.sum(axis=0) for P in weights]).T
    image = axis.imshow(means, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    axis.set_xticks(range(len(weights)), range(1, len(weights) + 1))
    axis.set_yticks(range(len(n_positives)), n_positives)
    # White lines between the squares.
    axis.set_xticks(np.arange(len(weights) - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(len(n_positives) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="white", lw=1.5)
    axis.set(xlabel="iteration", ylabel="number of positives of the label")
    axis.spines[:].set_visible(False)
    axis.tick_params(which="both", length=0)
    return image


def draw_losses(axis, results):
    positions, width = np.arange(len(ESTIMATORS)), 0.27
    for j, (method, color) in enumerate(zip(METHODS, (PLAIN, PACED, "white"), strict=True)):
        edge, x = PLAIN if color == "white" else color, positions + (j - 1) * width
        bars = axis.bar(x, results[:, j, 0], width * 0.9, color=color, edgecolor=edge, label=method)
        axis.bar_label(bars, fmt="%.3f", fontsize=9, padding=2)
    axis.set_xticks(positions, ESTIMATORS)
    axis.tick_params(length=0)
    axis.set_yticks([])  # the values are on the bars
    axis.spines["left"].set_visible(False)
    axis.set(title="Test ranking loss (lower is better)", ylim=(0, 1.25 * results[:, :, 0].max()))
    axis.legend(frameon=False, loc="upper center", ncols=3, fontsize=9, columnspacing=1, handlelength=1)


if __name__ == "__main__":
    main(*sys.argv[1:2])
