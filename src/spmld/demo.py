"""Demo on generated song reviews: ``python -m spmld.demo [folder]``.

Half of the songs have no tags, and some tags are wrong. A model is fitted to these tags and compared with a loop over
scikit-learn's LogisticRegression, wrong tags are found, and missing tags are filled in. The results are compared with
the true tags.
"""

import os
import shutil
import sys
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from spmld import PerLabelClassifier, SelfPacedEnsemble
from spmld._io import need, writing
from spmld._table import TableCell, TextTable
from spmld.audit import LabelIssues, find_label_issues
from spmld.datasets import TableWarning, make_songs, read_dataset
from spmld.metrics import evaluate, macro_f1
from spmld.metrics.registry import get_metric
from spmld.plotting.style import COLORS, HIGHLIGHT, metric_label

SEED = 0
N_TRAIN, N_TEST = 2000, 1200
_OBSERVED, _WRONG = 0.5, 0.2
_METRICS = ("ranking_loss", "label_ranking_average_precision", "micro_f1", "macro_f1", "sample_f1", "hamming_loss")
_NAMES = {"label_ranking_average_precision": "average precision"}
_CHECKED = 100
FILES = ("songs.csv", "test.csv", "demo.png", "report.html")
_ROLES = "--text review --tags tags --id song_id"
_INDENT = " " * 3
_METHODS = {"loop": "scikit-learn loop", "model": "SelfPacedEnsemble", "oracle": "loop, true tags"}


def main(folder: str = "demo") -> None:
    """Write the data, fit, print results, draw a figure and write a report."""
    path = Path(folder)
    path.mkdir(exist_ok=True)
    with threadpool_limits(1):  # small matrices are faster with one thread
        data = _make_data(path)
        model, results = _compare(data)
        issues = _audit(data)
        _complete(model, data)
        files = ["songs.csv", "test.csv", *_draw(data, results, issues, path), *_report(model, data, path)]
    _print(f"Files in {path}/: {', '.join(files)}\n")
    print("Continue with these files:", *_next_commands(path), sep="\n  ")


