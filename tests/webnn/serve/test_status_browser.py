"""The status page in a browser: a person reads it, fills in its forms and presses its buttons, and pages can do it no harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.webnn.serve.support import Client
from webnn.browser.chromium import Chromium
from webnn.serve.options import Options
from webnn.serve.server import Server

pytestmark = pytest.mark.processes

MARKUP = "<img src=x onerror=globalThis.harmed=1><script>globalThis.harmed=1</script>"


class Person:
    """Uses the status page."""

    def __init__(self, browser: Chromium) -> None:
        self.browser = browser

    def look(self, function: str, argument: object = None) -> Any:
        return self.browser.evaluate(function, argument)

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        self.look(f"async () => {{ while (!({condition})) await new Promise((resolve) => setTimeout(resolve, 20)); }}")

    def wait_for_text(self, selector: str, text: str) -> None:
        self.wait(f"[...document.querySelectorAll({selector!r})].some((each) => each.textContent.includes({text!r}))")

    def fill(self, selector: str, value: str) -> None:
        self.look(
            """([selector, value]) => {
              const field = document.querySelector(selector);
              if (field.type === 'checkbox') field.checked = value === 'on'; else field.value = value;
              field.dispatchEvent(new Event('input', {bubbles: true}));
            }""",
            [selector, value],
        )

    def press(self, selector: str) -> None:
        self.wait(f"document.querySelector({selector!r})?.disabled === false")
        self.look("(selector) => { const button = document.querySelector(selector); button.focus(); button.click(); }", selector)

    def read(self, selector: str) -> list[str]:
        texts: list[str] = self.look("(selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent)", selector)
        return texts


@pytest.fixture(scope="module")
def browser(browser_program: Path) -> Iterator[Chromium]:
    with Chromium(browser_program, timeout=20) as browser:
        yield browser


@pytest.fixture
def server(browser: Chromium) -> Iterator[Server]:
    with Server(None, Options(profile="coreml")) as server:
        yield server


@pytest.fixture
def person(browser: Chromium, server: Server) -> Person:
    browser.open(server.status_url)
    person = Person(browser)
    person.wait("document.querySelector('#change select').options.length > 1")
    return person


def test_an_empty_page(person: Person) -> None:
    assert person.read("#facts") == ["Draft 2026-06. 0 sessions now, 0 since the start."]
    assert person.look("() => [document.getElementById('no-sessions').hidden, document.getElementById('session').hidden]") == [False, True]
    assert person.look("() => document.querySelector('[name=profile]').value") == "coreml"


def test_controls_and_tables_have_names(person: Person, server: Server) -> None:
    client = Client(server)
    client.build(client.make("ML", "createContext", 0, {}))
    person.wait_for_text("#calls td", "MLGraphBuilder.build")
    assert person.look("() => [...document.querySelectorAll('input, select')].filter((each) => !each.labels.length).length") == 0
    person.press("button[aria-label='Placement of graph 1']")
    person.wait_for_text("#graph-title", "Graph 1")
    names = "(each) => document.getElementById(each.getAttribute('aria-labelledby'))?.textContent"
    named = person.look(f"() => [...document.querySelectorAll('table, form')].map({names})")
    assert {"Device", "Faults", "Sessions", "Contexts", "Graphs", "Graph 1: where its operators run"} <= {*named}
    assert all(named)
    assert person.look("() => [...document.querySelectorAll('th')].every((each) => each.scope === 'col')")
    assert person.look("() => [...document.querySelectorAll('button')].every((each) => each.textContent.trim() !== '')")
    # Somebody who speaks to the browser says what is seen: WCAG 2.5.3.
    named = "(each) => (each.getAttribute('aria-label') ?? each.textContent).includes(each.textContent.trim())"
    assert person.look(f"() => [...document.querySelectorAll('button')].every({named})")


def test_settings_are_copied_as_a_test(person: Person, server: Server) -> None:
    person.fill("[name=failCompute]", "1")
    person.press("#faults button")
    person.wait_for_text("#test", "faults=webnn.Faults(failCompute=1)")
    client = Client(server, url="https://a.test/page.html")
    client.make("ML", "createContext", 0, {})
    person.wait_for_text("#test", "webnn_page.goto('https://a.test/page.html')")
    person.press("#copy")
    # A browser without a person may refuse the clipboard: then the text is selected.
    person.wait("document.getElementById('message').textContent !== 'The faults are set.'")
    copied = "document.getElementById('message').textContent === 'The test is copied.'"
    assert person.look(f"() => {copied} || getSelection().toString().includes('def test_the_page')")


@pytest.mark.parametrize("width", [400, 800])
def test_a_narrow_window(person: Person, server: Server, width: int) -> None:
    """Tables scroll by themselves; the page does not."""
    client = Client(server)
    client.build(client.make("ML", "createContext", 0, {}))
    person.wait_for_text("#calls td", "MLGraphBuilder.build")
    person.look("(width) => { document.documentElement.style.width = `${width}px`; }", width)
    assert person.look("(width) => document.body.scrollWidth <= width", width)


def test_texts_of_pages_are_no_markup(person: Person, server: Server) -> None:
    client = Client(server, url=f"https://a.test/{MARKUP}")
    context = client.make("ML", "createContext", 0, {})
    builder = client.make("MLGraphBuilder", "constructor", None, {"$h": context})
    value = client.make("MLGraphBuilder", "input", builder, MARKUP, {"dataType": "float32", "shape": [2]})
    value = client.make("MLGraphBuilder", "relu", builder, {"$h": value}, {"label": MARKUP})
    client.make("MLGraphBuilder", "build", builder, {"$r": [[MARKUP, {"$h": value}]]})
    assert "error" in client.call("MLGraphBuilder", "relu", builder, {"$h": value}, {"label": MARKUP})
    person.wait_for_text("#graphs td", "<img")
    person.press("button[aria-label='Placement of graph 1']")
    person.wait_for_text("#operators td", "<img")
    person.wait_for_text("#calls td.bad", "<img")
    assert MARKUP in person.read("#session-title")[0]
    assert person.look("() => document.querySelectorAll('img, main script, iframe').length") == 0
    assert person.look("() => globalThis.harmed") is None


def test_options_are_changed(person: Person, server: Server) -> None:
    person.fill("[name=profile]", "ort")
    person.fill("[name=fallback]", "deny")
    client = Client(server)
    person.wait_for_text("#sessions td", "window")
    # The state that came meanwhile has not undone what is edited.
    assert person.look("() => document.querySelector('[name=profile]').value") == "ort"
    person.press("#change button")
    person.wait_for_text("#message", "Contexts that are made from now on use this.")
    assert (server.sessions.options.profile, server.sessions.options.fallback) == ("ort", "deny")
    client.make("ML", "createContext", 0, {"deviceType": "cpu"})
    person.wait_for_text("#contexts td", "ort")
    person.wait_for_text("#contexts td", "deny")


def test_faults_are_set(person: Person, server: Server) -> None:
    faults = server.sessions.options.faults
    assert faults is not None
    person.fill("[name=failBuild]", "1, 3")
    person.fill("[name=refuse][value=npu]", "on")
    person.fill("[name=delay]", "0.25")
    person.press("#faults button")
    person.wait_for_text("#message", "The faults are set.")
    assert (faults.failBuild, dict(faults.refuse), faults.delay, faults.failCompute) == (frozenset({1, 3}), {"npu": ""}, 0.25, None)
    person.fill("[name=failCompute]", "sometimes")
    person.press("#faults button")
    person.wait_for_text("#message.bad", "Computations that fail: must be a number")
    assert faults.failCompute is None
    person.fill("[name=failCompute]", "0")
    person.press("#faults button")
    person.wait_for_text("#message.bad", "failCompute")
    person.press("#disarm")
    person.wait_for_text("#message", "There are no faults.")
    assert (faults.failBuild, dict(faults.refuse), faults.delay) == (None, {}, None)
    person.wait("document.querySelector('[name=failBuild]').value === ''")


def test_a_context_is_lost(person: Person, server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {})
    person.press(f"button[aria-label='Lose context {context}']")
    person.wait_for_text("#contexts td.bad", "lost: lost by hand")
    assert person.look("() => document.querySelector('#contexts button').disabled")
    assert client.call("MLContext", "createTensor", context, {"dataType": "float32", "shape": [2]})["error"][0] == "InvalidStateError"


def test_where_operators_run_and_their_times(person: Person, server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {})
    graph = client.build(context, ["sin", "erf"])
    client.dispatch(context, graph)
    person.press("button[aria-label='Placement of graph 1']")
    person.wait_for_text("#graph-title", "Graph 1: where its operators run")
    assert person.look("() => document.activeElement.id") == "graph-title"
    assert {"sin", "erf"} <= set(person.read("#operators td"))
    person.press("button[aria-label='Measure times of graph 1']")
    person.wait_for_text("#graph-title", "Graph 1: times of its operators")
    assert "share" in person.read("#operators th")
    assert {"sin", "erf"} <= set(person.read("#operators td"))


def test_a_graph_in_the_viewer(browser: Chromium, person: Person, server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {})
    client.dispatch(context, client.build(context, ["sin", "erf"]))
    # A tab of its own could not be asked here.
    person.look("() => { window.open = (address, target, features) => { globalThis.opened = [address, target, features]; }; }")
    person.press("button[aria-label='Open graph 1 in the viewer']")
    address, *rest = person.look("() => globalThis.opened")
    assert rest == ["_blank", "noopener"]
    browser.open(urljoin(server.status_url, address))
    root = "document.querySelector('#view')?.shadowRoot ?? [...document.querySelectorAll('*')].find((each) => each.shadowRoot)?.shadowRoot"
    person.wait(f"({root})?.querySelector('canvas')?.width > 100")
    person.look(f"() => {{ const field = ({root}).querySelector('input'); field.value = 'erf'; field.dispatchEvent(new Event('input')); }}")
    person.wait(f"({root}).querySelector('.side').textContent.includes('1 found')")
    person.look(f"() => ({root}).querySelector('.side button').click()")
    person.wait(f"({root}).querySelector('.side').textContent.includes('erf #2')")
    assert "device" in person.look(f"() => ({root}).querySelector('.side').textContent")


def test_the_focus_stays_while_the_page_runs(person: Person, server: Server) -> None:
    client = Client(server)
    context = client.make("ML", "createContext", 0, {})
    person.wait("document.querySelector('#contexts button')")
    person.look("() => document.querySelector('#contexts button').focus()")
    client.make("ML", "createContext", 0, {})
    person.wait("document.querySelectorAll('#contexts tbody tr').length === 2")
    assert person.look("() => document.activeElement.getAttribute('aria-label')") == f"Lose context {context}"


def test_a_reloaded_page_is_followed(person: Person, server: Server) -> None:
    Client(server, url="https://a.test/other")
    client = Client(server, url="https://a.test/mine")
    person.wait_for_text("#session-title", "https://a.test/mine")
    server._loop.call_soon_threadsafe(server.sessions.end, server.sessions.living[client.name])
    person.wait_for_text("#session-title", "https://a.test/other")
    person.wait("document.querySelectorAll('#sessions tbody tr').length === 1")
