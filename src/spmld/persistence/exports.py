"""Exporting models for other programs: NumPy archives and ONNX."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

import spmld
from spmld._io import StrPath, need, writing
from spmld.estimators import SelfPacedEnsemble
from spmld.persistence.ensemble_arrays import ensemble_arrays
from spmld.persistence.linear import Linear, linear_predictor
from spmld.persistence.names import check_names, feature_names_of, label_names_of
from spmld.persistence.onnx_graph import GraphBuilder

# Supported by every runtime since 2021. The graph needs nothing newer.
_OPSET, _ML_OPSET, _IR = 13, 2, 8


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
    predictor = linear_predictor(model)
    l, d = predictor.coef.shape
    predictor = replace(
        predictor,
        label_names=_fill_names(label_names, predictor.label_names, l, "label"),
        feature_names=_fill_names(feature_names, predictor.feature_names, d, "feature"),
    )
    arrays = {name: np.array(getattr(predictor, name)) for name in Linear.__dataclass_fields__ if name != "center"}
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
    """Export a model to an ONNX graph, for runtimes without Python.

    The input ``X`` has shape (n_samples, n_features). The outputs ``scores``, ``probabilities`` and ``labels`` (0 and
    1) have shape (n_samples, n_labels). The names of labels and features and the decision are in the metadata of the
    graph, as JSON.

    Parameters
    ----------
    model : fitted estimator
        A `SelfPacedEnsemble` with built-in views, with its correction for label dependencies, calibration and
        decisions; or any model that `spmld.persistence.linear_predictor` accepts, with any `decision`.
    path, label_names, feature_names
        As in `export_npz`.
    dtype : {"float32", "float64"}, default="float32"
        Precision of input, weights and scores. With float32, scores differ from those of the model by rounding errors
        of about 1e-6 relative to the largest contribution of a feature minus its mean.

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
    builder = GraphBuilder(onnx, np.dtype(dtype))
    exported = onnx.helper.make_model(
        _add_model(builder, model, label_names, feature_names),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET), onnx.helper.make_opsetid("ai.onnx.ml", _ML_OPSET)],
        ir_version=_IR,
        producer_name="spmld",
    )
    exported.producer_version = spmld.__version__
    for name, value in builder.metadata.items():
        entry = exported.metadata_props.add()
        entry.key, entry.value = name, json.dumps(value)
    onnx.checker.check_model(exported)
    with writing(path) as part:
        part.write_bytes(exported.SerializeToString())


def _add_model(builder: GraphBuilder, model: Any, labels: Any, features: Any) -> Any:
    """Add the scores, probabilities and decisions of a model, and return the graph."""
    if isinstance(model, SelfPacedEnsemble):
        arrays = ensemble_arrays(model)
        builder.add_ensemble(arrays)
        builder.add_decisions(model.decision_rule_)
        l, d = len(arrays.own), model.n_features_in_
    else:
        rule = getattr(model, "decision_rule_", None)
        predictor = linear_predictor(model, decisions=rule is None)
        l, d = predictor.coef.shape
        builder.add_linear(predictor)
        if rule is None or rule.thresholds_ is not None:
            builder.add_thresholds(predictor.thresholds)
        else:
            builder.add_decisions(rule)
    builder.metadata |= {
        "label_names": _fill_names(labels, label_names_of(model), l, "label"),
        "feature_names": _fill_names(features, feature_names_of(model), d, "feature"),
    }
    return builder.graph(d, l)


def _fill_names(names: Any, fitted: list[str] | None, count: int, kind: str) -> list[str]:
    """Return the names that were passed, or else those seen during fit, or else numbered ones."""
    letter = "y" if kind == "label" else "x"
    return check_names(names, count, kind) or fitted or [f"{letter}{i}" for i in range(count)]
