"""Models on disk: files that can be loaded without running what they hold, and exports of linear predictors."""

from spmld.files.exports import export_npz, export_onnx
from spmld.files.linear import Linear, linear_predictor
from spmld.files.model import ModelInfo, load, model_info, save
from spmld.files.seal import ModelFileError

__all__ = [
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
