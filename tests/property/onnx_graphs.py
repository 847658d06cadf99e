"""Random ONNX graphs: nodes on values whose elements are known, because ONNX Runtime has computed each node when it was drawn.

Each value has a tolerance. It is 0 where only exact results are right: what moves, compares or counts. The other nodes are computed again,
with operands that are off by their tolerances, or by a unit of the last place. So the tolerance of a result comes from how the node itself
passes on errors. Operators that jump take exact operands only.

Errors of two operands can cancel: a mean is subtracted, a determinant is 0. So there are several perturbations, each with other signs.
Two roundings do not depend on operands and are added: that of the result, and that of functions within a node (`_WITHIN`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, NodeProto, defs, helper, numpy_helper

from tests.support import Array

__all__ = ["NEWEST", "OLDEST", "Drawing", "Drawn", "Recipe", "Unsuitable", "Value", "draw"]


def _find_newest() -> int:
    """Return the newest opset that the installed ONNX Runtime runs and the installed onnx knows."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    info = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [info], [helper.make_empty_tensor_value_info("y")])
    for version in range(defs.onnx_opset_version(), OLDEST, -1):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception:  # the engine's own
            continue
        return version
    raise RuntimeError("the installed ONNX Runtime runs no opset")


#: The opsets of the graphs: from the oldest that is imported to the newest that both packages have.
OLDEST = 7
NEWEST = _find_newest()
#: The most elements of a value, and its largest magnitude: beyond it, errors tell little.
_MOST_ELEMENTS, _LARGEST = 4000, 1000.0
#: The unit of the last place. float64 is computed in float32.
_UNIT = {"float32": 2.0**-23, "float16": 2.0**-10, "float64": 2.0**-23}
#: The allowed error of a result: a multiple of the perturbations' effect, plus a number of units of its largest element.
_FACTOR = 16.0
#: The perturbations of a node. The errors of two operands cancel in all of them with a probability of 2**-16.
_PERTURBATIONS = 16
#: Nodes that add to 1, or subtract from it, before their result: 1 / (1 + e), e - 1, log(1 + e). That rounds to a unit of 1, however small
#: the result is: ONNX Runtime's Sigmoid of -17 is 8.9e-8, not 4.1e-8, and where it has computed a result of 0, -17 times Sigmoid is off by
#: 15 units. float16 is computed in float32, so that its unit is the same.
_WITHIN = frozenset({"Celu", "Elu", "GRU", "If", "LSTM", "LogSoftmax", "RNN", "ReduceLogSumExp", "Selu", "Sigmoid", "Softplus"})
#: Nodes that multiply their operand by such a result.
_GATED = frozenset({"Gelu", "Swish"})

FLOATS = ("float32", "float16", "float64")
SIGNED = ("int32", "int64", "int8")
INTEGERS = (*SIGNED, "uint8", "uint32", "uint64")


class Unsuitable(Exception):
    """A recipe does not fit: the opset, the types, or the values."""


@dataclass(frozen=True)
class Value:
    """A value of a graph.

    Attributes:
        name: Its name.
        array: Its elements.
        tolerance: How far off they may be, absolute; 0 if they must be exact.
        last: No node may take it, because ONNX infers another shape. Its inference counts windows that begin behind the image.
    """

    name: str
    array: Array
    tolerance: float = 0.0
    last: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        shape: tuple[int, ...] = self.array.shape
        return shape

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return self.array.dtype.name

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return self.array.ndim


