"""The page's side of the transport, without a browser: a realm that has what a page has, and a session of the emulator."""

from __future__ import annotations

import asyncio
import json
import queue
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

import webnn
from tests.webnn.javascript.engines import make_realm
from tests.webnn.serve.pages import end_all
from webnn.javascript.channel import Bytes, Message
from webnn.javascript.idl import explain_members
from webnn.javascript.realm import Address
from webnn.serve import messages
from webnn.serve.messages import MessageError, unpack
from webnn.serve.options import Options
from webnn.serve.script import make_script
from webnn.serve.session import SMALL, EndedError, Session, read_visitor
from webnn.serve.sessions import Sessions

ENDPOINT = "http://127.0.0.1:1/__webnn__/token"
#: How many bytes go in one request.
PIECE = 50_000
FAKES = (Path(__file__).parent / "browserless.js").read_text(encoding="utf-8")


class Page:
    """A page whose emulator answers in this process."""

    def __init__(self, options: Options) -> None:
        self.faults: list[str] = []
        self.sessions = Sessions(options, self.faults.append)
        self.calls: list[str] = []
        self.printed: list[str] = []
        self.offline = False
        self._pushed: queue.Queue[tuple[str, bytes]] = queue.Queue()
        self._done = False
        self._pieces = b""
        self._unanswered = 0
        self._realm = make_realm(
            lambda level, text: self.printed.append(text if level == "log" else f"{level}: {text}"),
            "2026-06",
            ml=None,
            address=Address(origin="https://app.test", pathname="/page.html", search=""),
            emit=self._finish,
        )
        engine = self._realm._engine
        engine.add_callable("__exchange", self._exchange)
        engine.add_callable("__open", self._open)
        engine.add_callable("__take", self._take)
        engine.eval(f"globalThis.__deliver = ({FAKES})(globalThis, __exchange, __open, __take); undefined")
        self._loop = asyncio.new_event_loop()
        self._wait = self._loop.run_until_complete
        self._realm.evaluate(make_script(ENDPOINT, options.idl(), piece=PIECE, lines=options.lines))

    def run(self, program: str) -> list[str]:
        """Run an asynchronous program; return what it printed."""
        self._done = False
        self.printed.clear()
        show_error = "error => console.log(`${error.name}: ${error.message}`)"
        self._realm.connect(f"(global, emit) => {{ (async () => {{ {program} }})().catch({show_error}).finally(() => emit('done', '')); }}")
        end = time.monotonic() + 60
        while not self._done:
            assert time.monotonic() < end, self.printed
            self._realm.run(lambda: self._done or not self._pushed.empty(), self._realm.worked() + 0.02)
            self._push()
            time.sleep(0.001)
        return self.printed

    def close(self) -> None:
        """End the sessions."""
        self.sessions.close()
        self._loop.close()

    def _finish(self, kind: str, _: str) -> None:
        self._done = self._done or kind == "done"

    def _push(self) -> None:
        while not self._pushed.empty():
            address, body = self._pushed.get()
            self._realm.evaluate(f"__deliver({json.dumps(address)}, {list(body)})")

    def _take(self) -> str:
        try:
            address, body = self._pushed.get(timeout=1)
        except queue.Empty:
            return "null"
        return json.dumps([address, list(body)])

    def _open(self, address: str, hello: str) -> None:
        push = lambda body: self._pushed.put((address, b"".join(bytes(each) for each in body)))  # noqa: E731
        self.sessions.begin(_session_of(address), read_visitor(hello.encode())).connect(push)

    def _exchange(self, method: str, address: str, content: str) -> str:
        status, body = self._answer(method, address, bytes(json.loads(content)))
        return json.dumps([status, list(body)])

    def _answer(self, method: str, address: str, content: bytes) -> tuple[int, bytes]:
        what = urlsplit(address).path.rpartition("/")[2]
        self.calls.append(what)
        if self.offline:
            return 0, b""
        try:
            match method, what:
                case "POST", "call":
                    return 200, _join(self._wait(self._call(address, content)))
                case "SEND", "live":
                    answer = self._wait(self._call(address, content))
                    self._unanswered += len(content)
                    if self._unanswered > SMALL:
                        self._unanswered = 0
                        self._pushed.put((address, _join(answer)))
                    return 200, b""
                case "POST", "result":
                    number = int(parse_qs(urlsplit(address).query)["n"][0])
                    return 200, _join(self._wait(self.sessions.find(_session_of(address)).result(number)))
                case "POST", "piece":
                    assert len(content) <= PIECE
                    self._pieces += content
                    return 200, b""
                case "POST", "worker":
                    self.sessions.announce(**{"kind" if name == "type" else name: value for name, value in json.loads(content).items()})
                    return 200, b""
                case "POST", "ignored":
                    return 200, json.dumps(explain_members(self.sessions.options.idl(), content.decode())).encode()
                case _:
                    return 404, b"there is no such page"
        except EndedError:
            return 410, b"the session has ended"
        except MessageError as error:
            return 400, str(error).encode()

    async def _call(self, address: str, content: bytes) -> list[Bytes]:
        content, self._pieces = self._pieces + content, b""
        number, [first, *rest] = unpack(content)
        name = _session_of(address)
        if first.kind == "H":
            return await self.sessions.begin(name, read_visitor(first.parts[0])).exchange(number, rest)
        return await self.sessions.find(name).exchange(number, [first, *rest])


