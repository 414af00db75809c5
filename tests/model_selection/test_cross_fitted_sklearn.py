"""scikit-learn's estimator checks. Two of them require that labels are predicted at a probability of 0.5."""

import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from spmld import GLOCAL
from spmld.model_selection import CalibratedClassifier, ThresholdClassifier
from spmld.model_selection.calibration import CALIBRATIONS

INNER = [LogisticRegression(), RidgeClassifier(), GLOCAL()]
MODELS = [
    model
    for inner in INNER
    for model in (
        *(ThresholdClassifier(inner, decision=decision, cv=3, random_state=0) for decision in ("f1", "micro_f1", 0.5)),
        *(CalibratedClassifier(inner, method=method, cv=3, random_state=0) for method in CALIBRATIONS),
    )
]


def expected_failures(model):
    if isinstance(getattr(model, "decision", 0.5), float):
        return {}
    return dict.fromkeys(
        ["check_classifiers_train", "check_classifier_multioutput"], "The threshold of probabilities is not 0.5"
    )


# Labels that cannot be calibrated are named in a warning, and the checks have some.
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
