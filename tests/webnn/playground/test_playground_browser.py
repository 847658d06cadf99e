"""The page in a real Chromium, by Playwright: what a person does with mouse or keyboard, and what a hostile link cannot do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import PATIENCE
from tests.webnn.javascript.node_support import require_node
from tests.webnn.playground.support import Address, serving
from webnn.playground.server import Playground

BROWSER = os.environ.get("WEBNN_BROWSER")
pytestmark = [pytest.mark.processes, pytest.mark.skipif(not BROWSER, reason="WEBNN_BROWSER names no browser")]

FLAGS = ["--enable-features=WebMachineLearningNeuralNetwork", "--no-sandbox"]
MARKUP = "<img src=x onerror=parent.harmed=1></svg><script>harmed=1</script>"
ENDED = "() => /^(Done|The program failed|It cannot|Stopped)/.test(document.getElementById('message').textContent)"


@pytest.fixture(scope="module")
def page() -> Iterator[Address]:
    require_node()
    with serving(Playground(("javascript", "python"), timeout=PATIENCE)) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright or greenlet is not installed", exc_type=ImportError)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium: Any, page: Address) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE * 1000)
    tab.problems = []
    tab.on("pageerror", lambda error: tab.problems.append(str(error)))
    tab.goto(page.url)
    ready(tab)
    yield tab
    context.close()


def ready(tab: Any) -> None:
    tab.wait_for_function("() => document.getElementById('facts').textContent.startsWith('webnn ')")


def open_link(tab: Any, program: dict[str, str]) -> None:
    tab.evaluate("async (program) => { location.hash = await (await import('./links.js')).write(program); }", program)
    tab.wait_for_selector("#foreign:not([hidden])")


def run(tab: Any) -> str:
    tab.wait_for_selector("#run:enabled")
    tab.click("#run")
    tab.wait_for_function(ENDED)
    text: str = tab.inner_text("#message")
    return text


def test_an_example_beside_the_browsers_own_webnn(tab: Any) -> None:
    tab.wait_for_selector("#native-choice:not([hidden])")
    tab.select_option("#example", label="Attention")
    assert run(tab).startswith("Done")
    rows = tab.locator("#numbers tbody tr").all_inner_texts()
    assert len(rows) == 2
    # Both compute in float32: what they print has six digits.
    assert all(float(row.split("\t")[-1]) < 1e-5 for row in rows)
    assert tab.locator("#graphs canvas").first.evaluate("(canvas) => canvas.width") > 100
    assert tab.problems == []


def test_an_error_is_marked_at_its_line(tab: Any) -> None:
    open_link(tab, {"language": "python", "source": "import webnn\n\nwebnn.MLGraphBuilder(None)\n"})
    assert run(tab).startswith("The program failed")
    assert "MLGraphBuilder: context must be an MLContext" in tab.inner_text("#problem-text")
    tab.click("#go")
    assert tab.locator(".cm-line").nth(2).locator(".cm-lintRange-error").count() == 1
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == "Program"


def test_a_link_shows_its_program_and_runs_nothing(tab: Any, page: Address) -> None:
    requests: list[str] = []
    tab.on("request", lambda request: requests.append(request.method))
    source = f"console.log({json.dumps(MARKUP)}); // {MARKUP}"
    open_link(tab, {"language": "javascript", "source": source, "profile": MARKUP, "faults": MARKUP})
    tab.wait_for_timeout(500)
    assert "POST" not in requests
    assert tab.inner_text(".cm-content") == source
    assert tab.inner_text("#foreign") == "The program comes from a link. Read it before you run it."
    assert "Not available here: profile <img" in tab.inner_text("#message")
    tab.fill("[name=faults]", "")
    assert run(tab).startswith("Done")
    assert MARKUP in tab.inner_text("#outputs")
    assert tab.evaluate("globalThis.harmed") is None
    # A link from an open page holds the program, and not the token.
    tab.click("#copy")
    tab.wait_for_function("() => document.getElementById('link').value !== ''")
    assert page.playground.token not in tab.input_value("#link")


def test_hostile_names_in_a_graph(tab: Any) -> None:
    lines = [
        "const builder = new MLGraphBuilder(await navigator.ml.createContext());",
        f"const name = {json.dumps(MARKUP)};",
        "const x = builder.input(name, {dataType: 'float32', shape: [2]});",
        "await builder.build({[name]: builder.relu(x, {label: name})});",
    ]
    open_link(tab, {"language": "javascript", "source": "\n".join(lines)})
    assert run(tab).startswith("Done")
    assert MARKUP in tab.inner_text("#graphs h3")
    assert tab.evaluate("globalThis.harmed") is None
    assert tab.locator("#graphs script, #graphs img").count() == 0


def test_the_frame_of_the_browsers_own_webnn_reaches_nothing(tab: Any, page: Address) -> None:
    tab.wait_for_selector("#native-choice:not([hidden])")
    lines = [
        "const tries = [() => parent.document.title, () => top.location.href, () => localStorage.length, () => document.cookie];",
        "for (const each of tries) { try { console.log('reached', each()); } catch (error) { console.log(error.name); } }",
        f"await fetch({json.dumps(page.url + 'state.json')}).then(() => console.log('reached'), (error) => console.log(error.name));",
    ]
    open_link(tab, {"language": "javascript", "source": "if (globalThis.parent?.postMessage) {\n" + "\n".join(lines) + "\n}"})
    run(tab)
    assert tab.locator("#outputs pre").nth(1).inner_text().split() == ["SecurityError"] * 4 + ["TypeError"]


def test_by_keyboard_alone(tab: Any) -> None:
    tab.evaluate("document.activeElement?.blur()")
    seen = []
    for _ in range(30):
        tab.keyboard.press("Tab")
        seen.append(
            tab.evaluate("document.activeElement.id || document.activeElement.name || document.activeElement.getAttribute('aria-label')")
        )
        if seen[-1] == "run":
            break
    assert seen == ["example", "language", "profile", "revision", "faults", "Program", "run"]
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Control+a")
    tab.keyboard.type("console.log(6 * 7);")
    tab.keyboard.press("Control+Enter")
    tab.wait_for_function(ENDED)
    assert "42" in tab.inner_text("#outputs")


def test_a_program_is_stopped(tab: Any) -> None:
    open_link(tab, {"language": "javascript", "source": "for (;;);"})
    tab.click("#run")
    tab.click("#stop:enabled")
    tab.wait_for_function(ENDED)
    assert tab.inner_text("#message") == "Stopped."


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(chromium: Any, page: Address, width: int, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(page.url)
    ready(tab)
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.evaluate("[...document.querySelectorAll('input, select')].filter((each) => !each.labels.length).length") == 0
    context.close()
