"""The neutral form of a StableHLO program: modules, functions, operations and values.

Everything is immutable. `RegionBuilder` makes regions, from which functions and modules are made. Neither needs jaxlib.

>>> row = TensorType(shape=(2,), element="f32")
>>> body = RegionBuilder([row])
>>> (total,) = body.append("stablehlo.add", [body.arguments[0], body.arguments[0]], [row])
>>> body.append("func.return", [total])
()
>>> module = Module(functions=(Function(name="main", body=body.build()),))
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from webnn.hlo.attributes import Attribute
from webnn.hlo.types import FunctionType, Type

__all__ = ["Function", "Location", "Module", "Operation", "Region", "RegionBuilder", "Value"]

_NO_ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType({})
#: The operations that end a region. Their operands are its results.
_TERMINATORS = frozenset({"func.return", "stablehlo.return"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where an operation comes from.

    Attributes:
        file: A file; empty if unknown. Of a chain of calls it is the innermost one.
        line: The line, from 1; 0 if unknown.
        column: The column, from 1; 0 if unknown.
        name: Its name in the program that wrote the module, for example ``"jit(f)/dot_general"``; it may be empty.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""

    def __str__(self) -> str:
        place = ":".join([self.file, *(str(number) for number in (self.line, self.column) if number)]) if self.file else ""
        return f"{self.name} ({place})" if self.name and place else self.name or place


#: How deep regions and attributes may be nested.
_DEEPEST = 100
_UNKNOWN = Location()
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_TYPES = FunctionType((), ())


class Value:
    """An argument of a region, or a result of an operation. Two values are equal only if they are the same object.

    Args:
        type: The type of the value.
    """

    __slots__ = ("type",)

    def __init__(self, type: Type) -> None:
        self.type = type

    def __repr__(self) -> str:
        return f"<Value {self.type}>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    """An operation.

    Attributes:
        name: The name with its dialect, for example ``"stablehlo.add"``.
        operands: The values that it takes.
        results: The values that it makes.
        attributes: Attributes by name. They cannot be changed.
        regions: Programs inside, for example the condition and the body of ``"stablehlo.while"``.
        location: Where it comes from.
    """

    name: str
    operands: tuple[Value, ...] = ()
    results: tuple[Value, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=lambda: _NO_ATTRIBUTES)
    regions: tuple[Region, ...] = ()
    location: Location = _UNKNOWN

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", _freeze_all(self.attributes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Region:
    """A program inside an operation or a function. It may use values from outside.

    Attributes:
        arguments: Its arguments.
        operations: Its operations, in their order.
    """

    arguments: tuple[Value, ...] = ()
    operations: tuple[Operation, ...] = ()

    @property
    def returns(self) -> bool:
        """Whether the last operation returns. It has no results of its own."""
        return bool(self.operations) and self.operations[-1].name in _TERMINATORS and not self.operations[-1].results

    @property
    def results(self) -> tuple[Value, ...]:
        """The operands of the last operation if that returns; otherwise nothing."""
        return self.operations[-1].operands if self.returns else ()

    def walk(self) -> Iterator[Operation]:
        """Yield all operations, each one before those in its regions."""
        waiting = [*reversed(self.operations)]
        while waiting:
            operation = waiting.pop()
            yield operation
            for region in reversed(operation.regions):
                waiting += reversed(region.operations)


class RegionBuilder:
    """Makes a region, operation by operation.

    Args:
        types: The types of the region's arguments.
    """

    def __init__(self, types: Sequence[Type] = ()) -> None:
        self.arguments = tuple(Value(each) for each in types)
        self._operations: list[Operation] = []

    def append(
        self,
        name: str,
        operands: Iterable[Value] = (),
        result_types: Iterable[Type] = (),
        attributes: Mapping[str, Attribute] | None = None,
        regions: Iterable[Region] = (),
        location: Location = _UNKNOWN,
    ) -> tuple[Value, ...]:
        """Append an operation, and return its results, one for each type.

        Args:
            name: The name with its dialect, for example ``"stablehlo.add"``.
            operands: Arguments and results of this region, or of one around it.
            result_types: The types of its results.
            attributes: Attributes by name.
            regions: Programs inside.
            location: Where it comes from.
        """
        results = tuple(Value(each) for each in result_types)
        self._operations.append(
            Operation(
                name=name,
                operands=tuple(operands),
                results=results,
                attributes=attributes or _NO_ATTRIBUTES,
                regions=tuple(regions),
                location=location,
            )
        )
        return results

    def build(self) -> Region:
        """Return the region."""
        return Region(arguments=self.arguments, operations=tuple(self._operations))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Function:
    """A function.

    Attributes:
        name: Its name.
        body: Its program; None if it is only declared.
        type: The types of its arguments and results. Required only without a body.
        argument_names: The names in the source; ``"arg0"`` and so on if one is missing or occurs twice.
        result_names: Likewise; otherwise ``"result0"`` and so on.
        argument_attributes: The attributes of each argument; empty if no argument has some.
        result_attributes: The attributes of each result; empty if no result has some.
        attributes: Other attributes.
        public: Whether programs outside may call it.
        location: Where it comes from.
    """

    name: str
    body: Region | None
    type: FunctionType = _NO_TYPES
    argument_names: tuple[str, ...] = ()
    result_names: tuple[str, ...] = ()
    argument_attributes: tuple[Mapping[str, Attribute], ...] = ()
    result_attributes: tuple[Mapping[str, Attribute], ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=lambda: _NO_ATTRIBUTES)
    public: bool = True
    location: Location = _UNKNOWN

    def __post_init__(self) -> None:
        if self.body is not None:
            types = FunctionType(tuple(each.type for each in self.body.arguments), tuple(each.type for each in self.body.results))
            if self.type not in (types, _NO_TYPES):
                raise ValueError(f"@{self.name}: the type must be that of the body, {types}, got {self.type}")
            object.__setattr__(self, "type", types)
        for name, sets, count in (
            ("argument", self.argument_attributes, len(self.type.inputs)),
            ("result", self.result_attributes, len(self.type.results)),
        ):
            if sets and len(sets) != count:
                raise ValueError(f"@{self.name}: there must be attributes for each {name}, {count}, got {len(sets)}")
            object.__setattr__(self, f"{name}_attributes", tuple(map(_freeze_all, sets)))
        object.__setattr__(self, "attributes", _freeze_all(self.attributes))
        object.__setattr__(self, "argument_names", _complete(self.argument_names, "arg", len(self.type.inputs)))
        object.__setattr__(self, "result_names", _complete(self.result_names, "result", len(self.type.results)))


def _complete(names: Sequence[str], prefix: str, count: int) -> tuple[str, ...]:
    """Return different names for all arguments or results. Names with a lone surrogate do not count."""
    if len(names) == count == len({*names} - {""}) and not any(map(_SURROGATE.search, names)):
        return tuple(names)
    return tuple([f"{prefix}{index}" for index in range(count)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Module:
    """A program: functions, of which ``"main"`` is usually the first to run.

    Modules are equal if they have the same functions and operations; which objects their values are, and all locations, do not matter.

    Attributes:
        functions: The functions, in their order.
        name: A name, which may be empty.
        attributes: Attributes by name.
        operations: Operations beside the functions, for example those that describe devices.

    Raises:
        ValueError: Two functions have one name, or an operand is not made before, in the same region or one around it.
    """

    functions: tuple[Function, ...]
    name: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=lambda: _NO_ATTRIBUTES)
    operations: tuple[Operation, ...] = ()
    _named: Mapping[str, Function] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        named: dict[str, Function] = {}
        for function in self.functions:
            if named.setdefault(function.name, function) is not function:
                raise ValueError(f"functions must have different names, got @{function.name} twice")
        object.__setattr__(self, "_named", MappingProxyType(named))
        object.__setattr__(self, "functions", tuple(self.functions))
        object.__setattr__(self, "attributes", _freeze_all(self.attributes))
        made: set[object] = set()
        _check(Region(operations=self.operations), set(), made, "module")
        for function in self.functions:
            if function.body is not None:
                _check(function.body, set(), made, f"@{function.name}")

    def find(self, name: str) -> Function | None:
        """Return the function with a name, if there is one."""
        return self._named.get(name)

    def __eq__(self, other: object) -> bool:
        return _same_modules(self, other) if isinstance(other, Module) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it would have to walk through all operations


def _freeze(value: Attribute, depth: int = 0) -> Attribute:
    """Return a value that cannot be changed."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if depth > _DEEPEST:
        raise ValueError(f"attributes may be nested {_DEEPEST} deep")
    if isinstance(value, Mapping):
        return _freeze_all(value, depth + 1)
    return tuple([_freeze(each, depth + 1) for each in value]) if isinstance(value, (list, tuple)) else value


