"""Saving and loading models without executing code from the file, and exporting them for other programs."""

from spmld.persistence.checkpoint import Checkpoint
from spmld.persistence.model_file import ModelFileError, ModelInfo, load, model_info, save
from spmld.persistence.onnx_export import export_onnx

__all__ = [
    "Checkpoint",
    "ModelFileError",
    "ModelInfo",
    "export_onnx",
    "load",
    "model_info",
    "save",
]
