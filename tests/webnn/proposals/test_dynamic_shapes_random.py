"""Random calls of the operations of dynamic-shapes: the engine gives what NumPy gives, with sizes and with names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tests.property.profiles import NIGHTLY_EXAMPLES, hold
from tests.support import Array
from tests.webnn.proposals.test_dynamic_shapes import connect, dispatch, make_builder
from webnn.proposals.dynamic_shapes.operations import OPERATIONS, make_reference
from webnn.validation.descriptor import DATA_TYPES

#: A call: its arguments, its options, and the result by NumPy.
Drawn = tuple[list[Any], dict[str, Any], Any]
REFERENCE = make_reference()
_SHAPES = arrays.array_shapes(min_dims=1, max_dims=4, max_side=4)
_SIZES = st.sampled_from(["int32", "uint32", "int64", "uint64"])


@st.composite
def inputs(draw: st.DrawFn, shape: tuple[int, ...] | None = None) -> Array:
    dtype = draw(st.sampled_from(["float32", "float16", "int32", "uint8"]))
    size = draw(_SHAPES) if shape is None else shape
    return np.arange(math.prod(size)).reshape(size).astype(dtype)


def _list(draw: st.DrawFn, values: Any) -> Array:
    return np.array(values, draw(_SIZES))


def _shape(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    return [x], {}, np.array(x.shape, np.uint32)


def _range(draw: st.DrawFn) -> Drawn:
    start, delta, count = draw(st.integers(-20, 20)), draw(st.integers(-5, 5).filter(bool)), draw(st.integers(1, 20))
    dtype = draw(st.sampled_from(["int32", "int64", "float32"]))
    # The limit is behind the last number, by a step at most.
    limit = start + delta * (count - 1) + (draw(st.integers(1, delta)) if delta > 0 else -draw(st.integers(1, -delta)))
    values = [np.array([each] if draw(st.booleans()) else each, dtype) for each in (start, limit, delta)]
    return values, {}, np.arange(start, limit, delta).astype(dtype)


def _modulus(function: Callable[[Array, Array], Array]) -> Callable[[st.DrawFn], Drawn]:
    def make(draw: st.DrawFn) -> Drawn:
        dtype: Any = np.dtype(draw(st.sampled_from([*DATA_TYPES])))
        shapes = draw(arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=1, max_side=3)).input_shapes
        if dtype.kind == "f":
            elements = st.floats(-1000, 1000, width=16).filter(lambda each: each == 0 or abs(each) > 0.01)
        else:
            elements = st.integers(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)) | st.integers(0, 5)
        a, b = (draw(arrays.arrays(dtype, shape, elements=elements)) for shape in shapes)
        if dtype.kind == "f":
            return [a, b], {}, function(a.astype(np.float64), b.astype(np.float64)).astype(dtype)
        # Python's integers have no largest one.
        pairs = np.broadcast_arrays(a.astype(object), b.astype(object))
        exact = [
            one if two == 0 else _remainder(function, one, two) for one, two in zip(*[each.reshape(-1) for each in pairs], strict=True)
        ]
        return [a, b], {}, np.array(exact, dtype).reshape(pairs[0].shape)

    return make


def _remainder(function: Any, a: int, b: int) -> int:
    return a % b if function is np.mod else int(math.copysign(1, a)) * (abs(a) % abs(b))


def _squeeze(draw: st.DrawFn) -> Drawn:
    shape = draw(_SHAPES.map(lambda each: tuple(size if index % 2 else 1 for index, size in enumerate(each))))
    x = draw(inputs(shape))
    axes = draw(st.none() | st.lists(st.sampled_from([axis for axis, size in enumerate(shape) if size == 1]), unique=True))
    return [x], {} if axes is None else {"axes": axes}, np.squeeze(x, None if axes is None else tuple(axes))


def _unsqueeze(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    count = draw(st.integers(0, 3))
    axes = draw(st.permutations(range(x.ndim + count)))[:count]
    return [x, axes], {}, np.expand_dims(x, tuple(axes))


def _reshape_to_2d(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    axis = draw(st.integers(0, x.ndim))
    return [x], {"axis": axis}, x.reshape(math.prod(x.shape[:axis]), -1)


def _reshape(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    shape: list[int] = []
    rest = x.size
    while rest > 1 and len(shape) < 4:
        shape.append(draw(st.sampled_from([each for each in range(1, rest + 1) if rest % each == 0])))
        rest //= shape[-1]
    whole = draw(st.permutations([*shape, rest]))
    return [x, _list(draw, whole)], {}, x.reshape(whole)


def _expand(draw: st.DrawFn) -> Drawn:
    to = draw(_SHAPES)
    x = draw(inputs(tuple(draw(st.sampled_from([1, size])) for size in to)[draw(st.integers(0, len(to) - 1)) :]))
    return [x, _list(draw, to)], {}, np.broadcast_to(x, to)


def _slice(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    starts = [draw(st.integers(0, size - 1)) for size in x.shape]
    counts = [draw(st.integers(1, size - start)) for size, start in zip(x.shape, starts, strict=True)]
    strides = draw(st.none() | st.lists(st.integers(1, 3), min_size=x.ndim, max_size=x.ndim))
    places = [slice(start, start + size, step) for start, size, step in zip(starts, counts, strides or [1] * x.ndim, strict=True)]
    return [x, _list(draw, starts), _list(draw, counts)], {} if strides is None else {"strides": strides}, x[tuple(places)]


def _pad(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    before, behind = ([draw(st.integers(0, 3)) for _ in x.shape] for _ in range(2))
    return [x, _list(draw, before), _list(draw, behind)], {}, np.pad(x, list(zip(before, behind, strict=True)))


def _split(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    axis = draw(st.integers(0, x.ndim - 1))
    cuts = sorted(draw(st.sets(st.integers(1, x.shape[axis] - 1)))) if x.shape[axis] > 1 else []
    parts = np.diff([0, *cuts, x.shape[axis]])
    return [x, _list(draw, parts)], {"axis": axis}, np.split(x, cuts, axis)


def _resample(draw: st.DrawFn) -> Drawn:
    x = draw(inputs(draw(arrays.array_shapes(min_dims=4, max_dims=4, max_side=4)))).astype(np.float32)
    factors = [draw(st.integers(1, 3)) for _ in range(2)]
    new = [size * factor for size, factor in zip(x.shape[2:], factors, strict=True)]
    return [x], {"sizes": _list(draw, new)}, x.repeat(factors[0], 2).repeat(factors[1], 3)


def _tile(draw: st.DrawFn) -> Drawn:
    x = draw(inputs())
    times = [draw(st.integers(1, 3)) for _ in x.shape]
    return [x, _list(draw, times)], {}, np.tile(x, times)


MAKERS: Mapping[str, Callable[[st.DrawFn], Drawn]] = {
    "shape": _shape,
    "range": _range,
    "modulusFloor": _modulus(np.mod),
    "modulusTruncate": _modulus(np.fmod),
    "squeeze": _squeeze,
    "unsqueeze": _unsqueeze,
    "reshapeTo2d": _reshape_to_2d,
    "reshapeDynamic": _reshape,
    "expandDynamic": _expand,
    "sliceDynamic": _slice,
    "padDynamic": _pad,
    "splitDynamic": _split,
    "resample2dDynamic": _resample,
    "tileDynamic": _tile,
}


@st.composite
def calls(draw: st.DrawFn, name: str) -> Drawn:
    with np.errstate(all="ignore"):
        return MAKERS[name](draw)


def check(name: str, call: Drawn) -> None:
    arguments, options, expected = call
    with np.errstate(all="ignore"):
        found = REFERENCE[name](*arguments, **options)
        results = [dispatch(_build(name, call, named), _feeds(name, call)) for named in (False, True)]
    for each in (found if isinstance(found, list) else [found], *[list(result.values()) for result in results]):
        for one, other in zip(each, expected if isinstance(expected, list) else [expected], strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


def _build(name: str, call: Drawn, named: bool) -> Any:
    builder = make_builder()
    outputs, _ = connect(builder, name, call[0], call[1], named)
    return builder.buildSync({f"y{index}": each for index, each in enumerate(outputs)})


def _feeds(name: str, call: Drawn) -> dict[str, Array]:
    return connect(make_builder(), name, call[0], call[1], False)[1]


@pytest.mark.parametrize("name", MAKERS)
def test_operation(name: str) -> None:
    hold("ci", 20, calls(name), lambda call: check(name, call))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_operations() -> None:
    for name in MAKERS:
        hold("nightly", NIGHTLY_EXAMPLES // 50, calls(name), lambda call: check(name, call))  # noqa: B023  # called at once


def test_every_operation_has_calls() -> None:
    assert set(MAKERS) == {row.name for row in OPERATIONS}
