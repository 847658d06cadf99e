"""Which ONNX Runtime is needed, and what is said of one that is too old, broken or not there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from types import ModuleType
from typing import Any

import pytest

import webnn
from webnn.context.engine import discovery
from webnn.context.engine import runtime as engine


@pytest.fixture(autouse=True)
def _fresh_engine() -> Iterator[None]:
    caches = (engine.load, discovery._discover, discovery._discover_elsewhere)
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


def replace_engine(monkeypatch: pytest.MonkeyPatch, **members: Any) -> None:
    module = ModuleType("onnxruntime")
    module.__dict__.update(members)
    monkeypatch.setitem(sys.modules, "onnxruntime", module)


@pytest.mark.parametrize(
    ("version", "older"),
    [
        ("1.30.9", True),
        ("1.9.0", True),
        ("0.99.0", True),
        ("1.31.0", False),
        ("1.31", False),
        ("1.31.0.dev20260901", False),
        ("1.31.1+cu13", False),
        ("1.32.0", False),
        ("2.0", False),
        ("unknown", False),
    ],
)
def test_versions(version: str, older: bool) -> None:
    assert engine.is_older(version, (1, 31, 0)) == older


@pytest.mark.parametrize(
    ("flavours", "name"),
    [
        (["onnxruntime-directml"], "onnxruntime-directml"),
        (["onnxruntime-gpu", "onnxruntime-gpu"], "onnxruntime-gpu"),
        (["onnxruntime", "onnxruntime-gpu"], "onnxruntime"),
        ([], "onnxruntime"),
    ],
)
def test_an_engine_that_is_too_old(monkeypatch: pytest.MonkeyPatch, flavours: list[str], name: str) -> None:
    monkeypatch.setattr(metadata, "packages_distributions", lambda: {"onnxruntime": flavours})
    replace_engine(monkeypatch, InferenceSession=object, __version__="1.24.4")
    expected = f"webnn needs ONNX Runtime 1.31.0 or newer, found {name} 1.24.4: run 'python -m pip install --upgrade {name}'"
    with pytest.raises(webnn.NotSupportedError) as caught:
        engine.version()
    assert str(caught.value) == expected


async def test_a_context_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    replace_engine(monkeypatch, InferenceSession=object, __version__="1.24.4")
    promise = webnn.ML(revision="2024-06").createContext()
    with pytest.raises(webnn.NotSupportedError, match=r"found onnxruntime\S* 1\.24\.4"):
        await promise


@pytest.mark.parametrize("members", [{}, {"InferenceSession": object}], ids=["an empty folder", "without a version"])
def test_an_engine_that_is_broken(monkeypatch: pytest.MonkeyPatch, members: dict[str, Any]) -> None:
    replace_engine(monkeypatch, **members)
    with pytest.raises(webnn.NotSupportedError, match=r"one that is installed is broken .*: uninstall all its flavours"):
        engine.version()
