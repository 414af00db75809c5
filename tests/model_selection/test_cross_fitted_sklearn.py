"""All of scikit-learn's estimator checks, without an expected failure."""

import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from spmld import GLOCAL
from spmld.model_selection import CalibratedClassifier, ThresholdClassifier

INNER = [LogisticRegression(), RidgeClassifier(), GLOCAL()]
MODELS = [
    model
    for inner in INNER
    for model in (
        *(
            ThresholdClassifier(inner, method=method, cv=3, random_state=0)
            for method in ("f1", "proportional", "top_k")
        ),
        *(CalibratedClassifier(inner, method=method, cv=3, random_state=0) for method in ("sigmoid", "isotonic")),
    )
]


# Labels that cannot be tuned are named in a warning, and the checks have some.
@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks(MODELS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
