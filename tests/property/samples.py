"""Fixed calls of every operation on a given operand, to be chained: what an optimizer may merge, move or leave out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.property.calls import Call
from tests.support import CURRENT, NEWEST, Array
from webnn.validation import unary

__all__ = ["MOVERS", "SAMPLES", "Sample", "numbers"]

#: Makes the arguments after the operand, the options, or both, from the operand.
Make = Callable[[Array], dict[str, Any]]


@dataclass(frozen=True)
class Sample:
    """A call of an operation, but for the operand.

    Attributes:
        title: The operation, with a word if it has several samples.
        arguments: Makes the other arguments.
        options: Makes the options.
        rank: The rank of the operand; 0 if any rank from 2 on will do.
        member: The argument that the operand is; the first one by default.
        constants: The other operands are constants.
    """

    title: str
    arguments: Make = lambda _: {}
    options: Make = lambda _: {}
    rank: int = 0
    member: str = ""
    constants: bool = True

    @property
    def name(self) -> str:
        """The operation."""
        return self.title.split()[0]

    def call(self, operand: Array) -> Call:
        """Make the call on an operand."""
        first = {} if self.member else {NEWEST.operations[self.name].operands[0]: operand}
        # The reference takes float64 for operands, too: what it would round to their type is rounded here.
        options = {
            name: float(operand.dtype.type(value)) if isinstance(value, float) and operand.dtype.kind == "f" else value
            for name, value in self.options(operand).items()
        }
        return Call(
            name=self.name, arguments=first | self.arguments(operand), options=options, constants=(self.constants,), revision=CURRENT
        )


def numbers(shape: Sequence[int], dtype: Any, seed: int = 0) -> Array:
    """Return small numbers without zero, halves among the floating-point ones."""
    rng = np.random.default_rng(seed)
    isFloat = np.dtype(dtype).kind == "f"
    values: Array = rng.integers(1, 9, shape) * rng.choice([-0.5, 0.5], shape) if isFloat else rng.integers(1, 4, shape)
    return values.astype(dtype)


def _like(x: Array, *shape: int, seed: int = 1) -> Array:
    return numbers(shape, x.dtype, seed)


def _number(value: float) -> Make:
    """Return another operand with one element."""
    return lambda x: {"b": np.full([1] * x.ndim, value).astype(x.dtype)}


def _number_first(value: float) -> Make:
    return lambda x: {"a": np.full([1] * x.ndim, value).astype(x.dtype), "b": x}


def _scaled(number: float, *, scale: str = "", zeroPoint: str = "") -> Make:
    """Return a scale and a zero point, of the operand's type unless another one is given."""

    def make(x: Array) -> dict[str, Any]:
        shape = [1] * x.ndim
        return {"scale": np.full(shape, number, scale or x.dtype), "zeroPoint": np.full(shape, 3, zeroPoint or x.dtype)}

    return make


def _fixed(**values: Any) -> Make:
    return lambda _: values


def _window(**values: Any) -> Make:
    return _fixed(windowDimensions=[2, 2], **values)


def _indices(*shape: int) -> Array:
    return np.random.default_rng(2).integers(0, 2, shape)


_UNARY = [
    *(row.name for row in unary.OPERATIONS),
    *("elu", "gelu", "hardSwish", "linear", "relu", "sigmoid", "softplus", "softsign", "tanh", "logicalNot", "isNaN", "isInfinite"),
]
_BINARY = [
    *("add", "sub", "mul", "div", "max", "min", "pow", "equal", "notEqual", "greater", "greaterOrEqual", "lesser", "lesserOrEqual"),
    *("logicalAnd", "logicalOr", "logicalXor"),
]
_REDUCTIONS = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Product", "Sum", "SumSquare"]

