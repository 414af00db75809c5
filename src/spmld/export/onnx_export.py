"""Exporting models and pipelines to ONNX."""

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.utils.validation import check_is_fitted

import spmld
from spmld._io import StrPath, need, writing
from spmld._validation import list_names
from spmld.export.onnx_graph import ALIAS, Formula, Operators, Tensor, unsupported
from spmld.export.onnx_models import decisions, predictions
from spmld.export.onnx_transformers import TRANSFORMERS
from spmld.inspection.model_parts import check_names, feature_names_of, first_step, label_names_of
from spmld.tables import TableEncoder

# Supported by every runtime since 2022. The graph needs nothing newer.
_OPSETS = {"": 15, "ai.onnx.ml": 2}
_OUTPUTS = ("scores", "probabilities", "labels")
_LOCALES = {"darwin": "en_US.UTF-8", "win32": "en-US"}


def export_onnx(
    model: Any,
    path: StrPath,
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    locale: str | None = None,
) -> None:
    r"""Export a model or a pipeline to an ONNX graph, for runtimes without Python.

    The outputs ``scores``, ``probabilities`` and ``labels`` have shape (n_samples, n_labels). Labels are 0 and 1 in all
    graphs, also where those of the model are -1 and 1, or words. The inputs depend on the first step:

    - ``X``, numbers of shape (n_samples, n_features), or texts of shape (n_samples, 1) for a text vectorizer.
    - For a `ColumnTransformer` that is fitted on a DataFrame, an input of shape (n_samples, 1) for each column:
      numbers, or strings for text and categories. Its name is that of the column, with underscores for characters that
      ONNX does not allow.
    - For a `TableEncoder`, the same for the columns ``model.transformer_.feature_names_in_``. They are prepared
      outside of the graph: numbers as floats, NaN where missing, without units and separators; strings without missing
      values; and for each date the numbers that `spmld.tables.dates.date_parts` returns.

    Numbers are in single precision: probabilities differ from those of the model by about 1e-6, and by more if a
    feature far from zero varies little. The names of labels and features, in the order of the outputs and
    inputs, are in the metadata of the graph, as JSON.

    Parameters
    ----------
    model : fitted estimator
        A `SelfPacedEnsemble` with built-in views, `MaskedBoosting`, `MaskedForest`, a linear model, or a
        `PerLabelClassifier` or ``MultiOutputClassifier`` of classifiers with ``predict_proba``; a `ThresholdClassifier`
        or `SelfPacedClassifier` of these; or a pipeline or search of scikit-learn with one of these at its end, and
        transformers that skl2onnx accepts before it.
    path : str or path-like
        File to write.
    label_names, feature_names : sequence of str, optional
        Names of the labels and features. By default, those seen during fit, or y0, y1, ... and x0, x1, ...
    locale : str, optional
        Locale of the runtime, which converts text to lower case: by default "C.UTF-8" on Linux, "en_US.UTF-8" on macOS
        and "en-US" on Windows. Pass another one to run the graph on another system.

    Warns
    -----
    UserWarning
        If labels are not 0 and 1 in the predictions of the model.

    Notes
    -----
    Graphs of text need onnxruntime, because the operator that splits texts into words is not part of ONNX itself.
    Texts are split as in Python, also if they are not English. Two capital letters are converted to lower
    case in another way than in Python: the Greek letter :math:`\Sigma` at the end of a word, and the Turkish dotted I.
    Vectorizers must have the default ``analyzer`` and ``token_pattern`` (or the pattern of words with one letter).

    Examples
    --------
    >>> import tempfile, spmld
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> songs, tags = ["slow rain", "fast dance", "slow night", "fast sun"] * 5, [[1, 0], [0, 1]] * 10
    >>> model = make_pipeline(TfidfVectorizer(), spmld.MaskedLogistic()).fit(songs, tags)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spmld.export_onnx(model, folder + "/model.onnx")
    """
    onnx, skl2onnx = need("onnx", "onnx"), need("skl2onnx", "onnx")
    check_is_fitted(model)
    skl2onnx.update_registered_converter(Formula, ALIAS, Formula.infer_shapes, Formula.convert)
    inputs = _inputs(model, skl2onnx.common.data_types)
    locale = locale or _LOCALES.get(sys.platform, "C.UTF-8")
    declared = {**TRANSFORMERS, _Exported: _exported}
    parsers = {cls: partial(_parse, declare, locale) for cls, declare in declared.items()}
    try:
        exported = skl2onnx.convert_sklearn(
            _Exported(model), "spmld", inputs, target_opset=_OPSETS, custom_parsers=parsers, options={}
        )
    except (RuntimeError, NotImplementedError, TypeError) as error:
        raise ValueError(f"skl2onnx cannot convert a part of the model. {error}") from error
    inputs = _without_unused(exported.graph, inputs)
    l, d = exported.graph.output[0].type.tensor_type.shape.dim[1].dim_value, sum(kind.shape[1] for _, kind in inputs)
    columns = [name for name, _ in inputs] if len(inputs) > 1 else feature_names_of(model)
    features = check_names(feature_names, d, "feature") or columns or [f"x{j}" for j in range(d)]
    labels = check_names(label_names, l, "label") or label_names_of(model) or [f"y{j}" for j in range(l)]
    exported.producer_name, exported.producer_version = "spmld", spmld.__version__
    for name, value in {"label_names": labels, "feature_names": features}.items():
        entry = exported.metadata_props.add()
        entry.key, entry.value = name, json.dumps(value)
    onnx.checker.check_model(exported)
    if classes := _other_classes(model):
        warnings.warn(
            f"labels are 0 and 1 in {path}, but {list_names(classes)} in the predictions of the model", stacklevel=2
        )
    with writing(path) as part:
        part.write_bytes(exported.SerializeToString())


