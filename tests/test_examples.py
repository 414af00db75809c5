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
        line[:40].strip(): float(line[40:54]) for line in printed.splitlines() if ", p" in line or ", told" in line
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
    suspicion = [float(line[47:58]) for line in rows]
    assert suspicion == sorted(suspicion, reverse=True)
    assert all(line.endswith(("wrong positive", "missed positive")) for line in rows)
    assert "Figure: audit_labels.png" in printed


PROMISES = {
    "audit_labels": lists_ten_with_names,
    "pace_any_classifier": paces_both_hosts,
    "tune_and_threshold": gains_f1,
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
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    PROMISES.get(path.stem, str)(ran.stdout)


def test_promises_are_of_examples_that_are_there():
    assert set(PROMISES) <= {path.stem for path in EXAMPLES}
