"""Places in a program, for warnings that name the program's own line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from types import FrameType
from typing import Any, NamedTuple

__all__ = ["LISTENER", "PLACE", "Caller", "find_caller", "find_line", "find_program"]

#: Is told of the warnings about calls that are made in this context; Python's own warnings are not given then. For programs without lines
#: of Python.
LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("LISTENER", default=None)
#: The file and the line of a program without lines of Python, which makes the calls of this context.
PLACE: ContextVar[tuple[str, int] | None] = ContextVar("PLACE", default=None)

#: The module name for code without one, as in `warnings.warn`. With ``None``, no warning would be given.
_NO_MODULE = "<string>"
_PACKAGE = __name__.partition(".")[0]


class Caller(NamedTuple):
    """A place in a program, for a warning that is given later or in another thread.

    Attributes:
        namespace: The module's global names. They include the record with which Python avoids repeating a warning.
        listener: Is told of the warning in the place of the program.
    """

    filename: str
    lineno: int
    namespace: dict[str, Any]
    listener: Callable[[str], None] | None = None

    def warn(self, message: str, category: type[Warning]) -> None:
        """Give a warning, as `warnings.warn` would in that place."""
        if self.listener is not None:
            self.listener(message)
            return
        warnings.warn_explicit(
            message,
            category,
            self.filename,
            self.lineno,
            module=self.namespace.get("__name__") or _NO_MODULE,
            registry=self.namespace.setdefault("__warningregistry__", {}),
        )


def find_caller(stacklevel: int = 1) -> Caller:
    """Return a place on the stack: 1 is the caller of this function, 2 the caller's caller, as for `warnings.warn`."""
    try:
        return _place(sys._getframe(stacklevel))
    except ValueError:
        return _place(None)


def find_program() -> Caller:
    """Return the innermost place on the stack that is outside of this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _PACKAGE:
        frame = frame.f_back
    return _place(frame)


def find_line() -> tuple[str, int]:
    """Return the file and the line of the program that makes this call."""
    place = PLACE.get()
    if place is not None:
        return place
    caller = find_program()
    return caller.filename, caller.lineno


def _place(frame: FrameType | None) -> Caller:
    if frame is None:  # no Python caller: a `_thread` thread starts with this call, or the interpreter is exiting
        return Caller("<sys>", 0, sys.__dict__, LISTENER.get())
    return Caller(frame.f_code.co_filename, frame.f_lineno, frame.f_globals, LISTENER.get())
