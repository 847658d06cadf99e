"""The page of `webnn check`: what it shows, and that texts of programs stay texts."""

from __future__ import annotations

import pytest

from tests.html_page import Page
from tests.webnn.check.test_show import GELU, POOL, RANK, REFUSED, graph, report
from tests.webnn.display.test_pages import HOSTILE
from webnn.check.page import render
from webnn.check.report import Change, ModelNode, ModelReport, Run, Verdict

#: The elements of the page, and those of its tables.
TAGS = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "div", "ul", "li"}
TAGS |= {"table", "thead", "tbody", "tr", "th", "td", "span"}


def test_the_page_of_a_program() -> None:
    page = Page(render(report(REFUSED, Run(profile="large", verdict=Verdict.BUILDS, graphs=(graph(),)))))
    assert page.texts("h1") == ["webnn check program.py"]
    assert page.texts("th") == ["profile", "verdict", "why, and what to change"]
    assert page.texts("td") == [
        "(none)",
        "small",
        "maxPool2d [pool]: input is int8, allowed: float32, float16\nchange: cast input to float16",
        "large",
    ]
    assert page.texts("span") == ["builds", "refused", "builds"]
    assert [attributes["class"] for tag, attributes in page.elements if tag == "span"] == ["good", "bad", "good"]
    assert page.texts("h2") == ["Refused by small"]
    assert page.texts("li") == [
        "softmax: input is 6-D [1, 1, 1, 1, 1, 2], allowed: 1-D to 5-D",
        "maxPool2d [pool]: input is int8, allowed: float32, float16 (change: cast input to float16)",
        "gelu: not there",
    ]


@pytest.mark.parametrize(("text", "shown"), HOSTILE)
def test_texts_stay_texts(text: str, shown: str) -> None:
    refusal = POOL.model_copy(update={"label": text, "given": text, "change": Change(text=text)})
    run = Run(profile=text, verdict=Verdict.REFUSED, refusals=(refusal, RANK, GELU), fatal=0, notes=(text,))
    checked = report(run).model_copy(update={"program": text})
    node = ModelNode(name=text, operator=text, outcome="refused", reasons=(text,))
    model = ModelReport(nodes=(node,), reasons=(text,), notes=(text,), refusal=text)
    for page, places in (
        (Page(render(checked)), ("title", "h1", "h2", "td", "li")),
        (Page(render(checked.model_copy(update={"model": model}))), ("title", "h1", "p", "td", "li")),
    ):
        assert page.tags <= TAGS
        assert page.comments == []
        for tag in places:
            assert shown in "|".join(page.texts(tag)), tag
