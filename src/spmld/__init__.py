"""Multi-label learning when labels are missing or wrong."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spmld.estimators import (
        GLOCAL,
        LEML,
        MLLRC,
        SPMLD,
        SPMLDCV,
        LabelPrior,
        MaskedLogistic,
        MaskedRidge,
        MLkNN,
        PerLabelClassifier,
        SelfPacedClassifier,
    )

__all__ = [
    "GLOCAL",
    "LEML",
    "MLLRC",
    "SPMLD",
    "SPMLDCV",
    "LabelPrior",
    "MLkNN",
    "MaskedLogistic",
    "MaskedRidge",
    "PerLabelClassifier",
    "SelfPacedClassifier",
    "__version__",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The estimators, imported when they are first asked for, so that the command line answers at once."""
    if name not in __all__:
        raise AttributeError(f"module 'spmld' has no attribute {name!r}")
    import spmld.estimators

    return getattr(spmld.estimators, name)


def __dir__() -> list[str]:
    return sorted(__all__)
