"""A draft that does not exist, after that of June 2026, written outside the package as a proposal would be.

One operation is new, one is gone; an option has another name; a table allows fewer data types; a member of an interface is gone.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from webnn import MLOperand
from webnn.builder.base import BuilderBase
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.validation.activation import same_as_input
from webnn.validation.descriptor import FLOAT_TYPES
from webnn.validation.dictionary import Dictionary, Double
from webnn.validation.drafts import Delta, find_revision
from webnn.validation.drafts.delta import renamed
from webnn.validation.drafts.idl import merge_idl
from webnn.validation.drafts.limits import Limits, OperandLimits, with_rows
from webnn.validation.operation import Operation

__all__ = ["DRAFT"]

# The new operation: x where |x| > threshold, otherwise 0.


class HardShrinkOptions(Dictionary):
    """``MLHardShrinkOptions``."""

    threshold: Double = 0.5


def _hard_shrink(e: Emitter, op: Op) -> str:
    value = op["input"]
    outside = e.node("Greater", [e.node("Abs", [value]), e.scalar(op.options.threshold, op.type("input"))])
    return e.node("Where", [outside, value, e.scalar(0, op.type("input"))])


class HardShrinkOps(BuilderBase):
    """Additional methods of `MLGraphBuilder`."""

    __slots__ = ()

    def hardShrink(self, input: MLOperand, options: dict[str, Any] | None = None, **members: Any) -> MLOperand:
        """Set to 0 what is near 0."""
        return self._single("hardShrink", (input,), (), options, members)


_HARD_SHRINK = Operation(
    name="hardShrink",
    anchor="#api-mlgraphbuilder-hardshrink",
    operands=("input",),
    infer=same_as_input,
    options=HardShrinkOptions,
    translation=lambda: Translation(emit=_hard_shrink, elementwise=True),
)

_FLOATS = OperandLimits(data_types=FLOAT_TYPES, ranks=(0, None), required_data_types=FLOAT_TYPES, required_ranks=(0, 5))
_FLOAT32 = OperandLimits(data_types=("float32",), ranks=(0, None), required_data_types=("float32",), required_ranks=(0, 5))


def _limits(before: Limits | None) -> Limits:
    assert before is not None
    return with_rows(before, {"hardShrink": {"input": _FLOATS, "output": _FLOATS}, "softplus": {"input": _FLOAT32, "output": _FLOAT32}})


_IDL = {
    "interfaces": {
        "MLContext": {"without": ["createConstantTensor"]},
        "MLGraphBuilder": {
            "without": ["gelu"],
            "operations": [
                {
                    "name": "hardShrink",
                    "returns": "MLOperand",
                    "arguments": [
                        {"name": "input", "type": "MLOperand"},
                        {"name": "options", "type": "MLHardShrinkOptions", "optional": True, "default": {}},
                    ],
                }
            ],
        },
    },
    "dictionaries": {
        "MLEluOptions": {"without": ["alpha"], "members": [{"name": "slope", "type": "double", "default": 1}]},
        "MLHardShrinkOptions": {"inherits": "MLOperatorOptions", "members": [{"name": "threshold", "type": "double", "default": 0.5}]},
        "MLOpSupportLimits": {"without": ["gelu"], "members": [{"name": "hardShrink", "type": "MLSingleInputSupportLimits"}]},
    },
}

_ELU = find_revision("2026-06").operations["elu"].options
assert _ELU is not None

DRAFT = Delta(
    name="2027-01",
    after="2026-06",
    added=[_HARD_SHRINK],
    removed=["gelu"],
    changed={"elu": {"options": renamed(_ELU, alpha="slope")}},
    removes={"MLContext": {"createConstantTensor": "it has createTensor() and constant(tensor)"}},
    mixins={"MLGraphBuilder": HardShrinkOps},
    idl=partial(merge_idl, changes=_IDL),
    limits=_limits,
)
