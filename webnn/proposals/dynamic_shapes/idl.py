"""The IDL of dynamic-shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webnn.proposals.dynamic_shapes.operations import OPERATIONS
from webnn.validation.drafts.idl import Idl, merge_idl

__all__ = ["change_idl"]

_SIZE = {"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long"}
_SIZES = {"sequence": _SIZE}
#: The dictionaries of options, where an operation has more than a label.
_OPTIONS = {
    "squeeze": "MLSqueezeOptions",
    "reshapeTo2d": "MLReshapeTo2dOptions",
    "sliceDynamic": "MLSliceDynamicOptions",
    "splitDynamic": "MLSplitOptions",
    "resample2dDynamic": "MLResample2dDynamicOptions",
}
_LIMITS = {
    **dict.fromkeys(["modulusFloor", "modulusTruncate"], "MLBinarySupportLimits"),
    **dict.fromkeys(["shape", "squeeze", "unsqueeze", "reshapeTo2d"], "MLSingleInputSupportLimits"),
}


def _operation(name: str, operands: tuple[str, ...], arguments: tuple[str, ...]) -> dict[str, Any]:
    options = {"name": "options", "type": _OPTIONS.get(name, "MLOperatorOptions"), "optional": True, "default": {}}
    return {
        "name": name,
        "returns": {"sequence": "MLOperand"} if name == "splitDynamic" else "MLOperand",
        "arguments": [
            *({"name": each, "type": "MLOperand"} for each in operands),
            *({"name": each, "type": _SIZES} for each in arguments),
            options,
        ],
    }


def _limits_of(name: str) -> str:
    return _LIMITS.get(name, f"ML{name[0].upper()}{name[1:]}SupportLimits")


def _limits_members(name: str, operands: tuple[str, ...]) -> dict[str, Any]:
    output = "outputs" if name == "splitDynamic" else "output"
    return {"members": [{"name": each, "type": "MLTensorLimits"} for each in (*operands, output)]}


_CHANGES: Mapping[str, Any] = {
    "dictionaries": {
        "MLInputOperandDescriptor": {
            "members": [
                {"name": "dataType", "type": "MLOperandDataType", "required": True},
                {"name": "shape", "type": {"sequence": "MLDimension"}, "required": True},
            ]
        },
        "MLSqueezeOptions": {"inherits": "MLOperatorOptions", "members": [{"name": "axes", "type": _SIZES}]},
        "MLReshapeTo2dOptions": {"inherits": "MLOperatorOptions", "members": [{"name": "axis", "type": _SIZE, "default": 1}]},
        "MLSliceDynamicOptions": {"inherits": "MLOperatorOptions", "members": [{"name": "strides", "type": _SIZES}]},
        "MLResample2dDynamicOptions": {
            "inherits": "MLOperatorOptions",
            "members": [
                {"name": "mode", "type": "MLInterpolationMode", "default": "nearest-neighbor"},
                {"name": "scales", "type": {"sequence": "float"}},
                {"name": "sizes", "type": "MLOperand"},
                {"name": "axes", "type": _SIZES},
            ],
        },
        **{_limits_of(row.name): _limits_members(row.name, (*row.operands, *row.members)) for row in OPERATIONS if row.name not in _LIMITS},
        "MLOpSupportLimits": {"members": [{"name": row.name, "type": _limits_of(row.name)} for row in OPERATIONS]},
    },
    "interfaces": {
        "MLGraph": {
            "operations": [
                {"name": "computeShapes", "returns": "MLNamedShapes", "arguments": [{"name": "inputShapes", "type": "MLNamedShapes"}]}
            ]
        },
        "MLGraphBuilder": {
            "without": ["input"],
            "operations": [
                {
                    "name": "input",
                    "returns": "MLOperand",
                    "arguments": [{"name": "name", "type": "USVString"}, {"name": "descriptor", "type": "MLInputOperandDescriptor"}],
                },
                *(_operation(row.name, row.operands, tuple([each.name for each in row.arguments])) for row in OPERATIONS),
            ],
        },
        "MLOperand": {"attributes": [{"name": "shape", "type": {"nullable": {"FrozenArray": "MLDimension"}}, "readonly": True}]},
    },
}


def change_idl(idl: Idl) -> Idl:
    """Return the IDL with the proposal."""
    changed = merge_idl(idl, _CHANGES)
    changed["typedefs"] |= {"MLDimension": {"union": [_SIZE, "DOMString"]}, "MLNamedShapes": {"record": ["USVString", _SIZES]}}
    return changed
