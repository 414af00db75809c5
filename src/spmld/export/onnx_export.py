"""Exporting models and pipelines to ONNX: the graph, its inputs, and the operators of transformers."""

import copy
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

import spmld
from spmld._io import StrPath, need, writing
from spmld._validation import list_names
from spmld.estimators import FeatureScaler
from spmld.estimators.model_parts import check_names, feature_names_of, first_step, label_names_of
from spmld.estimators.transformers import LandmarkFeatures
from spmld.export.onnx_graph import ALIAS, Formula, Operators, Tensor, concatenate, unsupported
from spmld.export.onnx_models import decisions, predictions
from spmld.export.onnx_text import count_characters
from spmld.tables import TableEncoder, TextEmbedder

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
      values; and for each date the numbers that `spmld.tables.columns.date_parts` returns.

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
    Vectorizers must have the analyzer "word" and the default ``token_pattern`` (or the pattern of words with one
    letter), or the analyzer "char_wb" with n-grams of at least two characters.

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
    onnx = need("onnx", "onnx")
    skl2onnx = need("skl2onnx", "onnx")
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
    l = exported.graph.output[0].type.tensor_type.shape.dim[1].dim_value
    d = sum(kind.shape[1] for _, kind in inputs)
    columns = [name for name, _ in inputs] if len(inputs) > 1 else feature_names_of(model)
    features = check_names(feature_names, d, "feature") or columns or [f"x{j}" for j in range(d)]
    labels = check_names(label_names, l, "label") or label_names_of(model) or [f"y{j}" for j in range(l)]
    exported.producer_name = "spmld"
    exported.producer_version = spmld.__version__
    for name, value in {"label_names": labels, "feature_names": features}.items():
        entry = exported.metadata_props.add()
        entry.key = name
        entry.value = json.dumps(value)
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


_WORD = r"[\p{L}\p{N}_]"  # \w of Python; \w of the runtime is ASCII only
_TOKENS = {r"(?u)\b\w\w+\b": _WORD + "{2,}", r"(?u)\b\w+\b": _WORD + "+"}


def _counts(build: Operators, model: CountVectorizer, inputs: Any) -> list[Any]:
    """Declare the numbers of words. Words are written as tuples, which skl2onnx need not split."""
    custom = [name for name in ("tokenizer", "preprocessor", "strip_accents") if getattr(model, name) is not None]
    if model.analyzer == "char_wb" and model.ngram_range[0] > 1 and not custom:
        return build.formula(
            partial(count_characters, model=model, locale=build.locale), inputs, len(model.vocabulary_)
        )
    if model.analyzer != "word" or model.token_pattern not in _TOKENS or custom:
        raise unsupported(
            f"{type(model).__name__} with analyzer={model.analyzer!r}, token_pattern={model.token_pattern!r}"
            f"{''.join(f', {name}={getattr(model, name)!r}' for name in custom)}; use the defaults"
        )
    if model.stop_words is not None and model.ngram_range[1] > 1:
        raise unsupported(f"{type(model).__name__} with stop_words={model.stop_words!r} and more than single words")
    counter = CountVectorizer(ngram_range=model.ngram_range, lowercase=model.lowercase, binary=model.binary)
    counter.vocabulary_ = {tuple(words.split(" ")): int(i) for words, i in model.vocabulary_.items()}
    build.scope.add_options(id(counter), {"tokenexp": _TOKENS[model.token_pattern], "locale": build.locale})
    return build.operator(counter, "SklearnCountVectorizer", inputs, [len(counter.vocabulary_)])


def _embedding(build: Operators, model: TextEmbedder, inputs: Any) -> list[Any]:
    """Raise an error: the model of the embeddings is not a part of scikit-learn."""
    raise unsupported("embeddings, whose model the graph cannot contain: fit without embed (--embed)")


def _tfidf(build: Operators, model: TfidfVectorizer, inputs: Any) -> list[Any]:
    """Declare TF-IDF. The logarithm is not that of skl2onnx, which takes log(1 + n) instead of 1 + log(n)."""

    def sublinear(n: Tensor) -> Tensor:
        return n.apply("Max", 1.0).apply("Log") + n.apply("Min", 1.0)

    counts = _counts(build, model, inputs)
    if model.sublinear_tf:
        counts = build.formula(sublinear, counts, len(model.vocabulary_))
    transformer = TfidfTransformer(norm=model.norm, use_idf=model.use_idf)
    if model.use_idf:
        transformer.idf_ = model.idf_
    return build.transformed(transformer, counts)


