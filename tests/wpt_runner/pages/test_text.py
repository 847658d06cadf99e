"""Pages are taken apart."""

from __future__ import annotations

import pytest

from webnn.wpt_runner.pages.text import Metadata, find_metadata, read_page

PAGE = """<!doctype html>
<title>A &amp; b</title>
<meta name=variant content="?1"><meta name="variant" content="?2"><meta name="timeout" content="long">
<script src="/resources/testharness.js"></script>
<script
  >
const a = "<p>";
</script>
<script type="text/plain">data</script>
<script src=a.js defer></script><script type=module src=m.mjs></script><script nomodule>old</script>
<p id=x>text &lt;</p>"""


def test_scripts_in_their_order() -> None:
    parts = read_page(PAGE)
    assert [(part.kind, part.src, part.source, part.line) for part in parts] == [
        ("classic", "/resources/testharness.js", None, 3),
        ("classic", None, '\nconst a = "<p>";\n', 5),
        ("deferred", "a.js", None, 9),
        ("module", "m.mjs", None, 9),
        ("", None, None, 0),
    ]
    assert parts[0].tokens[:3] == [["text", "\n"], ["start", "title", []], ["text", "A & b"]]
    assert parts[0].tokens[-1] == ["start", "script", [("src", "/resources/testharness.js")]]
    assert parts[-1].tokens[-3:] == [["start", "p", [("id", "x")]], ["text", "text <"], ["end", "p"]]
    assert ["text", "data"] in parts[2].tokens


def test_metadata() -> None:
    assert find_metadata(PAGE) == Metadata(title="A & b", variants=("?1", "?2"), long=True, test=True)
    assert find_metadata("") == Metadata(title="", variants=("",), long=False, test=False)


@pytest.mark.parametrize("text", ["<", "<script", "<script>", "<!--", "<p a=", "</", "<title>", "\0", "<script src='" + "a" * 100_000])
def test_broken_pages_are_read(text: str) -> None:
    assert not find_metadata(text).test


def test_a_script_without_an_end_does_not_run() -> None:
    assert [part.kind for part in read_page("<script>a()")] == [""]
