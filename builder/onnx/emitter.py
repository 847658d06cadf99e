"""The emitter: makes ONNX nodes, initializers, casts and transposes, as protobuf messages directly.

The ``onnx.helper`` functions check and copy several times; here each message is made once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import GraphProto, ModelProto

from webnn.builder.numerics import DEFAULT_NUMERICS, Numerics
from webnn.builder.onnx.messages import Attribute, Graph, declare
from webnn.builder.onnx.named import Names, emit_sizes, infer_one
from webnn.builder.onnx.values import Array, View, Weight
from webnn.builder.onnx_names import ELEMENT_TYPES, MICROSOFT
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, DataType, OperandDescriptor, Shape, Types, is_data_type

if TYPE_CHECKING:
    from webnn.builder.operand import MLOperand, Operator

__all__ = ["BOOL", "INT64_MIN", "Attribute", "Emit", "Emitter", "Op", "Translation"]

#: The kernels of this version are the measured ones (docs/numerics.md).
OPSET = 21
IR_VERSION = 10

#: `ELEMENT_TYPES` by NumPy's data types, because it takes long to make their names.
_ARRAY_TYPES: Mapping[np.dtype[Any], int] = MappingProxyType(
    {(NUMPY_DTYPES[name] if is_data_type(name) else np.dtype(name)): n for name, n in ELEMENT_TYPES.items() if name not in SMALL_TYPES}
)
BOOL = "bool"
INT64_MIN = -(2**63)

#: Nodes that the engine's optimizer does not move a transpose over.
_FIXED = frozenset({"AveragePool", "Conv", "ConvTranspose"})

#: Nodes whose result is in the engine's blocked layout if all their inputs are. The result of a convolution is.
_BLOCKED = frozenset({"Add", "AveragePool", "BatchNormalization", "Concat", "GlobalAveragePool", "MaxPool", "Mul", "Relu"})

#: Constants below this size stay inside the model: shape inference cannot read external ones.
INLINE_BYTES = 128


class Op:
    """One operator, as its translation sees it: ONNX value names in place of operands, types after `Translation.carry`.

    Attributes:
        name: The operation's name.
        inputs: The ONNX value of each operand argument and of each option member that was given (``"input"``, ``"bias"``);
            for a variadic operation ``"inputs[0]"`` and so on.
        operands: The operands themselves, by the same names.
        outputs: The outputs' types and shapes.
        options: The converted options; ``None`` if the operation has none.
        carried: For each operand that is carried by another type, that type.
    """

    __slots__ = ("_operator", "carried", "inputs", "name", "operands", "options", "outputs")

    def __init__(
        self,
        operator: Operator,
        operands: dict[str, MLOperand],
        inputs: dict[str, str],
        outputs: tuple[OperandDescriptor, ...],
        carried: Mapping[str, DataType],
    ) -> None:
        self.name = operator.operation.name
        self.inputs = inputs
        self.operands = operands
        self.outputs = outputs
        self.options: Any = operator.options
        self.carried = carried
        self._operator = operator

    def __getitem__(self, argument: str) -> str:
        """Return the ONNX value of an operand that must be there."""
        return self.inputs[argument]

    def get(self, member: str) -> str | None:
        """Return the ONNX value of an optional operand, ``None`` if it was not given."""
        return self.inputs.get(member)

    def shape(self, argument: str) -> Shape:
        """Return the shape of an operand."""
        return self.operands[argument].descriptor.dimensions

    def type(self, argument: str) -> DataType:
        """Return the data type in which an operand is computed."""
        carrier = self.carried.get(argument)
        return self.operands[argument].descriptor.dataType if carrier is None else carrier

    @property
    def index(self) -> int:
        """The operator's number."""
        return self._operator.index

    @property
    def label(self) -> str:
        """The operator's label, empty if it has none."""
        return self._operator.label

    @property
    def arguments(self) -> dict[str, Any]:
        """The positional arguments other than operands, converted, by name."""
        return self._operator.named_arguments

    @property
    def constants(self) -> dict[str, Array]:
        """The values of those operands that are constants, in their own types, by the names of `inputs`."""
        return {name: operand._value for name, operand in self.operands.items() if operand._value is not None}


