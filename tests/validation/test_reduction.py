"""Reductions, argMin and argMax: inferred shapes and types, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, each_row, infer, refused
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES
from webnn.validation.reduction import OPERATIONS

REDUCTIONS = [operation.name for operation in OPERATIONS if operation.name.startswith("reduce")]
POSITIONS = ["argMin", "argMax"]
WIDE = (*FLOAT_TYPES, "int32", "uint32", "int64", "uint64")
TYPES = {
    **dict.fromkeys(("reduceL2", "reduceLogSum", "reduceLogSumExp", "reduceMean"), FLOAT_TYPES),
    **dict.fromkeys(("reduceL1", "reduceProduct", "reduceSum", "reduceSumSquare"), WIDE),
    **dict.fromkeys(("reduceMax", "reduceMin", *POSITIONS), DATA_TYPES),
}

VALID: list[tuple[list[int], dict[str, Any], list[int]]] = [
    ([1, 3, 4, 4], {}, []),
    ([1, 3, 4, 4], {"keepDimensions": True}, [1, 1, 1, 1]),
    ([1, 3, 5, 5], {"axes": [0, 1]}, [5, 5]),
    ([1, 2, 3, 4], {"axes": []}, [1, 2, 3, 4]),
    ([1, 2, 3, 4], {"axes": [], "keepDimensions": True}, [1, 2, 3, 4]),
    ([1, 2, 3, 4], {"axes": [3, 1]}, [1, 3]),
    ([1, 2, 3, 4], {"axes": [1, 3], "keepDimensions": True}, [1, 1, 3, 1]),
    ([], {}, []),
    ([], {"axes": []}, []),
    ([], {"axes": [], "keepDimensions": True}, []),
    ([2, 1, 2, 1, 2, 1, 2, 3], {"axes": [0, 7]}, [1, 2, 1, 2, 1, 2]),
]

INVALID: list[tuple[list[int], dict[str, Any], str, str]] = [
    ([1, 2, 5, 5], {"axes": [4]}, "options.axes", "axis"),
    ([1, 2, 5, 5], {"axes": [0, 1, 1]}, "options.axes", "different"),
    ([], {"axes": [0]}, "options.axes", "axis"),
    ([2], {"axes": [-1]}, r"options.axes[0]", "conversion"),
    ([2], {"axes": 0}, "options.axes", "conversion"),
]


@each_row(("dimensions", "options", "shape"), VALID)
@pytest.mark.parametrize("name", [*REDUCTIONS, *POSITIONS])
def test_valid(name: str, dimensions: list[int], options: dict[str, Any], shape: list[int]) -> None:
    expected = "int64" if name in POSITIONS else "float32"
    assert infer(name, Shape("float32", dimensions), **options) == [(expected, shape)]


@pytest.mark.parametrize("name", POSITIONS)
def test_last_index(name: str) -> None:
    assert infer(name, Shape("int8", [1, 2, 3]), axes=[1], selectLastIndex=True) == [("int64", [1, 3])]


@each_row(("dimensions", "options", "argument", "rule"), INVALID)
@pytest.mark.parametrize("name", [*REDUCTIONS, *POSITIONS])
def test_invalid(name: str, dimensions: list[int], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, Shape("float32", dimensions), **options)


@pytest.mark.parametrize("name", TYPES)
def test_types(name: str) -> None:
    for dataType in DATA_TYPES:
        if dataType in TYPES[name]:
            assert infer(name, Shape(dataType, [2, 3]), axes=[0]) == [("int64" if name in POSITIONS else dataType, [3])]
        else:
            with refused(rule="type", argument="input"):
                infer(name, Shape(dataType, [2, 3]), axes=[0, 0])
