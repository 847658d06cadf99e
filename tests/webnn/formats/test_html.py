"""Graphs and the objects of the API in notebooks."""

from __future__ import annotations

import base64
import json
import pickle
import re
import sys

import numpy as np
import pytest

import webnn
from tests.html_page import Page
from tests.support import CURRENT, make_context
from tests.webnn.formats.networks import HOSTILE, builder, chain, encoder, hostile, weights
from webnn._extras import install_command
from webnn.context.profiles import load_profile
from webnn.formats import html
from webnn.formats.svg import draw
from webnn.importing.report import NodeReport, Refusal, Report
from webnn.inspect import compare


def picture(source: str) -> str:
    [data] = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', source)
    return base64.b64decode(data).decode()


def test_a_description() -> None:
    description = encoder(3)
    source = description._repr_html_()
    page = Page(source)
    assert page.tags == {"div", "b", "img", "details", "summary", "pre"}
    assert page.text.startswith("GraphDescription 'encoder': (x, mask) -> (y), 29 operators")
    assert "layer0/scores" in page.text
    assert picture(source) == draw(description)


def test_a_graph() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2])
    graph = b.buildSync({"y": b.relu(x)})
    assert picture(graph._repr_html_()) == draw(graph.description)
    graph.destroy()
    assert Page(graph._repr_html_()).text == "MLGraph ('x': float32 [2]) -> ('y': float32 [2]), destroyed "


def test_a_graph_on_a_device() -> None:
    """The operators of a simulated device have its colour."""
    with webnn.emulate(profile="coreml", fallback="silent"):
        b = webnn.MLGraphBuilder(webnn.ML(revision=CURRENT).createContextSync(deviceType="npu"))
    x = b.input("x", dataType="float32", shape=[2])
    graph = b.buildSync({"y": b.relu(x)})
    assert picture(graph._repr_html_()) == draw(graph.description, placement=graph.placement)
    assert 'class="c-npu row"' in picture(graph._repr_html_())


def test_operands_and_their_builder() -> None:
    b = builder()
    x = b.input("x", dataType="float32", shape=[2, 4])
    y = b.matmul(x, weights(b, 4, 3), label="dense")
    assert Page(x._repr_html_()).text.split() == ["MLOperand", "input", "x", "type", "float32", "shape", "[2,", "4]"]
    assert Page(weights(b, 4, 3)._repr_html_()).text == "MLOperand, a constant type float32 shape [4, 3] bytes 48 "
    assert Page(y._repr_html_()).text == (
        "MLOperand type float32 shape [2, 3] operator matmul (number 1) label dense operands float32 [2, 4], float32 [4, 3] "
    )
    assert Page(b._repr_html_()).text == "MLGraphBuilder draft 2026-06 operators 1 built not yet "
    b.buildSync({"y": y})
    assert "built yes" in Page(b._repr_html_()).text


def test_contexts_and_tensors() -> None:
    context = make_context(CURRENT)
    assert Page(context._repr_html_()).text.startswith("MLContext deviceType cpu device cpu powerPreference default draft 2026-06 ")
    tensor = context.createTensorSync(dataType="int8", shape=[3], readable=True)
    assert Page(tensor._repr_html_()).text == "MLTensor type int8 shape [3] bytes 3 flags readable "
    tensor.destroy()
    assert "readable, destroyed" in Page(tensor._repr_html_()).text
    context.destroy()
    assert " lost " in Page(context._repr_html_()).text


def test_the_first_draft() -> None:
    """Its contexts, builders and operands have other members, and the same pages."""
    context = make_context("2024-06")
    b = webnn.MLGraphBuilder(context)
    x = b.input("x", dataType="float32", dimensions=[2])
    assert [Page(each._repr_html_()).text.split()[0] for each in (context, b, x)] == ["MLContext", "MLGraphBuilder", "MLOperand"]


