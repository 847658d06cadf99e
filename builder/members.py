"""What `MLOperand.dataType` and `MLOperand.shape` are: attributes in the current draft, methods in that of June 2024.

The annotations allow both, because an annotation does not know the context's revision. At run time each draft has its own form, and the
other one is an error that says so.
"""

from __future__ import annotations

from typing import NoReturn

from webnn.validation.descriptor import DataType
from webnn.validation.errors import WebNNTypeError

__all__ = ["DataTypeMember", "ShapeMember"]


class DataTypeMember(str):
    """A data type, for example ``"float32"``."""

    __slots__ = ()

    def __call__(self) -> DataType:
        """Refuse the form of June 2024."""
        _refuse("dataType")


class ShapeMember(tuple[int, ...]):
    """A shape: the size of each dimension."""

    __slots__ = ()

    def __call__(self) -> list[int]:
        """Refuse the form of June 2024."""
        _refuse("shape")


def _refuse(name: str) -> NoReturn:
    raise WebNNTypeError(
        f"{name}: it is an attribute in the current draft, and a method in that of June 2024: write operand.{name}",
        operation=name,
        anchor="#api-mloperand",
    )
