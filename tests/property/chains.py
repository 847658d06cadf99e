"""Strategies of random graphs: exact ones, of operations whose results are not approximate, and layers of networks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.property.draws import ANY, PATTERNS, Draw, arrays, axis_lists, shapes
from tests.property.programs import INPUT, Program, Step, Value, compute_step
from tests.support import FIRST, Array
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK

__all__ = ["exact_programs", "layered_programs"]

#: The most elements of a value.
MOST = 300
#: The largest value in a layered program; a step that exceeds it is left out.
LARGEST = 100.0


class Composer:
    """A program that grows step by step; the reference computes each value when its step is added."""

    def __init__(self, draw: Draw, largest: float = math.inf) -> None:
        self.draw = draw
        self.largest = largest
        self.steps: list[Step] = []
        self.values: list[Array] = []

    def add(self, name: str, arguments: dict[str, Any], options: dict[str, Any] | None = None) -> bool:
        """Add a step, unless its values are too large; tell whether it was added."""
        step = Step(name, arguments, options or {})
        computed = compute_step(step, self.values)
        if any(array.size > MOST or array.ndim > MAX_RANK for array in computed):
            return False
        if self.largest < math.inf and not all(np.abs(array).max() <= self.largest for array in computed):
            return False
        self.steps.append(step)
        self.values += computed
        return True

    def given(self, value: Array) -> Value:
        """Add an input or a constant."""
        self.add(INPUT, {"value": value})
        return Value(len(self.values) - 1)

    def pick(self, holds: Callable[[Array], bool] = lambda value: True) -> Value | None:
        """Choose a value for which a condition holds."""
        found = [index for index, value in enumerate(self.values) if holds(value)]
        return Value(self.draw(st.sampled_from(found[::-1]))) if found else None

    def __getitem__(self, value: Value) -> Array:
        return self.values[value.index]

    def finish(self) -> Program:
        """Choose the outputs: the last value, and others, perhaps one of them twice."""
        given = self.given_values()
        computed = [index for index in range(len(self.values)) if index not in given]
        outputs = [computed[-1], *self.draw(st.lists(st.sampled_from(computed), max_size=4))]
        return Program(self.steps, outputs, self.draw(PATTERNS))

    def given_values(self) -> set[int]:
        """Return which values are inputs or constants."""
        count, given = 0, set()
        for step in self.steps:
            if step.name == INPUT:
                given.add(count)
            count += len(step.arguments["splits"]) if step.name == "split" else 1
        return given


def _fits(a: Array, b: Array) -> bool:
    try:
        return a.dtype == b.dtype and math.prod(np.broadcast_shapes(a.shape, b.shape)) <= MOST
    except ValueError:
        return False


def _is_float(value: Array) -> bool:
    return value.dtype.kind == "f"


# Exact steps: each takes the composer and adds one step, or none if there is no value for it.


def _unary(c: Composer) -> None:
    name = c.draw(st.sampled_from(["abs", "ceil", "floor", "identity", "neg", "sqrt", "relu", "logicalNot"]))
    argument = "a" if name == "logicalNot" else "input"
    allowed = FIRST.data_types.get(name, {}).get(argument, DATA_TYPES)
    value = c.pick(lambda value: value.dtype.name in allowed)
    if value is not None:
        c.add(name, {argument: value})


def _pair(c: Composer) -> None:
    name = c.draw(
        st.sampled_from(["add", "sub", "mul", "div", "max", "min", "equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"])
    )
    a = c.pick()
    assert a is not None
    # A division by zero depends on the zero's sign, which some operations leave open.
    b = c.pick(lambda value: _fits(c[a], value) and (name != "div" or not _is_float(value) or bool(np.all(value != 0))))
    if b is not None:
        c.add(name, {"a": a, "b": b})


def _clamp(c: Composer) -> None:
    bounds = sorted([c.draw(st.integers(-20, 20)), c.draw(st.sampled_from([-3, 0.5, 6, 255, 1e9]))])
    c.add("clamp", {"input": c.pick()}, {"minValue": bounds[0], "maxValue": bounds[1]})


def _where(c: Composer) -> None:
    condition, input = c.pick(lambda value: value.dtype == np.uint8), c.pick()
    if condition is None or input is None:
        return
    other = c.pick(lambda value: _fits(c[input], value))
    assert other is not None  # there is always the input itself
    shape = np.broadcast_shapes(c[input].shape, c[other].shape)
    if _fits(c[condition], np.zeros(shape, np.uint8)):
        c.add("where", {"condition": condition, "input": input, "other": other})


def _cast(c: Composer) -> None:
    c.add("cast", {"input": c.pick(), "type": c.draw(st.sampled_from(DATA_TYPES))})


def _reshape(c: Composer) -> None:
    input = c.pick()
    assert input is not None
    count, newShape = c[input].size, list[int]()
    while count > 1 and len(newShape) < 4:
        newShape.append(c.draw(st.sampled_from([size for size in range(1, count + 1) if count % size == 0])))
        count //= newShape[-1]
    c.add("reshape", {"input": input, "newShape": [*newShape, count]})


def _transpose(c: Composer) -> None:
    input = c.pick()
    assert input is not None
    rank = c[input].ndim
    c.add("transpose", {"input": input}, {"permutation": c.draw(axis_lists(rank, rank))})


def _concat(c: Composer) -> None:
    first = c.pick(lambda value: value.ndim > 0)
    if first is None:
        return
    axis = c.draw(st.integers(0, c[first].ndim - 1))

    def joins(value: Array) -> bool:
        same = value.dtype == c[first].dtype and value.ndim == c[first].ndim
        return same and np.delete(value.shape, axis).tolist() == np.delete(c[first].shape, axis).tolist()

    others = [c.pick(joins) for _ in range(c.draw(st.integers(1, 2)))]
    c.add("concat", {"inputs": [first, *others], "axis": axis})


def _split(c: Composer) -> None:
    input = c.pick(lambda value: value.ndim > 0 and value.shape[-1] > 1)
    if input is not None:
        size = c[input].shape[-1]
        cut = c.draw(st.integers(1, size - 1))
        c.add("split", {"input": input, "splits": [cut, size - cut]}, {"axis": c[input].ndim - 1})


def _slice(c: Composer) -> None:
    input = c.pick()
    assert input is not None
    starts = [c.draw(st.integers(0, min(size - 1, 2))) for size in c[input].shape]
    sizes = [c.draw(st.integers(1, size - start)) for start, size in zip(starts, c[input].shape, strict=True)]
    c.add("slice", {"input": input, "starts": starts, "sizes": sizes})


def _expand(c: Composer) -> None:
    input = c.pick()
    assert input is not None
    shape = [c.draw(st.integers(1, 3)) if size == 1 else size for size in c[input].shape]
    c.add("expand", {"input": input, "newShape": [*c.draw(st.lists(st.integers(1, 3), max_size=2)), *shape]})


def _pad(c: Composer) -> None:
    input = c.pick(lambda value: value.ndim > 0)
    if input is not None:
        paddings = [[c.draw(st.integers(0, 2)) for _ in c[input].shape] for _ in range(2)]
        mode = c.draw(st.sampled_from(["constant", "edge", "reflection", "symmetric"]))
        c.add("pad", {"input": input, "beginningPadding": paddings[0], "endingPadding": paddings[1]}, {"mode": mode, "value": 1.5})


def _reduce(c: Composer) -> None:
    name = c.draw(st.sampled_from(["reduceMax", "reduceMin", "argMax", "argMin", "reduceSum", "reduceProduct"]))
    # Sums of floats depend on the order.
    exact = name not in ("reduceSum", "reduceProduct")
    allowed = [dtype for dtype in FIRST.data_types.get(name, {}).get("input", DATA_TYPES) if exact or "float" not in dtype]
    input = c.pick(lambda value: value.dtype.name in allowed)
    if input is not None:
        options = {"axes": c.draw(axis_lists(c[input].ndim)), "keepDimensions": c.draw(st.booleans())}
        c.add(name, {"input": input}, options)


def _gather(c: Composer) -> None:
    input = c.pick(lambda value: value.ndim > 0)
    indices = c.pick(lambda value: value.dtype.name in ("int32", "uint32", "int64") and value.size <= 10)
    if input is not None and indices is not None and c[input].ndim + c[indices].ndim <= MAX_RANK:
        c.add("gather", {"input": input, "indices": indices}, {"axis": c.draw(st.integers(0, c[input].ndim - 1))})


_EXACT = (
    _unary,
    _pair,
    _pair,
    _pair,
    _clamp,
    _where,
    _cast,
    _reshape,
    _transpose,
    _concat,
    _split,
    _slice,
    _expand,
    _pad,
    _reduce,
    _gather,
)


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
        draw(st.sampled_from(_EXACT))(c)
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
        "relu",
        "sigmoid",
        "tanh",
        "leakyRelu",
        "elu",
        "gelu",
        "hardSwish",
        "hardSigmoid",
        "softplus",
        "softsign",
        "linear",
        "erf",
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


_LAYERS = (
    _conv,
    _conv,
    _pool,
    _image_pad,
    _activate,
    _activate,
    _limit,
    _combine,
    _combine,
    _scale,
    _normalize,
    _multiply,
    _mean,
    _softmax,
    _turn,
    _resample,
    _concat,
    _split,
    _reshape,
    _slice,
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