@dataclass
class Drawing:
    """A graph that is being drawn.

    Attributes:
        random: The source of chance.
        version: The opset.
        values: The values that nodes may take.
        refused: Why ONNX Runtime has refused a node.
    """

    random: np.random.Generator
    version: int
    values: list[Value] = field(default_factory=list)
    nodes: list[NodeProto] = field(default_factory=list)
    inputs: dict[str, Array] = field(default_factory=dict)
    initializers: dict[str, Array] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)

    # Chance.

    def integer(self, low: int, high: int) -> int:
        """Draw an integer, the ends included."""
        return int(self.random.integers(low, high, endpoint=True))

    def chance(self, probability: float = 0.5) -> bool:
        """Draw a bool."""
        return bool(self.random.random() < probability)

    def choice(self, options: Sequence[Any]) -> Any:
        """Draw one of several things."""
        return options[self.integer(0, len(options) - 1)]

    def number(self, low: float, high: float) -> float:
        """Draw a float32."""
        return float(np.float32(self.random.uniform(low, high)))

    def axis(self, rank: int) -> int:
        """Draw an axis, from the front or from the back."""
        return self.integer(-rank, rank - 1)

    def axes(self, rank: int, low: int = 1) -> list[int]:
        """Draw different axes, each from the front or from the back."""
        chosen = self.random.permutation(rank)[: self.integer(min(low, rank), rank)]
        return [int(axis) - rank * self.chance() for axis in chosen]

    def shape(self, low: int = 0, high: int = 4, longest: int = 5) -> list[int]:
        """Draw a shape."""
        return [self.integer(1, self.choice([1, 3, longest])) for _ in range(self.integer(low, high))]

    def broadcastable(self, shape: Sequence[int]) -> list[int]:
        """Draw a shape that broadcasts to another one."""
        kept = list(shape)[self.integer(0, len(shape)) if self.chance(0.3) else 0 :]
        return [1 if self.chance(0.25) else size for size in kept]

    def elements(self, dtype: str, shape: Sequence[int], low: float = -4, high: float = 4) -> Array:
        """Draw elements; those of floating-point types are half of the time whole numbers and halves, so that there are ties and zeros."""
        if dtype == "bool":
            return self.random.random(shape) < 0.5
        if np.dtype(dtype).kind in "iu":
            least = max(int(low * 2), 0) if dtype.startswith("u") else int(low * 2)
            return self.random.integers(least, int(high * 2), shape, endpoint=True).astype(dtype)
        if self.chance() and np.floor(high * 2) > np.ceil(low * 2):
            numbers = self.random.integers(int(np.ceil(low * 2)), int(np.floor(high * 2)), shape, endpoint=True) / 2
        else:
            numbers = self.random.uniform(low, high, shape)
        # All types carry what float32 and float16 have.
        return np.asarray(numbers).astype("float16" if dtype == "float16" else "float32").astype(dtype)

    # Values.

    def new(self, array: Array, *, known: bool | None = None) -> Value:
        """Add an input, an initializer or a constant node with these elements."""
        name = f"v{len(self.values)}_{len(self.nodes)}_{len(self.inputs) + len(self.initializers)}"
        array = np.asarray(array)
        if known or (known is None and self.chance(0.4)):
            if self.chance(0.3):
                self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array)))
            else:
                self.initializers[name] = array
        else:
            self.inputs[name] = array
        value = Value(name, array)
        if not known:
            self.values.append(value)
        return value

    def leaf(self, dtype: str, shape: Sequence[int], low: float = -4, high: float = 4) -> Value:
        """Add a value that no node makes."""
        return self.new(self.elements(dtype, shape, low, high))

    def known(self, array: Any, dtype: str = "int64") -> Value:
        """Add a value that must be known at import."""
        return self.new(np.asarray(array, dtype), known=True)

    def pick(
        self,
        types: Sequence[str] = FLOATS,
        *,
        rank: tuple[int, int] = (0, 5),
        shape: Sequence[int] | None = None,
        low: float = -_LARGEST,
        high: float = _LARGEST,
        exact: bool = False,
    ) -> Value:
        """Return a value that is there, or a new one.

        Args:
            types: Its element types.
            rank: Its smallest and its largest number of dimensions.
            shape: Its shape.
            low: Its smallest element.
            high: Its largest element.
            exact: It must be exact.
        """
        fitting = [
            value
            for value in self.values
            if value.dtype in types
            and not value.last
            and rank[0] <= value.rank <= rank[1]
            and (shape is None or value.shape == tuple(shape))
            and not (exact and value.tolerance)
            and (value.dtype == "bool" or (low <= value.array.min() and value.array.max() <= high))
        ]
        if fitting and self.chance(0.8):
            # Newer values make longer chains.
            return fitting[-1] if self.chance() else self.choice(fitting)
        drawn = self.shape(*rank) if shape is None else shape
        likely = [each for each in types if each in ("float32", "int64", "bool")]
        dtype = self.choice(likely) if likely and self.chance(0.6) else self.choice(types)
        return self.leaf(dtype, drawn, max(low, -4), min(high, 4) if high > max(low, -4) else high)

    # Nodes.

    def emit(
        self,
        operator: str,
        inputs: Sequence[Value | None],
        *,
        outputs: int = 1,
        exact: bool = False,
        outer: Sequence[Value] = (),
        **attributes: Any,
    ) -> list[Value]:
        """Add a node, which is computed, and return its outputs.

        Args:
            operator: The operator.
            inputs: The inputs; None for one that is missing.
            outputs: The number of outputs.
            exact: The results are exact if the operands are.
            outer: The values that its bodies take from around the node.
            attributes: The attributes; None for one that is missing.

        Raises:
            Unsuitable: The opset does not have it, or the results are not numbers that can be compared.
        """
        names = [f"n{len(self.nodes)}_{index}" for index in range(outputs)]
        given = {name: value for name, value in attributes.items() if value is not None}
        node = helper.make_node(operator, ["" if each is None else each.name for each in inputs], names, **given)
        operands = [*(each for each in inputs if each is not None), *outer]
        arrays = {each.name: each.array for each in operands}
        _check_types(node, self.version, inputs)
        try:
            session = _compile(node, arrays, self.version)
            results = _run(session, arrays)
        except Exception as error:
            self.refused[f"{operator}: {_reason(error)}"] += 1
            raise Unsuitable from None
        off = [0.0] * outputs
        if not exact or any(each.tolerance for each in operands):
            try:
                again = [_run(session, {each.name: _perturb(self.random, each) for each in operands}) for _ in range(_PERTURBATIONS)]
            except Exception:  # what is not allowed any more
                raise Unsuitable from None
            within = float(np.abs(operands[0].array).max()) if operator in _GATED else float(operator in _WITHIN)
            off = [_tolerance(result, others, within) for result, *others in zip(results, *again, strict=True)]
        last = [not _agrees(info.shape, result.shape) for info, result in zip(session.get_outputs(), results, strict=True)]
        made = [Value(*each) for each in zip(names, results, off, last, strict=True)]
        for each in made:
            _check_result(each)
        self.nodes.append(node)
        self.values.extend(made)
        return made


