"""Time of the metrics that scikit-learn has as well, without missing labels, and scaling with the number of samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.metrics as sk

from benchmarks.ratios import record
from benchmarks.sizes import sized
from spmld.metrics.registry import METRICS


def _mean_over_labels(metric: Callable[..., float]) -> Callable[..., float]:
    """Return the mean over labels of a metric that scikit-learn has for one label only."""
    return lambda Y, P: float(np.mean([metric(y, p) for y, p in zip(Y.T, P.T, strict=True)]))


SKLEARN: dict[str, Callable[..., Any]] = {
    "ranking_loss": sk.label_ranking_loss,
    "coverage": lambda Y, S: sk.coverage_error(Y, S) - 1,
    "sample_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="samples"),
    "macro_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="macro"),
    "micro_auc": lambda Y, S: sk.roc_auc_score(Y, S, average="micro"),
    "label_ranking_average_precision": sk.label_ranking_average_precision_score,
    "macro_average_precision": lambda Y, S: sk.average_precision_score(Y, S, average="macro"),
    "ndcg_at_k": lambda Y, S: sk.ndcg_score(Y, S, k=5, ignore_ties=True),
    "hamming_loss": sk.hamming_loss,
    "subset_accuracy": sk.accuracy_score,
    "sample_f1": lambda Y, P: sk.f1_score(Y, P, average="samples", zero_division=np.nan),
    "macro_f1": lambda Y, P: sk.f1_score(Y, P, average="macro", zero_division=np.nan),
    "micro_f1": lambda Y, P: sk.f1_score(Y, P, average="micro", zero_division=np.nan),
    "log_loss": _mean_over_labels(lambda y, p: sk.log_loss(y, p, labels=[0, 1])),
    "brier_score": _mean_over_labels(sk.brier_score_loss),
}


def _seconds(function: Callable[..., Any], *arguments: Any, repeats: int = 2) -> tuple[float, float]:
    """Return the minimum time and the value."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        value = function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times), value


def _data(n: int, l: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    Y = (rng.random((n, l)) < 0.05).astype(np.int64)
    Y[:, 0], Y[:, 1] = np.arange(n) % 2, (np.arange(n) + 1) % 2  # each sample has a positive and a negative label
    scores = np.clip(rng.random((n, l)) + 0.2 * Y, 0, 1)
    return {"Y": Y, "scores": scores, "probabilities": scores, "predictions": (scores > 0.9).astype(np.int64)}


def main(n: int = sized(20_000, 100), l: int = sized(500, 10)) -> None:
    """Print the seconds of scikit-learn and of spmld, their ratio, and the ratio for twice as many samples."""
    once, twice = _data(n, l), _data(2 * n, l)
    print(f"{n} samples, {l} labels, none missing")
    print(f"{'metric':32}{'sklearn s':>10}{'spmld s':>9}{'ratio':>8}{'2n / n':>8}")
    for name, function in SKLEARN.items():
        metric = METRICS[name]
        sklearn_time, expected = _seconds(function, once["Y"], once[metric.needs])
        seconds, value = _seconds(metric.function, once["Y"], once[metric.needs])
        double, _ = _seconds(metric.function, twice["Y"], twice[metric.needs])
        if not np.isclose(value, expected, rtol=0, atol=1e-10):
            raise AssertionError(f"{name}: scikit-learn returns {expected!r}, spmld returns {value!r}")
        ratio = record(f"{name} / scikit-learn", seconds, sklearn_time)
        print(f"{name:32}{sklearn_time:10.3f}{seconds:9.3f}{ratio:8.2f}{double / seconds:8.2f}")


if __name__ == "__main__":
    main()
