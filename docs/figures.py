"""Figures of the user guide: ``python docs/figures.py [name ...]`` writes them to docs/_static/figures.

Each figure is a function without arguments, which takes a few seconds. The data are generated, but those of
`annotators`, which are read from SPMLD_DATA.
"""

import sys
from functools import cache
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
import tutorial_files
from matplotlib import pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer

from spmld import SPMLD, MaskedLogistic, SelfPacedEnsemble
from spmld.annotators import fit_consensus
from spmld.app.review import make_queue
from spmld.audit import find_label_issues
from spmld.core.losses import logistic
from spmld.datasets import make_planted, make_songs
from spmld.estimators import ThresholdClassifier
from spmld.inspection import top_features
from spmld.labels import Hierarchy, hide_labels
from spmld.metrics import ranking_loss
from spmld.model_selection import cross_fit, make_folds
from spmld.monitoring import monitor
from spmld.noise import NoiseRates, PooledCalibration, estimate_noise
from spmld.noise.floor import summarize
from spmld.pacing import HardPacing, LinearPacing, LogarithmicPacing
from spmld.plotting import CorrelationDisplay, PacingDisplay, ReliabilityDisplay

FOLDER = Path(__file__).parent / "_static" / "figures"
BLUE, RED, GREEN, GRAY, ORANGE = "#0072B2", "#D55E00", "#009E73", "#9A9A9A", "#E69F00"


def axes(columns=1, width=8.0, height=3.0, **options):
    """Return a figure and its axes, without the lines at the top and on the right."""
    figure, made = plt.subplots(1, columns, figsize=(width, height), layout="constrained", **options)
    for axis in np.atleast_1d(made):
        axis.spines[["top", "right"]].set_visible(False)
    return figure, made


@cache
def noisy_songs():
    """Return song reviews as features, with wrong tags, and their audit."""
    songs = make_songs(1500, 8, wrong_fraction=0.15, random_state=0)
    X = TfidfVectorizer(min_df=3, stop_words="english").fit_transform(songs.texts)
    return songs, X, find_label_issues(None, X, songs.Y, label_names=songs.label_names, random_state=0)


def audit():
    """Return the fraction of errors among the first entries of each list, and the quality of all labels."""
    songs, _, issues = noisy_songs()
    wrong = np.not_equal(songs.Y, songs.Y_true)
    figure, (first, histogram) = axes(2)
    for kind, color in (("present", BLUE), ("absent", ORANGE), ("both", GREEN)):
        found = np.cumsum(wrong.flat[issues.order(kind)[:400]]) / np.arange(1, 401)
        first.plot(np.arange(1, 401), found, color=color, label=kind)
    first.axhline(wrong.mean(), color=GRAY, ls="--", label="random order")
    first.set(xlabel="number of reviewed labels", ylabel="fraction of wrong labels", ylim=(0, 1.03))
    for kind, entries, color in (("correct", ~wrong, BLUE), ("wrong", wrong, RED)):
        histogram.hist(issues.label_quality[entries], np.linspace(0, 1, 21), color=color, alpha=0.7, label=kind)
    histogram.set(xlabel="label quality", ylabel="number of labels", yscale="log")
    first.legend(frameon=False, loc=(0.02, 0.12))
    histogram.legend(frameon=False)
    return figure


def review():
    """Return the number of corrected labels in the order of the review and in a random order."""
    songs, _, issues = noisy_songs()
    wrong = np.not_equal(songs.Y, songs.Y_true)
    entries = make_queue(issues)[:600]
    corrected = np.cumsum(wrong.ravel()[entries.index])
    figure, axis = axes(width=6)
    decisions = np.arange(1, len(entries) + 1)
    axis.plot(decisions, corrected, color=BLUE, label="corrected, order of the review")
    axis.plot(decisions, decisions * wrong.mean(), color=GRAY, ls="--", label="random order")
    axis.set(xlabel="number of decisions", ylabel="number of labels")
    axis.legend(frameon=False)
    return figure


