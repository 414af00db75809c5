"""Each metric agrees with a slow reference implementation that loops over the observed entries."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from spmld import metrics

NAN = float("nan")


def split(entries):
    return [s for y, s in entries if y], [s for y, s in entries if not y]


def ranking_loss(entries):
    positives, negatives = split(entries)
    if not positives or not negatives:
        return NAN
    wrong = sum(q >= p for p in positives for q in negatives)
    return wrong / (len(positives) * len(negatives))


def auc(entries):
    positives, negatives = split(entries)
    if not positives or not negatives:
        return NAN
    right = sum(1.0 if p > q else 0.5 if p == q else 0.0 for p in positives for q in negatives)
    return right / (len(positives) * len(negatives))


def coverage(entries):
    positives, _ = split(entries)
    return sum(s >= min(positives) for _, s in entries) - 1 if positives else NAN


def average_precision(entries):
    positives, _ = split(entries)
    if not positives:
        return NAN
    precisions = [sum(q >= p for q in positives) / sum(s >= p for _, s in entries) for p in positives]
    return sum(precisions) / len(positives)


def f1(entries):
    hits = sum(y and p for y, p in entries)
    total = sum(y for y, _ in entries) + sum(p for _, p in entries)
    return 2 * hits / total if total else NAN


def ranked(entries):
    """Labels by descending score; the sort is stable, so equal scores stay in column order."""
    return [y for y, _ in sorted(entries, key=lambda entry: -entry[1])]


def precision_at(k):
    def precision(entries):
        return sum(ranked(entries)[:k]) / min(k, len(entries)) if any(ranked(entries)) else NAN

    return precision


def one_error(entries):
    return float(not ranked(entries)[0]) if any(ranked(entries)) else NAN


def recall_at(k):
    def recall(entries):
        return sum(ranked(entries)[:k]) / sum(ranked(entries)) if any(ranked(entries)) else NAN

    return recall


def ndcg_at(k):
    def gain(relevant):
        return sum(y / math.log2(place + 2) for place, y in enumerate(relevant[:k]))

    def ndcg(entries):
        return gain(ranked(entries)) / gain(sorted(ranked(entries))[::-1]) if any(ranked(entries)) else NAN

    return ndcg


def mean_of(loss):
    def mean(entries):
        return sum(loss(y, p) for y, p in entries) / len(entries) if entries else NAN

    return mean


def log_loss(y, p):
    right = p if y else 1 - p
    return -math.log(min(max(right, np.finfo(float).eps), 1 - np.finfo(float).eps))


def subset_accuracy(entries):
    return float(all(y == p for y, p in entries)) if entries else NAN


def calibration_error(entries):
    if not entries:
        return NAN
    bins = [[(y, p) for y, p in entries if min(int(p * 10), 9) == b] for b in range(10)]
    return sum(abs(sum(y - p for y, p in members)) for members in bins) / len(entries)


hamming = mean_of(lambda y, p: float(y != p))

SAMPLES, LABELS, ENTRIES = "samples", "labels", "entries"

SCORE_METRICS = [
    (metrics.ranking_loss, {}, ranking_loss, SAMPLES),
    (metrics.sample_auc, {}, auc, SAMPLES),
    (metrics.macro_auc, {}, auc, LABELS),
    (metrics.micro_auc, {}, auc, ENTRIES),
    (metrics.coverage, {}, coverage, SAMPLES),
    (metrics.label_ranking_average_precision, {}, average_precision, SAMPLES),
    (metrics.macro_average_precision, {}, average_precision, LABELS),
    (metrics.micro_average_precision, {}, average_precision, ENTRIES),
    (metrics.one_error, {}, one_error, SAMPLES),
    *[
        (metric, {"k": k}, reference(k), SAMPLES)
        for k in (1, 3, 9)
        for metric, reference in (
            (metrics.precision_at_k, precision_at),
            (metrics.recall_at_k, recall_at),
            (metrics.ndcg_at_k, ndcg_at),
        )
    ],
]
PREDICTION_METRICS = [
    (metrics.sample_f1, {}, f1, SAMPLES),
    (metrics.macro_f1, {}, f1, LABELS),
    (metrics.micro_f1, {}, f1, ENTRIES),
    (metrics.subset_accuracy, {}, subset_accuracy, SAMPLES),
    (metrics.hamming_loss, {}, hamming, ENTRIES),
]
PROBABILITY_METRICS = [
    (metrics.log_loss, {}, mean_of(log_loss), ENTRIES),
    (metrics.brier_score, {}, mean_of(lambda y, p: (y - p) ** 2), ENTRIES),
    (metrics.expected_calibration_error, {}, calibration_error, ENTRIES),
]


def reference_values(reference, over, Y, values):
    """Return the reference values: of each sample, of each label, or of all entries."""
    n, l = Y.shape
    units = {
        SAMPLES: [[(i, j) for j in range(l)] for i in range(n)],
        LABELS: [[(i, j) for i in range(n)] for j in range(l)],
        ENTRIES: [[(i, j) for i in range(n) for j in range(l)]],
    }[over]
    return [reference([(int(Y[i, j]), values[i, j]) for i, j in unit if not math.isnan(Y[i, j])]) for unit in units]


@st.composite
def cases(draw, values):
    """Labels with missing entries, and values with many ties."""
    n, l = draw(st.integers(1, 6)), draw(st.integers(1, 7))

    def matrix(element):
        return np.array(draw(st.lists(element, min_size=n * l, max_size=n * l)), dtype=float).reshape(n, l)

    Y = matrix(st.sampled_from([0.0, 1.0, 1.0, np.nan]))
    if np.isnan(Y).all():
        Y[0, 0] = 1.0
    return Y, matrix(values)


score_cases = cases(st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 0.3, 0.7, 2.0, np.inf]))
prediction_cases = cases(st.sampled_from([0.0, 1.0]))
probability_cases = cases(st.sampled_from([0.0, 1e-20, 0.1, 0.5, 0.9, 1.0]))


def parametrize(references):
    return pytest.mark.parametrize(
        ("metric", "options", "reference", "over"), references, ids=[f"{t[0].__name__}-{t[1]}" for t in references]
    )


def check(metric, options, reference, over, Y, values):
    expected = reference_values(reference, over, Y, values)
    defined = [v for v in expected if not math.isnan(v)]
    if over != ENTRIES:
        np.testing.assert_allclose(metric(Y, values, average=None, **options), expected, rtol=0, atol=1e-12)
    if defined:
        assert metric(Y, values, **options) == pytest.approx(sum(defined) / len(defined), abs=1e-12)
    else:
        with pytest.warns(UndefinedMetricWarning, match=metric.__name__):
            assert math.isnan(metric(Y, values, **options))


@parametrize(SCORE_METRICS)
@given(case=score_cases)
def test_score_metrics(metric, options, reference, over, case):
    check(metric, options, reference, over, *case)


@parametrize(PREDICTION_METRICS)
@given(case=prediction_cases)
def test_prediction_metrics(metric, options, reference, over, case):
    check(metric, options, reference, over, *case)


@parametrize(PROBABILITY_METRICS)
@given(case=probability_cases)
def test_probability_metrics(metric, options, reference, over, case):
    check(metric, options, reference, over, *case)


@pytest.mark.parametrize(
    ("metric", "loss"),
    [
        (metrics.hamming_loss, lambda y, p: float(y != p)),
        (metrics.log_loss, log_loss),
        (metrics.brier_score, lambda y, p: (y - p) ** 2),
    ],
)
@given(case=prediction_cases)
def test_losses_of_single_entries(metric, loss, case):
    Y, P = case
    expected = [
        [NAN if math.isnan(y) else loss(y, p) for y, p in zip(*row, strict=True)] for row in zip(Y, P, strict=True)
    ]
    np.testing.assert_allclose(metric(Y, P, average=None), expected, rtol=0, atol=1e-12)


def test_all_metrics_have_a_reference():
    references = {metric.__name__ for metric, *_ in SCORE_METRICS + PREDICTION_METRICS + PROBABILITY_METRICS}
    assert references == set(metrics.registry.METRICS)
