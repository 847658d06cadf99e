"""The Python side of the JavaScript binding: plain values and bytes come in, methods of the emulator are called, the answer goes back.

A request is a JSON text and byte arrays. The text is ``[interface, member, handle, arguments, views, dropped]``:

- ``handle`` names the object that the member belongs to, ``null`` for a constructor;
- ``arguments`` are converted already, as the IDL says; beside JSON's own values there are ``{"$h": handle}`` for an object,
  ``{"$x": interface}`` for an object of another specification, ``{"$r": [[name, value], ...]}`` for a record, ``{"$v": index}`` for a
  view, ``{"$b": digits}`` for a BigInt, in hexadecimal, because Python limits the length of decimal numbers, and ``{"$n": text}`` for a
  number that JSON does not know, or not exactly (``"NaN"``, ``"-Infinity"``, ``"-0"``, ``"1e+21"``);
- ``views`` describe the views: the ``kind``, the number of its ``buffer``, ``offset`` and ``length`` in bytes, whether it is ``detached``,
  and whether its bytes were ``sent``: those of a view that is only written to are not;
- ``dropped`` are the handles that the program can no longer use.

The answer is ``{"value": ...}``, where ``{"$i": interface, "$h": handle}`` is an object, or ``{"error": [name, message]}``. Either may have
``"lost": [[handle, message], ...]``, the contexts that were lost since the last answer. A value that never changes is
``{"$c": number, "value": ...}``; an equal one has the same number later, and no ``"value"``.
"""

from __future__ import annotations

import json
import re
import traceback
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

import webnn
from webnn.javascript.channel import Bytes
from webnn.javascript.idl import BindingIdl
from webnn.javascript.legacy import Legacy
from webnn.validation.descriptor import OperandDescriptor

__all__ = ["Dispatcher", "Observe"]

Array = np.ndarray[Any, np.dtype[Any]]

#: Called after a successful call: with the object, the member, the arguments, and the result.
Observe = Callable[[object, str, Sequence[Any], Any], None]

#: The element types of the views. A page that has no `Float16Array` passes the bits of float16 as `Uint16Array`, as the draft suggests
#: (`#appendices-mloperanddatatype-arraybufferview-compatibility`); the draft has no use for a `Uint16Array` otherwise.
_DTYPES = {
    "Int8Array": np.int8,
    "Uint8Array": np.uint8,
    "Int16Array": np.int16,
    "Uint16Array": np.float16,
    "Int32Array": np.int32,
    "Uint32Array": np.uint32,
    "BigInt64Array": np.int64,
    "BigUint64Array": np.uint64,
    "Float16Array": np.float16,
    "Float32Array": np.float32,
    "Float64Array": np.float64,
    "ArrayBuffer": np.uint8,
    "SharedArrayBuffer": np.uint8,
}
#: Members that take the bytes of any buffer or view, even if the draft does not have its element type: docs/spec-issues.md.
_ANY_BYTES = frozenset({"readTensor", "writeTensor"})
#: How the emulator's messages show the element type that `_arrays` gives to views without one.
_KIND = re.compile(r"\[\('([\w ]+)', 'V1'\)\]")
_EXTERNAL: dict[str, Callable[[], object]] = {"GPUDevice": webnn.GPUDevice}
_INTERFACES = ("ML", "MLActivation", "MLContext", "MLGraph", "MLGraphBuilder", "MLOperand", "MLTensor")


class View(TypedDict):
    """The description of a view in a request."""

    kind: str
    buffer: int
    offset: int
    length: int
    detached: bool
    sent: bool


