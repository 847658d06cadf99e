"""`Emulator` with imitations of Playwright's contexts, and the pytest plugin in separate runs of pytest."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest

# After a run in this process, pytest unloads the modules that the run has loaded, and NumPy cannot be loaded twice.
import webnn.context.ml
import webnn.serve.pytest_plugin  # noqa: F401
from tests.webnn.serve.pages import HELLO, NAME, body, message, open_body, request
from webnn.serve.options import Options
from webnn.serve.playwright import Emulator

pytest_plugins = ["pytester"]

SCRIPT = "https://app.test/worker.js?a=(1)"


class Request:
    """A request: what a page announces a worker with, or that for the worker's script."""

    def __init__(self, url: str, content: object = None, failure: str | None = None) -> None:
        self.url, self.post_data_json, self.failure = url, content, failure


class Response:
    """The answer of a server that has a worker's script."""

    def __init__(self, url: str = "", content: bytes = b"", ok: bool = True, headers: dict[str, str] | None = None) -> None:
        self.url, self.ok, self.status, self._content = url, ok, 200 if ok else 404, content
        self.headers_array = [{"name": name, "value": value} for name, value in (headers or {}).items()]
        self.request = Request(url)

    def body(self) -> bytes:
        return self._content


class Route:
    """A request that is routed."""

    def __init__(self, response: Response | Exception) -> None:
        self._response = response
        self.request = Request("") if isinstance(response, Exception) else response.request
        self.done: list[Any] = []

    def fetch(self) -> Response:
        if isinstance(self._response, Exception):
            raise self._response
        return self._response

    def fulfill(self, **answer: Any) -> None:
        self.done.append(answer)

    def fallback(self) -> None:
        self.done.append("fallback")


class Context:
    """A context of the synchronous API."""

    def __init__(self, permissions: Exception | None = None) -> None:
        self._permissions = permissions
        self.scripts: list[str] = []
        self.routes: list[tuple[Any, Callable[[Any], Any]]] = []
        self.listeners: list[tuple[str, Callable[[Any], Any]]] = []

    def grant_permissions(self, names: list[str]) -> None:
        assert names == ["local-network-access"]
        if self._permissions is not None:
            raise self._permissions

    def add_init_script(self, script: str) -> None:
        self.scripts.append(script)

    def route(self, url: Any, handler: Callable[[Any], Any], *, times: int = 0) -> None:
        if times:
            self.routes.append((url, handler))
        else:
            assert not url.search(SCRIPT)

    def on(self, event: str, listener: Callable[[Any], Any]) -> None:
        self.listeners.append((event, listener))

    def remove_listener(self, event: str, listener: Callable[[Any], Any]) -> None:
        self.listeners.remove((event, listener))

    def emit(self, event: str, value: Any) -> list[Any]:
        return [listener(value) for name, listener in list(self.listeners) if name == event]


@pytest.fixture
def emulator() -> Iterator[Emulator]:
    with Emulator() as running:
        yield running


@pytest.fixture
def context(emulator: Emulator) -> Context:
    made = Context()
    emulator.add_to(made)
    return made


def send(address: str, content: bytes) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address, content, {"Content-Type": "text/plain"}), timeout=60) as response:
        assert response.status == 200
        return bytes(response.read())


def call(emulator: Emulator, *messages: bytes, number: int = 1) -> None:
    """Call, and wait for the result if the call takes long."""
    base = emulator.script_url.removesuffix("webnn.js")
    _, _, [answer, *_] = open_body([send(f"{base}call?s={NAME}", body(*messages, number=number))])
    if (pending := json.loads(answer).get("pending")) is not None:
        send(f"{base}result?s={NAME}&n={pending}", b"")


