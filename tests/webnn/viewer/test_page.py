"""The page with the viewer, without a browser: its policy, its script, its texts; and the frame of a notebook."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.html_page import Page
from tests.webnn.formats.networks import HOSTILE, encoder, hostile
from webnn.viewer import as_page, describe, embed, script, write


def policy_of(text: str) -> list[str]:
    policies: list[str] = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert len(policies) == 1
    return policies[0].split("; ")


def digest_of(text: str) -> str:
    source = text.partition("<script>")[2].partition("</script>")[0]
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()


def test_the_policy_allows_the_script_alone() -> None:
    text = as_page([describe(encoder(1))])
    assert policy_of(text) == [
        *("default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest_of(text)}'"),
        *("base-uri 'none'", "form-action 'none'"),
    ]
    page = Page(text)
    assert [attributes.get("type") for tag, attributes in page.elements if tag == "script"] == ["application/json", None]
    assert not any(name in attributes for _, attributes in page.elements for name in ("src", "href", "data", "srcset"))


def test_the_script_makes_no_markup_and_no_request() -> None:
    parts = script().partition("return Vn(Sr)")[2] or script()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "WebSocket",
    ):
        assert word not in parts
    assert "</script" not in script()
    assert "<!--" not in script()
    # The license of the library is named in it.
    assert "LICENSE.dagre.txt" in script()


def test_hostile_names_stay_data() -> None:
    text = as_page([describe(hostile()), describe(encoder(1))], title=HOSTILE)
    page = Page(text)
    assert page.tags == {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "header",
            "h1",
            "div",
            "label",
            "select",
            "option",
            "main",
            "noscript",
            "script",
        )
    }
    assert page.count("script") == 2
    assert page.comments == []
    assert not re.search("[\x00-\x08\x1b\u202e\ud800]", text)
    (data,) = [each for tag, each in page.parts if tag == "script" and each.startswith("{")]
    assert len(json.loads(data)["documents"]) == 2


def test_data_holds_no_markup() -> None:
    assert not set(embed({"label": "</script><!--&"})) & set("<>&")
    assert json.loads(embed({"label": "</script>"})) == {"label": "</script>"}


def test_write(tmp_path: Path) -> None:
    write(tmp_path / "page.html", encoder(1), encoder(2), title="two")
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.texts("option") == ["1: encoder", "2: encoder"]
    with pytest.raises(ValueError, match="at least one graph must be given"):
        write(tmp_path / "none.html")
    assert not (tmp_path / "none.html").exists()
