"""Additional members of `MLGraphBuilder`: inputs with dimensions that have names, and the new operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, cast

from webnn.builder.base import BuilderBase
from webnn.builder.describe import value_key
from webnn.builder.operand import MLOperand, Operator
from webnn.builder.options import Numbers
from webnn.proposals.dynamic_shapes.chains import find_values
from webnn.proposals.dynamic_shapes.operations import VALUE_OPERANDS, ValuedDescriptor
from webnn.proposals.dynamic_shapes.recording import Recording
from webnn.proposals.dynamic_shapes.sizes import Explored, Path, Size, explore
from webnn.validation import webidl
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.named_descriptor import UNRANKED, NamedDescriptor, UnrankedDescriptor, has_names
from webnn.validation.operation import Call

__all__ = ["DynamicBuilder"]

_LABEL = frozenset({"label"})
#: The largest element of an operand that is read as a list of sizes.
_LARGEST = 2**32 - 1


class DerivedName(str):
    """The name of a dimension that was computed. It is equal to itself alone, whatever a program calls its dimensions."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__


class DynamicBuilder(BuilderBase):
    """The additional members of ``MLGraphBuilder``."""

    __slots__ = ()

    def input(self, name: str, descriptor: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Create an operand for a graph input. A dimension is a size, or the name of a size that is known when the graph is dispatched.

        Args:
            name: The input's name, any non-empty string.
            descriptor: ``dataType`` and ``shape``. Dimensions with the same name have the same size.
            members: The descriptor's members as keyword arguments.
        """
        base: Any = super()
        call = Call("input", "#api-mlgraphbuilder-input", self._revision)
        given = self._members(call, descriptor, members)
        if not webidl.isIterable(given.get("shape")):
            return cast(MLOperand, base.input(name, given))
        sizes = list(call.convert("descriptor.shape", _read_all, given["shape"]))
        names: dict[int, Any] = {
            axis: size if isinstance(size, Size) else str.__str__(size) for axis, size in enumerate(sizes) if isinstance(size, str | Size)
        }
        if any(name == "" for name in names.values() if isinstance(name, str)):
            raise call.error("descriptor.shape", "must not have an empty name", sizes)
        # Its smallest form goes through the steps of the draft.
        smallest = [max(1, self._revision.min_dimension) if axis in names else size for axis, size in enumerate(sizes)]
        operand = cast(MLOperand, base.input(name, {**given, "shape": smallest}))
        if names:
            dimensions: Any = tuple([names.get(axis, size) for axis, size in enumerate(operand.descriptor.dimensions)])
            kind = NamedDescriptor if any(isinstance(size, str) for size in dimensions) else OperandDescriptor
            operand.descriptor = kind(operand.descriptor.dataType, dimensions)
            if kind is OperandDescriptor:
                call.check_dimensions("descriptor", operand.descriptor)
                self._checkTensor(call, "input", "descriptor", operand.descriptor, name)
        return operand

    def shape(self, input: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Return the shape of an operand, as a 1-D operand of uint32."""
        return self._single("shape", (input,), (), options, members)

    def range(
        self, start: MLOperand, limit: MLOperand, delta: MLOperand, options: Mapping[str, Any] | None = None, **members: Any
    ) -> MLOperand:
        """Return the numbers from ``start`` on, in steps of ``delta``, that are before ``limit``."""
        return self._single("range", (start, limit, delta), (), options, members)

    def modulusFloor(self, a: MLOperand, b: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Return the remainder of a division that rounds down: it has the sign of ``b``."""
        return self._single("modulusFloor", (a, b), (), options, members)

    def modulusTruncate(self, a: MLOperand, b: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Return the remainder of a division that rounds towards zero: it has the sign of ``a``."""
        return self._single("modulusTruncate", (a, b), (), options, members)

    def squeeze(self, input: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Remove dimensions of size 1: those of ``axes``, by default all."""
        return self._single("squeeze", (input,), (), options, members)

    def unsqueeze(self, input: MLOperand, axes: Numbers, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Insert dimensions of size 1; ``axes`` are those of the output."""
        return self._single("unsqueeze", (input,), (axes,), options, members)

    def reshapeTo2d(self, input: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Join the dimensions before ``axis``, by default 1, and those from it on."""
        return self._single("reshapeTo2d", (input,), (), options, members)

    def reshapeDynamic(self, input: MLOperand, newShape: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Change the shape to the elements of ``newShape``: `reshape` with a shape that is computed."""
        return self._single("reshapeDynamic", (input, newShape), (), options, members)

    def expandDynamic(self, input: MLOperand, newShape: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Broadcast to the elements of ``newShape``: `expand` with a shape that is computed."""
        return self._single("expandDynamic", (input, newShape), (), options, members)

    def sliceDynamic(
        self, input: MLOperand, starts: MLOperand, sizes: MLOperand, options: Mapping[str, Any] | None = None, **members: Any
    ) -> MLOperand:
        """Cut out a part: `slice` with starts and sizes that are computed."""
        return self._single("sliceDynamic", (input, starts, sizes), (), options, members)

    def padDynamic(
        self,
        input: MLOperand,
        beginningPadding: MLOperand,
        endingPadding: MLOperand,
        options: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> MLOperand:
        """Add zeros around: `pad` with numbers of elements that are computed."""
        return self._single("padDynamic", (input, beginningPadding, endingPadding), (), options, members)

    def splitDynamic(
        self, input: MLOperand, splits: MLOperand, options: Mapping[str, Any] | None = None, **members: Any
    ) -> list[MLOperand]:
        """Cut along an axis: `split` with sizes of the parts that are computed. Their number is that of the elements of ``splits``."""
        return self._sequence("splitDynamic", (input, splits), (), options, members)

    def resample2dDynamic(self, input: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Resample: `resample2d` with ``sizes`` that are computed."""
        return self._single("resample2dDynamic", (input,), (), options, members)

    def tileDynamic(self, input: MLOperand, repetitions: MLOperand, options: Mapping[str, Any] | None = None, **members: Any) -> MLOperand:
        """Repeat along each axis: `tile` with repetitions that are computed."""
        return self._single("tileDynamic", (input, repetitions), (), options, members)

    def _connect(
        self, name: str, operands: tuple[object, ...], arguments: tuple[object, ...], options: object, members: Mapping[str, Any]
    ) -> Operator:
        # To look for sizes among those of earlier calls would ask what numbers they are.
        self._results = None
        row = self._revision.operations[name]
        call = Call(name, row.anchor, self._revision)
        given: Mapping[str, Any] = self._members(call, options, members) if options is not None or members else {}
        if row.variadic and webidl.isIterable(operands[0]):
            operands = (list(call.convert(row.operands[0], _read_all, operands[0])),)
        inputs = cast("Sequence[Any]", operands[0] if row.variadic else operands)
        optional = {member: given[member] for member in row.members if member in given}
        every = [*inputs, *optional.values()] if isinstance(inputs, list | tuple) else []
        isOwn = all(type(each) is MLOperand and each._builder is self for each in every)
        if not isOwn or not (name in VALUE_OPERANDS or any(has_names(each.descriptor) for each in every)):
            return super()._connect(name, operands, arguments, given or None, {})
        # A validator runs several times: what can be read once is read here.
        arguments = tuple([_read(call, each.name, value) for each, value in zip(row.arguments, arguments, strict=True)])
        given = {member: _read(call, f"options.{member}", value) for member, value in given.items()}
        label = given.get("label")
        call = replace(call, label=label if isinstance(label, str) else "")
        count = self._count
        shadows = _Shadows(self, call)
        # Only the first run warns of members that are ignored.
        names = _LABEL if row.options is None else row.options.member_names("label")
        readings = chain([given], repeat({member: value for member, value in given.items() if member in names}))

        def run(path: Path) -> Operator:
            self._count = count
            shaded = [shadows.make(path, row.operands[0 if row.variadic else index], each) for index, each in enumerate(inputs)]
            chosen = {member: shadows.make(path, member, each) for member, each in optional.items()}
            passed = {**next(readings), **chosen}
            return super(DynamicBuilder, self)._connect(name, (shaded,) if row.variadic else tuple(shaded), arguments, passed or None, {})

        explored = explore(run)
        self._count = count + 1
        found = explored.results[0]
        results = tuple(_merge(f"{name}{self._count}", explored))
        result = results[0] if isinstance(found.result, OperandDescriptor) else results
        return Operator(
            row, self._count, found.label, tuple(inputs), tuple(optional.items()), found.arguments, found.options, result, given or None
        )

    def _checkTensor(self, call: Call, kind: Any, argument: str, descriptor: OperandDescriptor, label: str = "") -> None:
        # A device is asked about the sizes once they are known.
        if not has_names(descriptor):
            base: Any = super()
            base._checkTensor(call, kind, argument, descriptor, label)


_read_all = webidl.sequence(lambda element: element)


def _read(call: Call, argument: str, value: object) -> object:
    """Return a value that can be read again."""
    return list(call.convert(argument, _read_all, value)) if isinstance(value, Iterator) else value


class _Shadows:
    """Makes operands with sizes to compute with in the place of those of a call."""

    def __init__(self, builder: DynamicBuilder, call: Call) -> None:
        self._builder = builder
        self._call = call
        self._values: dict[int, Any] = {}

    def make(self, path: Path, argument: str, operand: MLOperand) -> MLOperand:
        """Return the operand of an argument."""
        descriptor = operand.descriptor
        if has_names(descriptor):
            descriptor = OperandDescriptor(descriptor.dataType, self._dimensions(path, operand))
        if argument in VALUE_OPERANDS.get(self._call.operation, ()):
            descriptor = ValuedDescriptor(descriptor.dataType, descriptor.dimensions, self._elements(path, argument, operand, descriptor))
        return MLOperand._create(self._builder, descriptor)

    def _dimensions(self, path: Path, operand: MLOperand) -> Any:
        revision = self._builder._revision
        sizes: Any = operand.descriptor.dimensions
        if isinstance(operand.descriptor, UnrankedDescriptor):
            key, ranks = value_key(operand), operand.descriptor.ranks
            sizes = [("axis", key, axis) for axis in range(ranks[path.choose_once(("rank", key), len(ranks))])]
        return tuple(
            [size if isinstance(size, int) else path.named(size, revision.min_dimension, revision.max_dimension) for size in sizes]
        )

    def _elements(self, path: Path, argument: str, operand: MLOperand, descriptor: OperandDescriptor) -> tuple[Any, ...]:
        if id(operand) not in self._values:
            self._values[id(operand)] = find_values(self._call, argument, operand)
        values = self._values[id(operand)]
        if values is None:
            count = 1
            for size in descriptor.dimensions:
                count *= size.__index__()
            values = [None] * count if len(descriptor.dimensions) <= 1 else []
        else:
            values = values.reshape(-1).tolist()
        revision = self._builder._revision
        elements = []
        for value in values:
            named = path.named(value, revision.min_dimension, revision.max_dimension) if isinstance(value, str) else value
            elements.append(path.fresh(0, _LARGEST) if named is None else named)
        return tuple(elements)


def _merge(name: str, explored: Explored[Operator]) -> Iterator[OperandDescriptor]:
    """Return the descriptors of what several runs gave: what is the same in all of them, and new names for the rest."""
    outputs = list(zip(*[operator.outputs for operator in explored.results], strict=True))
    for position, descriptors in enumerate(outputs):
        dataType = descriptors[0].dataType
        ranks = {len(each.dimensions) for each in descriptors}
        if len(ranks) > 1:
            yield UnrankedDescriptor(dataType, UNRANKED, tuple(sorted(ranks)))
            continue
        place = name if len(outputs) == 1 else f"{name}_output{position}"
        dimensions: Any = []
        for axis, sizes in enumerate(zip(*[each.dimensions for each in descriptors], strict=True)):
            size = _common_size(explored.paths, sizes) if explored.complete else None
            dimensions.append(DerivedName(f"{place}_axis{axis}") if size is None else size)
        kind = NamedDescriptor if any(isinstance(size, str) for size in dimensions) else OperandDescriptor
        yield kind(dataType, tuple(dimensions))


def _common_size(paths: Sequence[Path], sizes: Sequence[int | Size]) -> int | str | Size | None:
    """Return what a dimension is in all runs: a number, or the name of a dimension of the same size; ``None`` if it is nothing of that."""
    plain = [_plain(size) for size in sizes]
    # A run may know the size of what has a name.
    candidate = next((each for each in plain if not isinstance(each, int)), plain[0])
    for path, each in zip(paths, plain, strict=True):
        if each is None or (each != candidate and path.known(candidate) != each):
            return None
    return candidate


def _plain(size: int | Size) -> int | str | Size | None:
    """Return a size as an operand shows it: a number, or the name of a dimension that it is the size of. One that is recorded is known."""
    if isinstance(size, int) or isinstance(size.path, Recording):
        return size
    low, high = size.bounds()
    if low == high:
        return low
    return size.name if isinstance(size.name, str) else None
