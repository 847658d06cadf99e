"""Recipes for the nodes of random ONNX graphs: reductions, products, windows, normalization, quantization, recurrence, bodies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.property.onnx_graphs import FLOATS, Drawing, Recipe, Unsuitable, Value

__all__ = ["LAYERS"]

SINGLE = ("float32", "float16")
PLAIN = ("float32",)


# Reductions.


def _reduce(operator: str, since: int = 18, low: float = -1000, *, exact: bool = False) -> Recipe:
    """Reduce along axes, which are an attribute before an opset."""

    def recipe(d: Drawing) -> None:
        types = (*SINGLE, "int32", "int64") if operator in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd") else SINGLE
        x = d.pick(types, low=low, high=4 if operator in ("ReduceProd", "ReduceLogSumExp") else 1000, rank=(0, 4))
        keepdims = d.choice([None, 0, 1])
        axes = d.axes(x.rank) if x.rank and d.chance(0.8) else None
        exact_here = exact or x.array.dtype.kind in "iu"
        if d.version < since:
            axes = axes if axes is None or d.version >= 11 else [axis % x.rank for axis in axes]
            d.emit(operator, [x], exact=exact_here, axes=axes, keepdims=keepdims)
            return
        noop = d.choice([None, 0, 1])
        if noop and axes is None and operator != "ReduceSum":
            noop = None
        d.emit(operator, [x, *([] if axes is None else [d.known(axes)])], exact=exact_here, keepdims=keepdims, noop_with_empty_axes=noop)

    return recipe


def _position(operator: str) -> Recipe:
    def recipe(d: Drawing) -> None:
        x = d.pick((*SINGLE, "int32", "int8", "uint8"), exact=True, rank=(1, 4))
        axis = d.integer(-x.rank if d.version >= 11 else 0, x.rank - 1)
        last = d.choice([None, 0, 1]) if d.version >= 12 else None
        d.emit(operator, [x], exact=True, axis=axis, keepdims=d.choice([None, 0, 1]), select_last_index=last)

    return recipe


def _running(operator: str) -> Recipe:
    def recipe(d: Drawing) -> None:
        x = d.pick(("float32", "float64", "int32", "int64") if operator == "CumSum" else ("float32",), rank=(1, 4), low=-4, high=4)
        flags = {"exclusive": d.choice([None, 0, 1]), "reverse": d.choice([None, 0, 1])}
        d.emit(operator, [x, d.known(d.axis(x.rank))], exact=x.array.dtype.kind in "iu", **flags)

    return recipe


def _along(operator: str, *, exact: bool = False) -> Recipe:
    """Softmax and its relatives: before opset 13 they flatten what is behind the axis."""

    def recipe(d: Drawing) -> None:
        x = d.pick(SINGLE, rank=(1, 4), exact=exact)
        axis = d.integer(-x.rank if d.version >= 11 else 0, x.rank - 1) if d.chance(0.7) else None
        if axis is None and x.rank < 2:
            raise Unsuitable
        d.emit(operator, [x], exact=exact, axis=axis)

    return recipe


# Products.


def _matmul(d: Drawing) -> None:
    inner = d.integer(1, 6)
    batch = d.shape(0, 2, 3)
    a = d.pick(SINGLE, shape=[*d.broadcastable(batch), *([d.integer(1, 5)] if d.chance(0.8) or batch else []), inner])
    if d.chance(0.8):
        batch = d.broadcastable(batch)
        b = d.pick([a.dtype], shape=[*batch, inner, d.integer(1, 5)])
    else:
        b = d.pick([a.dtype], shape=[inner])
    d.emit("MatMul", [a, b])


def _gemm(d: Drawing) -> None:
    rows, inner, columns = (d.integer(1, 6) for _ in range(3))
    left, right = d.choice([None, 0, 1]), d.choice([None, 0, 1])
    a = d.pick(FLOATS, shape=[inner, rows] if left else [rows, inner])
    b = d.pick([a.dtype], shape=[columns, inner] if right else [inner, columns])
    c = [d.pick([a.dtype], shape=d.broadcastable([rows, columns]))] if d.version < 11 or d.chance(0.7) else []
    numbers = {"alpha": d.choice([None, 0.5, -2.0]), "beta": d.choice([None, 0.25, 0.0])}
    d.emit("Gemm", [a, b, *c], transA=left, transB=right, **numbers)


_EQUATIONS = [
    *("ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->", "ii->i", "i,j->ij", "...ij,...jk->...ik", "bhqd,bhkd->bhqk", "ij,ij->i"),
    *("ab,cd->abcd", "ij, jk", "i,i->", "abc->cb", "ij,kj,kl->il", "...i->...", "b...j,jk->b...k"),
]


def _einsum(d: Drawing) -> None:
    equation = d.choice(_EQUATIONS)
    sizes = {letter: d.integer(1, 4) for letter in "abcdefghijklmnopqrstuvwxyz"}
    batch = d.shape(0, 2, 3)
    shapes = []
    for term in equation.split("->")[0].replace(" ", "").split(","):
        before, dots, behind = term.partition("...")
        shapes.append([*[sizes[each] for each in before], *(batch if dots else []), *[sizes[each] for each in behind]])
    d.emit("Einsum", [d.pick(PLAIN, shape=shape) for shape in shapes], equation=equation)


def _matmul_integer(d: Drawing) -> None:
    rows, inner, columns = (d.integer(1, 5) for _ in range(3))
    a = d.leaf("uint8", [*d.shape(0, 1), rows, inner])
    b = d.leaf(d.choice(["int8", "uint8"]), [inner, columns])
    zeros = [d.leaf("uint8", []), d.leaf(b.dtype, [columns] if d.chance() else [])][: d.integer(0, 2)]
    d.emit("MatMulInteger", [a, b, *zeros], exact=True)


# Windows.


def _window(d: Drawing, count: int, kernel: Sequence[int], *, ceil: bool = False) -> dict[str, Any]:
    """Draw the attributes that place a window."""
    attributes: dict[str, Any] = {"strides": [d.integer(1, 3) for _ in range(count)] if d.chance(0.6) else None}
    if d.chance(0.25):
        # With strides that are longer than the window, the padding of SAME is negative. Frameworks take 0 then, ONNX Runtime cuts.
        short = all(stride <= size for stride, size in zip(attributes["strides"] or [1] * count, kernel, strict=True))
        return {**attributes, "auto_pad": d.choice(["SAME_UPPER", "SAME_LOWER", "VALID"] if short else ["VALID"])}
    if d.chance(0.7):
        attributes["pads"] = [d.integer(0, max(size - 1, 0)) for size in (*kernel, *kernel)]
    if ceil and d.version >= 10:
        attributes["ceil_mode"] = d.choice([None, 0, 1])
    return attributes


def _conv(d: Drawing) -> None:
    count = d.choice([1, 2, 2, 2, 3])
    group = d.choice([1, 1, 2, 3])
    inputs, outputs = d.integer(1, 2), d.integer(1, 2) * group
    kernel = [d.integer(1, 3) for _ in range(count)]
    x = d.pick(PLAIN, shape=[d.integer(1, 2), inputs * group, *(d.integer(5, 7) for _ in range(count))])
    weights = [d.leaf("float32", [outputs, inputs, *kernel]), *([d.leaf("float32", [outputs])] if d.chance() else [])]
    attributes = _window(d, count, kernel)
    dilations = [d.integer(1, 2) for _ in range(count)] if d.chance(0.4) and "auto_pad" not in attributes else None
    shape = kernel if d.chance() else None
    d.emit("Conv", [x, *weights], group=group if group > 1 else None, dilations=dilations, kernel_shape=shape, **attributes)


def _conv_transpose(d: Drawing) -> None:
    count = d.choice([1, 2, 2])
    group = d.choice([1, 1, 2])
    kernel = [d.integer(1, 3) for _ in range(count)]
    x = d.pick(PLAIN, shape=[d.integer(1, 2), 2 * group, *(d.integer(2, 5) for _ in range(count))])
    outputs = d.integer(1, 2)
    weights = [d.leaf("float32", [2 * group, outputs, *kernel]), *([d.leaf("float32", [outputs * group])] if d.chance() else [])]
    strides = [d.integer(1, 3) for _ in range(count)]
    padding = [d.integer(0, stride - 1) for stride in strides] if d.chance() else None
    pads = [d.integer(0, (size - 1) // 2) for size in kernel] * 2 if d.chance() else None
    d.emit("ConvTranspose", [x, *weights], group=group, strides=strides, output_padding=padding, pads=pads, kernel_shape=kernel)


def _conv_integer(d: Drawing) -> None:
    kernel = [d.integer(1, 3), d.integer(1, 3)]
    x = d.leaf("uint8", [1, 2, d.integer(3, 6), d.integer(3, 6)])
    w = d.leaf(d.choice(["uint8", "int8"]), [d.integer(1, 3), 2, *kernel])
    zeros = [d.leaf("uint8", []), d.leaf(w.dtype, [])][: d.integer(0, 2)]
    d.emit("ConvInteger", [x, w, *zeros], exact=True, **_window(d, 2, kernel))


def _pool(operator: str) -> Recipe:
    def recipe(d: Drawing) -> None:
        count = d.choice([1, 2, 2, 2, 3])
        kernel = [d.integer(1, 3) for _ in range(count)]
        highest = operator == "MaxPool"
        types = (*PLAIN, "int8", "uint8") if highest else PLAIN
        x = d.pick(types, shape=[d.integer(1, 2), d.integer(1, 3), *(d.integer(5, 8) for _ in range(count))])
        attributes = _window(d, count, kernel, ceil=operator != "LpPool" or d.version >= 18)
        if operator == "AveragePool":
            attributes["count_include_pad"] = d.choice([None, 0, 1])
        if operator == "LpPool":
            attributes["p"] = d.choice([None, 1, 2, 3])
        outputs = 1
        if highest and d.version >= 8 and d.chance(0.3) and x.dtype == "float32" and not x.tolerance:
            outputs = 2
            attributes["storage_order"] = d.choice([None, 0, 1]) if count == 2 else None
        d.emit(operator, [x], outputs=outputs, exact=highest, kernel_shape=kernel, **attributes)

    return recipe


def _global(operator: str) -> Recipe:
    def recipe(d: Drawing) -> None:
        x = d.pick(PLAIN, rank=(3, 5))
        d.emit(operator, [x], exact=operator == "GlobalMaxPool", **({"p": d.choice([None, 1, 2, 3])} if operator == "GlobalLpPool" else {}))

    return recipe


def _col2im(d: Drawing) -> None:
    image, block = [d.integer(3, 6), d.integer(3, 6)], [d.integer(1, 3), d.integer(1, 3)]
    places = math.prod(size - width + 1 for size, width in zip(image, block, strict=True))
    x = d.pick(PLAIN, shape=[d.integer(1, 2), d.integer(1, 2) * math.prod(block), places])
    d.emit("Col2Im", [x, d.known(image), d.known(block)])


# Normalization.


def _batch_normalization(d: Drawing) -> None:
    x = d.pick(PLAIN, rank=(2, 5))
    scale, bias, mean = (d.leaf("float32", [x.shape[1]]) for _ in range(3))
    variance = d.leaf("float32", [x.shape[1]], 0.3, 3)
    spatial = d.choice([None, 1]) if d.version < 9 else None
    d.emit("BatchNormalization", [x, scale, bias, mean, variance], epsilon=d.choice([None, 0.01]), spatial=spatial)


def _scaled(operator: str) -> Recipe:
    """Normalize by what is computed, then scale."""

    def recipe(d: Drawing) -> None:
        epsilon = d.choice([0.1, 0.5])
        # One element is its own mean; kernels leave as much of it as they round.
        if operator in ("InstanceNormalization", "GroupNormalization"):
            x = d.pick(PLAIN, rank=(3, 5))
            channels = x.shape[1]
            if math.prod(x.shape[2:]) == 1:
                raise Unsuitable
            if operator == "GroupNormalization" and d.version < 21:
                # The import refuses it: it is deprecated in these opsets.
                raise Unsuitable
            groups = d.choice([each for each in range(1, channels + 1) if channels % each == 0])
            more = {} if operator == "InstanceNormalization" else {"num_groups": groups}
            d.emit(operator, [x, d.leaf("float32", [channels]), d.leaf("float32", [channels])], epsilon=epsilon, **more)
            return
        x = d.pick(SINGLE if operator == "RMSNormalization" else PLAIN, rank=(1, 4))
        axis = d.axis(x.rank)
        shape = x.shape[axis % x.rank :]
        if math.prod(shape) == 1:
            raise Unsuitable
        bias = [d.leaf(x.dtype, shape)] if operator == "LayerNormalization" and d.chance() else []
        d.emit(operator, [x, d.leaf(x.dtype, shape), *bias], axis=axis, epsilon=epsilon)

    return recipe


def _lrn(d: Drawing) -> None:
    x = d.pick(PLAIN, rank=(4, 4))
    d.emit("LRN", [x], size=d.choice([1, 3, 5]), alpha=d.choice([None, 0.5]), beta=d.choice([None, 0.5]), bias=d.choice([None, 2.0]))


def _lp_normalization(d: Drawing) -> None:
    x = d.pick(PLAIN, rank=(1, 4), low=0.2)
    d.emit("LpNormalization", [x], axis=d.axis(x.rank), p=d.choice([None, 1, 2]))


def _mvn(d: Drawing) -> None:
    x = d.pick(PLAIN, shape=[2, d.integer(1, 3), 3, d.integer(2, 4)])
    d.emit("MeanVarianceNormalization", [x], axes=d.choice([None, [0, 2, 3], [1, 2, 3]]))


# Quantization.


def _quantize(d: Drawing) -> None:
    x = d.pick(PLAIN, rank=(1, 4), exact=True)
    target = d.choice(["uint8", "int8"])
    if d.version >= 13 and d.chance():
        axis = d.integer(0, x.rank - 1)
        scale, zero, given = d.new(np.float32(2.0) ** d.random.integers(-3, 1, x.shape[axis])), d.leaf(target, [x.shape[axis]]), axis
    else:
        scale, zero, given = d.new(np.float32(d.choice([0.25, 0.5, 1.0]))), d.leaf(target, []), None
    d.emit("QuantizeLinear", [x, scale, *([zero] if target == "int8" or d.chance(0.7) else [])], exact=True, axis=given)


def _dequantize(d: Drawing) -> None:
    x = d.pick(["uint8", "int8", "int32"], rank=(1, 4))
    axis = d.integer(0, x.rank - 1) if d.version >= 13 and d.chance() else None
    shape = [] if axis is None else [x.shape[axis]]
    scale = d.leaf("float32", shape, 0.01, 2)
    d.emit("DequantizeLinear", [x, scale, *([d.leaf(x.dtype, shape)] if x.dtype != "int32" and d.chance() else [])], axis=axis)


# Recurrence.


def _recurrent(operator: str, gates: int) -> Recipe:
    def recipe(d: Drawing) -> None:
        steps, batch, size, hidden = d.integer(1, 4), d.integer(1, 2), d.integer(1, 3), d.integer(1, 3)
        direction = d.choice([None, "forward", "reverse", "bidirectional"])
        count = 2 if direction == "bidirectional" else 1
        x = d.pick(PLAIN, shape=[steps, batch, size])
        weights: list[Value | None] = [
            d.leaf("float32", [count, gates * hidden, size], -1, 1),
            d.leaf("float32", [count, gates * hidden, hidden], -1, 1),
        ]
        states = 2 if operator == "LSTM" else 1
        if d.chance(0.6):
            weights.append(d.leaf("float32", [count, 2 * gates * hidden], -1, 1))
            if d.chance():
                weights.append(d.new(d.random.integers(1, steps, batch, endpoint=True).astype(np.int32)) if d.chance() else None)
                weights.extend(d.leaf("float32", [count, batch, hidden]) for _ in range(states))
        more = {"linear_before_reset": d.choice([None, 0, 1])} if operator == "GRU" else {}
        clip = 0.5 if d.chance(0.05) else None
        d.emit(operator, [x, *weights], outputs=1 + states, hidden_size=hidden, direction=direction, clip=clip, **more)

    return recipe


# Bodies.


def _if(d: Drawing) -> None:
    x = d.pick(PLAIN)
    outer = helper.make_tensor_value_info("r", TensorProto.FLOAT, list(x.shape))
    bodies = [helper.make_graph([helper.make_node(operator, [x.name], ["r"])], "b", [], [outer]) for operator in ("Neg", "Sigmoid")]
    condition = d.known(d.chance(), "bool") if d.chance() else d.leaf("bool", [])
    d.emit("If", [condition], outer=[x], then_branch=bodies[0], else_branch=bodies[1])


def _loop(d: Drawing) -> None:
    x = d.pick(PLAIN, rank=(0, 3), low=-4, high=4)
    info = helper.make_tensor_value_info
    shape = list(x.shape)
    nodes = [
        helper.make_node("Mul", ["a", "h"], ["m"]),
        helper.make_node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["m", "f"], ["n"]),
        helper.make_node("Identity", ["c"], ["k"]),
        helper.make_node("Sin", ["m"], ["s"]),
    ]
    inputs = [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("a", TensorProto.FLOAT, shape)]
    outputs = [info("k", TensorProto.BOOL, []), info("n", TensorProto.FLOAT, shape), info("s", TensorProto.FLOAT, shape)]
    half = helper.make_tensor("h", TensorProto.FLOAT, [], [0.5])
    body = helper.make_graph(nodes, "b", inputs, outputs, [half])
    d.emit("Loop", [d.known(d.integer(1, 4)), d.known(True, "bool") if d.chance() else None, x], outputs=2, body=body)


def _scan(d: Drawing) -> None:
    if d.version < 9:
        raise Unsuitable
    x = d.pick(PLAIN, rank=(2, 3), low=-4, high=4)
    axis = d.integer(0, x.rank - 1)
    shape = [size for index, size in enumerate(x.shape) if index != axis]
    info = helper.make_tensor_value_info
    names = [info(name, TensorProto.FLOAT, shape) for name in ("s", "x", "n", "y")]
    nodes = [helper.make_node("Add", ["s", "x"], ["n"]), helper.make_node("Tanh", ["n"], ["y"])]
    body = helper.make_graph(nodes, "b", names[:2], names[2:])
    backward = {name: [1] if d.chance(0.3) else None for name in ("scan_input_directions", "scan_output_directions")}
    axes = {"scan_input_axes": [axis], "scan_output_axes": [d.integer(0, len(shape))]}
    d.emit("Scan", [d.leaf("float32", shape), x], outputs=2, body=body, num_scan_inputs=1, **axes, **backward)


LAYERS: Mapping[str, Recipe] = {
    "ArgMax": _position("ArgMax"),
    "ArgMin": _position("ArgMin"),
    "AveragePool": _pool("AveragePool"),
    "BatchNormalization": _batch_normalization,
    "Col2Im": _col2im,
    "Conv": _conv,
    "ConvInteger": _conv_integer,
    "ConvTranspose": _conv_transpose,
    "CumProd": _running("CumProd"),
    "CumSum": _running("CumSum"),
    "DequantizeLinear": _dequantize,
    "Einsum": _einsum,
    "GRU": _recurrent("GRU", 3),
    "Gemm": _gemm,
    "GlobalAveragePool": _global("GlobalAveragePool"),
    "GlobalLpPool": _global("GlobalLpPool"),
    "GlobalMaxPool": _global("GlobalMaxPool"),
    "GroupNormalization": _scaled("GroupNormalization"),
    "Hardmax": _along("Hardmax", exact=True),
    "If": _if,
    "InstanceNormalization": _scaled("InstanceNormalization"),
    "LRN": _lrn,
    "LSTM": _recurrent("LSTM", 4),
    "LayerNormalization": _scaled("LayerNormalization"),
    "LogSoftmax": _along("LogSoftmax"),
    "Loop": _loop,
    "LpNormalization": _lp_normalization,
    "LpPool": _pool("LpPool"),
    "MatMul": _matmul,
    "MatMulInteger": _matmul_integer,
    "MaxPool": _pool("MaxPool"),
    "MeanVarianceNormalization": _mvn,
    "QuantizeLinear": _quantize,
    "RMSNormalization": _scaled("RMSNormalization"),
    "RNN": _recurrent("RNN", 1),
    "ReduceL1": _reduce("ReduceL1"),
    "ReduceL2": _reduce("ReduceL2"),
    "ReduceLogSum": _reduce("ReduceLogSum", low=0.2),
    "ReduceLogSumExp": _reduce("ReduceLogSumExp"),
    "ReduceMax": _reduce("ReduceMax", exact=True),
    "ReduceMean": _reduce("ReduceMean"),
    "ReduceMin": _reduce("ReduceMin", exact=True),
    "ReduceProd": _reduce("ReduceProd"),
    "ReduceSum": _reduce("ReduceSum", 13),
    "ReduceSumSquare": _reduce("ReduceSumSquare"),
    "Scan": _scan,
    "Softmax": _along("Softmax"),
}