def _freeze_all(attributes: Mapping[str, Attribute], depth: int = 0) -> Mapping[str, Attribute]:
    return MappingProxyType({name: _freeze(value, depth) for name, value in attributes.items()}) if attributes else _NO_ATTRIBUTES


def _check(region: Region, around: set[Value], made: set[object], path: str, depth: int = 0) -> None:
    """Check that values are made once, before they are used, and that regions belong to one operation.

    ``around`` are the values that the region sees from outside, ``made`` all values and regions so far.
    """
    if depth > _DEEPEST:
        raise ValueError(f"{path}: regions may be nested {_DEEPEST} deep")
    if region in made:
        raise ValueError(f"{path}: a region must belong to one operation or function, got the same one twice")
    made.add(region)
    seen = set(around) if region.arguments or region.operations else around

    def make(values: Iterable[Value], where: str) -> None:
        for value in values:
            if value in made:
                raise ValueError(f"{where}: a value must be made by one operation or region, got the same {value.type} twice")
            made.add(value)
            seen.add(value)

    make(region.arguments, path)
    for number, operation in enumerate(region.operations):
        where = f"{path}.operations[{number}] {operation.name}"
        for position, operand in enumerate(operation.operands):
            if operand not in seen:
                raise ValueError(f"{where}: operands[{position}], {operand.type}, must be made before, and be visible here")
        for inner in operation.regions:
            _check(inner, seen, made, where, depth + 1)
        make(operation.results, where)


