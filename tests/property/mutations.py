"""Single mutations of valid calls, as table rows: the argument that is changed, its wrong values, and the argument that the error must
name. `mutation_rows.py` has the rows of each operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.property.calls import Call, Raw
from tests.support import Array
from webnn import MLGraphBuilder, MLOperand
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK
from webnn.validation.revision import Revision

#: Return the wrong values of an argument, in view of the rest of the call; an empty list if there is none for this one.
Values = Callable[[Call, MLGraphBuilder], Sequence[Any]]

NAN, INF = math.nan, math.inf


class Thing:
    """An object of a kind that no argument takes."""


NO_NUMBERS: list[Any] = ["three", "0x", "1_0", NAN, INF, -INF, {}, [1, 2], Thing()]
NO_UNSIGNED_LONG = [*NO_NUMBERS, -1, 2**32, 1e300, "-1"]
NO_LONG = [*NO_NUMBERS, 2**31, -(2**31) - 1]
NO_DOUBLE = [*NO_NUMBERS, 10**400]
NO_FLOAT = [*NO_DOUBLE, 1e39, -1e39]
#: Values that cannot be an ``MLNumber``.
NO_BIG_NUMBER: list[Any] = [{}, [1, 2], Thing()]
NO_SEQUENCE: list[Any] = [3, "12", b"12", {0: 1}, Thing(), Raw(np.array(3))]
NO_OPERAND: list[Any] = [3, "input", [1.0], np.float32(3), Raw(np.zeros(3, np.float32)), Thing()]
NO_ENUM: list[Any] = ["", "NCHW", "nchw ", "none", 3, True, ["constant"], Thing()]


@dataclass(frozen=True)
class Row:
    """A mutation.

    Attributes:
        argument: The changed argument, or the member such as ``"options.axis"``.
        values: Its wrong values.
        named: The argument that the error names, or the beginning of it; the changed one if empty.
    """

    argument: str
    values: Values
    named: str = ""


def mutated(call: Call, row: Row, other: MLGraphBuilder) -> list[Call]:
    """Return the calls that a row makes of a valid one."""
    member = row.argument.removeprefix("options.")
    if member == row.argument:
        return [replace(call, arguments={**call.arguments, member: value}) for value in row.values(call, other)]
    return [replace(call, options={**call.options, member: value}) for value in row.values(call, other)]


def given(call: Call, argument: str) -> Any:
    member = argument.removeprefix("options.")
    return call.arguments[argument] if member == argument else call.options.get(member)


def rank_of(call: Call, argument: str = "input") -> int:
    return int(call.arguments[argument].ndim)


# Rows of constant values, or of values that depend on the call.


def always(argument: str, values: Sequence[Any], named: str = "") -> Row:
    return Row(argument, lambda call, other: values, named)


def by_call(argument: str, values: Callable[[Call], Sequence[Any]], named: str = "") -> Row:
    return Row(argument, lambda call, other: values(call), named)


def list_rows(argument: str, length: int, wrong: Sequence[Any] = ()) -> list[Row]:
    """Rows of a list of numbers: no list, a wrong length, an element of another type, and more wrong lists."""
    good = [1] * length
    elements = [[*good[:index], bad, *good[index + 1 :]] for bad in NO_UNSIGNED_LONG for index in {0, length - 1}]
    lengths = [[], good[1:], [*good, 1]]
    return [always(argument, NO_SEQUENCE), always(argument, elements), always(argument, [*lengths, *wrong])]


def length_rows(argument: str, wrong: Callable[[Call], Sequence[Any]]) -> list[Row]:
    """Rows of a list of numbers whose length depends on the call."""
    return [always(argument, NO_SEQUENCE), always(argument, [[bad] for bad in NO_UNSIGNED_LONG]), by_call(argument, wrong)]


def axes_rows(argument: str) -> list[Row]:
    """Rows of a list of different axes of the input."""

    def wrong(call: Call) -> list[Any]:
        rank = rank_of(call)
        return [[rank], [*range(rank), rank], [0, 0], [2**32 - 1], *([[*range(rank), 0], [rank - 1, rank - 1]] if rank else [])]

    return length_rows(argument, wrong)


def axis_rows(argument: str, operand: str = "input") -> list[Row]:
    def wrong(call: Call) -> list[Any]:
        rank = rank_of(call, operand)
        return [rank, rank + 1, 2**32 - 1]

    return [always(argument, NO_UNSIGNED_LONG), by_call(argument, wrong)]


# Rows of operands.


def of_dtype(value: Array, dtype: str) -> Array:
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def _of_type(argument: str, allowed: Sequence[str]) -> Row:
    """The operand in each type that the operation does not allow."""
    others = [dtype for dtype in DATA_TYPES if dtype not in allowed]

    def values(call: Call) -> list[Any]:
        value = given(call, argument)
        return [] if value is None else [of_dtype(value, dtype) for dtype in others]

    return by_call(argument, values)


def of_another_type(argument: str) -> Row:
    """The operand in each type but its own: it must have the type of another one."""

    def values(call: Call) -> list[Any]:
        value = given(call, argument)
        return [] if value is None else [of_dtype(value, dtype) for dtype in DATA_TYPES if dtype != value.dtype.name]

    return by_call(argument, values)


def _of_another_rank(argument: str, low: int, high: int, most: int) -> Row:
    """The operand with one dimension more than it may have, and with one less; no operand has more than ``most``."""

    def values(call: Call) -> list[Any]:
        value = given(call, argument)
        if value is None:
            return []
        fewer = [value.reshape(-1)[0].reshape([1] * (low - 1))] if low else []
        more = [value.reshape([1] * (high + 1 - value.ndim) + list(value.shape))] if high < most else []
        return [*fewer, *more]

    return by_call(argument, values)


def grown(value: Array, axis: int) -> Array:
    """Return the array with one element more along an axis."""
    return np.concatenate([value, value.take([0], axis=axis)], axis=axis)


def with_one_axis_more(value: Array) -> list[Array]:
    """Return the array with one axis more, if an operand may have that rank."""
    return [value[None]] if value.ndim < MAX_RANK else []


def of_another_shape(argument: str) -> Row:
    """The operand with one element more along each of its axes, and with one axis more: its shape must be exactly what it is."""

    def values(call: Call) -> list[Any]:
        value = given(call, argument)
        return [] if value is None else [*(grown(value, axis) for axis in range(value.ndim)), *with_one_axis_more(value)]

    return by_call(argument, values)


def not_broadcasting(argument: str, target: Callable[[Call], Sequence[int]]) -> Row:
    """An operand of a shape that differs from the target where that is not 1."""

    def values(call: Call) -> list[Any]:
        shape, value = list(target(call)), given(call, argument)
        dtype = "float32" if value is None else value.dtype
        wrong = [[*shape[:axis], size + 1, *shape[axis + 1 :]] for axis, size in enumerate(shape) if size > 1]
        return [np.zeros(each, dtype) for each in wrong]

    return by_call(argument, values)


def shape_of(argument: str) -> Callable[[Call], Sequence[int]]:
    return lambda call: list(call.arguments[argument].shape)


def foreign(other: MLGraphBuilder, value: Array) -> MLOperand:
    """Make a constant with another builder."""
    descriptor: Any = {"dataType": value.dtype.name, other._revision.shape: list(value.shape)}
    return other.constant(descriptor, value)


def _other_builder(argument: str) -> Row:
    """The same operand, made by another builder."""

    def values(call: Call, other: MLGraphBuilder) -> list[Any]:
        value = given(call, argument)
        if value is None:
            return []
        return [foreign(other, value)]

    return Row(argument, values)


def generic(revision: Revision, name: str) -> list[Row]:
    """Make the rows that follow from the operation's signature and from the draft's tables of types and ranks."""
    operation = revision.operations[name]
    operands = {*operation.operands, *(f"options.{member}" for member in operation.members)}
    typed, ranks = revision.data_types.get(name, {}), revision.ranks.get(name, {})
    rows = [_of_type(operand, typed[operand]) for operand in typed if operand in operands and len(typed[operand]) < len(DATA_TYPES)]
    for argument in () if operation.variadic else operation.operands:
        rows += [always(argument, NO_OPERAND), _other_builder(argument)]
    for member in operation.members:
        rows += [always(f"options.{member}", NO_OPERAND), _other_builder(f"options.{member}")]
    for argument in () if operation.variadic else ranks:
        low, high = ranks[argument]
        if low or high < revision.max_rank:
            rows.append(_of_another_rank(argument, low, high, revision.max_rank))
    return rows