def ensemble():
    """Return the held-out loss of all settings, and a reliability diagram."""
    songs = make_songs(1500, 8, random_state=0)
    X = TfidfVectorizer(min_df=3, stop_words="english").fit_transform(songs.texts)
    Y = hide_labels(songs.Y[:1000], observed_fraction=0.5, random_state=0)
    model = SelfPacedEnsemble(views=("linear", "ridge", "kernel", "boosting"), random_state=0).fit(X[:1000], Y)
    figure, (settings, reliability) = axes(2)
    for view, color in zip(model.view_weights_, (BLUE, ORANGE, GREEN, RED), strict=True):
        rows = sorted((*row["choice"].values(), row["loss"]) for row in model.cv_results_ if row["part"] == view)
        settings.plot(*zip(*rows, strict=True), "o-", color=color, label=f"{view} {model.view_weights_[view]:.0%}")
    settings.set(xscale="log", xlabel="alpha (ridge), C, or number of trees (boosting)", ylabel="held-out loss")
    settings.set(title="Settings, and weights of views")
    settings.margins(y=0.35)
    settings.legend(frameon=False, loc="upper center", ncols=2, fontsize=9, columnspacing=1)
    ReliabilityDisplay.from_estimator(model, X[1000:], songs.Y[1000:], ax=reliability)
    return figure


def updates():
    """Return the ranking loss of models that are updated or fitted from scratch, with new samples and corrections."""
    songs = make_songs(2000, 8, wrong_fraction=0.2, random_state=0)
    X = TfidfVectorizer(min_df=3, stop_words="english").fit_transform(songs.texts)
    truth, test = songs.Y_true, slice(1200, None)

    def fit(n, Y):
        return SelfPacedEnsemble(views=("linear", "ridge"), keep_data=True, random_state=0).fit(X[:n], Y[:n])

    def loss(model):
        return ranking_loss(truth[test], model.decision_function(X[test]))

    figure, (samples, labels) = axes(2)
    steps = np.arange(300, 1201, 150)
    updated, losses = fit(300, songs.Y), []
    for start in steps:
        losses.append(loss(updated))
        if start < 1200:
            updated.update(X[start : start + 150], songs.Y[start : start + 150])
    scratch = [loss(fit(n, songs.Y)) for n in steps]
    samples.axhline(losses[0], color=GRAY, ls="--", label="not updated")
    samples.set(xlabel="number of samples", ylabel="ranking loss", title="New samples")
    corrected, counts = fit(1200, songs.Y), np.arange(0, 1201, 200)
    after, refitted = [], []
    for count in counts:
        verified = np.arange(max(count - 200, 0), count)
        if count:
            trusted = np.ones((200, truth.shape[1]), dtype=bool)
            corrected.update(X[verified], truth[verified], trusted=trusted, samples=verified)
        after.append(loss(corrected))
        refitted.append(loss(fit(1200, np.where(np.arange(2000)[:, None] < count, truth, songs.Y))))
    labels.set(xlabel="number of samples with verified labels", title="Corrected labels")
    for axis, x, curves in ((samples, steps, (losses, scratch)), (labels, counts, (after, refitted))):
        axis.plot(x, curves[0], "o-", color=BLUE, label="updated")
        axis.plot(x, curves[1], "s:", color=RED, label="fitted from scratch")
        axis.legend(frameon=False)
    return figure


def missing():
    """Return the mean probability of models that ignore missing labels, and that treat them as negative."""
    data = make_planted(n_samples=2000, random_state=0)
    fractions = (0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 0.99)
    means = {"missing ignored": [], "missing as negative": []}
    for fraction in fractions:
        Y = hide_labels(data.Y[::2], observed_fraction=fraction, random_state=0)
        for name, labels in zip(means, (Y, np.nan_to_num(Y, nan=0.0)), strict=True):
            means[name].append(MaskedLogistic().fit(data.X[::2], labels).predict_proba(data.X[1::2]).mean())
    figure, axis = axes(width=6)
    axis.axhline(data.Y[1::2].mean(), color=GRAY, ls="--", label="fraction of positives")
    for (name, values), color in zip(means.items(), (BLUE, RED), strict=True):
        axis.plot(fractions, values, "o-", color=color, label=name)
    axis.set(xlabel="observed fraction of the training labels", ylabel="mean predicted probability", ylim=(0, None))
    axis.legend(frameon=False)
    return figure


