"""The views of a request: descriptions and bytes become arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from webnn.javascript.channel import Bytes
from webnn.javascript.values import DTYPES

__all__ = ["Array", "View", "make_arrays", "memory_of"]

Array = np.ndarray[Any, np.dtype[Any]]

#: The element types of the views. A page that has no `Float16Array` passes the bits of float16 as `Uint16Array`, as the draft suggests
#: (`#appendices-mloperanddatatype-arraybufferview-compatibility`); the draft has no use for a `Uint16Array` otherwise.
_DTYPES = {**DTYPES, "Uint16Array": np.float16, "ArrayBuffer": np.uint8, "SharedArrayBuffer": np.uint8}


class View(TypedDict):
    """The description of a view in a request."""

    kind: str
    buffer: int
    offset: int
    length: int
    detached: bool
    sent: bool


def make_arrays(
    views: Sequence[View], buffers: Sequence[Bytes], *, any_bytes: bool, bits: bool = False, read_only: bool = False
) -> list[Array]:
    """Return the views of a request as arrays. Views of one buffer share their memory, so that the emulator sees what it must refuse.

    With ``any_bytes``, a view whose element type the draft does not have is treated as bytes. With ``bits``, a ``Uint16Array`` has the
    bits of any type of 16 bits: the draft has several. With ``read_only``, nobody writes to them, and those of `bytes` are not copied.
    """
    sent = iter(buffers)
    contents = [next(sent) if view["sent"] else None for view in views]
    # The bytes of a buffer outside its views were not sent, because they are not used.
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for view in views:
        number, start = view["buffer"], view["offset"]
        starts[number] = min(starts.get(number, start), start)
        ends[number] = max(ends.get(number, 0), start + view["length"])
    memory: dict[int, Array] = {}
    arrays: list[Array] = []
    for view, content in zip(views, contents, strict=True):
        number, size = view["buffer"], ends[view["buffer"]] - starts[view["buffer"]]
        start = view["offset"] - starts[number]
        if number not in memory and content is not None and len(content) == size:
            array = np.frombuffer(content, np.uint8)
            memory[number] = array if read_only or array.flags.writeable else array.copy()
        else:
            memory.setdefault(number, np.zeros(size, np.uint8))
            if content is not None:
                memory[number][start : start + view["length"]] = np.frombuffer(content, np.uint8)
        arrays.append(memory[number][start : start + view["length"]].view(_dtype(view, any_bytes=any_bytes, bits=bits)))
    return arrays


def memory_of(views: Sequence[View], arrays: Sequence[Array]) -> list[memoryview]:
    """Return the memory of the views whose bytes were sent, to put others there."""
    return [array.view(np.uint8).data for view, array in zip(views, arrays, strict=True) if view["sent"]]


def _dtype(view: View, *, any_bytes: bool, bits: bool) -> np.dtype[Any]:
    kind = view["kind"]
    # The emulator refuses these types, and its message shows their names: views whose element type the draft does not have, such as
    # DataView, and detached views.
    if view["detached"]:
        return np.dtype([(f"detached {kind}", "V1")])
    if bits and kind == "Uint16Array":
        return np.dtype(np.uint16)
    if kind in _DTYPES:
        return np.dtype(_DTYPES[kind])
    return np.dtype(np.uint8) if any_bytes else np.dtype([(kind, "V1")])
