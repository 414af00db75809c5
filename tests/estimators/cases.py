"""Estimators by kind, for tests that apply to all estimators of a kind."""

from spmld import (
    GLOCAL,
    LEML,
    MLLRC,
    SPMLD,
    HierarchicalClassifier,
    LabelBoosting,
    LabelPrior,
    MaskedBoosting,
    MaskedForest,
    MaskedLogistic,
    MaskedRidge,
    PerLabelClassifier,
    SelfPacedClassifier,
    SelfPacedEnsemble,
)

LATENT = [GLOCAL, SPMLD]
LEARNERS = [
    *LATENT,
    LEML,
    MLLRC,
    MaskedLogistic,
    MaskedBoosting,
    LabelBoosting,
    MaskedForest,
    MaskedRidge,
    PerLabelClassifier,
    SelfPacedClassifier,
    SelfPacedEnsemble,
]
ESTIMATORS = [*LEARNERS, LabelPrior]


def make(cls, **options):
    """Return a deterministic estimator, with a seed if it draws random numbers, few trees and a short path."""
    parameters = cls().get_params()
    fixed = {"random_state": 0, **({"n_estimators": 20} if cls in (LabelBoosting, MaskedForest) else {})}
    fixed |= {"n_trees": (20,), "Cs": (3.0, 30.0), "alphas": (0.3, 3.0), "n_landmarks": 40}  # of the ensemble
    if cls is HierarchicalClassifier:
        fixed["estimator"] = MaskedLogistic()
    return cls(**{**{name: value for name, value in fixed.items() if name in parameters}, **options})
