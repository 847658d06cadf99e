"""The Python side of the JavaScript binding: plain values and bytes come in, methods of the emulator are called, the answer goes back.

A request is a JSON text and byte arrays. The text is ``[interface, member, handle, arguments, views, dropped]``:

- ``handle`` names the object that the member belongs to, ``null`` for a constructor;
- ``arguments`` are converted already, as the IDL says; beside JSON's own values there are ``{"$h": handle}`` for an object,
  ``{"$x": interface}`` for an object of another specification, ``{"$r": [[name, value], ...]}`` for a record, ``{"$v": index}`` for a
  view, ``{"$b": digits}`` for a BigInt, in hexadecimal, because Python limits the length of decimal numbers, and ``{"$n": text}`` for a
  number that JSON does not know, or not exactly (``"NaN"``, ``"-Infinity"``, ``"-0"``, ``"1e+21"``);
- ``views`` describe the views: the ``kind``, the number of its ``buffer``, ``offset`` and ``length`` in bytes, whether it is ``detached``,
  and whether its bytes were ``sent``: those of a view that is only written to are not. Views of one buffer have the same number;
- ``dropped`` are the handles that the program can no longer use.

The answer is ``{"value": ...}``, where ``{"$i": interface, "$h": handle}`` is an object, ``{"$r": [[name, value], ...]}`` a record or an
object without an interface, and ``{"$n": text}`` a number that JSON does not know; or ``{"error": [name, message]}``. An operand also
has its attributes, ``"$a": {"dataType": ..., "shape": ...}``; a context, a tensor and a graph may have others (foresight.js). Either answer
may have ``"lost": [[handle, message], ...]``, the contexts that were lost since the last answer. A value that never changes is
``{"$c": number, "value": ...}``; an equal one has the same number later, and no ``"value"``.

Where operations that return promises go on after the call (`Dispatcher.begin`), the host answers with their number at first:
``{"pending": number}``. Without such a host, a read is answered so if it waits for bytes that the program gives; ``{"result": number}``
asks for its answer then.

A request without an answer (`Dispatcher.tell`) has a seventh element: the handles of the objects that it makes, negative numbers.
JavaScript sends such requests only where it is certain that they succeed (foresight.js).
"""

from __future__ import annotations

import asyncio
import json
import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

import webnn
from webnn.javascript.absent import write_switches
from webnn.javascript.calls import HostCall, RequestError, implements, name_of, parse
from webnn.javascript.channel import Bytes
from webnn.javascript.idl import BindingIdl
from webnn.javascript.later import Later
from webnn.javascript.legacy import Legacy
from webnn.javascript.views import Array, make_arrays, memory_of
from webnn.validation.descriptor import BigInt, OperandDescriptor

__all__ = ["Begun", "Dispatcher", "Keeper", "Observe", "Refused"]

#: Called after a successful call: with the object, the member, the arguments, and the result.
Observe = Callable[[object, str, Sequence[Any], Any], None]
#: Called when a call is refused, with the error; its traceback leads to the statement that refused the call.
Refused = Callable[[Exception], None]

#: Members that take the bytes of any buffer or view, even if the draft does not have its element type: docs/spec-issues.md.
_ANY_BYTES = frozenset({"readTensor", "writeBuffer", "writeTensor"})
#: How the emulator's messages show the element type that `make_arrays` gives to views without one.
_KIND = re.compile(r"\[\('([\w ]+)', 'V1'\)\]")
_EXTERNAL: dict[str, Callable[[], object]] = {"GPUDevice": webnn.GPUDevice}


#: The attributes of an operand, which an answer has.
_FACTS = ("dataType", "shape")
#: The request that asks for nothing: its answer comes when everything before it is done.
_NOTHING = '"nothing"'
#: How the request for the result of an operation begins.
_RESULT = '{"result":'
#: Members that a program calls again and again with the same arguments: what was found out about such a request is kept.
_REPEATED = frozenset({"compute", "dispatch", "readTensor", "writeTensor"})
#: How many requests are kept, and how many bytes the text and the views of each may have.
_MOST_KEPT, _LARGEST_KEPT = 256, 1 << 16
#: How many objects a program may name that could not be made.
_MOST_FAILED = 1 << 20
#: The types of the values of a request that mean themselves.
_PLAIN = frozenset({bool, int, float, str, type(None)})
_encode = json.JSONEncoder().encode


class Begun(NamedTuple):
    """An operation that has begun. ``answer`` makes the answer once ``future`` is done. The program waits for that if ``is_awaited``."""

    future: asyncio.Future[Any]
    answer: Callable[[], tuple[str, list[Bytes]]]
    is_awaited: bool = False


