"""Realms: what a program finds there, timers, the console, and the limits."""

from __future__ import annotations

import json
import sys
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import webnn
from tests.support import CURRENT
from tests.webnn.javascript.engines import make_realm, needs_quickjs
from tests.wpt_runner.clock import Clock
from webnn.javascript.realm import Address, EngineMissingError, ScriptError

FILES = {"/webnn/data.json": '{"a": [1, 2]}', "/webnn/\u2603.txt": "snow", "/top.txt": "top"}


class Page:
    """A realm whose doings are kept."""

    def __init__(self, clock: Clock, memory: int = 1 << 28, revision: str = "2024-06") -> None:
        self.clock = clock
        self.console: list[tuple[str, str]] = []
        self.read: list[str] = []
        self.made: list[weakref.ref[Any]] = []
        self.asked: list[Any] = []
        self.realm = make_realm(
            lambda level, text: self.console.append((level, text)),
            revision,
            address=Address(pathname="/webnn/test.html", search="?cpu"),
            read=self._read,
            memory=memory,
            observe=self._observe,
        )

    def _observe(self, target: object, member: str, _: object, result: Any) -> None:
        if member == "relu":
            self.made.append(weakref.ref(result))
        elif member == "opSupportLimits":
            self.asked.append(target)

    def _read(self, path: str) -> str | None:
        self.read.append(path)
        return FILES.get(path)

    def run(self, script: str, seconds: float = 5) -> list[str]:
        """Run a script, and all that comes of it; return the texts on its console."""
        self.realm.evaluate(script)
        self.realm.run(lambda: False, self.clock.monotonic() + seconds)
        return [text for _, text in self.console]

    def run_async(self, program: str) -> list[str]:
        """Run a program with ``await`` at its top level, and return the texts on its console: an error's stack, too."""
        return self.run(f"(async () => {{{program}}})().catch(error => console.log(error.stack))")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def page(clock: Clock) -> Page:
    return Page(clock)


pytestmark = needs_quickjs


# ---- The global object


def test_realms_share_nothing(page: Page) -> None:
    other = Page(page.clock)
    page.run("globalThis.mine = 1; Array.prototype.mine = 2; MLGraphBuilder.prototype.mine = 3; navigator.ml.mine = 4; let lexical = 5;")
    assert other.run("console.log(typeof mine, [].mine, MLGraphBuilder.prototype.mine, navigator.ml.mine, typeof lexical)") == [
        "undefined undefined undefined undefined undefined"
    ]


def test_what_the_host_gives_is_not_visible(page: Page) -> None:
    names = set(page.realm.evaluate("Object.getOwnPropertyNames(globalThis).join()").split(","))
    engine = set(_engine().eval("Object.getOwnPropertyNames(globalThis).join()").split(","))
    assert names - engine == {
        "AbortController", "AbortSignal", "Crypto", "CustomEvent", "ErrorEvent", "Event", "EventTarget", "GLOBAL", "GPUDevice", "ML",
        "MLActivation", "MLContext", "MLGraph", "MLGraphBuilder", "MLOperand", "MessageEvent", "Navigator", "Performance",
        "PerformanceEntry", "PerformanceMark", "PerformanceMeasure", "PromiseRejectionEvent", "TextDecoder", "TextEncoder", "URL",
        "URLSearchParams", "Window", "XMLHttpRequest", "clearInterval", "clearTimeout", "console", "crossOriginIsolated", "crypto",
        "fetch", "isSecureContext", "location", "navigator", "onerror", "onmessage", "onmessageerror", "onrejectionhandled",
        "onunhandledrejection", "reportError", "self", "setInterval", "setTimeout", "structuredClone", "window",
    }  # fmt: skip
    assert engine - names == set()


def _engine() -> Any:
    import quickjs

    return quickjs.Context()


def test_location(page: Page) -> None:
    script = "console.log(location.pathname, location.search, location.origin, location.host, String(location))"
    origin = "https://web-platform.test:8443"
    assert page.run(script) == [f"/webnn/test.html ?cpu {origin} web-platform.test:8443 {origin}/webnn/test.html?cpu"]


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("data.json", "/webnn/data.json"),
        ("/top.txt", "/top.txt"),
        ("https://web-platform.test:8443/top.txt", "/top.txt"),
        ("\u2603.txt", "/webnn/\u2603.txt"),
        ("missing", None),
        ("\\0\\ud800", None),
    ],
)
def test_files(page: Page, url: str, path: str | None) -> None:
    script = """
        const request = new XMLHttpRequest(); request.open('GET', '%s', false); request.send();
        const {status, responseText} = request;
        fetch('%s').then(async answer => console.log(answer.ok, answer.status, await answer.text(), status, responseText));
    """
    text = FILES.get(path) if path else None
    assert page.run(script % (url, url)) == ["false 404  404 " if text is None else f"true 200 {text} 200 {text}"]


# ---- Timers

