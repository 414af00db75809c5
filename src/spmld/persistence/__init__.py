"""Saving and loading models without executing code from the file, and exporting them for other programs."""

from spmld.persistence.checkpoint import Checkpoint
from spmld.persistence.linear import Linear, export_npz, linear_predictor
from spmld.persistence.model_file import ModelFileError, ModelInfo, load, model_info, save
from spmld.persistence.onnx_export import export_onnx

__all__ = [
    "Checkpoint",
    "Linear",
    "ModelFileError",
    "ModelInfo",
    "export_npz",
    "export_onnx",
    "linear_predictor",
    "load",
    "model_info",
    "save",
]
