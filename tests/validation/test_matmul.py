"""matmul and gemm: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, infer, refused

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
    ("matmul", Shape("uint32", [2, 3, 4]), Shape("uint32", [2, 4, 5]), {}, "a", "type"),
    ("matmul", f32(2, 3, 4), Shape(H, [2, 4, 5]), {}, "b", "type"),
    ("matmul", f32(2), f32(2, 2), {}, "a", "rank"),
    ("matmul", f32(2, 2), f32(2), {}, "b", "rank"),
    ("matmul", f32(2, 3), f32(2, 4), {}, "b", "shape"),
    ("matmul", f32(3, 3, 4), f32(2, 4, 1), {}, "b", "broadcast"),
    ("gemm", Shape("int32", [2, 3]), Shape("int32", [3, 4]), {}, "a", "type"),
    ("gemm", f32(2, 3), Shape(H, [3, 4]), {}, "b", "type"),
    ("gemm", f32(2, 3, 1), f32(2, 4), {}, "a", "rank"),
    ("gemm", f32(2, 4), f32(2, 3, 1), {}, "b", "rank"),
    ("gemm", f32(2, 3), f32(2, 4), {}, "b", "shape"),
    ("gemm", f32(2, 3), f32(3, 4), {"aTranspose": True}, "b", "shape"),
    ("gemm", f32(2, 3), f32(3, 4), {"bTranspose": True}, "b", "shape"),
    ("gemm", f32(2, 3), f32(3, 4), {"c": f32(2, 3)}, "options.c", "broadcast"),
    ("gemm", f32(1, 3), f32(3, 4), {"c": f32(2, 4)}, "options.c", "broadcast"),
    ("gemm", f32(2, 3), f32(3, 4), {"c": f32(1, 2, 4)}, "options.c", "broadcast"),
    ("gemm", f32(2, 3), f32(3, 4), {"c": Shape(H, [2, 4])}, "options.c", "type"),
    ("gemm", f32(2, 3), f32(3, 4), {"alpha": float("inf")}, "options.alpha", "conversion"),
]


@pytest.mark.parametrize(("name", "a", "b", "options", "shape"), VALID)
def test_valid(name: str, a: Shape, b: Shape, options: dict[str, Any], shape: list[int]) -> None:
    assert infer(name, a, b, **options) == [(a.dataType, shape)]


@pytest.mark.parametrize(("name", "a", "b", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, a: Shape, b: Shape, options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, a, b, **options)
