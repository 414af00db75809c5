"""Estimators by kind, for tests that apply to all estimators of a kind."""

from spmld import (
    GLOCAL,
    LEML,
    MLLRC,
    SPMLD,
    LabelPrior,
    MaskedBoosting,
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
    MaskedBoosting,
    MaskedRidge,
    MLkNN,
    PerLabelClassifier,
    SelfPacedClassifier,
    SelfPacedEnsemble,
]
ESTIMATORS = [*LEARNERS, LabelPrior]


def make(cls, **options):
    """Return a deterministic estimator, with a seed if it draws random numbers."""
    seed = {"random_state": 0} if "random_state" in cls().get_params() else {}
    return cls(**seed, **options)