class Keeper(Protocol):
    """Limits what a program keeps. Its methods may raise an error of the program."""

    def run(self, call: HostCall, *, strict: bool) -> Any:
        """Carry out a call, as `HostCall.run`."""

    def keep(self, call: HostCall, text: str, result: Any) -> None:
        """Take note of the result of a call, before the program gets it."""


class Dispatcher:
    """Answers the requests of one JavaScript realm.

    Args:
        ml: The object behind ``navigator.ml``; ``None`` if there is none.
        idl: It has the members that may be called.
        observe: Called after every successful call of a member. It may keep what it is given.
        on_refused: Called when a call is refused, before the program is told.
        on_lost: Called when a context is lost, with its handle and the message. Then requests are given to `begin`, in a running event
            loop, which also calls it.
        first: The handle of the first object. Lower ones belong to an earlier dispatcher of the same realm.
        strict: Raise a `RequestError` for a request that the binding does not send. By default it is a fault, with an answer.
        facts_of: Returns the facts of a context, a tensor or a graph, which foresight.js names. Without them, it foresees less.
        keeper: Limits what the program keeps.
    """

    def __init__(
        self,
        ml: webnn.ML | None,
        idl: BindingIdl,
        observe: Observe | None = None,
        on_refused: Refused | None = None,
        *,
        on_lost: Callable[[int, str], None] | None = None,
        first: int = 1,
        strict: bool = False,
        facts_of: Callable[[object], Mapping[str, object] | None] | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        self._keeper = keeper
        self._facts_of = facts_of
        #: The document of the next builders, if it is not that of their context.
        self.document: webnn.Document | None = None
        self._strict = strict
        self._objects: dict[int, Any] = {0: ml}
        #: The handles of objects of other specifications by their identities: a program gets the same object again.
        self._handles: dict[int, int] = {}
        self._first = self._next = first
        self._on_lost = on_lost
        #: The losses of contexts by their handles, if requests are begun.
        self._losses: dict[int, asyncio.Future[Any]] = {}
        # Handles without an object, because the call failed that should have made it.
        self._failed: dict[int, Exception] = {}
        self._lost: list[list[object]] = []
        #: The answers that never change; their places are their numbers.
        self._constants: list[object] = []
        self._members = idl.members
        self._classes = idl.classes
        self._interfaces: dict[type[Any], str | None] = {}
        self._revision = idl.revision
        #: A `Uint16Array` may have the bits of several types.
        self._bits = "bfloat16" in idl.revision.types
        self._later = Later()
        self._observe = observe
        self._on_refused = on_refused
        self._legacy = Legacy() if idl.dialect else None
        # By their texts. They hold objects: none of them outlives the request that drops one.
        self._kept: dict[str, HostCall] = {}
        self._forms: dict[str, Callable[[Any, Sequence[Array]], Any]] = {
            "$v": lambda index, arrays: arrays[index],
            "$n": lambda text, _: float(text),
            "$b": lambda digits, _: BigInt(digits, 16),
            "$x": lambda name, _: _EXTERNAL[name](),
            "$r": lambda entries, arrays: {name: self._value(element, arrays) for name, element in entries},
        }
        #: The tracebacks of errors that are not the program's: there must be none.
        self.faults: list[str] = []

    def call(self, text: str, buffers: Sequence[Bytes]) -> tuple[str, list[Bytes]]:
        """Answer a request. It never raises: an error is an answer, too."""
        return self._complete(lambda answered: self._answer(text, buffers, answered))

    def begin(self, text: str, buffers: Sequence[Bytes], *, tells_lost: bool = True) -> tuple[str, list[Bytes]] | Begun:
        """Begin a request; return its answer if it is known at once. An error of the call is an answer, as for `call`.

        An answer that the program does not wait for says nothing of lost contexts: the next one that it waits for does so. ``tells_lost``:
        the program waits for an answer that is known at once. Raises `RequestError` if the binding sends no such request, and the
        dispatcher is strict.
        """
        begun: list[Begun] = []

        def start(answered: list[Bytes]) -> dict[str, object]:
            if text == _NOTHING:
                return {"value": None}
            call = self._open(text, buffers)
            result = self._run(call)
            if call.member == "destroy" and (loss := self._losses.get(call.handle)) is not None and not loss.done():
                # The answer must tell that the context is lost.
                begun.append(Begun(loss, lambda: self._complete(lambda answered: self._end(call, text, result, answered))))
                return {}
            if not isinstance(result, asyncio.Future):
                return self._end(call, text, result, answered)
            if result.done():
                return self._end(call, text, result.result(), answered)
            end = lambda answered: self._end(call, text, result.result(), answered)  # noqa: E731
            begun.append(Begun(result, lambda: self._complete(end, tells_lost=False), call.member == "exportToGPU"))
            return {}

        answer = self._complete(start, tells_lost=tells_lost)
        return begun[0] if begun else answer

    def replace(self, ml: webnn.ML) -> None:
        """Replace the object behind ``navigator.ml``: contexts that are made later are those of another one."""
        self._objects[0] = ml
        self._kept.clear()

    def contexts(self) -> dict[int, webnn.MLContext]:
        """Return the contexts that the program can still use, by their handles."""
        return {handle: each for handle, each in list(self._objects.items()) if isinstance(each, webnn.MLContext)}

    def clear(self) -> None:
        """Forget all objects: the program has ended."""
        for each in (self._objects, self._handles, self._failed, self._losses, self._kept, self._later):
            each.clear()

    def _end(self, call: HostCall, text: str, result: Any, answered: list[Bytes]) -> dict[str, object]:
        return {"value": self._lift(self._close(call, text, result, answered))}

    def _complete(self, answer_request: Callable[[list[Bytes]], dict[str, object]], *, tells_lost: bool = True) -> tuple[str, list[Bytes]]:
        """Make an answer, of an error too."""
        answered: list[Bytes] = []
        try:
            answer = answer_request(answered)
        except (webnn.DOMException, webnn.WebNNTypeError) as error:
            if self._on_refused is not None:
                self._on_refused(error)
            name = error.name if isinstance(error, webnn.DOMException) else "TypeError"
            answer = {"error": [name, write_switches(_KIND.sub(r"a \1", str(error)))]}
        except RequestError:
            raise
        except Exception as error:  # the program must not be blamed for it, and the fault must not be lost
            self.faults.append(traceback.format_exc())
            answer = {"error": ["Error", f"the emulator failed: {type(error).__name__}: {error}"]}
        if self._lost and tells_lost:
            answer["lost"] = self._lost
            self._lost = []
        return _encode(answer), answered

    def tell(self, text: str, buffers: Sequence[Bytes]) -> None:
        """Carry out a request without an answer.

        JavaScript may not know yet that a context is lost, or that there is no memory. Every other reason for an error is a fault. Requests
        that use the objects which the call should have made get the error. Raises `RequestError` if the binding sends no such request, and
        the dispatcher is strict.
        """
        handles: list[int] = []
        try:
            call = self._open(text, buffers, handles)
            self._close(call, text, self._run(call), [])
        except RequestError:
            raise
        except Exception as error:  # as in `call`
            isLost = bool(self._lost) or any(loss.done() for loss in self._losses.values())
            isFull = isinstance(error, webnn.UnknownError) and error.rule == "memory"
            if not isFull and not (isinstance(error, webnn.InvalidStateError) and (isLost or (self._losses and error.rule == "lost"))):
                self.faults.append(traceback.format_exc())
            # Its traceback holds the request's bytes.
            self._failed.update(dict.fromkeys(handles, error.with_traceback(None)))

    def _answer(self, text: str, buffers: Sequence[Bytes], answered: list[Bytes]) -> dict[str, object]:
        if text == _NOTHING:
            return {"value": None}
        if text.startswith(_RESULT):
            return self._answer_later(parse(text)["result"], answered)
        call = self._open(text, buffers)
        if call.member == "readTensor" and getattr(call.target, "_isHeld", False):
            return {"pending": self._later.begin(call, text, call.target.readTensor)}
        return self._end(call, text, self._run(call), answered)

    def _answer_later(self, number: int, answered: list[Bytes]) -> dict[str, object]:
        """Answer an operation that has begun; or say again that it waits."""
        if getattr(self._later.target(number), "_isHeld", False):
            return {"pending": number}
        return self._end(*self._later.finish(number), answered)

    def _open(self, text: str, buffers: Sequence[Bytes], handles: list[int] | None = None) -> HostCall:
        """Return what a request calls. ``handles`` takes the handles that a request without an answer chooses for its results."""
        try:
            # The same request came before: only the views differ.
            if (call := self._kept.pop(text, None)) is not None:
                call.refill(buffers)
                return call
            if handles is None:
                return self._read(parse(text), buffers, len(text))
            *request, results = parse(text)
            handles += self._check_free(results)
            call = self._read(request, buffers, len(text))
            call.results = handles
            return call
        except (webnn.DOMException, webnn.WebNNTypeError):
            raise
        except Exception as error:
            # The error of an earlier request that should have made an object is not the fault of this one.
            if not self._strict or any(error is each for each in self._failed.values()):
                raise
            raise RequestError.of(error) from None

    def _read(self, request: list[Any], buffers: Sequence[Bytes], length: int) -> HostCall:
        interface, member, handle, arguments, views, dropped = request
        for each in dropped:
            self._handles.pop(id(self._objects.pop(each, None)), None)
            self._failed.pop(each, None)
            self._losses.pop(each, None)
        if dropped:
            self._kept.clear()
        if self._strict and len(self._failed) > _MOST_FAILED:
            raise LookupError(f"more than {_MOST_FAILED} objects could not be made")
        members = self._members[interface]
        if member in members.attributes:
            return HostCall(interface, member, handle, None, partial(getattr, self._target(handle, interface), member))
        if member not in members.operations:
            raise LookupError(f"{interface} has no member {member!r}")
        arrays: list[Array] = []
        if views:
            arrays = make_arrays(views, buffers, any_bytes=member in _ANY_BYTES, bits=self._bits, read_only=member == "constant")
        values = self._values(arguments, arrays)
        if member == "constructor":
            made: Callable[..., Any] = self._classes.get(interface) or getattr(webnn, interface)
            if self.document is not None and made is webnn.MLGraphBuilder:
                made = partial(made, document=self.document)
            return HostCall(interface, member, handle, None, made, values)
        target = self._target(handle, interface)
        call = HostCall(interface, member, handle, target, self._method(target, interface, member), values)
        if (
            self._observe is None
            and member in _REPEATED
            and not dropped
            and length + sum(array.nbytes for array in arrays) <= _LARGEST_KEPT
        ):
            call.memory = memory_of(views, arrays)
        return call

    def _check_free(self, handles: list[int]) -> list[int]:
        for handle in handles:
            if type(handle) is not int or handle >= 0 or handle in self._objects:
                raise ValueError(f"the handle of a new object must be a negative number that is not in use, got {handle}")
        return handles

    def _method(self, target: Any, interface: str, member: str) -> Callable[..., Any]:
        """Return what does a member's work: if it returns a promise, its Sync variant, because JavaScript makes the promise.

        Requests that are begun take the promise.
        """
        if self._legacy is not None and interface == "MLGraphBuilder" and member != "build":
            legacy = self._legacy
            return lambda *values: legacy.call(target, member, list(values))
        if self._on_lost is not None and member == "exportToGPU":
            # It waits for the work that is queued, and the event loop must go on meanwhile.
            return partial(asyncio.get_running_loop().run_in_executor, None, target.exportToGPU)
        method: Callable[..., Any] = getattr(target, member if self._on_lost is not None else name_of(target.__class__, member))
        return method

    def _run(self, call: HostCall) -> Any:
        return call.run(strict=self._strict) if self._keeper is None else self._keeper.run(call, strict=self._strict)

    def _close(self, call: HostCall, text: str, result: Any, answered: list[Bytes]) -> object:
        """Do what follows a call; return what its answer's value is made of."""
        if self._keeper is not None:
            self._keeper.keep(call, text, result)
        if call.interface == "MLContext" and call.target is not None:
            return self._conclude(call, text, result, answered)
        if self._observe is not None and call.target is not None:
            self._observe(call.target, call.member, call.values, result)
        if call.results:
            made = result if isinstance(result, (list, tuple)) else (result,)
            self._objects.update(dict(zip(call.results, made, strict=True)))
            return None
        if isinstance(result, np.ndarray):  # GPUBuffer.getMappedRange
            answered.append(result.data)
            return None
        if isinstance(result, Mapping) and call.interface != "MLContext":
            # A record, whose names may be any.
            return {"$r": [[name, self._lift(each)] for name, each in result.items()]}
        return result

    def _conclude(self, call: HostCall, text: str, result: Any, answered: list[Bytes]) -> object:
        """Do what only calls of a context need."""
        member, values, value = call.member, call.values, result
        if member == "compute":
            value = _computed(result["outputs"], answered)
        if self._observe is not None:
            self._observe(call.target, member, values, result["outputs"] if member == "compute" else result)
        if member == "compute":
            # The arrays that were passed on are those of the next call.
            values[1:] = result["inputs"], result["outputs"]
        elif member == "readTensor":
            answered.append(_content(*values, result))
            value = None
        elif member == "opSupportLimits":
            value = self._constant(result)
        elif self._on_lost is None and member in {"dispatch", "destroy"} and (lost := call.target.lostSync(0)) is not None:
            # Its queued work is done first.
            self._lost.append([call.handle, lost["message"]])
        if call.memory is not None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[text] = call
        return value

    def _object(self, handle: Any) -> Any:
        try:
            return self._objects[handle]
        except KeyError:
            if handle in self._failed:
                raise self._failed[handle] from None
            if self._first > 1:
                raise webnn.InvalidStateError("the object belongs to a session that has ended") from None
            raise

    def _target(self, handle: Any, interface: str) -> Any:
        """Return the object that a member of an interface belongs to."""
        found = self._object(handle)
        if not implements(found.__class__, interface):
            raise LookupError(f"the object {handle} is not one of {interface}")
        return found

    def _value(self, value: Any, arrays: Sequence[Array]) -> Any:
        """Make a Python value of an argument."""
        kind = type(value)
        if kind is dict:
            if len(value) == 1:
                [(form, content)] = value.items()
                if form == "$h":
                    return self._object(content)
                if form in self._forms:
                    return self._forms[form](content, arrays)
            return {name: self._value(element, arrays) for name, element in value.items()}
        return self._values(value, arrays) if kind is list else value

    def _values(self, values: list[Any], arrays: Sequence[Array]) -> list[Any]:
        """Make Python values of the elements of a list, most of which are numbers."""
        return [each if type(each) in _PLAIN else self._value(each, arrays) for each in values]

    def _constant(self, value: object) -> object:
        """Return an answer that never changes: its number, and itself if it was not sent before."""
        if value in self._constants:
            return {"$c": self._constants.index(value)}
        self._constants.append(value)
        return {"$c": len(self._constants) - 1, "value": value}

    def _interface_of(self, kind: type[Any]) -> str | None:
        """Return the interface of a class, ``None`` if it has none."""
        if kind not in self._interfaces:
            self._interfaces[kind] = next((each.__name__ for each in kind.__mro__ if each.__name__ in self._members), None)
        return self._interfaces[kind]

    def _lift(self, value: object) -> object:
        """Make an answer's value of a Python one."""
        if isinstance(value, list | tuple):
            return [self._lift(element) for element in value]
        if type(value) is float and value - value != 0:
            return {"$n": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}  # noqa: PLR0124 (NaN differs from itself)
        name = self._interface_of(type(value))
        if name is None:
            return value
        if name in self._classes and (known := self._handles.get(id(value))) is not None:
            return {"$i": name, "$h": known}
        handle = self._next
        self._next += 1
        self._objects[handle] = value
        if name in self._classes:
            self._handles[id(value)] = handle
        if isinstance(value, webnn.MLContext):
            self._watch(handle, value)
        if not isinstance(value, webnn.MLOperand):
            facts = None if self._facts_of is None else self._facts_of(value)
            return {"$i": name, "$h": handle, **({} if facts is None else {"$a": facts})}
        # Until 2024-06 they are methods. A shape is None if its rank is not known.
        attributes = {
            name: each() if callable(each := getattr(value, name)) and not isinstance(each, str | tuple) else each for name in _FACTS
        }
        return {"$i": name, "$h": handle, "$a": attributes}

    def _watch(self, handle: int, context: webnn.MLContext) -> None:
        if self._on_lost is not None and "lost" in self._members["MLContext"].attributes:
            self._losses[handle] = context.lost
            context.lost.add_done_callback(partial(self._tell_loss, handle))

    def _tell_loss(self, handle: int, loss: asyncio.Future[Any]) -> None:
        if self._on_lost is not None and not loss.cancelled():
            message = loss.result()["message"]
            # Whatever comes first tells the program: the next answer, or the host.
            self._lost.append([handle, message])
            self._on_lost(handle, message)


def _computed(outputs: Mapping[str, Array], answered: list[Bytes]) -> list[list[object]]:
    """Return the names of computed outputs with the numbers of their bytes."""
    value: list[list[object]] = []
    for name, array in outputs.items():
        value.append([name, len(answered)])
        answered.append(array.data.cast("B"))
    return value


def _content(tensor: webnn.MLTensor, *rest: Array | None) -> Bytes:
    """Return the bytes that were read from a tensor. They are in the array that the program gave, or else in the new one, which is last."""
    output = next(each for each in rest if each is not None)
    size = OperandDescriptor(tensor.dataType, tensor.shape).byte_length
    return output.reshape(-1).view(np.uint8)[:size].data
