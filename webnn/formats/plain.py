"""Names, shapes and numbers as short plain text. Names come from programs and files: they may hold any character."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from webnn.builder.description import ActivationDescription
from webnn.display.text import clip, printable, width

if TYPE_CHECKING:
    from webnn.validation.descriptor import OperandDescriptor

__all__ = ["clip", "count", "printable", "shape", "size", "type_and_shape", "value", "width"]

#: The longest text of an option.
_LONGEST = 60
_THOUSANDS = ("", " K", " M", " G", " T", " P")
_BYTES = (" bytes", " KiB", " MiB", " GiB", " TiB")


def shape(descriptor: OperandDescriptor) -> str:
    """Write a shape: ``"1×56×56×64"``, ``"scalar"``."""
    return "×".join(map(str, descriptor.shape)) or "scalar"


def type_and_shape(descriptor: OperandDescriptor) -> str:
    """Write a data type and a shape: ``"float32 1×56×56×64"``."""
    return f"{descriptor.dataType} {shape(descriptor)}"


def value(option: Any, *, ellipsis: str = "…") -> str:
    """Write the value of an option or argument on one line."""
    if isinstance(option, ActivationDescription):
        given = ", ".join([f"{name}={value(each, ellipsis=ellipsis)}" for name, each in option.options.items()])
        return clip(f"{option.operation}({given})", _LONGEST, ellipsis=ellipsis)
    if isinstance(option, tuple | list):
        # A list is cut at its end: elements behind it need not be written.
        text = ", ".join([value(each, ellipsis=ellipsis) for each in option[:_LONGEST]])
        return clip(f"[{text}]", _LONGEST, ellipsis=ellipsis)
    return clip(option if isinstance(option, str) else repr(option), _LONGEST, ellipsis=ellipsis)


def count(number: int) -> str:
    """Write a number with three digits and a unit: ``"861"``, ``"1.24 M"``."""
    return _scale(number, 1000, _THOUSANDS)


def size(number: int) -> str:
    """Write a number of bytes: ``"512 bytes"``, ``"4.71 MiB"``."""
    return "1 byte" if number == 1 else _scale(number, 1024, _BYTES)


def _scale(number: int, base: int, units: tuple[str, ...]) -> str:
    power = 0
    while power + 1 < len(units) and number >= base ** (power + 1):
        power += 1
    if power == 0:
        return f"{number}{units[0]}"
    scaled = number / base**power
    # A number such as 999,999 must not become "1000.00 K".
    if round(scaled, 0) >= base and power + 1 < len(units):
        power, scaled = power + 1, scaled / base
    digits = 2 if scaled < 10 else 1 if scaled < 100 else 0
    return f"{scaled:.{digits}f}{units[power]}"
