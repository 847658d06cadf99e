"""The public names of `webnn`, which loads this module when the first of them is used."""

from __future__ import annotations

from webnn._batch import Batch, BatchError, batch
from webnn._names import publish
from webnn.builder.describe import describe
from webnn.builder.description import (
    ActivationDescription,
    ConstantDescription,
    DescriptionError,
    FormatError,
    GraphDescription,
    OperatorDescription,
    load,
)
from webnn.builder.operand import MLActivation, MLOperand
from webnn.builder.options import (
    MLArgMinMaxOptions,
    MLBatchNormalizationOptions,
    MLClampOptions,
    MLConv2dOptions,
    MLConvTranspose2dOptions,
    MLCumulativeSumOptions,
    MLEluOptions,
    MLGatherOptions,
    MLGemmOptions,
    MLGruCellOptions,
    MLGruOptions,
    MLHardSigmoidOptions,
    MLInstanceNormalizationOptions,
    MLLayerNormalizationOptions,
    MLLeakyReluOptions,
    MLLinearOptions,
    MLLstmCellOptions,
    MLLstmOptions,
    MLOperandDescriptor,
    MLOperatorOptions,
    MLPadOptions,
    MLPool2dOptions,
    MLReduceOptions,
    MLResample2dOptions,
    MLReverseOptions,
    MLScatterOptions,
    MLSliceOptions,
    MLSplitOptions,
    MLTransposeOptions,
    MLTriangularOptions,
)
from webnn.context.context import MLContext
from webnn.context.devices.selection import DeviceFallbackWarning
from webnn.context.document import Document
from webnn.context.emulation import emulate
from webnn.context.faults import Faults
from webnn.context.gpu import GPUDevice
from webnn.context.graph import MLGraph
from webnn.context.graph_builder import MLGraphBuilder
from webnn.context.graph_steps import MLComputeResult
from webnn.context.ml import ML, MLContextOptions, Navigator
from webnn.context.placement import OperatorPlacement, Partition, Placement, Transfer
from webnn.context.state import MLContextLostInfo
from webnn.context.tensor import MLTensor, MLTensorDescriptor
from webnn.ignored import explain_ignored
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.errors import (
    AbortError,
    DataError,
    DOMException,
    InvalidStateError,
    MissingMemberError,
    NotSupportedError,
    OperationError,
    SecurityError,
    UnknownError,
    WebNNTypeError,
    WebNNWarning,
)

__all__ = [
    "ML",
    "AbortError",
    "ActivationDescription",
    "Batch",
    "BatchError",
    "ConstantDescription",
    "DOMException",
    "DataError",
    "DescriptionError",
    "DeviceFallbackWarning",
    "Document",
    "Faults",
    "FormatError",
    "GPUDevice",
    "GraphDescription",
    "InvalidStateError",
    "MLActivation",
    "MLArgMinMaxOptions",
    "MLBatchNormalizationOptions",
    "MLClampOptions",
    "MLComputeResult",
    "MLContext",
    "MLContextLostInfo",
    "MLContextOptions",
    "MLConv2dOptions",
    "MLConvTranspose2dOptions",
    "MLCumulativeSumOptions",
    "MLEluOptions",
    "MLGatherOptions",
    "MLGemmOptions",
    "MLGraph",
    "MLGraphBuilder",
    "MLGruCellOptions",
    "MLGruOptions",
    "MLHardSigmoidOptions",
    "MLInstanceNormalizationOptions",
    "MLLayerNormalizationOptions",
    "MLLeakyReluOptions",
    "MLLinearOptions",
    "MLLstmCellOptions",
    "MLLstmOptions",
    "MLOperand",
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
    "MLTensor",
    "MLTensorDescriptor",
    "MLTransposeOptions",
    "MLTriangularOptions",
    "MissingMemberError",
    "Navigator",
    "NotSupportedError",
    "OperandDescriptor",
    "OperationError",
    "OperatorDescription",
    "OperatorPlacement",
    "Partition",
    "Placement",
    "SecurityError",
    "Transfer",
    "UnknownError",
    "WebNNTypeError",
    "WebNNWarning",
    "batch",
    "describe",
    "emulate",
    "explain_ignored",
    "load",
    "navigator",
]

publish("webnn", list(globals().values()))

#: The page's navigator: ``navigator.ml``.
navigator = Navigator()
