"""ONNX operators of the models of spmld: scores, probabilities and decisions as nodes of a graph."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logit

from spmld.estimators import FeatureScaler, LandmarkFeatures
from spmld.estimators.ensemble.score_correction import ScoreFormula
from spmld.estimators.probabilities import BEND
from spmld.estimators.trees import Trees
from spmld.model_selection import DecisionRule
from spmld.persistence.linear import Linear

_Floats = NDArray[np.float64]
_TIE = 1e-5
"""Scores up to this number are 0 but for rounding errors, such as those of forests with an even number of trees."""


@dataclass(frozen=True)
class Graph:
    """Adds nodes and constants in single precision to the graph that skl2onnx is writing.

    Parameters
    ----------
    onnx : module
        The package onnx.
    scope, container : object
        Names and content of the graph, of skl2onnx.
    """

    onnx: Any
    scope: Any
    container: Any

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """Add a constant, and return its name."""
        name = str(self.scope.get_unique_variable_name("constant"))
        tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(value, dtype=dtype).reshape(np.shape(value)))
        self.container.add_initializer(name, None, None, tensor)
        return name

    def add(self, operation: str, *inputs: Any, outputs: int = 1, domain: str = "", **options: Any) -> Any:
        """Add a node, and return the name of its output, or the names of its outputs. Arrays are added as constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        results = [str(self.scope.get_unique_variable_name(operation.lower())) for _ in range(outputs)]
        name = self.scope.get_unique_operator_name(operation)
        self.container.add_node(operation, names, results, op_domain=domain, name=name, **options)
        return results[0] if outputs == 1 else results

    def to_float(self, x: str) -> str:
        """Add a cast to single precision."""
        return str(self.add("Cast", x, to=self.onnx.TensorProto.FLOAT))

    def to_int(self, x: str) -> str:
        """Add a cast to integers."""
        return str(self.add("Cast", x, to=self.onnx.TensorProto.INT64))

    def column(self, x: str, j: int) -> str:
        """Add the selection of a column."""
        return str(self.add("Gather", x, self.constant([j], np.int64), axis=1))

    def log_odds(self, p: str, q: str) -> str:
        """Add log(p / q), with p and q bounded from below as in `spmld.estimators.probabilities.log_odds`."""
        logs = [self.add("Log", self.add("Max", part, np.finfo(float).eps)) for part in (p, q)]
        return str(self.add("Sub", *logs))


def scaled(graph: Graph, x: str, scaler: FeatureScaler | LandmarkFeatures) -> str:
    """Add the scaled features of a `FeatureScaler`."""
    mean, factor = np.asarray(scaler.mean_, dtype=float), np.asarray(scaler.factor_, dtype=float)
    rounded = _rounded(mean)
    return str(graph.add("Add", graph.add("Mul", graph.add("Sub", x, rounded), factor), (rounded - mean) * factor))


def landmark_features(graph: Graph, x: str, transformer: LandmarkFeatures) -> str:
    """Add the features of a `LandmarkFeatures`."""
    kernel, x = transformer.kernel_, scaled(graph, x, transformer)
    norms = graph.add("ReduceL2", x, axes=[1], keepdims=1)
    x = graph.add("Div", x, graph.add("Where", graph.add("Equal", norms, 0.0), graph.constant(1.0), norms))
    C = kernel.components_.toarray() if sp.issparse(kernel.components_) else kernel.components_
    squares = graph.add("Add", graph.add("ReduceSumSquare", x, axes=[1], keepdims=1), np.sum(C**2, axis=1))
    distances = graph.add("Sub", squares, graph.add("Mul", graph.add("MatMul", x, C.T), 2.0))
    kernels = graph.add("Exp", graph.add("Mul", graph.add("Max", distances, 0.0), -kernel.gamma))
    return str(graph.add("MatMul", kernels, kernel.normalization_.T))


def linear(graph: Graph, x: str, predictor: Linear) -> tuple[str, str]:
    """Add the scores and probabilities of a linear predictor."""
    intercept = predictor.intercept
    if predictor.center is not None:
        center = _rounded(predictor.center)
        x, intercept = graph.add("Sub", x, center), intercept + predictor.coef @ center
    scores = graph.add("Add", graph.add("MatMul", x, predictor.coef.T), intercept)
    if predictor.link == "logistic":
        return scores, graph.add("Sigmoid", scores)
    sizes = graph.add("Abs", scores)
    kept = graph.add("Min", sizes, 1 - BEND)
    excess = graph.add("Sub", sizes, kept)
    bent = graph.add("Mul", graph.add("Div", excess, graph.add("Add", excess, BEND)), BEND)
    signed = graph.add("Mul", graph.add("Sign", scores), graph.add("Add", kept, bent))
    return scores, graph.add("Mul", graph.add("Add", signed, 1.0), 0.5)


def ensemble(
    graph: Graph, views: Sequence[str], factors: Sequence[float], offset: float, formula: ScoreFormula
) -> tuple[str, str]:
    """Add the scores and probabilities of an ensemble, from the scores of its views."""
    weighted = [graph.add("Mul", view, factor) for view, factor in zip(views, factors, strict=True)]
    s = graph.add("Sum", *weighted, offset)
    others = graph.add("MatMul", graph.add("Sigmoid", s), formula.others)
    scores = graph.add("Sum", graph.add("Mul", s, formula.own), others, formula.offset)
    return scores, graph.add("Sigmoid", scores)


