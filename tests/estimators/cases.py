"""Estimators of each kind, for tests that all of a kind must pass."""

from spmld import (
    GLOCAL,
    LEML,
    MLLRC,
    SPMLD,
    LabelPrior,
    MaskedLogistic,
    MaskedRidge,
    MLkNN,
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
    MaskedRidge,
    MLkNN,
    PerLabelClassifier,
    SelfPacedClassifier,
    SelfPacedEnsemble,
]
ESTIMATORS = [*LEARNERS, LabelPrior]


def make(cls, **options):
    """An estimator that gives the same answers each time, seeded if it draws random numbers."""
    seed = {"random_state": 0} if "random_state" in cls().get_params() else {}
    return cls(**seed, **options)
