"""scikit-learn's estimator checks."""

import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from spmld import GLOCAL
from spmld.model_selection import CalibratedClassifier, ThresholdClassifier
from spmld.noise.calibration import CALIBRATIONS

INNER = [LogisticRegression(), RidgeClassifier(), GLOCAL()]
MODELS = [
    model
    for inner in INNER
    for model in (
        *(ThresholdClassifier(inner, decision=decision, cv=3, random_state=0) for decision in ("f1", "micro_f1", 0.5)),
        *(CalibratedClassifier(inner, method=method, cv=3, random_state=0) for method in CALIBRATIONS),
    )
]


# Labels that cannot be calibrated are named in a warning, and the checks have some.
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(MODELS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
