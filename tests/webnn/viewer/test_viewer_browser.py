"""The viewer in a real browser: a person looks around with a mouse and without one, and nothing of a graph can do harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import webnn
from tests.support import CURRENT, make_context, wait_until
from tests.webnn.formats.networks import builder, chain, encoder, hostile
from tests.webnn.inspect.graphs import build, network, network_inputs
from webnn.inspect import write_page
from webnn.viewer import as_page, describe, describe_two, show, write

pytestmark = pytest.mark.processes

FLAGS = ["--no-sandbox", "--use-angle=swiftshader"]
#: The component of the page.
PART = "document.querySelector('.webnn-viewer').shadowRoot"


@pytest.fixture(scope="module")
def browser(browser_program: Path) -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_program, args=FLAGS)
        yield browser
        browser.close()


class Person:
    """Somebody who looks at a page. Errors of the page and requests are kept."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.page = browser.new_page(**{"viewport": {"width": 1280, "height": 800}, **options})
        self.page.set_default_timeout(20_000)
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())
        self.page.locator(".view[data-drawn]").first.wait_for()

    def details(self) -> str:
        text: str = self.page.locator(".side").first.inner_text()
        return text

    def said(self) -> str:
        text: str = self.page.locator(".live").first.text_content()
        return text

    def drawn(self) -> int:
        return int(self.page.locator(".view").first.get_attribute("data-drawn"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture
def look(browser: Any, tmp_path: Path) -> Iterator[Any]:
    people: list[Person] = []

    def look(*documents: dict[str, Any], **options: Any) -> Person:
        file = tmp_path / "page.html"
        file.write_text(as_page(documents), encoding="utf-8")
        people.append(Person(browser, file, **options))
        return people[-1]

    yield look
    for each in people:
        assert each.errors == []
        # The page itself, and nothing else.
        assert len(each.requests) == 1
        each.page.close()


def test_the_keyboard_alone(look: Any) -> None:
    """From the search to the weights of an operator, along its lines, into and out of a group."""
    description = encoder(3)
    person = look(describe(description, lines={each.index: ("model.py", 3) for each in description.operators}))
    person.press("Tab")
    person.page.keyboard.type("layer1/query")
    assert "1 found" in person.details()
    person.press("Enter")
    text = person.details()
    for expected in ("matmul", "layer1/query", "float32 4×8", "64 elements", "all 1", "first: 1, 1", "in layer1", "made at model.py:3"):
        assert expected in text
    assert person.said().startswith("matmul layer1/query #")
    person.page.locator(".stage").focus()
    person.press("ArrowDown")
    assert person.said().startswith("add")
    person.press("ArrowUp")
    assert person.said().startswith("matmul layer1/query")
    person.press("Escape")
    assert person.said().startswith("Group layer1, open")
    person.press("Enter")
    assert person.said().startswith("Group layer1, closed")
    person.press("+", "-", "0", "Shift+ArrowLeft", "Home")
    assert person.said().startswith("input x")
    person.press("Enter")
    # The focus is in the panel, where a button leads on.
    person.press("Tab", "Enter")
    assert person.said().startswith("add position")


def test_the_search(look: Any) -> None:
    """Each word must occur; operators that are called like one come before those that have it in a label."""
    b = builder()
    x = b.input("x", dataType="float32", shape=[2, 2])
    first = b.mul(b.transpose(x, label="head/scale"), x, label="head/add scale")
    person = look(describe(webnn.describe({"y": b.add(b.relu(first, label="add"), x, label="head/last")})))
    person.press("Tab")
    person.page.keyboard.type("add head")
    assert person.details().split() == ["2", "found", "add", "head/last", "#4", "mul", "head/add", "scale", "#2"]


def test_the_mouse(look: Any) -> None:
    person = look(describe(chain(("relu", "neg"))))
    stage = person.page.locator(".stage")
    area = stage.bounding_box()
    places = person.page.evaluate(
        f"(() => {{ const canvas = {PART}.querySelector('canvas'); return [canvas.clientWidth, canvas.clientHeight]; }})()"
    )
    assert [round(area["width"]), round(area["height"])] == places
    # A graph of four boxes in the middle: the second one is above the middle.
    person.page.mouse.click(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2 - 25)
    assert person.details().startswith("relu #1")
    before = person.drawn()
    person.page.mouse.move(area["x"] + 200, area["y"] + 200)
    person.page.mouse.down()
    person.page.mouse.move(area["x"] + 260, area["y"] + 230)
    person.page.mouse.up()
    person.page.mouse.wheel(0, -300)
    # The policy of the page forbids Playwright's own way to wait for an expression.
    wait_until(lambda: person.drawn() > before)
    # A drag is not a click.
    assert person.details().startswith("relu #1")


def test_colours_groups_and_all(look: Any) -> None:
    person = look(describe(encoder(3), seconds={1: 0.001, 4: 0.01}), color_scheme="dark")
    person.page.get_by_label("Colour").select_option(label="time")
    assert "up to 10 ms" in person.page.locator(".legend").inner_text()
    person.page.get_by_label("Group by").select_option(label="repeated blocks")
    person.page.get_by_role("button", name="Close all").click()
    person.page.get_by_role("button", name="Open all").click()
    wait_until(lambda: "groups are open" in person.said())


def test_several_graphs(look: Any) -> None:
    person = look(describe(encoder(1), title="one"), describe(chain(("relu",)), title="other"))
    person.page.get_by_label("Graph", exact=True).select_option(label="2: other")
    assert "1 operator" in person.page.locator(".facts").inner_text()
    assert person.page.locator(".view").count() == 1


def test_two_graphs(look: Any) -> None:
    def make(axis: int) -> webnn.GraphDescription:
        b = builder()
        x = b.relu(b.input("x", dataType="float32", shape=[2, 2]), label="first")
        return webnn.describe({"y": b.softmax(x, axis, label="last")})

    person = look(describe_two(make(0), make(1), titles=("before", "after")))
    assert person.page.locator(".differences .name").inner_text() == "1 difference"
    person.page.locator(".differences button").click()
    sides = person.page.locator(".side").all_inner_texts()
    assert all(each.startswith("softmax") and "axis 0 became 1" in each for each in sides)
    # Both show the operator that corresponds.
    person.page.locator("input").first.fill("first")
    person.press("Enter")
    assert all(each.startswith("relu") for each in person.page.locator(".side").all_inner_texts())


def test_hostile_names(look: Any) -> None:
    person = look(describe(hostile()))
    person.page.locator("input").fill("script")
    person.page.locator(".results button").first.click()
    assert "<script>alert(1)</script>" in person.details()
    assert person.page.evaluate(f"{PART}.querySelectorAll('script, title, img').length") == 0


def test_two_graphs_in_a_narrow_window(look: Any) -> None:
    """The details of a graph cover nothing: each difference can be clicked."""
    person = look(describe_two(encoder(1), encoder(2), titles=("one", "two")), viewport={"width": 400, "height": 800})
    for number in range(3):
        person.page.locator(".differences button").nth(number).click()
    assert person.page.evaluate("document.documentElement.scrollWidth") == 400


def test_a_long_graph_shows_a_part_first(browser: Any, tmp_path: Path) -> None:
    """The first drawing does not grow with the graph."""
    b = webnn.MLGraphBuilder(make_context(CURRENT))
    x = b.input("x", dataType="float32", shape=[8])
    for number in range(3000):
        x = b.add(b.relu(x), x, label=f"layer{number // 20}/add")
    write(tmp_path / "page.html", webnn.describe({"y": x}))
    person = Person(browser, tmp_path / "page.html")
    assert "6,000 operators" in person.page.locator(".facts").inner_text()
    person.page.locator("input").fill("layer77/add")
    assert "20 found" in person.details()
    person.press("Enter")
    assert person.said().startswith("add layer77/add")
    assert person.errors == []
    person.page.close()


def test_in_the_page_of_inspect_and_in_a_notebook(browser: Any, tmp_path: Path) -> None:
    write_page(tmp_path / "inspect.html", build(network), network_inputs())
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto((tmp_path / "inspect.html").as_uri())
    page.locator("details.viewer > summary").click()
    page.locator(".show").get_by_label("Colour").select_option(label="error")
    page.close()
    page = browser.new_page()
    page.set_content(show(encoder(1))._repr_html_())
    frame = page.frame_locator("iframe")
    frame.get_by_label("Find").fill("position")
    frame.locator(".results button").click()
    assert "add" in frame.locator(".side").inner_text()
    assert errors == []
    page.close()


def test_wrong_documents(browser: Any, tmp_path: Path) -> None:
    write(tmp_path / "page.html", encoder(1))
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    for wrong in ("null", "{}", "{ format: 'webnn-viewer', version: 2 }"):
        assert page.evaluate(
            f"(() => {{ try {{ webnnViewer.show(document.body, {wrong}); }} catch (error) {{ return error.message; }} }})()"
        ) == ("show: document must have the format webnn-viewer, version 1")
    page.close()
