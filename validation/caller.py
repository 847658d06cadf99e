"""Places in a program, for warnings that name the program's own line."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any, NamedTuple

__all__ = ["Caller", "find_caller", "find_program"]

#: The module of code that has none, as `warnings.warn` calls it: for ``None``, no warning would be given.
_NO_MODULE = "<string>"
_PACKAGE = __name__.partition(".")[0]


class Caller(NamedTuple):
    """A place in a program, for a warning that is given later or in another thread.

    Attributes:
        filename: The file.
        lineno: The line, from 1.
        namespace: The module's names, among them its own record of the warnings that it had, which keeps Python from repeating one.
    """

    filename: str
    lineno: int
    namespace: dict[str, Any]

    def warn(self, message: str, category: type[Warning]) -> None:
        """Give a warning, as `warnings.warn` would in that place."""
        warnings.warn_explicit(
            message,
            category,
            self.filename,
            self.lineno,
            module=self.namespace.get("__name__") or _NO_MODULE,
            registry=self.namespace.setdefault("__warningregistry__", {}),
        )


def find_caller(stacklevel: int = 1) -> Caller:
    """Return a place on the stack.

    Args:
        stacklevel: 1 is the place that calls this function, 2 the one that called that, as for `warnings.warn`.
    """
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


def _place(frame: FrameType | None) -> Caller:
    if frame is None:  # no Python code called: a thread of `_thread` begins with this call, or the interpreter ends with it
        return Caller("<sys>", 0, sys.__dict__)
    return Caller(frame.f_code.co_filename, frame.f_lineno, frame.f_globals)
