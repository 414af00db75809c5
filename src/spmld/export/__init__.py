"""Saving and loading models without executing code from the file, and exporting them for other programs."""

from spmld.export.checkpoint import Checkpoint
from spmld.export.model_file import ModelFileError, ModelInfo, load, model_info, save
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
