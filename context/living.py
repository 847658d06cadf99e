"""Objects that are remembered as long as they live."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any, Generic, TypeVar

__all__ = ["Living"]

T = TypeVar("T")


class Living(Generic[T]):
    """A set of objects by identity, which does not keep them alive. Any thread may call any method.

    Python discards an exception in the callback of a weak reference. An interrupt there would be lost, and leave an entry that a later
    object of the same address is mistaken for. So the callback is a method that is written in C, in which no interrupt can come, and an
    entry counts as long as its reference has an object.

    Attributes:
        entries: The references by the identity of the objects.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[int, weakref.ref[Any]] = {}

    def __contains__(self, member: object) -> bool:
        entry = self.entries.get(id(member))
        return entry is not None and entry() is not None

    def __len__(self) -> int:
        return len(self.entries)

    def entry(self, member: T, witness: Any = None) -> weakref.ref[Any]:
        """Make the entry of an object; if it has no weak references, that of a witness, which keeps it alive."""
        # The reference is the argument, and so the default of `pop`.
        forget = partial(self.entries.pop, id(member))
        try:
            return weakref.ref(member, forget)
        except TypeError:
            return weakref.ref(witness, forget)

    def add(self, member: T, entry: weakref.ref[Any] | None = None) -> bool:
        """Remember an object; tell whether it is new. The test and the change are one step."""
        entry = entry or self.entry(member)
        return self.entries.setdefault(id(member), entry) is entry

    def discard(self, member: T) -> None:
        """Forget an object."""
        self.entries.pop(id(member), None)

    def all(self) -> list[T]:
        """Return the objects."""
        return [member for entry in list(self.entries.values()) if (member := entry()) is not None]
