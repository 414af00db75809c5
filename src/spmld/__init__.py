"""Multi-label learning when labels are missing or wrong."""

from spmld.estimators import (
    GLOCAL,
    SPMLD,
    LabelPrior,
    MaskedLogistic,
    MaskedRidge,
    MLkNN,
    PerLabelClassifier,
    SelfPacedClassifier,
)

__all__ = [
    "GLOCAL",
    "SPMLD",
    "LabelPrior",
    "MLkNN",
    "MaskedLogistic",
    "MaskedRidge",
    "PerLabelClassifier",
    "SelfPacedClassifier",
    "__version__",
]

__version__ = "0.1.0"
