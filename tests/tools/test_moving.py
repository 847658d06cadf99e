"""The moving pictures of the home page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tools import moving

_PNG = b"\x89PNG\r\n\x1a\n" + bytes(8) + (340).to_bytes(4, "big") + (170).to_bytes(4, "big")


def test_a_terminal() -> None:
    picture = moving.draw("webnn check <x>", "\x1b[1mprofile\x1b[0m\n\x1b[31mrefused\x1b[0m & more\n", "a title")
    root = ElementTree.fromstring(picture)
    lines = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert lines == ["$ webnn check <x>", "profile", "refused & more"]
    assert '<tspan class="red">refused</tspan>' in picture
    assert "prefers-reduced-motion" in picture
    # It moves once, for less than five seconds.
    assert "infinite" not in picture
    assert max(map(float, re.findall(r"animation-delay:([\d.]+)s", picture))) < 5


def test_a_page_beside_it() -> None:
    picture = moving.draw("webnn serve", "a\n", "a title", moving.Page(_PNG))
    image = next(ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}image"))
    assert (image.get("width"), image.get("height")) == ("210", "104")


def test_the_pictures_show_the_commands() -> None:
    for name, command in (("check.svg", moving.CHECK), ("serve.svg", moving.SERVE)):
        text = (moving.FOLDER / name).read_text(encoding="utf-8")
        assert " ".join(command) in text, "run python -m tools.moving"
        assert len(text) < 60_000
