"""Every example runs, and its results are as described."""

from pathlib import Path

import pytest

from tests.commands import run_python

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def numbers(printed, start):
    """Return the numbers of the line that begins with `start`; percentages are fractions."""
    line = next(line for line in printed.splitlines() if line.startswith(start)).removeprefix(start)
    return [float(word.strip("%,")) / (100 if "%" in word else 1) for word in line.split() if word[0] in "0123456789-"]


def check_tuning(printed):
    """Decisions by F1 improve macro F1 considerably, calibration improves it slightly."""
    lines = printed.splitlines()
    start = next(i for i, line in enumerate(lines) if "macro F1" in line)
    plain, *others = [float(line[34:44]) for line in lines[start + 1 :]]
    assert len(others) == 2
    calibrated, decided = others
    assert decided > plain + 0.1
    assert calibrated > plain
    assert "The study has 15 trials." in printed


def check_self_paced_classifiers(printed):
    """The self-paced ranking loss is between plain and oracle, and few wrong positives have weight at the end."""
    for estimator in ("LogisticRegression", "SGDClassifier"):
        plain, paced, oracle = (
            numbers(printed, f"{estimator}, {method}")[0] for method in ("plain", "self-paced", "oracle")
        )
        assert oracle < paced < plain - 0.003
    assert numbers(printed, "wrong positives")[-1] < 0.5 * numbers(printed, "correct positives")[-1]
    assert "Figure: self_paced_any_classifier.png" in printed


def check_audit(printed):
    """Both lists are in order, and most of the first 100 entries are wrong."""
    lines = printed.splitlines()
    starts = [i + 1 for i, line in enumerate(lines) if line.startswith("sample")]
    for start, kind in zip(starts, ("present", "absent"), strict=True):
        rows = [line.split() for line in lines[start : start + 5]]
        assert {row[2] for row in rows} == {kind}
        assert [row[3] for row in rows] == sorted(row[3] for row in rows)
    found, random = (int(line.split()[i]) for line in lines if "first 100 entries" in line for i in (0, 8))
    assert found > 80 > 5 * random
    wide, narrow = (numbers(printed, name)[-2:] for name in ("range of the audit", "100 verified random entries"))
    (wrong,) = numbers(printed, "wrong:")
    assert wide[0] <= wrong <= wide[1]
    assert narrow[0] <= wrong <= narrow[1]
    assert narrow[0] > 0


def check_text(printed):
    """The model is much better than the label frequencies, and new texts get the tags that they mention."""
    (loss, f1), (prior_loss, prior_f1) = numbers(printed, "MaskedLogistic"), numbers(printed, "prior")
    assert loss < 0.5 * prior_loss
    assert f1 > prior_f1 + 0.5
    new = [line for line in printed.splitlines() if line.startswith(("Great coffee", "Fair rates,"))]
    assert "'breakfast'" in new[0]
    assert "'noise'" in new[0]
    assert "'price'" in new[1]
    assert "'location'" in new[1]


def check_algorithm_1(printed):
    """The fit converges, and is much better than random scores."""
    assert numbers(printed, "iterations:")[0] < 40
    assert numbers(printed, "ranking loss on test samples:")[0] < 0.2


def check_images(printed):
    """Boosted trees are best in all three metrics."""
    prior, linear, boosted = (numbers(printed, name) for name in ("LabelPrior", "MaskedLogistic", "MaskedBoosting"))
    assert boosted[0] > linear[0] > prior[0]
    assert boosted[1] > linear[1] > prior[1]
    assert boosted[2] < linear[2] < prior[2]


def check_completion(printed):
    """Confident labels are more accurate."""
    for name in ("MaskedLogistic", "GLOCAL"):
        accuracy, confident_accuracy = numbers(printed, name)
        assert confident_accuracy > accuracy > 0.8


def check_sparse(printed):
    """Both models are better than the label frequencies, in ranking loss and precision."""
    prior = numbers(printed, "LabelPrior")
    for name in ("MaskedLogistic", "LEML"):
        _, loss, precision = numbers(printed, name)
        assert loss < 0.9 * prior[1]
        assert precision > prior[2]


def check_early_stopping(printed):
    """Fewer iterations, almost the same objective, and five log lines: two of the warm-up and three others."""
    (iterations, objective), (fewer, near) = numbers(printed, "all iterations"), numbers(printed, "stopped early")
    assert fewer < iterations
    assert abs(near - objective) < 0.01 * objective
    assert len([line for line in printed.splitlines() if line.startswith("SPMLD: stage ")]) == 5


