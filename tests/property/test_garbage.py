"""Whatever stands in place of an argument, an operation accepts it or raises the one error; nothing else comes out."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.property.calls import Call, Raw, connect
from tests.property.profiles import hold
from tests.property.strategies import CALLS
from tests.support import make_context
from webnn import MLContext, MLGraphBuilder, WebNNTypeError
from webnn.validation.operations import OPERATIONS

#: For each operation; in each of them every argument is replaced by everything.
EXAMPLES = 3


class Endless:
    """Has a length, and elements, but they are no numbers."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[object]:
        return iter((self, self))


class Index:
    """Stands for an index, as NumPy's integers do."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


def things(builder: MLGraphBuilder) -> Sequence[Any]:
    """Make values of all kinds."""
    operand = builder.input("operand", {"dataType": "float32", "dimensions": [2, 2]})
    plain: list[Any] = [
        None,
        True,
        0,
        -1,
        2**31,
        2**32,
        10**400,
        -0.0,
        0.5,
        math.nan,
        math.inf,
        1 + 2j,
        "",
        "1",
        " 0x10 ",
        "Infinity",
        "nchw",
        b"",
        bytearray(4),
        memoryview(b"1234"),
        [],
        [[]],
        (1, 2),
        {1, 2},
        {},
        {"label": 3},
        range(3),
        (value for value in (1, 2)),
        Endless(),
        Index(1),
        Index(-(10**30)),
        object(),
        int,
        len,
        decimal.Decimal("NaN"),
        fractions.Fraction(1, 3),
        datetime.date(2024, 6, 1),
        np.int8(-1),
        np.float16("nan"),
        np.datetime64("2024-06-01"),
        np.str_("nhwc"),
        operand,
        [operand],
        [operand, None],
        builder.tanh(),
        [builder.tanh(), builder.relu()],
    ]
    raw = [np.array(2), np.array([1, 2]), np.array([0.5, 2.0]), np.array([[1, 2]]), np.array(["1", "2"]), np.array([None, 1])]
    return [*plain, *(Raw(array) for array in raw)]


def check(context: MLContext, call: Call) -> None:
    builder = MLGraphBuilder(context)
    operation = OPERATIONS[call.name]
    members = [*(operation.options.model_fields if operation.options else ()), "label", "unknown"]
    for thing in things(builder):
        garbled = [replace(call, arguments={**call.arguments, name: thing}) for name in call.arguments]
        garbled += [replace(call, options={**call.options, member: thing}) for member in members]
        for each in garbled:
            blamed = call.name
            try:
                connect(builder, each)
            except WebNNTypeError as error:
                blamed = error.operation
            assert blamed == call.name


@pytest.mark.parametrize("name", CALLS)
def test_operation(context: MLContext, name: str) -> None:
    hold("ci", EXAMPLES, CALLS[name], lambda call: check(context, call))


@pytest.fixture(scope="module")
def context() -> MLContext:
    return make_context()