def announce(emulator: Emulator, context: Any, kind: str = "classic") -> None:
    """Do what a page does that starts a worker, and what Playwright does then."""
    address = f"{emulator.script_url.removesuffix('webnn.js')}worker?s={NAME}"
    worker = {"url": f"{SCRIPT}#part", "type": kind}
    page = threading.Thread(target=send, args=[address, json.dumps(worker).encode()])
    page.start()

    async def hear() -> None:
        context.emit("request", Request(address, worker))
        await asyncio.sleep(0)

    asyncio.run(hear())
    page.join(60)
    assert not page.is_alive()


def fetch(emulator: Emulator, context: Context, response: Response | Exception, kind: str = "classic") -> list[Any]:
    """Start a worker whose script has this answer; return what becomes of it."""
    announce(emulator, context, kind)
    route = Route(response)
    context.routes[0][1](route)
    return route.done


def test_a_context_gets_the_script(emulator: Emulator) -> None:
    context = Context()
    assert emulator.add_to(context) is None
    assert context.scripts == [emulator.script]
    assert context.routes == []
    assert emulator.script_url in emulator.script or emulator.script_url.removesuffix("/webnn.js") in emulator.script


def test_a_browser_without_the_permission(emulator: Emulator) -> None:
    context = Context(RuntimeError("BrowserContext.grant_permissions: Unknown permission: local-network-access"))
    emulator.add_to(context)
    assert len(context.scripts) == 1
    with pytest.raises(RuntimeError, match="it was closed"):
        emulator.add_to(Context(RuntimeError("it was closed")))


@pytest.mark.parametrize(
    ("kind", "script", "begin"),
    [
        ("classic", b"work();", b"importScripts"),
        ("classic", b"'use strict'; work();", b'"use strict";'),
        ("module", b"work();", b"import "),
    ],
)
def test_the_script_of_a_worker(emulator: Emulator, context: Context, kind: str, script: bytes, begin: bytes) -> None:
    headers = {"Content-Type": "text/javascript", "Content-Length": "7", "Content-Encoding": "br"}
    [answer] = fetch(emulator, context, Response(SCRIPT, script, headers=headers), kind)
    [(pattern, _)] = context.routes
    assert pattern.search(SCRIPT)
    assert not pattern.search(f"{SCRIPT}1")
    assert answer["headers"] == {"content-type": "text/javascript"}
    assert answer["body"].startswith(begin)
    assert emulator.script_url.encode() in answer["body"]
    assert answer["body"].endswith(script)
    assert [event for event, _ in context.listeners] == ["request", "requestfailed"]
    assert emulator.faults == []


def test_the_policy_of_a_worker(emulator: Emulator, context: Context) -> None:
    [answer] = fetch(emulator, context, Response(SCRIPT, b"", headers={"Content-Security-Policy": "default-src 'none'"}))
    assert emulator.script_url in answer["headers"]["content-security-policy"]


def test_a_script_that_is_not_there(emulator: Emulator, context: Context) -> None:
    response = Response(SCRIPT, ok=False)
    assert fetch(emulator, context, response) == [{"response": response}]


def test_a_worker_whose_script_another_route_answers(emulator: Emulator, context: Context) -> None:
    announce(emulator, context)
    context.emit("response", Response("https://app.test/other.js"))
    assert emulator.faults == []
    context.emit("response", Response(SCRIPT))
    [fault] = emulator.faults
    assert f"the worker {SCRIPT} has no emulator: another route of the test answers its script" in fault
    assert emulator.script_url in fault


def test_a_worker_without_a_server(emulator: Emulator, context: Context) -> None:
    assert fetch(emulator, context, OSError("there is no such host")) == ["fallback"]
    assert "another route of the test" in emulator.faults[0]


def test_a_policy_that_blocks_the_emulator(emulator: Emulator, context: Context) -> None:
    for request_ in (Request("https://app.test/", failure="csp"), Request(emulator.script_url, failure="net::ERR_FAILED")):
        context.emit("requestfailed", request_)
    assert emulator.faults == []
    for _ in range(2):
        context.emit("requestfailed", Request(emulator.script_url, failure="csp"))
    [fault] = emulator.faults
    assert "bypass_csp=True" in fault


