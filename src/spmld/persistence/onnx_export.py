"""Exporting models and pipelines to ONNX: those of scikit-learn by skl2onnx, those of spmld by formulas."""

import copy
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

import spmld
from spmld._io import StrPath, need, writing
from spmld.estimators import (
    FeatureScaler,
    LandmarkFeatures,
    MaskedBoosting,
    MultiLabelEstimator,
    PerLabelClassifier,
    SelfPacedClassifier,
    SelfPacedEnsemble,
)
from spmld.estimators.trees import Trees
from spmld.model_selection import CalibratedClassifier, ThresholdClassifier
from spmld.model_selection._cross_fitted import SMALLEST_PROBABILITY
from spmld.noise.calibration import IsotonicCalibration
from spmld.persistence import onnx_graph
from spmld.persistence.linear import linear_predictor
from spmld.persistence.names import check_names, feature_names_of, first_step, label_names_of
from spmld.persistence.onnx_graph import Formula, Graph
from spmld.preprocessing import TableEncoder

# Supported by every runtime since 2022. The graph needs nothing newer.
_OPSETS = {"": 15, "ai.onnx.ml": 2}
_LOCALES = {"darwin": "en_US.UTF-8", "win32": "en-US"}
_WORD = r"[\p{L}\p{N}_]"  # \w of Python; \w of the runtime is ASCII only
_TOKENS = {r"(?u)\b\w\w+\b": _WORD + "{2,}", r"(?u)\b\w+\b": _WORD + "+"}
_Outputs = tuple[Any, Any, Any]


def export_onnx(
    model: Any,
    path: StrPath,
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    locale: str | None = None,
) -> None:
    r"""Export a model or a pipeline to an ONNX graph, for runtimes without Python.

    The outputs ``scores``, ``probabilities`` and ``labels`` (0 and 1) have shape (n_samples, n_labels). The inputs
    depend on the first step:

    - ``X``, numbers of shape (n_samples, n_features), or texts of shape (n_samples, 1) for a text vectorizer.
    - For a `ColumnTransformer` that is fitted on a DataFrame, an input of shape (n_samples, 1) for each column:
      numbers, or strings for text and categories. Its name is that of the column, with underscores for characters that
      ONNX does not allow.
    - For a `TableEncoder`, the same for the columns ``model.transformer_.feature_names_in_``. They are prepared
      outside of the graph: numbers as floats, NaN where missing, without units and separators; strings without missing
      values; and for each date the numbers that `spmld.preprocessing.dates.date_parts` returns.

    Numbers are in single precision: probabilities differ from those of the model by about 1e-6, and by more if a
    feature far from zero varies little. The names of labels and features, in the order of the outputs and
    inputs, are in the metadata of the graph, as JSON.

    Parameters
    ----------
    model : fitted estimator
        A `SelfPacedEnsemble` with built-in views, `MaskedBoosting`, any model that `linear_predictor` accepts, a
        `PerLabelClassifier` or a multi-label classifier of scikit-learn with ``predict_proba``, such as forests; a
        `CalibratedClassifier`, `ThresholdClassifier` or `SelfPacedClassifier` of these; or a pipeline or search of
        scikit-learn with one of these at its end, and transformers that skl2onnx accepts before it.
    path, label_names, feature_names
        As in `export_npz`.
    locale : str, optional
        Locale of the runtime, which converts text to lower case: by default "C.UTF-8" on Linux, "en_US.UTF-8" on macOS
        and "en-US" on Windows. Pass another one to run the graph on another system.

    Notes
    -----
    Texts are split into words as in Python, also if they are not English. Two capital letters are converted to lower
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
    skl2onnx.update_registered_converter(Formula, "SpmldFormula", Formula.infer_shapes, Formula.convert)
    inputs = _inputs(model, skl2onnx.common.data_types)
    parsers = _parsers(locale or _LOCALES.get(sys.platform, "C.UTF-8"))
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
    with writing(path) as part:
        part.write_bytes(exported.SerializeToString())


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
        kinds = (types.StringTensorType if i in texts else types.FloatTensorType for i in range(first.n_features_in_))
        return [(str(name), kind([None, 1])) for name, kind in zip(first.feature_names_in_, kinds, strict=True)]
    if hasattr(first, "vocabulary_"):
        return [("X", types.StringTensorType([None, 1]))]
    if not hasattr(first, "n_features_in_"):
        raise _unsupported(type(first).__name__ + " as its first step")
    return [("X", types.FloatTensorType([None, first.n_features_in_]))]


def _reads_text(transformer: Any, column: int) -> bool:
    """Return whether a column of a transformer contains strings."""
    first = first_step(transformer)
    values = getattr(first, "categories_", None)
    values = getattr(first, "statistics_", np.zeros(0)) if values is None else values[column]
    return hasattr(first, "vocabulary_") or values.dtype.kind in "OUT"


def _without_unused(graph: Any, inputs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Delete the inputs of a graph that no node has, such as columns that are dropped, and return the others."""
    used = {name for node in graph.node for name in node.input}
    kept = [graph_input.name in used for graph_input in graph.input]
    for i in np.flatnonzero(~np.array(kept))[::-1]:
        del graph.input[i]
    return [given for given, keep in zip(inputs, kept, strict=True) if keep]


