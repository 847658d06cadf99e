"""Strategies of random graphs: exact ones, of operations whose results are not approximate, and layers of networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.property.draws import ANY, PATTERNS, Draw, arrays, shapes
from tests.property.makers import ChosenDice, find_limits
from tests.property.programs import INPUT, Program, Step, Value, compute_step
from tests.support import FIRST, Array
from webnn.calls.dice import Scalar, to_array
from webnn.calls.maker import CallMaker
from webnn.calls.maker import DrawnValue as Operand
from webnn.calls.operations import CALLS
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK, DataType

__all__ = ["exact_programs", "layered_programs"]

#: The most elements of a value.
MOST = 300
#: The largest value in a layered program; a step that exceeds it is left out.
LARGEST = 100.0


class Composer(CallMaker):
    """A program that grows step by step; the reference computes each value when its step is added."""

    def __init__(self, draw: Draw, largest: float = math.inf) -> None:
        super().__init__(ChosenDice(draw, ANY, (3, 5, 40)), FIRST, find_limits(FIRST.name), chained=True)
        self.draw = draw
        self.largest = largest
        self.steps: list[Step] = []
        self.computed: list[Array] = []
        self._isGiven: list[bool] = []

    def add(self, name: str, arguments: Mapping[str, Any], options: Mapping[str, Any] | None = None) -> bool:
        """Add a step, unless its values are too large; tell whether it was added."""
        step = Step(name, arguments, options or {})
        computed = compute_step(step, self.computed)
        if any(array.size > MOST or array.ndim > MAX_RANK for array in computed):
            return False
        if self.largest < math.inf and not all(np.abs(array).max() <= self.largest for array in computed):
            return False
        self.steps.append(step)
        for array in computed:
            self.keep(self._take(array, isGiven=False))
        return True

    def call(self, name: str, holds: Callable[[Sequence[Array]], bool] = lambda operands: True) -> None:
        """Add a random call of an operation, unless a condition does not hold for its operands, or its values are too large."""
        before = len(self.steps), len(self.computed), len(self.values)
        operands: list[Array] = []

        def fill(value: Any) -> Any:
            if isinstance(value, Operand):
                operands.append(self.computed[value.reference["index"]])
                return Value(value.reference["index"])
            return [fill(each) for each in value] if isinstance(value, list) else value

        arguments, options = ([*map(fill, given)] if isinstance(given, list) else given for given in CALLS[name](self))
        row = FIRST.operations[name]
        names = [*row.operands, *(argument.name for argument in row.arguments)]
        given = dict(zip(names, arguments, strict=True))
        if not (holds(operands) and self.add(name, given, {member: fill(value) for member, value in options.items()})):
            del self.steps[before[0] :], self.values[before[2] :]
            del self.computed[before[1] :], self._isGiven[before[1] :]

    def make(self, dataType: DataType, shape: Sequence[int], elements: Sequence[Scalar], *, isConstant: bool) -> Operand:
        """Add an input or a constant: `finish` decides which."""
        return self._give(to_array(dataType, elements).reshape(shape))

    def given(self, array: Array) -> Value:
        """Add an input or a constant of certain elements."""
        return Value(self.keep(self._give(array)).reference["index"])

    def _give(self, array: Array) -> Operand:
        self.steps.append(Step(INPUT, {"value": array}))
        return self._take(array, isGiven=True)

    def _take(self, array: Array, *, isGiven: bool) -> Operand:
        self.computed.append(array)
        self._isGiven.append(isGiven)
        dataType: Any = array.dtype.name
        return Operand({"index": len(self.computed) - 1}, dataType, array.shape)

    def pick(self, holds: Callable[[Array], bool] = lambda value: True) -> Value | None:
        """Choose a value for which a condition holds."""
        found = [index for index, value in enumerate(self.computed) if holds(value)]
        return Value(self.draw(st.sampled_from(found[::-1]))) if found else None

    def __getitem__(self, value: Value) -> Array:
        return self.computed[value.index]

    def finish(self) -> Program:
        """Choose the outputs: the last value, and others, perhaps one of them twice."""
        computed = [index for index, isGiven in enumerate(self._isGiven) if not isGiven]
        outputs = [computed[-1], *self.draw(st.lists(st.sampled_from(computed), max_size=4))]
        return Program(self.steps, outputs, self.draw(PATTERNS))


def _fits(a: Array, b: Array) -> bool:
    try:
        return a.dtype == b.dtype and math.prod(np.broadcast_shapes(a.shape, b.shape)) <= MOST
    except ValueError:
        return False


def _is_float(value: Array) -> bool:
    return value.dtype.kind == "f"


#: Operations whose results are exact, pairs more often than others.
_EXACT = (
    *("abs", "ceil", "floor", "identity", "neg", "sqrt", "relu", "logicalNot"),
    *2 * ("add", "sub", "mul", "div", "max", "min", "equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"),
    *("reduceMax", "reduceMin", "argMax", "argMin", "reduceSum", "reduceProduct"),
    *("clamp", "where", "cast", "reshape", "transpose", "concat", "split", "slice", "expand", "pad", "gather"),
)


def _is_exact(name: str, operands: Sequence[Array]) -> bool:
    """Tell whether the result of a call is exact."""
    if name == "div":
        # A division by zero depends on the zero's sign, which some operations leave open.
        return not _is_float(operands[1]) or bool(np.all(operands[1] != 0))
    # Sums of floats depend on the order.
    return name not in ("reduceSum", "reduceProduct") or not _is_float(operands[0])


@st.composite
def exact_programs(draw: Draw) -> Program:
    """Draw a graph of operations that are exact, so that its values are: with NaN, infinities, overflow, all types, shared operands."""
    c = Composer(draw)
    shape = draw(shapes(0, 4, most=40))
    dtype = draw(st.sampled_from(DATA_TYPES))
    for _ in range(draw(st.integers(1, 3))):
        other = dtype if draw(st.booleans()) else draw(st.sampled_from(DATA_TYPES))
        kept = shape[draw(st.integers(0, len(shape))) :] if draw(st.booleans()) else shape
        c.given(draw(arrays(other, kept, ANY)))
    c.add("identity", {"input": Value(0)})
    for _ in range(draw(st.integers(3, 12))):
        name = draw(st.sampled_from(_EXACT))
        c.call(name, partial(_is_exact, name))
    return c.finish()


# Layers: operations on 4-D values, "nchw" or "nhwc".


def _weights(c: Composer, dtype: str, shape: Sequence[int]) -> Value:
    return c.given(c.draw(arrays(dtype, shape, ("unit",))))


def _is_image(value: Array) -> bool:
    return value.ndim == 4 and value.dtype.kind == "f"


def _layer_image(c: Composer) -> Value:
    image = c.pick(lambda value: _is_image(value) and value.shape[0] <= 2)
    assert image is not None  # the first input is one
    return image


def _conv(c: Composer) -> None:
    image, layout = _layer_image(c), c.draw(st.sampled_from(["nchw", "nhwc"]))
    sizes = dict(zip(layout, c[image].shape, strict=True))
    if sizes["c"] > 8:
        return
    depthwise = c.draw(st.booleans())
    outputs = sizes["c"] if depthwise else c.draw(st.integers(1, 3))
    window = [c.draw(st.integers(1, min(3, sizes[axis] + 1))) for axis in "hw"]
    options: dict[str, Any] = {"inputLayout": layout, "padding": [c.draw(st.integers(1, 2)) for _ in range(4)]}
    options |= {"strides": [c.draw(st.integers(1, 2)) for _ in range(2)], "groups": sizes["c"] if depthwise else 1}
    filter = _weights(c, c[image].dtype.name, [outputs, 1 if depthwise else sizes["c"], *window])
    if c.draw(st.booleans()):
        options["bias"] = _weights(c, c[image].dtype.name, [outputs])
    c.add("conv2d", {"input": image, "filter": filter}, options)


def _pool(c: Composer) -> None:
    image, layout = _layer_image(c), c.draw(st.sampled_from(["nchw", "nhwc"]))
    name = c.draw(st.sampled_from(["averagePool2d", "maxPool2d", "l2Pool2d"]))
    sizes = dict(zip(layout, c[image].shape, strict=True))
    window = [c.draw(st.integers(1, min(3, sizes[axis]))) for axis in "hw"]
    padding = [c.draw(st.integers(0, size - 1)) for size in (window[0], window[0], window[1], window[1])]
    options = {"windowDimensions": window, "padding": padding, "layout": layout}
    options |= {"strides": [c.draw(st.integers(1, 2)) for _ in range(2)]}
    c.add(name, {"input": image}, options)


def _image_pad(c: Composer) -> None:
    image = _layer_image(c)
    ends = [[0, 0, *(c.draw(st.integers(0, 2)) for _ in range(2))] for _ in range(2)]
    options = {"mode": c.draw(st.sampled_from(["constant", "edge", "reflection"])), "value": c.draw(st.integers(-1, 1))}
    c.add("pad", {"input": image, "beginningPadding": ends[0], "endingPadding": ends[1]}, options)


def _activate(c: Composer) -> None:
    names = [
        *("relu", "sigmoid", "tanh", "leakyRelu", "elu", "gelu", "hardSwish", "hardSigmoid", "softplus", "softsign", "linear", "erf"),
        "exp",
    ]
    c.add(c.draw(st.sampled_from(names)), {"input": c.pick(_is_float)})


def _limit(c: Composer) -> None:
    c.add("clamp", {"input": c.pick(_is_float)}, {"minValue": c.draw(st.integers(-2, 0)), "maxValue": c.draw(st.sampled_from([1, 6]))})


def _combine(c: Composer) -> None:
    a = c.pick(_is_float)
    assert a is not None
    b = c.pick(lambda value: _fits(c[a], value))
    c.add(c.draw(st.sampled_from(["add", "sub", "mul", "max", "min"])), {"a": a, "b": b})


def _scale(c: Composer) -> None:
    """Multiply, add or divide by one number, as many hand-written layers do."""
    a = c.pick(_is_float)
    assert a is not None
    number = c.given(np.array(c.draw(st.sampled_from([0.5, 1, 2, math.sqrt(2), 1 / 3, 0])), c[a].dtype))
    name = c.draw(st.sampled_from(["add", "mul", "sub", "div", "pow"]))
    if name == "div" and c[number] == 0:
        return
    if name == "pow" and c[a].min() < 0 and c[number] not in (0, 1, 2):
        return
    arguments = {"a": number, "b": a} if name in ("add", "mul", "sub") and c.draw(st.booleans()) else {"a": a, "b": number}
    c.add(name, arguments)


def _normalize(c: Composer) -> None:
    image = _layer_image(c)
    dtype = c[image].dtype.name
    name = c.draw(st.sampled_from(["batchNormalization", "instanceNormalization", "layerNormalization"]))
    options: dict[str, Any] = {"epsilon": 0.5}
    arguments: dict[str, Any] = {"input": image}
    features = c[image].shape[1]
    if name == "layerNormalization":
        options["axes"] = c.draw(st.sampled_from([[3], [2, 3], [1, 2, 3], [1]]))
        shape = [c[image].shape[axis] for axis in options["axes"]]
    else:
        shape = [features]
    if name == "batchNormalization":
        arguments["mean"] = _weights(c, dtype, [features])
        arguments["variance"] = c.given(c.draw(arrays(dtype, [features], ("positive",))))
    for member in ("scale", "bias"):
        if c.draw(st.booleans()):
            options[member] = _weights(c, dtype, shape)
    c.add(name, arguments, options)


def _multiply(c: Composer) -> None:
    a = c.pick(lambda value: _is_float(value) and value.ndim >= 2 and value.shape[-1] <= 20)
    if a is None:
        return
    b = _weights(c, c[a].dtype.name, [c[a].shape[-1], c.draw(st.integers(1, 4))])
    c.add("matmul", {"a": a, "b": b})


def _mean(c: Composer) -> None:
    image = _layer_image(c)
    name = c.draw(st.sampled_from(["reduceMean", "reduceSum", "reduceMax", "reduceL2", "reduceSumSquare"]))
    axes = c.draw(st.sampled_from([[1], [2, 3], [1, 2], [3]]))
    c.add(name, {"input": image}, {"axes": axes, "keepDimensions": True})


def _softmax(c: Composer) -> None:
    c.add("softmax", {"input": _layer_image(c), "axis": c.draw(st.integers(0, 3))})


def _turn(c: Composer) -> None:
    c.add("transpose", {"input": _layer_image(c)}, {"permutation": c.draw(st.sampled_from([[0, 2, 3, 1], [0, 3, 1, 2], [0, 1, 3, 2]]))})


def _resample(c: Composer) -> None:
    mode = c.draw(st.sampled_from(["nearest-neighbor", "linear"]))
    axes = c.draw(st.sampled_from([[1, 2], [2, 3]]))
    c.add("resample2d", {"input": _layer_image(c)}, {"mode": mode, "axes": axes, "sizes": [c.draw(st.integers(1, 6)) for _ in range(2)]})


def _move(c: Composer) -> None:
    c.call(c.draw(st.sampled_from(["concat", "split", "reshape", "slice"])), lambda operands: all(map(_is_float, operands)))


_LAYERS = (
    *(_conv, _conv, _pool, _image_pad, _activate, _activate, _limit, _combine, _combine, _scale, _normalize, _multiply, _mean, _softmax),
    *(_turn, _resample, _move, _move, _move, _move),
)


@st.composite
def layered_programs(draw: Draw) -> Program:
    """Draw a graph of layers, which the engine's optimizer likes to fuse; values stay below `LARGEST`."""
    c = Composer(draw, LARGEST)
    dtype = draw(st.sampled_from(["float32", "float16"]))
    c.given(draw(arrays(dtype, [1, draw(st.integers(1, 3)), draw(st.integers(2, 5)), draw(st.integers(2, 5))], ("unit",))))
    c.add("identity", {"input": Value(0)})
    for _ in range(draw(st.integers(3, 10))):
        draw(st.sampled_from(_LAYERS))(c)
    return c.finish()
