"""Names, shapes and numbers as short plain text. Names come from programs and files: they may hold any character."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webnn.builder.description import ActivationDescription
from webnn.display.text import clip, count, plural, printable, size, width

if TYPE_CHECKING:
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["clip", "count", "plural", "printable", "shape", "size", "type_and_shape", "value", "width"]

#: The longest text of an option.
_LONGEST = 60


def shape(descriptor: OperandDescriptor) -> str:
    """Write a shape: ``"1×56×56×64"``, ``"scalar"``."""
    return "×".join(map(str, descriptor.shape)) or "scalar"


def type_and_shape(descriptor: OperandDescriptor) -> str:
    """Write a data type and a shape: ``"float32 1×56×56×64"``."""
    return f"{descriptor.dataType} {shape(descriptor)}"


def value(option: Any, *, ellipsis: str = "…", longest: int = _LONGEST) -> str:
    """Write the value of an option or argument on one line, cut to a number of columns."""
    if isinstance(option, ActivationDescription):
        given = ", ".join([f"{name}={value(each, ellipsis=ellipsis, longest=longest)}" for name, each in option.options.items()])
        return clip(f"{option.operation}({given})", longest, ellipsis=ellipsis)
    if isinstance(option, tuple | list):
        # A list is cut at its end: elements behind it need not be written.
        text = ", ".join([value(each, ellipsis=ellipsis, longest=longest) for each in option[:longest]])
        return clip(f"[{text}]", longest, ellipsis=ellipsis)
    return clip(option if isinstance(option, str) else repr(option), longest, ellipsis=ellipsis)