#: Scripts, and what they write.
TIMERS = [
    ("setTimeout(log, 20, 'late'); setTimeout(log, 1, 'b'); setTimeout(log, 0, 'a'); log('now')", "now a b late"),
    ("for (let i = 0; i < 5; i++) setTimeout(log, 0, i)", "0 1 2 3 4"),
    ("setTimeout(log, 0, 'task'); Promise.resolve('micro').then(log); log('now')", "now micro task"),
    ("setTimeout(() => { Promise.resolve(1).then(log); }); setTimeout(log, 0, 2)", "1 2"),
    ("const t = setTimeout(log, 0, 'x'); clearTimeout(t); clearTimeout(t); clearTimeout(); clearTimeout('x'); log('y')", "y"),
    ("const t = setTimeout(log, 0, 'x'); clearInterval(`${t}`)", ""),
    ("let n = 0; const t = setInterval(() => { log(++n); if (n === 3) clearInterval(t); }, 1)", "1 2 3"),
    ("let n = 0; const t = setInterval(s => { log(s); if (++n === 2) clearTimeout(t); }, 0, 's')", "s s"),
    ("const t = setTimeout(() => log('x'), 5); setTimeout(() => clearTimeout(t), 0)", ""),
    ("for (const delay of [NaN, undefined, -5, 'x', Infinity, 2 ** 31, null, 0.9]) setTimeout(log, delay, delay)",
     "NaN undefined -5 x Infinity 2147483648 null 0.9"),
    ("setTimeout(() => { throw new Error('lost'); }); setTimeout(log, 0, 'next')", "Uncaught Error: lost next"),
    ("setTimeout(); setTimeout(log, 0, 'next')", "Uncaught TypeError: cannot read property 'apply' of undefined next"),
    ("addEventListener('error', e => log('heard', e.message, e.error)); setTimeout(() => { throw 7; })", "Uncaught 7 heard 7 7"),
    ("setTimeout(() => { throw {toString() { throw 1; }, toJSON() { throw 2; }}; }); setTimeout(log, 1, 'next')",
     "Uncaught [object Object] next"),
    ("setTimeout(() => { throw Object.defineProperty(new Error(), 'message', {get() { throw 1; }}); }); setTimeout(log, 1, 'next')",
     "Uncaught something that cannot be shown next"),
    ("setTimeout(() => { (function f() { f(); })(); }); setTimeout(log, 1, 'next')",
     "Uncaught RangeError: Maximum call stack size exceeded next"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "written"), TIMERS, ids=range(len(TIMERS)))
def test_timers(page: Page, script: str, written: str) -> None:
    assert " ".join(page.run(f"const log = console.log; {script}; 0")) == written


def test_a_timer_that_was_cleared_is_not_waited_for(page: Page) -> None:
    page.run("clearTimeout(setTimeout(() => {}, 4000)); clearInterval(setInterval(() => {}, 4000)); 0")
    assert page.clock.slept == 0


@pytest.mark.parametrize(
    "script",
    [
        "(function f() { setTimeout(f); })()",
        "(function f() { Promise.resolve().then(f); })()",
        "setInterval(() => {}, 0)",
        "setTimeout(() => {}, 9999)",
    ],
)
def test_a_program_that_never_ends_is_left_at_the_deadline(page: Page, script: str) -> None:
    page.realm.evaluate(f"{script}; 0")
    deadline = page.clock.now + 0.1
    assert page.realm.run(lambda: False, deadline)
    assert deadline <= page.clock.now < deadline + 0.1
    assert not page.realm.run(lambda: True, deadline)


# ---- The console

#: Values, and how they are written.
CONSOLE = [
    ("'text', 1, -0, NaN, 2n, true, null, undefined", "text 1 0 NaN 2 true null undefined"),
    (
        "Symbol('s'), ...[new Error('e'), new DOMException('d', 'DataError')].map(e => Object.defineProperty(e, 'stack', {value: ''}))",
        "Symbol(s) Error: e DataError: d",
    ),
    ("{a: [1, {b: 2n}]}, new Float32Array([1, 2]), [new BigInt64Array(1)]", '{"a":[1,{"b":"2n"}]} [1,2] [["0n"]]'),
    ("Object.create(null), navigator.ml", "{} [object ML]"),
    ("(() => { const o = {}; o.o = o; return o; })()", "[object Object]"),
    ("{toJSON() { throw 1; }}", "[object Object]"),
    ("Object.assign(() => {}, {toString() { throw 1; }})", "something that cannot be shown"),
    ("'a\\0b', '\\ud800', '\\u{1f600}'", "a\u2400b \ufffd \U0001f600"),
    ("", ""),
]


@pytest.mark.parametrize(("values", "written"), CONSOLE, ids=range(len(CONSOLE)))
def test_console(page: Page, values: str, written: str) -> None:
    for level in ("log", "info", "debug", "warn", "error"):
        page.run(f"console.{level}({values})")
        assert page.console.pop() == (level, written)


# ---- Scripts and limits

#: Scripts that cannot run, and the error.
BROKEN = [
    ("}{", "SyntaxError"),
    ("throw new TypeError('mine')", "TypeError: mine"),
    ("throw 5", "5"),
    ("throw null", "null"),
    ("(function f() { f(); })()", "RangeError: Maximum call stack size exceeded"),
    ("'a\0b'", "SyntaxError: the script holds the character NUL"),
    ("let a = '" + "[" * 100_000 + "'; JSON.parse(a)", "InternalError|RangeError|SyntaxError"),
    ("[" * 100_000, "InternalError|RangeError|SyntaxError"),
    ("new Uint8Array(2 ** 40)", "RangeError"),
]


