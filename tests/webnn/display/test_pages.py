"""Templates: every text is escaped, and files come from packages."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest
from jinja2 import TemplateRuntimeError, UndefinedError
from markupsafe import Markup

from tests.html_page import Page
from tests.support import each_row
from webnn.display.pages import _environment, read, render

HOSTILE = [
    ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ("\"><img src=x onerror='alert(1)'>", "\"><img src=x onerror='alert(1)'>"),
    ("' onclick='alert(1)", "' onclick='alert(1)"),
    ("</td></table><!--", "</td></table><!--"),
    ("{{ 7 * 7 }}{% raw %}", "{{ 7 * 7 }}{% raw %}"),
    ("&lt;b&gt;", "&lt;b&gt;"),
    ("a\x1b[31m\x00", r"a\x1b[31m\x00"),
    ("\u202egnirts", r"\u202egnirts"),
    ("\ud800", "U+d800"),
    ("one\ntwo\tthree", "one\ntwo\tthree"),
]


def fill(template: str, **values: object) -> str:
    return _environment().from_string(template).render(values)


@each_row(("text", "shown"), HOSTILE)
def test_texts_stay_texts(text: str, shown: str) -> None:
    page = Page(fill('<p title="{{ text }}">{{ text }}</p>', text=text))
    assert page.elements == [("p", {"title": shown})]
    assert "".join(page.texts("p")) == shown


def test_html_that_is_ready_and_numbers_stay() -> None:
    assert fill("{{ a }} {{ b }} {{ c | safe }}", a=Markup("<b>\x1b</b>"), b=1.5, c="<i>") == "<b>\x1b</b> 1.5 <i>"


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'nothing' is undefined"):
        fill("{{ nothing }}")


def test_files_of_packages() -> None:
    style = read("webnn.display/page.css")
    assert "color-scheme" in style
    assert fill('{{ source("webnn.display/page.css") }}') == style
    assert fill("{{ digest(text) }}", text="x") == base64.b64encode(hashlib.sha256(b"x").digest()).decode()


def test_the_frame_of_a_page() -> None:
    page = fill('{% extends "webnn.display/page.html" %}{% block body %}{{ text }}{% endblock %}', title="<i>", text="<b>")
    assert "<title>&lt;i&gt;</title>" in page
    assert "<body>\n&lt;b&gt;" in page
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    # A policy holds only for what follows it.
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert page.startswith("<!doctype html>\n")
    assert page.endswith("</html>\n")


def test_a_page_has_a_body() -> None:
    with pytest.raises(TemplateRuntimeError, match="Required block 'body' not found"):
        render("webnn.display/page.html", title="")
