"""T5 of the package `traceforge-title-model`, dynamically quantized: one graph of its encoder and one of its decoder for all lengths."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import webnn
import webnn.onnx
from tests.webnn.onnx.named import NAMED
from webnn import MLGraphBuilder

pytest.importorskip("traceforge_title_model", reason="needs the package traceforge-title-model")

#: Lengths of the source and of the target.
LENGTHS = [(5, 3), (1, 1), (2, 7), (17, 1), (1, 9), (33, 4), (64, 64), (7, 20), (3, 3), (100, 12), (11, 40)]
_NAMES = {"encoder_sequence_length": "source", "decoder_sequence_length": "target"}


def _path(name: str) -> Path:
    return Path(str(resources.files("traceforge_title_model"))) / "data" / "span" / f"{name}.onnx"


def _feed(name: str, source: int, target: int) -> Mapping[str, Any]:
    random = np.random.default_rng(source * 1000 + target)
    mask = np.ones((1, source), np.int64)
    if name == "encoder":
        return {"input_ids": random.integers(3, 32000, (1, source)), "attention_mask": mask}
    states = random.standard_normal((1, source, 512)).astype(np.float32) * np.float32(0.2)
    return {"input_ids": random.integers(3, 32000, (1, target)), "encoder_hidden_states": states, "encoder_attention_mask": mask}


def _load(name: str, revision: str, dims: Mapping[str, Any]) -> Any:
    builder = MLGraphBuilder(webnn.ML(revision=revision).createContextSync())
    used = {key: size for key, size in dims.items() if name == "decoder" or key.startswith("encoder")}
    return builder.buildSync(dict(webnn.onnx.load(_path(name), builder, dims={"batch_size": 1, **used}).outputs))


@pytest.mark.processes
@pytest.mark.parametrize(("name", "sessions"), [("encoder", 2), ("decoder", 4)])
def test_one_graph_has_the_numbers_of_all_lengths(name: str, sessions: int) -> None:
    graph = _load(name, NAMED, _NAMES)
    for source, target in LENGTHS:
        feeds = _feed(name, source, target)
        sized = _load(name, "2026-06", {"encoder_sequence_length": source, "decoder_sequence_length": target})
        ((_, expected),), ((_, found),) = sized.run(feeds).items(), graph.run(feeds).items()
        np.testing.assert_array_equal(found, expected, err_msg=f"{source}, {target}")
    # Sessions for a length of 1 and for others.
    assert sum(each.implementation is not None for each in graph._implementation._variants) == sessions
