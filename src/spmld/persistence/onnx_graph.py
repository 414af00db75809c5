"""ONNX graphs of linear predictors and ensembles: scores, probabilities and decisions."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import logit

from spmld.estimators.probabilities import BEND
from spmld.estimators.trees import Trees
from spmld.model_selection import DecisionRule
from spmld.persistence.ensemble_arrays import AnyView, EnsembleArrays, KernelView, TreeView
from spmld.persistence.linear import Linear

_Floats = NDArray[np.float64]


class GraphBuilder:
    """Builds a graph with the input X and the outputs scores, probabilities and labels.

    Parameters
    ----------
    onnx : module
        The package onnx.
    dtype : dtype
        Precision of the input and of all constants that are not integers.

    Attributes
    ----------
    metadata : dict
        Metadata of the graph, in types that JSON supports.

    Examples
    --------
    See `spmld.export_onnx`.
    """

    def __init__(self, onnx: Any, dtype: Any) -> None:
        self.onnx, self.dtype = onnx, np.dtype(dtype)
        self.nodes: list[Any] = []
        self.constants: dict[str, NDArray[Any]] = {}
        self.metadata: dict[str, Any] = {}

    def constant(self, value: Any, dtype: Any = None) -> str:
        """Add a constant, and return its name."""
        name = f"constant{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype=self.dtype if dtype is None else dtype)
        return name

    def add(self, operation: str, *inputs: Any, output: str | None = None, outputs: int = 1, **options: Any) -> Any:
        """Add a node, and return the name of its output, or the names of its outputs. Arrays are added as constants."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        results = [output or f"{operation.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(operation, names, results, **options))
        return results[0] if outputs == 1 else results

    def add_linear(self, predictor: Linear) -> None:
        """Add the scores of a linear predictor, and its probabilities by the link."""
        x, intercept = "X", predictor.intercept
        if predictor.center is not None:
            x, center = self._subtract(predictor.center)
            intercept = intercept + predictor.coef @ center
        self.add("Add", self.add("MatMul", x, predictor.coef.T), intercept, output="scores")
        self.metadata["link"] = predictor.link
        if predictor.link == "logistic":
            self.add("Sigmoid", "scores", output="probabilities")
            return
        sizes = self.add("Abs", "scores")
        kept = self.add("Min", sizes, 1 - BEND)
        excess = self.add("Sub", sizes, kept)
        bent = self.add("Mul", self.add("Div", excess, self.add("Add", excess, BEND)), BEND)
        signed = self.add("Mul", self.add("Sign", "scores"), self.add("Add", kept, bent))
        self.add("Mul", self.add("Add", signed, 1.0), 0.5, output="probabilities")

    def add_ensemble(self, arrays: EnsembleArrays) -> None:
        """Add the scores of an ensemble, and its probabilities."""
        views = [self._add_view(view) for view in arrays.views]
        s = self.add("Sum", *views)
        others = self.add("MatMul", self.add("Sigmoid", s), arrays.others)
        self.add("Sum", self.add("Mul", s, arrays.own), others, arrays.offset, output="scores")
        self.add("Sigmoid", "scores", output="probabilities")
        self.metadata["link"] = "logistic"

    def _subtract(self, mean: _Floats) -> tuple[str, _Floats]:
        """Add X minus its mean, rounded to the precision of the graph; return the name and the rounded mean."""
        rounded = mean.astype(self.dtype).astype(float)
        return self.add("Sub", "X", rounded), rounded

    def _add_view(self, view: AnyView) -> str:
        """Add the scores of a view, and return their name."""
        x, mean = self._subtract(view.mean)
        x = self.add("Add", self.add("Mul", x, view.factor), (mean - view.mean) * view.factor)
        if isinstance(view, TreeView):
            return self.add("Add", self._add_trees(x, view.trees), view.intercept)
        if isinstance(view, KernelView):
            norms = self.add("ReduceL2", x, axes=[1], keepdims=1)
            x = self.add("Div", x, self.add("Where", self.add("Equal", norms, 0.0), self.constant(1.0), norms))
            landmarks = view.landmarks.toarray() if sp.issparse(view.landmarks) else view.landmarks
            squares = self.add("Add", self.add("ReduceSumSquare", x, axes=[1], keepdims=1), view.squares)
            distances = self.add("Sub", squares, self.add("Mul", self.add("MatMul", x, landmarks.T), 2.0))
            x = self.add("Exp", self.add("Mul", self.add("Max", distances, 0.0), -view.gamma))
        return self.add("Add", self.add("MatMul", x, view.coef.T), view.intercept)

    def _add_trees(self, x: str, trees: Trees) -> str:
        """Add the sum of the values of trees, and return its name."""
        to, (n_nodes, n_labels) = self.onnx.TensorProto, trees.value.shape
        node = np.arange(n_nodes)
        leaf, size = trees.left == node, np.diff([*trees.roots, n_nodes])
        tree, start = np.repeat(np.arange(len(size)), size), np.repeat(trees.roots, size)
        # A number in single precision is at most the threshold if it is at most the next lower one in this precision.
        rounded = trees.threshold.astype(np.float32)
        lower = np.where(rounded > trees.threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)
        total = self.add(
            "TreeEnsembleRegressor",
            self.add("Cast", x, to=to.FLOAT),
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
        )
        return self.add("Cast", total, to=self.onnx.helper.np_dtype_to_tensor_dtype(self.dtype))

    def add_thresholds(self, thresholds: _Floats) -> None:
        """Add the labels whose scores are above their thresholds."""
        self._add_labels(self.add("Greater", "scores", thresholds))
        self.metadata["thresholds"] = np.nan_to_num(thresholds).tolist()  # JSON has no infinity

    def add_decisions(self, rule: DecisionRule) -> None:
        """Add the labels that a rule predicts; probabilities are the logistic function of scores."""
        self.metadata["decision"] = rule.decision
        if rule.thresholds_ is not None:
            self.add_thresholds(logit(rule.thresholds_))
        elif isinstance(rule.decision, Integral):
            self._add_top_k(int(rule.decision))
        else:
            weight = rule.sample_weight_
            per_sample = self.add("Mul", self._add_sample_thresholds(rule), weight)
            thresholds = self.add("Add", per_sample, (1 - weight) * rule.label_thresholds_ + rule.offset_)
            self._add_labels(self.add("Greater", "probabilities", thresholds))

    def _add_sample_thresholds(self, rule: DecisionRule) -> str:
        """Add the thresholds of the samples, see `DecisionRule`."""
        l = len(rule.label_thresholds_)
        axis, count = self.constant([1], np.int64), self.constant([l], np.int64)
        descending, _ = self.add("TopK", "probabilities", count, outputs=2, axis=1)
        sums = self.add("CumSum", descending, self.constant(1, np.int64))
        total = self.add("ReduceSum", "probabilities", axis, keepdims=1)
        half_f1 = self.add("Div", sums, self.add("Add", total, np.arange(1, l + 1)))
        best = self.add("ReduceMax", half_f1, axes=[1], keepdims=1)
        empty = self.add("ReduceProd", self.add("Sub", 1.0, "probabilities"), axes=[1], keepdims=1)
        some = self.add("Mul", self.add("Sub", 1.0, empty), best)
        return self.add("Add", some, self.add("Mul", empty, rule.common_threshold_))

    def _add_top_k(self, k: int) -> None:
        """Add the k labels with the largest probabilities; of equal ones, those with the lowest indices."""
        values, indices = self.add("TopK", "probabilities", self.constant([k], np.int64), outputs=2, axis=1)
        zeros = self.add("Sub", "probabilities", "probabilities")
        ones = self.add("Add", self.add("Sub", values, values), 1.0)
        self._add_labels(self.add("ScatterElements", zeros, indices, ones, axis=1))

    def _add_labels(self, positive: str) -> None:
        self.add("Cast", positive, output="labels", to=self.onnx.TensorProto.INT64)

    def graph(self, n_features: int, n_labels: int) -> Any:
        """Return the graph."""
        helper, numpy_helper = self.onnx.helper, self.onnx.numpy_helper
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        outputs: Sequence[tuple[str, Any]] = [
            ("scores", kind),
            ("probabilities", kind),
            ("labels", self.onnx.TensorProto.INT64),
        ]
        return helper.make_graph(
            self.nodes,
            "spmld",
            [helper.make_tensor_value_info("X", kind, ["n_samples", n_features])],
            [helper.make_tensor_value_info(name, type_, ["n_samples", n_labels]) for name, type_ in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
