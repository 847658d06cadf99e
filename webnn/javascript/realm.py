"""A JavaScript realm in this process, with the emulator behind `navigator.ml`: the engine is quickjs-ng.

The engine knows ECMAScript, not the web: `page.js` adds a window without a document, or a worker's scope. Timers and promises are driven
from here, so a program runs until nothing is left to do, or until its time is over. A call that never returns can only be ended by ending
the process.
"""

from __future__ import annotations

import heapq
import itertools
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import webnn
from webnn._extras import install_command
from webnn.javascript import urls
from webnn.javascript.bytecode import compile_script, load_function
from webnn.javascript.channel import Bytes
from webnn.javascript.dispatch import Dispatcher, Observe, Refused
from webnn.javascript.idl import load_idl
from webnn.javascript.library import find_engine
from webnn.javascript.rejections import watch_rejections
from webnn.validation.revision import Revision

if TYPE_CHECKING:
    import quickjs

__all__ = ["Address", "EngineMissingError", "Realm", "Scope", "ScriptError", "load_script", "require_engine"]

#: The kind of a global object: a window, or the scope of a kind of worker.
Scope = Literal["window", "dedicatedworker", "sharedworker", "serviceworker"]

#: The size of the stack. Deep recursion is legitimate. Threads have smaller stacks than the main thread, so hosts give them larger ones
#: (`workers`).
_STACK = 4 << 20
#: How many bytes are passed to or from the engine at a time.
_PIECE = 3 << 14


class EngineMissingError(RuntimeError):
    """The JavaScript engine is not installed."""


class ScriptError(Exception):
    """A script threw an error, or could not be parsed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the page is, as ``location`` shows it."""

    pathname: str
    search: str = ""
    origin: str = "https://web-platform.test:8443"

    def json(self) -> str:
        """Return the members of ``location``."""
        protocol, _, host = self.origin.partition("//")
        hostname, _, port = host.partition(":")
        parts = {"origin": self.origin, "protocol": protocol, "host": host, "hostname": hostname, "port": port}
        return json.dumps({**parts, "pathname": self.pathname, "search": self.search})


@cache
def load_script(name: str) -> str:
    """Read one of the scripts of this package."""
    return (resources.files("webnn.javascript") / name).read_text(encoding="utf-8")


