"""`MLOperand.dataType` and `MLOperand.shape`: methods until 2024-06, attributes since 2026-06.

The annotations allow both, because an annotation does not know the context's revision. At run time only the form of the context's draft
works. Two mistakes raise an error that names the right form: a call of an attribute; and a comparison, or any other use, of a method that
was not called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from webnn.validation.descriptor import DataType
from webnn.validation.errors import WebNNTypeError
from webnn.validation.switch import explain_switch

__all__ = ["DataTypeMember", "OperandMethod", "ShapeMember"]


class DataTypeMember(str):
    """A data type, for example ``"float32"``."""

    __slots__ = ()

    def __call__(self) -> DataType:
        """Refuse the call: it is an attribute here."""
        raise _uncallable("dataType")


class ShapeMember(tuple[int, ...]):
    """A shape: the size of each dimension."""

    __slots__ = ()

    def __call__(self) -> list[int]:
        """Refuse the call: it is an attribute here."""
        raise _uncallable("shape")


class OperandMethod:
    """A method of an operand, for drafts in which it is not an attribute. It can only be called.

    A bound method would be unequal to every data type and every shape: a program that forgets the call would silently take the wrong
    branch, as in a page.
    """

    __slots__ = ("_function", "_name")

    def __init__(self, name: str, function: Callable[[], DataType | list[int]]) -> None:
        self._name = name
        self._function = function

    def __call__(self) -> DataType | list[int]:
        """Return the data type or the shape."""
        return self._function()

    def __repr__(self) -> str:
        return f"<method {self._name} of MLOperand: write operand.{self._name}()>"

    def __eq__(self, other: object) -> bool:
        raise _uncalled(self._name)

    def __hash__(self) -> int:
        raise _uncalled(self._name)

    def __len__(self) -> int:
        raise _uncalled(self._name)

    def __iter__(self) -> Iterator[object]:
        raise _uncalled(self._name)

    def __getitem__(self, index: object) -> object:
        raise _uncalled(self._name)


def _uncallable(name: str) -> WebNNTypeError:
    return _error(name, f"it is an attribute in this draft, not a method: write operand.{name}", has=False)


def _uncalled(name: str) -> WebNNTypeError:
    return _error(name, f"it is a method in this draft, not an attribute: write operand.{name}()", has=True)


def _error(name: str, reason: str, *, has: bool) -> WebNNTypeError:
    switch = explain_switch(lambda revision: revision.attributes is has)
    return WebNNTypeError(f"{name}: {reason}; {switch}", operation=name, rule="draft", anchor="#api-mloperand")
