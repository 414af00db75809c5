"""Saving and loading models without executing code from the file, and exporting them for other programs."""

from typing import TYPE_CHECKING, Any

from spmld.export.model_file import ModelFileError, ModelInfo, load, model_info, save

if TYPE_CHECKING:
    from spmld.export.checkpoint import Checkpoint
    from spmld.export.onnx_export import export_onnx

__all__ = [
    "Checkpoint",
    "ModelFileError",
    "ModelInfo",
    "export_onnx",
    "load",
    "model_info",
    "save",
]


def __getattr__(name: str) -> Any:
    """Import what few programs use on first access, so that models are loaded fast."""
    if name == "Checkpoint":
        from spmld.export.checkpoint import Checkpoint

        return Checkpoint
    if name == "export_onnx":
        from spmld.export.onnx_export import export_onnx

        return export_onnx
    raise AttributeError(f"module 'spmld.export' has no attribute {name!r}")
