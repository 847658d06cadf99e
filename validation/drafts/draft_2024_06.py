"""The draft 2024-06, the first of the chain: 78 operations, `compute()` over buffers, `MLActivation`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from webnn.validation.context_options import DeviceContextOptions
from webnn.validation.descriptor import DATA_TYPES, FLOAT_TYPES, MAX_RANK, Ranks, Types
from webnn.validation.drafts.idl import read_idl
from webnn.validation.families import OPERATIONS
from webnn.validation.revision import Revision

__all__ = ["DRAFT"]

_NAME = "2024-06"

_OPERATIONS = (
    "abs add argMax argMin averagePool2d batchNormalization cast ceil clamp concat conv2d convTranspose2d cos div elu equal erf exp expand "
    "floor gather gelu gemm greater greaterOrEqual gru gruCell hardSigmoid hardSwish identity instanceNormalization l2Pool2d "
    "layerNormalization leakyRelu lesser lesserOrEqual linear log logicalNot lstm lstmCell matmul max maxPool2d min mul neg pad pow prelu "
    "reciprocal reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean reduceMin reduceProduct reduceSum reduceSumSquare relu "
    "resample2d reshape sigmoid sin slice softmax softplus softsign split sqrt sub tan tanh transpose triangular where"
)

_SIGNED_OR_FLOAT: Types = ("float32", "float16", "int32", "int8")
#: The draft leaves the 64-bit types out; web-platform-tests of the same date allow them.
_FLOAT_OR_WIDE: Types = ("float32", "float16", "int32", "uint32", "int64", "uint64")

_FLOAT_INPUT = (
    "averagePool2d batchNormalization ceil conv2d convTranspose2d cos elu erf exp floor gelu gru gruCell hardSigmoid hardSwish "
    "instanceNormalization l2Pool2d layerNormalization leakyRelu linear log lstm lstmCell reciprocal reduceL2 reduceLogSum reduceLogSumExp "
    "reduceMean resample2d sigmoid sin softmax softplus softsign sqrt tan tanh"
)

_DATA_TYPES: dict[str, Mapping[str, Types]] = {
    **{name: {"input": FLOAT_TYPES} for name in _FLOAT_INPUT.split()},
    **{name: {"input": _SIGNED_OR_FLOAT} for name in ("abs", "neg", "prelu", "relu")},
    **{name: {"input": _FLOAT_OR_WIDE} for name in ("reduceL1", "reduceProduct", "reduceSum", "reduceSumSquare")},
    **{name: {"input": DATA_TYPES} for name in ("identity", "maxPool2d", "reduceMax", "reduceMin")},
    "gather": {"indices": ("int32", "uint32", "int64")},
    "gemm": {"a": FLOAT_TYPES},
    "logicalNot": {"a": ("uint8",)},
    "matmul": {"a": FLOAT_TYPES},
    "where": {"condition": ("uint8",)},
}

_RANKS: dict[str, Mapping[str, Ranks]] = {
    "averagePool2d": {"input": (4, 4)},
    "conv2d": {"input": (4, 4), "filter": (4, 4)},
    "convTranspose2d": {"input": (4, 4), "filter": (4, 4)},
    "gemm": {"a": (2, 2), "b": (2, 2)},
    "gru": {"input": (3, 3)},
    "gruCell": {"input": (2, 2)},
    "instanceNormalization": {"input": (4, 4)},
    "l2Pool2d": {"input": (4, 4)},
    "lstm": {"input": (3, 3)},
    "lstmCell": {"input": (2, 2)},
    "matmul": {"a": (2, MAX_RANK), "b": (2, MAX_RANK)},
    "maxPool2d": {"input": (4, 4)},
    "pad": {"input": (1, MAX_RANK)},
    "resample2d": {"input": (4, 4)},
    "triangular": {"input": (2, MAX_RANK)},
}

DRAFT = Revision(
    name=_NAME,
    history=(_NAME,),
    graph_draft=_NAME,
    operations=MappingProxyType({name: OPERATIONS[name] for name in _OPERATIONS.split()}),
    members=frozenset({"MLContext.compute"}),
    removed=MappingProxyType({}),
    mixins=MappingProxyType({}),
    context_options=DeviceContextOptions,
    idl=functools.cache(functools.partial(read_idl, _NAME)),
    limits=None,
    data_types=MappingProxyType(_DATA_TYPES),
    ranks=MappingProxyType(_RANKS),
)
