"""The normalizations: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, infer, refused

F, H = "float32", "float16"


def f32(*shape: int) -> Shape:
    return Shape(F, shape)


X = f32(1, 2, 3, 4)

VALID: list[tuple[str, tuple[Shape, ...], dict[str, Any]]] = [
    ("batchNormalization", (f32(1, 2, 5, 5), f32(2), f32(2)), {}),
    ("batchNormalization", (f32(1, 2, 5, 5), f32(5), f32(5)), {"axis": 2, "epsilon": 1e-4, "scale": f32(5), "bias": f32(5)}),
    ("batchNormalization", (f32(3), f32(3), f32(3)), {"axis": 0}),
    ("batchNormalization", (Shape(H, [2, 1, 1, 1, 1, 1, 1, 3]), Shape(H, [3]), Shape(H, [3])), {"axis": 7}),
    ("instanceNormalization", (X,), {}),
    ("instanceNormalization", (X,), {"scale": f32(2), "bias": f32(2), "epsilon": 0}),
    ("instanceNormalization", (X,), {"layout": "nhwc", "scale": f32(4), "bias": f32(4)}),
    ("instanceNormalization", (Shape(H, [1, 2, 3, 4]),), {}),
    ("layerNormalization", (f32(),), {}),
    ("layerNormalization", (Shape(H, []),), {"scale": Shape(H, []), "bias": Shape(H, [])}),
    ("layerNormalization", (f32(5),), {"scale": f32()}),
    ("layerNormalization", (X,), {"scale": f32(2, 3, 4), "bias": f32(2, 3, 4)}),
    ("layerNormalization", (X,), {"axes": [], "bias": f32()}),
    ("layerNormalization", (X,), {"axes": [3, 0, 2], "scale": f32(4, 1, 3), "bias": f32(4, 1, 3)}),
]

BATCH = (f32(1, 2, 5, 5), f32(2), f32(2))

INVALID: list[tuple[str, tuple[Shape, ...], dict[str, Any], str, str]] = [
    ("batchNormalization", (Shape("int32", [1, 2]), Shape("int32", [2]), Shape("int32", [2])), {}, "input", "type"),
    ("batchNormalization", BATCH, {"axis": 4}, "options.axis", "axis"),
    ("batchNormalization", (f32(2), f32(2), f32(2)), {}, "options.axis", "axis"),
    ("batchNormalization", (BATCH[0], Shape(H, [2]), f32(2)), {}, "mean", "type"),
    ("batchNormalization", (BATCH[0], f32(1, 2), f32(2)), {}, "mean", "shape"),
    ("batchNormalization", (BATCH[0], f32(2), Shape(H, [2])), {}, "variance", "type"),
    ("batchNormalization", (BATCH[0], f32(5), f32(2)), {"axis": 2}, "variance", "shape"),
    ("batchNormalization", BATCH, {"scale": Shape(H, [2])}, "options.scale", "type"),
    ("batchNormalization", BATCH, {"scale": f32(2, 1)}, "options.scale", "shape"),
    ("batchNormalization", BATCH, {"bias": Shape(H, [2])}, "options.bias", "type"),
    ("batchNormalization", BATCH, {"bias": f32(3)}, "options.bias", "shape"),
    ("batchNormalization", BATCH, {"epsilon": float("nan")}, "options.epsilon", "conversion"),
    ("instanceNormalization", (Shape("int32", [1, 2, 3, 4]),), {}, "input", "type"),
    ("instanceNormalization", (f32(1, 2, 3, 4, 5),), {}, "input", "rank"),
    ("instanceNormalization", (X,), {"layout": "nchwc"}, "options.layout", "conversion"),
    ("instanceNormalization", (X,), {"scale": Shape(H, [2])}, "options.scale", "type"),
    ("instanceNormalization", (X,), {"scale": f32(2, 1)}, "options.scale", "shape"),
    ("instanceNormalization", (X,), {"layout": "nhwc", "scale": f32(2)}, "options.scale", "shape"),
    ("instanceNormalization", (X,), {"bias": Shape(H, [2])}, "options.bias", "type"),
    ("instanceNormalization", (X,), {"bias": f32(4)}, "options.bias", "shape"),
    ("layerNormalization", (Shape("uint32", [1, 2]),), {}, "input", "type"),
    ("layerNormalization", (X,), {"axes": [3, 3]}, "options.axes", "different"),
    ("layerNormalization", (X,), {"axes": [1, 2, 4]}, "options.axes", "axis"),
    ("layerNormalization", (f32(),), {"axes": [0]}, "options.axes", "axis"),
    ("layerNormalization", (X,), {"axes": [3], "scale": Shape(H, [4])}, "options.scale", "type"),
    ("layerNormalization", (X,), {"scale": X}, "options.scale", "shape"),
    ("layerNormalization", (X,), {"scale": f32(3, 3, 4)}, "options.scale", "shape"),
    ("layerNormalization", (X,), {"axes": [3, 2], "scale": f32(3, 4)}, "options.scale", "shape"),
    ("layerNormalization", (X,), {"axes": [3], "bias": Shape(H, [4])}, "options.bias", "type"),
    ("layerNormalization", (X,), {"axes": [], "bias": f32(1)}, "options.bias", "shape"),
    ("layerNormalization", (X,), {"bias": f32(3, 3, 4)}, "options.bias", "shape"),
]


@pytest.mark.parametrize(("name", "operands", "options"), VALID)
def test_valid(name: str, operands: tuple[Shape, ...], options: dict[str, Any]) -> None:
    assert infer(name, *operands, **options) == [(operands[0].dataType, list(operands[0].dimensions))]


@pytest.mark.parametrize(("name", "operands", "options", "argument", "rule"), INVALID)
def test_invalid(name: str, operands: tuple[Shape, ...], options: dict[str, Any], argument: str, rule: str) -> None:
    with refused(rule=rule, operation=name, argument=argument):
        infer(name, *operands, **options)