def _session_of(address: str) -> str:
    return parse_qs(urlsplit(address).query)["s"][0]


def _join(body: list[Bytes]) -> bytes:
    return b"".join(bytes(each) for each in body)


@pytest.fixture
def faults() -> webnn.Faults:
    return webnn.Faults()


@pytest.fixture(params=["2026-06"])
def page(request: pytest.FixtureRequest, faults: webnn.Faults) -> Iterator[Page]:
    made = Page(Options(revision=request.param, faults=faults))
    yield made
    made.close()
    assert made.faults == []


START = """
const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
const pair = {dataType: 'float32', shape: [2], dimensions: [2]}, x = builder.input('x', pair);
const show = (...values) => console.log(values.join(' '));
const attempt = async action => { try { show(await action()); } catch (error) { show(`${error.name}: ${error.message}`); } };
"""
TENSORS = """
const graph = await builder.build({y: builder.relu(x)}), all = {...pair, readable: true, writable: true};
const [from, to] = [await context.createTensor(all), await context.createTensor(all)];
"""


def test_a_program(page: Page) -> None:
    program = (
        START
        + TENSORS
        + (
            "context.writeTensor(from, new Float32Array([-1, 2])); context.dispatch(graph, {x: from}, {y: to});"
            "show(...new Float32Array(await context.readTensor(to)));"
            "await attempt(() => builder.relu(1)); await attempt(() => context.readTensor(1));"
        )
    )
    assert page.run(program) == [
        "0 2",
        "TypeError: relu: input must be an MLOperand, got 1",
        "TypeError: readTensor: tensor must be an MLTensor, got 1",
    ]


@pytest.mark.parametrize("delay", [None, 0.05], ids=["at once", "later"])
@pytest.mark.parametrize("page", ["2024-06"], indirect=True)
def test_compute_transfers_at_once(page: Page, faults: webnn.Faults, delay: float | None) -> None:
    faults.delay = delay
    program = START + (
        "const graph = await builder.build({y: builder.relu(x)}), input = new Float32Array([-1, 2]), output = new Float32Array(2);"
        "const promise = context.compute(graph, {x: input}, {y: output}); show(input.length, output.length);"
        "const result = await promise; show(...result.inputs.x, ...result.outputs.y);"
        "const kept = new Float32Array(2), wrong = {z: new Float32Array(2)};"
        "await attempt(() => context.compute(graph, {x: kept}, wrong)); show(kept.length);"
    )
    first, second, refused, kept = page.run(program)
    assert (first, second, kept) == ("0 0", "-1 2 0 2", "2")
    assert refused.startswith("TypeError: compute: ")


