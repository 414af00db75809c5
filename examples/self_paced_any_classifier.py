"""
PacingRule any classifier
===================

Two classifiers of scikit-learn, paced, on labels of which many are missing and some are wrong.

Run it with ``python examples/pace_any_classifier.py``. It takes some seconds and draws a figure if matplotlib is there,
``pip install "spmld[plot]"``.

30 % of the training rows have the labels of another row, and 30 % of the labels are missing. Each classifier is fitted
three times: as it is; paced, so that the hardest positives and negatives of each label are left out; and told which
labels are wrong, which is as far as leaving out can get. Test labels are right.

The data suit pacing: labels follow the features with little noise, so that a wrong one stands out. The pacing is the
default one. The penalties are those that suit the classifiers *without* a pacing, found on data of other seeds. Pacing
lowers the ranking loss of both; the average precision of `SGDClassifier` stays what it was.
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

HOSTS = {"LogisticRegression": LogisticRegression(C=0.1), "SGDClassifier": SGDClassifier(alpha=0.01, random_state=0)}
WAYS = ("plain", "paced", "told what is wrong")
SEEDS = range(4)
RIGHT, WRONG, PACED, PLAIN = "#0072B2", "#D55E00", "#009E73", "#9A9A9A"  # Okabe and Ito: safe for the colour-blind


def make_data(seed):
    """Training rows, their labels as given and as they should be, and test rows."""
    shares = np.geomspace(0.2, 0.03, 10)
    data = make_planted(2000, 40, 10, n_groups=1, noise=0.1, frequencies=shares, random_state=seed)
    X, truth = data.X[::2], data.Y[::2]
    Y = hide_labels(corrupt_labels(truth, "permute", 0.3, random_state=seed), observed_fraction=0.7, random_state=seed)
    return X, Y, truth, data.X[1::2], data.Y[1::2]


def fit(host, X, Y, truth):
    """The three models. What is wrong becomes missing for the one that is told."""
    return {
        "plain": PerLabelClassifier(host).fit(X, Y),
        "paced": SelfPacedClassifier(host).fit(X, Y),
        "told what is wrong": PerLabelClassifier(host).fit(X, Y, mask=truth == Y),
    }


def compare():
    """Ranking loss and average precision on test rows: hosts x ways x metrics, mean of the seeds."""
    found = np.zeros((len(HOSTS), len(WAYS), 2))
    for seed in SEEDS:
        X, Y, truth, X_test, Y_test = make_data(seed)
        for i, host in enumerate(HOSTS.values()):
            models = fit(host, X, Y, truth)
            for j, way in enumerate(WAYS):
                scores = models[way].decision_function(X_test)
                found[i, j] += ranking_loss(Y_test, scores), label_ranking_average_precision(Y_test, scores)
    return found / len(SEEDS)


def weights_by_round(model, X, Y):
    """The weights after each round, from fits that end there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # they end before the schedule does
        stopped = [clone(model).set_params(max_iter=rounds) for rounds in range(1, model.n_iter_ + 1)]
        return np.array([each.fit(X, Y).self_paced_weights_ for each in stopped])


def main(figure="pace_any_classifier.png"):
    found = compare()
    print(f"{'mean of ' + str(len(SEEDS)) + ' seeds, test rows':<40}{'ranking loss':>14}{'average precision':>20}")
    for host, rows in zip(HOSTS, found, strict=True):
        for way, (loss, precision) in zip(WAYS, rows, strict=True):
            print(f"{host + ', ' + way:<40}{loss:>14.4f}{precision:>20.4f}")

    X, Y, truth, _, _ = make_data(SEEDS[0])
    model = SelfPacedClassifier(HOSTS["LogisticRegression"]).fit(X, Y)
    weights = weights_by_round(model, X, Y)
    kinds = {
        "right positives": (Y == 1) & (truth == 1),
        "wrong positives": (Y == 1) & (truth == 0),
        "right negatives": (Y == 0) & (truth == 0),
        "wrong negatives": (Y == 0) & (truth == 1),
    }
    print(f"\n{'share in use, seed 0':<23}" + "".join(f"{f'round {t}':>9}" for t in range(1, len(weights) + 1)))
    for kind, chosen in kinds.items():
        print(f"{kind:<23}" + "".join(f"{P[chosen].mean():>9.2f}" for P in weights))
    if draw(figure, found, weights, kinds, (Y == 1).sum(axis=0)):
        print(f"\nFigure: {figure}")