#: Adds a node, or some, to a graph.
Recipe = Callable[[Drawing], object]


@dataclass(frozen=True)
class Drawn:
    """A graph with its inputs, and the values that it must give.

    Attributes:
        model: The model.
        feeds: The inputs.
        dims: The sizes of the named dimensions.
        values: All values that nodes make.
        operators: The operators of the nodes.
        refused: Why ONNX Runtime refused nodes that were drawn.
    """

    model: ModelProto
    feeds: Mapping[str, Array]
    dims: Mapping[str, int]
    values: Mapping[str, Value]
    operators: Sequence[str]
    refused: Mapping[str, int]


def draw(seed: int, recipes: Mapping[str, Recipe], least: str = "", *, all_outputs: bool = False) -> Drawn:
    """Draw a graph.

    Args:
        seed: The same one gives the same graph.
        recipes: The recipes to draw from.
        least: The recipe of the first node.
        all_outputs: All values are outputs.
    """
    random = np.random.default_rng(seed)
    drawing = Drawing(random, int(random.integers(OLDEST, NEWEST, endpoint=True)))
    if drawing.chance(0.3):
        drawing.version = drawing.integer(17, NEWEST)
    wanted = drawing.integer(1, 7)
    names = list(recipes)
    for attempt in range(60):
        if len(drawing.nodes) >= wanted and any(node.op_type != "Constant" for node in drawing.nodes):
            break
        before = len(drawing.nodes), len(drawing.values), dict(drawing.inputs), dict(drawing.initializers)
        if attempt % 20 == 19:
            # This opset has little of it.
            drawing.version = NEWEST if not drawing.nodes else drawing.version
        try:
            recipes[least if least and attempt < 20 and not drawing.nodes else drawing.choice(names)](drawing)
        except Unsuitable:
            del drawing.nodes[before[0] :], drawing.values[before[1] :]
            drawing.inputs, drawing.initializers = before[2], before[3]
    return _finish(drawing, all_outputs=all_outputs)


