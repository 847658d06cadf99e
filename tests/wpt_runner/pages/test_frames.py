"""The documents of frames."""

from __future__ import annotations

from typing import Any

import pytest

import webnn
from webnn.wpt_runner.pages.frames import Attributes, declared_origin, make_document, may, origin_of

A, B = "https://a.test", "https://b.test:1"


def attributes(**given: str) -> Attributes:
    return {"allow": None, "name": None, "sandbox": None, "src": "", "srcdoc": None, **given}


#: Attributes, the origin that they name, and whether the page that they name may use the feature.
ROWS: list[tuple[dict[str, Any], str, bool]] = [
    ({}, A, True),
    ({"src": "about:blank"}, A, True),
    ({"src": f"{A}/x"}, A, True),
    ({"src": f"{B}/x"}, B, False),
    ({"src": f"{B}/x", "allow": "webnn"}, B, True),
    ({"src": f"{B}/x", "srcdoc": ""}, A, True),
    ({"srcdoc": "x", "allow": "webnn 'none'"}, A, False),
    ({"src": "data:text/html,x"}, "null", False),
    ({"src": "data:text/html,x", "allow": "webnn *"}, "null", True),
    ({"src": f"{A}/x", "sandbox": ""}, A, False),
    ({"src": f"{A}/x", "sandbox": "Allow-Same-Origin"}, A, True),
]


@pytest.mark.parametrize(("given", "origin", "allowed"), ROWS, ids=range(len(ROWS)))
def test_documents(given: dict[str, Any], origin: str, allowed: bool) -> None:
    parent = webnn.Document(origin=A)
    assert declared_origin(attributes(**given), parent) == origin
    document = make_document(attributes(**given), parent, origin)
    assert document.allowedToUse("webnn") is allowed
    assert document.origin == ("null" if given.get("sandbox") == "" else origin)


def test_another_address_than_the_attributes_name() -> None:
    parent = webnn.Document(origin=A)
    left = make_document(attributes(src=f"{A}/x", allow="webnn"), parent, B)
    assert (left.origin, left.allowedToUse("webnn")) == (B, False)
    assert make_document(attributes(src=f"{A}/x", allow="webnn *"), parent, B).allowedToUse("webnn")
    assert not make_document(attributes(src=f"{A}/x"), parent, A, "webnn=()").allowedToUse("webnn")


def test_flags_and_origins() -> None:
    assert may(attributes(), "allow-scripts")
    assert not may(attributes(sandbox=""), "allow-scripts")
    assert may(attributes(sandbox="a ALLOW-SCRIPTS"), "allow-scripts")
    assert [origin_of(each) for each in ("https://a.test:1/x", "http://a.test", "blob:x", "")] == [
        "https://a.test:1",
        "http://a.test",
        "null",
        "null",
    ]
