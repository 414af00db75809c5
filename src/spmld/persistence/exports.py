"""Exporting linear predictors for other programs: NumPy archives and ONNX."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

import spmld
from spmld._io import StrPath, need, writing
from spmld.estimators.probabilities import BEND
from spmld.persistence.linear import Linear, linear_predictor
from spmld.persistence.names import check_names

# Supported by every runtime since 2021. The graph needs nothing newer.
_OPSET, _IR = 13, 8


def export_npz(
    model: Any, path: StrPath, *, label_names: Sequence[str] | None = None, feature_names: Sequence[str] | None = None
) -> None:
    """Write a linear predictor to a NumPy archive, for programs without spmld.

    The arrays are ``coef``, ``intercept``, ``thresholds``, ``label_names``, ``feature_names`` and ``link``, see
    `spmld.persistence.Linear`: scores are ``X @ coef.T + intercept``, and a label is positive above its threshold.

    Parameters
    ----------
    model : fitted estimator
        Any model that `spmld.persistence.linear_predictor` accepts.
    path : str or path-like
        File to write.
    label_names, feature_names : sequence of str, optional
        Names of the labels and features. By default, those seen during fit, or y0, y1, ... and x0, x1, ...

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
    predictor = _add_names(linear_predictor(model), label_names, feature_names)
    arrays = {name: np.array(getattr(predictor, name)) for name in Linear.__dataclass_fields__}
    with writing(path) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def export_onnx(
    model: Any,
    path: StrPath,
    *,
    dtype: Literal["float32", "float64"] = "float32",
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> None:
    """Export a linear predictor to an ONNX graph, for runtimes without Python.

    The input ``X`` has shape (n_samples, n_features). The outputs ``scores``, ``probabilities`` and ``labels`` (0 and
    1) have shape (n_samples, n_labels). Names and thresholds are in the metadata of the graph, as JSON.

    Parameters
    ----------
    model, path, label_names, feature_names
        As in `export_npz`.
    dtype : {"float32", "float64"}, default="float32"
        Precision of input, weights and scores. With float32, scores differ from those of the model by rounding errors
        of about 1e-6.

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
    predictor = _add_names(linear_predictor(model), label_names, feature_names)
    graph = _make_graph(onnx, predictor, np.dtype(dtype))
    exported = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", _OPSET)], ir_version=_IR, producer_name="spmld"
    )
    exported.producer_version = spmld.__version__
    for name in ("label_names", "feature_names", "thresholds", "link"):
        value = getattr(predictor, name)
        entry = exported.metadata_props.add()
        entry.key, entry.value = name, json.dumps(value.tolist() if isinstance(value, np.ndarray) else value)
    onnx.checker.check_model(exported)
    with writing(path) as part:
        part.write_bytes(exported.SerializeToString())


def _add_names(predictor: Linear, labels: Sequence[str] | None, features: Sequence[str] | None) -> Linear:
    l, d = predictor.coef.shape
    labels = check_names(labels, l, "label") or predictor.label_names or [f"y{i}" for i in range(l)]
    features = check_names(features, d, "feature") or predictor.feature_names or [f"x{i}" for i in range(d)]
    return replace(predictor, label_names=labels, feature_names=features)


def _make_graph(onnx: Any, predictor: Linear, dtype: Any) -> Any:
    """Return a graph that computes the scores, the probabilities by the link, and the labels by the thresholds."""
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    l, d = predictor.coef.shape
    nodes: list[Any] = []
    constants: dict[str, Any] = {"coef": predictor.coef.T, "intercept": predictor.intercept}
    constants["thresholds"] = predictor.thresholds

    def add(operation: str, inputs: Sequence[str], output: str, **options: Any) -> str:
        nodes.append(helper.make_node(operation, inputs, [output], **options))
        return output

    add("MatMul", ["X", "coef"], "products")
    add("Add", ["products", "intercept"], "scores")
    if predictor.link == "logistic":
        add("Sigmoid", ["scores"], "probabilities")
    else:
        constants |= {"half": 0.5, "one": 1.0, "bend": BEND, "straight": 1 - BEND}
        add("Abs", ["scores"], "sizes")
        add("Min", ["sizes", "straight"], "kept")
        add("Sub", ["sizes", "kept"], "excess")
        add("Add", ["excess", "bend"], "room")
        add("Div", ["excess", "room"], "fraction")
        add("Mul", ["fraction", "bend"], "bent")
        add("Add", ["kept", "bent"], "size")
        add("Sign", ["scores"], "signs")
        add("Mul", ["signs", "size"], "signed")
        add("Add", ["signed", "one"], "doubled")
        add("Mul", ["doubled", "half"], "probabilities")
    add("Greater", ["scores", "thresholds"], "above")
    add("Cast", ["above"], "labels", to=onnx.TensorProto.INT64)
    outputs = [("scores", kind), ("probabilities", kind), ("labels", onnx.TensorProto.INT64)]
    return helper.make_graph(
        nodes,
        "spmld",
        [helper.make_tensor_value_info("X", kind, ["n_samples", d])],
        [helper.make_tensor_value_info(name, type_, ["n_samples", l]) for name, type_ in outputs],
        [numpy_helper.from_array(np.asarray(value, dtype=dtype), name) for name, value in constants.items()],
    )
