"""Time of each metric that scikit-learn has too, with nothing missing, and how it grows with the samples."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.metrics as sk

from spmld import metrics


def _each_label(metric: Callable[..., float]) -> Callable[..., float]:
    """scikit-learn's metric of probabilities is of one label, so that it is called for each."""
    return lambda Y, P: float(np.mean([metric(y, p) for y, p in zip(Y.T, P.T, strict=True)]))


SHARED: dict[str, Callable[..., Any]] = {
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
    "log_loss": _each_label(lambda y, p: sk.log_loss(y, p, labels=[0, 1])),
    "brier_score": _each_label(sk.brier_score_loss),
}


def _seconds(function: Callable[..., Any], *arguments: Any, repeats: int = 2) -> tuple[float, float]:
    """The least of some times, and the value."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        value = function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times), value


def _data(n: int, l: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    Y = (rng.random((n, l)) < 0.05).astype(np.int64)
    Y[:, 0], Y[:, 1] = np.arange(n) % 2, (np.arange(n) + 1) % 2  # every sample has a positive and a negative
    scores = np.clip(rng.random((n, l)) + 0.2 * Y, 0, 1)
    return {"Y": Y, "scores": scores, "probabilities": scores, "predictions": (scores > 0.9).astype(np.int64)}


def main(n: int = 20_000, l: int = 500) -> None:
    """Print seconds of scikit-learn, seconds of ours, the ratio, and how ours grows with twice the samples."""
    once, twice = _data(n, l), _data(2 * n, l)
    print(f"{n} x {l}, nothing missing")
    print(f"{'metric':32}{'sklearn s':>10}{'ours s':>9}{'ratio':>8}{'2n / n':>8}")
    for name, theirs in SHARED.items():
        metric = metrics.METRICS[name]
        their_time, their_value = _seconds(theirs, once["Y"], once[metric.needs])
        our_time, our_value = _seconds(metric.function, once["Y"], once[metric.needs])
        double, _ = _seconds(metric.function, twice["Y"], twice[metric.needs])
        if not np.isclose(their_value, our_value, rtol=0, atol=1e-10):
            raise AssertionError(f"{name}: scikit-learn gives {their_value!r}, ours is {our_value!r}")
        print(f"{name:32}{their_time:10.3f}{our_time:9.3f}{our_time / their_time:8.2f}{double / our_time:8.2f}")


if __name__ == "__main__":
    main()