def _same_modules(one: Module, other: Module) -> bool:
    if one.name != other.name or len(one.functions) != len(other.functions) or not _same(one.attributes, other.attributes):
        return False
    values: dict[Value, Value] = {}
    if not _same_regions(Region(operations=one.operations), Region(operations=other.operations), values):
        return False
    for left, right in zip(one.functions, other.functions, strict=True):
        if (left.name, left.type, left.public) != (right.name, right.type, right.public) or (left.body is None) != (right.body is None):
            return False
        if not all(_same(getattr(left, name), getattr(right, name)) for name in ("attributes", "argument_attributes", "result_attributes")):
            return False
        if left.body is not None and right.body is not None and not _same_regions(left.body, right.body, values):
            return False
    return True


def _same_regions(one: Region, other: Region, values: dict[Value, Value]) -> bool:
    """Whether two regions are the same. Values of the first are assigned to those of the second."""
    if len(one.operations) != len(other.operations) or not _match(one.arguments, other.arguments, values):
        return False
    for left, right in zip(one.operations, other.operations, strict=True):
        if (left.name, len(left.operands), len(left.regions)) != (right.name, len(right.operands), len(right.regions)):
            return False
        if any(values[operand] is not right.operands[position] for position, operand in enumerate(left.operands)):
            return False
        if not _same(left.attributes, right.attributes):
            return False
        if not all(_same_regions(mine, theirs, values) for mine, theirs in zip(left.regions, right.regions, strict=True)):
            return False
        if not _match(left.results, right.results, values):
            return False
    return True


def _match(one: Sequence[Value], other: Sequence[Value], values: dict[Value, Value]) -> bool:
    values.update(zip(one, other, strict=False))
    return [value.type for value in one] == [value.type for value in other]


def _same(one: Attribute, other: Attribute) -> bool:
    """Whether two attributes are the same: numbers by their bits, so that NaN equals NaN, and -0.0 differs from 0.0."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return False
        # A dimension that repeats one element is compared once.
        kept = tuple(slice(0, 1) if pair == (0, 0) else slice(None) for pair in zip(one.strides, other.strides, strict=True))
        return one[kept].tobytes() == other[kept].tobytes()
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack("d", one) == struct.pack("d", other)
    return bool(one == other)