def draw(path, found, weights, kinds, positives):
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        print("\nNo figure: it needs matplotlib, which comes with spmld[plot].")
        return False
    plt.rcParams.update({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(1, 4, figsize=(15, 4.4), width_ratios=(1.45, 1, 1, 1.15), layout="constrained")
    figure.get_layout_engine().set(wspace=0.05)
    draw_shares(axes[0], weights, kinds)
    for axis, kind in zip(axes[1:3], ("right positives", "wrong positives"), strict=True):
        image = draw_labels(axis, weights, kinds[kind], positives)
        axis.set_title(f"{kind.capitalize()} of each label")
    axes[2].set(ylabel="", yticks=[])
    bar = figure.colorbar(image, ax=axes[2], shrink=0.7, aspect=14, label="share in use", ticks=(0, 0.5, 1))
    bar.outline.set_visible(False)
    draw_losses(axes[3], found)
    figure.savefig(path, dpi=120)
    return True


def draw_shares(axis, weights, kinds):
    rounds = np.arange(1, len(weights) + 1)
    for kind, chosen in kinds.items():
        colour = RIGHT if kind.startswith("right") else WRONG
        style = "-" if kind.endswith("positives") else "--"
        shares = [P[chosen].mean() for P in weights]
        axis.plot(rounds, shares, style, color=colour, lw=2.2, marker="o", ms=5)
        # The shares of right labels end side by side, so these names stand above and below.
        lift = {"right positives": 7, "right negatives": -7}.get(kind, 0)
        place = {"xytext": (9, lift), "textcoords": "offset points", "va": "center"}
        axis.annotate(kind, (rounds[-1], shares[-1]), color=colour, annotation_clip=False, **place)
    axis.set(title="Labels in use (LogisticRegression)", xlabel="iteration", ylabel="share in use", xticks=rounds)
    axis.set_ylim(0, 1.03)


def draw_labels(axis, weights, chosen, positives):
    """A row for each label, a column for each round."""
    counts = chosen.sum(axis=0)
    shares = np.array([(P * chosen).sum(axis=0) / counts for P in weights]).T
    image = axis.imshow(shares, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    axis.set_xticks(range(len(weights)), range(1, len(weights) + 1))
    axis.set_yticks(range(len(positives)), positives)
    # White lines between the cells.
    axis.set_xticks(np.arange(len(weights) - 1) + 0.5, minor=True)
    axis.set_yticks(np.arange(len(positives) - 1) + 0.5, minor=True)
    axis.grid(which="minor", color="white", lw=1.5)
    axis.set(xlabel="iteration", ylabel="label, by its number of positives")
    axis.spines[:].set_visible(False)
    axis.tick_params(which="both", length=0)
    return image


def draw_losses(axis, found):
    places, width = np.arange(len(HOSTS)), 0.27
    for j, (way, colour) in enumerate(zip(WAYS, (PLAIN, PACED, "white"), strict=True)):
        edge = PLAIN if colour == "white" else colour
        bars = axis.bar(places + (j - 1) * width, found[:, j, 0], width * 0.9, color=colour, edgecolor=edge, label=way)
        axis.bar_label(bars, fmt="%.3f", fontsize=9, padding=2)
    axis.set_xticks(places, HOSTS)
    axis.tick_params(length=0)
    axis.set_yticks([])  # the numbers stand on the bars
    axis.spines["left"].set_visible(False)
    axis.set(title="Test ranking loss (lower is better)", ylim=(0, 1.25 * found[:, :, 0].max()))
    axis.legend(frameon=False, loc="upper center", ncols=3, fontsize=9, columnspacing=1, handlelength=1)


if __name__ == "__main__":
    main(*sys.argv[1:2])