def test_hostile_names() -> None:
    b = builder()
    x = b.relu(b.input(HOSTILE, dataType="float32", shape=[2]), label=HOSTILE)
    for source in (hostile()._repr_html_(), x._repr_html_(), b.buildSync({HOSTILE: x})._repr_html_()):
        page = Page(source)
        assert page.tags <= {"div", "b", "img", "details", "summary", "pre", "table", "tbody", "tr", "th", "td"}
        assert all(character.isprintable() or character == "\n" for character in page.text)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphlay", None)
    page = Page(encoder(3)._repr_html_())
    assert "img" not in page.tags
    assert "layer0/scores" in page.text
    assert install_command("pictures") in page.text


def test_a_long_graph_has_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_DRAWN", 3)
    assert "img" in Page(chain(("relu", "abs", "neg"))._repr_html_()).tags
    assert "img" not in Page(chain(("relu", "abs", "neg", "tanh"))._repr_html_()).tags


def test_small_integers() -> None:
    b = webnn.MLGraphBuilder(make_context("2026-06+browsers"))
    constant = b.constant({"dataType": "int4", "shape": [3]}, np.zeros(2, np.uint8))
    assert "bytes 2" in Page(constant._repr_html_()).text


def test_limits() -> None:
    limits = make_context(CURRENT).opSupportLimits()
    text = Page(limits._repr_html_()).text  # type: ignore[attr-defined]
    assert text.startswith("MLOpSupportLimits preferredInputLayout: nchw maxTensorByteLength: ")
    assert "softmax input 1 to 8 float32, float16 " in text
    # It is a dictionary like any other.
    assert json.loads(json.dumps(limits)) == limits == pickle.loads(pickle.dumps(limits))
    limits.update(softmax={HOSTILE: {"dataTypes": [HOSTILE], "rankRange": {"min": HOSTILE}}, "x": 7}, input={"dataTypes": 1})
    assert Page(limits._repr_html_()).tags == {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}  # type: ignore[attr-defined]


def test_a_profile() -> None:
    text = Page(load_profile("coreml")._repr_html_()).text
    assert text.startswith("Profile coreml source ")
    assert "softmax input " in text


def node(operator: str, outcome: str, *refusals: Refusal) -> NodeReport:
    return NodeReport(index=0, name="n", operator=operator, outcome=outcome, operators=range(0), refusals=refusals)


def test_the_report_of_an_import() -> None:
    refusal = Refusal(place=HOSTILE, operator="Foo", reason="must be known", advice="use another one")
    nodes = (node("Relu", "converted"), node("Relu", "folded"), node("Foo", "refused", refusal))
    report = Report(nodes=nodes, refusals=(refusal,), notes=("float64 is float32",))
    assert repr(report) == "<Report: 1 converted, 1 folded, 1 refused, 1 note>"
    page = Page(report._repr_html_())
    assert " Foo 1 Relu 1 1 float64 is float32 Refused place operator reason advice " in page.text
    assert page.text.endswith("Foo must be known use another one ")
    assert page.tags == {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}
    assert Page(Report(nodes=(), refusals=(), notes=())._repr_html_()).text == "Report: no nodes "


def test_the_results_of_inspections() -> None:
    b = builder()
    graph = b.buildSync({"y<i>": b.sqrt(b.input("<i>", dataType="float32", shape=[2]), label="<i>")})
    inputs = {"<i>": np.array([-1, 1], np.float32)}
    found = [graph.accuracy(inputs), graph.profile(inputs, runs=1), graph.trace(inputs), graph.firstNaN(inputs)]
    found.append(compare(graph.description, inputs, make_context(CURRENT), make_context(CURRENT)))
    titles = ("Accuracy of the operators, each by itself", "Times", "Values", "First NaN", "Differences of the operators")
    for result, title in zip(found, titles, strict=True):
        page = Page(result._repr_html_())
        assert page.text.startswith(title)
        assert "<i>" in page.text
        assert page.tags == {"div", "b", "table", "thead", "tbody", "tr", "th", "td"}