def _unsupported(got: str) -> ValueError:
    return ValueError(
        f"the model cannot be exported to ONNX, got {got}. Accepted: SelfPacedEnsemble with built-in views, "
        "MaskedBoosting, linear models, PerLabelClassifier and multi-label classifiers of scikit-learn with "
        "predict_proba, and pipelines that end with one of these. Use spmld.save for other models"
    )


@dataclass(frozen=True)
class _Exported:
    """The model that is exported; its parser returns the outputs of the graph."""

    model: Any


def _parsers(locale: str) -> dict[type, Callable[..., Any]]:
    """Return a function for each type, with which skl2onnx declares the operators of a transformer."""
    converters: dict[type, Callable[..., Any]] = {
        _Exported: _exported,
        TableEncoder: lambda build, model, inputs: build.transformed(model.transformer_, inputs),
        TfidfVectorizer: _tfidf,
        CountVectorizer: _counts,
        SimpleImputer: _imputed,
        OneHotEncoder: _one_hot,
        FeatureScaler: _scaled,
        LandmarkFeatures: _landmarks,
    }

    def parser(convert: Callable[..., Any]) -> Callable[..., Any]:
        def parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
            return convert(_Operators(scope, custom_parsers, locale), model, inputs)

        return parse

    return {cls: parser(convert) for cls, convert in converters.items()}


@dataclass(frozen=True)
class _Operators:
    """Declares operators of a graph, of which skl2onnx converts one after the other."""

    scope: Any
    parsers: Any
    locale: str

    def transformed(self, model: Any, inputs: Any, parsers: Any = None) -> Any:
        """Declare the operators of a transformer or classifier, and return its outputs."""
        from skl2onnx._parse import parse_sklearn

        outputs = parse_sklearn(self.scope, model, inputs, custom_parsers=self.parsers if parsers is None else parsers)
        for output in outputs:
            output.init_status(is_leaf=False)
        return outputs

    def operator(self, raw: Any, alias: str, inputs: Any, n_columns: Sequence[int | None]) -> list[Any]:
        """Declare an operator whose outputs are floats, with these numbers of columns."""
        from skl2onnx.common.data_types import FloatTensorType

        operator = self.scope.declare_local_operator(alias, raw)
        operator.inputs = list(inputs)
        for n in n_columns:
            operator.outputs.append(self.scope.declare_local_variable("value", FloatTensorType([None, n])))
        return list(operator.outputs)

    def formula(self, function: Callable[..., Any], inputs: Any, *n_columns: int | None) -> list[Any]:
        """Declare an operator by the function that adds its nodes."""
        return self.operator(Formula(function), "SpmldFormula", inputs, n_columns)


def _exported(build: _Operators, exported: _Exported, inputs: Any) -> list[Any]:
    """Declare the outputs of the graph."""
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType

    scores, probabilities, rule = _predictions(build, exported.model, inputs)
    n_labels = scores.type.shape[1]

    def function(graph: Graph, s: str, p: str) -> tuple[str, str, str]:
        return s, p, onnx_graph.decisions(graph, s, p, rule)

    operator = build.scope.declare_local_operator("SpmldFormula", Formula(function))
    operator.inputs = [scores, probabilities]
    kinds = {"scores": FloatTensorType, "probabilities": FloatTensorType, "labels": Int64TensorType}
    for name, kind in kinds.items():
        operator.outputs.append(build.scope.declare_local_output(name, kind([None, n_labels])))
    return list(operator.outputs)