@pytest.mark.parametrize("count", [2, 20_000], ids=["small", "large"])
@pytest.mark.parametrize("delay", [None, 0.05], ids=["at once", "later"])
@pytest.mark.parametrize("offline", [False, True], ids=["connected", "no connection"])
def test_results_come(page: Page, faults: webnn.Faults, count: int, delay: float | None, *, offline: bool) -> None:
    if offline:
        page.run("offline = true; sockets[0].close();")
    faults.delay = delay
    program = START + (
        f"const all = {{dataType: 'float32', shape: [{count}], readable: true, writable: true}}, tensor = await context.createTensor(all);"
        f"context.writeTensor(tensor, Float32Array.from({{length: {count}}}, (_, index) => index));"
        "const view = new Float32Array(await context.readTensor(tensor)); show(view.length, view.at(-1));"
        f"const own = new Float32Array({count}); await context.readTensor(tensor, own); show(own.at(-1));"
    )
    assert page.run(program) == [f"{count} {count - 1}", f"{count - 1}"]
    # A debugger is sent the bytes of large bodies, unless they are blobs.
    assert all(isBlob or size <= 1 << 15 for isBlob, size in json.loads(page.run("console.log(JSON.stringify(sizes))")[0]))


def test_a_result_may_come_before_its_operation_is_known(page: Page, faults: webnn.Faults) -> None:
    program = START + "globalThis.context = context; globalThis.tensor = await context.createTensor({...pair, readable: true});"
    page.run(program)
    faults.delay = 0.05
    read = "isEager = true; const promise = context.readTensor(tensor); isEager = false; console.log((await promise).byteLength);"
    assert page.run(read) == ["8"]


@pytest.mark.parametrize(
    ("call", "waits"),
    # A plain call needs no equal one; of another one, Python checks the options.
    [("relu(y)", 1), ("reduceMean(builder.add(y, x), {axes: [0], keepDimensions: true})", 1), ("elu(y, {alpha: 2})", 2)],
    ids=["plain", "with sizes", "with a number"],
)
def test_certain_calls_do_not_wait(page: Page, call: str, waits: int) -> None:
    page.run(
        START + f"let y = x; for (let index = 0; index < 50; index++) y = builder.{call}; globalThis.y = y; globalThis.builder = builder;"
    )
    # createContext, and the first call that is not plain.
    assert page.calls.count("call") == waits
    assert page.run("console.log((await builder.build({y})).constructor.name)") == ["MLGraph"]
    [session] = page.sessions.living.values()
    assert session.counts.told > 50


def test_operations_that_return_promises_do_not_wait(page: Page) -> None:
    program = TENSORS + (
        "const compute = async value => {"
        "  context.writeTensor(from, new Float32Array([value, 1])); context.dispatch(graph, {x: from}, {y: to});"
        "  return new Float32Array(await context.readTensor(to))[0];"
        "};"
        "await compute(1); Object.assign(globalThis, {compute, context});"
    )
    page.run(START + program)
    page.calls.clear()
    assert page.run("console.log(await compute(2), await compute(3));") == ["2 3"]
    assert set(page.calls) == {"live"}
    # A request that waits repeats what was started before it: that is done once.
    waits = "const first = compute(4), second = compute(5); new MLGraphBuilder(context); console.log(await first, await second);"
    assert page.run(waits) == ["4 5"]
    assert page.calls.count("call") == 1


@pytest.mark.parametrize("page", ["2024-06"], indirect=True)
def test_equal_computations_do_not_wait(page: Page) -> None:
    page.run(
        START + "const graph = await builder.build({y: builder.relu(x)});"
        "globalThis.compute = async value => {"
        "  const input = new Float32Array([value, -1]), promise = context.compute(graph, {x: input}, {y: new Float32Array(2)});"
        "  return [input.length, ...(await promise).outputs.y].join(' ');"
        "}; await compute(1);"
    )
    page.calls.clear()
    assert page.run("console.log(await compute(2)); console.log(await compute(3));") == ["0 2 0", "0 3 0"]
    assert set(page.calls) == {"live"}


@pytest.mark.parametrize(
    ("descriptor", "error"),
    [("all", "InvalidStateError: readTensor: the tensor was destroyed before it was read"), ("pair", "TypeError: readTensor: tensor must")],
    ids=["readable", "not readable"],
)
def test_a_tensor_that_is_destroyed_after_a_read(page: Page, descriptor: str, error: str) -> None:
    program = (
        START
        + TENSORS
        + (
            f"const tensor = await context.createTensor({descriptor});"
            "const read = context.readTensor(tensor); tensor.destroy(); await attempt(() => read);"
        )
    )
    [printed] = page.run(program)
    assert printed.startswith(error)


