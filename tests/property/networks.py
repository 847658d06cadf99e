"""Valid calls of matrix products, normalizations and recurrent networks."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.property.calls import Call
from tests.property.draws import TAME, Draw, arrays, axis_lists, broadcastable, floats, optional, shapes, types
from tests.property.elementwise import OPTIONS
from tests.support import Act
from webnn.validation.descriptor import MAX_RANK

__all__ = ["MATMUL", "NORMALIZATION", "RECURRENT"]

_LAYOUTS = st.sampled_from(["nchw", "nhwc"])
_EPSILONS = st.sampled_from([1e-5, 1e-3, 0.25, 1])


@st.composite
def _matmul(draw: Draw) -> Call:
    dtype = draw(types("matmul", "a"))
    batches = draw(shapes(0, MAX_RANK - 2, most=8))
    rows, inner, columns = (draw(st.integers(1, draw(st.sampled_from([3, 20])))) for _ in range(3))
    a = draw(arrays(dtype, [*draw(broadcastable(batches)), rows, inner], TAME))
    if rows == inner == columns and draw(st.booleans()):
        return Call(name="matmul", arguments={"a": a, "b": a})
    b = draw(arrays(dtype, [*draw(broadcastable(batches)), inner, columns], TAME))
    return Call(name="matmul", arguments={"a": a, "b": b})


@st.composite
def _gemm(draw: Draw) -> Call:
    dtype = draw(types("gemm", "a"))
    rows, inner, columns = (draw(st.integers(1, draw(st.sampled_from([3, 20])))) for _ in range(3))
    options = draw(optional(alpha=floats(-2, 2), beta=floats(-2, 2), aTranspose=st.booleans(), bTranspose=st.booleans()))
    if draw(st.booleans()):
        options["c"] = draw(arrays(dtype, draw(broadcastable([rows, columns])), TAME))
    a = [inner, rows] if options.get("aTranspose") else [rows, inner]
    b = [columns, inner] if options.get("bTranspose") else [inner, columns]
    return Call(name="gemm", arguments={"a": draw(arrays(dtype, a, TAME)), "b": draw(arrays(dtype, b, TAME))}, options=options)


@st.composite
def _batchNormalization(draw: Draw) -> Call:
    dtype, shape = draw(types("batchNormalization")), draw(shapes(1))
    axis = draw(st.integers(0, len(shape) - 1))
    if len(shape) > 1 and draw(st.booleans()):
        axis = 1
    feature = arrays(dtype, [shape[axis]], TAME)
    options = draw(optional(scale=feature, bias=feature, epsilon=_EPSILONS))
    if axis != 1 or draw(st.booleans()):
        options["axis"] = axis
    arguments = {
        "input": draw(arrays(dtype, shape, TAME)),
        "mean": draw(feature),
        "variance": draw(arrays(dtype, [shape[axis]], ("positive",))),
    }
    return Call(name="batchNormalization", arguments=arguments, options=options)


@st.composite
def _instanceNormalization(draw: Draw) -> Call:
    dtype = draw(types("instanceNormalization"))
    shape = [draw(st.integers(1, most)) for most in (2, 4, 4, 4)]
    options: dict[str, Any] = draw(optional(layout=_LAYOUTS, epsilon=_EPSILONS))
    feature = arrays(dtype, [shape[options.get("layout", "nchw").index("c")]], TAME)
    options |= draw(optional(scale=feature, bias=feature))
    return Call(name="instanceNormalization", arguments={"input": draw(arrays(dtype, shape, TAME))}, options=options)


@st.composite
def _layerNormalization(draw: Draw) -> Call:
    dtype, shape = draw(types("layerNormalization")), draw(shapes())
    options: dict[str, Any] = draw(optional(axes=axis_lists(len(shape)), epsilon=_EPSILONS))
    parameter = arrays(dtype, [shape[axis] for axis in options.get("axes", range(1, len(shape)))], TAME)
    options |= draw(optional(scale=parameter, bias=parameter))
    return Call(name="layerNormalization", arguments={"input": draw(arrays(dtype, shape, TAME))}, options=options)


@st.composite
def _activation(draw: Draw) -> Act:
    name = draw(
        st.sampled_from(
            [
                "tanh",
                "sigmoid",
                "relu",
                "elu",
                "gelu",
                "hardSigmoid",
                "hardSwish",
                "leakyRelu",
                "linear",
                "softplus",
                "softsign",
            ]
        )
    )
    return Act(name, draw(optional(**OPTIONS.get(name, {}))) or None)


@st.composite
def _recurrent(draw: Draw, name: str) -> Call:
    isGru, isCell = name.startswith("gru"), name.endswith("Cell")
    gates, dtype = 3 if isGru else 4, draw(types(name))
    steps, batch, features, hidden = (draw(st.integers(1, most)) for most in (4, 3, 3, 5))
    layouts = st.sampled_from(["zrn", "rzn"] if isGru else ["iofg", "ifgo"])
    count = 2 if isGru else 3
    options: dict[str, Any] = draw(optional(layout=layouts, activations=st.lists(_activation(), min_size=count, max_size=count)))
    if isGru:
        options |= draw(optional(resetAfter=st.booleans()))
    directions: list[int] = []
    if not isCell:
        options |= draw(optional(returnSequence=st.booleans(), direction=st.sampled_from(["forward", "backward", "both"])))
        directions = [2 if options.get("direction") == "both" else 1]

    def operand(*shape: int) -> Any:
        return arrays(dtype, [*directions, *shape], ("unit",))

    optionals = {"bias": operand(gates * hidden), "recurrentBias": operand(gates * hidden)}
    if not isGru:
        optionals["peepholeWeight"] = operand(3 * hidden)
    if not isCell:
        optionals["initialHiddenState"] = operand(batch, hidden)
        if not isGru:
            optionals["initialCellState"] = operand(batch, hidden)
    options |= draw(optional(**optionals))
    arguments: dict[str, Any] = {
        "input": draw(arrays(dtype, [batch, features] if isCell else [steps, batch, features], ("unit",))),
        "weight": draw(operand(gates * hidden, features)),
        "recurrentWeight": draw(operand(gates * hidden, hidden)),
    }
    if isCell:
        arguments["hiddenState"] = draw(operand(batch, hidden))
        if not isGru:
            arguments["cellState"] = draw(operand(batch, hidden))
    else:
        arguments["steps"] = steps
    arguments["hiddenSize"] = hidden
    return Call(name=name, arguments=arguments, options=options)


MATMUL = {"matmul": _matmul(), "gemm": _gemm()}
NORMALIZATION = {
    "batchNormalization": _batchNormalization(),
    "instanceNormalization": _instanceNormalization(),
    "layerNormalization": _layerNormalization(),
}
RECURRENT = {name: _recurrent(name) for name in ("gru", "gruCell", "lstm", "lstmCell")}
