"""`Table`: as text, for rich, and as HTML."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from tests.html_page import Page
from tests.support import each_row
from tests.webnn.display.test_pages import HOSTILE
from webnn.display import table as drawing
from webnn.display.table import Cell, Table, as_html, as_renderable, as_text, facts

TABLE = Table(
    title="Title",
    facts=["a fact"],
    columns=("#", "name", "empty", "size", "more"),
    rows=[
        [Cell("1", 1), "one", "", Cell("1,000", 1000), "x"],
        [Cell("2", 2), Cell("two", style="green"), "", Cell("20", 20), "y"],
    ],
    numbers=("#", "size"),
    details=("more",),
    marks={1: "yellow"},
    notes=["a note"],
)


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


def test_the_text() -> None:
    assert as_text([TABLE, replace(TABLE, title="Next", rows=[], notes=[])]).splitlines() == [
        "Title",
        "a fact",
        "#  name       size",
        "1  one       1,000",
        "2  two          20",
        "a note",
        "Next",
        "a fact",
    ]


def test_totals_have_space_around_them() -> None:
    assert as_text([replace(TABLE, facts=[], notes=[], narrowest=None, totals=[("sum", "1,020"), ("mean", "510")])]).splitlines() == [
        "Title",
        "",
        "#  name   size",
        "1  one   1,000",
        "2  two      20",
        "",
        "sum   1,020",
        "mean  510",
    ]


@pytest.mark.parametrize("width", [30, 60])
def test_a_wide_column_is_folded(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    long = Table(title="", columns=("line", "note"), rows=[["whole text of a line", "word " * 20]], widest={"note": 20})
    lines = as_text([long]).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[2].startswith("whole text of a line  word")
    assert " ".join(lines).count("word") == 20


def test_a_long_table_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    long = replace(TABLE, rows=[*TABLE.rows] * 40, marks={})
    assert as_text([long]).splitlines()[-2:] == ["... and 20 more rows", "a note"]
    monkeypatch.setattr(drawing, "_ROWS", 70)
    assert "<div>... and 10 more rows</div><div>a note</div>" in as_html([long])


def test_colours_for_rich() -> None:
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, color_system="standard", width=60, legacy_windows=False)
    console.print(as_renderable([TABLE], framed=True))
    text = output.getvalue()
    assert "\x1b[1;32mtwo" in text
    assert "\x1b[1;33m   20" in text
    assert "\x1b[1mTitle" in text
    # The line below the names of the columns.
    assert "\u2500" in text


def test_the_page() -> None:
    page = as_html([TABLE])
    reader = Page(page)
    assert reader.text == "Title a fact # name size more 1 one 1,000 x 2 two 20 y a note "
    assert reader.count("td") == 8
    # The row is marked, and the cell has a badge.
    assert (page.count("inset 3px 0 rgb(217, 149, 0)"), page.count("rgba(34, 160, 92, 0.25)")) == (1, 1)
    sides = [attributes["style"].count("text-align: right") for tag, attributes in reader.elements if tag == "td"]
    assert sides == [1, 0, 1, 0] * 2
    assert Page(as_html([replace(TABLE, rows=[["1", "x\ny", "", "", ""]])])).text == r"Title a fact # name 1 x\ny a note "
    assert "<table" not in as_html([replace(TABLE, rows=[])])


def test_facts() -> None:
    reader = Page(facts("Thing", {"one": "1", "none": "", "<i>": "<b>"}))
    assert reader.text == "Thing one 1 <i> <b> "
    assert reader.tags == {"div", "b", "table", "tbody", "tr", "th", "td"}
    assert "table" not in facts("Thing", {})


@each_row(("text", "shown"), HOSTILE)
def test_texts_stay_texts(text: str, shown: str) -> None:
    several: dict[str, Any] = {"title": text, "facts": [text], "notes": [text], "totals": [(text, text)], "columns": [text, "b"]}
    page = as_html([Table(rows=[[text, Cell(text, style="green")]], **several)])
    for each, count in ((page, 9), (facts(text, {text: text}), 3)):
        reader = Page(each)
        assert reader.tags <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "span"}
        assert all(character.isprintable() or character in "\n\t" for character in reader.text)
        if text == shown and text.isprintable():
            assert reader.text.count(text) >= count - 1
