"""Multi-label learning with missing and wrong labels."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spmld.ensemble import HierarchicalClassifier, SelfPacedEnsemble
    from spmld.estimators import (
        GLOCAL,
        LEML,
        MLLRC,
        SPMLD,
        LabelBoosting,
        LabelPrior,
        MaskedBoosting,
        MaskedForest,
        MaskedLogistic,
        MaskedRidge,
        PerLabelClassifier,
        SelfPacedClassifier,
    )
    from spmld.export import ModelInfo, export_onnx, load, model_info, save
    from spmld.inspection import explain, top_features

__all__ = [
    "GLOCAL",
    "LEML",
    "MLLRC",
    "SPMLD",
    "HierarchicalClassifier",
    "LabelBoosting",
    "LabelPrior",
    "MaskedBoosting",
    "MaskedForest",
    "MaskedLogistic",
    "MaskedRidge",
    "ModelInfo",
    "PerLabelClassifier",
    "SelfPacedClassifier",
    "SelfPacedEnsemble",
    "__version__",
    "explain",
    "export_onnx",
    "load",
    "model_info",
    "save",
    "top_features",
]

__version__ = "0.1.0"

_MODULES = {
    "spmld.ensemble": {"HierarchicalClassifier", "SelfPacedEnsemble"},
    "spmld.inspection": {"explain", "top_features"},
    "spmld.export": {"ModelInfo", "export_onnx", "load", "model_info", "save"},
}


def __getattr__(name: str) -> Any:
    """Import a name on first access, so that the command line starts fast."""
    if name not in __all__:
        raise AttributeError(f"module 'spmld' has no attribute {name!r}")
    import importlib

    module = next((module for module, names in _MODULES.items() if name in names), "spmld.estimators")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
