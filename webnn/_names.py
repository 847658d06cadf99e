"""The names that classes show: those under which programs import them, ``webnn.MLGraphBuilder``."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any

from webnn.validation.member import Member

__all__ = ["publish"]


def publish(module: str, names: Iterable[object]) -> None:
    """Show classes of this package as a module's own in `repr`, `help`, tracebacks and pickles. Inherited methods show as their own."""
    for cls in names:
        if not inspect.isclass(cls) or not cls.__module__.startswith(f"{module}."):
            continue
        for base in cls.__mro__:
            if base.__module__.startswith(f"{module}."):
                for name, member in vars(base).items():
                    function = member.checked if isinstance(member, Member) else member
                    if inspect.isfunction(function) and not name.startswith("_"):
                        _rename(function, module, f"{cls.__qualname__}.{name}")
        cls.__module__ = module
        # The line number of a class refers to the file of its module. Without it `inspect.getsource` fails; with it, other code would be
        # shown.
        if "__firstlineno__" in vars(cls):  # Python 3.13
            del cls.__firstlineno__  # type: ignore[attr-defined]


def _rename(function: Callable[..., Any], module: str, qualname: str) -> None:
    overloads = typing.get_overloads(function)
    for each in (*overloads, function, getattr(function, "__wrapped__", None)):
        if each is not None:
            each.__module__ = module
            each.__qualname__ = qualname
    for each in overloads:
        # They are registered by the names of their function.
        typing.overload(each)
