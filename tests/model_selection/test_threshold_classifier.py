"""ThresholdClassifier: decisions from calibrated out-of-fold scores, and their effect on new samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

from spmld.model_selection import CalibratedClassifier, DecisionRule, ThresholdClassifier
from spmld.noise.calibration import CALIBRATIONS

from .classifier_cases import Ridge, make_data


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("decision", ["f1", "macro_f1", 0.3, 2])
def test_decisions_are_those_of_calibrated_out_of_fold_scores(calibration, decision):
    X, Y = make_data()
    cv = KFold(4)
    model = ThresholdClassifier(Ridge(), decision=decision, calibration=calibration, cv=cv).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in cv.split(X):
        scores[test] = Ridge().fit(X[train], Y[train]).decision_function(X[test])
    fitted = CALIBRATIONS[calibration]().fit(scores, np.where(np.isnan(Y), 0, 2 * Y - 1).astype(np.int8))
    P = fitted.probabilities(Ridge().fit(X, Y).decision_function(X))
    rule = DecisionRule(decision=decision).fit(fitted.probabilities(scores))
    assert model.estimator_.fitted_on_ == len(X)
    assert_allclose(model.predict_proba(X), P)
    assert_array_equal(model.predict(X), rule.positive(P))
    if decision in ("macro_f1", 0.3):
        assert_allclose(model.thresholds_, rule.thresholds_)
    else:
        assert model.thresholds_ is None
    assert_array_equal(
        model.predict_proba(X), CalibratedClassifier(Ridge(), method=calibration, cv=cv).fit(X, Y).predict_proba(X)
    )


def test_the_default_has_a_higher_f1_than_one_half_on_new_samples_and_does_not_predict_too_many_labels():
    X, Y = make_data(3000, 12, missing=0.5, noise=3.0)
    truth = make_data(3000, 12, missing=0.0, noise=3.0)[1][1500:]
    model = ThresholdClassifier(Ridge(), random_state=0).fit(X[:1500], Y[:1500])
    half = ThresholdClassifier(Ridge(), decision=0.5, random_state=0).fit(X[:1500], Y[:1500])
    for average in ("micro", "macro", "samples"):
        f1 = [f1_score(truth, m.predict(X[1500:]), average=average, zero_division=0) for m in (half, model)]
        assert f1[1] > f1[0] + 0.1
    assert truth.sum() < model.predict(X[1500:]).sum() < 2 * truth.sum()
