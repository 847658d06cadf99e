"""Keyword options that several functions share: a TypedDict lists them, and ``**options: Unpack[...]`` takes them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

__all__ = ["check_keywords", "show_keywords"]

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])
_ENTRY = re.compile(r"^    options: .*\n(?:        .*\n)*", re.MULTILINE)


def show_keywords(options: type) -> Callable[[_Decorated], _Decorated]:
    """Show the options of a TypedDict in the signature and the docstring of a function or class that takes ``**options``.

    So `help` and editors list them. The entry ``options`` of the docstring is replaced by the TypedDict's own.
    """

    def decorate(decorated: _Decorated) -> _Decorated:
        signature = inspect.signature(decorated)
        kept = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        shown = [
            # A TypedDict wraps the text of an annotation.
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=getattr(type_, "__forward_arg__", type_))
            for name, type_ in options.__annotations__.items()
        ]
        decorated.__signature__ = signature.replace(parameters=[*kept, *shown])  # type: ignore[attr-defined]  # `inspect` reads it
        # Python has no docstrings with -OO.
        entries = inspect.cleandoc(options.__doc__ or "").partition("Attributes:\n")[2]
        decorated.__doc__ = _ENTRY.sub(lambda _: f"{entries}\n", inspect.cleandoc(decorated.__doc__ or ""))
        return decorated

    return decorate


def check_keywords(where: str, given: Mapping[str, object], options: type) -> None:
    """Raise TypeError, as Python does, for a keyword that is not an option of a TypedDict."""
    for name in given:
        if name not in options.__annotations__:
            raise TypeError(f"{where}() got an unexpected keyword argument {name!r}")