def test_much_is_sent_once_if_the_page_does_not_wait(page: Page) -> None:
    count = 100_000
    program = START + (
        f"const all = {{dataType: 'float32', shape: [{count}], readable: true, writable: true}}, tensor = await context.createTensor(all);"
        f"for (let value = 0; value < 4; value++) context.writeTensor(tensor, new Float32Array({count}).fill(value));"
        "show(new Float32Array(await context.readTensor(tensor)).at(-1));"
    )
    assert page.run(program) == ["3"]
    [session] = page.sessions.living.values()
    assert session.counts.received == 4 * 4 * count


def test_a_lost_context_is_told(page: Page) -> None:
    program = (
        START
        + TENSORS
        + (
            "const waits = context.readTensor(to).catch(error => error.name); context.destroy();"
            "show((await context.lost).message); show(await waits); await attempt(() => context.createTensor(pair));"
        )
    )
    message, waits, later = page.run(program)
    assert (message, waits) == ("destroy() was called", "InvalidStateError")
    assert later.startswith("InvalidStateError: ")


@pytest.mark.parametrize(
    ("end", "call"),
    [("", "elu(x, {alpha: 2})"), ("for (const each of sockets) each.close();", "relu(x)")],
    ids=["a call that waits", "the live connection has ended"],
)
def test_an_ended_session_loses_the_contexts(page: Page, end: str, call: str) -> None:
    page.run(START + "Object.assign(globalThis, {context, builder, pair, x});")
    end_all(page.sessions)
    printed = page.run(
        f"{end} for (let index = 0; index < 2; index++)"
        f"  try {{ builder.{call}; }} catch (error) {{ console.log(`${{error.name}}: ${{error.message}}`); }}"
        "console.log((await context.lost).message);"
        "const next = await navigator.ml.createContext(); console.log(new MLGraphBuilder(next).input('x', pair).dataType);"
    )
    assert printed == [
        "InvalidStateError: the emulator does not answer: 410 the session has ended",
        "InvalidStateError: the object belongs to a session that has ended",
        "the emulator does not answer: 410 the session has ended",
        "float32",
    ]
    assert len(page.sessions.living) == 1


def test_a_page_that_comes_back_has_lost_its_contexts(page: Page) -> None:
    page.run(START + "Object.assign(globalThis, {context});")
    event = "const event = new Event('pageshow'); event.persisted = true; sockets.at(-1).readyState = %d; dispatchEvent(event);"
    assert page.run(event % 1 + "console.log(sockets.length)") == ["1"]
    lost = "the page was left, and its session of the emulator ended"
    assert page.run(event % 3 + "console.log((await context.lost).message, sockets.length)") == [f"{lost} 2"]


def test_an_emulator_that_is_gone(page: Page) -> None:
    page.run(START + "Object.assign(globalThis, {builder, context});")
    page.offline = True
    assert page.run("builder.constant('float32', 1)") == [
        "InvalidStateError: the emulator does not answer: the connection was refused",
    ]
    page.offline = False
    assert page.run("console.log((await navigator.ml.createContext()).constructor.name)") == ["MLContext"]


def test_a_webnn_of_the_browser_is_hidden(page: Page) -> None:
    assert page.run("console.log(typeof MLNewest, typeof MLine, MLContext.prototype.createTensor.length, navigator.ml instanceof ML);") == [
        "undefined number 1 true"
    ]


def test_the_script_runs_once(page: Page) -> None:
    page.run("globalThis.ml = navigator.ml;")
    page._realm.evaluate(make_script(ENDPOINT, Options().idl()))
    assert page.run("console.log(navigator.ml === ml, sockets.length)") == ["true 1"]


def test_workers_are_announced(page: Page) -> None:
    page.run("new Worker('w.js'); new Worker(new URL('https://app.test/m.mjs'), {type: 'module'}); new Worker('data:text/javascript,1');")
    assert dict(page.sessions.workers) == {"https://app.test/w.js": "classic", "https://app.test/m.mjs": "module"}
    program = "console.log(started.map(([url, type]) => `${url} ${type}`).join());"
    assert page.run(program + "console.log(Worker.prototype.constructor === Worker, Worker.name)") == [
        "w.js undefined,https://app.test/m.mjs module,data:text/javascript,1 undefined",
        "true Worker",
    ]


