"""The test oracle: every operation of the draft in slow, obvious NumPy, written from the specification.

`docs/numerics.md` fixes what the specification leaves open. Call the functions through `REFERENCE`:

- positional arguments are the specification's, in its order and under its names, with an array for an
  `MLOperand` (a list of them for a sequence) and a string for a data type;
- options are keyword arguments under the IDL's names, with its defaults (None for a member without one);
- activations are pairs, `("elu", {"alpha": 0.5})`;
- the result is an array, or a list of arrays where the method returns a sequence, of the descriptor's type
  and shape.

Floating-point operations compute in float64 and round once, at the end. Arguments are taken as valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from . import (
    activation,
    binary,
    changed,
    conv,
    gather_scatter,
    logical,
    matmul,
    movement,
    normalization,
    pooling,
    quantization,
    recurrent,
    reduction,
    resample,
    tiling,
    unary,
)
from ._numbers import Array

__all__ = ["REFERENCE", "REFERENCE_NEWEST"]

Operation = Callable[..., Array | list[Array]]

_OPERATIONS: dict[str, Operation] = {
    "abs": unary.abs_,
    "ceil": unary.ceil,
    "cos": unary.cos,
    "erf": unary.erf,
    "exp": unary.exp,
    "floor": unary.floor,
    "identity": unary.identity,
    "log": unary.log,
    "neg": unary.neg,
    "reciprocal": unary.reciprocal,
    "sin": unary.sin,
    "sqrt": unary.sqrt,
    "tan": unary.tan,
    "add": binary.add,
    "sub": binary.sub,
    "mul": binary.mul,
    "div": binary.div,
    "max": binary.max_,
    "min": binary.min_,
    "pow": binary.pow_,
    "equal": logical.equal,
    "greater": logical.greater,
    "greaterOrEqual": logical.greaterOrEqual,
    "lesser": logical.lesser,
    "lesserOrEqual": logical.lesserOrEqual,
    "logicalNot": logical.logicalNot,
    "clamp": activation.clamp,
    "elu": activation.elu,
    "gelu": activation.gelu,
    "hardSigmoid": activation.hardSigmoid,
    "hardSwish": activation.hardSwish,
    "leakyRelu": activation.leakyRelu,
    "linear": activation.linear,
    "prelu": activation.prelu,
    "relu": activation.relu,
    "sigmoid": activation.sigmoid,
    "softmax": activation.softmax,
    "softplus": activation.softplus,
    "softsign": activation.softsign,
    "tanh": activation.tanh,
    "argMin": reduction.argMin,
    "argMax": reduction.argMax,
    "reduceL1": reduction.reduceL1,
    "reduceL2": reduction.reduceL2,
    "reduceLogSum": reduction.reduceLogSum,
    "reduceLogSumExp": reduction.reduceLogSumExp,
    "reduceMax": reduction.reduceMax,
    "reduceMean": reduction.reduceMean,
    "reduceMin": reduction.reduceMin,
    "reduceProduct": reduction.reduceProduct,
    "reduceSum": reduction.reduceSum,
    "reduceSumSquare": reduction.reduceSumSquare,
    "averagePool2d": pooling.averagePool2d,
    "l2Pool2d": pooling.l2Pool2d,
    "maxPool2d": pooling.maxPool2d,
    "conv2d": conv.conv2d,
    "convTranspose2d": conv.convTranspose2d,
    "batchNormalization": normalization.batchNormalization,
    "instanceNormalization": normalization.instanceNormalization,
    "layerNormalization": normalization.layerNormalization,
    "matmul": matmul.matmul,
    "gemm": matmul.gemm,
    "gru": recurrent.gru,
    "gruCell": recurrent.gruCell,
    "lstm": recurrent.lstm,
    "lstmCell": recurrent.lstmCell,
    "gather": gather_scatter.gather,
    "cast": movement.cast,
    "concat": movement.concat,
    "expand": movement.expand,
    "pad": movement.pad,
    "reshape": movement.reshape,
    "resample2d": resample.resample2d,
    "slice": movement.slice_,
    "split": movement.split,
    "transpose": movement.transpose,
    "triangular": movement.triangular,
    "where": movement.where,
}

#: What the current draft has beside them, or defines in another way.
_OPERATIONS_SINCE_2026_06: dict[str, Operation] = {
    "clamp": changed.clamp,
    "elu": changed.elu,
    "hardSigmoid": changed.hardSigmoid,
    "leakyRelu": changed.leakyRelu,
    "linear": changed.linear,
    "gemm": changed.gemm,
    "batchNormalization": changed.batchNormalization,
    "instanceNormalization": changed.instanceNormalization,
    "layerNormalization": changed.layerNormalization,
    "argMin": changed.argMin,
    "argMax": changed.argMax,
    "gru": changed.gru,
    "gruCell": changed.gruCell,
    "lstm": changed.lstm,
    "lstmCell": changed.lstmCell,
    "pad": changed.pad,
    "resample2d": changed.resample2d,
    "slice": changed.slice_,
    "notEqual": logical.notEqual,
    "isInfinite": logical.isInfinite,
    "isNaN": logical.isNaN,
    "logicalAnd": logical.logicalAnd,
    "logicalOr": logical.logicalOr,
    "logicalXor": logical.logicalXor,
    "roundEven": unary.roundEven,
    "sign": unary.sign,
    "cumulativeSum": reduction.cumulativeSum,
    "gatherElements": gather_scatter.gatherElements,
    "gatherND": gather_scatter.gatherND,
    "scatterElements": gather_scatter.scatterElements,
    "scatterND": gather_scatter.scatterND,
    "dequantizeLinear": quantization.dequantizeLinear,
    "quantizeLinear": quantization.quantizeLinear,
    "reverse": tiling.reverse,
    "tile": tiling.tile,
}


def _quiet(operation: Operation) -> Operation:
    """Let an operation divide by zero and overflow without NumPy's warnings: the result says enough."""
    quiet: Operation = np.errstate(all="ignore")(operation)
    return quiet


#: Name of the `MLGraphBuilder` method -> the reference.
REFERENCE: Mapping[str, Operation] = MappingProxyType({name: _quiet(operation) for name, operation in _OPERATIONS.items()})
#: The same for the current draft.
REFERENCE_NEWEST: Mapping[str, Operation] = MappingProxyType(
    {**REFERENCE, **{name: _quiet(operation) for name, operation in _OPERATIONS_SINCE_2026_06.items()}}
)
