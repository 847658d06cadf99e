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

Row = tuple[list[Step], tuple[bool, ...], list[int], int]


def case(*steps: Step, constants: tuple[bool, ...] = (False, True), outputs: list[int] | None = None, left: int = 2) -> Row:
    """Make a row: steps, which of the inputs are constants, the outputs, by default the last value, and how many transposes are left."""
    return list(steps), constants, outputs or [len(steps) - 1], left


def conv(*steps: Step, **others: Any) -> Row:
    """Make a row of steps that follow `CONV`."""
    return case(*CONV, *steps, **others)


CASES: dict[str, Row] = {
    "one convolution": conv(),
    "a filter that is an input": conv(constants=(False, False), left=3),
    "all is constant": conv(constants=(True, True), left=1),
    "convolutions in a row": conv(step("conv2d", 2, 1, options=NHWC)),
    "one image for two convolutions": conv(step("conv2d", 0, 1, options=NHWC), step("add", 2, 3)),
    "activations between": conv(step("relu", 2), step("clamp", 3, options={"maxValue": 3}), step("conv2d", 4, 1, options=NHWC)),
    "a residual": conv(step("abs", 2), step("add", 2, 3)),
    "an output in the middle": conv(step("relu", 2), outputs=[2, 3], left=3),
    "one value twice": conv(step("mul", 2, 2), outputs=[3, 3]),
    "a constant per channel": conv(given(3), step("mul", 2, 3), constants=(False, True, True)),
    "a constant per row": conv(given(3, 1, 1), step("sub", 3, 2), constants=(False, True, True)),
    "a constant scalar": conv(given(), step("max", 2, 3), constants=(False, True, True)),
    "an input with one element": conv(given(1, 1), step("max", 2, 3), constants=(False, True, False)),
    "an input per channel": conv(given(3), step("mul", 2, 3), constants=(False, True, False)),
    "a constant of higher rank": conv(given(2, 1, 1, 1, 1), step("mul", 2, 3), constants=(False, True, True)),
    "a slope per channel": conv(given(3), step("prelu", 2, 3), constants=(False, True, True)),
    "a comparison": conv(given(3), step("greater", 2, 3), step("logicalNot", 4), constants=(False, True, True)),
    "a cast": conv(step("cast", 2, type="int32")),
    "float16": case(
        given(1, 4, 5, 3, dtype="float16"),
        given(3, 2, 2, 3, dtype="float16"),
        step("conv2d", 0, 1, options=NHWC),
        step("relu", 2),
        constants=(False, False),
        left=3,
    ),
    "pooling": conv(
        step("maxPool2d", 2, options={"windowDimensions": [2, 2], "layout": "nhwc"}), step("averagePool2d", 3, options={"layout": "nhwc"})
    ),
    "pooling of squares": conv(step("l2Pool2d", 2, options={"layout": "nhwc"})),
    "padding": conv(
        step("pad", 2, beginningPadding=[0, 1, 2, 0], endingPadding=[0, 0, 1, 0]),
        step("conv2d", 3, 1, options=NHWC | {"padding": [0] * 4}),
        outputs=[3],
    ),
    "reflecting": conv(step("pad", 2, beginningPadding=[0, 1, 2, 0], endingPadding=[0, 0, 1, 1], options={"mode": "reflection"})),
    "padding that is none": conv(step("pad", 2, beginningPadding=[0] * 4, endingPadding=[0] * 4)),
    "concatenation": conv(step("relu", 2), Step("concat", {"inputs": [Value(2), Value(3)], "axis": 3})),
    "concatenation of one": conv(Step("concat", {"inputs": [Value(2)], "axis": 1})),
    "concatenation with another": conv(
        given(1, 3, 4, 2), Step("concat", {"inputs": [Value(2), Value(3)], "axis": 3}), constants=(False, True, False)
    ),
    "batch normalization": conv(
        given(3),
        Step(INPUT, {"value": np.array([1, 2, 4], np.float32)}),
        step("batchNormalization", 2, 3, 4, options={"axis": 3, "bias": Value(3)}),
        constants=(False, True, True, True),
    ),
    "batch normalization of rows": conv(
        given(3),
        Step(INPUT, {"value": np.array([1, 2, 4], np.float32)}),
        step("batchNormalization", 2, 3, 4, options={"axis": 1}),
        constants=(False, True, False, False),
    ),
    "a mean over the image": conv(step("reduceMean", 2, options={"axes": [1, 2], "keepDimensions": True})),
    "a mean that drops the image": conv(step("reduceMean", 2, options={"axes": [1, 2]}), left=1),
    "a sum over channels": conv(step("reduceSum", 2, options={"axes": [3]}), left=1),
    "a sum that leaves channels": conv(step("reduceSumSquare", 2, options={"axes": [0, 1]})),
    "a maximum": conv(step("reduceMax", 2, options={"axes": [2], "keepDimensions": True})),
    "a maximum of everything": conv(step("reduceMax", 2), left=1),
    # The engine's optimizer would move the transpose behind the node, whose kernel then refuses the axes.
    "a transpose before resampling": case(
        given(1, 1, 2, 2),
        step("resample2d", 0, options={"axes": [1, 2], "sizes": [2, 1]}),
        turn(1, 0, 2, 3, 1),
        step("clamp", 2, options={"minValue": 0}),
        step("resample2d", 3, options={"mode": "linear", "axes": [2, 3], "sizes": [3, 1]}),
        constants=(False,),
        left=1,
    ),
    "a transpose far before resampling": case(
        given(2, 3, 4, 2),
        turn(0, 0, 2, 3, 1),
        step("softmax", 1, axis=3),
        step("resample2d", 2, options={"mode": "linear", "scales": [2, 2]}),
        constants=(False,),
        left=1,
    ),
    "linear resampling": conv(step("resample2d", 2, options={"mode": "linear", "axes": [1, 2], "sizes": [6, 8]}), step("relu", 3)),
    "resampling": conv(step("resample2d", 2, options={"axes": [1, 2], "scales": [2, 3]}), step("conv2d", 3, 1, options=NHWC)),
    "casts": conv(step("cast", 2, type="int32"), step("cast", 3, type="float32"), step("conv2d", 4, 1, options=NHWC)),
    "a softmax": conv(step("softmax", 2, axis=3)),
    "a reshape": conv(step("reshape", 2, newShape=[3, 12])),
    "a convolution in the other layout": conv(step("conv2d", 2, 1, options={"filterLayout": "ohwi", "padding": [1] * 4})),
    "there and back": case(given(2, 3, 4), turn(0, 2, 0, 1), turn(1, 1, 2, 0), constants=(False,), left=0),
    "there and back in another way": case(given(2, 3, 4), turn(0, 1, 2, 0), turn(1, 1, 0, 2), constants=(False,), left=1),
    "three transposes": case(
        given(2, 3, 4), turn(0, 2, 1, 0), step("exp", 1), turn(2, 0, 2, 1), turn(3, 1, 0, 2), constants=(False,), left=1
    ),
    "two transposes that differ": case(given(3, 3), turn(0, 1, 0), step("add", 0, 1), constants=(False,), left=1),
    "two transposes of a kind": case(given(3, 2), given(3, 2), turn(0, 1, 0), turn(1, 1, 0), step("sub", 2, 3), constants=(False,), left=1),
    "two transposes of two ranks": case(
        given(2, 3), given(2, 3, 2), turn(0, 1, 0), turn(1, 2, 1, 0), step("sub", 2, 3), constants=(False,)
    ),
    "a transposed constant": case(given(2, 3), given(2, 4), turn(1, 1, 0), step("matmul", 2, 0), left=0),
    "a transposed constant as an output": case(given(40, 30), turn(0, 1, 0), turn(1, 1, 0), constants=(True,), outputs=[1, 2, 1], left=0),
    "a transposed input as an output": case(given(4, 3), turn(0, 1, 0), constants=(False,), outputs=[1, 1], left=1),
    "a reshaped constant": case(
        given(2, 3), given(6), step("reshape", 1, newShape=[3, 2]), turn(2, 1, 0), step("add", 0, 3), outputs=[4, 3], left=0
    ),
    "powers": case(given(2, 3, dtype="int32"), turn(0, 1, 0), given(2, dtype="int32"), step("pow", 1, 2), constants=(False, False), left=1),
    "powers of one exponent": case(
        given(1, 3, dtype="int32"), turn(0, 1, 0), Step(INPUT, {"value": np.full((2,), 2, "int32")}), step("pow", 1, 2), left=1
    ),
    "a transpose that nobody needs": case(given(2, 3), turn(0, 1, 0), step("relu", 0), constants=(False,), left=0),
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
