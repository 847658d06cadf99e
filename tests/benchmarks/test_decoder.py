"""Loops of tokens: what each cache computes, on each device, and that none of them is copied or leaks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.decoder import SMALL, Cache, GraphSteps, SessionSteps
from tests.context.engine.remote.isolated import isolated
from tests.support import Array
from webnn import ML, MLContext
from webnn.inspect import record_waste

REVISION = "2026-06+dynamic-shapes"
STEPS, WINDOW = 24, 8
#: The caches, and the largest error of a score; the largest score is about 3.
CACHES: Mapping[str, tuple[Cache, float]] = {
    "growing": (Cache(kind="growing"), 1e-5),
    "static": (Cache(kind="static", length=32), 1e-5),
    "sliding, all in the window": (Cache(kind="sliding", length=32), 1e-5),
    "sliding": (Cache(kind="sliding", length=WINDOW), 1e-5),
    "growing, int8": (Cache(kind="growing", int8=True), 0.1),
    "static, int8": (Cache(kind="static", length=32, int8=True), 0.1),
    "sliding, int8": (Cache(kind="sliding", length=WINDOW, int8=True), 0.1),
}


def _device(deviceType: Any, *, isolate: bool) -> MLContext:
    return ML(revision=REVISION, simulators=True, fallback="silent", isolate=isolate).createContextSync(deviceType=deviceType)


PLACES: Mapping[str, tuple[Any, list[pytest.MarkDecorator]]] = {
    "cpu": (lambda: ML(revision=REVISION).createContextSync(accelerated=False), []),
    "cpu process": (lambda: isolated(REVISION), [pytest.mark.processes]),
    "gpu": (lambda: _device("gpu", isolate=False), [pytest.mark.simulators("gpu")]),
    "gpu process": (lambda: _device("gpu", isolate=True), [pytest.mark.simulators("gpu"), pytest.mark.processes]),
    "npu process": (lambda: _device("npu", isolate=True), [pytest.mark.simulators("npu"), pytest.mark.processes]),
}


@cache
def _make(place: str) -> MLContext:
    context: MLContext = PLACES[place][0]()
    return context


@cache
def _said() -> list[int]:
    """Return the tokens of a hand-written model with a cache that grows."""
    return SessionSteps(SMALL, CACHES["growing"][0])(STEPS)


def exact_scores(tokens: list[int], window: int = STEPS + 1) -> Array:
    """Compute the scores of the tokens that a loop said, all at once in float64: [tokens, words]. The place 0 has the loop's zeros."""
    weights = {name: each.astype(np.float64) for name, each in SMALL.weights().items()}
    places = np.arange(len(tokens) + 1)
    x = weights["words"][[0, 0, *tokens[:-1]]] + weights["places"][places]
    ages = places[:, None] - places
    isVisible = (ages >= 0) & (ages < window)
    for layer in range(SMALL.layers):
        q, k, v = (_normalize(x) @ weights[f"{name}{layer}"] for name in ("q", "k", "v"))
        k[0] = v[0] = 0
        q, k, v = (each.reshape(-1, SMALL.heads, SMALL.size).transpose(1, 0, 2) for each in (q, k, v))
        powers = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(SMALL.size)) * isVisible
        mixed = (powers / powers.sum(2, keepdims=True) @ v).transpose(1, 0, 2).reshape(-1, SMALL.width)
        x = x + mixed @ weights[f"o{layer}"]
        x = x + np.maximum(_normalize(x) @ weights[f"up{layer}"], 0) @ weights[f"down{layer}"]
    scores: Array = (_normalize(x) @ weights["scores"])[1:]
    return scores


def _normalize(x: Array) -> Array:
    centred = x - x.mean(1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5))


@pytest.mark.parametrize("name", CACHES)
@pytest.mark.parametrize("place", [pytest.param(place, marks=marks) for place, (_, marks) in PLACES.items()])
def test_a_loop_leaves_its_cache_where_it_is(place: str, name: str) -> None:
    kind, tolerance = CACHES[name]
    context = _make(place)
    loop = GraphSteps(context, SMALL, kind, scores=True)
    tokens = loop(1)
    with record_waste(context, warmup=1) as waste:
        tokens += loop(STEPS - 1)
    if kind.length != WINDOW and not kind.int8:
        assert tokens == _said()
    exact = exact_scores(tokens, WINDOW if kind.length == WINDOW else STEPS + 1)
    assert np.abs(np.concatenate(loop.scores) - exact).max() <= tolerance
    report = waste.report()
    assert (report.count, report.total.dispatches) == (STEPS - 2, STEPS - 2)
    # The position, the token and the scores are small.
    assert (report.total.copies, report.total.builds, report.leaks) == (0, 0, ())
    parts = len(SMALL.parts)
    assert report.total.allocations == (parts * (STEPS - 2) if kind.grows else 0)
    assert report.peak == (2 * parts if kind.grows else 0)
    if place != "npu process":
        variants = getattr(loop.graph._implementation, "_variants", [None])
        assert len(variants) == 1 or not kind.grows
    # The same once more, with the tensors of before.
    loop.start()
    assert loop(STEPS) == tokens


@pytest.mark.parametrize("name", CACHES)
def test_the_hand_written_model_says_the_same(name: str) -> None:
    kind, _ = CACHES[name]
    ours, theirs = GraphSteps(_make("cpu"), SMALL, kind), SessionSteps(SMALL, kind)
    for _ in range(2):
        tokens = ours(STEPS)
        assert theirs(STEPS) == tokens
        assert len({*tokens}) > 3
        ours.start()
        theirs.start()