#: Operations that move elements and leave their bits alone.
MOVERS: list[Sample] = [
    Sample("identity"),
    Sample("reshape", lambda x: {"newShape": [*x.shape[:-2], x.shape[-1], x.shape[-2]]}),
    Sample("reshape flat", lambda x: {"newShape": [1, x.size]}),
    Sample("transpose", options=lambda x: {"permutation": [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]}),
    Sample("transpose all"),
    Sample("transpose nhwc", options=_fixed(permutation=[0, 2, 3, 1]), rank=4),
    Sample("transpose nchw", options=_fixed(permutation=[0, 3, 1, 2]), rank=4),
    Sample("expand", lambda x: {"newShape": [2, *x.shape]}),
    Sample("concat", lambda x: {"inputs": [x, x], "axis": x.ndim - 1}, member="inputs"),
    Sample("concat constant", lambda x: {"inputs": [x, _like(x, *x.shape)], "axis": x.ndim - 1}, member="inputs"),
    Sample("concat one", lambda x: {"inputs": [x], "axis": 0}, member="inputs"),
    Sample("split", lambda x: {"splits": [1, x.shape[-1] - 1]}, lambda x: {"axis": x.ndim - 1}),
    Sample("slice", lambda x: {"starts": [0] * x.ndim, "sizes": [*x.shape[:-1], x.shape[-1] - 1]}),
    Sample("slice strides", lambda x: {"starts": [0] * x.ndim, "sizes": list(x.shape)}, lambda x: {"strides": [*[1] * (x.ndim - 1), 2]}),
    Sample("gather", lambda x: {"indices": np.array([1, 0, 1])}, lambda x: {"axis": x.ndim - 1}),
    Sample("gather one", lambda x: {"indices": np.array([0])}, lambda x: {"axis": x.ndim - 1}),
    Sample("gather input", lambda x: {"indices": np.array([1, 0, 1])}, lambda x: {"axis": x.ndim - 1}, constants=False),
    Sample("gatherElements", lambda x: {"indices": _indices(*x.shape)}, lambda x: {"axis": x.ndim - 1}),
    Sample("gatherND", lambda x: {"indices": np.array([[0], [0]])}),
    Sample(
        "scatterElements",
        lambda x: {"indices": _indices(*x.shape[:-1], 1), "updates": _like(x, *x.shape[:-1], 1)},
        lambda x: {"axis": x.ndim - 1},
    ),
    Sample("scatterND", lambda x: {"indices": np.array([[0]]), "updates": _like(x, 1, *x.shape[1:])}),
    *[
        Sample(f"pad {mode}", lambda x: dict.fromkeys(("beginningPadding", "endingPadding"), [0] * (x.ndim - 1) + [1]), _fixed(mode=mode))
        for mode in ("constant", "edge", "reflection")
    ],
    Sample("triangular"),
    Sample("triangular lower", options=_fixed(upper=False, diagonal=1)),
    Sample(
        "where",
        lambda x: {"condition": _indices(*x.shape).astype(np.uint8), "trueValue": x, "falseValue": _like(x, *x.shape)},
        member="trueValue",
    ),
    Sample(
        "where other",
        lambda x: {"condition": _indices(*x.shape).astype(np.uint8), "trueValue": _like(x, 1), "falseValue": x},
        member="falseValue",
        constants=False,
    ),
    Sample("resample2d", options=_fixed(scales=[2.0, 2.0]), rank=4),
    Sample("resample2d sizes", options=_fixed(sizes=[3, 5]), rank=4),
    Sample("reverse"),
    Sample("reverse last", options=lambda x: {"axes": [x.ndim - 1]}),
    Sample("tile", lambda x: {"repetitions": [1] * (x.ndim - 1) + [2]}),
    Sample("tile first", lambda x: {"repetitions": [2] + [1] * (x.ndim - 1)}),
    Sample("maxPool2d", options=_window(), rank=4),
    Sample("max", lambda x: {"b": x}),
    Sample("clamp", options=_fixed()),
    Sample("cast same", lambda x: {"dataType": x.dtype.name}),
]