def _predictions(build: _Operators, model: Any, inputs: Any) -> _Outputs:
    """Declare the scores and probabilities of a model, and return them with the rule for decisions or None."""
    if isinstance(model, BaseSearchCV):
        return _predictions(build, model.best_estimator_, inputs)
    if isinstance(model, Pipeline):
        return _predictions(build, model[-1], _transformed(build, model, inputs))
    if isinstance(model, SelfPacedEnsemble):
        return _ensemble(build, model, inputs)
    if isinstance(model, CalibratedClassifier | ThresholdClassifier):
        return _calibrated(build, model, inputs)
    if isinstance(model, SelfPacedClassifier):
        return *_predictions(build, model.estimator_, inputs)[:2], None
    if isinstance(model, MaskedBoosting):
        return *_boosted(build, inputs, model.trees_, model.intercept_), None
    if isinstance(model, PerLabelClassifier) and not _is_linear(model):
        return _per_label(build, model.estimators_, model.prior_, inputs)
    if isinstance(model, MultiLabelEstimator):
        return _linear(build, model, inputs)
    if isinstance(model, MultiOutputClassifier | OneVsRestClassifier):
        return _per_label(build, model.estimators_, np.zeros(len(model.estimators_)), inputs)
    return _multi_output(build, model, inputs)


def _transformed(build: _Operators, pipeline: Pipeline, inputs: Any) -> Any:
    """Declare the steps of a pipeline before the last."""
    for _, step in pipeline.steps[:-1]:
        if step not in (None, "passthrough"):
            inputs = build.transformed(step, inputs)
    return inputs


def _is_linear(model: PerLabelClassifier) -> bool:
    try:
        linear_predictor(model)
    except ValueError:
        return False
    return True


def _linear(build: _Operators, model: MultiLabelEstimator, inputs: Any) -> _Outputs:
    try:
        predictor = linear_predictor(model)
    except ValueError:
        raise _unsupported(type(model).__name__) from None
    l = len(predictor.intercept)
    return *build.formula(lambda graph, x: onnx_graph.linear(graph, x, predictor), inputs, l, l), None


def _ensemble(build: _Operators, model: SelfPacedEnsemble, inputs: Any) -> _Outputs:
    features: dict[int, Any] = {}  # views share transformers
    views = []
    for name, estimator in model.estimators_.items():
        transformer = model.transformers_[name]
        if id(transformer) not in features:
            features[id(transformer)] = build.transformed(transformer, inputs)
        try:
            views.append(_predictions(build, estimator, features[id(transformer)])[0])
        except ValueError as error:
            raise ValueError(f"the view {name!r} of the ensemble: {error}") from None
    factors = [model.mixture_.factors_[name] for name in model.estimators_]
    formula, offset, l = model.correction_.formula_, model.mixture_.offset_, model.n_labels_

    def function(graph: Graph, *scores: str) -> tuple[str, str]:
        return onnx_graph.ensemble(graph, scores, factors, offset, formula)

    return *build.formula(function, views, l, l), model.decision_rule_


def _calibrated(build: _Operators, model: CalibratedClassifier | ThresholdClassifier, inputs: Any) -> _Outputs:
    calibration, rule, l = model.calibration_, model.decision_rule_, len(model.calibration_.slopes_)
    if isinstance(calibration, IsotonicCalibration):
        raise _unsupported(f"a {type(model).__name__} with isotonic calibration")
    uses_scores = model.response_method_ == "decision_function"

    def function(graph: Graph, scores: str, p: str) -> tuple[str, str]:
        if not uses_scores:
            odds = [graph.add("Add", part, SMALLEST_PROBABILITY) for part in (p, graph.add("Sub", 1.0, p))]
            scores = graph.add("Log", graph.add("Div", *odds))
        scores = graph.add("Add", graph.add("Mul", scores, calibration.slopes_), calibration.intercepts_)
        return scores, graph.add("Sigmoid", scores)

    return *build.formula(function, _predictions(build, model.estimator_, inputs)[:2], l, l), rule


def _boosted(build: _Operators, inputs: Any, trees: Trees, intercept: Any, missing_left: Any = None) -> list[Any]:
    """Declare the scores and probabilities of boosted trees."""

    def function(graph: Graph, x: str) -> tuple[str, str]:
        scores = graph.add("Add", onnx_graph.tree_scores(graph, x, trees, missing_left), intercept)
        return scores, graph.add("Sigmoid", scores)

    l = trees.value.shape[1]
    return build.formula(function, inputs, l, l)


