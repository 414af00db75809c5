"""Tests of the table of metrics in the docs against the registry."""

import inspect
import math
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics as sk

from spmld import metrics

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"


def table(heading):
    section = DOCS.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_table_lists_the_metrics_of_the_registry():
    listed = [(row["Metric"].strip("`"), row["Evaluates"], row["Better"], row["Over"]) for row in table("Definitions")]
    assert listed == [(m.name, m.needs, m.better, m.over) for m in metrics.registry.METRICS.values()]


def test_ranges_are_those_of_the_registry():
    for row in table("Definitions"):
        low, high = metrics.registry.METRICS[row["Metric"].strip("`")].range
        stated = re.match(r"\[(\d+), (.+?)\]", row["Range"])
        assert float(stated[1]) == low
        assert stated[2] == ("l - 1" if math.isinf(high) else f"{high:.4g}")


def test_named_functions_exist_in_scikit_learn():
    for row in table("Definitions"):
        named = re.match(r"`(\w+)", row["scikit-learn"])
        assert row["scikit-learn"] == "none" or callable(getattr(sk, named[1]))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_documented_differences_from_scikit_learn():
    """The second sample has no positive: scikit-learn returns a number, and spmld leaves the sample out."""
    Y, S = np.array([[1, 0], [0, 0]]), np.array([[0.2, 0.8], [0.2, 0.8]])
    assert (sk.label_ranking_loss(Y, S), metrics.ranking_loss(Y, S)) == ((1 + 0) / 2, 1)
    assert (sk.coverage_error(Y, S), metrics.coverage(Y, S) + 1) == ((2 + 0) / 2, 2)
    ours = metrics.label_ranking_average_precision(Y, S)
    assert (sk.label_ranking_average_precision_score(Y, S), ours) == ((1 / 2 + 1) / 2, 1 / 2)
    assert (sk.average_precision_score(Y.T, S.T), metrics.macro_average_precision(Y.T, S.T)) == (1 / 4, 1 / 2)
    P = np.array([[1, 0], [0, 0]])
    assert (sk.f1_score(Y, P, average="samples"), metrics.sample_f1(Y, P)) == (1 / 2, 1)
    assert sk.ndcg_score(Y, S, k=2) == pytest.approx(metrics.ndcg_at_k(Y, S, k=2) / 2)
    assert np.isnan(sk.roc_auc_score(Y, S, average="samples"))
    assert metrics.sample_auc(Y, S) == 0
    tied = np.ones((1, 2))
    assert metrics.ndcg_at_k([[1, 0]], tied, k=2) == 1
    assert sk.ndcg_score([[1, 0]], tied, k=2) == pytest.approx((1 + 1 / math.log2(3)) / 2)


def described(name):
    """Return the parameters that a docstring describes, or that those of another metric do."""
    text = inspect.getdoc(metrics.registry.METRICS[name].function)
    other = re.search(r"The parameters are those of `(\w+)`(?:, without `(\w+)`)?\.", text)
    if other:
        return described(other[1]) - {other[2]}
    section = text.split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    lines = [line.split(" : ")[0] for line in section.splitlines() if not line.startswith(" ")]
    return {name for line in lines for name in line.split(", ")}


@pytest.mark.parametrize("name", metrics.registry.METRICS)
def test_docstrings_describe_all_parameters(name):
    assert described(name) == set(inspect.signature(metrics.registry.METRICS[name].function).parameters)