def test_a_page_outside_of_playwright_does_not_wait(emulator: Emulator) -> None:
    send(f"{emulator.script_url.removesuffix('webnn.js')}worker?s={NAME}", json.dumps({"url": SCRIPT, "type": "module"}).encode())
    assert emulator.faults == []


# The classes of the asynchronous API differ from these in their return types only.
# mypy: disable-error-code="override,assignment"


class AsynchronousContext(Context):
    """A context of the asynchronous API."""

    async def grant_permissions(self, names: list[str]) -> None:
        super().grant_permissions(names)

    async def add_init_script(self, script: str) -> None:
        super().add_init_script(script)

    async def route(self, url: Any, handler: Callable[[Any], Any], *, times: int = 0) -> None:
        super().route(url, handler, times=times)


class AsynchronousRoute(Route):
    """A routed request of the asynchronous API."""

    async def fetch(self) -> Any:
        response = super().fetch()
        content = response.body()

        async def read() -> bytes:
            return content

        response.body = read
        return response

    async def fulfill(self, **answer: Any) -> None:
        super().fulfill(**answer)

    async def fallback(self) -> None:
        super().fallback()


@pytest.mark.parametrize("permissions", [None, RuntimeError("Unknown permission: local-network-access")])
def test_the_asynchronous_api(emulator: Emulator, permissions: Exception | None) -> None:
    context = AsynchronousContext(permissions)
    asyncio.run(emulator.add_to(context))
    assert context.scripts == [emulator.script]
    announce(emulator, context)
    route = AsynchronousRoute(Response(SCRIPT, b"work();"))
    asyncio.run(context.routes[0][1](route))
    assert route.done[0]["body"].endswith(b"work();")
    announce(emulator, context)
    failed = AsynchronousRoute(OSError("there is no such host"))
    asyncio.run(context.routes[1][1](failed))
    assert failed.done == ["fallback"]


def test_what_pages_did() -> None:
    with Emulator(Options(revision="2024-06", fallback="allow", profile="dml-fl4_0")) as emulator:
        hello = message("H", json.dumps(HELLO).encode())
        call(emulator, hello, message("C", request("ML", "createContext", 0, {"deviceType": "npu"})))
        call(emulator, message("C", request("MLGraphBuilder", "constructor", None, {"$h": 1})), number=2)
        descriptor = {"dataType": "float32", "dimensions": [0]}
        call(emulator, message("C", request("MLGraphBuilder", "input", 2, "x", descriptor)), number=3)
        call(emulator, message("C", request("MLGraphBuilder", "constructor", None, {"$h": 1})), number=4)
        assert emulator.counts.calls == {
            "ML.createContext": 1,
            "MLGraphBuilder.constructor": 2,
            "MLGraphBuilder.input": 1,
        }
        assert (emulator.counts.contexts, emulator.counts.builds, emulator.counts.computes, emulator.counts.refused) == (1, 0, 0, 1)
        assert [(entry.member, entry.refused) for entry in emulator.log][2] == ("MLGraphBuilder.input", True)
        [warning] = emulator.warnings
        assert "npu" in warning
        assert emulator.faults == []


def test_lost_contexts(emulator: Emulator) -> None:
    hello = message("H", json.dumps(HELLO).encode())
    call(emulator, hello, message("C", request("ML", "createContext", 0)))
    assert emulator.lost == []
    call(emulator, message("C", request("MLContext", "destroy", 1)), number=2)
    assert len(emulator.lost) == 1


# The plugin

