"""Mutations of StableHLO programs: in their neutral form, of texts, and of bytecode."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tests.property.files import FORMATS, mutate_bytes
from tests.property.stablehlo_tree import Body, Operation, Program
from tests.property.stablehlo_values import ELEMENTS, HUGE, SIZES, WORDS, other_type, other_value
from webnn.hlo.attributes import Symbol
from webnn.hlo.types import TensorType, TokenType
from webnn.stablehlo.elements import dtype_of
from webnn.stablehlo.folding import FOLDS
from webnn.stablehlo.rules import RULES

__all__ = ["mutate", "mutate_file"]


def _pick(program: Program, random: random.Random) -> Operation:
    found = program.operations()
    inner = [each for each in found if not each.name.endswith("return")]
    return random.choice(inner or found or [Operation("", [], [], {}, [])])


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
            attributes[random.choice([*WORDS, *(each for every in with_some for each in every.attributes)])] = attributes[name]
        case _:
            attributes[name] = other_value(attributes[name], program, random)


def _type(program: Program, random: random.Random) -> None:
    """Change the type of a value, of all values with the same type, or a size in all types."""
    number = random.choice(list(program.types) or [0])
    if number not in program.types:
        return
    old = program.types[number]
    match random.randrange(6):
        case 0 | 1:
            program.types[number] = other_type(old, program, random)
        case 2:
            element, sizes = random.choice(ELEMENTS), getattr(old, "element", "f32")
            for each, type in program.types.items():
                if isinstance(type, TensorType) and type.element == sizes:
                    program.types[each] = dataclasses.replace(type, element=element)
        case 3:
            sizes = [size for type in program.types.values() if isinstance(type, TensorType) for size in type.shape]
            before, after = random.choice(sizes or [1]), random.choice([0, 0, 1, 1, 2, 7, random.choice(HUGE)])
            for each, type in program.types.items():
                if isinstance(type, TensorType):
                    program.types[each] = dataclasses.replace(type, shape=tuple([after if size == before else size for size in type.shape]))
        case _:
            new = other_type(old, program, random)
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


def _renew(program: Program, region: Body) -> Body:
    """Return a copy of a region that makes values of its own."""
    copied = region.copy()
    numbers: dict[int, int] = {}

    def renew(region: Body) -> None:
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
            [again] = _renew(program, Body([], [operations[place]])).operations
            operations.insert(place + 1, again)
            if random.random() < 0.5 and again.results and operations[-1].operands:
                last = operations[-1].operands
                last[random.randrange(len(last))] = random.choice(again.results)


def _name(program: Program, random: random.Random) -> None:
    """Make an operation another one."""
    operation = _pick(program, random)
    names = sorted({*RULES, *FOLDS})
    operation.name = random.choice([*names, *names, "stablehlo.x", "chlo.erf", "func.call", "func.return", "stablehlo.return", *WORDS[:2]])


def _functions(program: Program, random: random.Random) -> None:
    """Let functions call each other; rename them."""
    if not program.bodies:
        return
    index = random.randrange(len(program.bodies))
    name, region = program.bodies[index]
    match random.randrange(4):
        case 0:
            program.bodies[index] = random.choice(WORDS), region
        case 1:
            program.bodies.append((f"{name}x", _renew(program, region)))
        case _:
            # A chain of functions each of which calls the next one twice.
            for level in range(random.choice([1, 3, 20, 70])):
                inner = f"{name}{level}"
                program.bodies.append((inner, region))
                region = Body([program.make(program.types[number]) for number in region.arguments], [])
                last = program.bodies[-1][1].operations[-1:]
                types = [program.types[number] for number in last[0].operands] if last else []
                results: list[int] = []
                for _ in range(random.choice([1, 2])):
                    results = [program.make(type) for type in types]
                    region.operations.append(Operation("func.call", [*region.arguments], results, {"callee": Symbol(inner)}, []))
                region.operations.append(Operation("func.return", results, [], {}, []))
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
        first = Body([], [operation, Operation("stablehlo.return", [*operation.results], [], {}, [])])
        second = _renew(program, first) if len(program.types) < 200 else Body([], [])
        operation = Operation("stablehlo.if", [random.choice(list(program.types))], outer, {}, [first, second])
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
        program.bodies[0][1].operations.insert(0, Operation("stablehlo.constant", [], [number], {"value": value}, []))


def _walk(operation: Operation) -> Iterator[Operation]:
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
    made: list[Operation] = []

    def add(name: str, operands: list[int], attributes: dict[str, Any]) -> None:
        nonlocal number
        number = program.make(TensorType(shape=tuple(shape), element=type.element))
        made.append(Operation(f"stablehlo.{name}", operands, [number], attributes, []))

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
                made.append(Operation("stablehlo.constant", [], [zero], {"value": np.zeros((), dtype_of(type.element))}, []))
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
    *([_attribute] * 14 + [_type] * 9 + [_operands] * 4 + [_regions] * 3 + [_lines] * 3),
    *(_results, *[_name] * 3, _functions, _nest, _grow),
]


def mutate(program: Program, random: random.Random) -> Program:
    """Return a program with one to three mutations."""
    mutated = program.copy()
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        random.choice(_MUTATIONS)(mutated, random)
    return mutated


# Files.

_TYPE = re.compile(rb"tensor<(?:[0-9?]+x)*\w+>")


def _change_lines(data: bytearray, random: random.Random) -> None:
    """Delete, repeat or swap lines."""
    lines = data.split(b"\n")
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case _:
            lines[place], lines[other] = lines[other], lines[place]
    data[:] = b"\n".join(lines)


def _change_type(data: bytearray, random: random.Random) -> None:
    """Write another type instead of one, everywhere: so the program often stays valid."""
    found = sorted({*_TYPE.findall(bytes(data))})
    if found:
        old = random.choice(found)
        element = random.choice(ELEMENTS)
        sizes = "".join(f"{random.choice([*SIZES, *HUGE[:6], '?'])}x" for _ in range(old.count(b"x")))
        data[:] = data.replace(
            old, random.choice([old.rpartition(b"x")[0] + b"x" + element.encode() + b">", f"tensor<{sizes}{element}>".encode()])
        )


def _change_size(data: bytearray, random: random.Random) -> None:
    """Write another size instead of one, in all types."""
    found = sorted({*re.findall(rb"[<x]([0-9]+)(?=x)", bytes(data))})
    if found:
        new = str(random.choice([*SIZES, *HUGE[:6]])).encode()
        old = random.choice(found)
        data[:] = _TYPE.sub(lambda match: re.sub(rb"(?<=[<x])" + old + rb"(?=x)", new, match[0]), bytes(data))


_TEXT = [*FORMATS[".webnn"], *[_change_lines] * 4, *[_change_type] * 8, *[_change_size] * 4]


def mutate_file(source: bytes, random: random.Random) -> bytes:
    """Return a text or bytecode with one to three mutations."""
    data = bytearray(source)
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        (mutate_bytes if source.startswith(b"ML\xef") else random.choice(_TEXT))(data, random)
    return bytes(data)
