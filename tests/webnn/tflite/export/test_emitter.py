"""Transposes that are put off, activations inside of other operators, and loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import each_row
from tests.webnn.tflite.export.litert import check, constant, ramp


def conv(b: Any, x: Any, size: int = 3) -> Any:
    return b.conv2d(x, constant(b, ramp(size, x.shape[1], 3, 3)), padding=[1, 1, 1, 1])


def twice(b: Any, x: Any) -> Any:
    total = b.add(x, x)
    return b.mul(b.relu(total), total)


X = ramp(1, 2, 5, 5)


@each_row(
    ("make", "made"),
    [
        # Layouts meet: between the convolutions nothing is transposed.
        (lambda b, x: conv(b, b.relu(conv(b, x))), ["TRANSPOSE", "CONV_2D", "CONV_2D", "TRANSPOSE"]),
        (lambda b, x: conv(b, b.mul(conv(b, x), constant(b, ramp(3, 1, 1)))), ["TRANSPOSE", "CONV_2D", "MUL", "CONV_2D", "TRANSPOSE"]),
        (lambda b, x: b.add(conv(b, x), conv(b, x)), ["TRANSPOSE", "CONV_2D", "TRANSPOSE", "CONV_2D", "ADD", "TRANSPOSE"]),
        (lambda b, x: b.reduceMean(conv(b, x), axes=[2, 3], keepDimensions=True), ["TRANSPOSE", "CONV_2D", "MEAN", "TRANSPOSE"]),
        (lambda b, x: b.pad(conv(b, x), [0, 0, 1, 0], [0, 0, 0, 2]), ["TRANSPOSE", "CONV_2D", "PAD", "TRANSPOSE"]),
        (lambda b, x: b.transpose(b.transpose(x)), ["RESHAPE"]),
        (lambda b, x: b.transpose(b.sigmoid(b.transpose(x))), ["LOGISTIC"]),
        (lambda b, x: b.cast(b.transpose(x), "int32"), ["CAST", "TRANSPOSE"]),
        # An activation goes into the operator before, unless something else needs its numbers.
        (lambda b, x: b.clamp(b.add(x, x), minValue=0, maxValue=6), ["ADD"]),
        (lambda b, x: b.relu(b.relu(b.add(x, x))), ["ADD", "RELU"]),
        (twice, ["ADD", "RELU", "MUL"]),
        (lambda b, x: b.where(b.greater(x, constant(b, np.float32(0))), x, b.neg(x)), None),
        (lambda b, x: b.slice(x, [0, 0, 1, 0], [1, 2, 4, 5], strides=[1, 1, 2, 1]), ["STRIDED_SLICE"]),
        (lambda b, x: b.slice(x, [0, 0, 1, 0], [1, 2, 4, 5]), ["SLICE"]),
        (lambda b, x: b.reverse(x, axes=[0, 2]), ["REVERSE_V2", "REVERSE_V2"]),
        (lambda b, x: b.concat(b.split(x, 2, axis=1), 1), ["SLICE", "SLICE", "CONCATENATION"]),
        (lambda b, x: b.tan(x), ["SIN", "COS", "DIV"]),
        (lambda b, x: b.softplus(x), None),
        (lambda b, x: b.erf(x), None),
        (lambda b, x: b.isInfinite(x), None),
    ],
)
def test_operators(make: Any, made: list[str] | None) -> None:
    found = check(make, X)
    assert made is None or found == made


def test_steps_follow_each_other() -> None:
    """A network over a sequence: the hidden states are joined once."""

    def make(b: Any, x: Any) -> Any:
        weights = [constant(b, ramp(1, 6, size) / 8) for size in (3, 2)]
        return b.gru(x, *weights, steps=4, hiddenSize=2, returnSequence=True, direction="backward")[1]

    found = check(make, ramp(4, 2, 3))
    assert found.count("CONCATENATION") == 1
    assert not {"WHILE", "DYNAMIC_UPDATE_SLICE"} & {*found}
