"""Names that may be meant by a name that does not exist."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

from webnn.validation import webidl

__all__ = ["OTHER_NAMES", "lacks_operation", "nearest", "suggest_operation"]

#: The smallest similarity of a suggested name, from 0 to 1; or the number of first letters that must agree.
_NEAR, _PREFIX = 0.65, 3

#: Names of operations in other libraries, in lower case and without underscores, and how WebNN writes them.
OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "relu6": "clamp(minValue=0, maxValue=6)",
        "clip": "clamp",
        "silu": "mul(x, sigmoid(x))",
        "swish": "mul(x, sigmoid(x))",
        "square": "mul(x, x)",
        "rsqrt": "reciprocal(sqrt(x))",
        "logsoftmax": "log(softmax(x, axis))",
        **dict.fromkeys(("dot", "mm", "bmm"), "matmul"),
        **dict.fromkeys(("dense", "fc", "fullyconnected"), "gemm"),
        **dict.fromkeys(("flatten", "squeeze", "unsqueeze", "expanddims", "view"), "reshape"),
        "permute": "transpose",
        **dict.fromkeys(("stack", "cat"), "concat"),
        **dict.fromkeys(("upsample", "resize", "interpolate"), "resample2d"),
        **dict.fromkeys(("avgpool", "avgpool2d"), "averagePool2d"),
        "mean": "reduceMean",
        "sum": "reduceSum",
        "prod": "reduceProduct",
        "select": "where",
        "embedding": "gather",
        "broadcastto": "expand",
        "and": "logicalAnd",
        "or": "logicalOr",
        "xor": "logicalXor",
        "not": "logicalNot",
    }
)
_FIRST = re.compile(r"\w+")


def nearest(name: str, known: Collection[str]) -> str:
    """Return the known name that is most like a name; empty if none is like it."""
    # Imported lazily: most programs misspell nothing.
    from difflib import get_close_matches  # noqa: PLC0415

    names = {each.lower(): each for each in sorted(known)}
    written = name.lower()
    found = get_close_matches(written, names, n=1, cutoff=_NEAR) or [each for each in names if each[:_PREFIX] == written[:_PREFIX]]
    return names[found[0]] if found else ""


def suggest_operation(name: str, known: Collection[str]) -> str:
    """Return how a draft writes an operation that it does not have by this name: ``"softmax"``, ``"clamp(minValue=0, maxValue=6)"``.

    Empty if there is none.
    """
    if name.startswith("_"):
        return ""
    plain = name.lower().replace("_", "")
    other = OTHER_NAMES.get(plain, "")
    first = _FIRST.match(other)
    return other if first is not None and first[0] in known else nearest(plain, known)


def lacks_operation(name: object, known: Collection[str]) -> str:
    """Return what a message says of a draft without an operation: that it lacks it, and which one may be meant."""
    meant = suggest_operation(name, known) if isinstance(name, str) else ""
    return f"has no operation {webidl.describe(name)}{f'; did you mean {meant}?' if meant else ''}"
