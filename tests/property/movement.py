"""Valid calls of operations that reduce, move, pick or convert elements."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from tests.property.calls import Call
from tests.property.draws import ANY, TAME, Draw, arrays, axis_lists, broadcastable, floats, optional, shapes, types
from webnn.validation.descriptor import DATA_TYPES, MAX_RANK

__all__ = ["GATHER", "MOVEMENT", "REDUCTION"]

_REDUCTIONS = (
    "reduceL1",
    "reduceL2",
    "reduceLogSum",
    "reduceLogSumExp",
    "reduceMax",
    "reduceMean",
    "reduceMin",
    "reduceProduct",
    "reduceSum",
    "reduceSumSquare",
)


@st.composite
def _reduce(draw: Draw, name: str) -> Call:
    shape = draw(shapes())
    selecting = name in ("reduceMax", "reduceMin", "argMin", "argMax")
    # Where floats are added up, the order of the additions decides what an overflow or a cancellation leaves.
    styles = {"reduceLogSum": ("positive", "unit"), "reduceProduct": ("unit", "positive")}.get(name, ANY if selecting else TAME)
    dtype = draw(types(name))
    input = draw(arrays(dtype, shape, styles if dtype.startswith("float") else ANY))
    options = draw(optional(axes=axis_lists(len(shape)), keepDimensions=st.booleans()))
    if name.startswith("arg"):
        options |= draw(optional(selectLastIndex=st.booleans()))
    return Call(name=name, arguments={"input": input}, options=options)


@st.composite
def _gather(draw: Draw) -> Call:
    shape = draw(shapes(1, most=30))
    axis = draw(st.integers(0, len(shape) - 1))
    indices = draw(shapes(0, MAX_RANK - len(shape) + 1, most=12))
    call = {
        "input": draw(arrays(draw(st.sampled_from(DATA_TYPES)), shape)),
        "indices": draw(arrays(draw(types("gather", "indices")), indices, ("small", "special"))),
    }
    return Call(name="gather", arguments=call, options={"axis": axis} if axis else draw(optional(axis=st.just(0))))


@st.composite
def _cast(draw: Draw) -> Call:
    input = draw(arrays(draw(st.sampled_from(DATA_TYPES)), draw(shapes())))
    return Call(name="cast", arguments={"input": input, "type": draw(st.sampled_from(DATA_TYPES))})


@st.composite
def _concat(draw: Draw) -> Call:
    dtype, shape = draw(st.sampled_from(DATA_TYPES)), draw(shapes(1, most=40))
    axis = draw(st.integers(0, len(shape) - 1))
    inputs: list[Any] = []
    for _ in range(draw(st.integers(1, 4))):
        if inputs and draw(st.integers(0, 5)) == 5:
            inputs.append(inputs[0])
        else:
            inputs.append(draw(arrays(dtype, [*shape[:axis], draw(st.integers(1, 3)), *shape[axis + 1 :]])))
    return Call(name="concat", arguments={"inputs": inputs, "axis": axis})


@st.composite
def _expand(draw: Draw) -> Call:
    newShape = draw(shapes())
    input = draw(arrays(draw(st.sampled_from(DATA_TYPES)), draw(broadcastable(newShape))))
    return Call(name="expand", arguments={"input": input, "newShape": newShape})


@st.composite
def _pad(draw: Draw) -> Call:
    dtype, shape = draw(st.sampled_from(DATA_TYPES)), draw(shapes(1, most=20))
    longest = 4 if len(shape) < 5 else 1
    paddings = st.lists(st.integers(0, longest), min_size=len(shape), max_size=len(shape))
    values = st.one_of(floats(-5, 5), floats(-70000, 70000), st.sampled_from([-3e38, -(2.0**63), 2.0**31, 2.0**63, 2.0**64, 3e38]))
    options = draw(optional(mode=st.sampled_from(["constant", "edge", "reflection", "symmetric"]), value=values))
    arguments = {
        "input": draw(arrays(dtype, shape)),
        "beginningPadding": draw(paddings),
        "endingPadding": draw(paddings),
    }
    return Call(name="pad", arguments=arguments, options=options)


@st.composite
def _reshape(draw: Draw) -> Call:
    shape = draw(shapes())
    count = math.prod(shape)
    newShape: list[int] = []
    for _ in range(draw(st.integers(0 if count == 1 else 1, MAX_RANK)) - 1):
        size = draw(st.sampled_from([size for size in range(1, count + 1) if count % size == 0]))
        newShape.append(size)
        count //= size
    if count > 1 or (newShape and len(newShape) < MAX_RANK):
        newShape.insert(draw(st.integers(0, len(newShape))), count)
    return Call(name="reshape", arguments={"input": draw(arrays(draw(st.sampled_from(DATA_TYPES)), shape)), "newShape": newShape})


@st.composite
def _slice(draw: Draw) -> Call:
    shape = draw(shapes())
    starts = [draw(st.integers(0, size - 1)) for size in shape]
    sizes = [draw(st.integers(1, size - start)) for size, start in zip(shape, starts, strict=True)]
    input = draw(arrays(draw(st.sampled_from(DATA_TYPES)), shape))
    return Call(name="slice", arguments={"input": input, "starts": starts, "sizes": sizes})


@st.composite
def _split(draw: Draw) -> Call:
    shape = draw(shapes(1))
    axis = draw(st.integers(0, len(shape) - 1))
    splits: Any
    if draw(st.booleans()):
        splits = draw(st.sampled_from([count for count in range(1, shape[axis] + 1) if shape[axis] % count == 0]))
    else:
        splits, left = [], shape[axis]
        while left:
            splits.append(draw(st.integers(1, left)))
            left -= splits[-1]
    input = draw(arrays(draw(st.sampled_from(DATA_TYPES)), shape))
    options = {"axis": axis} if axis else draw(optional(axis=st.just(0)))
    return Call(name="split", arguments={"input": input, "splits": splits}, options=options)


@st.composite
def _transpose(draw: Draw) -> Call:
    shape = draw(shapes())
    input = draw(arrays(draw(st.sampled_from(DATA_TYPES)), shape))
    return Call(name="transpose", arguments={"input": input}, options=draw(optional(permutation=axis_lists(len(shape), len(shape)))))


@st.composite
def _triangular(draw: Draw) -> Call:
    input = draw(arrays(draw(st.sampled_from(DATA_TYPES)), draw(shapes(2))))
    diagonals = st.one_of(st.integers(-6, 6), st.sampled_from([-(2**31), 2**31 - 1]))
    return Call(name="triangular", arguments={"input": input}, options=draw(optional(upper=st.booleans(), diagonal=diagonals)))


@st.composite
def _where(draw: Draw) -> Call:
    dtype, shape = draw(st.sampled_from(DATA_TYPES)), draw(shapes())
    condition = draw(arrays("uint8", draw(broadcastable(shape)), ("special", "wide")))
    input = draw(arrays(dtype, draw(broadcastable(shape))))
    if dtype == "uint8" and draw(st.booleans()):
        return Call(name="where", arguments={"condition": condition, "input": condition, "other": input})
    other = input if draw(st.integers(0, 9)) == 9 else draw(arrays(dtype, draw(broadcastable(shape))))
    return Call(name="where", arguments={"condition": condition, "input": input, "other": other})


REDUCTION = {name: _reduce(name) for name in (*_REDUCTIONS, "argMin", "argMax")}
GATHER = {"gather": _gather()}
MOVEMENT = {
    "cast": _cast(),
    "concat": _concat(),
    "expand": _expand(),
    "pad": _pad(),
    "reshape": _reshape(),
    "slice": _slice(),
    "split": _split(),
    "transpose": _transpose(),
    "triangular": _triangular(),
    "where": _where(),
}
