"""Single mutations of valid calls, as table rows: the operation, the argument that is changed, its wrong values, and the argument that
the error must name."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.property.calls import Call, Raw
from tests.support import FIRST, Act, Array
from webnn import MLGraphBuilder
from webnn.validation.descriptor import DATA_TYPES

__all__ = ["ROWS", "Row", "mutated"]

#: Return the wrong values of an argument, in view of the rest of the call; an empty list if there is none for this one.
Values = Callable[[Call, MLGraphBuilder], Sequence[Any]]

NAN, INF = math.nan, math.inf


class Thing:
    """An object of a kind that no argument takes."""


NO_NUMBERS: list[Any] = ["three", "0x", "1_0", NAN, INF, -INF, {}, [1, 2], Thing()]
NO_UNSIGNED_LONG = [*NO_NUMBERS, -1, 2**32, 1e300, "-1"]
NO_LONG = [*NO_NUMBERS, 2**31, -(2**31) - 1]
NO_FLOAT = [*NO_NUMBERS, 1e39, -1e39, 10**400]
NO_SEQUENCE: list[Any] = [3, "12", b"12", {0: 1}, Thing(), Raw(np.array(3))]
NO_OPERAND: list[Any] = [3, "input", [1.0], np.float32(3), Raw(np.zeros(3, np.float32)), Thing()]
NO_ENUM: list[Any] = ["", "NCHW", "nchw ", "none", 3, True, ["constant"], Thing()]
NO_DICTIONARY: list[Any] = [3, "axis", [("axis", 0)], Thing()]


@dataclass(frozen=True)
class Row:
    """A mutation.

    Attributes:
        argument: What is changed: an argument, or a member such as ``"options.axis"``.
        values: Its wrong values.
        named: The argument that the error names, or the beginning of it; the changed one if empty.
    """

    argument: str
    values: Values
    named: str = ""


def mutated(call: Call, row: Row, other: MLGraphBuilder) -> list[Call]:
    """Return the calls that a row makes of a valid one."""
    member = row.argument.removeprefix("options.")
    if member == row.argument:
        return [replace(call, arguments={**call.arguments, member: value}) for value in row.values(call, other)]
    return [replace(call, options={**call.options, member: value}) for value in row.values(call, other)]


def _given(call: Call, argument: str) -> Any:
    member = argument.removeprefix("options.")
    return call.arguments[argument] if member == argument else call.options.get(member)


def _rank(call: Call, argument: str = "input") -> int:
    return int(call.arguments[argument].ndim)


# Rows of constant values, or of values that depend on the call.


def _always(argument: str, values: Sequence[Any], named: str = "") -> Row:
    return Row(argument, lambda call, other: values, named)


def _by_call(argument: str, values: Callable[[Call], Sequence[Any]], named: str = "") -> Row:
    return Row(argument, lambda call, other: values(call), named)


def _list(argument: str, length: int, wrong: Sequence[Any] = ()) -> list[Row]:
    """Rows of a list of numbers: no list, a wrong length, an element that is none of its type, and more wrong lists."""
    good = [1] * length
    elements = [[*good[:index], bad, *good[index + 1 :]] for bad in NO_UNSIGNED_LONG for index in {0, length - 1}]
    lengths = [[], good[1:], [*good, 1]]
    return [_always(argument, NO_SEQUENCE), _always(argument, elements), _always(argument, [*lengths, *wrong])]


def _sizes(argument: str, wrong: Callable[[Call], Sequence[Any]]) -> list[Row]:
    """Rows of a list of numbers whose length depends on the call."""
    return [_always(argument, NO_SEQUENCE), _always(argument, [[bad] for bad in NO_UNSIGNED_LONG]), _by_call(argument, wrong)]


def _axes(argument: str) -> list[Row]:
    """Rows of a list of different axes of the input."""

    def wrong(call: Call) -> list[Any]:
        rank = _rank(call)
        return [[rank], [*range(rank), rank], [0, 0], [2**32 - 1], *([[*range(rank), 0], [rank - 1, rank - 1]] if rank else [])]

    return _sizes(argument, wrong)


def _axis(argument: str, operand: str = "input") -> list[Row]:
    def wrong(call: Call) -> list[Any]:
        rank = _rank(call, operand)
        return [rank, rank + 1, 2**32 - 1]

    return [_always(argument, NO_UNSIGNED_LONG), _by_call(argument, wrong)]


# Rows of operands.


def _typed(value: Array, dtype: str) -> Array:
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def _of_type(argument: str, allowed: Sequence[str]) -> Row:
    """The operand in each type that the operation does not allow."""
    others = [dtype for dtype in DATA_TYPES if dtype not in allowed]
    return _by_call(argument, lambda call: [_typed(_given(call, argument), dtype) for dtype in others])


def _of_another_type(argument: str) -> Row:
    """The operand in each type but its own: it must have the type of another one."""

    def values(call: Call) -> list[Any]:
        value = _given(call, argument)
        return [] if value is None else [_typed(value, dtype) for dtype in DATA_TYPES if dtype != value.dtype.name]

    return _by_call(argument, values)


def _of_another_rank(argument: str) -> Row:
    """The operand with one dimension more, and with one less."""
    low, high = FIRST.ranks[argument.split(" ", maxsplit=1)[0]][argument.split(" ")[1]]
    operand = argument.split(" ")[1]

    def values(call: Call) -> list[Any]:
        value = _given(call, operand)
        fewer = value.reshape(-1)[0].reshape([1] * (low - 1))
        more = value.reshape([1] * (high + 1 - value.ndim) + list(value.shape)) if high < FIRST.max_rank else None
        return [fewer] if more is None else [fewer, more]

    return _by_call(operand, values)


def _grown(value: Array, axis: int) -> Array:
    """Return the array with one element more along an axis."""
    return np.concatenate([value, value.take([0], axis=axis)], axis=axis)


def _with_one_axis_more(value: Array) -> list[Array]:
    """Return the array with one axis more, unless no operand may have so many."""
    return [value[None]] if value.ndim < FIRST.max_rank else []


def _of_another_shape(argument: str) -> Row:
    """The operand with one element more along each of its axes, and with one axis more: its shape must be exactly what it is."""

    def values(call: Call) -> list[Any]:
        value = _given(call, argument)
        return [] if value is None else [*(_grown(value, axis) for axis in range(value.ndim)), *_with_one_axis_more(value)]

    return _by_call(argument, values)


def _not_broadcasting(argument: str, target: Callable[[Call], Sequence[int]]) -> Row:
    """An operand of a shape that differs from the target where that is not 1."""

    def values(call: Call) -> list[Any]:
        shape, value = list(target(call)), _given(call, argument)
        dtype = "float32" if value is None else value.dtype
        wrong = [[*shape[:axis], size + 1, *shape[axis + 1 :]] for axis, size in enumerate(shape) if size > 1]
        return [np.zeros(each, dtype) for each in wrong]

    return _by_call(argument, values)


def _shape(argument: str) -> Callable[[Call], Sequence[int]]:
    return lambda call: list(call.arguments[argument].shape)


def _other_builder(argument: str) -> Row:
    """The same operand, made by another builder."""

    def values(call: Call, other: MLGraphBuilder) -> list[Any]:
        value = _given(call, argument)
        if value is None:
            return []
        return [other.constant({"dataType": value.dtype.name, "dimensions": list(value.shape)}, value)]

    return Row(argument, values)


def _generic(name: str) -> list[Row]:
    """Rows that follow from the operation's signature and from the draft's tables of types and ranks."""
    operation = FIRST.operations[name]
    typed = FIRST.data_types.get(name, {})
    rows = [_of_type(argument, types) for argument, types in typed.items() if len(types) < len(DATA_TYPES)]
    for argument in () if operation.variadic else operation.operands:
        rows += [_always(argument, NO_OPERAND), _other_builder(argument)]
    for member in operation.members:
        rows += [_always(f"options.{member}", NO_OPERAND), _other_builder(f"options.{member}")]
    for argument in FIRST.ranks.get(name, {}):
        rows.append(_of_another_rank(f"{name} {argument}"))
    return rows


# The rows of the operations.


def _pair_rows(a: str, b: str) -> list[Row]:
    return [_of_another_type(b), _not_broadcasting(b, _shape(a))]


def _concat_rows() -> list[Row]:
    def one(change: Callable[[Array, int], Sequence[Array]]) -> Callable[[Call], Sequence[Any]]:
        def values(call: Call) -> list[Any]:
            inputs, axis = call.arguments["inputs"], call.arguments["axis"]
            return [
                [*inputs[:index], wrong, *inputs[index + 1 :]] for index in range(1, len(inputs)) for wrong in change(inputs[index], axis)
            ]

        return values

    def foreign(call: Call, other: MLGraphBuilder) -> list[Any]:
        inputs = call.arguments["inputs"]
        first = inputs[0]
        return [[*inputs, other.constant({"dataType": first.dtype.name, "dimensions": list(first.shape)}, first)]]

    return [
        _always("inputs", [*NO_SEQUENCE, [], *([bad] for bad in NO_OPERAND)]),
        _by_call("inputs", one(lambda value, _: [_typed(value, dtype) for dtype in DATA_TYPES if dtype != value.dtype.name])),
        _by_call("inputs", one(lambda value, axis: [_grown(value, other) for other in range(value.ndim) if other != axis])),
        _by_call("inputs", one(lambda value, _: _with_one_axis_more(value))),
        Row("inputs", foreign),
        _always("axis", NO_UNSIGNED_LONG),
        _by_call("axis", lambda call: [call.arguments["inputs"][0].ndim, 2**32 - 1]),
    ]


def _different_shapes(call: Call) -> list[Any]:
    """New shapes of `expand` that do not fit."""
    shape = list(call.arguments["input"].shape)
    return [[], *([*shape[:axis], size + 1, *shape[axis + 1 :]] for axis, size in enumerate(shape) if size > 1)] if shape else []


def _wrong_splits(call: Call) -> list[Any]:
    size = call.arguments["input"].shape[call.options.get("axis", 0)]
    return [0, size + 1, *(count for count in range(1, size) if size % count), [size + 1], [0, size], [], [size, size], [1] * (size + 1)]


def _wrong_starts(call: Call) -> list[Any]:
    shape, starts = call.arguments["input"].shape, call.arguments["starts"]
    beyond = [[*starts[:axis], size, *starts[axis + 1 :]] for axis, size in enumerate(shape)]
    return [*beyond, [*starts, 0], *([starts[1:]] if shape else [])]


def _wrong_slices(call: Call) -> list[Any]:
    shape, starts, sizes = call.arguments["input"].shape, call.arguments["starts"], call.arguments["sizes"]
    beyond = [[*sizes[:axis], size - starts[axis] + 1, *sizes[axis + 1 :]] for axis, size in enumerate(shape)]
    empty = [[*sizes[:axis], 0, *sizes[axis + 1 :]] for axis in range(len(shape))]
    return [*beyond, *empty, [*sizes, 1], *([sizes[1:]] if shape else [])]


def _wrong_permutations(call: Call) -> list[Any]:
    rank = _rank(call)
    return [[*range(rank), rank], *([[*range(rank - 1)], [*range(1, rank + 1)]] if rank else []), *([[0] * rank] if rank > 1 else [])]


def _wrong_paddings(call: Call) -> list[Any]:
    return [[], [0] * (_rank(call) + 1), [0] * (_rank(call) - 1)]


def _of_channels(filter: str, letter: str, default: str) -> Row:
    """A filter for one more input channel."""

    def values(call: Call) -> list[Any]:
        layout = call.options.get("filterLayout", default)
        return [_grown(call.arguments[filter], layout.index(letter))]

    return _by_call(filter, values)


def _wrong_groups(call: Call) -> list[Any]:
    channels = call.arguments["input"].shape[call.options.get("inputLayout", "nchw").index("c")]
    return [0, channels + 1, 2 * channels]


def _wrong_outputs(call: Call) -> list[Any]:
    """Output sizes of pooling, and of a transposed convolution, that no rounding gives."""
    given = call.options.get("outputSizes")
    return [[1, 1000], [1000, 1], *([] if given is None else [[given[0] + 3, given[1]], [given[0], given[1] + 3]])]


def _too_much_output_padding(call: Call) -> list[Any]:
    strides = call.options.get("strides", [1, 1])
    return [] if "outputSizes" in call.options else [[strides[0], 0], [0, strides[1]]]


_WINDOW = [
    *_list("options.padding", 4),
    *_list("options.strides", 2, [[0, 1], [1, 0]]),
    *_list("options.dilations", 2, [[0, 1], [1, 0]]),
]

_POOL = [
    *_list("options.windowDimensions", 2, [[0, 1], [1, 0]]),
    _by_call("options.windowDimensions", lambda call: [] if "outputSizes" in call.options else [[100, 1], [1, 100]], "output"),
    *_WINDOW,
    *_list("options.outputSizes", 2),
    _by_call("options.outputSizes", _wrong_outputs),
    _always("options.layout", NO_ENUM),
    _always("options.roundingType", NO_ENUM),
]

_CONV = [
    *_WINDOW,
    _of_another_type("filter"),
    _of_another_type("options.bias"),
    _of_another_shape("options.bias"),
    _always("options.inputLayout", NO_ENUM),
    _always("options.filterLayout", NO_ENUM),
    _always("options.groups", [*NO_UNSIGNED_LONG, 0]),
]


def _normalization(*arguments: str) -> list[Row]:
    rows = [_always("options.epsilon", NO_FLOAT)]
    for argument in arguments:
        rows += [_of_another_type(argument), _of_another_shape(argument)]
    return rows


def _recurrent(count: int, *arguments: str, layouts: bool = True) -> list[Row]:
    def foreign(call: Call, other: MLGraphBuilder) -> list[Any]:
        return [[*[Act("tanh")] * (count - 1), other.tanh()]]

    tanh = Act("tanh")
    rows = [
        _always("hiddenSize", [*NO_UNSIGNED_LONG, 0, 2**31]),
        _by_call("hiddenSize", lambda call: [call.arguments["hiddenSize"] + 1], "weight"),
        _always("options.layout", [*NO_ENUM, "zrni"]),
        _always("options.activations", [*NO_SEQUENCE, [], [tanh] * (count - 1), [tanh] * (count + 1)]),
        _always("options.activations", [[*[tanh] * (count - 1), bad] for bad in (*NO_OPERAND, "tanh")]),
        Row("options.activations", foreign),
    ]
    for argument in arguments:
        rows += [_of_another_type(argument), _of_another_shape(argument)]
    return rows


_SEQUENCE = [
    _always("steps", NO_UNSIGNED_LONG),
    _by_call("steps", lambda call: [0, call.arguments["steps"] + 1]),
    _always("options.direction", NO_ENUM),
]
_WEIGHTS = ("weight", "recurrentWeight", "options.bias", "options.recurrentBias")


def _outputs_of_gemm(call: Call) -> list[int]:
    a, b = call.arguments["a"].shape, call.arguments["b"].shape
    return [a[1] if call.options.get("aTranspose") else a[0], b[0] if call.options.get("bTranspose") else b[1]]


def _wrong_rows(call: Call) -> list[Any]:
    """Second operands of matrix products with one row more."""
    return [_grown(call.arguments["b"], -1 if call.options.get("bTranspose") else -2)]


_OWN: Mapping[str, Sequence[Row]] = {
    **{name: _pair_rows("a", "b") for name in ("add", "sub", "mul", "div", "max", "min", "pow")},
    **{name: _pair_rows("a", "b") for name in ("equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual")},
    **{name: [_always("options.alpha", NO_FLOAT)] for name in ("elu", "leakyRelu")},
    **{name: [_always("options.alpha", NO_FLOAT), _always("options.beta", NO_FLOAT)] for name in ("hardSigmoid", "linear")},
    "clamp": [
        _always("options.minValue", NO_FLOAT),
        _always("options.maxValue", NO_FLOAT),
        _by_call("options.minValue", lambda call: [call.options["maxValue"] + 1e37] if "maxValue" in call.options else []),
    ],
    "prelu": _pair_rows("input", "slope"),
    "softmax": [_always("axis", [{}, [1, 2], Thing()]), _by_call("axis", lambda call: [_rank(call), 2**32 - 1, -1])],
    **{name: _axes("options.axes") for name in FIRST.operations if name.startswith(("reduce", "arg"))},
    **dict.fromkeys(("averagePool2d", "l2Pool2d", "maxPool2d"), _POOL),
    "conv2d": [*_CONV, _of_channels("filter", "i", "oihw"), _by_call("options.groups", _wrong_groups)],
    "convTranspose2d": [
        *_CONV,
        _of_channels("filter", "i", "iohw"),
        *_list("options.outputPadding", 2),
        _by_call("options.outputPadding", _too_much_output_padding),
        *_list("options.outputSizes", 2),
        _by_call("options.outputSizes", _wrong_outputs),
    ],
    "batchNormalization": [*_normalization("mean", "variance", "options.scale", "options.bias"), *_axis("options.axis")],
    "instanceNormalization": [*_normalization("options.scale", "options.bias"), _always("options.layout", NO_ENUM)],
    "layerNormalization": [*_normalization("options.scale", "options.bias"), *_axes("options.axes")],
    "matmul": [_of_another_type("b"), _by_call("b", _wrong_rows)],
    "gemm": [
        _of_another_type("b"),
        _by_call("b", _wrong_rows),
        _of_another_type("options.c"),
        _not_broadcasting("options.c", _outputs_of_gemm),
        _always("options.alpha", NO_FLOAT),
        _always("options.beta", NO_FLOAT),
    ],
    "gru": [*_recurrent(2, *_WEIGHTS, "options.initialHiddenState"), *_SEQUENCE],
    "gruCell": _recurrent(2, *_WEIGHTS, "hiddenState"),
    "lstm": [
        *_recurrent(3, *_WEIGHTS, "options.peepholeWeight", "options.initialHiddenState", "options.initialCellState"),
        *_SEQUENCE,
    ],
    "lstmCell": _recurrent(3, *_WEIGHTS, "hiddenState", "cellState", "options.peepholeWeight"),
    "gather": _axis("options.axis"),
    "cast": [_always("type", [*NO_ENUM, "float64", "int4", np.float32, None])],
    "concat": _concat_rows(),
    "expand": _sizes("newShape", _different_shapes),
    "pad": [
        *_sizes("beginningPadding", _wrong_paddings),
        *_sizes("endingPadding", _wrong_paddings),
        _always("options.mode", NO_ENUM),
        _always("options.value", NO_FLOAT),
    ],
    "reshape": _sizes("newShape", lambda call: [[call.arguments["input"].size + 1], [0], [call.arguments["input"].size, 0], [2**32 - 1]]),
    "resample2d": [
        _always("options.mode", NO_ENUM),
        _always("options.scales", [*NO_SEQUENCE, [], [1], [1, 1, 1], [0, 1], [1, 0], [-1, 1], *([bad, 1] for bad in NO_FLOAT)]),
        *_list("options.sizes", 2, [[0, 1], [1, 0]]),
        *_list("options.axes", 2, [[0, 2], [1, 0], [3, 4], [2, 2], [3, 2], [0, 3]]),
    ],
    "slice": [*_sizes("starts", _wrong_starts), *_sizes("sizes", _wrong_slices)],
    "split": [
        _always("splits", [*NO_NUMBERS[:-3], -1, 2**32, Thing(), "12x", {}, [-1], ["x"]]),
        _by_call("splits", _wrong_splits),
        *_axis("options.axis"),
    ],
    "transpose": _sizes("options.permutation", _wrong_permutations),
    "triangular": [_always("options.diagonal", NO_LONG)],
    "where": [
        _of_another_type("other"),
        _not_broadcasting("other", _shape("input")),
        _not_broadcasting("condition", lambda call: np.broadcast_shapes(call.arguments["input"].shape, call.arguments["other"].shape)),
    ],
}

#: The mutations of each operation.
ROWS: Mapping[str, Sequence[Row]] = {name: [*_generic(name), *_OWN.get(name, ())] for name in FIRST.operations}
