"""Other types, and other values of attributes, for StableHLO programs that are mutated."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any

import numpy as np

from tests.property.files import NUMBERS
from tests.property.stablehlo_tree import Program
from webnn.hlo.attributes import OtherAttribute, Structure, Symbol
from webnn.hlo.types import DTYPES, FunctionType, OtherType, QuantizedType, TensorType, TokenType, TupleType, Type

__all__ = ["ELEMENTS", "HUGE", "SIZES", "WORDS", "other_type", "other_value"]

_INTEGERS = [-1, 0, 1, 2, 3, 4, 5, 7, 8, -2, -5, 64, 100_000, -(2**63), *NUMBERS]
_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, math.nan, math.inf, -math.inf, 1e-45, 3e38]
WORDS = ["", "x", "LT", "NE", "TOTALORDER", "HIGHEST", "ADJOINT", "DEFAULT", "Sharding", "chlo.erf", "main", "\u202e", "\ud800", "x" * 3000]
SIZES = [0, 1, 1, 2, 3, 4, 5, 6, 8, 64]
HUGE = [2**16, 2**20, 2**24, 2**29, 2**31 - 1, 2**31, 2**33, 2**40, 2**62, 2**63 - 1]
ELEMENTS = [*["f32", "f16", "i32", "i64", "ui8", "i8", "i1", "ui32", "ui64"] * 4, *DTYPES]
#: Larger arrays stay as they are.
_LARGEST = 4096


def _other_number(value: int, random: random.Random) -> int:
    return random.choice([value - 1, value + 1, value + 1, -value, value * 2, random.choice(_INTEGERS)])


def other_value(value: Any, program: Program, random: random.Random) -> Any:
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
            return random.choice(WORDS)
        case Symbol():
            return Symbol(random.choice([*[name for name, _ in program.bodies], *WORDS]))
        case tuple():
            return _other_tuple(value, program, random)
        case np.ndarray():
            return _other_array(value, random)
    if isinstance(value, Structure):
        name = random.choice([each.name for each in dataclasses.fields(value)])
        return dataclasses.replace(value, **{name: other_value(getattr(value, name), program, random)})
    return random.choice(_any_values(program, random))


def _any_values(program: Program, random: random.Random) -> list[Any]:
    values = [each for operation in program.operations() for each in operation.attributes.values()]
    number = random.choice(_INTEGERS)
    array: Any = np.array([random.choice([0, 1, 2]) for _ in range(random.randrange(5))], random.choice([np.int64, np.float32, np.bool_]))
    return [*values, number, (number,), random.choice(_FLOATS), random.choice(WORDS), True, (), {}, array, Symbol("main"),
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
            changed[place] = other_value(changed[place], program, random)
    return tuple(changed)


def _other_array(value: np.ndarray[Any, Any], random: random.Random) -> np.ndarray[Any, Any]:
    match random.randrange(5):
        case 0 if value.size:
            return value.reshape(-1)[: random.randrange(value.size)]
        case 1 if value.size < _LARGEST:
            with np.errstate(all="ignore"):
                return value.astype(random.choice([np.int64, np.int32, np.float32, np.float64, np.bool_, np.uint8, np.complex64]))
        case 2:
            shape = [random.choice([*SIZES, *HUGE[:5]]) for _ in range(random.randrange(4))]
            return np.broadcast_to(np.asarray(1, value.dtype), shape) if math.prod(filter(None, shape)) < 2**58 else value
        case 3:
            return value.T
    if value.size > _LARGEST:
        return value
    changed = value.copy()
    if value.size:
        with np.errstate(all="ignore"):
            number = np.float64(random.choice([-1, 0, 1, 2, 3, 100, -100, 2.0**31, 2.0**62, math.nan])).astype(value.dtype)
        changed.reshape(-1)[random.randrange(value.size)] = number
    return changed


def other_type(type: Type, program: Program, random: random.Random) -> Type:
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
            element = random.choice(ELEMENTS)
        case 2 if shape:
            del shape[random.randrange(len(shape))]
        case 3:
            shape.insert(random.randrange(len(shape) + 1), random.choice([1, 1, *SIZES]))
        case 4 if shape:
            shape[random.randrange(len(shape))] = random.choice([0, None, random.choice(HUGE)])
        case 5:
            random.shuffle(shape)
        case _ if shape:
            shape[random.randrange(len(shape))] = random.choice(SIZES)
    return TensorType(shape=tuple(shape), element=element, bounds=tuple(shape) if random.random() < 0.03 else ())
