"""Titles of both sides, with a tiny encoder and decoder."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.webnn.generate.decoders import save_pair, save_tokenizer
from tools.evidence import titles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pytest.importorskip("tokenizers", reason="needs tokenizers, the extra `generate`")
    return save_pair(save_tokenizer(tmp_path))


def test_the_titles(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert titles.main([str(folder), "--count", "2", "--numerics", "exact", "--cache", "static"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("equal ")
    assert "2 of 2 titles are equal" in out
    assert "(exact numerics, exact lengths)" in out


def test_the_prompts_differ() -> None:
    assert len(set(titles.PROMPTS)) == len(titles.PROMPTS) == 50


def test_the_model_of_a_package(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tokenizers", reason="needs tokenizers, the extra `generate`")
    found = importlib.util.find_spec("traceforge_title_model")
    if found is None or found.origin is None:
        pytest.skip("the package traceforge-title-model is not installed")
    assert titles.main([str(Path(found.origin).parent / "data" / "span"), "--count", "2"]) == 0, capsys.readouterr().out