@pytest.mark.parametrize(("script", "message"), BROKEN, ids=range(len(BROKEN)))
def test_scripts_that_fail(page: Page, script: str, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        page.realm.evaluate(script)
    assert page.run("console.log('it goes on')")[-1] == "it goes on"


def test_too_much_memory_is_an_error_of_the_program(clock: Clock) -> None:
    page = Page(clock, memory=1 << 25)
    assert page.run("try { new Uint8Array(1 << 26); } catch (error) { console.log(error.message); }") == ["out of memory"]
    with pytest.raises(ScriptError):
        page.realm.evaluate("for (const keep = [];;) keep.push({});")
    assert not page.realm.exhausted  # what the script had is free again
    assert page.run("console.log('it goes on')")[-1] == "it goes on"
    with pytest.raises(ScriptError):
        page.realm.evaluate("const keep = []; for (;;) keep.push({});")
    assert page.realm.exhausted
    page.realm.report("nobody can hear this")


def test_a_request_that_the_memory_does_not_hold(clock: Clock) -> None:
    page = Page(clock, memory=1 << 25)
    written = page.run("""
        navigator.ml.createContext().then(context => {
          const view = new Float32Array(6 << 20);
          new MLGraphBuilder(context).constant({dataType: 'float32', dimensions: [6 << 20]}, view);
          console.log('done', view.length);
        }).catch(error => console.log(error));
    """)
    # Bytes cross the border in pieces: a tensor of 24 MiB needs little more than itself.
    assert written == ["done 6291456"]


def test_objects_that_nobody_can_use_are_dropped(page: Page) -> None:
    page.run("navigator.ml.createContext().then(context => { globalThis.builder = new MLGraphBuilder(context); }); 0")
    page.realm.evaluate("const x = builder.input('x', {dataType: 'int8', dimensions: [1]}); let kept; 0")
    for _ in range(5):
        page.run("for (let count = 0; count < 200; count++) kept = builder.relu(x); 0")
    page.run("x.shape(); 0")
    assert len(page.made) == 1000
    assert sum(made() is not None for made in page.made) == 1
    assert page.realm.faults == []


def test_the_limits_of_each_context(clock: Clock) -> None:
    page = Page(clock, revision=CURRENT)
    create = "navigator.ml.createContext().then(context => { contexts.push(context); }); 0"
    page.run(f"globalThis.contexts = []; {create}")
    for profile in ("coreml", "dml", "coreml"):
        with webnn.emulate(profile=profile):
            page.run(create)
    written = page.run("""
        const read = () => contexts.map(context => JSON.stringify(context.opSupportLimits()));
        const first = read();
        for (const context of contexts) context.opSupportLimits().input.dataTypes.length = 0;
        console.log(read().every((each, index) => each === first[index]), new Set(first).size, first[1] === first[3]);
        for (const each of first) console.log(each);
    """)
    assert written[0] == "true 3 true"
    assert [json.loads(each) for each in written[1:]] == [each.opSupportLimits() for each in page.asked]
    # Python is asked once for each context.
    assert len(page.asked) == 4


def test_the_stack_of_a_call_from_deep_down(page: Page) -> None:
    written = page.run("""
        let deepest = 0;
        function fall(depth) {
                deepest = depth;
                navigator.ml.createContext({deviceType: {toString() { fall(depth + 1); return 'cpu'; }}}).catch(() => {});
            }
        fall(0);
        console.log(deepest > 100);
    """)
    assert written == ["true"]
    assert page.realm.faults == []


# ---- The engine


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (None, r"the JavaScript engine quickjs-ng is not installed: .* install "),
        (lambda: types.SimpleNamespace(eval=lambda _: "function"), "another package named quickjs is installed in place of quickjs-ng"),
        (lambda: types.SimpleNamespace(eval=lambda _: "undefined", execute_pending_job=bool), "another package named quickjs is installed"),
    ],
)
def test_no_engine(clock: Clock, monkeypatch: pytest.MonkeyPatch, module: Callable[[], Any] | None, message: str) -> None:
    monkeypatch.setitem(sys.modules, "quickjs", module and types.SimpleNamespace(Context=module))
    with pytest.raises(EngineMissingError, match=message):
        Page(clock)


def test_address() -> None:
    parts = json.loads(Address(pathname="/a'\"\u2028.html", search="?x", origin="http://example.org").json())
    assert parts == {
        "origin": "http://example.org", "protocol": "http:", "host": "example.org", "hostname": "example.org", "port": "",
        "pathname": "/a'\"\u2028.html", "search": "?x",
    }  # fmt: skip
    assert json.loads(Address(pathname="/a.html").json()) == {
        "origin": "https://web-platform.test:8443", "protocol": "https:", "host": "web-platform.test:8443", "hostname": "web-platform.test",
        "port": "8443", "pathname": "/a.html", "search": "",
    }  # fmt: skip
