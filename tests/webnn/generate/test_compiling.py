"""Graphs are compiled once, and those that were used last are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

import webnn
from tests.webnn.generate.decoders import save_decoder
from webnn.generate.compiling import Compiler, Work
from webnn.generate.layout import Part
from webnn.generate.runs import shapes_of


def test_graphs_are_kept(tmp_path: Path) -> None:
    context = webnn.ML(revision="2026-06").createContextSync()
    part = Part.read(save_decoder(tmp_path / "decoder.onnx", cache=False))
    compiler = Compiler(context, part, False, Work())

    def get(rows: int) -> object:
        return compiler.get(rows, shapes_of(part, rows))

    first = get(1)
    for rows in range(2, 33):
        get(rows)
    assert compiler.work.sessions == 32
    assert compiler.work.seconds > 0
    # It is used again, so the second one leaves.
    assert get(1) is first
    get(33)
    assert get(1) is first
    assert compiler.work.sessions == 33
    get(2)
    assert compiler.work.sessions == 34


def test_graphs_share_large_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Every weight counts as large.
    monkeypatch.setattr("webnn.onnx.weights._LEAST", 1)
    monkeypatch.setattr("webnn.onnx.weights._LARGE", 512)
    context = webnn.ML(revision="2026-06").createContextSync()
    part = Part.read(save_decoder(tmp_path / "decoder.onnx", cache=False))
    compiler = Compiler(context, part, False, Work())
    one, other = (compiler.get(rows, shapes_of(part, rows)).graph.description.constants for rows in (2, 3))
    words = [next(each.value for each in constants.values() if each.value.shape == (257, 8)) for constants in (one, other)]
    assert words[0].ctypes.data == words[1].ctypes.data