#: Emits an operator; returns the ONNX value of its output, or of each of its outputs.
Emit = Callable[["Emitter", Op], "str | Sequence[str]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """How one operation becomes ONNX nodes.

    Attributes:
        emit: The function that emits the nodes.
        fast: The function that emits them where the numerics are "fast"; by default ``emit``. It may return other numbers, but must not
            give up what keeps a kernel from crashing, or from reading out of bounds.
        carry: Data types for which the engine has no (right) kernel, with the type that carries them. Every operand of the primary
            operand's type is cast to the carrier before; every output of that type is cast back after. Float16 is rounded here.
        native: The types of `ML_DTYPES` that the nodes take. The others are carried by float32, whatever operand has them.
        primary: The position of the operand whose data type is looked up in ``carry``.
        fixed: Operands that are never cast (indices, conditions).
        elementwise: The nodes do not depend on the order of the operands' dimensions, so a transpose may be moved behind them.
        kernel: The only node that ``emit`` makes of float32 operands, all of which it takes in their order, without attributes; it is the
            same under both policies. Then ``emit`` need not be called.
    """

    emit: Emit
    fast: Emit | None = None
    carry: Mapping[DataType, DataType] = field(default_factory=dict)
    native: Types = ()
    primary: int = 0
    fixed: tuple[str, ...] = ()
    elementwise: bool = False
    kernel: str = ""

    def choose(self, numerics: Numerics) -> Emit:
        """Return the function that emits the nodes under a numerics policy."""
        return self.emit if self.fast is None or numerics == "exact" else self.fast


class Emitter:
    """Collects the parts of an ONNX graph.

    Unused values are not emitted: constants and transposes are added when a node takes them. Two transposes in a row become one transpose,
    or none. A transposed or reshaped constant becomes a new constant. So a network in "nhwc", in which each operation is emitted between
    two transposes, keeps only those at its ends. The engine would remove the others too, but that takes as long as the rest of its work.

    Attributes:
        contributed: Whether operators of ONNX Runtime's own may be used.
        numerics: The numerics policy. A translation that differs has a ``fast`` function; what spans several operators asks here.
    """

    def __init__(self, numerics: Numerics = DEFAULT_NUMERICS, *, contributed: bool = False) -> None:
        self.contributed = contributed
        self.numerics: Numerics = numerics
        # The graph is made inside the model: putting it there afterwards would copy it.
        self._model = ModelProto(ir_version=IR_VERSION, producer_name="webnn")
        self._model.opset_import.add(domain="", version=OPSET)
        self._model.graph.name = "webnn"
        self.graph = Graph(self._model.graph)
        self.weights: list[Weight] = []
        self._scope, self._count = "graph", 0
        self._literals: dict[tuple[np.dtype[Any], Shape, bytes], str] = {}
        #: The constants, C-contiguous, by name, which nothing writes to; `_pending` has the values that are not in the graph yet.
        self.constants: dict[str, Array] = {}
        #: The constants of small integers: their bytes.
        self._packed: dict[str, tuple[Array, OperandDescriptor]] = {}
        self._views: dict[str, View] = {}
        self._pending: set[str] = set()
        #: The scalars that got dimensions of size 1, with those; their nodes may be in `_pending`, too.
        self._spread: dict[str, tuple[str, Sequence[int]]] = {}
        #: The uint8 values that are 128 larger than int8 values, by these.
        self._unsigned: dict[str, str] = {}
        #: Values through which the engine can still push a transpose.
        self._turned: set[str] = set()
        #: Values in the blocked layout of the engine's convolutions, where that is known.
        self._blocked: set[str] = set()
        self.names = Names()
        #: The numbers of the operators whose result an ``add`` takes.
        self.added: Set[int] = frozenset()

    def scope(self, name: str) -> None:
        """Begin an operator: the names of its nodes and values start with ``name``."""
        self._scope = name
        self._count = 0

    def node(self, op_type: str, inputs: Sequence[str | None], **attributes: Attribute) -> str:
        """Add a node with one output, and return that. An input that is ``None`` or empty leaves an optional one out."""
        name = self._name()
        self._add(op_type, inputs, name, (name,), attributes)
        return name

    def nodes(self, op_type: str, inputs: Sequence[str | None], outputs: int | Sequence[bool], **attributes: Attribute) -> list[str]:
        """Add a node with several outputs.

        ``outputs`` is their number, or says for each one whether it is wanted. One that is not wanted is returned as an empty string.
        """
        name = self._name()
        if isinstance(outputs, int):
            names = [name] if outputs == 1 else [f"{name}:{index}" for index in range(outputs)]
        else:
            names = [f"{name}:{index}" if wanted else "" for index, wanted in enumerate(outputs)]
        self._add(op_type, inputs, name, names, attributes)
        return names

    def _name(self) -> str:
        name = f"{self._scope}.{self._count}"
        self._count += 1
        return name

    def _add(
        self, op_type: str, inputs: Sequence[str | None], name: str, outputs: Sequence[str], attributes: Mapping[str, Attribute]
    ) -> None:
        values = [*inputs]
        # Some kernels crash on an optional input that is given but empty.
        while values and not values[-1]:
            values.pop()
        if self._pending and not self._pending.isdisjoint(values):
            for value in values:
                self.require(value or "")
        if self._turned and op_type not in _FIXED and not self._turned.isdisjoint(values):
            self._turned.update(outputs)
        if op_type == "Conv" or (
            self._blocked and op_type in _BLOCKED and self._blocked.issuperset(values[:1] if op_type == "BatchNormalization" else values)
        ):
            self._blocked.update(outputs)
        domain = ""
        if op_type in MICROSOFT:
            domain = "com.microsoft"
            if len(self._model.opset_import) == 1:
                self._model.opset_import.add(domain=domain, version=1)
        self.graph.add(op_type, values, name, outputs, attributes, domain)

    @contextmanager
    def subgraph(self, name: str) -> Iterator[GraphProto]:
        """Emit into a graph of its own until the block ends. Values from outside must have been taken by a node outside before."""
        body, outer = Graph(GraphProto(name=name)), self.graph
        self.graph = body
        views, spread, unsigned, pending = self._views, self._spread, self._unsigned, self._pending
        self._views, self._spread, self._unsigned, self._pending = {**views}, {**spread}, {**unsigned}, {*pending}
        try:
            yield body.proto
        finally:
            self.graph = outer
            # Nodes that were deferred, and were emitted inside, are not there outside. Constants are.
            left = {value for value in self._pending if self.is_constant(value)}
            self._views, self._spread, self._unsigned = views, spread, unsigned
            self._pending = left | {value for value in pending if not self.is_constant(value)}
        body.finish()
        # Literals are shared by the whole graph: move those that were added to the outer graph.
        outer.proto.initializer.extend(body.proto.initializer)
        body.proto.ClearField("initializer")

    def finish(self) -> ModelProto:
        """Return the model."""
        self.graph.finish()
        return self._model

    def literal(self, array: Array) -> str:
        """Return an initializer inside the model; equal ones are shared."""
        data = array.tobytes()
        key = array.dtype, array.shape, data
        name = self._literals.get(key)
        if name is None:
            name = self._literals[key] = f"literal.{len(self._literals)}"
            self.graph.initialize(name, _ARRAY_TYPES[array.dtype], array.shape, data)
        return name

    def scalar(self, value: float, dtype: str) -> str:
        """Return a 0-D initializer of a type."""
        return self.literal(np.array(value, dtype))

    def ints(self, values: Sequence[int]) -> str:
        """Return a 1-D int64 value: axes, shapes, pads. It is an initializer, unless a size has a name."""
        return emit_sizes(self, values) if self.names else self.literal(np.array(values, np.int64))

    def weight(self, name: str, value: Array, descriptor: OperandDescriptor | None = None) -> str:
        """Add a constant operand: a large one by reference, in place, a small one by value. It is added when a node takes it.

        Args:
            name: The name of the initializer, unique in the graph.
            value: The array, C-contiguous; nothing writes to it any more.
            descriptor: The operand's descriptor. Small integers need it, because an array of their bytes does not show it.
        """
        if descriptor is not None and descriptor.dataType in SMALL_TYPES:
            if name not in self._packed:
                self._packed[name] = value, descriptor
                self._pending.add(name)
        elif name not in self.constants:
            self.constants[name] = value
            self._pending.add(name)
        return name

    def is_constant(self, value: str) -> bool:
        """Tell whether a value is a constant. `reshape` of a constant needs no node."""
        return value in self.constants or value in self._packed

    def _add_constant(self, name: str) -> None:
        if name in self._packed:
            value, descriptor = self._packed[name]
            data_type, shape = ELEMENT_TYPES[descriptor.dataType], descriptor.dimensions
        else:
            value = self.constants[name]
            data_type, shape = _ARRAY_TYPES[value.dtype], value.shape
        if value.nbytes < INLINE_BYTES:
            self.graph.initialize(name, data_type, shape, value.tobytes())
            return
        # Without an offset and a length, the constant is the whole file.
        self.graph.initialize(name, data_type, shape, None)
        self.weights.append(Weight(name, value))

    def require(self, value: str) -> None:
        """Add the constant or the node of a value, if it was deferred."""
        if value not in self._pending:
            return
        self._pending.remove(value)
        if self.is_constant(value):
            self._add_constant(value)
        elif value in self._spread:
            scalar, shape = self._spread[value]
            self._add("Reshape", [scalar, self.ints(shape)], value, [value], {})
        elif value in self._unsigned:
            # The sum wraps.
            total = f"{value}+"
            self._add("Add", [self._unsigned[value], self.scalar(128, "uint8")], total, [total], {})
            self._add("Cast", [total], value, [value], {"to": ELEMENT_TYPES["int8"]})
        else:
            self._add_transpose(value)

    def cast(self, value: str, dtype: str) -> str:
        """Cast a value to a type of `ELEMENT_TYPES`, as ONNX Runtime casts."""
        return self.elementwise("Cast", [value], to=ELEMENT_TYPES[dtype])

    def elementwise(self, op_type: str, inputs: Sequence[str], **attributes: Attribute) -> str:
        """Add an elementwise node, before the transpose of its inputs if they all have the same one."""
        views = [self._views.get(value) for value in inputs] if self._views else []
        first = views[0] if views else None
        if first is None or any(view is None or view.permutation != first.permutation for view in views):
            return self.node(op_type, inputs, **attributes)
        return self.transpose(self.node(op_type, [view.source for view in views if view], **attributes), first.permutation)

    def transpose(self, value: str, permutation: Sequence[int]) -> str:
        """Permute the dimensions of a value. For each dimension of the result, ``permutation`` has the index of the value's dimension."""
        view = self._views.get(value)
        if view is not None:
            value, permutation = view.source, [view.permutation[axis] for axis in permutation]
        order = tuple(permutation)
        if order == tuple(range(len(order))):
            return value
        name = f"{value}^{','.join(map(str, order))}"
        constant = self.constants.get(value)
        if constant is not None:
            return name if name in self.constants else self.weight(name, np.ascontiguousarray(constant.transpose(order)))
        if name not in self._views:
            self._views[name] = View(value, order)
            self._pending.add(name)
        return name

    def _add_transpose(self, name: str) -> None:
        view = self._views[name]
        self.require(view.source)
        self.graph.add("Transpose", (view.source,), f"{self._scope}.{name}", (name,), {"perm": view.permutation})
        self._turned.add(name)

    def is_turned(self, value: str) -> bool:
        """Tell whether the engine's optimizer may move a transpose of this value behind the node that takes it."""
        return value in self._turned

    def is_blocked(self, value: str) -> bool:
        """Tell whether a node's output probably is in the blocked layout of the engine's convolutions."""
        return value in self._blocked

    def view(self, value: str, rank: int) -> View:
        """Return a value as a view of a node's output; such an output is a view of itself."""
        return self._views.get(value) or View(value, tuple(range(rank)))

    def reshape(self, value: str, shape: Sequence[int]) -> str:
        """Give a value another shape of as many elements; one dimension may be -1, unless they are small integers."""
        packed = self._packed.get(value)
        if packed is not None:
            # The bytes are the same.
            name = f"{value}={','.join(map(str, shape))}"
            return self.weight(name, packed[0], OperandDescriptor(packed[1].dataType, tuple(shape)))
        constant = self.constants.get(value)
        if constant is None:
            scalar = self._spread.get(value, ("", ()))[0]
            return scalar if scalar and not shape else self.node("Reshape", [scalar or value, self.ints(infer_one(shape))])
        reshaped = constant.reshape(tuple(shape))
        return self.weight(f"{value}={','.join(map(str, reshaped.shape))}", reshaped)

    def spread(self, scalar: str, shape: Sequence[int]) -> str:
        """Give a scalar dimensions of size 1. The node is emitted when another one takes it; `reshape` gives the scalar back."""
        if self.is_constant(scalar):
            return self.reshape(scalar, shape)
        name = self._name()
        self._spread[name] = scalar, shape
        self._pending.add(name)
        return name

    def signed(self, value: str) -> str:
        """Return uint8 numbers less 128, as int8. The nodes are emitted when another one takes the result; `unsigned` takes it back."""
        name = self._name()
        self._unsigned[name] = value
        self._pending.add(name)
        return name

    def unsigned(self, value: str, rank: int) -> str:
        """Return int8 numbers plus 128, as uint8."""
        view = self.view(value, rank)
        shifted = self._unsigned.get(view.source)
        if shifted is None:
            # Negative numbers become those that are 256 larger, and the sum wraps.
            shifted = self.node("Add", [self.node("Cast", [view.source], to=ELEMENT_TYPES["uint8"]), self.scalar(128, "uint8")])
            self._unsigned[view.source] = shifted
        return self.transpose(shifted, view.permutation)

    def reduce(self, op_type: str, value: str, rank: int, axes: Sequence[int], *, keep: bool) -> str:
        """Reduce dimensions of a value, at least one, by an ONNX operator such as "ReduceSum"; keep them with size 1 if wanted."""
        view = self.view(value, rank)
        result = self.node(op_type, [view.source, self.ints([view.permutation[axis] for axis in axes])], keepdims=int(keep))
        left = [axis for index, axis in enumerate(view.permutation) if keep or index not in axes]
        return self.transpose(result, [sorted(left).index(axis) for axis in left])

    def from_layout(self, value: str, layout: str) -> str:
        """Bring a 4-D value to "nchw"."""
        return self.transpose(value, (0, 3, 1, 2)) if layout == "nhwc" else value

    def to_layout(self, value: str, layout: str) -> str:
        """Bring a 4-D value in "nchw" to a layout."""
        return self.transpose(value, (0, 2, 3, 1)) if layout == "nhwc" else value

    @property
    def has_views(self) -> bool:
        """Some value is transposed, so that `align` may find something."""
        return bool(self._views)

    def align(self, values: dict[str, str], operands: Mapping[str, MLOperand]) -> tuple[dict[str, str], tuple[int, ...]]:
        """Find the values that an elementwise node may take in place of transposed ones.

        ``values`` are broadcast with each other; they and their operands go by the operands' names.

        Returns:
            The values to take, and the permutation that brings the node's result into order. If there are no such values: the given ones,
            and no permutation.
        """
        views = [self._views[value] for value in values.values() if value in self._views]
        if not views:
            return values, ()
        permutation = views[0].permutation
        rank = len(permutation)
        inverse = sorted(range(rank), key=permutation.__getitem__)
        aligned: dict[str, str] = {}
        for name, value in values.items():
            shape, view = operands[name].descriptor.dimensions, self._views.get(value)
            if view is not None and view.permutation == permutation:
                aligned[name] = view.source
            elif len(shape) <= rank and all(size == 1 for size in shape):
                aligned[name] = value
            elif len(shape) <= rank and value in self.constants:
                aligned[name] = self.transpose(self.reshape(value, [1] * (rank - len(shape)) + list(shape)), inverse)
            else:
                return values, ()
        return aligned, permutation

    def declare_input(self, name: str, descriptor: OperandDescriptor) -> str:
        """Declare an input of the graph."""
        declare(self.graph.proto.input.add(name=name), descriptor)
        return self.names.note(name, descriptor)

    def declare_output(self, name: str, descriptor: OperandDescriptor) -> None:
        """Declare an output of the graph."""
        self.require(name)
        declare(self.graph.proto.output.add(name=name), descriptor)
