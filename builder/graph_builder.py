"""`GraphBuilder`: all of `MLGraphBuilder`, `#api-mlgraphbuilder`, but the compilation of the graph; and builders without a context."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar, Unpack, overload

import numpy as np

from webnn.builder.base import BuilderBase, require_operand
from webnn.builder.graph import SHARES_NAMES, ComputationalGraph, collect
from webnn.builder.interfaces import State, Tensor
from webnn.builder.operand import MLOperand
from webnn.builder.ops.activation import ActivationOps
from webnn.builder.ops.binary import BinaryOps
from webnn.builder.ops.conv import ConvOps
from webnn.builder.ops.gather_scatter import GatherScatterOps
from webnn.builder.ops.logical import LogicalOps
from webnn.builder.ops.matmul import MatmulOps
from webnn.builder.ops.movement import MovementOps
from webnn.builder.ops.normalization import NormalizationOps
from webnn.builder.ops.pooling import PoolingOps
from webnn.builder.ops.quantization import QuantizationOps
from webnn.builder.ops.recurrent import RecurrentOps
from webnn.builder.ops.reduction import ReductionOps
from webnn.builder.ops.resample import ResampleOps
from webnn.builder.ops.tiling import TilingOps
from webnn.builder.ops.unary import UnaryOps
from webnn.builder.options import MLOperandDescriptor
from webnn.validation import buffers, webidl
from webnn.validation.data_type import conversion
from webnn.validation.descriptor import BITS, NUMPY_DTYPES, OperandDescriptor, is_float
from webnn.validation.member import class_of_draft
from webnn.validation.operand_descriptor import convertDescriptor
from webnn.validation.operation import Call, find_unsupported
from webnn.validation.suggestions import suggest_operation

if TYPE_CHECKING:
    from webnn.validation.buffers import Bytes
    from webnn.validation.descriptor import DataType
    from webnn.validation.revision import Revision

__all__ = ["ConstantMemory", "GraphBuilder", "LabellingBuilder", "Sketch", "make_sketch"]

_Kind = TypeVar("_Kind", bound="Sketch")

Array = np.ndarray[Any, np.dtype[Any]]

#: NumPy asks for huge pages for an array of 4 MiB or more: this takes a few page faults instead of a thousand.
_BLOCK = 2**24
_LARGE = 2**22
_SMALL = 2**12
_ALIGNMENT = 64


class GraphBuilder(
    ActivationOps,
    BinaryOps,
    ConvOps,
    GatherScatterOps,
    LogicalOps,
    MatmulOps,
    MovementOps,
    NormalizationOps,
    PoolingOps,
    QuantizationOps,
    RecurrentOps,
    ReductionOps,
    ResampleOps,
    TilingOps,
    UnaryOps,
    BuilderBase,
):
    """Builds a computational graph, operation by operation.

    Each method validates its arguments as the specification's steps say and returns new operands; nothing is computed.
    An options dictionary is given as a ``dict`` or as keyword arguments. A member or argument that is ``None`` counts as missing.

    Args:
        state: The state of the context that will compile the graph.
    """

    __slots__ = ("_inputs", "_memory")

    #: The class of tensors, which is not defined in this package.
    _tensorClass: ClassVar[type]

    if not TYPE_CHECKING:  # type checkers would take any name for a member

        def __getattr__(self, name: str) -> NoReturn:
            """Say which operation may be meant by a name that is missing."""
            if name.startswith("_") or hasattr(type(self), name):
                # A draft may lack the member, which that says itself.
                object.__getattribute__(self, name)
            meant = suggest_operation(name, self._revision.operations)
            advice = f"; did you mean {meant}?" if meant else ""
            # With the name and an object, Python would not look for similar names itself: it knows only some.
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{advice}", name=name, obj=None if meant else self
            )

    def __init__(self, state: State) -> None:
        """Run the steps of `#api-mlgraphbuilder-constructor`."""
        self._state = state
        self._revision = state.revision
        self._isGuarded = state.revision.build_once
        # [2026-06: 2] The context is not lost.
        if self._isGuarded:
            state.loss.check("MLGraphBuilder")
        # It has not built yet.
        self._hasBuilt = False
        self._inputs: set[str] = set()
        self._count = 0
        self._memory = ConstantMemory()
        self._calls = {}
        self._lines = {} if state.lines else None
        self._results = {}

    @overload
    def input(self, name: str, descriptor: MLOperandDescriptor) -> MLOperand: ...
    @overload
    def input(self, name: str, **members: Unpack[MLOperandDescriptor]) -> MLOperand: ...
    def input(self, name: str, descriptor: MLOperandDescriptor | None = None, **members: Any) -> MLOperand:
        """Create an operand for a graph input. `#api-mlgraphbuilder-input`.

        Args:
            name: The input's name, any non-empty string. Two inputs of one graph must not share a name.
            descriptor: ``dataType``, and ``shape`` (at most 8 sizes, from 1 to 2^31 - 1; none for a scalar). The draft 2024-06 calls
                it ``dimensions``, allows 2^32 - 1, and assumes a scalar if it is missing.
            members: The descriptor's members as keyword arguments.

        Raises:
            WebNNTypeError: The name is empty or taken, or the descriptor is not valid or not supported.
            InvalidStateError: The builder has built a graph, or its context is lost.
        """
        call = self._call("input", "#api-mlgraphbuilder-input")
        text = call.convert("name", call.revision.convert_name, name)
        converted = convertDescriptor(call, self._members(call, descriptor, members))
        # [2026-06: 1] The builder can build.
        self._checkCanBuild("input")
        # [1; 2026-06: 2] The name is not empty.
        if not text:
            raise call.error("name", "must not be empty", rule="name")
        shares = self._revision.extension(SHARES_NAMES) or self._revision.checks.names_in_build
        if self._revision.build_once and text in self._inputs and not shares:
            # [2026-06: 3] No other input of the builder has it. (Until then build() asks that of the inputs of a graph.)
            raise call.error("name", "must be another one for each input of a builder", webidl.describe(text), rule="name")
        # [2; 2026-06: 4] The dimensions are valid and supported.
        call.check_dimensions("descriptor", converted)
        self._checkTensor(call, "input", "descriptor", converted, text)
        # 5. (3.) Make graph connections.
        self._inputs.add(text)
        return MLOperand._create(self, converted, name=text)

    @overload
    def constant(self, descriptor: MLOperandDescriptor, buffer: Bytes, /) -> MLOperand: ...
    @overload
    def constant(self, dataType: DataType, value: float, /) -> MLOperand: ...
    @overload
    def constant(self, tensor: Tensor, /) -> MLOperand: ...
    def constant(self, descriptor: Any, buffer: Any = None, /) -> MLOperand:
        """Create a constant operand, from a buffer, from one number, or from a constant tensor.

        ``constant(descriptor, buffer)`` copies the bytes of a NumPy array, or of any object with the buffer protocol, whose byte length
        matches the descriptor; its element type is the descriptor's, or uint8 for plain bytes. The draft 2024-06 allows the first
        only. Memory of `bytes` and of a read-only `mmap` is used in place. `#api-mlgraphbuilder-constant-buffer`.

        ``constant(dataType, value)`` makes a scalar. The number is rounded to the nearest one of the type, ties to even; for an integer
        type NaN becomes 0. Until 2024-06, for an integer type, the fraction is dropped, and the rest wraps modulo 2^bits.
        `#api-mlgraphbuilder-constant-datatype-value`.

        ``constant(tensor)`` uses a tensor of `MLContext.createConstantTensor` in place. `#api-mlgraphbuilder-constant-tensor`.

        Args:
            descriptor: The descriptor, for the second form the data type, for the third one the tensor.
            buffer: The data in row-major order, or for the second form a number, which the draft 2024-06 wants to be finite.

        Raises:
            WebNNTypeError: The descriptor is not valid or not supported, the data does not match it, or the tensor is not constant, was
                destroyed, or is another context's.
            InvalidStateError: The builder has built a graph, or its context is lost.
        """
        if descriptor is None or webidl.isInstance(descriptor, Mapping):
            return self._constantFromBuffer(descriptor, buffer)
        if self._revision.tensors and webidl.isInstance(descriptor, self._tensorClass):
            return self._constantFromTensor(descriptor)
        return self._constantFromNumber(descriptor, buffer)

    def _constantFromBuffer(self, descriptor: object, buffer: object) -> MLOperand:
        """Run the steps of `#api-mlgraphbuilder-constant-buffer`; until 2024-06 `#api-mlgraphbuilder-constant-bufferview`."""
        revision = self._revision
        call = self._call(
            "constant", "#api-mlgraphbuilder-constant-buffer" if revision.any_buffer else "#api-mlgraphbuilder-constant-bufferview"
        )
        converted = convertDescriptor(call, descriptor)
        reason, view = buffers.as_array(buffer)
        if view is None:
            raise call.error("bufferView", reason)
        # [2026-06: 1] The builder can build.
        self._checkCanBuild("constant")
        # [1; 2026-06: 2] The dimensions are valid and supported.
        call.check_dimensions("descriptor", converted)
        if revision.any_buffer and view.dtype == np.uint8 and view.nbytes == converted.byte_length:
            view = np.ascontiguousarray(view).reshape(-1).view(NUMPY_DTYPES[converted.dataType])
        view = buffers.from_bits(view, converted, revision.types)
        # [2; 2026-06: 3] Type and length of the buffer match.
        reason = buffers.elements_mismatch(view, converted)
        if reason:
            raise call.error("bufferView", reason)
        return self._keepConstant(call, converted, view)

    def _keepConstant(self, call: Call, descriptor: OperandDescriptor, view: Array) -> MLOperand:
        """Run the last steps of `_constantFromBuffer`, whose others have checked that an array and a descriptor match."""
        detached = self._state.detached_reason(view)
        if detached:
            raise call.error("bufferView", detached)
        self._checkTensor(call, "constant", "descriptor", descriptor)
        # 4. (3.) Make graph connections, with a copy of the bytes unless nobody can change them.
        return MLOperand._create(self, descriptor, value=self._memory.keep(view, descriptor))

    def _constantFromTensor(self, tensor: Tensor) -> MLOperand:
        """Run the steps of `#api-mlgraphbuilder-constant-tensor`."""
        call = self._call("constant", "#api-mlgraphbuilder-constant-tensor")
        if self._revision.checks.builder_first:
            self._checkCanBuild("constant")
        if self._revision.acceptance is not None:
            self._revision.acceptance.accept_constant_tensor(call)
        # [2026-06: 1] The tensor belongs to the builder's context.
        if tensor._state is not self._state:
            raise call.error("tensor", "must be a tensor of the builder's context, but another one made it", rule="owner")
        # [2026-06: 2] It was not destroyed.
        value = tensor._constantArray()
        if value is None:
            raise call.error("tensor", "must not be destroyed", rule="destroyed")
        # [2026-06: 3] It is constant.
        if not tensor._isConstant:
            raise call.error("tensor", "must be made by createConstantTensor()", rule="usage")
        # [2026-06: 4] The builder can build.
        self._checkCanBuild("constant")
        # 5. Make graph connections, with the tensor's own memory.
        return MLOperand._create(self, tensor._descriptor, value=value)

    def _constantFromNumber(self, dataType: object, number: object) -> MLOperand:
        """Run the steps of `#api-mlgraphbuilder-constant-datatype-value`."""
        revision = self._revision
        anchor = "#api-mlgraphbuilder-constant-datatype-value" if revision.big_numbers else "#api-mlgraphbuilder-constant-type-value"
        call = self._call("constant", anchor)
        argument = "dataType" if revision.big_numbers else "type"
        converted = call.convert(argument, conversion(revision.types), dataType)
        value = call.convert("value", webidl.number if revision.big_numbers else webidl.double, number)
        # [2026-06: 1] The builder can build.
        self._checkCanBuild("constant")
        if revision.big_numbers:
            # 2. Since 2026-06 the number is cast to the type here; then the next step does not change it.
            value = call.cast("value", value, converted)
        # 3.-4. (1.-2.) A scalar operand with the number cast to its type.
        descriptor = OperandDescriptor(converted)
        self._checkTensor(call, "constant", argument, descriptor)
        return MLOperand._create(self, descriptor, value=_scalar(descriptor, value))

    def _collect(self, outputs: object) -> ComputationalGraph:
        """Run the steps of `build` up to the promise, `#api-mlgraphbuilder-build`."""
        call = self._call("build", "#api-mlgraphbuilder-build")
        graph = self._survey(call, outputs, builds=True)
        for name, operand in graph.outputs.items():
            self._checkTensor(call, "output", f"outputs[{webidl.describe(name)}]", operand.descriptor)
        # 16. The builder has built, even if the engine refuses the graph. (The draft 2024-06 lets it build again.)
        self._hasBuilt = self._isGuarded
        return graph

    def _survey(self, call: Call, outputs: object, *, builds: bool = False) -> ComputationalGraph:
        """Check the outputs of a graph as `MLGraphBuilder.build` does, and collect what they need. `#api-mlgraphbuilder-build`.

        If it ``builds``, and does not only read the graph, the builder must be able to build.
        """
        named = call.convert("outputs", partial(webidl.record, convert=require_operand, convertKey=call.revision.convert_name), outputs)
        if builds:
            # [2026-06: 2] The builder can build.
            self._checkCanBuild("build")
        # [1; 2026-06: 3] There are outputs.
        if not named:
            raise call.error("outputs", "must not be empty", rule="length")
        for name, operand in named.items():
            # [2.1; 2026-06: 4.1] Each has a name.
            if not name and not call.revision.checks.outputs_later:
                raise call.error("outputs", "must not have an empty name", rule="name")
            # [2.2; 2026-06: 4.2] Each was made by this builder.
            if operand._builder is not self:
                raise call.error(
                    f"outputs[{webidl.describe(name)}]", "must be an operand of this builder, but another one made it", rule="owner"
                )
            # [2.3; 2026-06: 4.3] None is an input or a constant.
            if operand._operator is None:
                kind = "a constant" if operand._name is None else f"the input {webidl.describe(operand._name)}"
                raise call.error(
                    f"outputs[{webidl.describe(name)}]", f"must be the result of an operation, but it is {kind}", rule="result"
                )
        return collect(named)

    def _checkTensor(
        self, call: Call, kind: Literal["input", "constant", "output"], argument: str, descriptor: OperandDescriptor, label: str = ""
    ) -> None:
        """Check an operand against the limits of the context's device profile, if it has one; see `Acceptance.accept_tensor`."""
        if call.revision.acceptance is not None:
            call.revision.acceptance.accept_tensor(call, kind, argument, descriptor, label)

    def _call(self, operation: str, anchor: str) -> Call:
        return Call(operation, anchor, self._revision)