def tree_scores(graph: Graph, x: str, trees: Trees, missing_left: NDArray[np.bool_] | None = None) -> str:
    """Add the sum of the values of trees; missing values go to the left child where `missing_left` is True."""
    n_nodes, n_labels = trees.value.shape
    node = np.arange(n_nodes)
    leaf, size = trees.left == node, np.diff([*trees.roots, n_nodes])
    tree, start = np.repeat(np.arange(len(size)), size), np.repeat(trees.roots, size)
    # A number in single precision is at most the threshold if it is at most the next lower one in this precision.
    rounded = trees.threshold.astype(np.float32)
    lower = np.where(rounded > trees.threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
    missing = {} if missing_left is None else {"nodes_missing_value_tracks_true": missing_left.astype(int).tolist()}
    return str(
        graph.add(
            "TreeEnsembleRegressor",
            x,
            domain="ai.onnx.ml",
            n_targets=n_labels,
            nodes_treeids=tree.tolist(),
            nodes_nodeids=(node - start).tolist(),
            nodes_featureids=trees.feature.tolist(),
            nodes_values=lower.tolist(),
            nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
            nodes_truenodeids=np.where(leaf, 0, trees.left - start).tolist(),
            nodes_falsenodeids=np.where(leaf, 0, trees.right - start).tolist(),
            target_treeids=np.repeat(tree[leaf], n_labels).tolist(),
            target_nodeids=np.repeat((node - start)[leaf], n_labels).tolist(),
            target_ids=np.tile(np.arange(n_labels), int(leaf.sum())).tolist(),
            target_weights=trees.value[leaf].ravel().tolist(),
            **missing,
        )
    )


def decisions(graph: Graph, scores: str, probabilities: str, rule: DecisionRule | None) -> str:
    """Add the labels (0 and 1) that a rule predicts, by default those with scores above 0."""
    if rule is None:
        positive = graph.add("Greater", scores, _TIE)
    elif rule.thresholds_ is not None:
        positive = graph.add("Greater", scores, logit(rule.thresholds_))
    elif isinstance(rule.decision, Integral):
        positive = _top_k(graph, probabilities, int(rule.decision))
    else:
        weight = rule.sample_weight_
        per_sample = graph.add("Mul", _sample_thresholds(graph, probabilities, rule), weight)
        thresholds = graph.add("Add", per_sample, (1 - weight) * rule.label_thresholds_ + rule.offset_)
        positive = graph.add("Greater", probabilities, thresholds)
    return graph.to_int(positive)


def _sample_thresholds(graph: Graph, probabilities: str, rule: DecisionRule) -> str:
    """Add the thresholds of the samples, see `DecisionRule`."""
    l = len(rule.label_thresholds_)
    descending, _ = graph.add("TopK", probabilities, graph.constant([l], np.int64), outputs=2, axis=1)
    sums = graph.add("CumSum", descending, graph.constant(1, np.int64))
    total = graph.add("ReduceSum", probabilities, graph.constant([1], np.int64), keepdims=1)
    half_f1 = graph.add("Div", sums, graph.add("Add", total, np.arange(1, l + 1)))
    best = graph.add("ReduceMax", half_f1, axes=[1], keepdims=1)
    empty = graph.add("ReduceProd", graph.add("Sub", 1.0, probabilities), axes=[1], keepdims=1)
    some = graph.add("Mul", graph.add("Sub", 1.0, empty), best)
    return str(graph.add("Add", some, graph.add("Mul", empty, rule.common_threshold_)))


def _top_k(graph: Graph, probabilities: str, k: int) -> str:
    """Add ones for the k labels with the largest probabilities; of equal ones, those with the lowest indices."""
    values, indices = graph.add("TopK", probabilities, graph.constant([k], np.int64), outputs=2, axis=1)
    zeros = graph.add("Sub", probabilities, probabilities)
    ones = graph.add("Add", graph.add("Sub", values, values), 1.0)
    return str(graph.add("ScatterElements", zeros, indices, ones, axis=1))


def _rounded(mean: _Floats) -> _Floats:
    """Return a mean in single precision; the difference from it of features far from zero is exact."""
    return mean.astype(np.float32).astype(float)


@dataclass(frozen=True)
class Formula:
    """An operator of a graph: a function that adds its nodes, and returns the names of its outputs.

    skl2onnx calls its converter when the inputs have names.
    """

    function: Callable[..., Any]

    @staticmethod
    def convert(scope: Any, operator: Any, container: Any) -> None:
        """Add the nodes of an operator; a converter of skl2onnx."""
        import onnx

        names = operator.raw_operator.function(Graph(onnx, scope, container), *operator.input_full_names)
        for name, output in zip([names] if isinstance(names, str) else names, operator.outputs, strict=True):
            container.add_node("Identity", [name], [output.full_name], name=scope.get_unique_operator_name("Identity"))

    @staticmethod
    def infer_shapes(operator: Any) -> None:
        """Leave the types of the outputs, which are known before; a shape calculator of skl2onnx."""
