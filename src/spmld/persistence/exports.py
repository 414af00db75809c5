"""Linear predictors for other programs: plain arrays, and ONNX."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

import spmld
from spmld._io import need, writing
from spmld.estimators.probabilities import BEND
from spmld.persistence.linear import Linear, linear_predictor

__all__ = ["export_npz", "export_onnx"]

# Read by every runtime since 2021; newer ones have nothing that the graph needs.
_OPSET, _IR = 13, 8


def export_npz(
    model: Any,
    path: str | os.PathLike[str],
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> None:
    """Write a linear predictor as plain arrays, which any program with NumPy can read.

    The arrays are ``coef``, ``intercept``, ``thresholds``, ``label_names``, ``feature_names`` and ``link``, see
    `spmld.persistence.Linear`: scores are ``X @ coef.T + intercept``, and a label is positive above its threshold.

    Parameters
    ----------
    model : fitted estimator
        One that `spmld.persistence.linear_predictor` takes.
    path : str or path
        The file, which is complete or absent.
    label_names, feature_names : sequence of str, optional
        By default the names that the model has from its fit, or y0, y1, ... and x0, x1, ...

    Examples
    --------
    >>> import tempfile, numpy as np, spmld
    >>> model = spmld.MaskedLogistic().fit([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spmld.export_npz(model, folder + "/model.npz")
    ...     with np.load(folder + "/model.npz") as arrays:
    ...         scores = [[0.5]] @ arrays["coef"].T + arrays["intercept"]
    >>> bool(np.allclose(scores, model.decision_function([[0.5]])))
    True
    """
    found = _named(linear_predictor(model), label_names, feature_names)
    arrays = {name: np.array(getattr(found, name)) for name in Linear.__dataclass_fields__}
    with writing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def export_onnx(
    model: Any,
    path: str | os.PathLike[str],
    *,
    dtype: Literal["float32", "float64"] = "float32",
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> None:
    """Write a linear predictor as an ONNX graph, for runtimes without Python.

    The input ``X`` has shape (n_samples, n_features); the outputs ``scores``, ``probabilities`` and ``labels``, the
    last of 0 and 1, have shape (n_samples, n_labels). Names and thresholds stand in the metadata of the graph as JSON.

    Parameters
    ----------
    model : fitted estimator
        One that `spmld.persistence.linear_predictor` takes.
    path : str or path
        The file, which is complete or absent.
    dtype : {"float32", "float64"}
        Precision of input, weights and scores. float32 differs from the model by rounding, about 1e-6 of the score.
    label_names, feature_names : sequence of str, optional
        By default the names that the model has from its fit, or y0, y1, ... and x0, x1, ...

    Examples
    --------
    >>> import tempfile, spmld
    >>> model = spmld.MaskedLogistic().fit([[0.0], [1.0]], [[1, 0], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spmld.export_onnx(model, folder + "/model.onnx")
    """
    if dtype not in ("float32", "float64"):
        raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
    onnx = need("onnx", "onnx")
    found = _named(linear_predictor(model), label_names, feature_names)
    graph = _graph(onnx, found, np.dtype(dtype))
    made = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", _OPSET)], ir_version=_IR, producer_name="spmld"
    )
    made.producer_version = spmld.__version__
    for name in ("label_names", "feature_names", "thresholds", "link"):
        value = getattr(found, name)
        entry = made.metadata_props.add()
        entry.key, entry.value = name, json.dumps(value.tolist() if isinstance(value, np.ndarray) else value)
    onnx.checker.check_model(made)
    with writing(path) as part:
        part.write_bytes(made.SerializeToString())


def _named(found: Linear, labels: Sequence[str] | None, features: Sequence[str] | None) -> Linear:
    names: dict[str, Any] = {}
    sizes = (("label", labels, "y", len(found.coef)), ("feature", features, "x", found.coef.shape[1]))
    for what, given, letter, count in sizes:
        chosen = given if given is not None else getattr(found, f"{what}_names")
        listed = [f"{letter}{i}" for i in range(count)] if chosen is None else [str(name) for name in chosen]
        if len(listed) != count:
            raise ValueError(f"{what}_names must name the {count} {what}s of the model, got {len(listed)}")
        names[f"{what}_names"] = listed
    return replace(found, **names)


def _graph(onnx: Any, found: Linear, dtype: Any) -> Any:
    """Scores by a product and a sum; probabilities by the link; labels by the thresholds."""
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    l, d = found.coef.shape
    nodes: list[Any] = []
    constants: dict[str, Any] = {"coef": found.coef.T, "intercept": found.intercept, "thresholds": found.thresholds}

    def step(operation: str, inputs: Sequence[str], output: str, **options: Any) -> str:
        nodes.append(helper.make_node(operation, inputs, [output], **options))
        return output

    step("MatMul", ["X", "coef"], "products")
    step("Add", ["products", "intercept"], "scores")
    if found.link == "logistic":
        step("Sigmoid", ["scores"], "probabilities")
    else:
        constants |= {"half": 0.5, "one": 1.0, "bend": BEND, "straight": 1 - BEND}
        step("Abs", ["scores"], "sizes")
        step("Min", ["sizes", "straight"], "kept")
        step("Sub", ["sizes", "kept"], "excess")
        step("Add", ["excess", "bend"], "room")
        step("Div", ["excess", "room"], "share")
        step("Mul", ["share", "bend"], "bent")
        step("Add", ["kept", "bent"], "size")
        step("Sign", ["scores"], "signs")
        step("Mul", ["signs", "size"], "signed")
        step("Add", ["signed", "one"], "doubled")
        step("Mul", ["doubled", "half"], "probabilities")
    step("Greater", ["scores", "thresholds"], "above")
    step("Cast", ["above"], "labels", to=onnx.TensorProto.INT64)
    outputs = [("scores", kind), ("probabilities", kind), ("labels", onnx.TensorProto.INT64)]
    return helper.make_graph(
        nodes,
        "spmld",
        [helper.make_tensor_value_info("X", kind, ["n_samples", d])],
        [helper.make_tensor_value_info(name, type_, ["n_samples", l]) for name, type_ in outputs],
        [numpy_helper.from_array(np.asarray(value, dtype=dtype), name) for name, value in constants.items()],
    )
