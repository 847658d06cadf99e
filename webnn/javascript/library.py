"""The engine's library itself, for what its package for Python does not offer: rejections, bytecode, and bytes without text.

It is called by `ctypes`, and memory of the package's objects is read. So it is used only with versions of the package for which that was
tried, on CPython with 64 bits. Elsewhere rejections go unnoticed (`rejections`), scripts are parsed each time (`bytecode`), and bytes are
passed as text.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import quickjs

__all__ = ["EXCEPTION", "INTEGER", "TRIED", "UNDEFINED", "Engine", "JSValue", "Tracker", "find_engine", "load_library"]


class JSValue(ctypes.Structure):
    """A value of the engine, on a machine with 64 bits: what it is, and its type."""

    _fields_ = (("content", ctypes.c_uint64), ("tag", ctypes.c_int64))


#: The versions of quickjs-ng whose objects are as this module expects.
TRIED = ("0.17.0.1", "0.17.0.2")
#: The types of values: a small integer, ``undefined``, and "an error was thrown".
INTEGER, UNDEFINED, EXCEPTION = 0, 3, 6
#: A function that the engine calls: the context, the promise, the reason, whether the promise is handled by now, and something of our own.
Tracker = ctypes.CFUNCTYPE(None, ctypes.c_void_p, JSValue, JSValue, ctypes.c_bool, ctypes.c_void_p)
_POINTER = ctypes.sizeof(ctypes.c_void_p)
#: The size of the head of every object of CPython, and where behind it a `quickjs.Context` holds the engine's runtime and context, counted
#: in pointers. A `quickjs.Object` holds its `quickjs.Context` there, and then its value.
_HEAD, _RUNTIME, _CONTEXT = 16, 2, 3
#: The flag of `PyMemoryView_FromMemory` for writable memory.
_WRITABLE = 0x200
_Context, _Size = ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)
#: The functions that are used: what they return, and their arguments.
_FUNCTIONS: Mapping[str, tuple[Any, Sequence[Any]]] = MappingProxyType(
    {
        "JS_SetHostPromiseRejectionTracker": (None, (ctypes.c_void_p, Tracker, ctypes.c_void_p)),
        "JS_GetRuntime": (ctypes.c_void_p, (_Context,)),
        "JS_UpdateStackTop": (None, (ctypes.c_void_p,)),
        "JS_Call": (JSValue, (_Context, JSValue, JSValue, ctypes.c_int, ctypes.POINTER(JSValue))),
        "JS_HasException": (ctypes.c_bool, (_Context,)),
        "JS_GetException": (JSValue, (_Context,)),
        "JS_FreeValue": (None, (_Context, JSValue)),
        "JS_GetUint8Array": (ctypes.c_void_p, (_Context, _Size, JSValue)),
        "JS_Eval": (JSValue, (_Context, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int)),
        "JS_WriteObject": (ctypes.c_void_p, (_Context, _Size, JSValue, ctypes.c_int)),
        "JS_ReadObject": (JSValue, (_Context, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int)),
        "JS_EvalFunction": (JSValue, (_Context, JSValue)),
        "JS_GetGlobalObject": (JSValue, (_Context,)),
        "JS_SetPropertyStr": (ctypes.c_int, (_Context, JSValue, ctypes.c_char_p, JSValue)),
        "js_free": (None, (_Context, ctypes.c_void_p)),
    }
)


class Library(NamedTuple):
    """The engine's library in two ways: as its package calls it.

    Attributes:
        held: Its functions hold Python's lock: for use while no program runs, or one waits for a function of Python.
        released: Its functions release Python's lock: for use in functions that the engine calls by itself, while a program runs.
    """

    held: ctypes.PyDLL
    released: ctypes.CDLL


class Engine:
    """The library's view of a `quickjs.Context`, which the caller keeps."""

    def __init__(self, owner: quickjs.Context, library: Library, runtime: int, context: int) -> None:
        self.library, self.runtime, self.context = library, runtime, context
        self._owner = id(owner)

    @contextmanager
    def memory(self, array: object) -> Iterator[memoryview]:
        """Lend the memory of a `Uint8Array` while the program waits.

        The engine itself says where it is, and how large: the program cannot deceive it. Raises `TypeError` if it is no such array of this
        engine.
        """
        if type(array) is not _object_type() or ctypes.c_void_p.from_address(id(array) + _HEAD).value != self._owner:
            raise TypeError("it must be an object of this engine")
        held, size, value = self.library.held, ctypes.c_size_t(), JSValue.from_address(id(array) + _HEAD + _POINTER)
        address = held.JS_GetUint8Array(self.context, ctypes.byref(size), value)
        if held.JS_HasException(self.context):
            held.JS_FreeValue(self.context, held.JS_GetException(self.context))
            raise TypeError("it must be a Uint8Array that is not detached")
        view = ctypes.pythonapi.PyMemoryView_FromMemory(address, size.value, _WRITABLE) if size.value else memoryview(bytearray())
        with view:
            yield view


def find_engine(owner: quickjs.Context) -> Engine | None:
    """Return the library's view of a `quickjs.Context`; ``None`` where the library is not used."""
    library = load_library()
    if library is None or type(owner).__basicsize__ < _HEAD + 2 * _POINTER:
        return None
    fields = (ctypes.c_void_p * (_CONTEXT + 1)).from_address(id(owner))
    runtime, context = fields[_RUNTIME], fields[_CONTEXT]
    if not runtime or not context or library.held.JS_GetRuntime(context) != runtime:
        return None
    return Engine(owner, library, runtime, context)


@cache
def load_library() -> Library | None:
    """Return the engine's library with its functions' types; ``None`` where it does not show them, or values have another form."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != _HEAD or sys.maxsize < 1 << 32:
        return None
    try:
        if metadata.version("quickjs-ng") not in TRIED or _object_type().__basicsize__ != _HEAD + _POINTER + ctypes.sizeof(JSValue):
            return None
        path = importlib.import_module("_quickjs").__file__
        library = Library(ctypes.PyDLL(path), ctypes.CDLL(path))
        for way in library:
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(way, name)
                function.restype, function.argtypes = result, arguments
    except (ImportError, OSError, AttributeError):  # a missing package is an ImportError, too
        return None
    ctypes.pythonapi.PyMemoryView_FromMemory.restype = ctypes.py_object
    ctypes.pythonapi.PyMemoryView_FromMemory.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)
    return library


@cache
def _object_type() -> type[Any]:
    import quickjs  # noqa: PLC0415

    kind: type[Any] = quickjs.Object
    return kind
