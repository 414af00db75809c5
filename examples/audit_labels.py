"""
Audit labels
============

Find labels that are likely to be wrong in a real data set: moods that songs have by mistake, and moods that they lack.

Run it with ``python examples/audit_labels.py``. It takes a few seconds. It uses the data set Emotions, from SPMLD_DATA
or by download, or else generated data with wrong labels. The figure requires ``pip install "spmld[plot]"``.

The true labels of Emotions are unknown, since listeners disagree about moods. The list shows which labels to review.
"""

import sys

from spmld.audit import find_label_issues
from spmld.datasets import Dataset, fetch_dataset, make_planted
from spmld.labels import corrupt_labels

POSITIVE, NEGATIVE = "#D55E00", "#0072B2"  # Okabe-Ito palette, suitable for color blindness


def load():
    try:
        return fetch_dataset("emotions")
    except (ConnectionError, ImportError) as error:
        print(f"{error}\nUsing generated data instead.\n")
        planted = make_planted(600, noise=0.1, random_state=0)
        return Dataset(planted.X, corrupt_labels(planted.Y, "flip", 0.03, random_state=0), name="planted")


def main(figure="audit_labels.png"):
    data = load()
    issues = find_label_issues(None, data.X, data.Y, label_names=data.label_names, random_state=0)
    print(f"{data.name}: {issues}\n")
    print(f"{'sample':<8}{'label':<20}{'given':>6}{'probability':>13}{'error probability':>19}  kind")
    for row in issues.entries(top=10):
        numbers = f"{row['given']:>6}{row['probability']:>13.3f}{row['error_probability']:>19.3f}"
        print(f"{row['sample']:<8}{row['label']:<20}{numbers}  {row['kind']}")
    print(f"\n{'label':<20}{'positives':>10}{'false positives':>17}{'false negatives':>18}")
    rows = issues.label_rows()
    for row in rows:
        counts = f"{row['positives']:>10}{row['false positives']:>17.1f}{row['false negatives']:>18.1f}"
        print(f"{row['label']:<20}{counts}")
    if draw(figure, rows):
        print(f"\nFigure: {figure}")


def draw(path, rows):
    try:
        from matplotlib import pyplot as plt
    except ImportError:
        print('\nNo figure: matplotlib is not installed; install it with: pip install "spmld[plot]"')
        return False
    figure, axis = plt.subplots(figsize=(7, 0.5 * len(rows) + 1.5), layout="constrained")
    for shift, kind, color in ((0.2, "false positives", POSITIVE), (-0.2, "false negatives", NEGATIVE)):
        positions = [i + shift for i in range(len(rows))]
        axis.barh(positions, [row[kind] for row in rows], 0.38, color=color, label=kind)
    axis.set_yticks(range(len(rows)), [row["label"] for row in rows])
    axis.set(xlabel="expected number", title="Expected label errors")
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    figure.savefig(path, dpi=120)
    return True


if __name__ == "__main__":
    main(*sys.argv[1:2])
