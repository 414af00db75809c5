"""Building ONNX graphs with skl2onnx: tensors with the arithmetic of NumPy, and operators that are formulas of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partialmethod
from typing import Any

import numpy as np

ALIAS = "SpmldFormula"
"""Name of the operators of type `Formula`."""


@dataclass(frozen=True, eq=False)
class Tensor:
    """A value of the graph that skl2onnx is writing. Arithmetic adds nodes, as NumPy computes arrays.

    Numbers and arrays become constants in single precision.

    Parameters
    ----------
    scope, container : object
        Names and content of the graph, of skl2onnx.
    name : str
        Name of the value in the graph.
    """

    scope: Any
    container: Any
    name: str

    __array_ufunc__ = None  # so that an array on the left leaves the operation to the tensor

    def constant(self, value: Any, dtype: Any = np.float32) -> "Tensor":
        """Add a constant to the same graph."""
        from onnx.numpy_helper import from_array

        name = str(self.scope.get_unique_variable_name("constant"))
        tensor = from_array(np.ascontiguousarray(value, dtype=dtype).reshape(np.shape(value)))
        self.container.add_initializer(name, None, None, tensor)
        return replace(self, name=name)

    def text(self, value: str) -> "Tensor":
        """Add a constant text to the same graph."""
        from onnx import TensorProto

        name = str(self.scope.get_unique_variable_name("text"))
        self.container.add_initializer(name, TensorProto.STRING, [1], [value.encode()])
        return replace(self, name=name)

    def apply(self, operation: str, *others: Any, outputs: int = 1, domain: str = "", **options: Any) -> Any:
        """Add a node, and return its output, or its outputs; `others` are its other inputs."""
        tensors = [value if isinstance(value, Tensor) else self.constant(value) for value in (self, *others)]
        results = [str(self.scope.get_unique_variable_name(operation.lower())) for _ in range(outputs)]
        name = self.scope.get_unique_operator_name(operation)
        inputs = [tensor.name for tensor in tensors]
        self.container.add_node(operation, inputs, results, op_domain=domain, name=name, **options)
        made = [replace(self, name=result) for result in results]
        return made[0] if outputs == 1 else made

    __add__ = partialmethod(apply, "Add")
    __sub__ = partialmethod(apply, "Sub")
    __mul__ = partialmethod(apply, "Mul")
    __truediv__ = partialmethod(apply, "Div")
    __matmul__ = partialmethod(apply, "MatMul")
    __gt__ = partialmethod(apply, "Greater")

    def __rsub__(self, other: Any) -> "Tensor":
        return self.constant(other) - self

    def reduce(self, operation: str) -> "Tensor":
        """Return a sum, maximum or norm of each row, with one column."""
        return self.apply(operation, axes=[1], keepdims=1)

    def cast(self, dtype: Any) -> "Tensor":
        """Return the values in another type."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return self.apply("Cast", to=np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def columns(self, indices: Any) -> "Tensor":
        """Return some columns."""
        return self.apply("Gather", self.constant(indices, np.int64), axis=1)


def concatenate(tensors: Sequence[Tensor]) -> Tensor:
    """Return the columns of several tensors."""
    return tensors[0].apply("Concat", *tensors[1:], axis=1)


def log_ratio(p: Tensor, q: Tensor) -> Tensor:
    """Return log(p / q), with p and q bounded from below as in `spmld.estimators.outputs.log_odds`."""
    bound = np.finfo(float).eps
    return p.apply("Max", bound).apply("Log") - q.apply("Max", bound).apply("Log")


@dataclass(frozen=True)
class Formula:
    """An operator of a graph: a function that returns its outputs, computed from its inputs as tensors.

    skl2onnx calls its converter when the inputs have names.
    """

    function: Callable[..., Any]

    @staticmethod
    def convert(scope: Any, operator: Any, container: Any) -> None:
        """Add the nodes of an operator; a converter of skl2onnx."""
        inputs = [Tensor(scope, container, name) for name in operator.input_full_names]
        results = operator.raw_operator.function(*inputs)
        for result, output in zip([results] if isinstance(results, Tensor) else results, operator.outputs, strict=True):
            name = scope.get_unique_operator_name("Identity")
            container.add_node("Identity", [result.name], [output.full_name], name=name)

    @staticmethod
    def infer_shapes(operator: Any) -> None:
        """Leave the types of the outputs, which are known before; a shape calculator of skl2onnx."""


@dataclass(frozen=True)
class Operators:
    """Declares the operators of a graph, which skl2onnx converts one by one."""

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
        """Declare an operator by a function of tensors."""
        return self.operator(Formula(function), ALIAS, inputs, n_columns)


def unsupported(got: str) -> ValueError:
    """Return the error for a part of a model that cannot be exported."""
    return ValueError(
        f"the model cannot be exported to ONNX, got {got}. Accepted: SelfPacedEnsemble with built-in views, "
        "MaskedBoosting, MaskedForest, linear models, PerLabelClassifier and MultiOutputClassifier of classifiers "
        "with predict_proba, and pipelines that end with one of these. Use spmld.save for other models"
    )