class Dispatcher:
    """Answers the requests of one JavaScript realm.

    Args:
        ml: The object behind ``navigator.ml``.
        idl: It has the members that may be called.
        observe: Called after every successful call of a member.
    """

    def __init__(self, ml: webnn.ML, idl: BindingIdl, observe: Observe = lambda *_: None) -> None:
        self._objects: dict[int, Any] = {0: ml}
        self._next = 1
        self._lost: list[list[object]] = []
        #: The answers that never change; their places are their numbers.
        self._constants: list[object] = []
        self._members = idl.members
        self._observe = observe
        self._legacy = Legacy() if idl.dialect else None
        #: The tracebacks of errors that are not the program's: there must be none.
        self.faults: list[str] = []

    def call(self, text: str, buffers: Sequence[Bytes]) -> tuple[str, list[Bytes]]:
        """Answer a request. It never raises: an error is an answer, too."""
        answered: list[Bytes] = []
        try:
            answer: dict[str, object] = {"value": self._answer(json.loads(text), buffers, answered)}
        except webnn.DOMException as error:
            answer = {"error": [error.name, str(error)]}
        except webnn.WebNNTypeError as error:
            answer = {"error": ["TypeError", _KIND.sub(r"a \1", str(error))]}
        except Exception as error:  # the program must not be blamed for it, and the fault must not be lost
            self.faults.append(traceback.format_exc())
            answer = {"error": ["Error", f"the emulator failed: {type(error).__name__}: {error}"]}
        if self._lost:
            answer["lost"] = self._lost
            self._lost = []
        return json.dumps(answer), answered

    def _answer(self, request: list[Any], buffers: Sequence[Bytes], answered: list[Bytes]) -> object:
        interface, member, handle, arguments, views, dropped = request
        for each in dropped:
            self._objects.pop(each, None)
        members = self._members[interface]
        if member in members.attributes:
            return self._lift(getattr(self._objects[handle], member))
        if member not in members.operations:
            raise LookupError(f"{interface} has no member {member!r}")
        arrays = _arrays(views, buffers, any_bytes=member in _ANY_BYTES)
        values = [self._value(argument, arrays) for argument in arguments]
        if member == "constructor":
            return self._lift(getattr(webnn, interface)(*values))
        target = self._objects[handle]
        result = self._call(target, interface, member, values)
        self._observe(target, member, values, result)
        match interface, member:
            case "MLContext", "compute":
                return _computed(result, answered)
            case "MLContext", "readTensor":
                answered.append(_read(*values, result))
                return None
            case "MLContext", "opSupportLimits":
                return self._constant(result)
            case "MLContext", "dispatch" | "destroy":
                # Its queued work is done first.
                if (lost := target.lostSync(0)) is not None:
                    self._lost.append([handle, lost["message"]])
        return self._lift(result)

    def _call(self, target: Any, interface: str, member: str, values: list[Any]) -> Any:
        """Call a member, or its Sync variant if it returns a promise: JavaScript makes the promise."""
        if (interface, member) == ("MLContext", "compute"):
            return target.computeSync(*values)["outputs"]
        if self._legacy is not None and interface == "MLGraphBuilder" and member != "build":
            return self._legacy.call(target, member, values)
        method = getattr(target, f"{member}Sync", None) or getattr(target, member)
        return method(*values)

    def _value(self, value: Any, arrays: Sequence[Array]) -> Any:
        """Make a Python value of an argument."""
        if isinstance(value, list):
            return [self._value(element, arrays) for element in value]
        if not isinstance(value, dict):
            return value
        match value:
            case {"$h": handle}:
                return self._objects[handle]
            case {"$v": index}:
                return arrays[index]
            case {"$n": text}:
                return float(text)
            case {"$b": digits}:
                return int(digits, 16)
            case {"$x": name}:
                return _EXTERNAL[name]()
            case {"$r": entries}:
                return {name: self._value(element, arrays) for name, element in entries}
        return {name: self._value(element, arrays) for name, element in value.items()}

    def _constant(self, value: object) -> object:
        """Return an answer that never changes: its number, and itself if it was not sent before."""
        if value in self._constants:
            return {"$c": self._constants.index(value)}
        self._constants.append(value)
        return {"$c": len(self._constants) - 1, "value": value}

    def _lift(self, value: object) -> object:
        """Make an answer's value of a Python one."""
        if isinstance(value, list | tuple):
            return [self._lift(element) for element in value]
        name = type(value).__name__
        if name not in _INTERFACES:
            return value
        handle = self._next
        self._next += 1
        self._objects[handle] = value
        return {"$i": name, "$h": handle}


def _computed(outputs: Mapping[str, Array], answered: list[Bytes]) -> list[list[object]]:
    """Return the names of computed outputs with the numbers of their bytes."""
    value: list[list[object]] = []
    for name, array in outputs.items():
        value.append([name, len(answered)])
        answered.append(array.reshape(-1).view(np.uint8).data)
    return value


def _read(tensor: webnn.MLTensor, *rest: Array | None) -> Bytes:
    """Return the bytes that were read from a tensor. They are in the array that the program gave, or else in the new one, which is last."""
    output = next(each for each in rest if each is not None)
    size = OperandDescriptor(tensor.dataType, tensor.shape).byte_length
    return output.reshape(-1).view(np.uint8)[:size].data


def _arrays(views: Sequence[View], buffers: Sequence[Bytes], *, any_bytes: bool) -> list[Array]:
    """Return the views of a request as arrays. Views of one buffer share their memory, so that the emulator sees what it must refuse.

    With ``any_bytes``, a view whose element type the draft does not have is treated as bytes.
    """
    sent = iter(buffers)
    contents = [next(sent) if view["sent"] else None for view in views]
    sizes: dict[int, int] = defaultdict(int)
    for view in views:
        sizes[view["buffer"]] = max(sizes[view["buffer"]], view["offset"] + view["length"])
    memory: dict[int, Array] = {}
    arrays: list[Array] = []
    for view, content in zip(views, contents, strict=True):
        number, start, end = view["buffer"], view["offset"], view["offset"] + view["length"]
        if number not in memory and content is not None and len(content) == sizes[number]:
            array = np.frombuffer(content, np.uint8)
            memory[number] = array if array.flags.writeable else array.copy()
        else:
            # The bytes of a buffer outside its views were not sent, because they are not used.
            memory.setdefault(number, np.zeros(sizes[number], np.uint8))
            if content is not None:
                memory[number][start:end] = np.frombuffer(content, np.uint8)
        arrays.append(memory[number][start:end].view(_dtype(view, any_bytes=any_bytes)))
    return arrays


def _dtype(view: View, *, any_bytes: bool) -> np.dtype[Any]:
    kind = view["kind"]
    # The emulator refuses these types, and its message shows their names: views whose element type the draft does not have, such as
    # DataView, and detached views.
    if view["detached"]:
        return np.dtype([(f"detached {kind}", "V1")])
    if kind in _DTYPES:
        return np.dtype(_DTYPES[kind])
    return np.dtype(np.uint8) if any_bytes else np.dtype([(kind, "V1")])