# The values of constant operands: the copy of a buffer, and the cast of a number.


class ConstantMemory:
    """The memory of a builder's constants: those of medium size share blocks. A block lives as long as one of its constants."""

    __slots__ = ("_block", "_lock", "_used")

    def __init__(self) -> None:
        self._block = np.empty(0, np.uint8)
        self._used = 0
        self._lock = threading.Lock()

    def keep(self, view: Array, descriptor: OperandDescriptor) -> Array:
        """Return an array of a view's bytes, in row-major order, that nobody writes to: the same memory if nobody can, otherwise a copy."""
        # A small constant must not keep a large file in memory.
        if view.nbytes >= _SMALL and view.flags.c_contiguous and view.flags.aligned and _is_unwritable(view):
            return view.reshape(descriptor.array_shape)
        return self._copy(view, descriptor)

    def _copy(self, view: Array, descriptor: OperandDescriptor) -> Array:
        dtype = NUMPY_DTYPES[descriptor.dataType]
        if not _SMALL <= view.nbytes < _LARGE:
            return np.array(view, dtype=dtype, order="C").reshape(descriptor.array_shape)
        copied = self._take(view.nbytes).view(dtype).reshape(view.shape)
        copied[...] = view
        return copied.reshape(descriptor.array_shape)

    def _take(self, size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        with self._lock:
            if self._used + size > self._block.size:
                self._block = np.empty(_BLOCK, np.uint8)
                self._used = -self._block.ctypes.data % _ALIGNMENT
            start = self._used
            self._used = start + size + -size % _ALIGNMENT
            return self._block[start : start + size]


def _is_unwritable(view: Array) -> bool:
    """Tell whether nobody can write to a view's memory: it belongs to an object of `bytes`, or to an `mmap` made with ``ACCESS_READ``.

    A read-only array over memory that an array owns does not count: the owner can be made writeable again. Subclasses do not count, because
    they may give away other memory, nor do other exporters, such as a library's arrays that came by DLPack: they cannot be asked.
    """
    owner: Any = view
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.obj if isinstance(owner, memoryview) else owner.base
    # An mmap says whether it can be written to only through a buffer. It cannot be closed or changed while an array has its buffer.
    return type(owner) is bytes or (type(owner) is mmap.mmap and memoryview(owner).readonly)


def _scalar(descriptor: OperandDescriptor, number: float) -> Array:
    """Cast a number to the data type of a scalar: Web IDL's integer conversion, or rounding to nearest.

    Until 2024-06 the number is a finite double. Since 2026-06 it is already cast (`Revision.cast`), and not changed here.
    """
    dtype = NUMPY_DTYPES[descriptor.dataType]
    if is_float(descriptor.dataType):
        with np.errstate(over="ignore"):
            return np.array(number, dtype)
    # A single small integer is in the low bits of its byte.
    bits = np.array(int(number) % 2 ** BITS[descriptor.dataType], f"u{dtype.itemsize}")
    return bits.view(dtype).reshape(descriptor.array_shape)


# Builders without a context.


class Sketch(GraphBuilder):
    """A builder without a context. It does not copy constants."""

    __slots__ = ()
    _tensorClass: ClassVar[type] = type(None)

    def constantOver(self, dataType: DataType, array: np.ndarray[Any, np.dtype[Any]]) -> MLOperand:
        """Create a constant operand over the memory of an array: its elements in row-major order, in the NumPy type of the data type.

        The type is not a small one. Raises `WebNNTypeError` if the array has a dimension of size 0, or too many dimensions or bytes.
        """
        descriptor = OperandDescriptor(dataType, array.shape)
        reason = find_unsupported(self._revision, descriptor)
        if reason:
            raise self._call("constant", "#api-mlgraphbuilder-constant-buffer").error("descriptor", reason, rule="limit")
        return MLOperand._create(self, descriptor, value=array)


class LabellingBuilder(Sketch):
    """A builder that gives each operator a label: the name of what it comes from."""

    __slots__ = ("_label",)

    @property
    def label(self) -> str:
        """The label of the operators that are made next."""
        return self._label

    @label.setter
    def label(self, label: str) -> None:
        self._label = label


def make_sketch(kind: type[_Kind], revision: Revision) -> _Kind:
    """Make a builder of a draft."""
    builder: _Kind = object.__new__(class_of_draft(kind, "MLGraphBuilder", revision) if revision.reshapes else kind)
    GraphBuilder.__init__(builder, _NoContext(revision))
    builder._memory = _Views()
    # It never builds, and its context cannot be lost.
    builder._isGuarded = False
    return builder


@dataclass(frozen=True, slots=True)
class _NoContext:
    """Stands in for the context of a builder without one."""

    revision: Revision
    lines: ClassVar[bool] = False

    @property
    def loss(self) -> _NoContext:
        return self

    def check(self, operation: str) -> None:
        """Do nothing: the context cannot be lost."""

    def detached_reason(self, view: object) -> str:
        return ""


class _Views(ConstantMemory):
    """Leaves constants where they are."""

    __slots__ = ()

    def keep(self, view: np.ndarray[Any, np.dtype[Any]], descriptor: OperandDescriptor) -> np.ndarray[Any, np.dtype[Any]]:
        return view.reshape(descriptor.array_shape)
