"""Estimators by kind, for tests that apply to all estimators of a kind."""

from spmld import (
    GLOCAL,
    LEML,
    MLLRC,
    SPMLD,
    LabelPrior,
    MaskedBoosting,
    MaskedForest,
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
    MaskedForest,
    MaskedRidge,
    MLkNN,
    PerLabelClassifier,
    SelfPacedClassifier,
    SelfPacedEnsemble,
]
ESTIMATORS = [*LEARNERS, LabelPrior]


def make(cls, **options):
    """Return a deterministic estimator, with a seed if it draws random numbers, and with few trees."""
    parameters = cls().get_params()
    fixed = {"random_state": 0, "n_trees": (20, 40), **({"n_estimators": 20} if cls is MaskedForest else {})}
    return cls(**{**{name: value for name, value in fixed.items() if name in parameters}, **options})
