"""The built site, and how it is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mkdocs", reason="needs mkdocs, the extra `docs`")

from mkdocs.structure.files import File, Files

from tests.support import each_row
from tools.site import check, drawing
from tools.site.check import Document, main, problems
from tools.site.html import boost, finish, is_data, name_dialog


@pytest.mark.processes
def test_the_site_is_built_and_has_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    status = main([])
    printed = capsys.readouterr()
    assert printed.err == ""
    assert status == 0
    assert "0 problems" in printed.out


@pytest.mark.processes
def test_a_warning_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[nowhere](nowhere.md)\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("site_name: test\n", encoding="utf-8")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match=r"nowhere\.md"):
        check.build(tmp_path / "site")


@pytest.mark.parametrize(
    ("html", "problem"),
    [
        ('<img src="a.png" alt="" width="1" height="1">', "page.html has a picture without alt: a.png"),
        ('<img src="a.png" alt="a" width="1">', "page.html has a picture without height: a.png"),
        ("<html>", "page.html has no language"),
        ("<h3>a</h3>", "page.html has a heading of level 3 behind one of level 1"),
        ("<h1>a</h1>", "page.html has 2 headings of the first level"),
        ('<script src="big.js"></script>', "page.html has 1,000,035 bytes with what it loads, more than 1,000,000"),
        ('<script src="https://example.org/a.js"></script>', "page.html loads https://example.org/a.js"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "page.html loads //example.org/a.css"),
        ('<a href="other.html">', "page.html has a link to other.html, which leads nowhere"),
        ('<a href="#x">', "page.html has a link to #x, which leads nowhere"),
    ],
)
def test_a_problem(html: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "index", dict)
    (tmp_path / "a.png").touch()
    (tmp_path / "big.js").write_bytes(b"0" * (1_000_000 - len("<h1>a</h1>") + 5))
    (tmp_path / "page.html").write_text(f"<h1>a</h1>{html}", encoding="utf-8")
    assert list(problems(tmp_path)) == [problem]


def test_what_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "index", lambda: {"Names": {"webnn.X": "page.md#x", "relu": "page.md"}})
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text("<h1>a</h1>", encoding="utf-8")
    (tmp_path / "page.html").write_text(
        '<h1 id="x">relu</h1><a href="#x"><a href="folder"><a href="https://example.org">', encoding="utf-8"
    )
    assert list(problems(tmp_path)) == []


def test_a_missing_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "index", lambda: {"Names": {"webnn.X": "page.md#x", "relu": "page.md", "other": "other.md"}})
    (tmp_path / "page.html").write_text("<h1>prelu</h1>", encoding="utf-8")
    assert list(problems(tmp_path)) == [
        "Names: webnn.X has no place on the page page.md",
        "Names: relu does not stand on the page page.md",
        "Names: other has no place on the page other.md",
    ]


def test_a_document() -> None:
    document = Document('<p id="a">one two</p><a href="b#c"><img src="d.png"><link rel="canonical" href="https://example.org">')
    assert document.anchors == {"a"}
    assert document.words == {"one", "two"}
    assert document.links == ["b#c"]
    assert document.loaded == ["d.png"]


# Names in the text


def site() -> tuple[File, Files]:
    names = ["wpt.md", "api/python/contexts.md", "api/commands/check.md", "api/environment.md", "api/errors.md"]
    files = Files([File(name, "docs", "_site", use_directory_urls=False) for name in names])
    page = files.get_file_from_path("wpt.md")
    assert page is not None
    return page, files


@each_row(
    ("html", "address"),
    [
        ("<code>MLContext</code>", "api/python/contexts.html#webnn.MLContext"),
        ("<code>webnn.MLContext</code>", "api/python/contexts.html#webnn.MLContext"),
        ("<code>DataError</code>", "api/errors.html#webnn.DataError"),
        ("<code>webnn check</code>", "api/commands/check.html#webnn-check"),
        ("<code>WEBNN_PROFILE</code>", "api/environment.html#WEBNN_PROFILE"),
        ("<code>#api-ml</code>", "https://webmachinelearning.github.io/webnn/#api-ml"),
        ("docs/wpt.md", "wpt.html"),
        ("<code>docs/wpt.md</code>", "wpt.html"),
        # These stay.
        ("<code>load</code>", ""),
        ("<code>#unknown</code>", ""),
        ("<a href='x'><code>MLContext</code></a>", ""),
        ("<h2><code>MLContext</code></h2>", ""),
        ("<pre><code>MLContext</code></pre>", ""),
        ("docs/unknown.md", ""),
    ],
)
def test_a_name_in_the_text(html: str, address: str) -> None:
    expected = f'<a href="{address}">{html}</a>' if address else html
    assert finish(f"<p>{html}</p>", *site()) == f"<p>{expected}</p>"


# Pictures, the search, the parts of the theme


def test_a_picture_has_its_size(tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text('<svg xmlns="x" viewBox="0 0 1 1" width="12.4" height="7">', encoding="utf-8")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(8) + (300).to_bytes(4, "big") + (20).to_bytes(4, "big"))
    (tmp_path / "c.svg").write_text("<svg>", encoding="utf-8")
    page, files = site()
    for name in ("a.svg", "b.png", "c.svg"):
        files.append(File(name, str(tmp_path), "_site", use_directory_urls=False))
    html = '<img alt="a" src="a.svg#x"><img alt="" src="b.png" /><img src="c.svg"><img src="https://x/d.png"><img width="1" src="a.svg">'
    assert finish(html, page, files) == (
        '<img alt="a" src="a.svg#x" width="12" height="7"><img alt="" src="b.png" width="300" height="20"><img src="c.svg">'
        '<img src="https://x/d.png"><img width="1" src="a.svg">'
    )


def test_cells_without_a_text_are_not_headers() -> None:
    assert finish("<tr><th></th><th>a</th></tr>", *site()) == "<tr><td></td><th>a</th></tr>"


def test_the_search_shows_guides_first() -> None:
    pages = ["wpt.md", "api/operations/conv2d.md", "files/examples/buffers.py.md"]
    assert [*sorted(pages, key=boost, reverse=True)] == pages
    assert [is_data(each) for each in [*pages, "files/model/tokenizer.json.md", "guide.json.md"]] == [False, False, False, True, False]


def test_the_dialog_of_the_search_has_a_name() -> None:
    assert 'aria-label="Search"' in name_dialog('<div class="md-search" data-md-component="search" role="dialog">')


# Flowcharts


def test_a_flowchart() -> None:
    pytest.importorskip("graphlay")
    svg = drawing.draw('flowchart TB\n    a["one<br/><small>a &lt; #quot;b#quot;</small>"]\n    b["two"]\n    a --> b\n')
    assert svg.count("<rect ") == 2
    assert svg.count("<polyline ") == 1
    assert '<text x="' in svg
    assert ">two</text>" in svg


@each_row(("source", "message"), [("graph LR\n", "must begin with"), ("flowchart TB\n    a -.-> b", "must be a box or an arrow")])
def test_another_drawing(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        drawing.draw(source)