def pacing():
    """Return the weights of three pacing rules."""
    losses = np.linspace(0, 1.6, 321)[:, None]
    figure, axis = axes(width=6)
    for rule, color in ((HardPacing(), BLUE), (LinearPacing(), ORANGE), (LogarithmicPacing(), GREEN)):
        axis.plot(losses / 0.9, rule.weights(losses, 0.9), color=color, label=type(rule).__name__)
    axis.set(xlabel="loss / threshold", ylabel="weight", xlim=(0, 1.6))
    axis.legend(frameon=False)
    return figure


def evaluation():
    """Return reliability diagrams before and after calibration."""
    data = make_planted(12_000, 60, 10, noise=0.6, frequencies=[0.2] * 10, random_state=0)
    X, Y = data.X[:2000], hide_labels(data.Y[:2000], observed_fraction=0.3, random_state=0)
    plain = MaskedLogistic(C=100)
    figure, made = axes(2, sharey=True)
    models = {"MaskedLogistic(C=100)": plain, "calibrated": ThresholdClassifier(plain, decision=0.5, random_state=0)}
    for axis, (name, model) in zip(made, models.items(), strict=True):
        ReliabilityDisplay.from_estimator(model.fit(X, Y), data.X[2000:], data.Y[2000:], ax=axis)
        axis.set(title=name)
    return figure


def metrics():
    """Return the labels of one sample in the order of their scores, and five metrics."""
    names = ("rock", "dance", "happy", "live", "sad", "jazz", "folk")
    scores, positive = np.array([2.1, 1.2, 0.7, 0.1, -0.4, -1.0, -1.6]), np.array([1, 0, 1, 0, 1, 0, 0], dtype=bool)
    figure, (axis, text) = axes(2, width=9, height=3.2, width_ratios=(1, 1.25))
    colors = np.where(positive, BLUE, GRAY)
    axis.barh(names, scores, color=colors)
    axis.axvline(0, color="black", lw=0.8)
    axis.invert_yaxis()
    axis.set(xlabel="score", title="one sample (blue: positive labels)")
    lines = (
        "ranking loss: 3/12, dance is above happy, dance and live are above sad",
        "coverage: 4, the lowest positive, sad, is in place 5",
        "one-error: 0, the label in place 1 is positive",
        "precision at 3: 2/3, rock and happy are among the first three",
        "average precision: (1/1 + 2/3 + 3/5) / 3 = 0.76",
        "F1, if scores above 0 are predicted: 2 * 2 / (3 + 4) = 0.57",
    )
    text.set_axis_off()
    for place, line in enumerate(lines):
        text.text(0, 0.92 - 0.16 * place, line, transform=text.transAxes, fontsize=9)
    return figure


def plotting():
    """Return the figure of the example on the page."""
    data = make_planted(n_samples=300, random_state=0)
    Y = hide_labels(data.Y, observed_fraction=0.5, random_state=0)
    model = SPMLD(random_state=0).fit(data.X, Y)
    figure, made = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    PacingDisplay.from_estimator(model, ax=made[0])
    CorrelationDisplay.from_estimator(model, ax=made[1])
    ReliabilityDisplay.from_estimator(model, data.X, Y, ax=made[2])
    return figure


