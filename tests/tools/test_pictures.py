"""The pictures of README.md show what the program builds today."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("graphlay", reason="needs graphlay, the extra `pictures`")

from tools import pictures


def words(picture: str) -> list[str]:
    """Return the texts of an SVG picture: positions depend on the version of the layout library."""
    return sorted(re.findall(r"<text[^>]*>([^<]+)</text>", picture))


def test_the_pictures_are_up_to_date() -> None:
    made = pictures.pictures()
    assert sorted(made) == sorted(["graph.svg", "placement.svg", *(f"{name}.svg" for name in pictures.PROGRAMS)])
    for name, picture in made.items():
        assert words(picture) == words((pictures.FOLDER / name).read_text(encoding="utf-8")), "run python -m tools.pictures"
    assert "maxPool2d" in words(made["graph.svg"])
    assert {"cpu", "npu"} <= set(words(made["placement.svg"]))
