"""The normalizations: inferred shapes, and every step that can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import Shape, infer

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
    ("batchNormalization", (Shape("int32", [1, 2]), Shape("int32", [2]), Shape("int32", [2])), {}, "input", "must have a data type of"),
    ("batchNormalization", BATCH, {"axis": 4}, "options.axis", "must be less than the rank of input, 4, got 4"),
    ("batchNormalization", (f32(2), f32(2), f32(2)), {}, "options.axis", "must be less than the rank of input, 1"),
    ("batchNormalization", (BATCH[0], Shape(H, [2]), f32(2)), {}, "mean", "must have the data type of input"),
    ("batchNormalization", (BATCH[0], f32(1, 2), f32(2)), {}, "mean", r"must have the shape \[2\]"),
    ("batchNormalization", (BATCH[0], f32(2), Shape(H, [2])), {}, "variance", "must have the data type of input"),
    ("batchNormalization", (BATCH[0], f32(5), f32(2)), {"axis": 2}, "variance", r"must have the shape \[5\]"),
    ("batchNormalization", BATCH, {"scale": Shape(H, [2])}, "options.scale", "must have the data type of input"),
    ("batchNormalization", BATCH, {"scale": f32(2, 1)}, "options.scale", r"must have the shape \[2\]"),
    ("batchNormalization", BATCH, {"bias": Shape(H, [2])}, "options.bias", "must have the data type of input"),
    ("batchNormalization", BATCH, {"bias": f32(3)}, "options.bias", r"must have the shape \[2\]"),
    ("batchNormalization", BATCH, {"epsilon": float("nan")}, "options.epsilon", "must be a finite number"),
    ("instanceNormalization", (Shape("int32", [1, 2, 3, 4]),), {}, "input", "must have a data type of"),
    ("instanceNormalization", (f32(1, 2, 3, 4, 5),), {}, "input", "must be 4-D"),
    ("instanceNormalization", (X,), {"layout": "nchwc"}, "options.layout", "must be one of"),
    ("instanceNormalization", (X,), {"scale": Shape(H, [2])}, "options.scale", "must have the data type of input"),
    ("instanceNormalization", (X,), {"scale": f32(2, 1)}, "options.scale", r"must have the shape \[2\]"),
    ("instanceNormalization", (X,), {"layout": "nhwc", "scale": f32(2)}, "options.scale", r"must have the shape \[4\]"),
    ("instanceNormalization", (X,), {"bias": Shape(H, [2])}, "options.bias", "must have the data type of input"),
    ("instanceNormalization", (X,), {"bias": f32(4)}, "options.bias", r"must have the shape \[2\]"),
    ("layerNormalization", (Shape("uint32", [1, 2]),), {}, "input", "must have a data type of"),
    ("layerNormalization", (X,), {"axes": [3, 3]}, "options.axes", "must not contain an axis twice"),
    ("layerNormalization", (X,), {"axes": [1, 2, 4]}, "options.axes", "must be less than the rank of input, 4"),
    ("layerNormalization", (f32(),), {"axes": [0]}, "options.axes", "must be less than the rank of input, 0"),
    ("layerNormalization", (X,), {"axes": [3], "scale": Shape(H, [4])}, "options.scale", "must have the data type of input"),
    ("layerNormalization", (X,), {"scale": X}, "options.scale", r"must have one dimension for each of the axes \[1, 2, 3\]"),
    ("layerNormalization", (X,), {"scale": f32(3, 3, 4)}, "options.scale", r"must have the shape \[2, 3, 4\]"),
    ("layerNormalization", (X,), {"axes": [3, 2], "scale": f32(3, 4)}, "options.scale", r"must have the shape \[4, 3\]"),
    ("layerNormalization", (X,), {"axes": [3], "bias": Shape(H, [4])}, "options.bias", "must have the data type of input"),
    ("layerNormalization", (X,), {"axes": [], "bias": f32(1)}, "options.bias", r"must have one dimension for each of the axes \[\]"),
    ("layerNormalization", (X,), {"bias": f32(3, 3, 4)}, "options.bias", r"must have the shape \[2, 3, 4\]"),
]


@pytest.mark.parametrize(("name", "operands", "options"), VALID)
def test_valid(name: str, operands: tuple[Shape, ...], options: dict[str, Any]) -> None:
    assert infer(name, *operands, **options) == [(operands[0].dataType, list(operands[0].dimensions))]


@pytest.mark.parametrize(("name", "operands", "options", "argument", "message"), INVALID)
def test_invalid(name: str, operands: tuple[Shape, ...], options: dict[str, Any], argument: str, message: str) -> None:
    with pytest.raises(TypeError, match=message) as caught:
        infer(name, *operands, **options)
    assert (caught.value.operation, caught.value.argument) == (name, argument)  # type: ignore[attr-defined]
