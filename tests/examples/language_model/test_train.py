"""The script that trains the language model: how it reads a text, and that what it exports computes what PyTorch does."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.examples.language_model.samples import EXAMPLE, MODEL
from tests.shared import ROOT

needed = ("torch", "onnxscript", "tokenizers")
pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(each) is None for each in needed), reason=f"needs the packages {', '.join(needed)}"
)


@pytest.fixture(scope="module")
def train() -> Iterator[Any]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield importlib.import_module("examples.language_model.train")
    torch.set_num_threads(threads)


def test_the_parts_of_a_text(train: Any, tmp_path: Path) -> None:
    text = "before\n\nCHAPTER 1. One.\n\nA line\nand one\r\n\r\n\n more \n\nCHAPTER 2. Two.\n\nLast"
    (tmp_path / "text.txt").write_text(text, encoding="utf-8", newline="")
    assert train.read_text(tmp_path / "text.txt") == ["before", "CHAPTER 1. One.\n\nA line and one\n\nmore", "CHAPTER 2. Two.\n\nLast"]


def test_a_text_that_is_too_short(train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("Call me Ishmael. " * 50, encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["train.py", str(tmp_path / "text.txt"), "--output", str(tmp_path / "model")])
    with pytest.raises(SystemExit, match="2"):
        train.main()
    assert "the text must have at least 81,920 tokens, of 2,048 kinds" in capsys.readouterr().err
    assert not (tmp_path / "model").exists()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_text_of_this_repository(train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two batches of training, and all files."""
    text = "\n\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "docs").glob("*.md")))
    (tmp_path / "text.txt").write_text(text[:600_000], encoding="utf-8")
    folder = tmp_path / "model"
    monkeypatch.setattr("sys.argv", ["train.py", str(tmp_path / "text.txt"), "--output", str(folder), "--steps", "2", "--title", "docs"])
    monkeypatch.setattr(train, "PROMPTS", [("Call me", 3)])
    # It compares onnxruntime with PyTorch.
    train.main()
    assert {file.name for file in folder.iterdir()} == {file.name for file in MODEL.iterdir()}
    for name in ("config.json", "generation_config.json"):
        assert (folder / name).read_bytes() == (MODEL / name).read_bytes(), f"{name} of {EXAMPLE.name} is that of another network"
    # Vectors that are equal, as they are before training, are one value in the file.
    shipped, new = (
        {each.name: [*each.dims] for each in onnx.load(each / "model.onnx").graph.initializer if len(each.dims) == 2}
        for each in (MODEL, folder)
    )
    assert new == shipped
    samples = json.loads((folder / "samples.json").read_text(encoding="utf-8"))
    assert [(each["prompt"], len(each["tokens"])) for each in samples] == [("Call me", 3)]
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "| Text | docs: `text.txt`, " in card
    assert "{" not in card.partition("## What it says")[0]
