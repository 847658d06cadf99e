"""The page about graphs, and the graphs of a program."""

from __future__ import annotations

import base64
import hashlib
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.html_page import Page
from tests.support import CURRENT, make_context
from tests.webnn.inspect.graphs import build, float_input, network, network_inputs
from webnn import ML, InvalidStateError, MLGraphBuilder, MLOperand, WebNNTypeError
from webnn.inspect import write_page
from webnn.inspect.capture import Capture
from webnn.inspect.page import PHASES, inspect_graph, render, write_capture
from webnn.inspect.subject import Subject

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><svg onload=alert(1)>",
    "</title><iframe src=javascript:alert(1)>",
    "' onclick='alert(1)",
    "<!--",
    "]]>",
    "&lt;b&gt;",
    "@script@",
    "\u202egnirts",
    "\ud800",
    "\x00\x1b[31m",
    "a" * 5000,
]
#: The elements that the page and its picture may have, and their attributes that run scripts or load something.
ELEMENTS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "nav",
        "section",
        "h1",
        "h2",
        "ul",
        "li",
        "a",
        "p",
        "label",
        "input",
    ),
    *("dl", "div", "dt", "dd", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "button", "script"),
    *("svg", "g", "path", "rect", "text", "tspan", "polygon"),
}
LOADING = {"src", "srcset", "data", "action", "formaction", "xlink:href", "poster", "background"}


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def test_what_is_on_the_page(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", build(network), network_inputs())
    page = read(tmp_path / "page.html")
    text = page.text
    for expected in (
        "Answers",
        "slowest",
        "least accurate",
        "Picture",
        "Times",
        "Accuracy of the operators",
        "Values",
        "Placement",
        "probabilities",
        "One run",
        "computed at the build",
    ):
        assert expected in text
    assert page.count("table") == 6
    assert page.count("svg") == 1 or "No picture" in text
    assert "Warnings" not in [attributes.get("aria-label") for _, attributes in page.elements]


def test_several_graphs(tmp_path: Path) -> None:
    graphs = [build(network), build(network, "2024-06")]
    write_page(tmp_path / "page.html", graphs, [network_inputs(), network_inputs()])
    page = read(tmp_path / "page.html")
    assert page.count("section") == 2
    links = [attributes["href"] for tag, attributes in page.elements if tag == "a"]
    assert links[:2] == ["#graph-1", "#graph-2"]
    names = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    # Each place has its own name, and each link leads somewhere. Operators of both graphs have links.
    assert len(names) == len(set(names))
    assert {link.removeprefix("#") for link in links} <= set(names)
    for wanted in ("#operator-1-", "#operator-2-", "#row-operator-1-", "#row-operator-2-"):
        assert any(link.startswith(wanted) for link in links)


@pytest.mark.parametrize(("accuracy", "tables"), [("whole", 2), ("operators", 1), ("none", 0)])
def test_accuracy_can_be_left_out(accuracy: Any, tables: int, tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", build(network), network_inputs(), accuracy=accuracy)
    summaries = read(tmp_path / "page.html").texts("summary")
    assert len([each for each in summaries if each.startswith("Accuracy")]) == tables


def test_a_wrong_accuracy(tmp_path: Path) -> None:
    wrong: Any = "half"
    with pytest.raises(ValueError, match="accuracy must be one of whole, operators, none, got 'half'"):
        write_page(tmp_path / "page.html", build(network), network_inputs(), accuracy=wrong)


def test_phases(tmp_path: Path) -> None:
    """Somebody who waits is told what is done. The second graph was not computed."""
    capture = Capture()
    with capture.collect():
        context = ML(revision="2024-06").createContextSync()
        graphs = [build(lambda builder: {"y": builder.neg(float_input(builder, "x", 4))}, context=context) for _ in range(2)]
        context.computeSync(graphs[0], {"x": np.ones(4, np.float32)}, {"y": np.ones(4, np.float32)})
    told: list[tuple[str, str]] = []
    write_capture(tmp_path / "page.html", capture, "title", on_phase=lambda *phase: told.append(phase))
    assert told == [*[("Graph 1", phase) for phase in PHASES], ("Graph 2", "placement")]


def test_the_policy_of_the_page_allows_its_script_alone(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", build(network), network_inputs())
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    script = text.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.split("; ") == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    # A policy holds only for what follows it.
    assert text.index("Content-Security-Policy") < text.index("<style>")


def hostile(builder: MLGraphBuilder) -> dict[str, MLOperand]:
    x = float_input(builder, HOSTILE[0], 3)
    for label in HOSTILE:
        x = builder.log(builder.add(x, x, {"label": label}), {"label": label})
    return {HOSTILE[1]: x}


def test_hostile_labels(tmp_path: Path) -> None:
    """Every text of a graph stays text; nothing of it becomes an element, an attribute or a comment."""
    write_page(tmp_path / "page.html", build(hostile), {HOSTILE[0]: np.zeros(3, np.float32)})
    page = read(tmp_path / "page.html")
    assert page.tags <= ELEMENTS
    # The page's script, and the graph as data.
    assert [attributes.get("type") for tag, attributes in page.elements if tag == "script"] == ["application/json", None]
    assert (page.count("body"), page.comments) == (1, [])
    for _, attributes in page.elements:
        assert LOADING.isdisjoint(attributes)
        assert (attributes.get("href") or "#").startswith("#")
    text = page.text
    for label in HOSTILE[:5]:
        assert label in text
    # Characters that would change the text around them are escaped, and long texts are cut.
    assert "\\u202egnirts" in text
    assert not re.search("[\u202a-\u202e\x00\x1b]", text)
    assert "a" * 500 not in text


def test_warnings() -> None:
    def make(builder: MLGraphBuilder) -> dict[str, MLOperand]:
        x = float_input(builder, "x", 2, dataType="float16")
        zero = builder.sub(x, x, {"label": "nothing"})
        return {"y": builder.mul(x, x), "z": builder.log(zero)}

    graph = build(make)
    inputs = {"x": np.array([200, 210], np.float16)}
    section = inspect_graph("graph", graph, Subject.of(graph, "test"), inputs)
    assert any("log#" in each and "makes infinity" in each for each in section.warnings)
    assert "results that are zero everywhere: sub#1" in section.warnings
    assert any(each.startswith("close to the largest number of float16, 65,504: mul#") for each in section.warnings)
    assert "makes infinity" in render([section])


@pytest.mark.parametrize("inputs", [[], [network_inputs(), network_inputs()]])
def test_as_many_inputs_as_graphs(inputs: Any, tmp_path: Path) -> None:
    with pytest.raises(WebNNTypeError, match="write_page: inputs must be 1 mappings, one for each graph, got"):
        write_page(tmp_path / "page.html", [build(network)], inputs)
    assert not (tmp_path / "page.html").exists()


def test_what_cannot_be_looked_into(tmp_path: Path) -> None:
    graph = build(network)
    with pytest.raises(WebNNTypeError, match="profile: inputs must have every input"):
        write_page(tmp_path / "page.html", graph, {})
    graph.destroy()
    with pytest.raises(InvalidStateError):
        write_page(tmp_path / "page.html", graph, network_inputs())
    assert list(tmp_path.iterdir()) == []


# Programs


def test_the_graphs_of_a_program(tmp_path: Path) -> None:
    """Also those that it destroyed, or did not compute; with the inputs of the first computation."""
    capture = Capture()
    with capture.collect():
        context = ML(revision=CURRENT).createContextSync()
        former = ML(revision="2024-06").createContextSync()
        first, second = build(network, context=context), build(network, context=former)
        tensors = {
            "x": context.createTensorSync(dataType="float32", shape=[1, 3, 16, 16], writable=True),
            "y": context.createTensorSync(dataType="float32", shape=[1, 784], readable=True),
        }
        for factor in (1, 2):
            context.writeTensor(tensors["x"], network_inputs()["x"] * np.float32(factor))
            context.dispatch(first, {"x": tensors["x"]}, {"y": tensors["y"]})
        first.destroy()
        context.readTensorSync(tensors["y"])
        context.destroy()
    captured = capture.graphs
    assert [each.graph for each in captured] == [first, second]
    assert [each.computations for each in captured] == [2, 0]
    assert captured[0].inputs is not None
    np.testing.assert_array_equal(captured[0].inputs["x"], network_inputs()["x"])
    assert captured[1].inputs is None
    write_capture(tmp_path / "page.html", capture, "program.py")
    text = read(tmp_path / "page.html").text
    assert "computed 2 times; inputs of the first" in text
    assert "No times and values: the program did not compute it." in text
    # A context that was made outside of the block is not the program's.
    build(network, context=make_context())
    assert len(capture.graphs) == 2


def test_warnings_of_a_program(tmp_path: Path) -> None:
    capture = Capture()
    shown: list[str] = []

    def show(message: Warning | str, *_: object, **__: object) -> None:
        shown.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        with capture.collect():
            builder = MLGraphBuilder(ML(revision=CURRENT).createContextSync())
            x = float_input(builder, "x", 2)
            options: Any = {"alhpa": 1, "label": "x"}
            builder.leakyRelu(x, options)
            warnings.warn("of another package", UserWarning, stacklevel=1)
        assert warnings.showwarning is show
    assert len(shown) == 2
    assert len(capture.warnings) == 1
    assert "alhpa" in capture.warnings[0]
    write_capture(tmp_path / "page.html", capture, "program.py")
    text = read(tmp_path / "page.html").text
    assert "alhpa" in text
    assert "the program built no graph" in text
