"""Models of every kind and data to fit them on, for the tests of model files and exports."""

import warnings
from functools import cache

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from spmld import GLOCAL, LEML, SPMLD, LabelPrior, MaskedLogistic, MaskedRidge, PerLabelClassifier, SelfPacedClassifier
from spmld.datasets import make_planted
from spmld.estimators import ThresholdClassifier
from spmld.labels import hide_labels
from spmld.model_selection import MultilabelStratifiedKFold
from spmld.pacing import DiversePacing, GeometricSchedule
from tests.estimators.cases import ESTIMATORS, make

DATA = make_planted(n_samples=160, n_features=8, n_labels=5, n_components=3, random_state=0)
X = DATA.X
Y = hide_labels(DATA.Y, observed_fraction=0.6, random_state=0)

PLAIN = {cls.__name__: make(cls) for cls in ESTIMATORS}
OTHERS = {
    "paper": SPMLD.paper(max_iter=3, random_state=0),
    "diverse": SPMLD(pacing=DiversePacing(schedule=GeometricSchedule()), random_state=0),
    "random_state": GLOCAL(random_state=np.random.RandomState(0)),
    "paced_logistic": SelfPacedClassifier(LogisticRegression()),
    "paced_glocal": SelfPacedClassifier(GLOCAL(random_state=0), max_iter=4),
    "svm": PerLabelClassifier(LinearSVC()),
    "decision_f1": ThresholdClassifier(MaskedLogistic(), cv=3, random_state=0),
    "decision_micro_f1": ThresholdClassifier(MaskedLogistic(), decision="micro_f1", cv=3, random_state=0),
    "decision_macro_f1": ThresholdClassifier(
        MaskedRidge(), decision="macro_f1", cv=MultilabelStratifiedKFold(3, random_state=0)
    ),
    "decision_0.3": ThresholdClassifier(LabelPrior(), decision=0.3, cv=3, random_state=0),
    "decision_2": ThresholdClassifier(MaskedRidge(), decision=2, random_state=0),
    "calibrated": ThresholdClassifier(MaskedLogistic(), decision=0.5, cv=3, random_state=0),
    "calibrated_twice": ThresholdClassifier(
        ThresholdClassifier(MaskedRidge(), decision=0.5, cv=3), decision=0.5, cv=3, random_state=0
    ),
}
MODELS = {**PLAIN, **OTHERS}
NOT_LINEAR = [
    "MaskedBoosting",
    "LabelBoosting",
    "MaskedForest",
    "SelfPacedEnsemble",
    "decision_f1",
    "decision_2",
    "calibrated_twice",
]
LINEAR = {
    **{name: PLAIN[name] for name in PLAIN if name not in NOT_LINEAR},
    **{name: OTHERS[name] for name in OTHERS if name not in NOT_LINEAR},
    "ridge_classifier": PerLabelClassifier(RidgeClassifier()),
    "squared_leml": LEML(loss="squared", random_state=0),
}


@cache
def fitted(name):
    """Return a model that is fitted once for all tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**LINEAR, **MODELS}[name].fit(X, Y)


def predictions(model, X=X):
    """Return the predictions of a model by the name of the method."""
    methods = ("predict", "decision_function", "predict_proba")
    return {method: getattr(model, method)(X) for method in methods if hasattr(model, method)}
