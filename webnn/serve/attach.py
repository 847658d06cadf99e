"""``webnn attach``: answers a JavaScript process over its standard input and output. The npm package webnn-emulator starts it.

The messages have the form of `webnn.javascript.channel`. The process sends

- ``H``, a JSON object: the ``protocol``, the ``options``, whether it wants an emulator for ``pages`` of Playwright, and the file
  descriptor ``stderr`` for warnings. It gets an object that describes the emulator, and then, unless it has pages, the IDL and the scripts
  that make the interfaces of it; or an object with an ``error``. A later ``H`` begins anew;
- ``C``, ``D`` and ``I``, as a program of ``webnn run`` does;
- ``Q``, a question: a JSON object, and the bytes of a worker's script. It gets a JSON value.
"""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, replace
from io import FileIO
from typing import TYPE_CHECKING, Any

import typer

import webnn
from webnn._extras import install_command
from webnn.javascript.channel import Bytes, Channel, ChannelError, Limit, Message
from webnn.javascript.dispatch import Dispatcher
from webnn.javascript.idl import explain_members
from webnn.javascript.realm import load_script
from webnn.serve.command import Warnings
from webnn.serve.journal import Journal, count
from webnn.serve.options import FAULTS, Options, facts_of, set_fault
from webnn.validation.caller import LISTENER

if TYPE_CHECKING:
    from webnn.serve.playwright import Emulator

__all__ = ["command", "read_settings"]

#: The version of the messages. webnn-emulator has the same number.
_PROTOCOL = 1
_SCRIPTS = ("conversion", "binding", "foresight", "navigator", "webgpu")
_TEXTS = ("revision", "dialect", "profile", "fallback", "numerics")
#: The settings that may change while the program runs.
_CHANGEABLE = frozenset({"profile", "fallback", "numerics", "faults"})
_CALL = Limit(text=1 << 26, buffer=1 << 31, buffers=1 << 20, total=1 << 40)
_TEXT = Limit(text=1 << 26)
_LIMITS = {"C": _CALL, "D": _CALL, "H": _TEXT, "I": _TEXT, "Q": Limit(text=1 << 26, buffer=1 << 31, buffers=1, total=1 << 31)}
#: How long the end of the other process may go unnoticed while a graph computes, in seconds.
_GRACE = 1.0


def command() -> None:
    """Answer a process of the npm package webnn-emulator.

    The package starts this command.
    """
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever else prints does not print into the channel.
    reader, writer = FileIO(os.dup(0)), FileIO(os.dup(1), "w")
    os.dup2(2, 1)
    done = threading.Event()
    threading.Thread(target=_end_with_other, args=[reader.fileno(), done], daemon=True).start()
    try:
        _answer_all(Channel(reader, writer, _LIMITS))
    except ChannelError as error:
        typer.echo(f"webnn: {error}", err=True)
        raise typer.Exit(2) from None
    finally:
        done.set()
        os.dup2(writer.fileno(), 1)
        signal.signal(signal.SIGINT, interrupt)


def _answer_all(channel: Channel) -> None:
    with suppress(BrokenPipeError), closing(_Peer()) as peer:
        channel.introduce(load_script("node_channel.js"))
        while (message := channel.receive()) is not None:
            if (answer := peer.answer(message)) is not None:
                channel.send("A", answer)