@pytest.mark.parametrize(
    ("source", "options", "changed"),
    [
        ("run()", "", f'importScripts("{ENDPOINT}/webnn.js");run()'),
        ("run()", ", {type: 'module'}", f'import"{ENDPOINT}/webnn.js";run()'),
        ("'use strict';\\nrun()", "", f"'use strict';importScripts(\"{ENDPOINT}/webnn.js\");'use strict';\nrun()"),
    ],
)
def test_workers_of_blobs_are_changed(page: Page, source: str, options: str, changed: str) -> None:
    printed = page.run(
        f'new Worker(URL.createObjectURL(new Blob(["{source}"])){options}); console.log(JSON.stringify(textOf(started.at(-1)[0])));'
    )
    assert json.loads(printed[0]) == changed
    assert page.calls == []


def test_ignored_members_are_warned_of_once(page: Page) -> None:
    program = START + "for (let i = 0; i < 3; i++) builder.relu(x, {lable: 'a'}); await new Promise(resolve => setTimeout(resolve, 50));"
    warnings = [line for line in page.run(program) if "lable" in line]
    assert len(warnings) == 1
    assert warnings[0].startswith("warn: WebNNWarning: relu: ")


def replaced(monkeypatch: pytest.MonkeyPatch, own: str, other: str, before: str = "") -> Page:
    """Return a page whose script has another limit, after statements of the test's own."""
    make = make_script
    assert own in make("", Options().idl())
    monkeypatch.setattr(sys.modules[__name__], "make_script", lambda *args, **named: before + make(*args, **named).replace(own, other))
    return Page(Options(revision="2026-06"))


def follow(monkeypatch: pytest.MonkeyPatch) -> list[list[Message]]:
    """Return the requests of the bodies that sessions get from now on."""
    bodies: list[list[Message]] = []
    exchange = Session.exchange

    async def note(self: Session, number: int, messages: Sequence[Message]) -> list[Bytes]:
        bodies.append(list(messages))
        return await exchange(self, number, messages)

    monkeypatch.setattr(Session, "exchange", note)
    return bodies


def test_a_body_has_few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that makes very many calls without an answer waits from time to time. The emulator takes twice as many."""
    own, most = "MOST_MESSAGES = 1 << 16;", 20
    assert messages._MOST_MESSAGES == 2 << 16
    page = replaced(monkeypatch, own, f"MOST_MESSAGES = {most};")
    page.run(START + "builder.relu(x); builder.relu(x); Object.assign(globalThis, {builder, x});")
    bodies = follow(monkeypatch)
    assert page.run("let y = x; for (let index = 0; index < 100; index++) y = builder.relu(y); console.log(y.shape.join());") == ["2"]
    assert max(map(len, bodies)) == most
    assert sum(map(len, bodies)) >= 80
    page.close()
    assert page.faults == []


def test_a_request_drops_few_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """A garbage collector may drop very many objects at once. The others are named by later requests."""
    registry = (
        "globalThis.slots = []; globalThis.FinalizationRegistry = class {"
        "constructor(finish) { globalThis.finish = finish; } register(_, slot) { slots.push(slot); } };"
    )
    page = replaced(monkeypatch, "MOST_DROPPED = 65536;", "MOST_DROPPED = 4;", registry)
    page.run(START + "for (let index = 0; index < 10; index++) builder.relu(x); Object.assign(globalThis, {builder, x});")
    bodies = follow(monkeypatch)
    page.run(
        "slots.filter(slot => slot.name === 'MLOperand').slice(-10).forEach(finish);"
        "for (let index = 0; index < 4; index++) builder.relu(x); await navigator.ml.createContext();"
    )
    page.close()
    texts = [bytes(each.parts[0]) for body in bodies for each in body]
    dropped = [json.loads(text)[5] for text in texts if text != b'"nothing"']
    assert [len(each) for each in dropped if each] == [4, 4, 2]
    assert len({handle for each in dropped for handle in each}) == 10
    assert page.faults == []
