"""Limits of filters and windows as relations to other sizes of a call: issue #928."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from webnn.context.limits import MORE_LIMITS
from webnn.proposals.proposal import Case, Decision, Proposal
from webnn.validation.conv import input_sizes
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.drafts.idl import merge_idl
from webnn.validation.operation import Call

__all__ = ["PROPOSAL", "RELATIONS"]

_PADDED, _WINDOW = "padded-input", "window"
_BOTH: Mapping[str, str] = MappingProxyType({"size": _PADDED, "strides": _PADDED, "dilations": _PADDED})
_POOL: Mapping[str, str] = MappingProxyType({**_BOTH, "padding": _WINDOW})
#: ``MLWindowLimits`` of each operation: a member, and the size of the same axis that bounds it. Padding must be less, the others at most.
RELATIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"conv2d": _BOTH, **dict.fromkeys(["averagePool2d", "l2Pool2d", "maxPool2d"], _POOL)}
)
_NAMES: Mapping[str, str] = MappingProxyType({_PADDED: "the input with its padding", _WINDOW: "the window with its dilation"})


def _check_window(call: Call, output: OperandDescriptor, input: OperandDescriptor, *rest: Any) -> None:
    """Check the sizes of a filter or a window, along height and width."""
    *filters, options = rest
    layout = options.inputLayout if filters else options.layout
    _, _, *lengths = input_sizes(layout, input.dimensions)
    windows = options.windowDimensions or lengths if not filters else _pixels(filters[0], options.filterLayout)
    padding, strides, dilations = options.padding or (0, 0, 0, 0), options.strides or (1, 1), options.dilations or (1, 1)
    for axis, name in enumerate(("height", "width")):
        ends = padding[2 * axis : 2 * axis + 2]
        window = (windows[axis] - 1) * dilations[axis] + 1
        sizes = {_PADDED: lengths[axis] + sum(ends), _WINDOW: window}
        values = {
            "size": ("filter" if filters else "options.windowDimensions", window),
            "strides": ("options.strides", strides[axis]),
            "dilations": ("options.dilations", dilations[axis]),
            "padding": ("options.padding", max(ends)),
        }
        for member, bound in RELATIONS[call.operation].items():
            argument, value = values[member]
            isStrict = member == "padding"
            if value > sizes[bound] - isStrict:
                whole = "with its dilation " if member == "size" else ""
                how = "less than" if isStrict else "at most"
                raise call.error(argument, f"{whole}must be {how} {sizes[bound]}, the {name} of {_NAMES[bound]}", value, rule="limit")


def _pixels(filter: OperandDescriptor, layout: str) -> tuple[int, int]:
    return filter.dimensions[layout.index("h")], filter.dimensions[layout.index("w")]


def _members(*names: str) -> dict[str, Any]:
    operands = [{"name": name, "type": "MLTensorLimits"} for name in names]
    return {"members": [*operands, {"name": "window", "type": "MLWindowLimits"}]}


_IDL = {
    "enumerations": {"MLWindowBound": [_PADDED, _WINDOW]},
    "dictionaries": {
        "MLWindowLimits": {"members": [{"name": name, "type": "MLWindowBound"} for name in _POOL]},
        "MLFilterSupportLimits": _members("input", "filter", "bias", "output"),
        "MLPool2dSupportLimits": _members("input", "output"),
        "MLOpSupportLimits": {
            "members": [
                {"name": name, "type": "MLFilterSupportLimits" if name == "conv2d" else "MLPool2dSupportLimits"} for name in RELATIONS
            ]
        },
    },
}

# Tests for implementations.


def _image(builder: Any) -> Any:
    return builder.input("x", {"dataType": "float32", "shape": [1, 1, 5, 5]})


def _convolve(builder: Any, **options: Any) -> Mapping[str, Any]:
    filter = builder.constant({"dataType": "float32", "shape": [1, 1, 2, 2]}, np.ones(4, np.float32))
    return {"y": builder.conv2d(_image(builder), filter, **options)}


def _pool(name: str, builder: Any, **options: Any) -> Mapping[str, Any]:
    return {"y": getattr(builder, name)(_image(builder), **options)}


_NUMBERS = {"x": np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)}
#: Names, calls, options that are as large as they may be, and options that are larger. Chromium's CPU backend has no pools with dilation,
#: and counts padding in averages.
_ROWS: list[tuple[str, Callable[..., Mapping[str, Any]], dict[str, Any] | None, dict[str, Any]]] = [
    ("conv2d strides", _convolve, {"strides": [5, 5]}, {"strides": [1, 6]}),
    ("conv2d strides in padding", _convolve, {"strides": [6, 5], "padding": [1, 0, 0, 0]}, {"strides": [7, 5], "padding": [1, 0, 0, 0]}),
    ("conv2d dilations", _convolve, {"dilations": [4, 4]}, {"dilations": [5, 1]}),
    ("maxPool2d strides", partial(_pool, "maxPool2d"), {"windowDimensions": [2, 2], "strides": [5, 5]}, {"strides": [6, 1]}),
    (
        "maxPool2d dilations of a window of one element",
        partial(_pool, "maxPool2d"),
        None,
        {"windowDimensions": [1, 1], "dilations": [6, 1]},
    ),
    (
        "maxPool2d padding",
        partial(_pool, "maxPool2d"),
        {"windowDimensions": [2, 2], "padding": [1, 1, 0, 0]},
        {"windowDimensions": [2, 2], "padding": [0, 0, 2, 0]},
    ),
    (
        "averagePool2d window that is larger than the input",
        partial(_pool, "averagePool2d"),
        {"windowDimensions": [5, 5], "strides": [2, 2], "outputShapeRounding": "ceil"},
        {"windowDimensions": [6, 5], "strides": [2, 2], "outputShapeRounding": "ceil"},
    ),
]

PROPOSAL = Proposal(
    name="window-limits",
    since="2026-06",
    changed={name: {"checks": (_check_window,)} for name in RELATIONS},
    extensions={MORE_LIMITS: {name: {"window": dict(relations)} for name, relations in RELATIONS.items()}},
    idl=partial(merge_idl, changes=_IDL),
    title="Limits of filters and windows, as relations of sizes",
    source=(
        "webmachinelearning/webnn issue #928, opened on 2026-04-02, with its comments up to 2026-04-21; the meeting of 2026-04-23. The "
        "issue is open, and has no text for the specification"
    ),
    summary=(
        "Backends overflow on strides, dilations and windows that are far larger than the input. Each is bounded by another size of the "
        "same call, and `opSupportLimits()` says by which one."
    ),
    errors=(
        "`conv2d`, pools: the filter or window, with its dilation, is at most as large as the input with its padding, along each axis.",
        "`conv2d`, pools: so is each stride, and each dilation.",
        "Pools: the padding at each end is less than the window with its dilation.",
    ),
    program=(
        "None, for usual models. A stride that is larger than the input gives one window: write a stride of 1.",
        "Slice or pad the input before the operation, if `opSupportLimits().maxPool2d.window` does not allow the call.",
    ),
    decisions=(
        Decision(
            "Why relations, and not numbers?",
            "The issue begins with numbers: 1,024 for filters, 256 for strides and dilations. The comments and the meeting want sizes of "
            "the input in their place: a filter of two elements may be dilated over a long signal, and numbers break models that nobody "
            "in the discussion knows.",
        ),
        Decision(
            "Which relations?",
            "The comments name the size of the dilated filter against the input. The bounds of strides, dilations and padding are "
            "decided here: a larger stride gives one window only, and a larger dilation is one of a window of one element. All recorded "
            "conformance graphs obey them.",
        ),
        Decision(
            "How does `opSupportLimits()` express them?",
            "By a dictionary `window` of each operation. A member is bounded by the named size, `padded-input` or `window`; a member that "
            "is absent has no such bound. The discussion has no IDL.",
        ),
        Decision(
            "Why has `conv2d` no bound of its padding?",
            "SqueezeNet has filters of one element with a padding of 1. A window of a pool that lies wholly in the padding has no result "
            "on which backends agree (issue #935).",
        ),
        Decision(
            "Does this answer issue #935?",
            'No. With `outputShapeRounding: "ceil"` the last window can still begin behind the input.',
        ),
        Decision("What about `convTranspose2d`?", "It stays as it is: the issue names `conv2d` and pools, and its sizes bound its output."),
        Decision("What do browsers do?", "Chromium 153 takes all of these calls, as the draft does: measured on its CPU backend."),
        Decision("What do device profiles say?", "The same relations: they are checks of the draft, not of a device."),
    ),
    tests=[
        *(
            Case(f"{name}, as large as possible", partial(call, **largest), _NUMBERS)
            for name, call, largest, _ in _ROWS
            if largest is not None
        ),
        *(Case(f"{name}, too large", partial(call, **larger), error="TypeError") for name, call, _, larger in _ROWS),
    ],
    example="""import webnn

context = webnn.ML(revision="2026-06+window-limits").createContextSync()
print(context.opSupportLimits()["maxPool2d"]["window"])

builder = webnn.MLGraphBuilder(context)
x = builder.input("x", {"dataType": "float32", "shape": [1, 1, 5, 8]})
for options in ({"strides": [5, 8]}, {"strides": [6, 1]}, {"windowDimensions": [2, 2], "padding": [0, 2, 0, 0]}):
    try:
        print(options, builder.maxPool2d(x, options).shape)
    except webnn.WebNNTypeError as error:
        print(error)
""",
)
