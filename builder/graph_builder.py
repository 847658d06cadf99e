"""`MLGraphBuilder`: `#api-mlgraphbuilder`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack, overload

from webnn.builder import constants
from webnn.builder.base import BuilderBase, require_operand
from webnn.builder.graph import ComputationalGraph, collect
from webnn.builder.interfaces import ContextBase
from webnn.builder.operand import MLOperand
from webnn.builder.ops.activation import ActivationOps
from webnn.builder.ops.binary import BinaryOps
from webnn.builder.ops.conv import ConvOps
from webnn.builder.ops.gather_scatter import GatherScatterOps
from webnn.builder.ops.logical import LogicalOps
from webnn.builder.ops.matmul import MatmulOps
from webnn.builder.ops.normalization import NormalizationOps
from webnn.builder.ops.pooling import PoolingOps
from webnn.builder.ops.recurrent import RecurrentOps
from webnn.builder.ops.reduction import ReductionOps
from webnn.builder.ops.resample import ResampleOps
from webnn.builder.ops.tensor import TensorOps
from webnn.builder.ops.unary import UnaryOps
from webnn.builder.options import MLOperandDescriptor
from webnn.validation import webidl
from webnn.validation.dictionary import OperandDescriptorDictionary, convert, convertDataType
from webnn.validation.errors import WebNNTypeError
from webnn.validation.operation import Call

if TYPE_CHECKING:
    import asyncio

    from webnn.context.graph import MLGraph
    from webnn.validation.descriptor import DataType, OperandDescriptor

__all__ = ["MLGraphBuilder"]


class MLGraphBuilder(
    ActivationOps,
    BinaryOps,
    ConvOps,
    GatherScatterOps,
    LogicalOps,
    MatmulOps,
    NormalizationOps,
    PoolingOps,
    RecurrentOps,
    ReductionOps,
    ResampleOps,
    TensorOps,
    UnaryOps,
    BuilderBase,
):
    """Builds a computational graph, operation by operation, and compiles it. `#api-mlgraphbuilder`.

    Each method validates its arguments as the specification's steps say and returns new operands; nothing is computed before `build`.
    An options dictionary is given as a ``dict`` or as keyword arguments. A member or argument that is ``None`` counts as missing.

    Args:
        context: The context that will compile and compute the graph.

    Raises:
        WebNNTypeError: ``context`` is no `MLContext`.
        SecurityError: The document is not allowed to use the feature ``webnn``. `#api-mlgraphbuilder-constructor`.
    """

    __slots__ = ("_memory",)

    def __init__(self, context: ContextBase) -> None:
        if not isinstance(context, ContextBase):
            raise WebNNTypeError(
                f"MLGraphBuilder: context must be an MLContext, got {webidl.describe(context)}",
                operation="MLGraphBuilder",
                argument="context",
                anchor="#api-mlgraphbuilder-constructor",
            )
        # 1. The document may use the feature.
        context._checkAllowed("MLGraphBuilder")
        # 2. The builder is bound to the context.
        self._context = context
        self._count = 0
        self._memory = constants.ConstantMemory()
        self._calls = {}
        self._defaults = {}

    @overload
    def input(self, name: str, descriptor: MLOperandDescriptor) -> MLOperand: ...

    @overload
    def input(self, name: str, **members: Unpack[MLOperandDescriptor]) -> MLOperand: ...

    def input(self, name: str, descriptor: MLOperandDescriptor | None = None, **members: Any) -> MLOperand:
        """Create an operand for a graph input. `#api-mlgraphbuilder-input`.

        Args:
            name: The input's name, any non-empty string. Two inputs of one graph must not share a name.
            descriptor: ``dataType``, and ``dimensions`` (each from 1 to 2^32 - 1, at most 8 of them; none for a scalar).
            members: The descriptor's members as keyword arguments.

        Raises:
            WebNNTypeError: The name is empty, or the descriptor is not valid or not supported.
        """
        call = self._call("input", "#api-mlgraphbuilder-input")
        try:
            text = webidl.domString(name)
        except webidl.ConversionError as error:
            raise call.error("name", error.reason) from None
        converted = self._descriptor(call, self._members(call, descriptor, members))
        # 1. The name is not empty.
        if not text:
            raise call.error("name", "must not be empty")
        # 2. The dimensions are valid and supported.
        self._checkDimensions(call, converted)
        # 3. Make graph connections.
        return MLOperand._create(self, converted, name=text)

    @overload
    def constant(self, descriptor: MLOperandDescriptor, bufferView: object, /) -> MLOperand: ...

    @overload
    def constant(self, type: DataType, value: float, /) -> MLOperand: ...

    def constant(self, descriptor: Any, bufferView: Any, /) -> MLOperand:
        """Create a constant operand, from a buffer or from one number.

        ``constant(descriptor, bufferView)`` copies the bytes of a NumPy array, or of any object with the buffer protocol, whose
        element type and byte length match the descriptor. `#api-mlgraphbuilder-constant-bufferview`.

        ``constant(type, value)`` makes a scalar. For an integer type the fraction is dropped and the rest wraps modulo 2^bits.
        `#api-mlgraphbuilder-constant-type-value`.

        Args:
            descriptor: The descriptor, or for the second form the data type.
            bufferView: The data in row-major order, or for the second form a finite number.

        Raises:
            WebNNTypeError: The descriptor is not valid or not supported, the data does not match it, or the number is not finite.
        """
        if descriptor is None or isinstance(descriptor, Mapping):
            call = self._call("constant", "#api-mlgraphbuilder-constant-bufferview")
            converted = self._descriptor(call, descriptor)
            view = constants.as_view(call, bufferView)
            # 1. The dimensions are valid and supported.
            self._checkDimensions(call, converted)
            # 2. Type and length of the buffer match.
            constants.check_view(call, view, converted)
            if self._context._isDetached(view):
                raise call.error("bufferView", "must not be detached: an earlier compute() transferred its memory")
            # 3. Make graph connections, with a copy of the bytes.
            return MLOperand._create(self, converted, value=self._memory.copy(view, converted))
        call = self._call("constant", "#api-mlgraphbuilder-constant-type-value")
        try:
            dataType = convertDataType(descriptor)
        except webidl.ConversionError as error:
            raise call.error("type", error.reason) from None
        try:
            number = webidl.double(bufferView)
        except webidl.ConversionError as error:
            raise call.error("value", error.reason) from None
        # 1.-2. A scalar operand with the number cast to its type.
        scalar = constants.scalar(dataType, number)
        return MLOperand._create(self, scalar.descriptor, value=scalar.value)

    def build(self, outputs: Mapping[str, MLOperand]) -> asyncio.Future[MLGraph]:
        """Compile the graph up to the outputs, on the context's timeline. `#api-mlgraphbuilder-build`.

        Args:
            outputs: The operands to be computed, by non-empty names. Inputs and constants cannot be outputs.

        Returns:
            A future of the graph. It fails with `WebNNTypeError` if the outputs are not valid or two inputs share a name, and with
            `OperationError` if the engine refuses an operator.
        """
        try:
            graph = self._collect(outputs)
        except Exception as error:  # a failed step rejects the promise
            return self._context._rejected(error)
        return self._context._build(graph)

    def buildSync(self, outputs: Mapping[str, MLOperand]) -> MLGraph:
        """Compile the graph up to the outputs and wait for it: `build` for scripts.

        Args:
            outputs: As for `build`.

        Raises:
            WebNNTypeError: The outputs are not valid, or two inputs share a name.
            OperationError: The engine refuses an operator.
        """
        graph: MLGraph = self._context._buildSync(self._collect(outputs))
        return graph

    def _collect(self, outputs: object) -> ComputationalGraph:
        """Run the steps of `build` up to the promise."""
        call = self._call("build", "#api-mlgraphbuilder-build")
        try:
            named = webidl.record(outputs, require_operand)
        except webidl.ConversionError as error:
            raise call.error(f"outputs{error.path}", error.reason) from None
        # 1. There are outputs.
        if not named:
            raise call.error("outputs", "must not be empty")
        for name, operand in named.items():
            # 2.1. Each has a name.
            if not name:
                raise call.error("outputs", "must not have an empty name")
            # 2.2. Each was made by this builder.
            if operand._builder is not self:
                raise call.error(f"outputs[{name!r}]", "must be an operand of this builder, but another one made it")
            # 2.3. None is an input or a constant.
            if operand._operator is None:
                kind = "a constant" if operand._name is None else f"the input {operand._name!r}"
                raise call.error(f"outputs[{name!r}]", f"must be the result of an operation, but it is {kind}")
        return collect(named)

    def _call(self, operation: str, anchor: str) -> Call:
        return Call(operation, anchor, self._context._revision)

    def _descriptor(self, call: Call, members: object) -> OperandDescriptor:
        try:
            return constants.to_descriptor(convert(OperandDescriptorDictionary, members))
        except webidl.ConversionError as error:
            raise call.error(f"descriptor{error.path}", error.reason) from None

    def _checkDimensions(self, call: Call, descriptor: OperandDescriptor) -> None:
        reason = self._context._revision.unsupported(descriptor)
        if reason:
            raise call.error("descriptor", reason)
