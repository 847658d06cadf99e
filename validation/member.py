"""Members of interfaces that some drafts do not have.

Such a member is declared so where it is defined, with the decorator `member`. In a context of a draft that lacks it, it is absent for
`hasattr`, `getattr` with a default, and `dir`, as it is in a page; an access raises `MissingMemberError`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from webnn.validation.errors import MissingMemberError

if TYPE_CHECKING:
    from webnn.validation.revision import Revision

__all__ = ["DraftMembers", "F", "Member", "member"]

F = TypeVar("F", bound=Callable[..., Any])


class DraftMembers:
    """The base of a class with such members: what `dir` shows."""

    __slots__ = ()

    _revision: Revision

    def __dir__(self) -> Iterable[str]:
        return [name for name in super().__dir__() if not self._lacks(name)]

    def _lacks(self, name: str) -> bool:
        found = next((vars(cls)[name] for cls in type(self).__mro__ if name in vars(cls)), None)
        declared = found.fget if isinstance(found, property) else found
        return isinstance(declared, Member) and not declared.has(self._revision)


class Member:
    """A method that some drafts do not have, or the getter of such an attribute, under `property`.

    On an instance it is a bound method, or an error. On the class it is a function, which checks its first argument when it is called.

    Args:
        function: The method.
        has: Tells whether a draft has it.
        instead: What a draft without it has in its place, for the message; empty for nothing.
        kind: What the message calls a method.

    Attributes:
        has: As above.
        checked: What the class has.
    """

    def __init__(self, function: Callable[..., Any], has: Callable[[Revision], object], instead: str = "", kind: str = "method") -> None:
        @functools.wraps(function)
        def checked(instance: DraftMembers, /, *args: Any, **options: Any) -> Any:
            return self.__get__(instance)(*args, **options)

        self.has = has
        self.checked = checked
        self._function = function
        #: The draft that was found to have it last: the tests for it would take longer than all the rest.
        self._granted: Revision | None = None
        self._instead = instead
        self._kind = kind
        # `property` takes its text from here.
        self.__doc__ = function.__doc__

    def __get__(self, instance: DraftMembers | None, owner: type | None = None) -> Callable[..., Any]:
        if instance is None:
            return self.checked
        revision = instance._revision
        if revision is not self._granted:
            if not self.has(revision):
                raise self._error(instance)
            self._granted = revision
        return MethodType(self._function, instance)

    def __call__(self, instance: DraftMembers) -> Any:
        """Return the value of an attribute: this is what `property` calls."""
        return self.__get__(instance)()

    def _error(self, instance: DraftMembers) -> MissingMemberError:
        interface, _, name = self.checked.__qualname__.rpartition(".")
        # A twin has the section of the member that it belongs to.
        operation = name.removesuffix("Sync")
        of_attribute = isinstance(getattr(type(instance), operation), property)
        kind = "attribute" if of_attribute and operation == name else self._kind
        section = f"#{'' if of_attribute else 'api-'}{interface}".lower()
        instead = f": {self._instead}" if self._instead else ""
        return MissingMemberError(
            f"{name}: the draft {instance._revision.name} has no such {kind}{instead}",
            operation=operation,
            anchor=section if kind == "operation" else f"{section}-{operation.lower()}",
        )


def member(has: Callable[[Revision], object], instead: str = "") -> Callable[[F], F]:
    """Declare a member that some drafts do not have.

    Args:
        has: Tells whether a draft has it.
        instead: What a draft without it has in its place, to be read behind a colon; empty for nothing.

    Returns:
        The decorator of a method. An attribute has `property` above it.
    """

    def declare(function: F) -> F:
        return cast(F, Member(function, has, instead))

    return declare
