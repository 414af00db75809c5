"""Multi-label learning when labels are missing or wrong."""

from spmld.estimators import (
    GLOCAL,
    SPMLD,
    LabelPrior,
    MaskedLogistic,
    MaskedRidge,
    MLkNN,
    PerLabelClassifier,
)

__all__ = [
    "GLOCAL",
    "SPMLD",
    "LabelPrior",
    "MLkNN",
    "MaskedLogistic",
    "MaskedRidge",
    "PerLabelClassifier",
    "__version__",
]

__version__ = "0.1.0"
