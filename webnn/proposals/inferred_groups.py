"""``groups`` of convolutions without a default: #959."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from pydantic import create_model

from webnn.proposals.proposal import Case, Decision, Proposal
from webnn.validation.conv import Conv2dOptions, ConvTranspose2dOptions
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.dictionary import Dictionary, UnsignedLong
from webnn.validation.drafts.idl import merge_idl

__all__ = ["PROPOSAL"]

_RANK = 4


def _without_default(model: type[Dictionary]) -> type[Dictionary]:
    fields: dict[str, Any] = {"groups": (UnsignedLong | None, None)}
    return create_model(model.__name__, __base__=model, __module__=model.__module__, __doc__=model.__doc__, **fields)


def _infer_groups(operands: Sequence[OperandDescriptor], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the number of groups of ``conv2d`` that fits, unless it is given; 1 if none fits, which the steps refuse."""
    if "groups" in given:
        return {}
    channels, taken = (
        _channels(operand, given.get(member, layout), name)
        for operand, member, layout, name in zip(operands, ("inputLayout", "filterLayout"), ("nchw", "oihw"), "ci", strict=True)
    )
    return {"groups": channels // taken if taken > 0 and channels > 0 and channels % taken == 0 else 1}


def _channels(operand: OperandDescriptor, layout: object, name: str) -> int:
    """Return the size of an axis by its name in a layout, which may be anything; 0 if there is none, or it is not known yet."""
    axis = layout.find(name) if isinstance(layout, str) else -1
    size = operand.dimensions[axis] if operand.rank == _RANK == len(str(layout)) and axis >= 0 else 0
    return size if type(size) is int else 0


def _one_group(operands: Sequence[OperandDescriptor], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the one group of ``convTranspose2d``, unless their number is given."""
    return {} if "groups" in given else {"groups": 1}


_GROUPS = {"name": "groups", "type": {"extendedAttributes": {"EnforceRange": True}, "type": "unsigned long"}}
_IDL = {"dictionaries": {name: {"members": [_GROUPS]} for name in ("MLConv2dOptions", "MLConvTranspose2dOptions")}}

# Tests for implementations.


def _convolve(builder: Any, channels: int, filter: Sequence[int], **options: Any) -> Mapping[str, Any]:
    x = builder.input("x", {"dataType": "float32", "shape": [1, channels, 2, 2]})
    numbers = np.arange(1, np.prod(filter) + 1, dtype=np.float32)
    return {"y": builder.conv2d(x, builder.constant({"dataType": "float32", "shape": list(filter)}, numbers), **options)}


def _transposed(builder: Any) -> Mapping[str, Any]:
    x = builder.input("x", {"dataType": "float32", "shape": [1, 4, 2, 2]})
    filter = builder.constant({"dataType": "float32", "shape": [4, 2, 1, 1]}, np.arange(8, dtype=np.float32))
    return {"y": builder.convTranspose2d(x, filter)}


_NUMBERS = {"x": np.arange(16, dtype=np.float32).reshape(1, 4, 2, 2)}

PROPOSAL = Proposal(
    name="inferred-groups",
    since="2026-06",
    changed={
        "conv2d": {"options": _without_default(Conv2dOptions), "complete": _infer_groups},
        "convTranspose2d": {"options": _without_default(ConvTranspose2dOptions), "complete": _one_group},
    },
    idl=partial(merge_idl, changes=_IDL),
    title="Convolutions without a default of groups",
    source=(
        "webmachinelearning/webnn #959, of September 2026, of which only the subject was known here: `groups` has no default. The IDL of "
        "2026-09-28 still has the default 1"
    ),
    summary=(
        "`groups` of `conv2d` and `convTranspose2d` has no default. A program that does not give it gets the number of groups that the "
        "channels of the input and of the filter have."
    ),
    errors=("`conv2d` without `groups`: the channels of the input are a multiple of those that the filter takes.",),
    program=(
        "Nothing, for programs that are valid: they mean the same.",
        "`groups` can be left away where the shapes tell it, as in depthwise convolutions.",
    ),
    decisions=(
        Decision(
            "What does the text say?",
            "It could not be read here: neither the pull request nor a draft with it is public in the sources of this package. Everything "
            "below is decided here.",
        ),
        Decision(
            "What is `groups` in `conv2d` if it is not given?",
            "The channels of the input divided by those that the filter takes. No other number passes the steps of the draft, so each call "
            "that is valid without `groups` keeps its meaning. If no number fits, it is 1, and the call fails as in the draft.",
        ),
        Decision(
            "Why is the member not required?",
            "Then nearly every program would be a TypeError: most convolutions have one group, and do not say so.",
        ),
        Decision(
            "What is it in `convTranspose2d`?",
            "1. The shapes of the operands do not tell it: the filter takes all channels of the input, whatever the number of groups is.",
        ),
        Decision(
            "What does a file of a graph have?",
            "The number, also if it was not given. The draft without this proposal reads the same graph.",
        ),
        Decision(
            "With dimensions that have names (dynamic-shapes)?",
            "The number follows from the shapes at dispatch.",
        ),
    ),
    tests=[
        Case("depthwise conv2d without groups", partial(_convolve, channels=4, filter=[4, 1, 1, 1]), _NUMBERS),
        Case("conv2d of two groups without groups", partial(_convolve, channels=4, filter=[6, 2, 2, 2]), _NUMBERS),
        Case("conv2d of one group without groups", partial(_convolve, channels=4, filter=[3, 4, 1, 1]), _NUMBERS),
        Case("convTranspose2d without groups has one", _transposed, _NUMBERS),
        Case(
            "conv2d without groups: the filter divides the channels", partial(_convolve, channels=4, filter=[3, 3, 1, 1]), error="TypeError"
        ),
        Case("conv2d without groups: the groups divide the output", partial(_convolve, channels=4, filter=[3, 1, 1, 1]), error="TypeError"),
        Case("conv2d with groups that do not fit", partial(_convolve, channels=4, filter=[4, 1, 1, 1], groups=2), error="TypeError"),
    ],
    example="""import webnn

context = webnn.ML(revision="2026-06+inferred-groups").createContextSync()
builder = webnn.MLGraphBuilder(context)
x = builder.input("x", {"dataType": "float32", "shape": [1, 8, 5, 5]})
for channels in (8, 4, 1, 3):
    filter = builder.input(f"filter{channels}", {"dataType": "float32", "shape": [16, channels, 3, 3]})
    try:
        y = builder.conv2d(x, filter)
    except webnn.WebNNTypeError as error:
        print(error)
    else:
        print(channels, y.shape, webnn.describe({"y": y}).operators[0].options)
""",
)
