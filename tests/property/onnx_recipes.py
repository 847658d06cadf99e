"""Recipes for the nodes of random ONNX graphs: element by element, reductions, and what moves elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tests.property.onnx_graphs import FLOATS, INTEGERS, SIGNED, Drawing, Recipe, Unsuitable, Value

__all__ = ["ELEMENTWISE", "MOVEMENT"]

SINGLE = ("float32", "float16")
NUMBERS = (*FLOATS, "int32", "int64")
ANY = (*FLOATS, *INTEGERS, "bool")


# Element by element.


def _unary(operator: str, types: Sequence[str] = FLOATS, low: float = -1000, high: float = 1000, *, exact: bool = False) -> Recipe:
    """Take one operand. An operator that jumps is exact, and takes exact operands."""

    def recipe(d: Drawing) -> None:
        d.emit(operator, [d.pick(types, low=low, high=high, exact=exact and operator in _JUMPS)], exact=exact)

    return recipe


_JUMPS = {"Ceil", "Floor", "Round", "Sign", "IsNaN", "IsInf"}


def _parametric(operator: str, **ranges: tuple[float, float]) -> Recipe:
    """Take one operand, and attributes from ranges; each may be missing."""

    def recipe(d: Drawing) -> None:
        d.emit(operator, [d.pick()], **{name: d.number(*ends) if d.chance(0.7) else None for name, ends in ranges.items()})

    return recipe


def _pair(d: Drawing, types: Sequence[str], *, exact: bool = False, low: float = -1000, high: float = 1000) -> tuple[Value, Value]:
    """Return two values of one type that broadcast together; the second one has elements in a range."""
    a = d.pick(types, exact=exact)
    b = d.pick([a.dtype], shape=a.shape if d.chance(0.3) else d.broadcastable(a.shape), exact=exact, low=low, high=high)
    return a, b


def _binary(operator: str, types: Sequence[str] = NUMBERS, *, exact: bool = False) -> Recipe:
    def recipe(d: Drawing) -> None:
        a, b = _pair(d, types, exact=exact)
        kind = exact or a.array.dtype.kind in "biu"
        d.emit(operator, [a, b] if d.chance(0.7) else [b, a], exact=kind)

    return recipe


def _variadic(operator: str, *, exact: bool = False) -> Recipe:
    def recipe(d: Drawing) -> None:
        first = d.pick(NUMBERS if exact else FLOATS)
        others = [d.pick([first.dtype], shape=d.broadcastable(first.shape)) for _ in range(d.integer(0, 3))]
        d.emit(operator, [first, *others], exact=exact)

    return recipe


def _div(d: Drawing) -> None:
    a = d.pick(NUMBERS)
    integer = a.array.dtype.kind in "iu"
    b = d.pick([a.dtype], shape=d.broadcastable(a.shape), low=1 if integer else 0.3, high=6)
    d.emit("Div", [a, b], exact=integer)


def _pow(d: Drawing) -> None:
    if d.chance(0.3):
        x = d.pick(NUMBERS, low=-4, high=4)
        d.emit("Pow", [x, d.leaf("int64" if d.chance() else x.dtype, [], 1, 1.5)], exact=x.array.dtype.kind in "iu")
        return
    x = d.pick(FLOATS, low=0.2, high=6)
    d.emit("Pow", [x, d.pick([x.dtype], shape=d.broadcastable(x.shape), low=-3, high=3)])


def _mod(d: Drawing) -> None:
    a = d.pick((*NUMBERS, *INTEGERS), exact=True)
    floating = a.array.dtype.kind == "f"
    b = d.new(d.elements(a.dtype, d.broadcastable(a.shape), 1, 4) * (1 if a.dtype.startswith("u") or d.chance() else np.array(-1, a.dtype)))
    fmod = 1 if floating or d.chance() else None
    # Quotients of fractions may be rounded to whole numbers.
    if floating and not all(np.array_equal(each.array * 2, np.rint(each.array * 2)) for each in (a, b)):
        raise Unsuitable
    d.emit("Mod", [a, b], exact=True, fmod=fmod)


def _where(d: Drawing) -> None:
    a, b = _pair(d, ANY)
    d.emit("Where", [d.pick(["bool"], shape=d.broadcastable(a.shape)), a, b], exact=True)


def _clip(d: Drawing) -> None:
    x = d.pick((*FLOATS, "int32", "int64", "uint8", "int8"))
    low, high = sorted((d.integer(0, 3), d.integer(0, 5)))
    given = [number if d.chance(0.8) else None for number in (low, high)]
    if d.version < 11:
        d.emit(
            "Clip", [x], exact=True, min=None if given[0] is None else float(given[0]), max=None if given[1] is None else float(given[1])
        )
        return
    d.emit("Clip", [x, *(None if each is None else d.new(np.array(each, x.dtype)) for each in given)], exact=True)


def _cast(d: Drawing) -> None:
    x = d.pick(ANY, low=0, high=100, exact=True) if d.chance() else d.pick(FLOATS)
    if x.tolerance and x.array.dtype.kind == "f":
        target = d.choice([each for each in FLOATS if each != "float16"])
    else:
        target = d.choice(ANY if x.array.dtype.kind == "b" or x.array.min() >= 0 else (*FLOATS, *SIGNED))
    if d.chance(0.8) or d.version < 15:
        d.emit("Cast", [x], exact=np.dtype(target).kind != "f" or np.dtype(target).itemsize >= 4, to=_onnx_type(target))
    else:
        like = d.leaf(target, [1])
        d.emit("CastLike", [x, like], exact=np.dtype(target).kind != "f" or np.dtype(target).itemsize >= 4)


def _onnx_type(name: str) -> int:
    from onnx import helper

    return helper.np_dtype_to_tensor_dtype(np.dtype(name))


def _gelu(d: Drawing) -> None:
    d.emit("Gelu", [d.pick(SINGLE)], approximate=d.choice([None, "none", "tanh"]))


def _prelu(d: Drawing) -> None:
    x = d.pick(SINGLE)
    d.emit("PRelu", [x, d.pick([x.dtype], shape=d.broadcastable(x.shape))])


def _threshold(operator: str) -> Recipe:
    """Jump at a number."""

    def recipe(d: Drawing) -> None:
        bias = {"bias": d.choice([None, 0.25, -0.5]), "lambd": d.choice([None, 0.25, 1.25])}
        d.emit(operator, [d.pick(SINGLE, exact=True)], **(bias if operator == "Shrink" else {"alpha": d.choice([None, 0.25, 1.25])}))

    return recipe


def _dropout(d: Drawing) -> None:
    x = d.pick(SINGLE)
    if d.version < 12:
        d.emit("Dropout", [x], exact=True, ratio=d.choice([None, 0.25]))
    else:
        d.emit("Dropout", [x, *([d.known(0.25, "float32")] if d.chance() else [])], exact=True)


ELEMENTWISE: Mapping[str, Recipe] = {
    "Abs": _unary("Abs", (*FLOATS, *INTEGERS), exact=True),
    "Acos": _unary("Acos", FLOATS, -0.9, 0.9),
    "Acosh": _unary("Acosh", FLOATS, 1.1, 1000),
    "Add": _binary("Add", (*FLOATS, *INTEGERS)),
    "And": _binary("And", ["bool"], exact=True),
    "Asin": _unary("Asin", FLOATS, -0.9, 0.9),
    "Asinh": _unary("Asinh"),
    "Atan": _unary("Atan"),
    "Atanh": _unary("Atanh", FLOATS, -0.9, 0.9),
    "Cast": _cast,
    "Ceil": _unary("Ceil", exact=True),
    "Celu": _parametric("Celu", alpha=(0.3, 2)),
    "Clip": _clip,
    "Cos": _unary("Cos"),
    "Cosh": _unary("Cosh", FLOATS, -5, 5),
    "Div": _div,
    "Dropout": _dropout,
    "Elu": _parametric("Elu", alpha=(0.3, 2)),
    "Equal": _binary("Equal", ANY, exact=True),
    "Erf": _unary("Erf"),
    "Exp": _unary("Exp", FLOATS, -5, 5),
    "Floor": _unary("Floor", exact=True),
    "Gelu": _gelu,
    "Greater": _binary("Greater", (*FLOATS, *INTEGERS), exact=True),
    "GreaterOrEqual": _binary("GreaterOrEqual", (*FLOATS, *INTEGERS), exact=True),
    "HardSigmoid": _parametric("HardSigmoid", alpha=(0.1, 1), beta=(0, 1)),
    "HardSwish": _unary("HardSwish"),
    "Identity": _unary("Identity", ANY, exact=True),
    "IsInf": _unary("IsInf", exact=True),
    "IsNaN": _unary("IsNaN", exact=True),
    "LeakyRelu": _parametric("LeakyRelu", alpha=(-1, 1)),
    "Less": _binary("Less", (*FLOATS, *INTEGERS), exact=True),
    "LessOrEqual": _binary("LessOrEqual", (*FLOATS, *INTEGERS), exact=True),
    "Log": _unary("Log", FLOATS, 0.2, 1000),
    "Max": _variadic("Max", exact=True),
    "Mean": _variadic("Mean"),
    "Min": _variadic("Min", exact=True),
    "Mish": _unary("Mish"),
    "Mod": _mod,
    "Mul": _binary("Mul", (*FLOATS, *INTEGERS)),
    "Neg": _unary("Neg", (*FLOATS, *SIGNED), exact=True),
    "Not": _unary("Not", ["bool"], exact=True),
    "Or": _binary("Or", ["bool"], exact=True),
    "PRelu": _prelu,
    "Pow": _pow,
    "Reciprocal": _unary("Reciprocal", FLOATS, 0.3, 1000),
    "Relu": _unary("Relu", (*FLOATS, "int32", "int8"), exact=True),
    "Round": _unary("Round", exact=True),
    "Selu": _parametric("Selu", alpha=(0.3, 2), gamma=(0.3, 2)),
    "Shrink": _threshold("Shrink"),
    "Sigmoid": _unary("Sigmoid"),
    "Sign": _unary("Sign", (*FLOATS, *INTEGERS), exact=True),
    "Sin": _unary("Sin"),
    "Sinh": _unary("Sinh", FLOATS, -5, 5),
    "Softplus": _unary("Softplus"),
    "Softsign": _unary("Softsign"),
    "Sqrt": _unary("Sqrt", FLOATS, 0.1, 1000),
    "Sub": _binary("Sub", (*FLOATS, *SIGNED)),
    "Sum": _variadic("Sum"),
    "Swish": _parametric("Swish", alpha=(-1, 2)),
    "Tan": _unary("Tan", FLOATS, -1.2, 1.2),
    "Tanh": _unary("Tanh"),
    "ThresholdedRelu": _threshold("ThresholdedRelu"),
    "Where": _where,
    "Xor": _binary("Xor", ["bool"], exact=True),
}


# Operators that move elements.


def _axes_node(d: Drawing, operator: str, x: Value, axes: list[int], since: int, *, exact: bool = True) -> None:
    """Give axes as an attribute or as an input."""
    if d.version < since:
        d.emit(operator, [x], exact=exact, axes=axes)
    else:
        d.emit(operator, [x, d.known(axes)], exact=exact)


def _reshape(d: Drawing) -> None:
    x = d.pick(ANY)
    sizes = [size for size in x.shape if size > 1]
    shape = [*sizes]
    d.random.shuffle(shape)
    while len(shape) > 1 and d.chance(0.4):
        last = shape.pop()
        shape[-1] *= last
    for _ in range(d.integer(0, 2)):
        shape.insert(d.integer(0, len(shape)), 1)
    if shape and d.chance(0.4):
        shape[d.integer(0, len(shape) - 1)] = -1
    if len(shape) <= x.rank and d.chance(0.3):
        shape = [0 if index < x.rank and x.shape[index] == size and d.chance() else size for index, size in enumerate(shape)]
    if d.chance(0.2):
        # The shape of another value, by nodes that are computed at import.
        flat = d.emit("Reshape", [x, d.known([-1])], exact=True)[0]
        d.emit("Reshape", [flat, d.emit("Shape", [x], exact=True)[0]], exact=True)
        return
    d.emit("Reshape", [x, d.known(shape)], exact=True)


def _squeeze(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 5))
    ones = [axis for axis, size in enumerate(x.shape) if size == 1]
    if not ones:
        axis = d.integer(0, x.rank - 1)
        x, ones = d.leaf(x.dtype, [*x.shape[:axis], 1, *x.shape[axis:]][:5]), [axis]
    if d.chance(0.2):
        d.emit("Squeeze", [x], exact=True)
        return
    _axes_node(d, "Squeeze", x, [axis - x.rank * (d.version >= 11 and d.chance()) for axis in ones[: d.integer(1, len(ones))]], 13)


def _unsqueeze(d: Drawing) -> None:
    x = d.pick(ANY, rank=(0, 3))
    count = d.integer(1, 2)
    rank = x.rank + count
    axes = [int(axis) - rank * (d.version >= 11 and d.chance()) for axis in d.random.permutation(rank)[:count]]
    _axes_node(d, "Unsqueeze", x, axes, 13)


def _transpose(d: Drawing) -> None:
    x = d.pick(ANY)
    d.emit("Transpose", [x], exact=True, perm=[int(each) for each in d.random.permutation(x.rank)] if x.rank and d.chance(0.8) else None)


def _flatten(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 5))
    d.emit("Flatten", [x], exact=True, axis=d.integer(-x.rank if d.version >= 11 else 0, x.rank) if d.chance(0.8) else None)


def _concat(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 5))
    axis = d.integer(0, x.rank - 1)
    parts = [x]
    for _ in range(d.integer(0, 3)):
        shape = [*x.shape]
        shape[axis] = d.integer(1, 4)
        parts.insert(d.integer(0, len(parts)), d.pick([x.dtype], shape=shape))
    d.emit("Concat", parts, exact=True, axis=axis - x.rank * (d.version >= 11 and d.chance()))


def _split(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 5))
    axis = d.integer(0, x.rank - 1)
    size = x.shape[axis]
    given = axis - x.rank * (d.version >= 11 and d.chance())
    cuts = sorted({int(each) for each in d.random.integers(0, size, 2)} - {0})
    sizes = np.diff([0, *cuts, size]).tolist()
    if d.chance(0.3):
        count = d.choice([each for each in range(1, size + 1) if size % each == 0][:4])
        d.emit("Split", [x], outputs=count, exact=True, axis=given, num_outputs=count if d.version >= 18 else None)
    elif d.version < 13:
        d.emit("Split", [x], outputs=len(sizes), exact=True, axis=given, split=sizes)
    else:
        d.emit("Split", [x, d.known(sizes)], outputs=len(sizes), exact=True, axis=given)


def _slice(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 5))
    axes = d.axes(x.rank)
    far = [-(2**31), 2**31 - 1, -(2**63), 2**63 - 1]
    starts, ends, steps = [], [], []
    for axis in axes:
        size = x.shape[axis]
        step = d.choice([1, 1, 2, -1, -2, 3]) if d.version >= 10 else 1
        first, last = sorted((d.integer(0, size), d.integer(0, size)))
        begin, end = (first, last) if step > 0 else (last - 1 if last else 0, first - 1 if first else -size - 1)
        starts.append(begin - size if 0 <= begin < size and d.chance(0.3) else begin)
        ends.append(d.choice(far[step > 0 :: 2]) if d.chance(0.2) else end - size if 0 <= end < size and d.chance(0.3) else end)
        steps.append(step)
    if d.version < 10:
        d.emit("Slice", [x], exact=True, starts=starts, ends=ends, axes=[axis % x.rank for axis in axes])
        return
    given = [d.known(starts), d.known(ends), d.known(axes), *([d.known(steps)] if set(steps) != {1} or d.chance() else [])]
    d.emit("Slice", [x, *given], exact=True)


def _expand(d: Drawing) -> None:
    x = d.pick(ANY, rank=(0, 3))
    shape = [d.integer(1, 4) if size == 1 else d.choice([1, size]) for size in x.shape]
    d.emit("Expand", [x, d.known([d.integer(1, 3) for _ in range(d.integer(0, 2))] + shape)], exact=True)


def _tile(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 4))
    d.emit("Tile", [x, d.known([d.choice([1, 1, 2, 3]) for _ in x.shape])], exact=True)


def _pad(d: Drawing) -> None:
    x = d.pick((*FLOATS, "int32", "int64", "uint8", "int8", "bool"), rank=(1, 4))
    mode = d.choice(["constant", "constant", "reflect", "edge", *(["wrap"] if d.version >= 19 else [])])
    most = [3 if mode in ("constant", "edge") else size - 1 for size in x.shape]
    pads = [d.integer(0, size) for size in (*most, *most)]
    if mode == "constant" and d.chance(0.2):
        pads = [each if x.shape[index % x.rank] < 3 else d.choice([-1, each]) for index, each in enumerate(pads)]
    if d.version < 11:
        d.emit("Pad", [x], exact=True, mode=mode, pads=pads, value=d.choice([None, 1.5]) if mode == "constant" else None)
        return
    value = [d.new(np.asarray(d.elements(x.dtype, []), x.dtype))] if mode == "constant" and d.chance() else []
    d.emit("Pad", [x, d.known(pads), *value], exact=True, mode=mode)


def _blocks(operator: str) -> Recipe:
    def recipe(d: Drawing) -> None:
        block = d.choice([1, 2, 3])
        shape = [d.integer(1, 2), d.integer(1, 2), d.integer(1, 3), d.integer(1, 3)]
        if operator == "DepthToSpace":
            shape[1] *= block**2
        else:
            shape[2:] = [shape[2] * block, shape[3] * block]
        mode = d.choice([None, "DCR", "CRD"]) if operator == "DepthToSpace" and d.version >= 11 else None
        d.emit(operator, [d.pick(FLOATS, shape=shape)], exact=True, blocksize=block, mode=mode)

    return recipe


def _trilu(d: Drawing) -> None:
    x = d.pick((*FLOATS, "int32", "int64", "bool"), rank=(2, 4))
    d.emit("Trilu", [x, *([d.known(d.integer(-4, 4))] if d.chance(0.7) else [])], exact=True, upper=d.choice([None, 0, 1]))


def _reverse_sequence(d: Drawing) -> None:
    x = d.pick((*FLOATS, "int32", "int64"), rank=(2, 4))
    time = d.integer(0, 1)
    lengths = d.random.integers(1, x.shape[time], x.shape[1 - time], endpoint=True)
    d.emit("ReverseSequence", [x, d.new(lengths)], exact=True, time_axis=time, batch_axis=1 - time)


def _center_crop_pad(d: Drawing) -> None:
    x = d.pick((*FLOATS, "int32"), rank=(1, 4))
    axes = sorted({axis % x.rank for axis in d.axes(x.rank)})
    wanted = d.known([d.integer(1, 6) for _ in axes])
    d.emit("CenterCropPad", [x, wanted], exact=True, axes=[axis - x.rank * d.chance() for axis in axes])


def _shape(d: Drawing) -> None:
    x = d.pick(ANY, rank=(1, 5))
    if d.chance(0.2):
        d.emit("Size", [x], exact=True)
        return
    ends = {"start": d.integer(-x.rank, 0), "end": d.choice([None, x.rank])} if d.version >= 15 else {}
    sizes = d.emit("Shape", [x], exact=True, **ends)[0]
    # Values that are computed from shapes are known, too.
    if d.chance():
        d.emit("ConstantOfShape", [sizes], exact=True)
    else:
        d.emit("Cast", [d.emit("Mul", [sizes, sizes], exact=True)[0]], exact=True, to=_onnx_type("float32"))


def _range(d: Drawing) -> None:
    dtype = d.choice(["int64", "int32", "float32"])
    start, step = d.integer(-3, 3), d.choice([1, 2, -1, -3])
    limit = start + step * d.integer(1, 6) - d.choice([0, np.sign(step)])
    if limit == start:
        raise Unsuitable
    d.emit("Range", [d.known(each, dtype) for each in (start, limit, step)], exact=True)


def _constant_of_shape(d: Drawing) -> None:
    from onnx import numpy_helper

    value = numpy_helper.from_array(d.elements(d.choice(["float32", "int64", "bool"]), [1])) if d.chance(0.7) else None
    d.emit("ConstantOfShape", [d.known(d.shape(0, 3))], exact=True, value=value)


def _eye_like(d: Drawing) -> None:
    x = d.pick((*FLOATS, "int32", "int64"), rank=(2, 2))
    d.emit("EyeLike", [x], exact=True, k=d.integer(-3, 3), dtype=d.choice([None, _onnx_type("float32")]))


MOVEMENT: Mapping[str, Recipe] = {
    "CenterCropPad": _center_crop_pad,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "DepthToSpace": _blocks("DepthToSpace"),
    "Expand": _expand,
    "EyeLike": _eye_like,
    "Flatten": _flatten,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "ReverseSequence": _reverse_sequence,
    "Shape": _shape,
    "Slice": _slice,
    "SpaceToDepth": _blocks("SpaceToDepth"),
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
