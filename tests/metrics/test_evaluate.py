"""`evaluate` computes all metrics and counts the samples, labels or entries used."""

import numpy as np
import pytest

from spmld import metrics
from spmld.metrics import evaluate

Y = np.array([[1, 0, np.nan, 0], [0, 0, 0, np.nan], [1, 1, np.nan, 1], [np.nan] * 4, [0, 1, 0, 0]])
rng = np.random.default_rng(0)
S = rng.random((5, 4))
P = S > 0.5


def test_each_value_is_that_of_the_function():
    result = evaluate(Y, S - 1, P, S, k=(1, 2))
    expected = {}
    for name, metric in metrics.registry.METRICS.items():
        values = {"scores": S - 1, "predictions": P, "probabilities": S}[metric.needs]
        if name.endswith("_at_k"):
            expected |= {f"{name[:-1]}{k}": metric.function(Y, values, k=k) for k in (1, 2)}
        else:
            expected[name] = metric.function(Y, values)
    assert result == expected


def test_used_and_left_out_are_counted():
    """The samples have both classes, negatives, positives, nothing, and both classes. Label 2 has no positive."""
    counts = {row.name: (row.over, row.used, row.left_out) for row in evaluate(Y, S, P, S, k=3).rows}
    assert counts["ranking_loss"] == counts["sample_auc"] == ("samples", 2, 3)
    for name in ("coverage", "label_ranking_average_precision", "one_error", "precision_at_3", "recall_at_3"):
        assert counts[name] == ("samples", 3, 2)
    assert counts["macro_auc"] == counts["macro_average_precision"] == ("labels", 3, 1)
    assert counts["subset_accuracy"] == ("samples", 4, 1)
    for name in ("micro_auc", "micro_f1", "hamming_loss", "log_loss", "brier_score", "expected_calibration_error"):
        assert counts[name] == ("entries", 13, 7)


def test_undefined_metrics_are_nan_with_nothing_used(recwarn):
    result = evaluate(np.zeros((2, 3)), scores=np.ones((2, 3)), predictions=np.zeros((2, 3)))
    rows = {row.name: row for row in result.rows}
    assert np.isnan(result["ranking_loss"])
    assert (rows["ranking_loss"].used, rows["ranking_loss"].left_out) == (0, 2)
    assert np.isnan(result["micro_f1"])
    assert (rows["micro_f1"].used, rows["micro_f1"].left_out) == (0, 6)
    assert result["subset_accuracy"] == 1
    assert not recwarn.list


def test_only_metrics_whose_input_is_given_are_computed():
    needs = {name: metric.needs for name, metric in metrics.registry.METRICS.items()}
    assert {needs[name] for name in evaluate(Y, predictions=P)} == {"predictions"}
    from_probabilities = evaluate(Y, probabilities=S)
    assert from_probabilities["ranking_loss"] == metrics.ranking_loss(Y, S)
    assert "log_loss" in from_probabilities
    assert "macro_f1" not in from_probabilities
    assert list(evaluate(Y, S, metrics=["recall_at_2", "coverage"])) == ["recall_at_2", "coverage"]
    with pytest.raises(ValueError, match="log_loss needs probabilities, got none"):
        evaluate(Y, S, metrics=["log_loss"])


def test_a_mask_is_the_same_as_nan():
    observed = ~np.isnan(Y)
    assert evaluate(np.where(observed, Y, 1), S, mask=observed) == evaluate(Y, S)


def test_the_table():
    result = evaluate(Y, S, k=2)
    lines = str(result).splitlines()
    assert lines[0].split() == ["metric", "value", "better", "over", "used", "left", "out"]
    assert len({len(line) for line in lines}) == 1
    for line, row in zip(lines[1:], result.rows, strict=True):
        better = (
            "higher"
            if metrics.registry.METRICS.get(row.name, metrics.registry.METRICS["ndcg_at_k"]).greater_is_better
            else "lower"
        )
        assert line.split() == [row.name, f"{row.value:.4f}", better, row.over, str(row.used), str(row.left_out)]
    html = result._repr_html_()
    assert html.count("<tr>") == len(lines)
    assert f"<td>ranking_loss</td><td>{result['ranking_loss']:.4f}</td><td>lower</td>" in html


def test_the_frame():
    result = evaluate(Y, S, k=2)
    frame = result.to_frame()
    assert frame["value"].to_dict() == result
    assert frame.loc["ranking_loss", ["better", "over", "used", "left out"]].tolist() == ["lower", "samples", 2, 3]