def _recurrent(gates: int, *states: str, steps: int = 0) -> Make:
    def make(x: Array) -> dict[str, Any]:
        directions = [1] if steps else []
        weights = {"weight": _like(x, *directions, gates * 2, x.shape[-1]) / 8, "recurrentWeight": _like(x, *directions, gates * 2, 2) / 8}
        others = {state: _like(x, x.shape[-2], 2) for state in states}
        numbers = {"steps": x.shape[0], "hiddenSize": 2} if steps else {"hiddenSize": 2}
        return {**{key: value.astype(x.dtype) for key, value in (weights | others).items()}, **numbers}

    return make


SAMPLES: list[Sample] = [
    *MOVERS,
    *[Sample(name) for name in _UNARY],
    Sample("hardSigmoid", options=_fixed(alpha=0.2, beta=0.5)),
    Sample("leakyRelu", options=_fixed(alpha=0.01)),
    Sample("linear scale", options=_fixed(alpha=2.0)),
    Sample("linear offset", options=_fixed(beta=-1.5)),
    Sample("linear zero", options=_fixed(alpha=0.0)),
    Sample("elu alpha", options=_fixed(alpha=0.5)),
    Sample("leakyRelu alpha", options=_fixed(alpha=2.0)),
    Sample("leakyRelu zero", options=_fixed(alpha=0.0)),
    Sample("hardSigmoid alpha", options=_fixed(alpha=1 / 6, beta=0.5)),
    Sample("clamp six", options=_fixed(minValue=0, maxValue=6)),
    Sample("clamp one", options=_fixed(minValue=-1, maxValue=1)),
    Sample("clamp from", options=_fixed(minValue=0)),
    *[Sample(name, lambda x: {"b": _like(x, *x.shape)}) for name in _BINARY],
    *[Sample(f"{name} input", lambda x: {"b": _like(x, x.shape[-1])}, constants=False) for name in _BINARY],
    *[Sample(f"{name} itself", lambda x: {"b": x}) for name in _BINARY],
    *[Sample(f"{name} {value}", _number(value)) for name in ("add", "sub", "mul", "div", "max", "min", "pow") for value in (0, 1, 2)],
    *[Sample(f"{name} -0.0", _number(-0.0)) for name in ("add", "sub", "max", "min")],
    *[Sample(f"{name} {n} first", _number_first(n), member="b") for name in ("add", "sub", "mul", "div", "pow") for n in (0, 1, 2)],
    Sample("mul root", _number(math.sqrt(0.5))),
    Sample("div root", _number(math.sqrt(2))),
    Sample("add channel", lambda x: {"b": _like(x, x.shape[1], 1, 1)}, rank=4),
    Sample("mul channel", lambda x: {"b": _like(x, x.shape[1], 1, 1)}, rank=4),
    Sample("add row", lambda x: {"b": _like(x, x.shape[-1])}),
    Sample("add second", lambda x: {"b": _like(x, *x.shape)}, constants=False),
    Sample("prelu", lambda x: {"slope": _like(x, x.shape[-1])}),
    Sample("prelu input", lambda x: {"slope": _like(x, x.shape[-1])}, constants=False),
    Sample("softmax", lambda x: {"axis": x.ndim - 1}),
    Sample("softmax first", _fixed(axis=0)),
    *[
        Sample(f"cast {dtype}", _fixed(dataType=dtype))
        for dtype in ("float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8")
    ],
    *[Sample(f"reduce{name}", options=lambda x: {"axes": [x.ndim - 1], "keepDimensions": True}) for name in _REDUCTIONS],
    *[Sample(f"reduce{name} flat", options=lambda x: {"axes": [0, x.ndim - 1], "keepDimensions": False}) for name in _REDUCTIONS],
    *[Sample(f"reduce{name} none", options=_fixed(axes=[])) for name in _REDUCTIONS],
    *[Sample(name, lambda x: {"axis": x.ndim - 1}, _fixed(keepDimensions=True)) for name in ("argMin", "argMax")],
    Sample("cumulativeSum", lambda x: {"axis": x.ndim - 1}),
    *[Sample(name, options=_window(), rank=4) for name in ("averagePool2d", "l2Pool2d")],
    *[Sample(f"{name} padded", options=_window(padding=[1, 1, 1, 1]), rank=4) for name in ("averagePool2d", "l2Pool2d", "maxPool2d")],
    *[Sample(f"{name} global", rank=4) for name in ("averagePool2d", "l2Pool2d", "maxPool2d")],
    Sample("conv2d", lambda x: {"filter": _like(x, 3, x.shape[1], 2, 2)}, lambda x: {"bias": _like(x, 3)}, rank=4),
    Sample("conv2d depthwise", lambda x: {"filter": _like(x, x.shape[1], 1, 2, 2)}, lambda x: {"groups": x.shape[1]}, rank=4),
    Sample("conv2d nhwc", lambda x: {"filter": _like(x, 3, 1, 1, x.shape[3])}, _fixed(inputLayout="nhwc", filterLayout="ohwi"), rank=4),
    Sample("conv2d filter", lambda x: {"filter": _like(x, 3, x.shape[1], 2, 2)}, rank=4, constants=False),
    Sample("convTranspose2d", lambda x: {"filter": _like(x, x.shape[1], 3, 2, 2)}, lambda x: {"bias": _like(x, 3)}, rank=4),
    Sample("matmul", lambda x: {"b": _like(x, x.shape[-1], 3)}),
    Sample("matmul input", lambda x: {"b": _like(x, *x.shape[:-2], x.shape[-1], 3)}, constants=False),
    Sample("matmul second", lambda x: {"a": _like(x, 3, x.shape[-2]), "b": x}, member="b"),
    Sample("gemm", lambda x: {"b": _like(x, x.shape[1], 3)}, rank=2),
    Sample("gemm c", lambda x: {"b": _like(x, x.shape[1], 3)}, lambda x: {"c": _like(x, 3), "alpha": 0.5, "beta": 2.0}, rank=2),
    Sample("gemm transposed", lambda x: {"b": _like(x, 3, x.shape[0])}, _fixed(aTranspose=True, bTranspose=True), rank=2),
    Sample(
        "batchNormalization",
        lambda x: {"mean": _like(x, x.shape[1]), "variance": np.abs(_like(x, x.shape[1]))},
        lambda x: {"scale": _like(x, x.shape[1], seed=2), "bias": _like(x, x.shape[1], seed=3), "epsilon": 1e-3},
        rank=4,
    ),
    Sample(
        "batchNormalization plain", lambda x: {"mean": _like(x, x.shape[1]), "variance": np.abs(_like(x, x.shape[1]))}, _fixed(epsilon=0.25)
    ),
    Sample(
        "instanceNormalization", options=lambda x: {"scale": _like(x, x.shape[1]), "bias": _like(x, x.shape[1]), "epsilon": 1e-3}, rank=4
    ),
    Sample("instanceNormalization nhwc", options=_fixed(layout="nhwc", epsilon=1e-3), rank=4),
    Sample(
        "layerNormalization",
        options=lambda x: {"axes": [x.ndim - 1], "scale": _like(x, x.shape[-1]), "bias": _like(x, x.shape[-1]), "epsilon": 1e-3},
    ),
    Sample("layerNormalization first", options=_fixed(axes=[0, 1], epsilon=0.5)),
    Sample("resample2d linear", options=_fixed(mode="linear", scales=[2.0, 2.0]), rank=4),
    Sample("gru", _recurrent(3, steps=1), rank=3),
    Sample("gruCell", _recurrent(3, "hiddenState"), rank=2),
    Sample("lstm", _recurrent(4, steps=1), rank=3),
    Sample("lstmCell", _recurrent(4, "hiddenState", "cellState"), rank=2),
    *[Sample(f"quantizeLinear {dtype}", _scaled(0.5, zeroPoint=dtype)) for dtype in ("int8", "uint8", "int32", "uint32")],
    *[Sample(f"dequantizeLinear {dtype}", _scaled(0.375, scale=dtype)) for dtype in ("float32", "float16")],
    Sample(
        "where condition",
        lambda x: {"condition": x, "trueValue": _like(x, *x.shape).astype("f"), "falseValue": np.zeros(1, "f")},
        member="condition",
    ),
]
