"""The mutations of each operation, by the draft: a chain, in which each draft has the rows of the operations that it adds or changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.property.calls import Call
from tests.property.mutations import (
    NO_BIG_NUMBER,
    NO_DOUBLE,
    NO_ENUM,
    NO_FLOAT,
    NO_LONG,
    NO_NUMBERS,
    NO_OPERAND,
    NO_SEQUENCE,
    NO_UNSIGNED_LONG,
    Row,
    Thing,
    always,
    axes_rows,
    axis_rows,
    by_call,
    foreign,
    generic,
    grown,
    length_rows,
    list_rows,
    not_broadcasting,
    of_another_shape,
    of_another_type,
    of_dtype,
    rank_of,
    shape_of,
    with_one_axis_more,
)
from tests.support import FIRST, Act, Array
from webnn import MLGraphBuilder
from webnn.validation.descriptor import DATA_TYPES
from webnn.validation.drafts import DRAFTS, find_revision

__all__ = ["ROWS"]


def _pair_rows(a: str, b: str) -> list[Row]:
    return [of_another_type(b), not_broadcasting(b, shape_of(a))]


def _concat_rows() -> list[Row]:
    def one(change: Callable[[Array, int], Sequence[Array]]) -> Callable[[Call], Sequence[Any]]:
        def values(call: Call) -> list[Any]:
            inputs, axis = call.arguments["inputs"], call.arguments["axis"]
            return [
                [*inputs[:index], wrong, *inputs[index + 1 :]] for index in range(1, len(inputs)) for wrong in change(inputs[index], axis)
            ]

        return values

    def one_foreign(call: Call, other: MLGraphBuilder) -> list[Any]:
        inputs = call.arguments["inputs"]
        return [[*inputs, foreign(other, inputs[0])]]

    return [
        always("inputs", [*NO_SEQUENCE, [], *([bad] for bad in NO_OPERAND)]),
        by_call("inputs", one(lambda value, _: [of_dtype(value, dtype) for dtype in DATA_TYPES if dtype != value.dtype.name])),
        by_call("inputs", one(lambda value, axis: [grown(value, other) for other in range(value.ndim) if other != axis])),
        by_call("inputs", one(lambda value, _: with_one_axis_more(value))),
        Row("inputs", one_foreign),
        always("axis", NO_UNSIGNED_LONG),
        by_call("axis", lambda call: [call.arguments["inputs"][0].ndim, 2**32 - 1]),
    ]


def _different_shapes(call: Call) -> list[Any]:
    """New shapes of `expand` that do not fit."""
    shape = list(call.arguments["input"].shape)
    return [[], *([*shape[:axis], size + 1, *shape[axis + 1 :]] for axis, size in enumerate(shape) if size > 1)] if shape else []


def _other_counts(call: Call) -> list[Any]:
    count = call.arguments["input"].size
    return [[count + 1], [0], [count, 0], [2**32 - 1]]


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
    rank = rank_of(call)
    return [[*range(rank), rank], *([[*range(rank - 1)], [*range(1, rank + 1)]] if rank else []), *([[0] * rank] if rank > 1 else [])]


def _wrong_paddings(call: Call) -> list[Any]:
    rank = rank_of(call)
    return [[0] * (rank + 1), *([[], [0] * (rank - 1)] if rank else [])]


def _of_channels(filter: str, letter: str, default: str) -> Row:
    """A filter for one more input channel."""

    def values(call: Call) -> list[Any]:
        layout = call.options.get("filterLayout", default)
        return [grown(call.arguments[filter], layout.index(letter))]

    return by_call(filter, values)


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
    *list_rows("options.padding", 4),
    *list_rows("options.strides", 2, [[0, 1], [1, 0]]),
    *list_rows("options.dilations", 2, [[0, 1], [1, 0]]),
]

_OUTPUT_SIZES = [*list_rows("options.outputSizes", 2), by_call("options.outputSizes", _wrong_outputs)]
_POOL = [
    *list_rows("options.windowDimensions", 2, [[0, 1], [1, 0]]),
    by_call("options.windowDimensions", lambda call: [] if "outputSizes" in call.options else [[100, 1], [1, 100]], "output"),
    *_WINDOW,
    *_OUTPUT_SIZES,
    always("options.layout", NO_ENUM),
]

_CONV = [
    *_WINDOW,
    of_another_type("filter"),
    of_another_type("options.bias"),
    of_another_shape("options.bias"),
    always("options.inputLayout", NO_ENUM),
    always("options.filterLayout", NO_ENUM),
    always("options.groups", [*NO_UNSIGNED_LONG, 0]),
]


def _normalization(*arguments: str, epsilons: Sequence[Any] = NO_FLOAT) -> list[Row]:
    rows = [always("options.epsilon", epsilons)]
    for argument in arguments:
        rows += [of_another_type(argument), of_another_shape(argument)]
    return rows


def _recurrent(*arguments: str, activations: Sequence[Row]) -> list[Row]:
    rows = [
        always("hiddenSize", [*NO_UNSIGNED_LONG, 0, 2**31]),
        by_call("hiddenSize", lambda call: [call.arguments["hiddenSize"] + 1], "weight"),
        always("options.layout", [*NO_ENUM, "zrni"]),
        *activations,
    ]
    for argument in arguments:
        rows += [of_another_type(argument), of_another_shape(argument)]
    return rows


def _activations(count: int) -> list[Row]:
    """Rows of activations that are objects."""

    def one_foreign(call: Call, other: MLGraphBuilder) -> list[Any]:
        return [[*[Act("tanh")] * (count - 1), other.tanh()]]

    tanh = Act("tanh")
    return [
        always("options.activations", [*NO_SEQUENCE, [], [tanh] * (count - 1), [tanh] * (count + 1)]),
        always("options.activations", [[*[tanh] * (count - 1), bad] for bad in (*NO_OPERAND, "tanh")]),
        Row("options.activations", one_foreign),
    ]


def _names(count: int) -> list[Row]:
    """Rows of activations that are names."""
    tanh = ["tanh"] * (count - 1)
    return [
        always("options.activations", [*NO_SEQUENCE[:1], *NO_SEQUENCE[3:], [], tanh, [*tanh, "tanh", "tanh"]]),
        always("options.activations", [[*tanh, bad] for bad in (*NO_OPERAND, "elu", "Tanh", "")]),
    ]


_STEPS = by_call("steps", lambda call: [0, call.arguments["steps"] + 1])
_SEQUENCE = [always("steps", NO_UNSIGNED_LONG), _STEPS, always("options.direction", NO_ENUM)]
_WEIGHTS = ("weight", "recurrentWeight", "options.bias", "options.recurrentBias")
_STATES = ("options.initialHiddenState", "options.initialCellState")


def _networks(activations: Callable[[int], Sequence[Row]]) -> dict[str, Sequence[Row]]:
    gru, lstm = activations(2), activations(3)
    return {
        "gru": [*_recurrent(*_WEIGHTS, _STATES[0], activations=gru), *_SEQUENCE],
        "gruCell": _recurrent(*_WEIGHTS, "hiddenState", activations=gru),
        "lstm": [*_recurrent(*_WEIGHTS, "options.peepholeWeight", *_STATES, activations=lstm), *_SEQUENCE],
        "lstmCell": _recurrent(*_WEIGHTS, "hiddenState", "cellState", "options.peepholeWeight", activations=lstm),
    }


def _outputs_of_gemm(call: Call) -> list[int]:
    a, b = call.arguments["a"].shape, call.arguments["b"].shape
    return [a[1] if call.options.get("aTranspose") else a[0], b[0] if call.options.get("bTranspose") else b[1]]


def _wrong_rows(call: Call) -> list[Any]:
    """Second operands of matrix products with one row more."""
    return [grown(call.arguments["b"], -1 if call.options.get("bTranspose") else -2)]


def _where(first: str, second: str) -> list[Row]:
    def shape(call: Call) -> Sequence[int]:
        return np.broadcast_shapes(call.arguments[first].shape, call.arguments[second].shape)

    return [of_another_type(second), not_broadcasting(second, shape_of(first)), not_broadcasting("condition", shape)]


#: An axis that wraps around as JavaScript's integers do: the draft does not enforce its range.
_WRAPPING_AXIS = [always("axis", NO_BIG_NUMBER), by_call("axis", lambda call: [rank_of(call), 2**32 - 1, -1])]
_GEMM = [of_another_type("b"), by_call("b", _wrong_rows), of_another_type("options.c"), not_broadcasting("options.c", _outputs_of_gemm)]
_RESAMPLING = [
    always("options.mode", NO_ENUM),
    always("options.scales", [*NO_SEQUENCE, [], [1], [1, 1, 1], [0, 1], [1, 0], [-1, 1], *([bad, 1] for bad in NO_FLOAT)]),
    *list_rows("options.sizes", 2, [[0, 1], [1, 0]]),
]
_POOLS = ("averagePool2d", "l2Pool2d", "maxPool2d")

#: The rows of the first draft.
_FIRST: Mapping[str, Sequence[Row]] = {
    **{name: _pair_rows("a", "b") for name in ("add", "sub", "mul", "div", "max", "min", "pow")},
    **{name: _pair_rows("a", "b") for name in ("equal", "greater", "greaterOrEqual", "lesser", "lesserOrEqual")},
    **{name: [always("options.alpha", NO_FLOAT)] for name in ("elu", "leakyRelu")},
    **{name: [always("options.alpha", NO_FLOAT), always("options.beta", NO_FLOAT)] for name in ("hardSigmoid", "linear")},
    "clamp": [
        always("options.minValue", NO_FLOAT),
        always("options.maxValue", NO_FLOAT),
        by_call("options.minValue", lambda call: [call.options["maxValue"] + 1e37] if "maxValue" in call.options else []),
    ],
    "prelu": _pair_rows("input", "slope"),
    "softmax": _WRAPPING_AXIS,
    **{name: axes_rows("options.axes") for name in FIRST.operations if name.startswith(("reduce", "arg"))},
    **{name: [*_POOL, always("options.roundingType", NO_ENUM)] for name in _POOLS},
    "conv2d": [*_CONV, _of_channels("filter", "i", "oihw"), by_call("options.groups", _wrong_groups)],
    "convTranspose2d": [
        *_CONV,
        _of_channels("filter", "i", "iohw"),
        *list_rows("options.outputPadding", 2),
        by_call("options.outputPadding", _too_much_output_padding),
        *_OUTPUT_SIZES,
    ],
    "batchNormalization": [*_normalization("mean", "variance", "options.scale", "options.bias"), *axis_rows("options.axis")],
    "instanceNormalization": [*_normalization("options.scale", "options.bias"), always("options.layout", NO_ENUM)],
    "layerNormalization": [*_normalization("options.scale", "options.bias"), *axes_rows("options.axes")],
    "matmul": [of_another_type("b"), by_call("b", _wrong_rows)],
    "gemm": [*_GEMM, always("options.alpha", NO_FLOAT), always("options.beta", NO_FLOAT)],
    **_networks(_activations),
    "gather": axis_rows("options.axis"),
    "cast": [always("type", [*NO_ENUM, "float64", "int4", np.float32, None])],
    "concat": _concat_rows(),
    "expand": length_rows("newShape", _different_shapes),
    "pad": [
        *length_rows("beginningPadding", _wrong_paddings),
        *length_rows("endingPadding", _wrong_paddings),
        always("options.mode", NO_ENUM),
        always("options.value", NO_FLOAT),
    ],
    "reshape": length_rows("newShape", _other_counts),
    "resample2d": [*_RESAMPLING, *list_rows("options.axes", 2, [[0, 2], [1, 0], [3, 4], [2, 2], [3, 2], [0, 3]])],
    "slice": [*length_rows("starts", _wrong_starts), *length_rows("sizes", _wrong_slices)],
    "split": [
        always("splits", [*NO_NUMBERS[:-3], -1, 2**32, Thing(), "12x", {}, [-1], ["x"]]),
        by_call("splits", _wrong_splits),
        *axis_rows("options.axis"),
    ],
    "transpose": length_rows("options.permutation", _wrong_permutations),
    "triangular": [always("options.diagonal", NO_LONG)],
    "where": _where("input", "other"),
}


def _wrong_strides(call: Call) -> list[Any]:
    strides = [1] * rank_of(call)
    return [[*strides, 1], *([strides[1:], [*strides[1:], 0]] if strides else [])]


def _wrong_repetitions(call: Call) -> list[Any]:
    ones = [1] * rank_of(call)
    return [[*ones, 1], *([ones[1:], [*ones[1:], 0]] if ones else [])]


def _beyond_reflection(argument: str) -> Row:
    """As many elements as the axis has, which a reflection does not have."""

    def values(call: Call) -> list[Any]:
        shape, ends = call.arguments["input"].shape, call.arguments[argument]
        mirrored = call.options.get("mode") == "reflection"
        return [[*ends[:axis], size, *ends[axis + 1 :]] for axis, size in enumerate(shape)] if mirrored else []

    return by_call(argument, values)


def _output_types(call: Call) -> list[Any]:
    return [each for each in DATA_TYPES if each not in ("int32", "int64")]


def _not_divided(call: Call) -> list[Any]:
    """Inputs with one element more along an axis that the scale divides into blocks."""
    input, scale = call.arguments["input"], call.arguments["scale"]
    return [grown(input, axis) for axis, size in enumerate(scale.shape) if size > 1]


def _one_axis_more(argument: str) -> Row:
    return by_call(argument, lambda call: with_one_axis_more(call.arguments[argument]))


def _quantization(typed: str) -> list[Row]:
    """Rows of scale and zero point; ``typed`` has the type of the input."""

    def longer(call: Call) -> list[Any]:
        scale = call.arguments["scale"]
        return [grown(scale, axis) for axis in range(scale.ndim)]

    return [
        of_another_type(typed),
        _one_axis_more("scale"),
        # The zero point has the scale's shape.
        by_call("scale", longer, "zeroPoint"),
        of_another_shape("zeroPoint"),
        by_call("input", _not_divided, "scale"),
    ]


def _wrong_elements(call: Call) -> list[Any]:
    """Indices with one element more along another axis than that of the operation."""
    indices, axis = call.arguments["indices"], call.options.get("axis", 0)
    return [grown(indices, each) for each in range(indices.ndim) if each != axis]


def _too_deep(call: Call) -> list[Any]:
    """Indices with one coordinate more than the input has axes."""
    indices = call.arguments["indices"]
    return [np.zeros([*indices.shape[:-1], rank_of(call) + 1], indices.dtype)]


_ELEMENTS = [_one_axis_more("indices"), by_call("indices", _wrong_elements), *axis_rows("options.axis")]
_UPDATES = [of_another_type("updates"), of_another_shape("updates")]

_SELECTION = [*axis_rows("axis"), always("options.outputDataType", NO_ENUM), by_call("options.outputDataType", _output_types)]

#: The rows that each draft adds, or has in the place of those of the drafts before it.
_CHANGES: Mapping[str, Mapping[str, Sequence[Row]]] = {
    "2024-06": _FIRST,
    "2026-06": {
        "argMax": _SELECTION,
        "argMin": _SELECTION,
        **{name: [*_POOL, always("options.outputShapeRounding", NO_ENUM)] for name in _POOLS},
        **{name: [always("options.alpha", NO_DOUBLE)] for name in ("elu", "leakyRelu")},
        **{name: [always("options.alpha", NO_DOUBLE), always("options.beta", NO_DOUBLE)] for name in ("hardSigmoid", "linear")},
        **_networks(_names),
        "batchNormalization": [
            *_normalization("mean", "variance", "options.scale", "options.bias", epsilons=NO_DOUBLE),
            *axis_rows("options.axis"),
        ],
        "instanceNormalization": [*_normalization("options.scale", "options.bias", epsilons=NO_DOUBLE), always("options.layout", NO_ENUM)],
        "layerNormalization": [*_normalization("options.scale", "options.bias", epsilons=NO_DOUBLE), *axes_rows("options.axes")],
        "gemm": [*_GEMM, always("options.alpha", NO_DOUBLE), always("options.beta", NO_DOUBLE)],
        "cast": [always("dataType", [*NO_ENUM, "float64", "int4", np.float32, None])],
        "clamp": [
            always("options.minValue", NO_BIG_NUMBER),
            always("options.maxValue", NO_BIG_NUMBER),
            by_call("options.minValue", lambda call: [call.options["maxValue"] + 1e37] if "maxValue" in call.options else []),
        ],
        "softmax": axis_rows("axis"),
        "resample2d": [*_RESAMPLING, *list_rows("options.axes", 2, [[3, 4], [4, 0], [2, 2], [0, 2**32 - 1]])],
        "where": _where("trueValue", "falseValue"),
        "slice": [*_FIRST["slice"], *length_rows("options.strides", _wrong_strides)],
        "pad": [
            *length_rows("beginningPadding", _wrong_paddings),
            *length_rows("endingPadding", _wrong_paddings),
            _beyond_reflection("beginningPadding"),
            _beyond_reflection("endingPadding"),
            always("options.mode", [*NO_ENUM, "symmetric"]),
            always("options.value", NO_BIG_NUMBER),
        ],
        # Operations that the draft adds.
        **{name: [not_broadcasting("b", shape_of("a"))] for name in ("logicalAnd", "logicalOr", "logicalXor")},
        "notEqual": _pair_rows("a", "b"),
        "cumulativeSum": _WRAPPING_AXIS,
        "quantizeLinear": _quantization("scale"),
        "dequantizeLinear": _quantization("zeroPoint"),
        "gatherElements": _ELEMENTS,
        "gatherND": [by_call("indices", _too_deep)],
        "scatterElements": [*_ELEMENTS, *_UPDATES],
        "scatterND": [by_call("indices", _too_deep), *_UPDATES],
        "reverse": axes_rows("options.axes"),
        # Elements wrap around, too.
        "tile": [always("repetitions", [*NO_SEQUENCE, *([bad] for bad in NO_BIG_NUMBER)]), by_call("repetitions", _wrong_repetitions)],
    },
}


def _own(draft: str, name: str) -> Sequence[Row]:
    """Return the rows of an operation in a draft beside those that follow from its tables."""
    history = DRAFTS[: DRAFTS.index(draft) + 1]
    return next((_CHANGES[each][name] for each in reversed(history) if name in _CHANGES.get(each, {})), ())


#: The mutations of each operation, by the draft.
ROWS: Mapping[str, Mapping[str, Sequence[Row]]] = {
    draft: {name: [*generic(revision, name), *_own(draft, name)] for name in revision.operations}
    for draft, revision in ((draft, find_revision(draft)) for draft in DRAFTS)
}
