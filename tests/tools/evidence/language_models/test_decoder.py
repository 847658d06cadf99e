"""The decoder that is measured: its forms compute the same, with sizes and with names."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest

import webnn
import webnn.onnx
from tools.evidence.language_models.decoder import FORMS, Shape, make_decoder
from webnn import MLGraphBuilder
from webnn.validation.drafts import find_revision

SMALL = Shape(layers=2, width=96, heads=6, shared=2, inner=64, words=50, places=64)
CACHE = [f"past_key_values.{layer}.{kind}" for layer in range(SMALL.layers) for kind in ("key", "value")]
STEPS = [(1, 1), (5, 1), (9, 3)]


def feed(form: str, past: int, rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(past)
    cache = {name: rng.standard_normal((1, SMALL.shared, past, SMALL.size), np.float32) for name in CACHE}
    known = {"position_ids": np.arange(past, past + rows)[None], "attention_mask": np.ones((1, past + rows), np.int64)}
    return {"input_ids": rng.integers(0, SMALL.words, (1, rows)), **cache, **(known if form == "operators" else {})}


def run_engine(form: str, feeds: dict[str, Any]) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(make_decoder(SMALL, form).SerializeToString())
    return dict(zip([each.name for each in session.get_outputs()], session.run(None, feeds), strict=True))


@pytest.mark.parametrize(("past", "rows"), STEPS)
def test_forms_compute_the_same(past: int, rows: int) -> None:
    one, other = (run_engine(form, feed(form, past, rows)) for form in ("operators", "composite"))
    for name, expected in one.items():
        np.testing.assert_allclose(other[name], expected, rtol=1e-5, atol=1e-5, err_msg=name)


WAYS = [("2026-06+dynamic-shapes", "exact"), ("2026-06+dynamic-shapes+subgraphs", "fast")]


@pytest.mark.parametrize(("revision", "numerics"), WAYS)
@pytest.mark.parametrize("form", FORMS)
def test_lengths_keep_their_names(form: str, revision: str, numerics: Any) -> None:
    context = webnn.ML(revision=find_revision(revision), numerics=numerics).createContextSync()
    builder = MLGraphBuilder(context)
    dims: Any = {"sequence_length": "sequence", "past_sequence_length": "past"}
    if form == "operators":
        dims["total_sequence_length"] = "past + sequence"
    graph = builder.buildSync(dict(webnn.onnx.load(make_decoder(SMALL, form), builder, dims=dims).outputs))
    for past, rows in STEPS:
        feeds = feed(form, past, rows)
        results: Any = graph.run(feeds)
        for name, expected in run_engine(form, feeds).items():
            np.testing.assert_allclose(results[name], expected, rtol=1e-5, atol=1e-5, err_msg=name)


def test_composites_are_calls() -> None:
    context = webnn.ML(revision=find_revision("2026-06+subgraphs"), numerics="fast").createContextSync()
    builder = MLGraphBuilder(context)
    imported = webnn.onnx.load(make_decoder(SMALL, "composite"), builder, dims={"sequence_length": 1, "past_sequence_length": 4})
    calls = builder.buildSync(dict(imported.outputs)).description.calls
    assert {each.name for each in calls if each.kernel} == {"GroupQueryAttention", "RMSNormalization"}