def _end_with_other(pipe: int, done: threading.Event) -> None:
    """End this process soon after the other one, even while a graph computes."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(pipe, 0)
        poll.poll()
        if not done.wait(_GRACE):
            os._exit(0)


def read_settings(values: object, options: Options, faults: webnn.Faults) -> Options:
    """Return options with the settings of a JavaScript program; ``null`` means the default.

    ``faults`` are set to those that ``values`` has: the others are disarmed. Without ``faults`` they stay.

    Raises:
        TypeError: A setting has the wrong type.
        ValueError: A setting is unknown, or its value is invalid.
    """
    if not isinstance(values, dict):
        raise TypeError(f"the options must be an object, got {json.dumps(values)}")
    known = (*_TEXTS, "faults")
    for name, value in values.items():
        if name not in known:
            raise ValueError(f"there is no option {name!r}; there are {', '.join(known)}")
        if name != "faults" and not isinstance(value, str | None):
            raise TypeError(f"{name} must be a string, got {json.dumps(value)}")
    changed = replace(options, **{name: value for name, value in values.items() if name != "faults"})
    changed.make_ml()
    if "faults" in values:
        _set_faults(values["faults"] or {}, faults)
    return changed


def _set_faults(values: object, faults: webnn.Faults) -> None:
    if not isinstance(values, dict):
        raise TypeError(f"faults must be an object, got {json.dumps(values)}")
    if unknown := [name for name in values if name not in FAULTS]:
        raise ValueError(f"there is no fault {unknown[0]!r}; there are {', '.join(FAULTS)}")
    webnn.Faults(**values)
    for name in FAULTS:
        set_fault(faults, name, values.get(name))


class _Peer:
    """Answers the messages of one process."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._dispatcher: Dispatcher | None = None
        self._begin(Options())

    def close(self) -> None:
        """Stop to serve pages, and forget the program's objects."""
        self._stack.close()
        if self._dispatcher is not None:
            self._dispatcher.clear()

    def _begin(self, options: Options) -> None:
        self.close()
        self._faults = webnn.Faults()
        self._options = replace(options, faults=self._faults)
        self._printer = Warnings()
        self._journal = Journal(on_warning=self._printer.tell)
        self._dispatcher = None
        self._emulator: Emulator | None = None

    def answer(self, message: Message) -> Sequence[Bytes] | None:
        """Return the parts of the answer to a message, ``None`` if it has none."""
        text = str(message.parts[0], "utf-8")
        parts = message.parts[1:]
        if message.kind == "H":
            try:
                return self._introduce(_read(text))
            except (TypeError, ValueError) as error:
                return [json.dumps({"error": str(error)}).encode()]
        if message.kind == "Q":
            return self._ask(_read(text), parts)
        if self._dispatcher is None:
            raise ChannelError("a process says first what it wants")
        if message.kind == "I":
            return [json.dumps(explain_members(self._options.idl(), text)).encode()]
        return self._call(self._dispatcher, message.kind, text, parts)

    def _introduce(self, hello: Mapping[str, Any]) -> list[Bytes]:
        if hello["protocol"] != _PROTOCOL:
            update = "webnn" if hello["protocol"] > _PROTOCOL else "webnn-emulator"
            raise ValueError(f"webnn {webnn.__version__} and this webnn-emulator do not fit together: update {update}")
        if (descriptor := hello.get("stderr")) is not None:
            os.dup2(descriptor, 2)
        self._begin(Options(revision=os.environ.get("WEBNN_REVISION") or None))
        self._options = read_settings(hello["options"], self._options, self._faults)
        about = {"version": webnn.__version__, "revision": self._options.idl().revision.name}
        if hello.get("pages"):
            self._emulator = self._stack.enter_context(_make_emulator(self._options))
            return [json.dumps({**about, "script": self._emulator.script, "endpoint": self._emulator.endpoint}).encode()]
        ml = self._journal.watch(self._options.make_ml())
        self._dispatcher = Dispatcher(ml, self._options.idl(), facts_of=facts_of)
        return [each.encode() for each in (json.dumps(about), self._options.idl().text, *map(_load, _SCRIPTS))]

    def _call(self, dispatcher: Dispatcher, kind: str, text: str, parts: Sequence[Bytes]) -> Sequence[Bytes] | None:
        token = LISTENER.set(self._journal.warned)
        began = time.perf_counter()
        received = sum(map(len, parts))
        answer: str | None = None
        buffers: Sequence[Bytes] = []
        try:
            if kind == "C":
                answer, buffers = dispatcher.call(text, parts)
            else:
                dispatcher.tell(text, parts)
        finally:
            LISTENER.reset(token)
        self._journal.called(text, answer or "", time.perf_counter() - began, received, sum(memoryview(each).nbytes for each in buffers))
        while dispatcher.faults:
            typer.echo(f"webnn: {dispatcher.faults.pop(0)}this is an error of webnn, please report it", err=True)
        return None if answer is None else [answer.encode(), *buffers]

    def _ask(self, question: Mapping[str, Any], parts: Sequence[Bytes]) -> list[Bytes]:
        emulator, more = self._emulator, []
        value: object = None
        match question["do"]:
            case "set":
                value = self._set(question["options"])
            case "log":
                value = [call._asdict() for call in (emulator.log if emulator else reversed(self._journal.calls()[0]))]
            case "counts":
                counts = emulator.counts if emulator else count([self._journal])
                value = asdict(replace(counts, calls=dict(counts.calls)))
            case "warnings":
                value = emulator.warnings if emulator else list(self._journal.warnings()[0])
            case "faults" if emulator:
                value = emulator.faults
            case "note" if emulator:
                emulator.note(question["fault"])
            case "pass" if emulator:
                emulator.let_pass(question["announcement"])
            case "inject" if emulator:
                value, body = emulator.inject(bytes(parts[0]), question["type"], [(name, value) for name, value in question["headers"]])
                more = [body]
        return [json.dumps(value).encode(), *more]

    def _set(self, values: Mapping[str, object]) -> dict[str, str]:
        """Change settings; return an object that has an ``error`` if that is not possible."""
        try:
            if fixed := values.keys() - _CHANGEABLE:
                raise ValueError(f"{min(fixed)} cannot be changed while the program runs")
            self._options = read_settings(values, self._options, self._faults)
        except (TypeError, ValueError) as error:
            return {"error": str(error)}
        if self._emulator is not None:
            self._emulator.change(self._options)
        elif self._dispatcher is not None:
            self._dispatcher.replace(self._journal.watch(self._options.make_ml()))
        return {}


def _read(text: str) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise ChannelError(f"a message cannot be read: {error}") from None
    return value


def _load(name: str) -> str:
    return load_script(f"{name}.js")


def _make_emulator(options: Options) -> Emulator:
    try:
        from webnn.serve.playwright import Emulator  # noqa: PLC0415 (an extra has what this imports)
    except ModuleNotFoundError as error:
        if error.name not in {"aiohttp", "multidict", "websockets", "yarl"}:
            raise
        raise ValueError(f"{error.name} is missing: {install_command('serve')}") from None
    return Emulator(options)