def _other_classes(model: Any) -> list[Any]:
    """Return the classes that a model predicts, or no classes if they are 0 and 1."""
    classes = getattr(model, "classes_", [])
    pairs = classes if isinstance(classes, list) else [classes]  # classifiers for each label have a list
    found = {value for pair in pairs if len(pair) == 2 for value in pair.tolist()}  # OneVsRestClassifier has indices
    return [] if found <= {0, 1} else sorted(found)


def _inputs(model: Any, types: Any) -> list[tuple[str, Any]]:
    """Return the names and types of the inputs of the graph."""
    first = first_step(model)
    first = first.transformer_ if isinstance(first, TableEncoder) else first
    if isinstance(first, ColumnTransformer) and hasattr(first, "feature_names_in_"):
        texts = {
            int(column)
            for name, columns in first._transformer_to_input_indices.items()
            for i, column in enumerate(columns)
            if _reads_text(first.named_transformers_[name], i)
        }
        reserved = [name for name in first.feature_names_in_ if name in _OUTPUTS]
        if reserved:
            raise ValueError(f"columns must not have the names of outputs of the graph, got {reserved}; rename them")
        kinds = (types.StringTensorType if i in texts else types.FloatTensorType for i in range(first.n_features_in_))
        return [(str(name), kind([None, 1])) for name, kind in zip(first.feature_names_in_, kinds, strict=True)]
    if hasattr(first, "vocabulary_"):
        return [("X", types.StringTensorType([None, 1]))]
    if not hasattr(first, "n_features_in_"):
        raise unsupported(type(first).__name__ + " as its first step")
    return [("X", types.FloatTensorType([None, first.n_features_in_]))]


def _reads_text(transformer: Any, column: int) -> bool:
    """Return whether a column of a transformer contains strings."""
    first = first_step(transformer)
    if hasattr(first, "categories_"):
        return first.categories_[column].dtype.kind in "OUT"
    return hasattr(first, "vocabulary_") or getattr(first, "statistics_", np.zeros(0)).dtype.kind in "OUT"


def _without_unused(graph: Any, inputs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Delete the inputs of a graph that no node has, such as columns that are dropped, and return the others."""
    used = {name for node in graph.node for name in node.input}
    kept = [graph_input.name in used for graph_input in graph.input]
    for i in np.flatnonzero(~np.array(kept))[::-1]:
        del graph.input[i]
    return [given for given, keep in zip(inputs, kept, strict=True) if keep]


@dataclass(frozen=True)
class _Exported:
    """The model that is exported; its parser returns the outputs of the graph."""

    model: Any


def _parse(
    declare: Callable[..., Any], locale: str, scope: Any, model: Any, inputs: Any, custom_parsers: Any = None
) -> Any:
    """Declare the operators of a part of the model; a parser of skl2onnx."""
    return declare(Operators(scope, custom_parsers, locale), model, inputs)


def _exported(build: Operators, exported: _Exported, inputs: Any) -> list[Any]:
    """Declare the outputs of the graph."""
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType

    scores, probabilities, rule = predictions(build, exported.model, inputs)
    n_labels = scores.type.shape[1]

    def function(s: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return s, p, decisions(s, p, rule)

    operator = build.scope.declare_local_operator(ALIAS, Formula(function))
    operator.inputs = [scores, probabilities]
    for name, kind in zip(_OUTPUTS, (FloatTensorType, FloatTensorType, Int64TensorType), strict=True):
        operator.outputs.append(build.scope.declare_local_output(name, kind([None, n_labels])))
    return list(operator.outputs)
