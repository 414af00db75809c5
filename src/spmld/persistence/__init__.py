"""Saving and loading models without executing code from the file, and exporting linear predictors."""

from spmld.persistence.checkpoint import Checkpoint
from spmld.persistence.checksum import ModelFileError
from spmld.persistence.exports import export_npz, export_onnx
from spmld.persistence.linear import Linear, linear_predictor
from spmld.persistence.model_file import ModelInfo, load, model_info, save

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