def _per_label(build: _Operators, estimators: Sequence[Any], prior: Any, inputs: Any) -> _Outputs:
    """Declare the scores and probabilities of binary classifiers; labels without a classifier get a constant."""
    parts = [_classifier(build, part, inputs) for part in estimators if part is not None]

    def function(graph: Graph, *names: str) -> tuple[str, str]:
        zeros, remaining, columns = graph.add("Sub", names[0], names[0]), list(names), []
        for part, p in zip(estimators, prior, strict=True):
            columns.append(graph.add("Add", zeros, [1 - p, p]) if part is None else remaining.pop(0))
        p, q = (graph.add("Concat", *(graph.column(x, j) for x in columns), axis=1) for j in (1, 0))
        return graph.log_odds(p, q), p

    return *build.formula(function, parts, len(estimators), len(estimators)), None


def _classifier(build: _Operators, model: Any, inputs: Any) -> Any:
    """Declare the probabilities of the two classes of a binary classifier."""
    if isinstance(model, Pipeline):
        return _classifier(build, model[-1], _transformed(build, model, inputs))
    if not hasattr(model, "predict_proba") or hasattr(model, "support_vectors_"):
        raise _unsupported(f"{type(model).__name__}, whose scores are not the log-odds of probabilities,")
    if isinstance(model, HistGradientBoostingClassifier):
        scores, _ = _boosted(build, inputs, *_histogram_trees(model))

        def function(graph: Graph, s: str) -> str:
            both = graph.add("Concat", graph.add("Neg", s), s, axis=1)
            return str(graph.add("Sigmoid", both))

        return build.formula(function, [scores], 2)[0]
    build.scope.add_options(id(model), {"zipmap": False})
    return build.transformed(model, inputs, parsers={})[1]


def _histogram_trees(model: HistGradientBoostingClassifier) -> tuple[Trees, Any, Any]:
    """Return the trees, the intercept, and the nodes where missing values go to the left child."""
    parts, missing = [], []
    for (predictor,) in model._predictors:
        nodes = predictor.nodes
        if nodes["is_categorical"].any():
            raise _unsupported("HistGradientBoostingClassifier with categorical features")
        leaf, node = nodes["is_leaf"].astype(bool), np.arange(len(nodes))
        left, right = (np.where(leaf, node, nodes[name]).astype(np.int32) for name in ("left", "right"))
        value = np.where(leaf, nodes["value"], 0.0)[:, None]
        feature, weight = nodes["feature_idx"].astype(np.int32), nodes["count"].astype(float)
        root, depth = np.zeros(1, np.int32), int(nodes["depth"].max())
        parts.append(Trees(root, feature, nodes["num_threshold"], left, right, weight, value, depth))
        missing.append(nodes["missing_go_to_left"].astype(bool))
    return Trees.concatenate(parts), np.ravel(model._baseline_prediction), np.concatenate(missing)


def _multi_output(build: _Operators, model: Any, inputs: Any) -> _Outputs:
    """Declare the scores and probabilities of a classifier of scikit-learn with several outputs, or with one label."""
    classes = getattr(model, "classes_", None)
    if classes is None or not hasattr(model, "predict_proba"):
        raise _unsupported(type(model).__name__)
    if not isinstance(classes, list) and np.size(getattr(model, "n_outputs_", 1)) and len(classes) == 2:
        return _per_label(build, [model], np.zeros(1), inputs)
    if not isinstance(classes, list) or any(len(values) != 2 for values in classes):
        raise _unsupported(f"{type(model).__name__} with labels of which not both classes were observed")
    build.scope.add_options(id(model), {"zipmap": False})
    (probabilities,) = build.transformed(model, inputs, parsers={})[1:]

    def function(graph: Graph, x: str) -> tuple[str, str]:
        # The probabilities have shape (n_labels, n_samples, 2).
        columns = [graph.add("Gather", x, graph.constant(j, np.int64), axis=2) for j in (1, 0)]
        p, q = (graph.add("Transpose", column, perm=[1, 0]) for column in columns)
        return graph.log_odds(p, q), p

    return *build.formula(function, [probabilities], len(classes), len(classes)), None


def _scaled(build: _Operators, scaler: FeatureScaler, inputs: Any) -> list[Any]:
    return build.formula(lambda graph, x: onnx_graph.scaled(graph, x, scaler), inputs, scaler.n_features_in_)


