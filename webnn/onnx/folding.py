"""Nodes whose inputs are all known are computed at import: the common ones in NumPy, others by the reference evaluator of onnx."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from webnn.builder.elementwise import FUNCTIONS, divide
from webnn.importing.values import Array
from webnn.onnx.model import ONNX_DOMAINS

__all__ = ["FOLDS", "fold"]

#: The most bytes of a folded result, unless the operands have more. Larger results are left to the graph.
_MOST_BYTES = 1 << 24
#: The most bytes and the most dimensions of a result that repeats one element; the bytes are those of any operand.
_LARGEST, _MOST_AXES = 2**31 - 1, 32
#: The most elements of operands of the reference evaluator, which is slow.
_MOST_ELEMENTS = 1 << 16
#: Upper bound for the product of the operands' sizes: a result has at most as many elements.
_MOST_PRODUCTS = 1 << 22
#: Operators without that bound: their results have no more elements than the largest operand.
_NOT_GROWING = frozenset({"GatherElements", "ScatterElements", "ScatterND"})
#: The operators of the reference evaluator: they compute shapes and indices, or their results must be known. It is wrong
#: about older versions of others, and attributes and operands can make it take much time or memory.
_EVALUATED = frozenset(
    {
        *("Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "CastLike", "Clip", "Cos", "Cosh", "Erf", "Exp", "IsInf", "IsNaN", "Log"),
        *("BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"),
        *("Mean", "Mod", "Pow", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Sum", "Tan", "Tanh"),
        *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean", "ReduceSumSquare"),
        *("ArgMax", "ArgMin", "Compress", "CumSum", "GatherElements", "GatherND", "MatMul", "NonZero", "ScatterElements", "ScatterND"),
    }
)


class _Left(Exception):
    """The node is left to the graph."""


def fold(proto: NodeProto, version: int, opsets: Mapping[str, int], arrays: Sequence[Array | None]) -> list[Array | None] | None:
    """Compute a node that fits its schema, of arrays; an optional one that is missing is None. Return None if it is left to the graph."""
    operator = proto.op_type
    function = FOLDS.get(operator)
    if (function is None and operator not in _EVALUATED) or proto.domain not in ONNX_DOMAINS or not arrays:
        return None
    attributes = {each.name: helper.get_attribute_value(each) for each in proto.attribute[:] if not each.HasField("g")}
    try:
        with np.errstate(all="ignore"):
            if function is not None:
                returned = function({**attributes, "": version}, *arrays)
                return [np.asarray(each) for each in (returned if isinstance(returned, list) else [returned])]
            sizes = [array.size for array in arrays if array is not None]
            if sum(sizes) > _MOST_ELEMENTS:
                return None
            if math.prod(sizes) > _MOST_PRODUCTS and operator not in _NOT_GROWING:
                return None
            if any(array is not None and array.dtype == object for array in arrays):
                return None
            return _evaluate(proto, opsets, arrays)
    except _Left:
        return None
    except Exception:  # the rule reports the error
        return None


def _evaluate(proto: NodeProto, opsets: Mapping[str, int], arrays: Sequence[Array | None]) -> list[Array | None] | None:
    """Compute a node by the reference evaluator."""
    given = {name: array for name, array in zip(proto.input, arrays, strict=True) if array is not None}
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(each.dtype), each.shape) for name, each in given.items()]
    outputs = [helper.make_empty_tensor_value_info(name) for name in proto.output if name]
    graph = helper.make_graph([proto], "fold", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid(domain, version) for domain, version in opsets.items()])
    results = iter(ReferenceEvaluator(model).run(None, given))
    found = [next(results) if name else None for name in proto.output]
    if any(each is not None and not isinstance(each, np.ndarray | np.generic) for each in found):
        return None
    return [None if each is None else np.asarray(each) for each in found]


def _check_size(count: int, dtype: np.dtype[Any], *arrays: Array) -> None:
    """Leave a node to the graph whose result is much larger than its operands."""
    if count * dtype.itemsize > max(_MOST_BYTES, sum(array.nbytes for array in arrays)):
        raise _Left


def _integers(array: Array | None) -> list[int]:
    if array is not None and array.size > _MOST_ELEMENTS:
        raise _Left
    return [] if array is None else [int(each) for each in array.reshape(-1)]


def _broadcasting(function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def compute(attributes: Mapping[str, Any], a: Array, b: Array) -> Array:
        _check_size(int(np.prod(np.broadcast_shapes(a.shape, b.shape), dtype=object)), a.dtype, a, b)
        return function(a, b)

    return compute


def _unary(function: Callable[[Array], Array]) -> Callable[..., Array]:
    return lambda attributes, x: np.asarray(function(x)).astype(x.dtype, copy=False)


def _several(function: Callable[[Array, Array], Array]) -> Callable[..., Array]:
    def compute(attributes: Mapping[str, Any], *arrays: Array) -> Array:
        result = arrays[0]
        for each in arrays[1:]:
            result = _broadcasting(function)(attributes, result, each)
        return result

    return compute


def _div(a: Array, b: Array) -> Array:
    # ONNX says nothing about integers divided by 0.
    if a.dtype.kind != "f" and not b.all():
        raise _Left
    if object in (a.dtype, b.dtype):
        # Of sizes, all ways to round are one.
        if not ((a >= 0).all() and (b >= 0).all()):
            raise _Left
        return np.asarray(np.floor_divide(a, b))
    return divide(a, b)


def _cast(attributes: Mapping[str, Any], x: Array) -> Array:
    dtype = helper.tensor_dtype_to_np_dtype(attributes["to"])
    if dtype.name not in _PLAIN or x.dtype.name not in _PLAIN:
        if x.dtype == object and dtype.name in _WIDE:
            return x
        raise _Left
    if x.dtype.kind == "f" and dtype.kind in "iu" and not np.all(np.isfinite(x)):
        raise _Left
    # Numbers beyond the range of an integer type are not those of `saturate`: ONNX leaves them open.
    return x.astype(dtype)


#: The types that hold every size.
_WIDE = frozenset({"int32", "int64", "uint32", "uint64"})
_PLAIN = frozenset({"bool", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)), "float16", "float32", "float64"})


def _constant_of_shape(attributes: Mapping[str, Any], shape: Array) -> Array:
    value = numpy_helper.to_array(attributes["value"]).reshape(-1) if "value" in attributes else np.zeros(1, np.float32)
    return _repeat(value[0], _integers(shape))


def _concat(attributes: Mapping[str, Any], *arrays: Array) -> Array:
    largest = max(arrays, key=lambda array: array.nbytes)
    _check_size(sum(array.size for array in arrays), largest.dtype, largest)
    return np.concatenate(arrays, attributes["axis"])


def _gather(attributes: Mapping[str, Any], x: Array, indices: Array) -> Array:
    axis = attributes.get("axis", 0)
    size = x.shape[axis]
    if indices.size and not (-size <= indices.min() and indices.max() < size):
        raise _Left
    _check_size(x.size // max(size, 1) * indices.size, x.dtype, x)
    return np.take(x, indices, axis)


def _reshape(attributes: Mapping[str, Any], x: Array, shape: Array | None = None) -> Array:
    wanted = list(attributes["shape"]) if shape is None else _integers(shape)
    if not attributes.get("allowzero"):
        wanted = [x.shape[index] if size == 0 else size for index, size in enumerate(wanted)]
    return x.reshape(wanted)


def _squeeze(attributes: Mapping[str, Any], x: Array, axes: Array | None = None) -> Array:
    chosen = attributes.get("axes") if axes is None else _integers(axes)
    return np.squeeze(x, None if chosen is None else tuple(chosen))


def _slice(attributes: Mapping[str, Any], x: Array, *given: Array | None) -> Array:
    if given:
        starts, ends, axes, steps = ([*given, None, None][index] for index in range(4))
        begin, end = _integers(starts), _integers(ends)
        chosen = list(range(len(begin))) if axes is None else _integers(axes)
        strides = [1] * len(begin) if steps is None else _integers(steps)
    else:
        begin, end = list(attributes["starts"]), list(attributes["ends"])
        chosen, strides = list(attributes.get("axes", range(len(begin)))), [1] * len(begin)
    selection: list[slice] = [slice(None)] * x.ndim
    for axis, first, last, stride in zip(chosen, begin, end, strides, strict=True):
        size = x.shape[axis]
        # Going backwards, a start before the first element is the first one, and an end before it is behind it.
        if stride < 0:
            selection[axis] = slice(max(first, -size), None if last < -size else last, stride)
        else:
            selection[axis] = slice(first, last, stride)
    return x[tuple(selection)]


def _split(attributes: Mapping[str, Any], x: Array, sizes: Array | None = None) -> list[Array]:
    axis = attributes.get("axis", 0)
    given = attributes.get("split") if sizes is None else _integers(sizes)
    if given is None or sum(given) != x.shape[axis] or min(given) < 0:
        raise _Left
    return np.split(x, np.cumsum(given)[:-1].tolist(), axis)


def _expand(attributes: Mapping[str, Any], x: Array, shape: Array) -> Array:
    wanted = np.broadcast_shapes(x.shape, tuple(_integers(shape)))
    if x.size > 1:
        _check_size(math.prod(wanted), x.dtype, x)
    return _repeat(x, wanted)


def _repeat(x: Array, shape: Sequence[int]) -> Array:
    if len(shape) > _MOST_AXES or math.prod(shape) * x.dtype.itemsize > _LARGEST:
        raise _Left
    return np.broadcast_to(x, shape)


def _tile(attributes: Mapping[str, Any], x: Array, repeats: Array) -> Array:
    counts = _integers(repeats)
    if len(counts) != x.ndim or min(counts, default=0) < 0:
        raise _Left
    _check_size(x.size * math.prod(counts), x.dtype, x)
    # NumPy repeats along one axis after the other, and would make a large array before a count of 0.
    return np.tile(x, counts) if all(counts) else np.empty([size * count for size, count in zip(x.shape, counts, strict=True)], x.dtype)


def _flatten(attributes: Mapping[str, Any], x: Array) -> Array:
    axis = attributes.get("axis", 1)
    first = int(np.prod(x.shape[: axis + x.ndim if axis < 0 else axis], dtype=object))
    return x.reshape(first, -1) if x.size else x.reshape(first, int(np.prod(x.shape[axis:], dtype=object)))


def _range(attributes: Mapping[str, Any], start: Array, limit: Array, delta: Array) -> Array:
    first, last, step = (each.reshape(-1)[0] for each in (start, limit, delta))
    count = max(0, int(np.ceil((float(last) - float(first)) / float(step))))
    _check_size(count, start.dtype)
    return np.asarray(first + np.arange(count).astype(start.dtype) * step, start.dtype)


def _where(attributes: Mapping[str, Any], condition: Array, x: Array, y: Array) -> Array:
    wanted = np.broadcast_shapes(condition.shape, x.shape, y.shape)
    _check_size(int(np.prod(wanted, dtype=object)), x.dtype, x, y, condition)
    return np.where(condition, x, y)


def _trilu(attributes: Mapping[str, Any], x: Array, k: Array | None = None) -> Array:
    if x.ndim < 2:
        raise _Left
    if x.size == 0:
        return x
    most = max(x.shape[-2:])
    diagonal = 0 if k is None else min(max(int(k.reshape(-1)[0]), -most), most)
    return np.triu(x, diagonal) if attributes.get("upper", 1) else np.tril(x, diagonal)


def _top_k(attributes: Mapping[str, Any], x: Array, k: Array | None = None) -> list[Array]:
    axis = attributes.get("axis", -1)
    [count] = [attributes["k"]] if k is None else _integers(k)
    # The order of NaN is the rule's.
    if x.size > _MOST_ELEMENTS or not 0 <= count <= x.shape[axis] or (x.dtype.kind == "f" and np.isnan(x).any()):
        raise _Left
    # Of equal elements the first one comes first, also in the descending order.
    isLargest = attributes.get("largest", 1)
    turned = np.flip(x, axis) if isLargest else x
    order = np.argsort(turned, axis, kind="stable")
    order = np.flip(x.shape[axis] - 1 - order, axis) if isLargest else order
    places = np.take(order, range(count), axis)
    return [np.take_along_axis(x, places, axis), places]


def _unique(attributes: Mapping[str, Any], x: Array) -> list[Array]:
    # Only numbers that are equal to themselves are found.
    if x.size > _MOST_ELEMENTS or (x.dtype.kind == "f" and np.isnan(x).any()):
        raise _Left
    axis = attributes.get("axis")
    values, first, places, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    if not attributes.get("sorted", 1):
        order = np.argsort(first)
        values, first, counts = np.take(values, order, axis), first[order], counts[order]
        places = np.argsort(order)[places]
    return [values, first, places.reshape(-1), counts]


def _reduce(function: Callable[..., Array]) -> Callable[..., Array]:
    def compute(attributes: Mapping[str, Any], x: Array, axes: Array | None = None) -> Array:
        chosen = list(attributes.get("axes", [])) if axes is None else _integers(axes)
        if not chosen and attributes.get("noop_with_empty_axes"):
            raise _Left
        if x.dtype.kind not in "iuO" or x.size == 0:
            # The order of a sum of floating-point numbers is the engine's.
            raise _Left
        return np.asarray(function(x, axis=tuple(chosen) or None, keepdims=bool(attributes.get("keepdims", 1)))).astype(x.dtype)

    return compute


def _dynamic_quantize(attributes: Mapping[str, Any], x: Array) -> list[Array]:
    least, greatest = np.minimum(x.min(), 0), np.maximum(x.max(), 0)
    span = greatest - least
    scale = np.float32(1) if span == 0 else span / np.float32(255)
    # Engines may take a subnormal number for 0.
    if not np.isfinite(span) or scale < np.finfo(np.float32).tiny:
        raise _Left
    zero = np.rint(-least / scale)
    quantized = np.clip(np.rint(x / scale) + zero, 0, 255)
    return [quantized.astype(np.uint8), np.asarray(scale), zero.astype(np.uint8)]


#: How NumPy computes operators. The attributes come first, with the version of the domain under an empty name.
FOLDS: Mapping[str, Callable[..., Array | list[Array]]] = {
    **{name.capitalize(): _unary(FUNCTIONS[name]) for name in ("abs", "ceil", "floor", "neg", "sqrt")},
    **{name.capitalize(): _broadcasting(FUNCTIONS[name]) for name in ("add", "sub", "mul", "equal", "greater")},
    **{name.capitalize(): _several(FUNCTIONS[name]) for name in ("max", "min")},
    "Identity": lambda attributes, x: x,
    "Not": _unary(np.logical_not),
    "Div": _broadcasting(_div),
    "DynamicQuantizeLinear": _dynamic_quantize,
    "GreaterOrEqual": _broadcasting(FUNCTIONS["greaterOrEqual"]),
    "Less": _broadcasting(FUNCTIONS["lesser"]),
    "LessOrEqual": _broadcasting(FUNCTIONS["lesserOrEqual"]),
    "And": _broadcasting(np.logical_and),
    "Or": _broadcasting(np.logical_or),
    "Xor": _broadcasting(np.logical_xor),
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Range": _range,
    "ReduceMax": _reduce(np.max),
    "ReduceMin": _reduce(np.min),
    "ReduceProd": _reduce(np.prod),
    "ReduceSum": _reduce(np.sum),
    "Reshape": _reshape,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "TopK": _top_k,
    "Transpose": lambda attributes, x: np.transpose(x, attributes.get("perm")),
    "Trilu": _trilu,
    "Unique": _unique,
    "Unsqueeze": lambda attributes, x, axes=None: np.expand_dims(x, tuple(attributes["axes"] if axes is None else _integers(axes))),
    "Where": _where,
}
