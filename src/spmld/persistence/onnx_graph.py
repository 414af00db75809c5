"""Building ONNX graphs with skl2onnx: operators, and the nodes that they add."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ALIAS = "SpmldFormula"
"""Name of the operators of type `Formula`."""


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


@dataclass(frozen=True)
class Operators:
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
        return self.operator(Formula(function), ALIAS, inputs, n_columns)


def unsupported(got: str) -> ValueError:
    """Return the error for a part of a model that cannot be exported."""
    return ValueError(
        f"the model cannot be exported to ONNX, got {got}. Accepted: SelfPacedEnsemble with built-in views, "
        "MaskedBoosting, MaskedForest, linear models, PerLabelClassifier and MultiOutputClassifier of classifiers "
        "with predict_proba, and pipelines that end with one of these. Use spmld.save for other models"
    )