class Realm:
    """A fresh global object with `navigator.ml`; an `EngineMissingError` if quickjs-ng is not installed.

    Args:
        ml: The object behind ``navigator.ml``; ``None`` for a context that is not secure, which has no such object.
        address: The page's address.
        read: Returns the text of a file by its path on the server, ``None`` if there is none.
        log: Takes what the program writes to its console: the level and the text.
        emit: Called when a script calls the function ``emit``, with a kind and a text; a text that it returns is that function's value.
        revision: The draft whose IDL the binding interprets, or its name.
        memory: The most bytes that the engine may allocate; more is an error that the program sees.
        observe: Called for every call that the emulator answers without an error.
        dialect: Additions to the draft's IDL (`load_idl`).
        on_refused: Called with the error of every call that the emulator refuses, before the program sees it.
        scope: The kind of the global object: a window, or the scope of a worker.
    """

    def __init__(
        self,
        *,
        ml: webnn.ML | None,
        address: Address,
        read: Callable[[str], str | None],
        log: Callable[[str, str], None],
        emit: Callable[[str, str], object],
        revision: str | Revision,
        memory: int,
        observe: Observe = lambda *_: None,
        dialect: str | None = None,
        on_refused: Refused | None = None,
        scope: Scope = "window",
    ) -> None:
        self._engine = _new_context()
        self._engine.set_memory_limit(memory)
        self._engine.set_max_stack_size(_STACK)
        idl = load_idl(revision, dialect)
        self._dispatcher = Dispatcher(ml, idl, observe, on_refused)
        self._library = find_engine(self._engine)
        #: The tracebacks of errors in the emulator itself: there must be none.
        self.faults = self._dispatcher.faults
        self._read = read
        self._uploads: list[bytearray] = []
        self._downloads: list[Bytes] = []
        self._timers: list[tuple[float, int, int]] = []
        self._cancelled: set[int] = set()
        self._order = itertools.count()
        self._slept = 0.0
        # Functions that the engine calls must not raise: the engine would report an internal error.
        callables: dict[str, Callable[..., Any]] = {
            "send": self._send,
            "startUpload": self._start_upload,
            "upload": self._upload_text if self._library is None else self._upload,
            "download": self._download_text if self._library is None else self._download,
            "read": read,
            "log": log,
            "emit": emit,
            "schedule": self._schedule,
            "cancel": self._cancelled.add,
            "load": self._load,
            "script": lambda name: load_script(f"web/{name}.js"),
            "random": lambda size: os.urandom(size).hex(),
            "parse": urls.parse,
            "change": urls.change,
        }
        for name, function in callables.items():
            self._engine.add_callable(f"__{name}", function)
        self._engine.set("__idl", "null" if ml is None else idl.text)
        start = load_function(self._engine, self._library, _start_script(), "__start")
        self._control = _attempt(start, address.json(), scope, self._library is not None)
        self._rejections = watch_rejections(self._library, partial(self._control, "watch", None))

    def evaluate(self, source: str) -> Any:
        """Run a script in the realm's global scope; an error, also in its syntax, is a `ScriptError`."""
        if "\0" in source:
            raise ScriptError("SyntaxError: the script holds the character NUL")
        return _attempt(self._engine.eval, source)

    def run_script(self, source: str) -> None:
        """Run a script like `evaluate`: one that later realms run, too. It is parsed once, if the engine allows that."""
        code = compile_script(source) if self._rejections is not None and "\0" not in source else None
        if self._rejections is None or code is None or not self._rejections.run(code, partial(self._command, "run", None)):
            self.evaluate(source)

    def dispatch(self, event: str) -> None:
        """Dispatch an event of a type, which has no other members, to the global object."""
        with suppress(ScriptError):
            self._command("dispatch", event)

    def report(self, message: str) -> None:
        """Report an uncaught error to the window's listeners."""
        with suppress(ScriptError):  # a realm that used up its memory cannot be told anything
            self._command("report", message)

    @property
    def watches_rejections(self) -> bool:
        """Rejected promises that nobody handles are noticed."""
        return self._rejections is not None

    @property
    def exhausted(self) -> bool:
        """The memory that the engine may allocate is used up."""
        memory = self._engine.memory()
        return bool(memory["malloc_size"] > 0.95 * memory["malloc_limit"])

    def connect_harness(self) -> None:
        """Have the results of testharness.js, which has just run, passed to ``emit``; a `ScriptError` if it is no such harness."""
        self.connect(load_script("harness.js"))

    def connect(self, function: str) -> None:
        """Call a function, given as its source, with the global object and ``emit``; its error is a `ScriptError`."""
        self._command("connect", function)

    def install(self, function: str) -> None:
        """Call a function, given as its source, as `connect` does, and with what page.js has for other scripts (``need``).

        It returns an object of functions for `call`.
        """
        self._command("install", function)

    def act(self, document: webnn.Document | None) -> None:
        """Make the next builders for another document, whose interface the program uses; ``None`` ends that."""
        self._dispatcher.document = document

    def call(self, name: str, value: object = None) -> Any:
        """Call a function of an installed script with a simple value, and return its value; its error is a `ScriptError`."""
        return self._command(name, value)

    def _command(self, name: str, value: object) -> Any:
        """Call one of the functions that the scripts have for the host."""
        return _attempt(self._control, name, value)

    def worked(self) -> float:
        """Return how long this thread has worked and its programs have slept, in seconds.

        Time in which the machine did something else does not count: a limit holds on a busy machine, too.
        """
        return time.thread_time() + self._slept

    def run(self, done: Callable[[], bool], deadline: float) -> bool:
        """Run promises and timers until ``done()``; return whether something was left to do at the deadline, as `worked` counts."""
        while not done():
            self.run_jobs(lambda: self.worked() < deadline)
            if done():
                return False
            rest = deadline - self.worked()
            if rest <= 0:
                return True
            due = self.next_timer()
            if due is None:
                return False
            wait = min(due - time.monotonic(), rest)
            if wait > 0:
                time.sleep(wait)
                self._slept += wait
                continue
            self.fire_timer()
        return False

    def run_jobs(self, may_go_on: Callable[[], bool]) -> None:
        """Run promises until none is left to do, or the condition is false: a promise may lead to the next one for ever."""
        while may_go_on():
            try:
                if _attempt(self._engine.execute_pending_job):
                    continue
                # The program is told of rejected promises that nobody handles.
                if not self.watches_rejections or not self._command("tellRejections", None):
                    return
            except ScriptError as error:
                self.report(str(error))

    def next_timer(self) -> float | None:
        """Return when the next timer is due, on the monotonic clock; ``None`` if there is no timer."""
        while self._timers and self._timers[0][2] in self._cancelled:
            self._cancelled.remove(heapq.heappop(self._timers)[2])
        return self._timers[0][0] if self._timers else None

    def fire_timer(self) -> None:
        """Run the next timer."""
        _, _, number = heapq.heappop(self._timers)
        try:
            self._command("fire", number)
        except ScriptError as error:
            self.report(str(error))

    def _load(self, path: str) -> str | None:
        """Run a script of the server; return its error as a text, ``None`` if there is no such script."""
        source = self._read(path)
        if source is None:
            return None
        try:
            self.evaluate(source)
        except ScriptError as error:
            return str(error)
        return ""

    def _schedule(self, number: int, milliseconds: float) -> None:
        heapq.heappush(self._timers, (time.monotonic() + milliseconds / 1000, next(self._order), number))

    # Functions that the engine calls must not raise, so these return whether they succeeded.

    def _start_upload(self) -> None:
        self._uploads.append(bytearray())

    def _upload(self, array: object) -> bool:
        assert self._library is not None
        try:
            with self._library.memory(array) as memory:
                self._uploads[-1] += memory
        except TypeError:
            return False
        return True

    def _download(self, index: int, array: object) -> bool:
        assert self._library is not None
        try:
            with self._library.memory(array) as memory:
                memory[:] = memoryview(self._downloads[index]).cast("B")
        except (TypeError, ValueError):
            return False
        return True

    # Without the library (`library`), byte arrays are passed as text. They are passed in pieces, because a large one would otherwise need
    # several times its size.

    def _upload_text(self, encoded: str) -> bool:
        self._uploads[-1] += bytes.fromhex(encoded)
        return True

    def _download_text(self, index: int, start: int, size: int) -> str:
        return self._downloads[index][start : start + size].hex()

    def _send(self, text: str) -> str:
        """Carry a request to the dispatcher, with the byte arrays that came before it.

        Return the sizes of the byte arrays of the answer, on a line, which is empty if there are none; behind it the answer.
        """
        buffers, self._uploads = self._uploads, []
        answer, self._downloads = self._dispatcher.call(text, buffers)
        sizes = [len(content) for content in self._downloads]
        return f"{sizes or ''}\n{answer}"