INI = """
[pytest]
addopts = --strict-markers -p no:cacheprovider
asyncio_default_fixture_loop_scope = function
filterwarnings =
    error
    ignore:Module already imported:pytest.PytestAssertRewriteWarning
"""
#: An imitation of Playwright's browser.
BROWSER = """
import pytest
from tests.webnn.serve.test_playwright import Context

class Browser:
    def new_context(self, *, bypass_csp):
        assert bypass_csp
        context = Context()
        context.new_page = lambda: context
        context.close = lambda: None
        return context

@pytest.fixture
def browser():
    return Browser()
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("WEBNN_PROFILE", raising=False)
    pytester.makeini(INI)
    return pytester


def run(project: pytest.Pytester, tests: str) -> pytest.RunResult:
    project.makepyfile(test_it=f"import pytest, webnn\n{tests}")
    return project.runpytest()


@pytest.mark.processes
def test_a_page_of_the_tests_own_browser(project: pytest.Pytester) -> None:
    project.makeconftest(BROWSER)
    tests = """
@pytest.mark.webnn(profile="coreml")
class TestIt:
    @pytest.mark.webnn(fallback="deny", faults=webnn.Faults(failBuild=1), revision="2024-06", numerics="fast")
    def test_page(self, webnn_page, webnn_emulator):
        assert webnn_page.scripts == [webnn_emulator.script]
        options = webnn_emulator.options
        assert (options.profile, options.fallback, options.revision, options.numerics) == ("coreml", "deny", "2024-06", "fast")
        # It holds for programs in Python, too.
        builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
        with pytest.raises(webnn.WebNNTypeError, match='on the device profile "coreml", got uint8'):
            builder.input("x", dataType="uint8", shape=[1])

def test_without_a_marker(webnn_emulator):
    assert webnn_emulator.options.profile is None
"""
    run(project, tests).assert_outcomes(passed=2)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("marker", "error"),
    [
        (
            "profil='coreml'",
            "*the marker webnn takes the keywords profile, fallback, faults, numerics, *, revision, dialect, workers, got profil",
        ),
        ("'coreml'", "*the marker webnn takes the keywords *, got 'coreml'"),
        ("profile='corem'", "*the marker webnn: *corem*must be a device profile*"),
        ("fallback='no'", "*the marker webnn: *fallback*no*"),
        ("revision='1999'", "*the marker webnn: *1999*"),
    ],
)
def test_a_wrong_marker(project: pytest.Pytester, marker: str, error: str) -> None:
    result = run(project, f"@pytest.mark.webnn({marker})\ndef test_it(webnn_emulator): pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([error])


@pytest.mark.processes
def test_a_fault_of_the_emulator_fails_the_test(project: pytest.Pytester) -> None:
    tests = "def test_it(webnn_emulator): webnn_emulator.note('something is broken')\n"
    result = run(project, tests)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["the emulator failed:", "something is broken"])


@pytest.mark.processes
@pytest.mark.parametrize(
    ("conftest", "error"),
    [
        ("", "webnn_page needs a fixture browser: install pytest-playwright, or write a fixture *"),
        (
            BROWSER.replace("def new_context", "async def new_context"),
            "webnn_page needs Playwright's synchronous API; in an asynchronous test, await webnn_emulator.add_to(context)",
        ),
        ("import pytest\n@pytest.fixture\ndef browser(another): pass\n", "*fixture 'another' not found*"),
    ],
)
def test_no_browser(project: pytest.Pytester, conftest: str, error: str) -> None:
    project.makeconftest(conftest)
    result = run(project, "def test_it(webnn_page): pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([error])


@pytest.mark.processes
def test_the_plugin_of_playwright_makes_the_context(project: pytest.Pytester) -> None:
    """Its `new_context` knows the options of the command line, such as those for videos and traces."""
    project.makepyfile(playwright_plugin="import pytest\n@pytest.fixture\ndef new_context(browser):\n    return browser.new_context\n")
    registration = "def pytest_configure(config):\n    config.pluginmanager.register(playwright_plugin, 'playwright')\n"
    project.makeconftest(f"{BROWSER}\nimport playwright_plugin\n{registration}")
    project.syspathinsert()
    run(project, "def test_it(webnn_page):\n    assert len(webnn_page.scripts) == 1\n").assert_outcomes(passed=1)
