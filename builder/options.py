"""The dictionaries that a program writes, as typed dictionaries: for annotations and for keyword arguments.

Their converted forms, with defaults filled in, are the models beside the validators. A test compares both with the IDL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Required, TypedDict

import numpy as np

from webnn.validation.descriptor import DataType

if TYPE_CHECKING:
    from webnn.builder.operand import MLActivation, MLOperand

__all__ = [
    "MLArgMinMaxOptions",
    "MLBatchNormalizationOptions",
    "MLClampOptions",
    "MLConv2dOptions",
    "MLConvTranspose2dOptions",
    "MLCumulativeSumOptions",
    "MLEluOptions",
    "MLGatherOptions",
    "MLGemmOptions",
    "MLGruCellOptions",
    "MLGruOptions",
    "MLHardSigmoidOptions",
    "MLInstanceNormalizationOptions",
    "MLLayerNormalizationOptions",
    "MLLeakyReluOptions",
    "MLLinearOptions",
    "MLLstmCellOptions",
    "MLLstmOptions",
    "MLOperandDescriptor",
    "MLOperatorOptions",
    "MLPadOptions",
    "MLPool2dOptions",
    "MLReduceOptions",
    "MLResample2dOptions",
    "MLReverseOptions",
    "MLScatterOptions",
    "MLSliceOptions",
    "MLSplitOptions",
    "MLTransposeOptions",
    "MLTriangularOptions",
]

#: ``sequence<unsigned long>`` or ``sequence<float>``: any sequence of numbers.
Numbers = Sequence[int] | Sequence[float] | np.ndarray[Any, np.dtype[Any]]
#: The activation functions of a recurrent network: by their names, or until 2024-06 as `MLActivation`.
Activations = Sequence[Literal["relu", "sigmoid", "tanh"]] | Sequence["MLActivation"]


class MLOperandDescriptor(TypedDict, total=False):
    """Type and shape of an input or a constant. `#dictdef-mloperanddescriptor`. ``shape`` is ``dimensions`` until 2024-06."""

    dataType: Required[DataType]
    shape: Numbers
    dimensions: Numbers


class MLOperatorOptions(TypedDict, total=False):
    """The option of every operation: a label, which error messages quote. `#dictdef-mloperatoroptions`.

    The draft 2024-06 does not have it and ignores it, like every unknown member. Here it names the operator in messages, and has no other
    effect.
    """

    label: str


class MLArgMinMaxOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlargminmaxoptions`. Until 2024-06 with ``axes`` and ``selectLastIndex``."""

    keepDimensions: bool
    outputDataType: Literal["int32", "int64"]
    axes: Numbers
    selectLastIndex: bool


class MLBatchNormalizationOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlbatchnormalizationoptions`."""

    scale: MLOperand
    bias: MLOperand
    axis: int
    epsilon: float


class MLClampOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlclampoptions`."""

    minValue: float
    maxValue: float


class MLConv2dOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlconv2doptions`."""

    padding: Numbers
    strides: Numbers
    dilations: Numbers
    groups: int
    inputLayout: Literal["nchw", "nhwc"]
    filterLayout: Literal["oihw", "hwio", "ohwi", "ihwo"]
    bias: MLOperand


class MLConvTranspose2dOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlconvtranspose2doptions`."""

    padding: Numbers
    strides: Numbers
    dilations: Numbers
    outputPadding: Numbers
    outputSizes: Numbers
    groups: int
    inputLayout: Literal["nchw", "nhwc"]
    filterLayout: Literal["iohw", "hwoi", "ohwi"]
    bias: MLOperand


class MLCumulativeSumOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlcumulativesumoptions`."""

    exclusive: bool
    reversed: bool


class MLEluOptions(MLOperatorOptions, total=False):
    """`#dictdef-mleluoptions`."""

    alpha: float


class MLGatherOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlgatheroptions`."""

    axis: int


class MLGemmOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlgemmoptions`."""

    c: MLOperand
    alpha: float
    beta: float
    aTranspose: bool
    bTranspose: bool


class MLGruOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlgruoptions`."""

    bias: MLOperand
    recurrentBias: MLOperand
    initialHiddenState: MLOperand
    resetAfter: bool
    returnSequence: bool
    direction: Literal["forward", "backward", "both"]
    layout: Literal["zrn", "rzn"]
    activations: Activations


class MLGruCellOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlgrucelloptions`."""

    bias: MLOperand
    recurrentBias: MLOperand
    resetAfter: bool
    layout: Literal["zrn", "rzn"]
    activations: Activations


class MLHardSigmoidOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlhardsigmoidoptions`."""

    alpha: float
    beta: float


class MLInstanceNormalizationOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlinstancenormalizationoptions`."""

    scale: MLOperand
    bias: MLOperand
    epsilon: float
    layout: Literal["nchw", "nhwc"]


class MLLayerNormalizationOptions(MLOperatorOptions, total=False):
    """`#dictdef-mllayernormalizationoptions`."""

    scale: MLOperand
    bias: MLOperand
    axes: Numbers
    epsilon: float


class MLLeakyReluOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlleakyreluoptions`."""

    alpha: float


class MLLinearOptions(MLOperatorOptions, total=False):
    """`#dictdef-mllinearoptions`."""

    alpha: float
    beta: float


class MLLstmOptions(MLOperatorOptions, total=False):
    """`#dictdef-mllstmoptions`."""

    bias: MLOperand
    recurrentBias: MLOperand
    peepholeWeight: MLOperand
    initialHiddenState: MLOperand
    initialCellState: MLOperand
    returnSequence: bool
    direction: Literal["forward", "backward", "both"]
    layout: Literal["iofg", "ifgo"]
    activations: Activations


class MLLstmCellOptions(MLOperatorOptions, total=False):
    """`#dictdef-mllstmcelloptions`."""

    bias: MLOperand
    recurrentBias: MLOperand
    peepholeWeight: MLOperand
    layout: Literal["iofg", "ifgo"]
    activations: Activations


class MLPadOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlpadoptions`. Until 2024-06 with the mode ``"symmetric"``."""

    mode: Literal["constant", "edge", "reflection", "symmetric"]
    value: float


class MLPool2dOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlpool2doptions`. ``outputShapeRounding`` is ``roundingType`` until 2024-06."""

    windowDimensions: Numbers
    padding: Numbers
    strides: Numbers
    dilations: Numbers
    layout: Literal["nchw", "nhwc"]
    outputShapeRounding: Literal["floor", "ceil"]
    roundingType: Literal["floor", "ceil"]
    outputSizes: Numbers


class MLReduceOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlreduceoptions`."""

    axes: Numbers
    keepDimensions: bool


class MLResample2dOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlresample2doptions`."""

    mode: Literal["nearest-neighbor", "linear"]
    scales: Numbers
    sizes: Numbers
    axes: Numbers


class MLReverseOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlreverseoptions`."""

    axes: Numbers


class MLScatterOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlscatteroptions`."""

    axis: int


class MLSliceOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlsliceoptions`, since 2026-06."""

    strides: Numbers


class MLSplitOptions(MLOperatorOptions, total=False):
    """`#dictdef-mlsplitoptions`."""

    axis: int


class MLTransposeOptions(MLOperatorOptions, total=False):
    """`#dictdef-mltransposeoptions`."""

    permutation: Numbers


class MLTriangularOptions(MLOperatorOptions, total=False):
    """`#dictdef-mltriangularoptions`."""

    upper: bool
    diagonal: int