def _imputed(build: Operators, model: SimpleImputer, inputs: Any) -> Any:
    """Declare an imputer with its indicators, which skl2onnx leaves out."""
    if not model.add_indicator:
        return build.transformed(model, inputs, parsers={})
    features = model.indicator_.features_
    values_only = copy.copy(model)
    values_only.add_indicator = False
    (values,) = build.transformed(values_only, inputs, parsers={})

    def function(x: Tensor, imputed: Tensor) -> Tensor:
        return concatenate([imputed, x.columns(features).apply("IsNaN").cast(np.float32)])

    return build.formula(function, [*inputs, values], len(model.statistics_) + len(features))


def _one_hot(build: Operators, model: OneHotEncoder, inputs: Any) -> Any:
    """Declare an encoder with infrequent categories, for which skl2onnx has no unknown categories."""
    if model.handle_unknown != "infrequent_if_exist" or model.drop is not None:
        return build.transformed(model, inputs, parsers={})
    columns = []
    n_columns = 0
    for categories, rare in zip(model.categories_, model.infrequent_categories_, strict=True):
        if categories.dtype.kind not in "OU":
            raise unsupported(f"OneHotEncoder with infrequent categories that are not strings: {categories[:3]}")
        frequent = [str(value) for value in categories if rare is None or value not in rare]
        columns.append((frequent, rare is not None))
        n_columns += len(frequent) + (rare is not None)

    def function(*tensors: Tensor) -> Tensor:
        x = concatenate(tensors)
        parts = []
        for j, (frequent, has_rare) in enumerate(columns):
            codes = x.columns([j]).apply(
                "LabelEncoder",
                domain="ai.onnx.ml",
                keys_strings=frequent,
                values_int64s=list(range(len(frequent))),
                default_int64=len(frequent) if has_rare else -1,
            )
            numbers = x.constant(np.arange(len(frequent) + has_rare), np.int64)
            parts.append(codes.apply("Equal", numbers).cast(np.float32))
        return concatenate(parts)

    return build.formula(function, inputs, n_columns)


def _scaled(build: Operators, scaler: FeatureScaler, inputs: Any) -> list[Any]:
    return build.formula(lambda x: _scale(x, scaler), inputs, scaler.n_features_in_)


def _landmarks(build: Operators, transformer: LandmarkFeatures, inputs: Any) -> list[Any]:
    kernel = transformer.kernel_
    landmarks = kernel.components_.toarray() if sp.issparse(kernel.components_) else kernel.components_

    def function(x: Tensor) -> Tensor:
        x = _scale(x, transformer)
        norms = x.reduce("ReduceL2")
        x = x / norms.apply("Equal", 0.0).apply("Where", x.constant(1.0), norms)
        products = (x @ landmarks.T) * 2.0
        distances = x.reduce("ReduceSumSquare") + np.sum(landmarks**2, axis=1) - products
        kernels = (distances.apply("Max", 0.0) * -kernel.gamma).apply("Exp")
        return kernels @ kernel.normalization_.T

    return build.formula(function, inputs, len(kernel.normalization_))


def _scale(x: Tensor, scaler: FeatureScaler | LandmarkFeatures) -> Tensor:
    """Return the scaled features. The difference of features far from zero and the rounded mean is exact."""
    mean = np.asarray(scaler.mean_, dtype=float)
    factor = np.asarray(scaler.factor_, dtype=float)
    rounded = mean.astype(np.float32).astype(float)
    return (x - rounded) * factor + (rounded - mean) * factor


TRANSFORMERS: dict[type, Callable[..., Any]] = {
    TableEncoder: lambda build, encoder, inputs: build.transformed(encoder.transformer_, inputs),
    TextEmbedder: _embedding,
    TfidfVectorizer: _tfidf,
    CountVectorizer: _counts,
    SimpleImputer: _imputed,
    OneHotEncoder: _one_hot,
    FeatureScaler: _scaled,
    LandmarkFeatures: _landmarks,
}
"""A function for each type of transformer that declares its operators."""
