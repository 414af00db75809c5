"""Each measure equals a slow twin that walks over the observed entries, and depends on nothing else."""

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


INSTANCES, LABELS, POOL = "instances", "labels", "pool"

SCORE_TWINS = [
    (metrics.ranking_loss, {}, ranking_loss, INSTANCES),
    (metrics.instance_auc, {}, auc, INSTANCES),
    (metrics.macro_auc, {}, auc, LABELS),
    (metrics.micro_auc, {}, auc, POOL),
    (metrics.coverage, {}, coverage, INSTANCES),
    (metrics.coverage, {"normalised": True}, normalised_coverage, INSTANCES),
    (metrics.label_ranking_average_precision, {}, average_precision, INSTANCES),
    (metrics.macro_average_precision, {}, average_precision, LABELS),
]
PREDICTION_TWINS = [
    (metrics.instance_f1, {}, f1, INSTANCES),
    (metrics.macro_f1, {}, f1, LABELS),
    (metrics.micro_f1, {}, f1, POOL),
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


def names(twins):
    return pytest.mark.parametrize(
        ("measure", "options", "twin", "over"), twins, ids=[f"{t[0].__name__}-{t[1]}" for t in twins]
    )


def check_twin(measure, options, twin, over, Y, values):
    expected = walk(twin, over, Y, values)
    defined = [v for v in expected if not math.isnan(v)]
    if over != POOL:
        np.testing.assert_allclose(measure(Y, values, average=None, **options), expected, rtol=0, atol=1e-12)
    if defined:
        assert measure(Y, values, **options) == pytest.approx(sum(defined) / len(defined), abs=1e-12)
    else:
        with pytest.warns(UndefinedMetricWarning, match=measure.__name__):
            assert math.isnan(measure(Y, values, **options))


@names(SCORE_TWINS)
@settings(max_examples=80, deadline=None)
@given(case=score_cases)
def test_a_measure_of_scores_equals_its_twin(measure, options, twin, over, case):
    check_twin(measure, options, twin, over, *case)


@names(PREDICTION_TWINS)
@settings(max_examples=80, deadline=None)
@given(case=prediction_cases)
def test_a_measure_of_predictions_equals_its_twin(measure, options, twin, over, case):
    check_twin(measure, options, twin, over, *case)