def _landmarks(build: _Operators, transformer: LandmarkFeatures, inputs: Any) -> list[Any]:
    n_features = len(transformer.kernel_.normalization_)
    return build.formula(lambda graph, x: onnx_graph.landmark_features(graph, x, transformer), inputs, n_features)


def _counts(build: _Operators, model: CountVectorizer, inputs: Any) -> list[Any]:
    """Declare the numbers of words. Words are written as tuples, which skl2onnx need not split."""
    custom = [name for name in ("tokenizer", "preprocessor", "strip_accents") if getattr(model, name) is not None]
    if model.analyzer != "word" or model.token_pattern not in _TOKENS or custom:
        raise _unsupported(
            f"{type(model).__name__} with analyzer={model.analyzer!r}, token_pattern={model.token_pattern!r}"
            f"{''.join(f', {name}={getattr(model, name)!r}' for name in custom)}; use the defaults"
        )
    if model.stop_words is not None and model.ngram_range[1] > 1:
        raise _unsupported(f"{type(model).__name__} with stop_words={model.stop_words!r} and more than single words")
    counter = CountVectorizer(ngram_range=model.ngram_range, lowercase=model.lowercase, binary=model.binary)
    counter.vocabulary_ = {tuple(words.split(" ")): int(i) for words, i in model.vocabulary_.items()}
    build.scope.add_options(id(counter), {"tokenexp": _TOKENS[model.token_pattern], "locale": build.locale})
    return build.operator(counter, "SklearnCountVectorizer", inputs, [len(counter.vocabulary_)])


def _tfidf(build: _Operators, model: TfidfVectorizer, inputs: Any) -> list[Any]:
    """Declare TF-IDF. The logarithm is not that of skl2onnx, which takes log(1 + n) instead of 1 + log(n)."""

    def sublinear(graph: Graph, n: str) -> str:
        return str(graph.add("Add", graph.add("Log", graph.add("Max", n, 1.0)), graph.add("Min", n, 1.0)))

    counts = _counts(build, model, inputs)
    if model.sublinear_tf:
        counts = build.formula(sublinear, counts, len(model.vocabulary_))
    transformer = TfidfTransformer(norm=model.norm, use_idf=model.use_idf)
    if model.use_idf:
        transformer.idf_ = model.idf_
    return build.transformed(transformer, counts)


def _imputed(build: _Operators, model: SimpleImputer, inputs: Any) -> Any:
    """Declare an imputer with its indicators, which skl2onnx leaves out."""
    if not model.add_indicator:
        return build.transformed(model, inputs, parsers={})
    features, values_only = model.indicator_.features_, copy.copy(model)
    values_only.add_indicator = False
    (values,) = build.transformed(values_only, inputs, parsers={})

    def function(graph: Graph, x: str, imputed: str) -> str:
        columns = graph.add("Gather", x, graph.constant(features, np.int64), axis=1)
        return str(graph.add("Concat", imputed, graph.to_float(graph.add("IsNaN", columns)), axis=1))

    return build.formula(function, [*inputs, values], len(model.statistics_) + len(features))


def _one_hot(build: _Operators, model: OneHotEncoder, inputs: Any) -> Any:
    """Declare an encoder with infrequent categories, for which skl2onnx has no unknown categories."""
    if model.handle_unknown != "infrequent_if_exist" or model.drop is not None:
        return build.transformed(model, inputs, parsers={})
    columns, n_columns = [], 0
    for categories, rare in zip(model.categories_, model.infrequent_categories_, strict=True):
        if categories.dtype.kind not in "OU":
            raise _unsupported(f"OneHotEncoder with infrequent categories that are not strings: {categories[:3]}")
        frequent = [str(value) for value in categories if rare is None or value not in rare]
        columns.append((frequent, rare is not None))
        n_columns += len(frequent) + (rare is not None)

    def function(graph: Graph, *names: str) -> str:
        x = names[0] if len(names) == 1 else graph.add("Concat", *names, axis=1)
        parts = []
        for j, (frequent, has_rare) in enumerate(columns):
            codes = graph.add(
                "LabelEncoder",
                graph.column(x, j),
                domain="ai.onnx.ml",
                keys_strings=frequent,
                values_int64s=list(range(len(frequent))),
                default_int64=len(frequent) if has_rare else -1,
            )
            numbers = graph.constant(np.arange(len(frequent) + has_rare), np.int64)
            parts.append(graph.to_float(graph.add("Equal", codes, numbers)))
        return str(graph.add("Concat", *parts, axis=1))

    return build.formula(function, inputs, n_columns)
