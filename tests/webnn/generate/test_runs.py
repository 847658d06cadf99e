"""The strategies choose the same tokens as a session of onnxruntime, and the cache never leaves its tensors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
import webnn.generate
from tests.webnn.generate.decoders import HEADS, LAYERS, SIZE, WORDS, save_decoder, save_pair
from webnn.generate.model import CacheChoice, LanguageModel
from webnn.generate.plain import PlainModel
from webnn.generate.runs import Run, feeds, shapes_of

PROMPT = (72, 101, 108, 108, 111)


def load(path: Path, cache: CacheChoice = "auto", **settings: Any) -> LanguageModel:
    return webnn.generate.load(path, webnn.ML(revision="2026-06", **settings).createContextSync(), cache=cache)


def feed(run: Run, steps: Sequence[Sequence[int]]) -> list[np.ndarray[Any, Any]]:
    return [run.feed(ids) for ids in steps]


def steps_of(*lengths: int) -> list[list[int]]:
    random = np.random.default_rng(0)
    return [random.integers(0, WORDS, length).tolist() for length in lengths]


#: The options of the decoder, its mode, and the lengths of the steps.
CASES = [
    ({}, "padded", (5, 1, 1, 1)),
    ({}, "padded", (1, 1, 1)),
    # The capacity doubles within the prompt's chunks and behind them.
    ({}, "padded", (60, 1, 1, 1, 1, 1, 20)),
    ({}, "padded", (300, 1, 2)),
    ({"mask": False}, "exact", (5, 1, 1)),
    ({"positions": False}, "exact", (3, 2, 1)),
    ({"cache": False}, "padded", (5, 1, 12, 1)),
    ({"cache": False, "mask": False}, "exact", (5, 1, 1)),
]


@pytest.mark.parametrize(("options", "mode", "lengths"), CASES)
def test_the_scores_are_those_of_onnxruntime(options: dict[str, bool], mode: str, lengths: tuple[int, ...], tmp_path: Path) -> None:
    model = load(save_decoder(tmp_path / "decoder.onnx", **options))
    assert model.mode == mode
    steps = steps_of(*lengths)
    ours, theirs = model.start(steps[0], steps[0]), PlainModel(model.layout).start(steps[0], steps[0])
    for mine, other in zip(feed(ours, steps), feed(theirs, steps), strict=True):
        assert mine.shape == (WORDS,)
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
    assert ours.used == theirs.used
    assert ours.used == (options.get("cache", True) and 2 * LAYERS * HEADS * SIZE * 4 * sum(lengths))
    ours.close()
    ours.close()


def test_an_encoder_is_computed_once(tmp_path: Path) -> None:
    model = load(save_pair(tmp_path))
    ours, theirs = model.start(PROMPT, [0]), PlainModel(model.layout).start(PROMPT, [0])
    for mine, other in zip(feed(ours, [[0], [7], [9]]), feed(theirs, [[0], [7], [9]]), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
    # One encoder, and a decoder for each length; another prompt of this length needs no more.
    assert model.work.sessions == 4
    again = model.start(PROMPT[::-1], [0])
    feed(again, [[0], [7], [9]])
    assert model.work.sessions == 4


def test_each_capacity_is_compiled_once(tmp_path: Path) -> None:
    model = load(save_decoder(tmp_path / "decoder.onnx"))
    for _ in range(2):
        run = model.start(PROMPT, PROMPT)
        feed(run, [PROMPT, *[[1]] * 130])
        run.close()
    # The prompt in 64 rows, a step in 64, 128 and 256, and two graphs that move the rows.
    assert model.work.sessions == 6


@pytest.mark.parametrize("options", [{}, {"mask": False}])
def test_the_cache_is_not_copied(options: dict[str, bool], tmp_path: Path) -> None:
    """A step copies tokens, masks and positions to tensors, and the scores of one row from one."""
    context = webnn.ML(revision="2026-06").createContextSync()
    model = webnn.generate.load(save_decoder(tmp_path / "decoder.onnx", **options), context)
    run = model.start(PROMPT, PROMPT)
    # All lengths are compiled, and the capacity is large enough.
    feed(run, [PROMPT, *[[1]] * 6])
    run.close()
    with webnn.inspect.record_waste(context) as waste:
        run = model.start(PROMPT, PROMPT)
        feed(run, [PROMPT, *[[1]] * 6])
        run.close()
    report = waste.report()
    assert report.count == 5
    assert report.total.builds == 0
    read = report.count * WORDS * 4
    written = 0 if "mask" in options else report.count * (64 + 1) * 8
    assert report.total.copiedBytes == read + written
    assert report.leaks == ()


def test_closing_frees_all_tensors(tmp_path: Path) -> None:
    context = webnn.ML(revision="2026-06").createContextSync()
    model = webnn.generate.load(save_decoder(tmp_path / "decoder.onnx"), context)
    with webnn.inspect.record_waste(context) as waste:
        run = model.start(PROMPT, PROMPT)
        feed(run, [PROMPT, *[[1]] * 70])
        run.close()
    assert waste.report().alive == 0


def test_unused_rows_are_masked() -> None:
    found = feeds([7, 8], 3, before=5, rows=4)
    assert found["input_ids"].tolist() == [[7, 8, 0, 0]]
    assert found["attention_mask"].tolist() == [[0, 0, 1, 1, 1, 1, 1, 0, 0]]
    # Behind the tokens no position is new: the table may end there.
    assert found["position_ids"].tolist() == [[3, 4, 4, 4]]


def test_the_shapes_of_lengths(tmp_path: Path) -> None:
    layout = load(save_decoder(tmp_path / "decoder.onnx", positions=False)).layout
    for lengths, total, past in (((2, 3), 5, 3), ((2, 0), 2, 0), (("rows", 0), "rows", 0), ((1, "past"), "past + 1", "past")):
        shapes = shapes_of(layout.decoder, *lengths, cache=layout.cache)
        assert shapes["input_ids"] == [1, lengths[0]]
        assert shapes["attention_mask"] == [1, total]
        assert shapes["past_key_values.0.key"] == [1, HEADS, past, SIZE]
        assert "position_ids" not in shapes


@pytest.mark.simulators("gpu")
def test_a_gpu_has_the_same_scores(tmp_path: Path) -> None:
    path = save_decoder(tmp_path / "decoder.onnx")
    context = webnn.ML(revision="2026-06", simulators=True).createContextSync(deviceType="gpu")
    model = webnn.generate.load(path, context)
    assert model.mode == "padded"
    steps = steps_of(5, 1, 1)
    theirs = PlainModel(model.layout).start(steps[0], steps[0])
    for mine, other in zip(feed(model.start(steps[0], steps[0]), steps), feed(theirs, steps), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-3, atol=1e-3)


def test_one_graph_serves_all_lengths(tmp_path: Path) -> None:
    """A graph of the prompt, without a cache, and one of the steps behind."""
    context = webnn.ML(revision="2026-06+dynamic-shapes").createContextSync()
    path = save_decoder(tmp_path / "decoder.onnx")
    model = webnn.generate.load(path, context, cache="growing")
    assert (model.mode, model.note, model.work.sessions) == ("named", "", 0)
    for lengths in ((5, 1, 1, 1, 1), (9, 1, 1)):
        steps = steps_of(*lengths)
        ours, theirs = model.start(steps[0], steps[0]), PlainModel(model.layout).start(steps[0], steps[0])
        for mine, other in zip(feed(ours, steps), feed(theirs, steps), strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-4)
        assert ours.allocated == ours.used == theirs.used
        assert model.work.sessions == 2