def _finish(drawing: Drawing, *, all_outputs: bool) -> Drawn:
    made = {name for node in drawing.nodes if node.op_type != "Constant" for name in node.output if name}
    values = {value.name: value for value in drawing.values if value.name in made}
    taken = {name for node in drawing.nodes for name in node.input}
    ends = [name for name in values if all_outputs or name not in taken or drawing.chance(0.2)]
    dims: dict[str, int] = {}
    inputs = []
    for name, array in drawing.inputs.items():
        shape: list[int | str] = list(array.shape)
        for axis, size in enumerate(array.shape):
            if drawing.chance(0.15):
                shape[axis] = f"d{size}"
                dims[f"d{size}"] = size
        inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape))
    outputs = [helper.make_tensor_value_info(name, _number(values[name]), None) for name in ends]
    initializers = [numpy_helper.from_array(array, name) for name, array in drawing.initializers.items()]
    graph = helper.make_graph(drawing.nodes, "g", inputs, outputs, initializers)
    model = _model(graph, drawing.version)
    operators = [node.op_type for node in drawing.nodes if node.op_type != "Constant"]
    return Drawn(model, drawing.inputs, dims, values, operators, drawing.refused)


def _number(value: Value) -> int:
    return helper.np_dtype_to_tensor_dtype(value.array.dtype)


def _model(graph: onnx.GraphProto, version: int) -> ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)


def _check_types(node: NodeProto, version: int, inputs: Sequence[Value | None]) -> None:
    """Refuse a node that the opset does not have, or not for these types."""
    try:
        schema = defs.get_schema(node.op_type, version)
    except defs.SchemaError:
        raise Unsuitable from None
    allowed = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
    for index, value in enumerate(inputs):
        parameter = schema.inputs[min(index, len(schema.inputs) - 1)]
        if value is not None:
            name = {"float32": "float", "float64": "double"}.get(value.dtype, value.dtype)
            if f"tensor({name})" not in allowed.get(parameter.type_str, [parameter.type_str]):
                raise Unsuitable


def _compile(node: NodeProto, arrays: Mapping[str, Array], version: int) -> onnxruntime.InferenceSession:
    """Return a session of ONNX Runtime for a node, as it is written."""
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape) for name, each in arrays.items()]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = _model(helper.make_graph([node], "g", inputs, outputs), version)
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _run(session: onnxruntime.InferenceSession, arrays: Mapping[str, Array]) -> list[Array]:
    return [np.asarray(each) for each in session.run(None, dict(arrays))]


def _agrees(inferred: Sequence[int | str | None], shape: Sequence[int]) -> bool:
    """Return whether an inferred shape can be this one. It is empty if nothing is inferred."""
    return not inferred or (len(inferred) == len(shape) and all(a == b for a, b in zip(inferred, shape, strict=True) if isinstance(a, int)))


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return "no kernel" if "NOT_IMPLEMENTED" in text else text[:160]


def _perturb(random: np.random.Generator, value: Value) -> Array:
    """Return the elements, off by the tolerance, or by a unit of the last place."""
    unit = _UNIT.get(value.dtype)
    if unit is None:
        return value.array
    wide = value.array.astype(np.float64)
    off = np.maximum(np.abs(wide) * unit, value.tolerance) * random.choice([-1.0, 1.0], wide.shape)
    return np.asarray((wide + off).astype(value.array.dtype))


def _tolerance(result: Array, again: Sequence[Array], within: float) -> float:
    """Return how far off a result may be, from those of perturbed operands and the magnitude of a function within the node."""
    unit = _UNIT.get(result.dtype.name)
    if unit is None or not result.size:
        # Integers that come from inexact numbers would not be told from wrong ones.
        if not all(np.array_equal(result, other) for other in again):
            raise Unsuitable
        return 0.0
    with np.errstate(all="ignore"):
        wide = result.astype(np.float64)
        change = np.abs(np.stack(again).astype(np.float64) - wide).max()
        return float(_FACTOR * (change + max(unit * np.abs(wide).max(), _UNIT["float32"] * within)))


def _check_result(value: Value) -> None:
    """Refuse what tells nothing."""
    array = value.array
    if array.size == 0 or array.size > _MOST_ELEMENTS or array.ndim > 5:
        raise Unsuitable
    if array.dtype.kind == "f":
        largest = np.abs(array).max()
        if not np.isfinite(largest) or largest > _LARGEST or not value.tolerance <= 0.05 * max(1.0, float(largest)):
            raise Unsuitable
    elif array.dtype.kind in "iu" and array.dtype.itemsize > 1 and np.abs(array.astype(np.float64)).max() > 1e6:
        raise Unsuitable
