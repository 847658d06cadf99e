"""Revisions of the specification: what differs between two drafts, as data.

A `Revision` travels with the context; conversion and validators ask it, and nothing else asks which year it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from webnn.validation.descriptor import (
    DATA_TYPES,
    FLOAT_TYPES,
    MAX_DIMENSION,
    DataType,
    OperandDescriptor,
    is_valid_dimension,
)
from webnn.validation.webidl import domString, usvString

if TYPE_CHECKING:
    from webnn.validation.profiles import Profile

__all__ = ["BROWSERS", "CURRENT", "REVISIONS", "REVISION_2024_06", "Revision", "find_revision", "with_profile"]

#: The largest rank and byte length that this implementation supports; the draft leaves both open ("check dimensions", steps 2 and 3).
MAX_RANK = 8
MAX_BYTE_LENGTH = 2**31 - 1

Types = tuple[DataType, ...]
Ranks = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One draft of the specification.

    Attributes:
        name: The draft's year and month, and a word behind a plus sign for what is added to it.
        data_types: The data types an operation allows for an operand, where it restricts them.
        ranks: The smallest and largest rank an operation allows for an operand, where it restricts them.
        max_rank: The largest rank of any operand.
        max_byte_length: The largest byte length of any operand.
        max_dimension: The largest size of a dimension.
        max_tensor_count: The largest number of operands that an operation takes as a sequence or returns as one.
        checks_operands: The tables have a row for every operand, and the driver checks each against it; otherwise they have rows where the
            draft restricts an operand, and the validators check these.
        tensors: Graphs are computed by `MLContext.dispatch` over `MLTensor`.
        buffers: Graphs are computed by `MLContext.compute` over buffers.
        activations: Recurrent operations take `MLActivation`, which overloads without an input make; otherwise names.
        shape: The member of ``MLOperandDescriptor`` that holds the shape.
        attributes: The type and shape of an operand are attributes; otherwise methods.
        build_once: A builder builds one graph, and can do nothing after that.
        any_buffer: A constant's bytes may come from any buffer, not only from one of its element type.
        big_numbers: Numbers that an operand's type converts are ``MLNumber``: integers of any size, infinities and NaN; otherwise doubles.
        small_integers: The data types int4 and uint4 are there, which no draft has.
        convert_name: The Web IDL conversion of the names of inputs and outputs: ``DOMString``, or ``USVString``.
        profile: The device whose limits hold beside the draft's, if there is one.
    """

    name: str
    data_types: Mapping[str, Mapping[str, Types]]
    ranks: Mapping[str, Mapping[str, Ranks]]
    max_rank: int = MAX_RANK
    max_byte_length: int = MAX_BYTE_LENGTH
    max_dimension: int = MAX_DIMENSION
    max_tensor_count: int = MAX_DIMENSION
    checks_operands: bool = False
    tensors: bool = False
    buffers: bool = True
    activations: bool = True
    shape: Literal["dimensions", "shape"] = "dimensions"
    attributes: bool = False
    build_once: bool = False
    any_buffer: bool = False
    big_numbers: bool = False
    small_integers: bool = False
    convert_name: Callable[[object], str] = domString
    profile: Profile | None = None

    @property
    def draft(self) -> str:
        """The name of the draft itself: what browsers ship beyond it has no IDL of its own."""
        return self.name.partition("+")[0]

    def unsupported(self, descriptor: OperandDescriptor) -> str:
        """Say why an operand of this descriptor cannot be; empty if it can. *Check dimensions*, `#mloperanddescriptor-check-dimensions`."""
        # 1. Every dimension is valid.
        for size in descriptor.dimensions:
            if not is_valid_dimension(size, self.max_dimension):
                return f"must have dimensions from 1 to {self.max_dimension}, got {list(descriptor.dimensions)}"
        # 2. The rank is one that the implementation supports.
        if len(descriptor.dimensions) > self.max_rank:
            return f"must have at most {self.max_rank} dimensions, got {len(descriptor.dimensions)}"
        # 3. So is the byte length, and with it the number of elements.
        if descriptor.byte_length > self.max_byte_length:
            where = "" if self.profile is None else f' on the device profile "{self.profile.name}"'
            return f"must have at most {self.max_byte_length} bytes{where}, got {descriptor} of {descriptor.byte_length} bytes"
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

#: The current draft, of June 2026: its name.
CURRENT = "2026-06"
REVISIONS = (REVISION_2024_06.name, CURRENT)
#: The current draft with what browsers ship beyond it: int4 and uint4.
BROWSERS = "2026-06+browsers"


@cache
def _current() -> Revision:
    # Its tables are data that the other revision does without.
    from webnn.validation.limits import tables  # noqa: PLC0415

    data_types, ranks = tables(CURRENT)
    return Revision(
        name=CURRENT,
        data_types=data_types,
        ranks=ranks,
        max_dimension=2**31 - 1,
        max_tensor_count=8192,
        checks_operands=True,
        tensors=True,
        buffers=False,
        activations=False,
        shape="shape",
        attributes=True,
        build_once=True,
        any_buffer=True,
        big_numbers=True,
        convert_name=usvString,
    )


@cache
def _browsers() -> Revision:
    from webnn.validation.limits import tables  # noqa: PLC0415 (as above)

    data_types, ranks = tables(BROWSERS)
    return replace(_current(), name=BROWSERS, data_types=data_types, ranks=ranks, small_integers=True)


def find_revision(name: str) -> Revision:
    """Return the revision of a name.

    Raises:
        ValueError: There is no such revision.
    """
    if name == CURRENT:
        return _current()
    if name == BROWSERS:
        return _browsers()
    if name != REVISION_2024_06.name:
        raise ValueError(f"there is no revision {name!r} of the specification here; known are {[*REVISIONS, BROWSERS]}")
    return REVISION_2024_06


def with_profile(revision: Revision, profile: Profile) -> Revision:
    """Return a revision with the limits of a device.

    Args:
        revision: The revision. The current draft becomes the one with what browsers ship beyond it, because devices have int4 and uint4.
        profile: The device.
    """
    if revision.name == CURRENT:
        revision = _browsers()
    return replace(revision, profile=profile, max_byte_length=profile.max_byte_length)