def _attempt(function: Callable[..., Any], *arguments: object) -> Any:
    """Call a function of the engine; an error is a `ScriptError`."""
    import quickjs  # noqa: PLC0415

    try:
        return function(*arguments)
    except (quickjs.JSException, quickjs.StackOverflow) as error:
        raise ScriptError(str(error).strip()) from None


def require_engine() -> None:
    """Make sure that realms can be made: raise an `EngineMissingError` if quickjs-ng is not installed."""
    _new_context()


def _new_context() -> quickjs.Context:
    try:
        import quickjs  # noqa: PLC0415
    except ImportError:
        raise EngineMissingError(f"the JavaScript engine quickjs-ng is not installed: {install_command('wpt')}") from None
    context = quickjs.Context()
    if not callable(getattr(context, "execute_pending_job", None)) or context.eval("typeof Uint8Array.prototype.toHex") != "function":
        raise EngineMissingError(
            f"another package named quickjs is installed in place of quickjs-ng: uninstall quickjs, then {install_command('wpt')}"
        )
    return context


@cache
def _start_script() -> str:
    scripts = {name: load_script(f"{name}.js") for name in ("console", "page", "conversion", "binding", "navigator")}
    return _START % {**scripts, "piece": _PIECE}


#: A function that joins the pieces, and returns what the host calls. `isDirect` says that byte arrays need not become text. The host's
#: functions are removed from the global object, because the program must not see them.
_START = """
((address, scope, isDirect) => {
  const take = name => { const value = globalThis[name]; delete globalThis[name]; return value; };
  const [read, log, schedule, cancel, emit, sendText] = ['__read', '__log', '__schedule', '__cancel', '__emit', '__send'].map(take);
  const [startUpload, upload, download] = ['__startUpload', '__upload', '__download'].map(take);
  const [load, script, randomText, parseText, changeText] = ['__load', '__script', '__random', '__parse', '__change'].map(take);
  const idl = JSON.parse(take('__idl'));
  take('__start');
  const {parse} = JSON, {fromHex} = Uint8Array, {toHex} = Uint8Array.prototype, {apply} = Reflect, {TypeError} = globalThis;
  const pieces = function* (bytes) {
    for (let start = 0; start < bytes.length; start += %(piece)s) yield bytes.subarray(start, start + %(piece)s);
  };
  const check = isCopied => { if (!isCopied) throw new TypeError('the bytes could not be copied'); };
  const NONE = Object.freeze([]);
  const send = (text, buffers) => {
    for (const bytes of buffers) {
      startUpload();
      if (isDirect) check(upload(bytes)); else for (const piece of pieces(bytes)) upload(apply(toHex, piece, []));
    }
    const received = sendText(text), end = received.indexOf('\\n');
    // Most answers have no bytes: there the first line is empty.
    if (end === 0) return [received.slice(1), NONE];
    const sizes = parse(received.slice(0, end)), answer = received.slice(end + 1);
    const copy = index => bytes => {
      if (isDirect) { check(download(index, bytes)); return; }
      let start = 0;
      for (const piece of pieces(bytes)) {
        piece.set(apply(fromHex, Uint8Array, [download(index, start, piece.length)]));
        start += piece.length;
      }
    };
    const part = (size, index) => ({size, copyTo: copy(index), take() {
      const bytes = new Uint8Array(size);
      copy(index)(bytes);
      return bytes.buffer;
    }});
    return [answer, sizes.map(part)];
  };
  const evaluate = eval;
  const random = size => apply(fromHex, Uint8Array, [randomText(size)]);
  const [parseAddress, change] = [parseText, changeText].map(ask => (...values) => parse(ask(JSON.stringify(values))));
  const host = {read, log, schedule, cancel, load, script, random, parse: parseAddress, change};
  const {markAsUncloneable, ...page} = (%(page)s)(globalThis, host, parse(address), scope, evaluate, %(console)s);
  (%(navigator)s)(globalThis, idl, %(binding)s, %(conversion)s, {send}, page.queueTask, markAsUncloneable, undefined, evaluate);
  const {need, ...commands} = page, connect = source => { evaluate(source)(globalThis, emit); };
  let installed = {};
  const install = source => { installed = {...installed, ...evaluate(source)(globalThis, emit, need)}; };
  return (name, value) => ({...commands, connect, install, ...installed})[name](value);
})
"""
