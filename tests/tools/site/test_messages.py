"""The page of error messages."""

from __future__ import annotations

from typing import get_args

import pytest

pytest.importorskip("griffe", reason="needs griffe, the extra `docs`")

from tools.site.messages import kinds, messages, page
from webnn.validation.errors import Rule


def test_every_rule_is_explained() -> None:
    assert kinds().keys() == set(get_args(Rule)) - {""}
    assert len({each.title for each in kinds().values()}) == len(kinds())
    for each in kinds().values():
        assert all(text.endswith((".", "`")) for text in (each.cause, each.change, each.browsers))


def test_messages_have_their_fields() -> None:
    found = {each.text: each for each in messages()}
    message = found["add: b must have the data type of a, float32, got int8"]
    assert (message.rule, message.error, message.operation, message.step) == ("type", "WebNNTypeError", "add", "4")
    assert {each.rule for each in messages()} <= kinds().keys()


def test_the_page_has_every_message() -> None:
    text = page()
    assert all(each.text in text for each in messages())
    assert "[`conv2d`](operations/conv2d.md)" in text
    assert "{ #byte-length }" in text
