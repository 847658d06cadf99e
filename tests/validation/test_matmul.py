"""matmul and gemm: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, infer

F, H = "float32", "float16"


def f32(*shape: int) -> Shape:
    return Shape(F, shape)


VALID: list[tuple[str, Shape, Shape, dict[str, Any], list[int]]] = [
    ("matmul", f32(4, 2), f32(2, 3), {}, [4, 3]),
    ("matmul", f32(1, 4), f32(2, 2, 4, 2), {}, [2, 2, 1, 2]),
    ("matmul", f32(2, 3, 4), f32(1, 4, 1), {}, [2, 3, 1]),
    ("matmul", f32(2, 1, 3, 4), f32(1, 5, 4, 5), {}, [2, 5, 3, 5]),
    ("matmul", Shape(H, [2, 1, 1, 1, 1, 1, 3, 4]), Shape(H, [7, 4, 5]), {}, [2, 1, 1, 1, 1, 7, 3, 5]),
    ("gemm", f32(2, 3), f32(3, 4), {}, [2, 4]),
    ("gemm", f32(2, 3), f32(2, 4), {"aTranspose": True}, [3, 4]),
    ("gemm", f32(2, 3), f32(4, 3), {"bTranspose": True}, [2, 4]),
    ("gemm", f32(3, 2), f32(4, 3), {"aTranspose": True, "bTranspose": True}, [2, 4]),
    *(("gemm", f32(2, 3), f32(3, 4), {"c": f32(*c)}, [2, 4]) for c in ([], [1], [4], [1, 4], [2, 1], [2, 4])),
    ("gemm", Shape(H, [2, 3]), Shape(H, [3, 4]), {"c": Shape(H, [])}, [2, 4]),
]

INVALID: list[tuple[str, Shape, Shape, dict[str, Any], str, str]] = [
    ("matmul", Shape("uint32", [2, 3, 4]), Shape("uint32", [2, 4, 5]), {}, "a", "must have a data type of"),
    ("matmul", f32(2, 3, 4), Shape(H, [2, 4, 5]), {}, "b", "must have the data type of a"),
    ("matmul", f32(2), f32(2, 2), {}, "a", "must have at least 2 dimensions"),
    ("matmul", f32(2, 2), f32(2), {}, "b", "must have at least 2 dimensions"),
    ("matmul", f32(2, 3), f32(2, 4), {}, "b", "must have 3 rows, the number of columns of a, got 2"),
    ("matmul", f32(3, 3, 4), f32(2, 4, 1), {}, "b", r"must have batch dimensions that broadcast with those of a, \[3\], got \[2\]"),
    ("gemm", Shape("int32", [2, 3]), Shape("int32", [3, 4]), {}, "a", "must have a data type of"),
    ("gemm", f32(2, 3), Shape(H, [3, 4]), {}, "b", "must have the data type of a"),
    ("gemm", f32(2, 3, 1), f32(2, 4), {}, "a", "must be 2-D"),
    ("gemm", f32(2, 4), f32(2, 3, 1), {}, "b", "must be 2-D"),
    ("gemm", f32(2, 3), f32(2, 4), {}, "b", "must have 3 rows"),
    ("gemm", f32(2, 3), f32(3, 4), {"aTranspose": True}, "b", "must have 2 rows"),
    ("gemm", f32(2, 3), f32(3, 4), {"bTranspose": True}, "b", "must have 3 rows"),
    ("gemm", f32(2, 3), f32(3, 4), {"c": f32(2, 3)}, "options.c", r"must broadcast to the output's shape, \[2, 4\]"),
    ("gemm", f32(1, 3), f32(3, 4), {"c": f32(2, 4)}, "options.c", r"must broadcast to the output's shape, \[1, 4\]"),
    ("gemm", f32(2, 3), f32(3, 4), {"c": f32(1, 2, 4)}, "options.c", r"must broadcast to the output's shape"),
    ("gemm", f32(2, 3), f32(3, 4), {"c": Shape(H, [2, 4])}, "options.c", "must have the data type of a"),
    ("gemm", f32(2, 3), f32(3, 4), {"alpha": float("inf")}, "options.alpha", "must be a finite number"),
]


@pytest.mark.parametrize(("name", "a", "b", "options", "shape"), VALID)
def test_valid(name: str, a: Shape, b: Shape, options: dict[str, Any], shape: list[int]) -> None:
    assert infer(name, a, b, **options) == [(a.dataType, shape)]


@pytest.mark.parametrize(("name", "a", "b", "options", "argument", "message"), INVALID)
def test_invalid(name: str, a: Shape, b: Shape, options: dict[str, Any], argument: str, message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        infer(name, a, b, **options)
    assert (caught.value.operation, caught.value.argument) == (name, argument)  # type: ignore[attr-defined]