def tables():
    """Return a table with the role of each column, and the features of each column."""
    columns = (
        ("song_id", "identifier", "S001", "none: names the\nsamples in outputs", GRAY),
        ("review", "text", "slow guitar\nand rain", "TF-IDF: one feature\nfor each word", BLUE),
        ("tempo", "number", "72.5", "number, and a mark\nwhere it is missing", GREEN),
        ("format", "category", "vinyl", "one feature for\neach category", ORANGE),
        ("released", "date", "2021-05-01", "day, season,\nday of the week", "#CC79A7"),
        ("tags", "labels", "sad; folk", "sad 1, folk 1,\nrock 0, dance 0", RED),
    )
    figure, rows = plt.subplots(2, 1, figsize=(6, 5.2), layout="constrained")  # two rows, legible on a phone
    for i, (name, role, value, result, color) in enumerate(columns):
        axis, place = rows[i // 3], i % 3
        axis.add_patch(plt.Rectangle((place + 0.03, 2), 0.94, 1, color=color, alpha=0.25, lw=0))
        texts = ((2.68, name, "bold"), (2.28, value, "normal"), (1.55, role, "bold"), (0.55, result, "normal"))
        for height, text, weight in texts:
            axis.text(place + 0.5, height, text, ha="center", va="center", weight=weight, fontsize=11)
        axis.annotate("", (place + 0.5, 0.85), (place + 0.5, 1.35), arrowprops={"arrowstyle": "->", "color": color})
    for axis in rows:
        axis.set(xlim=(0, 3), ylim=(0.1, 3.05))
        axis.set_axis_off()
    return figure


def pipelines():
    """Return the words that raise and lower the scores of three tags most."""
    songs = make_songs(1000, 8, random_state=0)
    words = TfidfVectorizer(min_df=3, stop_words="english")
    X = words.fit_transform(songs.texts)
    model = SelfPacedEnsemble(random_state=0).fit(X, songs.Y)
    top = top_features(model, X, feature_names=words.get_feature_names_out())
    figure, made = axes(3, width=9)
    for axis, label in zip(made, (0, 1, 4), strict=True):
        first = np.argsort(top.importances[label])[-8:]
        colors = np.where(top.coefficients[label, first] > 0, BLUE, RED)
        axis.barh(np.array(top.feature_names)[first], top.importances[label, first], color=colors)
        axis.set(title=songs.label_names[label])
    figure.supxlabel("mean absolute contribution (blue: raises the score, red: lowers it)")
    return figure


def trust():
    """Return the frequency of observed positives by the log-odds, without errors and with false positives."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(3000, 20)), rng.normal(size=(20, 12))
    truth = rng.random((3000, 12)) < logistic(4 * X @ W / np.linalg.norm(W, axis=0) - 3)
    noisy = truth | (rng.random(truth.shape) < 0.1)
    figure, axis = axes(width=7, height=3.6)
    for name, labels, color in (("no errors", truth, BLUE), ("10 % false positives", noisy, RED)):
        signs = np.where(labels, 1, -1).astype(np.int8)
        scores = cross_fit(MaskedLogistic(C=10), X, signs, make_folds(5, X, signs, random_state=0)).scores
        points = summarize(scores.reshape(-1, 1), signs.reshape(-1, 1))
        rate = estimate_noise(scores, signs, certain_negatives=True).floor.alpha[0]
        rates = NoiseRates(np.full(1, rate), np.zeros(1))
        calibration = PooledCalibration().fit(points.scores, points.signs, points.counts, rates)
        log_odds = calibration.transform(points.scores).ravel()
        counts = points.counts.reshape(2, -1, 4).sum(axis=2)
        axis.plot(log_odds.reshape(2, -1, 4).mean(axis=2)[0], counts[0] / counts.sum(axis=0), "o", ms=4.5, color=color)
        grid = np.linspace(log_odds.min(), log_odds.max(), 300)
        axis.plot(grid, rate + (1 - rate) * logistic(grid), color=color, lw=1.4, label=name)
        if rate > 0.01:
            axis.axhline(rate, color=GRAY, ls="--", lw=1)
            axis.text(4, rate * 1.12, f"floor: {rate:.2f}", color="#555555")
    axis.set(xlabel="out-of-fold log-odds of the true label", ylabel="frequency of positives")
    axis.set(yscale="log", xlim=(-9, 8), ylim=(4e-4, 1.4))
    axis.set_yticks([0.001, 0.01, 0.1, 1], labels=["0.001", "0.01", "0.1", "1"])
    axis.legend(frameon=False, loc="lower right", fontsize=9)
    return figure


def pictures():
    """Return some pictures of the tutorial with images."""
    rng = np.random.default_rng(0)
    figure, made = plt.subplots(1, 8, figsize=(9, 1.3), layout="constrained")
    for axis in made:
        number = rng.integers(1, 3)
        colors = rng.choice([*tutorial_files.COLORS], number, replace=False)
        axis.imshow(tutorial_files.draw(rng.choice(tutorial_files.SHAPES, number), colors, rng))
        axis.set_axis_off()
    return figure


def monitoring():
    """Return the p-values of the three kinds of tests as noise is added to the features."""
    data = make_planted(n_samples=6000, n_labels=6, random_state=0)
    train = np.arange(6000) % 6 == 0
    model = SelfPacedEnsemble(views=("linear",), random_state=0).fit(data.X[train], data.Y[train])
    X, rng = data.X[~train], np.random.default_rng(0)
    figure, axis = axes(width=5.0)
    noise = np.linspace(0, 2, 9)
    results = [monitor(model, X + strength * rng.normal(size=X.shape) * X.std(axis=0)) for strength in noise]
    for (name, _), color in zip(results[0].shifts.items(), (BLUE, RED, GREEN), strict=True):
        values = [max(result.shifts[name].p_value.min(), 1e-12) for result in results]
        axis.plot(noise, values, "o-", color=color, label=name.lower())
    axis.axhline(0.05 / 3, color=GRAY, ls="--", label="alarm below")
    axis.set(xlabel="noise in the features", ylabel="smallest p-value", yscale="log")
    axis.legend(frameon=False, loc="center right")
    return figure


def annotators():
    """Return the calibration of the probability of a positive majority, with held-out annotators of three languages."""
    sys.path.append(str(Path(__file__).parents[1]))
    from benchmarks.annotators import LANGUAGES, hold_out, read_texts

    figure, axis = axes(width=5.0, height=3.6)
    axis.plot([0, 1], [0, 1], color=GRAY, ls="--")
    for (language, code), color in zip(LANGUAGES.items(), (BLUE, ORANGE, GREEN), strict=True):
        X, answers = read_texts(code)
        given, held = hold_out(answers, seed=0)
        excess = np.nansum(np.sign(held - 0.5), axis=1)
        p = fit_consensus(X, given).probabilities[excess != 0]
        positive = excess[excess != 0] > 0
        bins = np.minimum((10 * p).astype(int), 9)
        points = [(p[bins == k].mean(), positive[bins == k].mean()) for k in np.unique(bins)]
        axis.plot(*np.transpose(points), "o-", color=color, label=language)
    axis.set(xlabel="probability of a positive majority", ylabel="fraction with a positive held-out majority")
    axis.legend(frameon=False)
    return figure


def hierarchies():
    """Return a tree of labels, some of them filled in, and probabilities before and after the projection."""
    hierarchy = Hierarchy({"music": ["rock", "jazz"], "rock": ["metal", "punk"], "jazz": ["bebop"]})
    places = {"music": (2, 2), "rock": (1, 1), "jazz": (3.5, 1), "metal": (0.3, 0), "punk": (1.7, 0), "bebop": (3.5, 0)}
    names, observed = list(places), np.array([[np.nan, np.nan, 0, 1, np.nan, np.nan]])
    figure, (tree, bars) = axes(2, width=9, width_ratios=(1.2, 1))
    for parent, child in hierarchy.edges:
        tree.plot(*zip(places[parent], places[child], strict=True), color=GRAY, zorder=0)
    meanings = {1.0: ("positive", BLUE), 0.0: ("negative", RED)}
    for name, given, value in zip(names, observed[0], hierarchy.infer(observed, names)[0], strict=True):
        word, color = meanings.get(value, ("missing", GRAY))
        text = word if np.isnan(value) else f"{word}, {'filled in' if np.isnan(given) else 'observed'}"
        box = {"boxstyle": "round", "fc": "white", "ec": color, "lw": 1 if np.isnan(given) else 3}
        tree.text(*places[name], f"{name}\n{text}", ha="center", va="center", fontsize=9, bbox=box)
    tree.set(xlim=(-0.6, 4.4), ylim=(-0.35, 2.35))
    tree.set_axis_off()
    p = np.array([[0.6, 0.4, 0.3, 0.7, 0.1, 0.2]])
    for values, height, color, label in (
        (p, 0.8, GRAY, "base estimator"),
        (hierarchy.project(p, names), 0.4, BLUE, "projection"),
    ):
        bars.barh(names, values[0], height, color=color, label=label)
    bars.invert_yaxis()
    bars.set(xlabel="probability", xlim=(0, 1))
    bars.legend(frameon=False)
    return figure


FIGURES = (
    annotators,
    audit,
    review,
    ensemble,
    missing,
    pacing,
    evaluation,
    monitoring,
    metrics,
    plotting,
    tables,
    pipelines,
    trust,
    updates,
    pictures,
    hierarchies,
)


def main(*names):
    """Write the figures with these names, or all of them."""
    FOLDER.mkdir(exist_ok=True)
    for draw in FIGURES:
        if not names or draw.__name__ in names:
            draw().savefig(FOLDER / f"{draw.__name__}.png", dpi=110)
            plt.close("all")


if __name__ == "__main__":
    main(*sys.argv[1:])
