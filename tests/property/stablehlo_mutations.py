"""Mutations of StableHLO programs in their neutral form; and what an import may raise."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import webnn
import webnn.stablehlo
from tests.property.files import NUMBERS
from webnn.hlo import Function, Module
from webnn.hlo.attributes import OtherAttribute, Symbol
from webnn.hlo.ir import Location, Operation, Region, Value
from webnn.hlo.types import DTYPES, FunctionType, OtherType, QuantizedType, TensorType, TokenType, TupleType, Type
from webnn.importing.values import carrier
from webnn.stablehlo.elements import dtype_of
from webnn.stablehlo.folding import FOLDS
from webnn.stablehlo.rules import RULES

__all__ = ["Program", "check_import", "draw_constants", "load", "mutate", "take_apart"]

_INTEGERS = [-1, 0, 1, 2, 3, 4, 5, 7, 8, -2, -5, 64, 100_000, -(2**63), *NUMBERS]
_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, math.nan, math.inf, -math.inf, 1e-45, 3e38]
_WORDS = [
    "",
    "x",
    "LT",
    "NE",
    "TOTALORDER",
    "HIGHEST",
    "ADJOINT",
    "DEFAULT",
    "Sharding",
    "chlo.erf",
    "main",
    "\u202e",
    "\ud800",
    "x" * 3000,
]
_SIZES = [0, 1, 1, 2, 3, 4, 5, 6, 8, 64]
_HUGE = [2**16, 2**20, 2**24, 2**29, 2**31 - 1, 2**31, 2**33, 2**40, 2**62, 2**63]
_ELEMENTS = [*["f32", "f16", "i32", "i64", "ui8", "i8", "i1", "ui32", "ui64"] * 4, *DTYPES]
#: Arrays that are drawn for arguments have at most so many elements.
_MOST_ELEMENTS = 4096


@dataclass
class _Operation:
    name: str
    operands: list[int]
    results: list[int]
    attributes: dict[str, Any]
    regions: list[_Region]
    label: str = ""

    def copy(self) -> _Operation:
        """Return a copy. The values of attributes are not changed, so they are shared."""
        regions = [each.copy() for each in self.regions]
        return _Operation(self.name, [*self.operands], [*self.results], dict(self.attributes), regions, self.label)


@dataclass
class _Region:
    arguments: list[int]
    operations: list[_Operation]

    def copy(self) -> _Region:
        """Return a copy."""
        return _Region([*self.arguments], [each.copy() for each in self.operations])


@dataclass
class Program:
    """A program that can be changed: values are numbers, which have types.

    Attributes:
        types: The type of each value.
        bodies: The functions, by their names; of the same name there may be several. The first one is imported.
    """

    types: dict[int, Type] = field(default_factory=dict)
    bodies: list[tuple[str, _Region]] = field(default_factory=list)

    def copy(self) -> Program:
        """Return a copy."""
        return Program(dict(self.types), [(name, region.copy()) for name, region in self.bodies])

    def make(self, type: Type) -> int:
        """Return a new value."""
        number = len(self.types)
        self.types[number] = type
        return number

    def regions(self) -> Iterator[_Region]:
        """Yield all regions."""
        waiting = [region for _, region in self.bodies]
        while waiting:
            region = waiting.pop()
            yield region
            for operation in region.operations:
                waiting.extend(operation.regions)

    def operations(self) -> list[_Operation]:
        """Return all operations."""
        return [operation for region in self.regions() for operation in region.operations]

    def build(self) -> Module:
        """Return the program.

        Raises:
            ValueError: It is none.
        """
        values = {number: Value(type) for number, type in self.types.items()}

        def build(region: _Region) -> Region:
            return Region(
                arguments=tuple([values[number] for number in region.arguments]),
                operations=tuple(
                    [
                        Operation(
                            name=each.name,
                            operands=tuple([values[number] for number in each.operands]),
                            results=tuple([values[number] for number in each.results]),
                            attributes=each.attributes,
                            regions=tuple([build(inner) for inner in each.regions]),
                            location=Location(name=each.label),
                        )
                        for each in region.operations
                    ]
                ),
            )

        return Module(functions=tuple([Function(name=name, body=build(region)) for name, region in self.bodies]))


def take_apart(module: Module) -> Program:
    """Return a program that can be changed."""
    program = Program()
    numbers: dict[Value, int] = {}

    def define(values: Sequence[Value]) -> list[int]:
        found = [program.make(value.type) for value in values]
        numbers.update(zip(values, found, strict=True))
        return found

    def convert(region: Region) -> _Region:
        arguments = define(region.arguments)
        operations = []
        for each in region.operations:
            operands = [numbers[value] for value in each.operands]
            regions = [convert(inner) for inner in each.regions]
            operations.append(_Operation(each.name, operands, define(each.results), dict(each.attributes), regions, each.location.name))
        return _Region(arguments, operations)

    program.bodies = [(each.name, convert(each.body)) for each in module.functions if each.body is not None]
    program.bodies.sort(key=lambda pair: pair[0] != "main")
    return program


# What an import must keep.


def draw_constants(module: Module, random: random.Random) -> dict[str, Any]:
    """Return arrays for some arguments; small integers, which may be sizes and indices, are known most of the time."""
    main = module.find("main")
    found: dict[str, Any] = {}
    if main is None:
        return found
    all_known = random.random() < 0.35
    for name, type in zip(main.argument_names, main.type.inputs, strict=True):
        if not isinstance(type, TensorType) or type.size is None or type.size > _MOST_ELEMENTS:
            continue
        dtype = dtype_of(type.element)
        is_small = dtype.kind in "iu" and type.rank < 2
        if not (all_known or random.random() < (0.7 if is_small else 0.1)):
            continue
        numbers: Any = [random.choice([0, 1, 1, 2, 2, 3, 5, random.uniform(-3, 9)]) for _ in range(type.size)]
        if random.random() < 0.1:
            numbers = [random.choice([*_FLOATS, 100, 255, -128, 2**31 - 1]) for _ in numbers]
        with np.errstate(all="ignore"):
            found[name] = np.array(numbers, np.float64).astype(dtype).reshape([size or 0 for size in type.shape])
    return found


def load(module: Module, constants: Mapping[str, Any]) -> bool:
    """Import a program and build its graph without compiling it; return whether it is valid.

    Any other error than one that `webnn.stablehlo.load` documents comes out.
    """
    try:
        imported = webnn.stablehlo.load(module, constants=constants, precision="f32")
    except (webnn.stablehlo.RefusedModelError, webnn.FormatError, webnn.NotSupportedError, webnn.WebNNTypeError) as error:
        text = str(error)
        assert 0 < len(text) < 40_000, f"a text of {len(text)} characters"
        # What takes memory is counted before it is made.
        assert "there must be enough memory" not in text, text
        return False
    check_import(module, imported)
    return True


def check_import(module: Module, imported: webnn.stablehlo.Imported) -> None:
    """Check that a graph is complete, that a builder takes it, and that it has the results that the program says."""
    description = imported.description
    assert all(operator.descriptors for operator in description.operators)
    assert description.outputs
    main = module.find("main") or module.functions[0]
    wanted: dict[str, TensorType] = {}
    for name, type in zip(main.result_names, main.type.results, strict=True):
        wanted.update(_flatten(name, type))
    builder = webnn.MLGraphBuilder(webnn.ML(revision=description.draft).createContextSync())
    outputs = description.build(builder)
    assert outputs.keys() == wanted.keys()
    for name, operand in outputs.items():
        type = wanted[name]
        assert len(operand.shape) == type.rank, f"{name} must be {type}, got {operand.shape}"
        sizes = zip(operand.shape, type.shape, strict=True)
        assert all(expected in (None, given) for given, expected in sizes), f"{name} must be {type}, got {operand.shape}"
        assert operand.dataType == carrier(dtype_of(type.element)), f"{name} must be {type}, got {operand.dataType}"


def _flatten(name: str, type: Type) -> dict[str, TensorType]:
    if isinstance(type, TupleType):
        found: dict[str, TensorType] = {}
        for index, each in enumerate(type.types):
            found.update(_flatten(f"{name}.{index}", each))
        return found
    return {name: type} if isinstance(type, TensorType) else {}


# Attributes and types.


def _other_number(value: int, random: random.Random) -> int:
    return random.choice([value - 1, value + 1, value + 1, -value, value * 2, random.choice(_INTEGERS)])


def _other_value(value: Any, program: Program, random: random.Random) -> Any:
    """Return another value of an attribute, most of the time one of the same type."""
    if random.random() < 0.1:
        return random.choice(_any_values(program, random))
    match value:
        case bool():
            return not value
        case int():
            return _other_number(value, random)
        case float():
            return random.choice([*_FLOATS, random.uniform(-9, 9)])
        case str():
            return random.choice(_WORDS)
        case Symbol():
            return Symbol(random.choice([*[name for name, _ in program.bodies], *_WORDS]))
        case tuple():
            return _other_tuple(value, program, random)
        case np.ndarray():
            return _other_array(value, random)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        name = random.choice([each.name for each in dataclasses.fields(value)])
        return dataclasses.replace(value, **{name: _other_value(getattr(value, name), program, random)})
    return random.choice(_any_values(program, random))


def _any_values(program: Program, random: random.Random) -> list[Any]:
    values = [each for operation in program.operations() for each in operation.attributes.values()]
    number = random.choice(_INTEGERS)
    array: Any = np.array([random.choice([0, 1, 2]) for _ in range(random.randrange(5))], random.choice([np.int64, np.float32, np.bool_]))
    return [*values, number, (number,), random.choice(_FLOATS), random.choice(_WORDS), True, (), {}, array, Symbol("main"),
            b"\xff", OtherAttribute("#x"), (True, 1.5, "x"), ((1, 2), (3,)), random.choice([*program.types.values()])]  # fmt: skip


def _other_tuple(value: tuple[Any, ...], program: Program, random: random.Random) -> tuple[Any, ...]:
    changed = list(value)
    match random.randrange(6):
        case 0 if changed:
            del changed[random.randrange(len(changed))]
        case 1:
            changed.insert(random.randrange(len(changed) + 1), random.choice([*changed, random.choice(_INTEGERS)]))
        case 2 if changed:
            random.shuffle(changed)
        case 3 if changed:
            changed[random.randrange(len(changed))] = random.choice(changed)
        case _ if changed:
            place = random.randrange(len(changed))
            changed[place] = _other_value(changed[place], program, random)
    return tuple(changed)


def _other_array(value: np.ndarray[Any, Any], random: random.Random) -> np.ndarray[Any, Any]:
    match random.randrange(5):
        case 0 if value.size:
            return value.reshape(-1)[: random.randrange(value.size)]
        case 1 if value.size < _MOST_ELEMENTS:
            with np.errstate(all="ignore"):
                return value.astype(random.choice([np.int64, np.int32, np.float32, np.float64, np.bool_, np.uint8, np.complex64]))
        case 2:
            shape = [random.choice([*_SIZES, *_HUGE[:5]]) for _ in range(random.randrange(4))]
            return np.broadcast_to(np.asarray(1, value.dtype), shape) if math.prod(shape) < 2**62 else value
        case 3:
            return value.T
    if value.size > _MOST_ELEMENTS:
        return value
    changed = value.copy()
    if value.size:
        with np.errstate(all="ignore"):
            number = np.float64(random.choice([-1, 0, 1, 2, 3, 100, -100, 2.0**31, 2.0**62, math.nan])).astype(value.dtype)
        changed.reshape(-1)[random.randrange(value.size)] = number
    return changed


def _other_type(type: Type, program: Program, random: random.Random) -> Type:
    if not isinstance(type, TensorType) or random.random() < 0.07:
        quantized = QuantizedType(storage="i8", expressed="f32", scales=(0.5, 2.0), zero_points=(0, 3), axis=random.choice([0, 1, 9]))
        return random.choice(
            [
                TokenType(),
                TupleType(()),
                TupleType((type, TokenType())),
                OtherType("!x"),
                FunctionType((type,), ()),
                TensorType(shape=(2, 3), element=quantized),
                *program.types.values(),
            ]
        )
    shape, element = list(type.shape), type.element
    match random.randrange(9):
        case 0 | 1:
            element = random.choice(_ELEMENTS)
        case 2 if shape:
            del shape[random.randrange(len(shape))]
        case 3:
            shape.insert(random.randrange(len(shape) + 1), random.choice([1, 1, *_SIZES]))
        case 4 if shape:
            shape[random.randrange(len(shape))] = random.choice([0, None, random.choice(_HUGE)])
        case 5:
            random.shuffle(shape)
        case _ if shape:
            shape[random.randrange(len(shape))] = random.choice(_SIZES)
    return TensorType(shape=tuple(shape), element=element, bounds=tuple(shape) if random.random() < 0.03 else ())


# Mutations.


def _pick(program: Program, random: random.Random) -> _Operation:
    found = program.operations()
    inner = [each for each in found if not each.name.endswith("return")]
    return random.choice(inner or found or [_Operation("", [], [], {}, [])])


def _attribute(program: Program, random: random.Random) -> None:
    """Change an attribute."""
    with_some = [each for each in program.operations() if each.attributes]
    if not with_some:
        return
    attributes = random.choice(with_some).attributes
    name = random.choice(list(attributes))
    match random.randrange(12):
        case 0:
            del attributes[name]
        case 1:
            attributes[random.choice([*_WORDS, *(each for every in with_some for each in every.attributes)])] = attributes[name]
        case _:
            attributes[name] = _other_value(attributes[name], program, random)


def _type(program: Program, random: random.Random) -> None:
    """Change the type of a value, of all values with the same type, or a size in all types."""
    number = random.choice(list(program.types) or [0])
    if number not in program.types:
        return
    old = program.types[number]
    match random.randrange(6):
        case 0 | 1:
            program.types[number] = _other_type(old, program, random)
        case 2:
            element, sizes = random.choice(_ELEMENTS), getattr(old, "element", "f32")
            for each, type in program.types.items():
                if isinstance(type, TensorType) and type.element == sizes:
                    program.types[each] = dataclasses.replace(type, element=element)
        case 3:
            sizes = [size for type in program.types.values() if isinstance(type, TensorType) for size in type.shape]
            before, after = random.choice(sizes or [1]), random.choice([0, 0, 1, 1, 2, 7, random.choice(_HUGE)])
            for each, type in program.types.items():
                if isinstance(type, TensorType):
                    program.types[each] = dataclasses.replace(type, shape=tuple([after if size == before else size for size in type.shape]))
        case _:
            new = _other_type(old, program, random)
            for each, type in program.types.items():
                if type == old:
                    program.types[each] = new


def _operands(program: Program, random: random.Random) -> None:
    """Change, add, drop or swap operands."""
    operation = random.choice(program.operations() or [_pick(program, random)])
    operands, numbers = operation.operands, list(program.types) or [0]
    match random.randrange(5):
        case 0 if operands:
            del operands[random.randrange(len(operands))]
        case 1:
            operands.insert(random.randrange(len(operands) + 1), random.choice(numbers))
        case 2 if operands:
            operands[random.randrange(len(operands))] = random.choice(numbers)
        case 3 if operands:
            operands[random.randrange(len(operands))] = random.choice(operands)
        case _:
            random.shuffle(operands)


def _results(program: Program, random: random.Random) -> None:
    """Add a result, or drop one."""
    operation = _pick(program, random)
    if operation.results and random.random() < 0.5:
        operation.results.pop()
    else:
        operation.results.append(program.make(random.choice([*program.types.values(), TokenType()])))


def _regions(program: Program, random: random.Random) -> None:
    """Change, add, drop or swap regions, or their arguments."""
    regions = list(program.regions())
    owner = random.choice([each for each in program.operations() if each.regions] or [_pick(program, random)])
    inner = owner.regions
    match random.randrange(6):
        case 0 if inner:
            del inner[random.randrange(len(inner))]
        case 1:
            inner.append(_renew(program, random.choice(regions)))
        case 2 if inner:
            inner[random.randrange(len(inner))] = _renew(program, random.choice(regions))
        case 3:
            random.shuffle(inner)
        case 4:
            arguments = random.choice(regions).arguments
            if arguments and random.random() < 0.5:
                arguments.pop(random.randrange(len(arguments)))
            else:
                arguments.append(program.make(random.choice([*program.types.values(), TokenType()])))
        case _ if inner:
            random.choice(inner).operations.clear()


def _renew(program: Program, region: _Region) -> _Region:
    """Return a copy of a region that makes values of its own."""
    copied = region.copy()
    numbers: dict[int, int] = {}

    def renew(region: _Region) -> None:
        for number in region.arguments:
            numbers[number] = program.make(program.types[number])
        region.arguments[:] = [numbers[number] for number in region.arguments]
        for each in region.operations:
            each.operands[:] = [numbers.get(number, number) for number in each.operands]
            for inner in each.regions:
                renew(inner)
            for number in each.results:
                numbers[number] = program.make(program.types[number])
            each.results[:] = [numbers[number] for number in each.results]

    renew(copied)
    return copied


def _lines(program: Program, random: random.Random) -> None:
    """Delete, repeat or swap operations."""
    operations = random.choice(list(program.regions())).operations
    if not operations:
        return
    place = random.randrange(len(operations))
    match random.randrange(4):
        case 0:
            del operations[place]
        case 1:
            other = random.randrange(len(operations))
            operations[place], operations[other] = operations[other], operations[place]
        case _:
            [again] = _renew(program, _Region([], [operations[place]])).operations
            operations.insert(place + 1, again)
            if random.random() < 0.5 and again.results and operations[-1].operands:
                last = operations[-1].operands
                last[random.randrange(len(last))] = random.choice(again.results)


def _name(program: Program, random: random.Random) -> None:
    """Make an operation another one."""
    operation = _pick(program, random)
    names = sorted({*RULES, *FOLDS})
    operation.name = random.choice([*names, *names, "stablehlo.x", "chlo.erf", "func.call", "func.return", "stablehlo.return", *_WORDS[:2]])


def _functions(program: Program, random: random.Random) -> None:
    """Let functions call each other; rename them."""
    if not program.bodies:
        return
    index = random.randrange(len(program.bodies))
    name, region = program.bodies[index]
    match random.randrange(4):
        case 0:
            program.bodies[index] = random.choice(_WORDS), region
        case 1:
            program.bodies.append((f"{name}x", _renew(program, region)))
        case _:
            # A chain of functions each of which calls the next one twice.
            for level in range(random.choice([1, 3, 20, 70])):
                inner = f"{name}{level}"
                program.bodies.append((inner, region))
                region = _Region([program.make(program.types[number]) for number in region.arguments], [])
                last = program.bodies[-1][1].operations[-1:]
                types = [program.types[number] for number in last[0].operands] if last else []
                results: list[int] = []
                for _ in range(random.choice([1, 2])):
                    results = [program.make(type) for type in types]
                    region.operations.append(_Operation("func.call", [*region.arguments], results, {"callee": Symbol(inner)}, []))
                region.operations.append(_Operation("func.return", results, [], {}, []))
            program.bodies[index] = name, region


def _nest(program: Program, random: random.Random) -> None:
    """Put an operation into branches in branches."""
    operations = random.choice(list(program.regions())).operations
    if not operations or operations[-1].name not in ("func.return", "stablehlo.return"):
        return
    place = random.randrange(len(operations))
    operation = operations[place]
    if operation.name.endswith("return") or not operation.results:
        return
    types = [program.types[number] for number in operation.results]
    outer = operation.results
    for _ in range(random.choice([1, 2, 5, 70])):
        operation.results = [program.make(type) for type in types]
        first = _Region([], [operation, _Operation("stablehlo.return", [*operation.results], [], {}, [])])
        second = _renew(program, first) if len(program.types) < 200 else _Region([], [])
        operation = _Operation("stablehlo.if", [random.choice(list(program.types))], outer, {}, [first, second])
    operation.results = outer
    bits = [number for number, type in program.types.items() if type == TensorType(shape=(), element="i1")]
    known = random.random() < 0.5 or not bits
    number = program.make(TensorType(shape=(), element="i1")) if known else random.choice(bits)
    for each in _walk(operation):
        if each.name == "stablehlo.if" and number in program.types:
            each.operands[:] = [number]
    operations[place] = operation
    if known:
        value = np.array(random.random() < 0.5)
        program.bodies[0][1].operations.insert(0, _Operation("stablehlo.constant", [], [number], {"value": value}, []))


def _walk(operation: _Operation) -> Iterator[_Operation]:
    yield operation
    for region in operation.regions:
        for each in region.operations:
            yield from _walk(each)


def _grow(program: Program, random: random.Random) -> None:
    """Let a value grow: broadcast, joined with itself again and again."""
    operations = program.bodies[0][1].operations if program.bodies else []
    tensors = [(number, type) for number, type in program.types.items() if isinstance(type, TensorType) and type.size and type.rank]
    if not tensors or not operations:
        return
    number, type = random.choice(tensors)
    shape = [size or 1 for size in type.shape]
    place = next((index + 1 for index, each in enumerate(operations) if number in each.results), 0)
    made: list[_Operation] = []

    def add(name: str, operands: list[int], attributes: dict[str, Any]) -> None:
        nonlocal number
        number = program.make(TensorType(shape=tuple(shape), element=type.element))
        made.append(_Operation(f"stablehlo.{name}", operands, [number], attributes, []))

    for _ in range(random.choice([1, 5, 20, 40, 70])):
        match random.randrange(5):
            case 0:
                shape.insert(0, random.choice([2, 2**10, 2**20]))
                add("broadcast_in_dim", [number], {"broadcast_dimensions": tuple(range(1, len(shape)))})
            case 1:
                add("add", [number, number], {})
            case 2:
                shape[0] += 2**20
                zero = program.make(TensorType(shape=(), element=type.element))
                made.append(_Operation("stablehlo.constant", [], [zero], {"value": np.zeros((), dtype_of(type.element))}, []))
                zeros = (0,) * len(shape)
                edges = {"edge_padding_low": (2**20, *zeros[1:]), "edge_padding_high": zeros, "interior_padding": zeros}
                add("pad", [number, zero], edges)
            case _:
                shape[0] *= 2
                add("concatenate", [number, number], {"dimension": 0})
    operations[place:place] = made
    if operations[-1].name == "func.return":
        operations[-1].operands.append(number)


_MUTATIONS: Sequence[Callable[[Program, random.Random], None]] = [
    *[_attribute] * 14,
    *[_type] * 9,
    *[_operands] * 4,
    *[_regions] * 3,
    *[_lines] * 3,
    _results,
    *[_name] * 3,
    _functions,
    _nest,
    _grow,
]


def mutate(program: Program, random: random.Random) -> Program:
    """Return a program with one to three mutations."""
    mutated = program.copy()
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        random.choice(_MUTATIONS)(mutated, random)
    return mutated
