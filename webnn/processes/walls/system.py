"""Calls of the system's C library."""

from __future__ import annotations

import ctypes
import os
import sys

__all__ = ["MissingError", "call", "prctl"]

_library = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class MissingError(Exception):
    """The system does not have a wall."""


def call(name: str, *arguments: object) -> int:
    """Call a function of the C library. Raises `MissingError` if its result is negative."""
    if _library is None:
        raise MissingError("only Linux has it")
    result: int = getattr(_library, name)(*arguments)
    if result < 0:
        raise MissingError(f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def prctl(option: int, value: int) -> None:
    """Set an option of this process. Raises `MissingError`."""
    call("prctl", option, *map(ctypes.c_ulong, (value, 0, 0, 0)))