def _make_data(folder: Path) -> Bunch:
    """Write songs.csv and test.csv, read them again, and return features, labels and true labels."""
    size: dict[str, Any] = {"n_samples": N_TRAIN + N_TEST, "as_frame": True, "random_state": SEED}
    songs, truth = make_songs(**size, observed_fraction=_OBSERVED, wrong_fraction=_WRONG), make_songs(**size)
    # Songs without any tag cannot be written to a column of tags: an empty field is a missing one.
    test = [i for i in range(N_TRAIN, N_TRAIN + N_TEST) if truth.Y[i].any()]
    for name, frame in (("songs.csv", songs.frame[:N_TRAIN]), ("test.csv", truth.frame.iloc[test])):
        with writing(folder / name) as part:
            frame.to_csv(part, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        train = read_dataset(folder / "songs.csv", text="review", tags="tags", id="song_id")
    order = [truth.label_names.index(name) for name in train.label_names]
    Y_true = truth.Y[:, order]
    missing, listed = np.isnan(train.Y), train.Y == 1
    wrong = ~missing & (listed != Y_true[:N_TRAIN])
    example = int(listed.any(axis=1).argmax())
    _print(f"{N_TRAIN:,} reviews of songs with {len(order)} tags (songs.csv), such as:\n")
    _print(songs.texts[example], "  ")
    _print(f"Tags: {songs.frame['tags'][example]}\n", "  ")
    _print(
        f"{missing.all(axis=1).mean():.0%} of the songs have no tags. Of the {listed.sum():,} tags of the others, "
        f"{wrong[listed].mean():.0%} are wrong, and {wrong[~listed].sum():,} tags are not listed.\n"
    )
    return Bunch(
        X=train.X,
        Y=train.Y,
        Y_true=Y_true[:N_TRAIN],
        wrong=wrong,
        X_test=train.encoder.transform(truth.frame.iloc[test]),
        Y_test=Y_true[test],
        test_names=truth.frame["song_id"].iloc[test],
        train=train,
    )


def _compare(data: Bunch) -> tuple[SelfPacedEnsemble, dict[str, NDArray[np.int64]]]:
    """Print metrics of the model and of the loops; return the model and the predictions of all methods."""
    loop, oracle = (PerLabelClassifier(LogisticRegression()) for _ in range(2))
    model = SelfPacedEnsemble(random_state=SEED)
    times, scores, labels = {}, {}, {}
    for method, estimator, Y in (("loop", loop, data.Y), ("model", model, data.Y), ("oracle", oracle, data.Y_true)):
        start = time.perf_counter()
        estimator.fit(data.X, Y)
        scores[method], labels[method] = estimator.decision_function(data.X_test), estimator.predict(data.X_test)
        times[method] = time.perf_counter() - start
    evaluations = [evaluate(data.Y_test, scores[method], labels[method]) for method in _METHODS]
    rows = [[_metric_name(name), *(_cell(evaluation[name], 3) for evaluation in evaluations)] for name in _METRICS]
    rows.append(["seconds -", *(_cell(times[method], 1) for method in _METHODS)])
    _print(
        f"1. Predict the tags of {len(data.Y_test):,} other songs (test.csv). Metrics by their true tags; lower (-) or "
        "higher (+) is better:\n"
    )
    _print_table(["metric", *_METHODS.values()], rows)
    _print(
        "The loop fits LogisticRegression() for each tag to the songs with tags. "
        f'"{_METHODS["oracle"]}" is the same loop, fitted to the true tags of all songs.\n',
        _INDENT,
    )
    return model, labels


def _metric_name(name: str) -> str:
    return f"{_NAMES.get(name, metric_label(name))} {'+' if get_metric(name)[0].greater_is_better else '-'}"


def _audit(data: Bunch) -> LabelIssues:
    """Print how many of the entries with the highest error probabilities are wrong."""
    issues = find_label_issues(None, data.X, data.Y, label_names=data.train.label_names, random_state=SEED)
    order = issues.order()
    found, expected = data.wrong.flat[order[:_CHECKED]].sum(), _CHECKED * data.wrong.flat[order].mean()
    _print(
        f"2. Find errors. Of the {_CHECKED} entries with the highest error probability, {found} are wrong; of "
        f"{_CHECKED} random entries, {expected:.0f} are. The first ones:\n"
    )
    rows = []
    for i, j in zip(*np.unravel_index(order[:5], data.Y.shape), strict=True):
        listed, truth = "listed" if data.Y[i, j] else "not listed", "wrong" if data.wrong[i, j] else "correct"
        entry = f"{data.train.label_names[j]} {listed}"
        rows.append([data.train.sample_names[i], entry, _cell(issues.error_probability[i, j], 2), truth])
    _print_table(["song", "entry", "error probability", "truth"], rows)
    return issues


def _complete(model: SelfPacedEnsemble, data: Bunch) -> None:
    """Print how many of the missing tags are filled in correctly."""
    missing = np.isnan(data.Y)
    completion = model.complete(data.X, data.Y)
    confidences, truth = completion.confidences[missing], data.Y_true[missing]
    labels = np.where(confidences >= 0.5, completion.labels[missing], 0)  # as `spmld complete` lists them
    correct, confident = labels == truth, confidences >= 0.9
    _print(
        f"3. Complete. {correct.mean():.0%} of the {missing.sum():,} missing entries are filled in correctly; negative "
        f"for all would be {(truth == 0).mean():.0%}. {confident.mean():.0%} have a confidence of at least 0.9, and "
        f"{correct[confident].mean():.0%} of these are correct. Of the {int(labels.sum()):,} added tags, "
        f"{truth[labels == 1].mean():.0%} are correct.\n"
    )


def _print(text: str, indent: str = "") -> None:
    """Print text in lines of at most 80 characters; the lines of a numbered step are indented."""
    hanging = _INDENT if text[:1].isdigit() and text[1:2] == "." else indent
    lines = textwrap.fill(text, 80, initial_indent=indent, subsequent_indent=hanging)
    print(lines + "\n" * (len(text) - len(text.rstrip("\n"))), flush=True)


def _print_table(columns: list[str], rows: list[Any]) -> None:
    print(textwrap.indent(TextTable(columns, rows).to_text(), _INDENT) + "\n", flush=True)


def _cell(value: float, digits: int) -> TableCell:
    return TableCell(f"{value:.{digits}f}", float(value))


def _draw(data: Bunch, labels: dict[str, Any], issues: LabelIssues, folder: Path) -> list[str]:
    """Plot F1 of each tag and the errors found by the audit; return the name of the file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print('No figure: matplotlib is not installed; install it with: pip install "spmld[plot]"')
        return []
    figure = Figure(figsize=(7.4, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    order = np.argsort(data.Y_test.mean(axis=0))
    styles = {"oracle": ("|", COLORS[7], 12), "loop": ("o", COLORS[0], 7), "model": ("o", HIGHLIGHT, 7)}
    for method, (marker, color, size) in styles.items():
        f1 = macro_f1(data.Y_test, labels[method], average=None)[order]
        left.plot(f1, range(len(order)), marker, color=color, markersize=size, label=_METHODS[method])
    left.set_yticks(range(len(order)), [data.train.label_names[j] for j in order])
    left.set(title="Predicted tags of new songs", xlabel="F1 of each tag", xlim=(0, 1))
    flagged = data.wrong.flat[issues.order()]
    right.plot(np.cumsum(flagged), color=HIGHLIGHT, label="order of the audit")
    right.plot([0, len(flagged)], [0, flagged.sum()], "--", color=COLORS[5], label="random order")
    right.set(
        title="Wrong labels found", xlabel="checked entries", ylabel="wrong entries", xlim=(0, None), ylim=(0, None)
    )
    for ax, place in ((left, "upper left"), (right, "lower right")):
        ax.legend(loc=place, fontsize=8)
        ax.grid(alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    with writing(folder / "demo.png") as part:
        figure.savefig(part, dpi=150)
    return ["demo.png"]


def _report(model: SelfPacedEnsemble, data: Bunch, folder: Path) -> list[str]:
    """Write the HTML report; return the name of the file."""
    try:
        from spmld.reports import model_report

        frame = need("pandas").DataFrame
        names = data.train.label_names
        html = model_report(
            model,
            data.X_test,
            frame(data.Y_test, columns=names, index=data.test_names),
            X_train=data.X,
            Y_train=frame(data.Y, columns=names, index=data.train.sample_names),
            feature_names=data.train.feature_names,
            title="SelfPacedEnsemble on songs.csv",
            random_state=SEED,
        )
    except ImportError:
        print('No report: jinja2 is not installed; install it with: pip install "spmld[report]"')
        return []
    with writing(folder / "report.html") as part:
        part.write_text(html, encoding="utf-8")
    return ["report.html"]


def _next_commands(folder: Path) -> list[str]:
    """Return the commands that continue with the files of the demo."""
    commands = [
        f"cd {folder}",
        f"spmld fit songs.csv {_ROLES} -o songs.skops",
        "spmld evaluate songs.skops test.csv",
        f"spmld audit songs.csv {_ROLES} --out issues.csv",
        "spmld complete songs.csv --model songs.skops --top 2000 --list missing.csv",
        f"spmld review songs.csv {_ROLES}",
    ]
    if shutil.which("spmld") is None and sys.prefix != sys.base_prefix:
        path = os.path.relpath(sys.prefix)
        commands.insert(0, f". {sys.prefix if path.startswith('..') else path}/bin/activate")
    return commands


if __name__ == "__main__":
    main(*sys.argv[1:2])
