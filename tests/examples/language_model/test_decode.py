"""The language model in Python: both caches say what onnxruntime says for the exported model, and what PyTorch said."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import webnn.inspect
from examples.language_model import decode
from examples.language_model.decode import Decoder, Sizes
from tests.examples.language_model.samples import EXAMPLE, MODEL, NAMES, SAMPLES
from tests.shared import ROOT
from tests.support import PATIENCE

SIZES = Sizes.read(MODEL)
#: More than the errors of float32 in a logit: train.py compares onnxruntime with PyTorch.
ENOUGH = 1e-3


@cache
def session() -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(MODEL / "model.onnx", providers=["CPUExecutionProvider"])


@cache
def decoder(way: Any) -> Decoder:
    return Decoder(way=way)


def run_onnx(ids: Sequence[int], past: int, kept: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Run the model for tokens behind a past; return the logits of the last one, and the new past."""
    names = [each.name for each in session().get_inputs() if each.name.startswith("past_key_values")]
    none = np.zeros((1, SIZES.keyHeads, 0, SIZES.size), np.float32)
    end = past + len(ids)
    inputs = {
        "input_ids": np.array([ids]),
        "attention_mask": np.ones((1, end), np.int64),
        "position_ids": np.arange(past, end)[np.newaxis],
        **(kept or dict.fromkeys(names, none)),
    }
    logits, *new = session().run(None, inputs)
    return logits[0, -1], dict(zip(names, new, strict=True))


def say_onnx(prompt: Sequence[int], count: int) -> list[int]:
    """Say tokens with onnxruntime: the prompt at once, then one token after the other."""
    said: list[int] = []
    logits, kept = run_onnx(prompt, 0, {})
    while True:
        said.append(int(logits.argmax()))
        if len(said) == count:
            return said
        logits, kept = run_onnx(said[-1:], len(prompt) + len(said) - 1, kept)


@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_onnxruntime_says_what_pytorch_said(sample: dict[str, Any]) -> None:
    assert sample["margin"] > ENOUGH
    assert say_onnx(sample["ids"], len(sample["tokens"])) == sample["tokens"]


@pytest.mark.parametrize("way", ["static", "growing"])
@pytest.mark.parametrize("sample", SAMPLES, ids=NAMES)
def test_each_cache_says_the_same(sample: dict[str, Any], way: str) -> None:
    assert list(decoder(way).generate(sample["ids"], len(sample["tokens"]))) == sample["tokens"]


def test_the_whole_context() -> None:
    """The loop ends when the model can read no more."""
    prompt = SAMPLES[-1]["ids"]
    expected = say_onnx(prompt, SIZES.context - len(prompt) + 1)
    for way in decode.REVISIONS:
        assert list(decoder(way).generate(prompt, 2 * SIZES.context)) == expected


def test_the_past_of_the_exported_model() -> None:
    """In one part, or in parts with a past, the logits are the same; so they are behind a past that does not count."""
    ids = SAMPLES[-1]["ids"]
    whole, _ = run_onnx(ids, 0, {})
    _, kept = run_onnx(ids[:7], 0, {})
    _, kept = run_onnx(ids[7:8], 7, kept)
    logits, kept = run_onnx(ids[8:], 8, kept)
    np.testing.assert_allclose(logits, whole, atol=ENOUGH / 10)
    padded = {name: np.pad(part, [(0, 0), (0, 0), (3, 0), (0, 0)], constant_values=5) for name, part in kept.items()}
    mask = np.array([[0] * 3 + [1] * (len(ids) + 1)])
    inputs = {"input_ids": np.array([[9]]), "attention_mask": mask, "position_ids": np.array([[len(ids)]]), **padded}
    np.testing.assert_allclose(session().run(["logits"], inputs)[0][0, -1], run_onnx([9], len(ids), kept)[0], atol=ENOUGH / 10)


