"""Promises that are rejected and that nobody handles: how a realm learns of them.

The engine tells its host, but its package for Python passes that on to nobody. So this module asks the library itself, by `ctypes`, to call
a function of the realm. It reads memory of the package's objects, so it does that only with versions of the package for which it was tried;
with others such promises go unnoticed.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import quickjs

__all__ = ["TRIED", "load_library", "watch_rejections"]


class _Value(ctypes.Structure):
    """A value of the engine, on a machine with 64 bits: what it is, and its type."""

    _fields_ = (("content", ctypes.c_uint64), ("tag", ctypes.c_int64))


#: The versions of quickjs-ng whose objects are as this module expects.
TRIED = ("0.17.0.1", "0.17.0.2")
#: The type of a value that is a small integer.
_INTEGER = 0
#: A function that the engine calls: the context, the promise, the reason, whether the promise is handled by now, and something of our own.
_Tracker = ctypes.CFUNCTYPE(None, ctypes.c_void_p, _Value, _Value, ctypes.c_bool, ctypes.c_void_p)
#: The size of the head of every object of CPython, and where behind it a `quickjs.Context` holds the engine's runtime and context, counted
#: in pointers.
_HEAD, _RUNTIME, _CONTEXT = 16, 2, 3


def watch_rejections(engine: quickjs.Context, hand_over: Callable[[], object]) -> object | None:
    """Have a function of the realm called with a promise, the reason and whether it is handled, when one of these is news.

    `hand_over` must have the realm reject a promise with that function as its reason; the realm must keep the function.

    Returns:
        What the realm must keep, too; ``None`` if nothing can be watched here.
    """
    library = load_library()
    if library is None or type(engine).__basicsize__ < _HEAD + 2 * ctypes.sizeof(ctypes.c_void_p):
        return None
    fields = (ctypes.c_void_p * (_CONTEXT + 1)).from_address(id(engine))
    runtime, context = fields[_RUNTIME], fields[_CONTEXT]
    if not runtime or not context or library.JS_GetRuntime(context) != runtime:
        return None
    listener: _Value | None = None

    def tell(context: int, promise: _Value, reason: _Value, is_handled: bool, _: object) -> None:
        nonlocal listener
        if listener is None:
            listener = reason
            return
        arguments = (_Value * 3)(promise, reason, _Value(int(is_handled), _INTEGER))
        # The function returns nothing, so that nothing has to be freed; it fails only where there is no memory or no stack left.
        library.JS_Call(context, listener, promise, len(arguments), arguments)
        if library.JS_HasException(context):
            library.JS_FreeValue(context, library.JS_GetException(context))

    tracker = _Tracker(tell)
    library.JS_SetHostPromiseRejectionTracker(runtime, tracker, None)
    hand_over()
    if listener is None:
        library.JS_SetHostPromiseRejectionTracker(runtime, _Tracker(), None)
        return None
    return tracker


@cache
def load_library() -> ctypes.CDLL | None:
    """Return the engine's library with its functions' types; ``None`` where it does not show them, or values have another form."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != _HEAD or sys.maxsize < 1 << 32:
        return None
    try:
        if metadata.version("quickjs-ng") not in TRIED:
            return None
        library = ctypes.CDLL(importlib.import_module("_quickjs").__file__)
        library.JS_SetHostPromiseRejectionTracker.argtypes = (ctypes.c_void_p, _Tracker, ctypes.c_void_p)
        library.JS_SetHostPromiseRejectionTracker.restype = None
        library.JS_GetRuntime.argtypes, library.JS_GetRuntime.restype = (ctypes.c_void_p,), ctypes.c_void_p
        library.JS_Call.argtypes = (ctypes.c_void_p, _Value, _Value, ctypes.c_int, ctypes.POINTER(_Value))
        library.JS_Call.restype = library.JS_GetException.restype = _Value
        library.JS_HasException.argtypes, library.JS_HasException.restype = (ctypes.c_void_p,), ctypes.c_bool
        library.JS_GetException.argtypes = (ctypes.c_void_p,)
        library.JS_FreeValue.argtypes, library.JS_FreeValue.restype = (ctypes.c_void_p, _Value), None
    except (ImportError, OSError, AttributeError):  # a missing package is an ImportError, too
        return None
    return library
