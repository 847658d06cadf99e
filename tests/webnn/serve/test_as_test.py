"""The settings of a server as a test with Playwright."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import webnn
from webnn.serve.as_test import write_test
from webnn.serve.options import FAULTS, Options


def read(text: str) -> tuple[dict[str, Any], str]:
    """Return the keywords of the marker, and the address that the test opens."""
    tree = ast.parse(text)
    (function,) = [each for each in tree.body if isinstance(each, ast.FunctionDef)]
    (marker,) = function.decorator_list
    assert isinstance(marker, ast.Call)
    assert ast.unparse(marker.func) == "pytest.mark.webnn"
    keywords = {each.arg or "": eval(ast.unparse(each.value), {"webnn": webnn}) for each in marker.keywords}
    goto = next(each for each in ast.walk(function) if isinstance(each, ast.Call) and ast.unparse(each.func) == "webnn_page.goto")
    return keywords, ast.literal_eval(goto.args[0])


FAULTY: list[dict[str, Any]] = [
    {"failCompute": 1},
    {"failBuild": "all", "delay": 0.5},
    {"failBuild": [1, 3], "memoryLimit": 1024, "loseAfter": 7},
    {"refuse": ["gpu", "npu"]},
    {"refuse": {"gpu": 'no "GPU"'}},
]


@pytest.mark.parametrize("given", FAULTY)
def test_faults(given: dict[str, Any]) -> None:
    faults = webnn.Faults(**given)
    text = write_test(Options(profile="coreml", fallback="deny", faults=faults), "https://a.test/")
    keywords, address = read(text)
    again = keywords.pop("faults")
    assert {name: getattr(again, name) for name in FAULTS} == {name: getattr(faults, name) for name in FAULTS}
    assert keywords == {"profile": "coreml", "fallback": "deny"}
    assert address == "https://a.test/"
    assert "import webnn\n" in text


def test_without_settings() -> None:
    text = write_test(Options(faults=webnn.Faults()), "http://localhost:8000/")
    assert read(text) == ({}, "http://localhost:8000/")
    assert "import webnn\n" not in text


def test_every_setting() -> None:
    options = Options(revision="2026-06", dialect="chromium-153", profile="ort", fallback="silent", numerics="fast")
    keywords, _ = read(write_test(options, "https://a.test/"))
    assert Options(**keywords) == options


@pytest.mark.parametrize("address", ["https://a.test/'\"\\", "\n);import os#", "\ud800\u202e"])
def test_hostile_addresses(address: str) -> None:
    text = write_test(Options(), address)
    assert read(text) == ({}, address)
    assert text.isascii()


def test_a_file_is_not_named() -> None:
    keywords, _ = read(text := write_test(Options(profile=Path("/secret/profile.json")), "https://a.test/"))
    assert keywords == {}
    assert "secret" not in text
    assert "# Add profile=" in text
