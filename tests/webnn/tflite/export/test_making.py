"""Types that a kernel does not take, constants, and the meaning of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.support import each_row
from tests.webnn.tflite.export.litert import check, codes, constant, describe, ramp
from webnn.tflite.export import export
from webnn.tflite.export.emitter import LiteEmitter
from webnn.tflite.export.making import slot_of
from webnn.tflite.export.program import Program, Quantization

LARGE = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)


@each_row(
    ("make", "inputs", "made"),
    [
        (lambda b, x: b.add(x, x), [ramp(4, dtype=np.int32)], ["ADD"]),
        (lambda b, x: b.add(x, x), [ramp(4, dtype=np.int8)], ["CAST", "CAST", "ADD", "CAST"]),
        (lambda b, x: b.mul(x, x), [np.array([200, 3], np.uint8)], ["CAST", "CAST", "MUL", "CAST"]),
        (lambda b, x: b.sub(x, b.add(x, x)), [np.array([1, 2**32 - 1], np.uint32)], None),
        (lambda b, x: b.add(x, x), [LARGE], ["BITCAST", "BITCAST", "ADD", "BITCAST"]),
        (lambda b, x: b.max(x, constant(b, LARGE[::-1].copy())), [LARGE], None),
        (lambda b, x: b.greater(x, constant(b, np.uint64(2**63))), [LARGE], None),
        (lambda b, x: b.sqrt(x), [abs(ramp(4, dtype=np.float16))], ["CAST", "SQRT", "CAST"]),
        # The weights stay float16 in the file.
        (lambda b, x: b.matmul(x, constant(b, ramp(2, 2, dtype=np.float16))), [ramp(2, 2, dtype=np.float16)], None),
    ],
)
def test_types(make: Any, inputs: Any, made: list[str] | None) -> None:
    found = check(make, *inputs)
    assert made is None or found == made


def test_weights_of_float16_are_dequantized() -> None:
    weights = ramp(2, 2, dtype=np.float16)
    program = export(describe(lambda b, x: b.gemm(x, constant(b, weights)), ramp(2, 2, dtype=np.float16))[0])
    assert "DEQUANTIZE" in codes(program)
    assert "TRANSPOSE" not in codes(program)
    [stored] = [
        each
        for operator in program.needed()
        for each in operator.inputs
        if each is not None and each.element == "f16" and each.data is not None
    ]
    assert stored.data is not None
    # The weights are transposed without a copy.
    assert not stored.data.flags.c_contiguous


def test_one_tensor_with_two_meanings() -> None:
    emitter = LiteEmitter(Program())
    x = emitter.make((2,), "i8", name="x")
    first, second = (Quantization((each,), (0,)) for each in (0.5, 0.25))
    assert emitter.mean(x, first) is x
    assert emitter.mean(x, first) is x
    other = emitter.mean(x, second)
    assert slot_of(x).quantization == first
    assert slot_of(other).quantization == second
