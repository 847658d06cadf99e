"""Members of interfaces that some drafts do not have.

The decorator `some_drafts` marks such a member; the modules of the drafts say which drafts have it. In a context of a draft without the
member, it is absent for `hasattr`, `getattr` with a default, and `dir`, as in a page; an access raises `MissingMemberError`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, MethodType, new_class
from typing import TYPE_CHECKING, Any, TypeVar, cast

from webnn.validation.errors import MissingMemberError
from webnn.validation.switch import explain_switch

if TYPE_CHECKING:
    from webnn.validation.operation import Operation
    from webnn.validation.revision import Revision

__all__ = ["DraftMembers", "Member", "class_of_draft", "some_drafts"]

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])


def _operations() -> Mapping[str, Operation]:
    # Imported lazily because it loads pydantic.
    from webnn.validation.families import OPERATIONS  # noqa: PLC0415

    return OPERATIONS


class DraftMembers:
    """The base of a class with such members; `dir` omits those that the draft lacks."""

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

    On an instance it is a bound method, or an error. On the class it is the function ``checked``, which checks its first argument when it
    is called.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        @functools.wraps(function)
        def checked(instance: DraftMembers, /, *args: Any, **options: Any) -> Any:
            return self.__get__(instance)(*args, **options)

        self.checked = checked
        self.function = function
        #: A cache: the draft that was last found to have the member. The test for it takes longer than the rest of an access.
        self._granted: Revision | None = None
        # `property` takes its docstring from here.
        self.__doc__ = function.__doc__

    def has(self, revision: Revision) -> bool:
        """Tell whether a draft has the member; a member with ``Sync`` belongs to the one without it."""
        interface, name = self._place()
        return name in revision.operations if name in _operations() else f"{interface}.{name}" in revision.members

    def __get__(self, instance: DraftMembers | None, owner: type | None = None) -> Callable[..., Any]:
        if instance is None:
            return self.checked
        revision = instance._revision
        if revision is not self._granted:
            if not self.has(revision):
                raise self._error(instance)
            self._granted = revision
        return MethodType(self.function, instance)

    def __call__(self, instance: DraftMembers) -> Any:
        """Return the value of an attribute; `property` calls this."""
        return self.__get__(instance)()

    def _place(self) -> tuple[str, str]:
        # Not read in `__init__`: `webnn` later gives the methods of a mixin the name of the class that inherits it.
        interface, _, name = self.checked.__qualname__.rpartition(".")
        name = name.removesuffix("Sync")
        # Until then it is the name of the mixin. Only one interface has operations.
        return "MLGraphBuilder" if name in _operations() else interface, name

    def _error(self, instance: DraftMembers) -> MissingMemberError:
        # Imported lazily because it loads pydantic.
        from webnn.validation.drafts import explain_absence  # noqa: PLC0415

        interface, operation = self._place()
        name, revision = self.checked.__name__, instance._revision
        of_attribute = isinstance(getattr(type(instance), operation), property)
        kind = "attribute" if of_attribute and operation == name else "operation" if name in _operations() else "method"
        section = f"#{'' if of_attribute else 'api-'}{interface}".lower()
        advice = "; ".join(filter(None, [explain_absence(revision, f"{interface}.{operation}"), explain_switch(self.has)]))
        return MissingMemberError(
            f"{name}: the draft {revision.name} has no such {kind}{f': {advice}' if advice else ''}",
            operation=operation,
            anchor=section if kind == "operation" else f"{section}-{operation.lower()}",
            rule="draft",
        )


def some_drafts(method: F) -> F:
    """Declare a method, or the getter of an attribute below `property`, that some drafts do not have."""
    return cast(F, Member(method))


def class_of_draft(cls: type[C], interface: str, revision: Revision) -> type[C]:
    """Return the subclass of an interface's class for a draft; the class itself will do for a draft that does not reshape interfaces.

    The subclass has the members that `Delta.mixins` add, and hides members that the draft lacks and that are not declared with
    `some_drafts`. The methods that the draft has are plain functions in it, because a `Member` takes longer than some of them.
    """
    found: Any = cls
    return cast("type[C]", _class_of_draft(found, interface, revision))


@functools.cache
def _class_of_draft(cls: type[Any], interface: str, revision: Revision) -> type[Any]:
    lacking = {key.partition(".")[2] for key in revision.removed if key.startswith(f"{interface}.")}
    if interface == "MLGraphBuilder":
        lacking.update(_operations().keys() - revision.operations.keys())
    members: dict[str, object] = {}
    for name in [*lacking, *(f"{each}Sync" for each in lacking)]:
        found = inspect.getattr_static(cls, name, None)
        function = found.fget if isinstance(found, property) else found
        # Members that a program's subclass defines are kept.
        if isinstance(function, FunctionType) and function.__module__.partition(".")[0] == "webnn":
            members[name] = property(Member(function)) if isinstance(found, property) else Member(function)
    mixins = revision.mixins.get(interface, ())
    declared = {name: found for each in (*reversed(cls.__mro__), *reversed(mixins)) for name, found in vars(each).items()}
    members.update({name: found.function for name, found in declared.items() if isinstance(found, Member) and found.has(revision)})
    namespace = {"__slots__": (), "__module__": cls.__module__, "__doc__": cls.__doc__, **members}
    return new_class(cls.__name__, (*mixins, cls), exec_body=lambda body: body.update(namespace))
