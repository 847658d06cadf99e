"""Pictures in SVG: their structure, their colours, and that nothing overlaps."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import webnn
from tests.webnn.formats.networks import HOSTILE, builder, chain, encoder, hostile
from webnn._extras import install_command
from webnn.context.placement import OperatorPlacement, Placement
from webnn.formats import layout
from webnn.formats.layout import Box, PicturesMissingError, place
from webnn.formats.svg import draw

SVG = "{http://www.w3.org/2000/svg}"
#: Left, top, right, bottom.
Area = tuple[float, float, float, float]


def elements(svg: str, name: str, style: str = "") -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)
    return [each for each in root.iter(SVG + name) if style in each.get("class", "").split() or not style]


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in elements(svg, "text")]


def titles(svg: str) -> str:
    return "\n".join(each.text or "" for each in elements(svg, "title"))


def area(each: ElementTree.Element) -> Area:
    x, y = float(each.get("x", 0)), float(each.get("y", 0))
    return x, y, x + float(each.get("width", 0)), y + float(each.get("height", 0))


def overlap(one: Area, other: Area) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def points(path: ElementTree.Element) -> Iterator[tuple[float, float]]:
    numbers = [float(each) for each in path.get("d", "").replace("M", " ").replace("L", " ").replace("Q", " ").split()]
    yield from zip(numbers[::2], numbers[1::2], strict=True)


@pytest.mark.parametrize("fold", [True, False])
def test_nothing_overlaps(fold: bool) -> None:
    svg = draw(encoder(4), fold=fold, annotations={number: f"{number} ms" for number in range(1, 30)})
    boxes = [area(each) for each in elements(svg, "rect", "paper")]
    assert len(boxes) == (3 + 7 if fold else 3 + 1 + 4 * 9 + 1)
    assert not any(overlap(one, other) for one, other in itertools.combinations(boxes, 2))
    # A letter of the fonts is at most 0.61 of their size wide: the texts stay in their boxes, and left and right ones apart.
    lines: list[Area] = []
    for card in elements(svg, "g", "card"):
        box = area(card.findall(f"{SVG}rect")[0])
        for text in card.iter(f"{SVG}text"):
            small = text.get("class") != "title"
            x, y, letters = float(text.get("x", 0)), float(text.get("y", 0)), len(text.text or "") * (11 if small else 12) * 0.61
            left = x - letters if text.get("class") == "shape" else x
            line = (left, y - 9, left + letters, y + 2)
            assert box[0] <= line[0], text.text
            assert line[2] <= box[2], text.text
            assert box[1] <= line[1], text.text
            assert line[3] <= box[3], text.text
            lines.append(line)
    assert len(lines) > 20
    assert not any(overlap(one, other) for one, other in itertools.combinations(lines, 2))
    # No line crosses a box.
    for path in elements(svg, "path", "line"):
        for (x0, y0), (x1, y1) in itertools.pairwise(points(path)):
            reach = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
            assert not any(overlap((x + 1, y + 1, right - 1, bottom - 1), reach) for x, y, right, bottom in boxes)
    width, height = (float(ElementTree.fromstring(svg).get(name, 0)) for name in ("width", "height"))
    assert all(x >= 0 and right <= width and bottom <= height for x, _, right, bottom in boxes)


def test_what_is_shown() -> None:
    svg = draw(encoder(4))
    shown = texts(svg)
    assert shown[0] == "encoder · 38 operators · 648 parameters · 3.07 K multiply-adds"
    assert shown[1:6] == ["multiply", "activation", "arithmetic", "move", "× 4"]
    assert {"matmul", "layer…/query", "4×8", "x", "float32 4×8"} <= set(shown)
    assert "matmul layer0/query, the first of 4\na: position, float32 4×8\nb: layer0/query_b, float32 8×8, a constant" in titles(svg)
    assert len(elements(svg, "rect", "frame")) == 1
    assert not elements(svg, "script")


def test_a_long_graph_gets_columns() -> None:
    narrow, wide = (ElementTree.fromstring(draw(chain(("relu", "abs") * 30), fold=False, width=width)) for width in (150, 1000))
    assert float(wide.get("height", 0)) < float(narrow.get("height", 0)) / 2
    assert 300 < float(wide.get("width", 0)) <= 1000


def test_annotations_and_shades() -> None:
    description = chain(("relu", "abs", "neg"))
    svg = draw(description, annotations={1: "<1 ms>", 3: "3 ms", 99: "nothing"}, shades={1: 0.0, 2: 0.5, 3: 1.0})
    assert [each.text for each in elements(svg, "text", "note")] == ["<1 ms>", "3 ms"]
    assert [each.get("style") for each in elements(svg, "rect", "c-heat")] == [
        "fill-opacity: 0.00",
        "fill-opacity: 0.42",
        "fill-opacity: 0.85",
    ]


def test_annotations_of_copies() -> None:
    """Of the copies of a block the hottest one is shown; all are in the tooltip."""
    description = chain(("relu", "abs") * 10)
    notes = {number: f"note {number}" for number in range(1, 21)}
    svg = draw(description, annotations=notes, shades={5: 0.9, 8: 0.3})
    assert [each.text for each in elements(svg, "text", "note")] == ["note 5", "note 8"]
    assert "note 19 (operator 19)" in titles(svg)
    assert [each.text for each in elements(draw(description, annotations=notes), "text", "note")] == ["note 1", "note 2"]


@pytest.mark.parametrize("shade", [-0.1, 1.1, float("nan")])
def test_wrong_shades(shade: float) -> None:
    with pytest.raises(ValueError, match="shades must be from 0 to 1, got 2: "):
        draw(chain(("relu", "abs", "neg")), shades={1: 0.5, 2: shade})


def test_devices() -> None:
    operators = [
        OperatorPlacement(index=index, operation=name, label="", device=device)
        for index, (name, device) in enumerate([("relu", "npu"), ("abs", "cpu"), ("neg", "")], 1)
    ]
    svg = draw(chain(("relu", "abs", "neg")), placement=Placement(requested="npu", device="npu", operators=tuple(operators)))
    assert texts(svg)[1:4] == ["cpu", "npu", "nothing left to run"]
    assert len(elements(svg, "g", "card")) == 5
    assert [len(elements(svg, "rect", f"c-{name}")) for name in ("npu", "cpu", "other")] == [3, 3, 3]


def test_hostile_names() -> None:
    svg = draw(hostile(), annotations={1: HOSTILE}, fold=False)
    # Parsed as XML: every text is where it was meant to be, and there is no other element.
    assert {each.tag.removeprefix(SVG) for each in ElementTree.fromstring(svg).iter()} == {
        *("svg", "style", "g", "rect", "text", "title", "path", "polygon"),
    }
    assert "<script" not in svg
    assert not any(character in svg for character in "\x00\x1b\u202e\ud800")
    assert "alert(1)" in titles(svg)


def test_a_constant_and_unused_inputs() -> None:
    """A file may hold what a program cannot build: an input that is an output, or that nothing takes."""
    b = builder()
    description = webnn.describe({"y": b.relu(b.input("x", dataType="float32", shape=[2]))})
    constant = webnn.ConstantDescription(descriptor=description.inputs["x"], value=np.zeros(2, np.float32))
    odd = webnn.GraphDescription(
        draft=description.draft,
        inputs={**description.inputs, "unused": description.inputs["x"]},
        constants={"c": constant},
        operators=description.operators,
        outputs={"y": "y", "c": "c", "x": "x"},
    )
    assert {"unused", "c"} <= set(texts(draw(odd)))
    empty = webnn.GraphDescription(draft=description.draft, inputs={}, constants={}, operators=(), outputs={})
    assert texts(draw(empty)) == ["0 operators · 0 parameters"]


def test_without_descriptors() -> None:
    """A graph from a file has no types and shapes of results: they are inferred."""
    description = encoder(2)
    bare = replace(description, operators=tuple(replace(each, descriptors=(), index=0) for each in description.operators))
    assert draw(bare) == draw(description)


def test_save(tmp_path: Path) -> None:
    description = encoder(2)
    description.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == draw(description)


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphlay", None)
    with pytest.raises(PicturesMissingError, match=re.escape(install_command("pictures"))):
        draw(encoder(2))


def test_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_BOXES", 2)
    with pytest.raises(ValueError, match="at most 2 boxes and lines, got 3 boxes and 0 lines"):
        place([Box(width=1, height=1)] * 3, 0, [], 100)
