"""Every example runs, and shows what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def gains_f1(printed):
    """The first row of the table is the estimator as it is; thresholds gain much in macro F1, calibration something."""
    lines = printed.splitlines()
    start = next(i for i, line in enumerate(lines) if "macro F1" in line)
    plain, *others = [float(line[34:44]) for line in lines[start + 1 :]]
    assert len(others) == 3
    thresholds, calibrated, both = others
    assert min(thresholds, both) > plain + 0.1
    assert calibrated > plain
    assert "was resumed, and ended with 15" in printed


def paces_both_hosts(printed):
    """Paced lies between plain and told in ranking loss, and few wrong positives are in use at the end."""
    losses = {
        line[:40].strip(): float(line[40:54]) for line in printed.splitlines() if ", p" in line or ", oracle" in line
    }
    for host in ("LogisticRegression", "SGDClassifier"):
        plain, paced, told = (losses[f"{host}, {way}"] for way in ("plain", "paced", "told what is wrong"))
        assert told < paced < plain - 0.003
    shares = {line[:15]: float(line.split()[-1]) for line in printed.splitlines() if "itives  " in line}
    assert shares["wrong positives"] < 0.5 * shares["right positives"]
    assert "Figure: pace_any_classifier.png" in printed


def lists_ten_with_names(printed):
    """The most suspicious come first, and each has a kind."""
    lines = printed.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("sample"))
    rows = lines[start + 1 : start + 11]
    error_probability = [float(line[47:58]) for line in rows]
    assert error_probability == sorted(error_probability, reverse=True)
    assert all(line.endswith(("false positive", "false negative")) for line in rows)
    assert "Figure: audit_labels.png" in printed


def numbers(printed, start):
    """The numbers of the line that begins with `start`; a percentage is a share."""
    line = next(line for line in printed.splitlines() if line.startswith(start)).removeprefix(start)
    return [float(word.strip("%,")) / (100 if "%" in word else 1) for word in line.split() if word[0] in "0123456789-"]


def learns_from_text(printed):
    """Words say much more than how frequent tags are, and the new texts get the tags that their words stand for."""
    (loss, f1), (prior_loss, prior_f1) = numbers(printed, "MaskedLogistic"), numbers(printed, "prior")
    assert loss < 0.5 * prior_loss
    assert f1 > prior_f1 + 0.5
    new = [line for line in printed.splitlines() if line.startswith(("Great coffee", "Fair rates,"))]
    assert "'breakfast'" in new[0]
    assert "'noise'" in new[0]
    assert "'price'" in new[1]
    assert "'location'" in new[1]


def neighbours_win_on_images(printed):
    """In all three columns."""
    prior, linear, near = (numbers(printed, name) for name in ("LabelPrior", "MaskedLogistic", "MLkNN"))
    assert near[0] > linear[0] > prior[0]
    assert near[1] > linear[1] > prior[1]
    assert near[2] < linear[2] < prior[2]


def thresholds_gain(printed):
    """Macro F1 gains, since most labels are rare."""
    plain, best = numbers(printed, "score above 0"), numbers(printed, "method='f1'")
    assert best[0] > plain[0] + 0.02


def surest_are_righter(printed):
    """What is filled with confidence is right more often."""
    for name in ("MaskedLogistic", "GLOCAL"):
        right, surest = numbers(printed, name)
        assert surest > right > 0.8


def doubts_wrong_positives(printed):
    """Each power gives wrong positives less weight than right ones, and lowers the loss."""
    plain, *_ = numbers(printed, "no pacing")
    for power in (2, 4, 20):
        loss, right, wrong = numbers(printed, f"q = {power} ")
        assert wrong < 0.8 * right
        assert loss < plain


def paces_its_own_host(printed):
    """Wrong positives are left out first."""
    (right,), (wrong,) = (numbers(printed, f"{kind} positives in use:") for kind in ("right", "wrong"))
    assert wrong < 0.7 * right


def learns_from_sparse(printed):
    """Both models beat the prior, in ranking and at the top."""
    prior = numbers(printed, "LabelPrior")
    for name in ("MaskedLogistic", "LEML"):
        _, loss, precision = numbers(printed, name)
        assert loss < 0.9 * prior[1]
        assert precision > prior[2]


def ends_early(printed):
    """Fewer rounds, hardly another objective, and five lines in the log: two warm rounds and three others."""
    (rounds, objective), (fewer, near) = numbers(printed, "to the end"), numbers(printed, "ended early")
    assert fewer < rounds
    assert abs(near - objective) < 0.01 * objective
    assert len([line for line in printed.splitlines() if line.startswith("SPMLD: stage ")]) == 5


PROMISES = {
    "audit_labels": lists_ten_with_names,
    "choose_thresholds": thresholds_gain,
    "complete_labels": surest_are_righter,
    "custom_host": paces_its_own_host,
    "custom_pace": doubts_wrong_positives,
    "large_sparse": learns_from_sparse,
    "pace_any_classifier": paces_both_hosts,
    "tag_images": neighbours_win_on_images,
    "tag_text": learns_from_text,
    "tune_and_threshold": gains_f1,
    "watch_a_fit": ends_early,
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    ran = subprocess.run(
        [sys.executable, path],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    PROMISES[path.stem](ran.stdout)


def test_every_example_is_a_page_with_a_title():
    for path in EXAMPLES:
        first, title, line, *_ = path.read_text(encoding="utf-8").splitlines()
        assert (first, line) == ('"""', "=" * len(title)), path.name
