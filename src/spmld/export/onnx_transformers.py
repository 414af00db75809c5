"""ONNX operators of transformers: those of spmld, and those of scikit-learn that skl2onnx converts in another way."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from spmld.estimators import FeatureScaler
from spmld.estimators.scaling import LandmarkFeatures
from spmld.export.onnx_graph import Operators, Tensor, concatenate, unsupported
from spmld.tables import TableEncoder

_WORD = r"[\p{L}\p{N}_]"  # \w of Python; \w of the runtime is ASCII only
_TOKENS = {r"(?u)\b\w\w+\b": _WORD + "{2,}", r"(?u)\b\w+\b": _WORD + "+"}


def _counts(build: Operators, model: CountVectorizer, inputs: Any) -> list[Any]:
    """Declare the numbers of words. Words are written as tuples, which skl2onnx need not split."""
    custom = [name for name in ("tokenizer", "preprocessor", "strip_accents") if getattr(model, name) is not None]
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
    features, values_only = model.indicator_.features_, copy.copy(model)
    values_only.add_indicator = False
    (values,) = build.transformed(values_only, inputs, parsers={})

    def function(x: Tensor, imputed: Tensor) -> Tensor:
        return concatenate([imputed, x.columns(features).apply("IsNaN").cast(np.float32)])

    return build.formula(function, [*inputs, values], len(model.statistics_) + len(features))


def _one_hot(build: Operators, model: OneHotEncoder, inputs: Any) -> Any:
    """Declare an encoder with infrequent categories, for which skl2onnx has no unknown categories."""
    if model.handle_unknown != "infrequent_if_exist" or model.drop is not None:
        return build.transformed(model, inputs, parsers={})
    columns, n_columns = [], 0
    for categories, rare in zip(model.categories_, model.infrequent_categories_, strict=True):
        if categories.dtype.kind not in "OU":
            raise unsupported(f"OneHotEncoder with infrequent categories that are not strings: {categories[:3]}")
        frequent = [str(value) for value in categories if rare is None or value not in rare]
        columns.append((frequent, rare is not None))
        n_columns += len(frequent) + (rare is not None)

    def function(*tensors: Tensor) -> Tensor:
        x, parts = concatenate(tensors), []
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
    mean, factor = np.asarray(scaler.mean_, dtype=float), np.asarray(scaler.factor_, dtype=float)
    rounded = mean.astype(np.float32).astype(float)
    return (x - rounded) * factor + (rounded - mean) * factor


TRANSFORMERS: dict[type, Callable[..., Any]] = {
    TableEncoder: lambda build, encoder, inputs: build.transformed(encoder.transformer_, inputs),
    TfidfVectorizer: _tfidf,
    CountVectorizer: _counts,
    SimpleImputer: _imputed,
    OneHotEncoder: _one_hot,
    FeatureScaler: _scaled,
    LandmarkFeatures: _landmarks,
}
"""A function for each type of transformer that declares its operators."""
