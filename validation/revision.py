"""Revisions of the specification: what differs between two drafts, as data.

A `Revision` travels with the context; conversion and validators ask it, and nothing else asks which year it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from webnn.validation.descriptor import (
    DATA_TYPES,
    FLOAT_TYPES,
    DataType,
    OperandDescriptor,
    is_valid_dimension,
)

__all__ = ["REVISIONS", "REVISION_2024_06", "Revision", "find_revision"]

#: The largest rank and byte length that this implementation supports; the draft leaves both open ("check dimensions", steps 2 and 3).
MAX_RANK = 8
MAX_BYTE_LENGTH = 2**31 - 1

Types = tuple[DataType, ...]
Ranks = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One draft of the specification.

    Attributes:
        name: The draft's year and month.
        data_types: The data types an operation allows for an operand, where it restricts them.
        ranks: The smallest and largest rank an operation allows for an operand, where it restricts them.
        max_rank: The largest rank of any operand.
        max_byte_length: The largest byte length of any operand.
    """

    name: str
    data_types: Mapping[str, Mapping[str, Types]]
    ranks: Mapping[str, Mapping[str, Ranks]]
    max_rank: int = MAX_RANK
    max_byte_length: int = MAX_BYTE_LENGTH

    def unsupported(self, descriptor: OperandDescriptor) -> str:
        """Say why an operand of this descriptor cannot be; empty if it can. *Check dimensions*, `#mloperanddescriptor-check-dimensions`."""
        # 1. Every dimension is valid.
        for size in descriptor.dimensions:
            if not is_valid_dimension(size):
                return f"must have dimensions from 1 to 4294967295, got {list(descriptor.dimensions)}"
        # 2. The rank is one that the implementation supports.
        if len(descriptor.dimensions) > self.max_rank:
            return f"must have at most {self.max_rank} dimensions, got {len(descriptor.dimensions)}"
        # 3. So is the byte length.
        if descriptor.byte_length > self.max_byte_length:
            return f"must have at most {self.max_byte_length} bytes, got {descriptor} of {descriptor.byte_length} bytes"
        return ""


_SIGNED_OR_FLOAT: Types = ("float32", "float16", "int32", "int8")
#: The draft leaves the 64-bit types out; web-platform-tests of the same date allow them.
_FLOAT_OR_WIDE: Types = ("float32", "float16", "int32", "uint32", "int64", "uint64")

_FLOAT_INPUT = [
    "averagePool2d",
    "batchNormalization",
    "ceil",
    "conv2d",
    "convTranspose2d",
    "cos",
    "elu",
    "erf",
    "exp",
    "floor",
    "gelu",
    "gru",
    "gruCell",
    "hardSigmoid",
    "hardSwish",
    "instanceNormalization",
    "l2Pool2d",
    "layerNormalization",
    "leakyRelu",
    "linear",
    "log",
    "lstm",
    "lstmCell",
    "reciprocal",
    "reduceL2",
    "reduceLogSum",
    "reduceLogSumExp",
    "reduceMean",
    "resample2d",
    "sigmoid",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sqrt",
    "tan",
    "tanh",
]

_DATA_TYPES_2024: dict[str, Mapping[str, Types]] = {
    **{name: {"input": FLOAT_TYPES} for name in _FLOAT_INPUT},
    **{name: {"input": _SIGNED_OR_FLOAT} for name in ("abs", "neg", "prelu", "relu")},
    **{name: {"input": _FLOAT_OR_WIDE} for name in ("reduceL1", "reduceProduct", "reduceSum", "reduceSumSquare")},
    **{name: {"input": DATA_TYPES} for name in ("identity", "maxPool2d", "reduceMax", "reduceMin")},
    "gather": {"indices": ("int32", "uint32", "int64")},
    "gemm": {"a": FLOAT_TYPES},
    "logicalNot": {"a": ("uint8",)},
    "matmul": {"a": FLOAT_TYPES},
    "where": {"condition": ("uint8",)},
}

_RANKS_2024: dict[str, Mapping[str, Ranks]] = {
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

#: The draft of June 2024: `compute()`, `MLActivation`, 78 operations.
REVISION_2024_06 = Revision(name="2024-06", data_types=MappingProxyType(_DATA_TYPES_2024), ranks=MappingProxyType(_RANKS_2024))

REVISIONS: Mapping[str, Revision] = MappingProxyType({REVISION_2024_06.name: REVISION_2024_06})


def find_revision(name: str) -> Revision:
    """Return the revision of a name.

    Raises:
        ValueError: There is no such revision.
    """
    if name not in REVISIONS:
        raise ValueError(f"there is no revision {name!r} of the specification here; known are {sorted(REVISIONS)}")
    return REVISIONS[name]
