"""GraphJson, the community's form of a graph, as plain data: the common parts of `.webnn.json` and `.webnn` files; docs/formats.md."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from webnn.validation import webidl
from webnn.validation.drafts import find_revision

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.validation.descriptor import DataType, Types

__all__ = [
    "ARRAYS",
    "FORMAT",
    "HEADER_TYPES",
    "LARGEST_SIZE",
    "SEQUENCES",
    "SPECIAL",
    "TEXT_TYPES",
    "VERSIONS",
    "Array",
    "Problem",
    "Role",
    "Signature",
    "has_types",
    "signatures",
]

Array = np.ndarray[Any, np.dtype[Any]]

#: The role of a member of a node's options; the names of labels and arguments are not options in the specification's sense.
Role = Literal["argument", "operand", "option", "label"]

FORMAT = "webnn-graph-json"
#: The versions that are read; the last one is written.
VERSIONS = (1, 2)
#: The largest size of a dimension with a name. The form asks for one, and no revision has another.
LARGEST_SIZE = 2**31 - 1
#: The operations that return a sequence of operands, even of one.
SEQUENCES = frozenset({"gru", "lstm", "lstmCell", "split"})
#: JSON has no such numbers.
SPECIAL: Mapping[str, float] = MappingProxyType({"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf})

#: The names of data types: in the text, in the headers of safetensors, and the typed array of JavaScript. Elements of int4 and uint4 are
#: packed in uint8. Not every engine has `Float16Array`, and there is none of low precision: their bits are given.
_TYPE_NAMES: Mapping[DataType, tuple[str, str, str]] = {
    "float32": ("f32", "F32", "Float32Array"),
    "float16": ("f16", "F16", "Uint16Array"),
    "int32": ("i32", "I32", "Int32Array"),
    "uint32": ("u32", "U32", "Uint32Array"),
    "int64": ("i64", "I64", "BigInt64Array"),
    "uint64": ("u64", "U64", "BigUint64Array"),
    "int8": ("i8", "I8", "Int8Array"),
    "uint8": ("u8", "U8", "Uint8Array"),
    "int4": ("i4", "U8", "Uint8Array"),
    "uint4": ("u4", "U8", "Uint8Array"),
    "bfloat16": ("bf16", "BF16", "Uint16Array"),
    "float8e4m3": ("f8e4m3", "F8_E4M3", "Uint8Array"),
}
TEXT_TYPES: Mapping[DataType, str] = MappingProxyType({name: texts[0] for name, texts in _TYPE_NAMES.items()})
HEADER_TYPES: Mapping[DataType, str] = MappingProxyType({name: texts[1] for name, texts in _TYPE_NAMES.items()})
ARRAYS: Mapping[str, str] = MappingProxyType({name: texts[2] for name, texts in _TYPE_NAMES.items()})

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,80}", re.ASCII)


class Problem(ValueError):
    """Something in a graph's file is wrong.

    Attributes:
        place: The keys that lead to the place: ``("nodes", 3, "inputs")``.
    """

    def __init__(self, message: str, *place: str | int) -> None:
        super().__init__(message, *place)
        self.message = message
        self.place = place

    @property
    def path(self) -> str:
        """The place as text: ``"nodes[3].inputs"``."""
        parts = [
            f".{part}" if isinstance(part, str) and _IDENTIFIER.fullmatch(part) else f"[{webidl.describe(part)}]" for part in self.place
        ]
        return "".join(parts).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Signature:
    """The members that a node of an operation can have.

    Attributes:
        variadic: The one operand argument is a sequence.
        arguments: The names of the other positional arguments, which are among the options.
        roles: The role of each member of the options.
        numbers: The options that are cast to the data type of the first operand. Other numbers are of single precision.
    """

    operands: tuple[str, ...]
    variadic: bool
    arguments: tuple[str, ...]
    roles: Mapping[str, Role]
    numbers: frozenset[str]


def has_types(description: GraphDescription, types: Types) -> bool:
    """Tell whether a graph has values of some data types that no draft has: only inputs, constants and casts can bring them."""
    descriptors = [*description.inputs.values(), *[constant.descriptor for constant in description.constants.values()]]
    casts = [operator.arguments.get("dataType") for operator in description.operators if operator.operation == "cast"]
    return not {*[each.dataType for each in descriptors], *casts}.isdisjoint(types)


@cache
def signatures(draft: str) -> Mapping[str, Signature]:
    """Return the signatures of a draft's operations. Raises `ValueError` if there is no such draft."""
    return {
        name: Signature(
            operands=row.operands,
            variadic=row.variadic,
            arguments=tuple([argument.name for argument in row.arguments]),
            roles={
                **{argument.name: "argument" for argument in row.arguments},
                **{name: "operand" if name in row.members else "option" for name in (row.options.model_fields if row.options else ())},
                "label": "label",
            },
            numbers=frozenset(row.numbers),
        )
        for name, row in find_revision(draft, imports=False).operations.items()
    }
