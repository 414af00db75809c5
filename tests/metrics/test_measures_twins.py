"""Each metric equals a slow twin that walks over the observed entries, and depends on nothing else."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
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


def normalised_coverage(entries):
    return coverage(entries) / (len(entries) - 1) if len(entries) > 1 else NAN


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


hamming = mean_of(lambda y, p: float(y != p))
brier = mean_of(lambda y, p: (y - p) ** 2)

INSTANCES, LABELS, POOL = "samples", "labels", "pool"

SCORE_TWINS = [
    (metrics.ranking_loss, {}, ranking_loss, INSTANCES),
    (metrics.sample_auc, {}, auc, INSTANCES),
    (metrics.macro_auc, {}, auc, LABELS),
    (metrics.micro_auc, {}, auc, POOL),
    (metrics.coverage, {}, coverage, INSTANCES),
    (metrics.coverage, {"normalised": True}, normalised_coverage, INSTANCES),
    (metrics.label_ranking_average_precision, {}, average_precision, INSTANCES),
    (metrics.macro_average_precision, {}, average_precision, LABELS),
    (metrics.micro_average_precision, {}, average_precision, POOL),
    (metrics.one_error, {}, one_error, INSTANCES),
    *[
        (metric, {"k": k}, twin(k), INSTANCES)
        for k in (1, 3, 9)
        for metric, twin in (
            (metrics.precision_at_k, precision_at),
            (metrics.recall_at_k, recall_at),
            (metrics.ndcg_at_k, ndcg_at),
        )
    ],
]
PREDICTION_TWINS = [
    (metrics.sample_f1, {}, f1, INSTANCES),
    (metrics.macro_f1, {}, f1, LABELS),
    (metrics.micro_f1, {}, f1, POOL),
    (metrics.subset_accuracy, {}, subset_accuracy, INSTANCES),
    (metrics.hamming_loss, {}, hamming, POOL),
    (metrics.hamming_loss, {"over": "labels"}, hamming, LABELS),
    (metrics.hamming_loss, {"over": "samples"}, hamming, INSTANCES),
]
PROBABILITY_TWINS = [
    (metric, options, twin, over)
    for metric, twin in ((metrics.log_loss, mean_of(log_loss)), (metrics.brier_score, brier))
    for options, over in (({}, POOL), ({"over": "labels"}, LABELS), ({"over": "samples"}, INSTANCES))
]


def walk(twin, over, Y, values):
    """The twin's values: of each row, of each column, or of everything."""
    n, l = Y.shape
    units = {
        INSTANCES: [[(i, j) for j in range(l)] for i in range(n)],
        LABELS: [[(i, j) for i in range(n)] for j in range(l)],
        POOL: [[(i, j) for i in range(n) for j in range(l)]],
    }[over]
    return [twin([(int(Y[i, j]), values[i, j]) for i, j in unit if not math.isnan(Y[i, j])]) for unit in units]


@st.composite
def cases(draw, values):
    """Labels with missing entries, and values to judge drawn from few enough that ties are common."""
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


def names(twins):
    return pytest.mark.parametrize(
        ("metric", "options", "twin", "over"), twins, ids=[f"{t[0].__name__}-{t[1]}" for t in twins]
    )


def check_twin(metric, options, twin, over, Y, values):
    expected = walk(twin, over, Y, values)
    defined = [v for v in expected if not math.isnan(v)]
    if over != POOL:
        np.testing.assert_allclose(metric(Y, values, average=None, **options), expected, rtol=0, atol=1e-12)
    if defined:
        assert metric(Y, values, **options) == pytest.approx(sum(defined) / len(defined), abs=1e-12)
    else:
        with pytest.warns(UndefinedMetricWarning, match=metric.__name__):
            assert math.isnan(metric(Y, values, **options))


@names(SCORE_TWINS)
@settings(max_examples=50, deadline=None)
@given(case=score_cases)
def test_a_measure_of_scores_equals_its_twin(metric, options, twin, over, case):
    check_twin(metric, options, twin, over, *case)


@names(PREDICTION_TWINS)
@settings(max_examples=50, deadline=None)
@given(case=prediction_cases)
def test_a_measure_of_predictions_equals_its_twin(metric, options, twin, over, case):
    check_twin(metric, options, twin, over, *case)


@names(PROBABILITY_TWINS)
@settings(max_examples=50, deadline=None)
@given(case=probability_cases)
def test_a_measure_of_probabilities_equals_its_twin(metric, options, twin, over, case):
    check_twin(metric, options, twin, over, *case)


@pytest.mark.parametrize(
    ("metric", "loss"),
    [
        (metrics.hamming_loss, lambda y, p: float(y != p)),
        (metrics.log_loss, log_loss),
        (metrics.brier_score, lambda y, p: (y - p) ** 2),
    ],
)
@settings(max_examples=40, deadline=None)
@given(case=prediction_cases)
def test_losses_of_entries(metric, loss, case):
    Y, P = case
    expected = [
        [NAN if math.isnan(y) else loss(y, p) for y, p in zip(*row, strict=True)] for row in zip(Y, P, strict=True)
    ]
    np.testing.assert_allclose(metric(Y, P, average=None), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 9])
@settings(max_examples=50, deadline=None)
@given(case=score_cases, seed=st.integers(0, 1000))
def test_propensity_scored_precision_equals_its_twin(k, case, seed):
    Y, S = case
    weights = 1 / np.random.default_rng(seed).uniform(0.05, 1, Y.shape[1])
    gained, best = [], []
    for row, scores in zip(Y, S, strict=True):
        columns = sorted(np.flatnonzero(~np.isnan(row)), key=lambda j: -scores[j])
        positives = sorted((weights[j] for j in columns if row[j] == 1), reverse=True)
        gained.append(sum(weights[j] for j in columns[:k] if row[j] == 1))
        best.append(sum(positives[:k]))
    options = {"k": k, "propensities": 1 / weights}
    each = metrics.propensity_scored_precision_at_k(Y, S, average=None, **options)
    np.testing.assert_array_equal(np.isnan(each), np.equal(best, 0))
    if sum(best):
        assert metrics.propensity_scored_precision_at_k(Y, S, **options) == pytest.approx(sum(gained) / sum(best))
        assert np.nanmean(each) == pytest.approx(sum(gained) / sum(best))


def test_no_measure_is_without_a_twin():
    twins = {metric.__name__ for metric, *_ in SCORE_TWINS + PREDICTION_TWINS + PROBABILITY_TWINS}
    assert twins | {"propensity_scored_precision_at_k"} == set(metrics.METRICS)