def test_the_names_of_the_exported_model() -> None:
    """They are those of Hugging Face's tools; the file stays small, and its weights are float16."""
    model = onnx.load(MODEL / "model.onnx")
    shapes = {each.name: [d.dim_param or d.dim_value for d in each.type.tensor_type.shape.dim] for each in model.graph.input}
    outputs = {each.name: [d.dim_param or d.dim_value for d in each.type.tensor_type.shape.dim] for each in model.graph.output}
    both = "past_sequence_length + sequence_length"
    parts = [f"{layer}.{kind}" for layer in range(SIZES.layers) for kind in ("key", "value")]
    rows = [1, SIZES.keyHeads, "past_sequence_length", SIZES.size]
    assert shapes == {
        "input_ids": [1, "sequence_length"],
        "attention_mask": [1, both],
        "position_ids": [1, "sequence_length"],
        **{f"past_key_values.{part}": rows for part in parts},
    }
    assert {**outputs, "logits": outputs["logits"][:2]} == {
        "logits": [1, "sequence_length"],
        **{f"present.{part}": [*rows[:2], both, rows[3]] for part in parts},
    }
    weights = [each for each in model.graph.initializer if each.name.startswith("model.layers.")]
    assert {each.data_type for each in weights} == {onnx.TensorProto.FLOAT16}
    assert len(weights) == 9 * SIZES.layers
    assert sum(file.stat().st_size for file in MODEL.iterdir()) < 3e6


@pytest.mark.parametrize("way", ["static", "growing"])
def test_wrong_prompts(way: str) -> None:
    for prompt in ([], [1] * (SIZES.context + 1)):
        with pytest.raises(ValueError, match=rf"prompt must have from 1 to 1024 tokens, got {len(prompt)}"):
            next(decoder(way).generate(prompt, 1))
    assert list(decoder(way).generate([1, 2], 0)) == []


def test_a_short_cache() -> None:
    """It ends when the cache is full, and says the same until then."""
    sample = SAMPLES[0]
    most = len(sample["ids"]) + 5
    assert list(Decoder(length=most).generate(sample["ids"], 60)) == sample["tokens"][:6]
    for length in (-1, 1025):
        with pytest.raises(ValueError, match="length must be from 1 to 1024"):
            Decoder(length=length)


def test_a_loop_that_is_left() -> None:
    """The next one begins anew."""
    sample = SAMPLES[1]
    for way in decode.REVISIONS:
        loop = decoder(way).generate(SAMPLES[0]["ids"], 9)
        assert [next(loop), next(loop)] == SAMPLES[0]["tokens"][:2]
        loop.close()
        assert list(decoder(way).generate(sample["ids"], 5)) == sample["tokens"][:5]


@pytest.mark.parametrize("way", ["static", "growing"])
def test_no_cache_is_copied(way: Any) -> None:
    """A step of a static cache makes no tensor; a growing one makes its own, and destroys the one before."""
    sample = SAMPLES[0]
    own = Decoder(way=way, length=64)
    with webnn.inspect.record_waste(own.context) as waste:
        said = list(own.generate(sample["ids"], 40))
    assert said == sample["tokens"][:40]
    report = waste.report()
    assert report.leaks == ()
    # All that goes between the program and the context is single numbers, of four bytes each.
    assert report.total.copies == 0
    assert report.total.smallBytes == 4 * report.total.small
    assert (report.total.allocations == 0) == (way == "static")


@pytest.mark.processes
@pytest.mark.skipif(importlib.util.find_spec("tokenizers") is None, reason="needs the package tokenizers")
@pytest.mark.parametrize("way", ["static", "growing"])
def test_the_program(way: str) -> None:
    sample = SAMPLES[2]
    command = [sys.executable, "-W", "error", EXAMPLE / "decode.py", sample["prompt"], "--count", "60", "--cache", way]
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", env=environment, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{sample['prompt']}{sample['text']}\n"