def check_verified_samples(printed):
    """Decisions by F1 improve all F1 scores, probabilities are calibrated, and verified samples improve the model."""
    half, best = numbers(printed, "decision=0.5"), numbers(printed, "decision='f1'")
    assert all(f1 > plain + 0.01 for f1, plain in zip(best[:3], half[:3], strict=True))
    (labels,), (expected,) = numbers(printed, "labels of a sample"), numbers(printed, "sum of probabilities")
    assert abs(expected - labels) < 0.1 * labels
    assert numbers(printed, "calibration error")[0] < 0.03
    rows = [numbers(printed, f"{count} ") for count in (0, 20, 50, 200)]
    for (loss, log_loss, f1, error), (less, lower, higher, smaller) in zip(rows[:1] * 2, rows[2:], strict=True):
        assert less < loss - 0.005
        assert lower < 0.8 * log_loss
        assert higher > f1 + 0.05
        assert smaller <= error
    assert rows[1][3] == rows[0][3]  # 20 samples are not enough
    assert rows[3][3] < rows[2][3] < 0.4 * rows[0][3]  # the rates are estimated from 50 samples on
    gain, largest = rows[0][1] - rows[2][1], rows[0][1] - rows[3][1]
    assert gain > 0.7 * largest  # 50 samples give most of the gain


def check_demo(printed):
    """The model is better than the loop, the audit than a random order, and confident labels are more accurate."""
    loop, model = numbers(printed, "scikit-learn loop"), numbers(printed, "SelfPacedEnsemble")
    assert model[0] < 0.95 * loop[0]
    assert all(f1 > other + 0.05 for f1, other in zip(model[1:], loop[1:], strict=True))
    found, _, random, _ = numbers(printed, "2. Audit:")
    assert found > 5 * random > 0
    filled, negative = numbers(printed, "3. Complete:")
    confident = numbers(printed, "   of the")[-1]
    assert negative + 0.03 < filled < confident
    assert "Files in demo/: demo.png, report.html" in printed


def check_monitoring(printed):
    """Only the changed frequency raises an alarm."""
    assert "alarm: False" in printed.split("Label frequencies")[1]
    assert printed.rstrip().endswith("alarm: True")


def check_updates(printed):
    """A tag that the model was not fitted to is learned, and verified tags decrease the loss."""
    assert numbers(printed, "AUC of the new tag")[0] > 0.85
    before, after = numbers(printed, "ranking loss before the correction")
    assert after < 0.95 * before


def check_annotators(printed):
    """Error rates are estimated, the consensus is better than the majority, and chosen answers than random ones."""
    for name, rate in (("ann", 0.03), ("bob", 0.1), ("dan", 0.2), ("eve", 0.35)):
        assert abs(numbers(printed, f"{name}: error rate")[0] - rate) < 0.03
    (majority,), (consensus,) = numbers(printed, "majority: wrong labels"), numbers(printed, "consensus: wrong labels")
    assert consensus < 0.5 * majority
    (voted,), (fitted,) = (numbers(printed, f"model of the {name}: ranking loss") for name in ("majority", "answers"))
    assert fitted < 0.9 * voted
    (random,), (chosen,) = (numbers(printed, f"{name} answers: log loss") for name in ("random", "chosen"))
    assert chosen < 0.9 * random


def check_hierarchy(printed):
    """The hierarchy is better for every observed fraction, most at 30 %, and no prediction contradicts it."""
    rows = [numbers(printed, f"{fraction:8.0%}") for fraction in (0.03, 0.1, 0.3, 1.0)]
    gains = [coherent - flat for _, flat, coherent, *_ in rows]
    assert min(gains) > 0
    assert gains[2] > 0.04
    assert [row[0] > 0 for row in rows] == [True, True, True, False]
    assert all(flat > 0.5 and coherent == 0 for *_, flat, coherent in rows)


CHECKS = {
    "algorithm_1": check_algorithm_1,
    "audit_labels": check_audit,
    "complete_labels": check_completion,
    "demo": check_demo,
    "label_hierarchy": check_hierarchy,
    "large_sparse": check_sparse,
    "monitor_model": check_monitoring,
    "self_paced_any_classifier": check_self_paced_classifiers,
    "several_annotators": check_annotators,
    "tag_images": check_images,
    "tag_text": check_text,
    "tune_and_threshold": check_tuning,
    "update_model": check_updates,
    "verified_samples": check_verified_samples,
    "watch_a_fit": check_early_stopping,
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    status, out, err = run_python(tmp_path, path.read_text(encoding="utf-8"))
    assert status == 0, err
    CHECKS[path.stem](out)


def test_every_example_starts_with_a_title_and_has_a_figure():
    for path in EXAMPLES:
        text = path.read_text(encoding="utf-8")
        first, title, underline, *_ = text.splitlines()
        assert (first, underline) == ('"""', "=" * len(title)), path.name
        assert "plt.show()" in text or "figure.savefig(" in text, path.name
