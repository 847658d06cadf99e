"""Operations by family: pictures and tables colour operators by them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.validation import unary

__all__ = ["COLOURS", "DEVICES", "FAMILIES", "OTHER", "family"]

#: The family of operations that no draft here has.
OTHER = "other"
#: The operations of each family, in all drafts.
FAMILIES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        name: frozenset(operations.split())
        for name, operations in {
            "multiply": "conv2d convTranspose2d gemm matmul gru gruCell lstm lstmCell",
            "activation": ("elu gelu hardSigmoid hardSwish leakyRelu linear prelu relu sigmoid softmax softplus softsign tanh clamp erf"),
            "arithmetic": " ".join(
                ["add sub mul div max min pow cumulativeSum", *(row.name for row in unary.OPERATIONS if row.name != "erf")]
            ),
            "normalize": "batchNormalization instanceNormalization layerNormalization",
            "reduce": (
                "argMax argMin averagePool2d l2Pool2d maxPool2d reduceL1 reduceL2 reduceLogSum reduceLogSumExp reduceMax reduceMean "
                "reduceMin reduceProduct reduceSum reduceSumSquare"
            ),
            "move": (
                "concat expand gather gatherElements gatherND pad resample2d reshape reverse scatterElements scatterND slice split tile "
                "transpose triangular"
            ),
            "compare": (
                "equal notEqual greater greaterOrEqual lesser lesserOrEqual logicalAnd logicalNot logicalOr logicalXor isInfinite isNaN "
                "where"
            ),
            "convert": "cast dequantizeLinear quantizeLinear",
        }.items()
    }
)
#: The colour of each family on light and on dark ground.
COLOURS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "multiply": ("#2563EB", "#6EA8FF"),
        "activation": ("#C2410C", "#FF9A62"),
        "arithmetic": ("#0F766E", "#4FD1C5"),
        "normalize": ("#7E22CE", "#C79BFF"),
        "reduce": ("#15803D", "#6BD48A"),
        "move": ("#64748B", "#A3B1C4"),
        "compare": ("#BE185D", "#FF8AB8"),
        "convert": ("#A16207", "#E5B94F"),
        OTHER: ("#57606A", "#9AA4AF"),
    }
)
#: The colour of each device, likewise.
DEVICES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"cpu": COLOURS["convert"], "gpu": COLOURS["reduce"], "npu": COLOURS["normalize"]}
)
_FAMILY: Mapping[str, str] = MappingProxyType({operation: name for name, operations in FAMILIES.items() for operation in operations})


def family(operation: str) -> str:
    """Return the family of an operation, one of `FAMILIES` or `OTHER`."""
    return _FAMILY.get(operation, OTHER)
