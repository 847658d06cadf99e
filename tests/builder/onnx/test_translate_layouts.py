"""Transposes that the translation leaves out, moves behind other operations, or folds into constants: how many are left, and the values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.property.calls import compute
from tests.property.programs import INPUT, Program, Step, Value, connect_program, expected_program
from tests.support import make_context
from webnn import MLGraphBuilder
from webnn.builder.onnx.translate import translate

RNG = np.random.default_rng(0)


def given(*shape: int, dtype: str = "float32") -> Step:
    return Step(INPUT, {"value": RNG.integers(-4, 5, shape).astype(dtype)})


def step(name: str, *operands: int, options: dict[str, Any] | None = None, **arguments: Any) -> Step:
    """Make a step whose operands are these values; ``arguments`` follow."""
    values: dict[str, Any] = {f"operand{number}": Value(index) for number, index in enumerate(operands)}
    return Step(name, values | arguments, options or {})


def turn(value: int, *permutation: int) -> Step:
    return step("transpose", value, options={"permutation": list(permutation)})


NHWC = {"inputLayout": "nhwc", "filterLayout": "ohwi"}
IMAGE, FILTER = given(1, 4, 5, 3), given(3, 2, 2, 3)
#: Value 0 is the image, 1 the filter, 2 the convolution in "nhwc" that the others begin with.
CONV = [IMAGE, FILTER, step("conv2d", 0, 1, options=NHWC)]

#: Steps, which of the inputs are constants, the outputs, and how many transposes are left.
CASES: dict[str, tuple[list[Step], tuple[bool, ...], list[int], int]] = {
    "one convolution": (CONV, (False, True), [2], 2),
    "a filter that is an input": (CONV, (False, False), [2], 3),
    "all is constant": (CONV, (True, True), [2], 1),
    "convolutions in a row": ([*CONV, step("conv2d", 2, 1, options=NHWC)], (False, True), [3], 2),
    "one image for two convolutions": ([*CONV, step("conv2d", 0, 1, options=NHWC), step("add", 2, 3)], (False, True), [4], 2),
    "activations between": (
        [*CONV, step("relu", 2), step("clamp", 3, options={"maxValue": 3}), step("conv2d", 4, 1, options=NHWC)],
        (False, True),
        [5],
        2,
    ),
    "a residual": ([*CONV, step("abs", 2), step("add", 2, 3)], (False, True), [4], 2),
    "an output in the middle": ([*CONV, step("relu", 2)], (False, True), [2, 3], 3),
    "one value twice": ([*CONV, step("mul", 2, 2)], (False, True), [3, 3], 2),
    "a constant per channel": ([*CONV, given(3), step("mul", 2, 3)], (False, True, True), [4], 2),
    "a constant per row": ([*CONV, given(3, 1, 1), step("sub", 3, 2)], (False, True, True), [4], 2),
    "a constant scalar": ([*CONV, given(), step("max", 2, 3)], (False, True, True), [4], 2),
    "an input with one element": ([*CONV, given(1, 1), step("max", 2, 3)], (False, True, False), [4], 2),
    "an input per channel": ([*CONV, given(3), step("mul", 2, 3)], (False, True, False), [4], 2),
    "a constant of higher rank": ([*CONV, given(2, 1, 1, 1, 1), step("mul", 2, 3)], (False, True, True), [4], 2),
    "a slope per channel": ([*CONV, given(3), step("prelu", 2, 3)], (False, True, True), [4], 2),
    "a comparison": ([*CONV, given(3), step("greater", 2, 3), step("logicalNot", 4)], (False, True, True), [5], 2),
    "a cast": ([*CONV, step("cast", 2, type="int32")], (False, True), [3], 2),
    "float16": (
        [given(1, 4, 5, 3, dtype="float16"), given(3, 2, 2, 3, dtype="float16"), step("conv2d", 0, 1, options=NHWC), step("relu", 2)],
        (False, False),
        [3],
        3,
    ),
    "pooling": (
        [
            *CONV,
            step("maxPool2d", 2, options={"windowDimensions": [2, 2], "layout": "nhwc"}),
            step("averagePool2d", 3, options={"layout": "nhwc"}),
        ],
        (False, True),
        [4],
        2,
    ),
    "pooling of squares": ([*CONV, step("l2Pool2d", 2, options={"layout": "nhwc"})], (False, True), [3], 2),
    "padding": (
        [
            *CONV,
            step("pad", 2, beginningPadding=[0, 1, 2, 0], endingPadding=[0, 0, 1, 0]),
            step("conv2d", 3, 1, options=NHWC | {"padding": [0] * 4}),
        ],
        (False, True),
        [3],
        2,
    ),
    "reflecting": (
        [*CONV, step("pad", 2, beginningPadding=[0, 1, 2, 0], endingPadding=[0, 0, 1, 1], options={"mode": "reflection"})],
        (False, True),
        [3],
        2,
    ),
    "padding that is none": ([*CONV, step("pad", 2, beginningPadding=[0] * 4, endingPadding=[0] * 4)], (False, True), [3], 2),
    "concatenation": ([*CONV, step("relu", 2), Step("concat", {"inputs": [Value(2), Value(3)], "axis": 3})], (False, True), [4], 2),
    "concatenation of one": ([*CONV, Step("concat", {"inputs": [Value(2)], "axis": 1})], (False, True), [3], 2),
    "concatenation with another": (
        [*CONV, given(1, 3, 4, 2), Step("concat", {"inputs": [Value(2), Value(3)], "axis": 3})],
        (False, True, False),
        [4],
        2,
    ),
    "batch normalization": (
        [
            *CONV,
            given(3),
            Step(INPUT, {"value": np.array([1, 2, 4], np.float32)}),
            step("batchNormalization", 2, 3, 4, options={"axis": 3, "bias": Value(3)}),
        ],
        (False, True, True, True),
        [5],
        2,
    ),
    "batch normalization of rows": (
        [
            *CONV,
            given(3),
            Step(INPUT, {"value": np.array([1, 2, 4], np.float32)}),
            step("batchNormalization", 2, 3, 4, options={"axis": 1}),
        ],
        (False, True, False, False),
        [5],
        2,
    ),
    "a mean over the image": ([*CONV, step("reduceMean", 2, options={"axes": [1, 2], "keepDimensions": True})], (False, True), [3], 2),
    "a mean that drops the image": ([*CONV, step("reduceMean", 2, options={"axes": [1, 2]})], (False, True), [3], 1),
    "a sum over channels": ([*CONV, step("reduceSum", 2, options={"axes": [3]})], (False, True), [3], 1),
    "a sum that leaves channels": ([*CONV, step("reduceSumSquare", 2, options={"axes": [0, 1]})], (False, True), [3], 2),
    "a maximum": ([*CONV, step("reduceMax", 2, options={"axes": [2], "keepDimensions": True})], (False, True), [3], 2),
    "a maximum of everything": ([*CONV, step("reduceMax", 2)], (False, True), [3], 1),
    # The engine's optimizer would move the transpose behind the node, whose kernel then refuses the axes.
    "a transpose before resampling": (
        [
            given(1, 1, 2, 2),
            step("resample2d", 0, options={"axes": [1, 2], "sizes": [2, 1]}),
            turn(1, 0, 2, 3, 1),
            step("clamp", 2, options={"minValue": 0}),
            step("resample2d", 3, options={"mode": "linear", "axes": [2, 3], "sizes": [3, 1]}),
        ],
        (False,),
        [4],
        1,
    ),
    "a transpose far before resampling": (
        [
            given(2, 3, 4, 2),
            turn(0, 0, 2, 3, 1),
            step("softmax", 1, axis=3),
            step("resample2d", 2, options={"mode": "linear", "scales": [2, 2]}),
        ],
        (False,),
        [3],
        1,
    ),
    "linear resampling": (
        [*CONV, step("resample2d", 2, options={"mode": "linear", "axes": [1, 2], "sizes": [6, 8]}), step("relu", 3)],
        (False, True),
        [4],
        2,
    ),
    "resampling": (
        [*CONV, step("resample2d", 2, options={"axes": [1, 2], "scales": [2, 3]}), step("conv2d", 3, 1, options=NHWC)],
        (False, True),
        [4],
        2,
    ),
    "casts": (
        [*CONV, step("cast", 2, type="int32"), step("cast", 3, type="float32"), step("conv2d", 4, 1, options=NHWC)],
        (False, True),
        [5],
        2,
    ),
    "a softmax": ([*CONV, step("softmax", 2, axis=3)], (False, True), [3], 2),
    "a reshape": ([*CONV, step("reshape", 2, newShape=[3, 12])], (False, True), [3], 2),
    "a convolution in the other layout": (
        [*CONV, step("conv2d", 2, 1, options={"filterLayout": "ohwi", "padding": [1] * 4})],
        (False, True),
        [3],
        2,
    ),
    "there and back": ([given(2, 3, 4), turn(0, 2, 0, 1), turn(1, 1, 2, 0)], (False,), [2], 0),
    "there and back in another way": ([given(2, 3, 4), turn(0, 1, 2, 0), turn(1, 1, 0, 2)], (False,), [2], 1),
    "three transposes": ([given(2, 3, 4), turn(0, 2, 1, 0), step("exp", 1), turn(2, 0, 2, 1), turn(3, 1, 0, 2)], (False,), [4], 1),
    "two transposes that differ": ([given(3, 3), turn(0, 1, 0), step("add", 0, 1)], (False,), [2], 1),
    "two transposes of a kind": ([given(3, 2), given(3, 2), turn(0, 1, 0), turn(1, 1, 0), step("sub", 2, 3)], (False,), [4], 1),
    "two transposes of two ranks": ([given(2, 3), given(2, 3, 2), turn(0, 1, 0), turn(1, 2, 1, 0), step("sub", 2, 3)], (False,), [4], 2),
    "a transposed constant": ([given(2, 3), given(2, 4), turn(1, 1, 0), step("matmul", 2, 0)], (False, True), [3], 0),
    "a transposed constant as an output": ([given(40, 30), turn(0, 1, 0), turn(1, 1, 0)], (True,), [1, 2, 1], 0),
    "a transposed input as an output": ([given(4, 3), turn(0, 1, 0)], (False,), [1, 1], 1),
    "a reshaped constant": (
        [given(2, 3), given(6), step("reshape", 1, newShape=[3, 2]), turn(2, 1, 0), step("add", 0, 3)],
        (False, True),
        [4, 3],
        0,
    ),
    "powers": ([given(2, 3, dtype="int32"), turn(0, 1, 0), given(2, dtype="int32"), step("pow", 1, 2)], (False, False), [3], 1),
    "powers of one exponent": (
        [given(1, 3, dtype="int32"), turn(0, 1, 0), Step(INPUT, {"value": np.full((2,), 2, "int32")}), step("pow", 1, 2)],
        (False, True),
        [3],
        1,
    ),
    "a transpose that nobody needs": ([given(2, 3), turn(0, 1, 0), step("relu", 0)], (False,), [2], 0),
}


@pytest.mark.parametrize("name", CASES)
def test_transposes(name: str) -> None:
    steps, constants, outputs, count = CASES[name]
    program = Program(steps, outputs, constants)
    context = make_context()
    builder = MLGraphBuilder(context)
    connected = connect_program(builder, program)
    named = {f"output{index}": operand for index, operand in enumerate(connected.outputs)}
    nodes = Counter(node.op_type for node in translate(builder._collect(named)).proto.graph.node)
    assert nodes["Transpose"] == count
    values = expected_program(program)
    for index, actual in zip(program.outputs, compute(context, builder, connected.outputs, connected.feeds).bound, strict=True):
        assert actual.dtype == values[index].dtype
        np.testing.assert_allclose(actual, values[index], rtol=1e-5)
