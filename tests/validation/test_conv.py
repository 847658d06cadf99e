"""conv2d and convTranspose2d: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support import Shape, infer

F = "float32"

VALID: list[tuple[str, tuple[Any, ...], dict[str, Any], list[int]]] = [
    ("conv2d", (Shape(F, [1, 1, 5, 5]), Shape(F, [1, 1, 3, 3])), {}, [1, 1, 3, 3]),
    ("conv2d", (Shape(F, [1, 1, 5, 5]), Shape(F, [1, 1, 3, 3])), {"padding": [1, 1, 1, 1], "strides": [2, 2]}, [1, 1, 3, 3]),
    (
        "conv2d",
        (Shape("float16", [1, 5, 5, 2]), Shape("float16", [4, 3, 3, 2])),
        {"inputLayout": "nhwc", "filterLayout": "ohwi"},
        [1, 3, 3, 4],
    ),
]

INVALID: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str]] = [
    ("conv2d", (Shape("int32", [1, 1, 5, 5]), Shape("int32", [1, 1, 3, 3])), {}, "input", "must have a data type of"),
    ("conv2d", (Shape(F, [1, 5, 5]), Shape(F, [1, 1, 3, 3])), {}, "input", "must be 4-D"),
    ("conv2d", (Shape(F, [1, 1, 5, 5]), Shape(F, [1, 1, 3, 3])), {"strides": [1, 0]}, "options.strides", "must be greater than 0"),
    ("conv2d", (Shape(F, [1, 1, 5, 5]), Shape(F, [1, 1, 7, 7])), {}, "output", "must have dimensions from 1"),
]


@pytest.mark.parametrize(("name", "arguments", "options", "shape"), VALID)
def test_valid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], shape: list[int]) -> None:
    assert infer(name, *arguments, **options) == [(arguments[0].dataType, shape)]


@pytest.mark.parametrize(("name", "arguments", "options", "argument", "message"), INVALID)
def test_invalid(name: str, arguments: tuple[Any, ...], options: dict[str, Any], argument: str, message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        infer(name, *arguments, **options)
    assert (caught.value.operation, caught.value.argument) == (name, argument)  # type: ignore[attr-defined]
