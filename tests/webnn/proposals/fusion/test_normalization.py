"""Normalization by mean and variance, and behind sums, under fast numerics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.support import Array, each_row
from tests.webnn.proposals.subgraph_bodies import Body, build, layer_norm, norm, random_arrays
from tests.webnn.proposals.subgraph_kernels import LAYER, SIMPLIFIED, check, executed, shared
from webnn import MLOperand

ARRAYS = random_arrays(3, x=[2, 8, 32], skip=[2, 8, 32], weight=[32], bias=[32])


def _skip_rms(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    total = b.add(inputs["x"], inputs["skip"])
    return norm()(b, {**inputs, "x": total}) | {"sum": total}


USED: list[tuple[str, str, Body]] = [
    # the name, the kernel, the body
    ("LayerNormalization", LAYER, layer_norm()),
    ("layer norm", LAYER, layer_norm(biased=False)),
    ("LayerNorm", LAYER, layer_norm(weighted=False, biased=False)),
    # A bias without a weight is added as usual.
    ("LayerNorm", LAYER, layer_norm(weighted=False)),
    ("SkipLayerNormalization", LAYER, layer_norm(skipped=True)),
    ("SkipSimplifiedLayerNormalization", SIMPLIFIED, _skip_rms),
    ("SkipRMSNorm", SIMPLIFIED, _skip_rms),
    ("skip-RMS-normalization", SIMPLIFIED, norm()),
]


@each_row(("name", "kernel", "body"), USED)
def test_kernels(name: str, kernel: str, body: Body) -> None:
    assert check(body, ARRAYS, name) == (kernel, "")


def test_the_whole_is_one_node() -> None:
    assert executed(build(shared("fast"), layer_norm(), ARRAYS, name="LayerNorm")) == [LAYER]
    assert executed(build(shared("fast"), layer_norm(skipped=True), ARRAYS, name="SkipLayerNorm")) == ["Add", LAYER]


def test_large_means() -> None:
    """The kernel subtracts the mean first; SkipLayerNormalization, which is not used, loses digits here."""
    arrays: dict[str, Array] = {**ARRAYS, "x": ARRAYS["x"] + 100}
    assert check(layer_norm(), arrays, "LayerNorm", tolerance=1e-5) == (LAYER, "")


def _other(change: str) -> Body:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        x = inputs["x"]
        mean = b.reduceMean(x, axes=[1] if change == "another axis" else [2], keepDimensions=True)
        centred = b.sub(mean, x) if change == "upside down" else b.sub(b.neg(x) if change == "another input" else x, mean)
        square = b.mul(b.sub(x, b.abs(mean)), x) if change == "another square" else b.mul(centred, centred)
        square = b.mul(x, x) if change == "square of the input" else square
        variance = b.reduceMean(square, axes=[2], keepDimensions=True)
        y = b.div(x if change == "another numerator" else centred, b.sqrt(b.add(variance, b.constant("float32", 1e-5))))
        return {"y": y} | ({"centred": centred} if change == "the difference is an output" else {})

    return body


OTHERS: list[tuple[str, str]] = [
    # what is changed, and the reason
    ("another axis", "both reduceMean must be over the same axes, but are over [1] and [2]"),
    ("upside down", "the first reduceMean must be subtracted from its input"),
    ("another input", "the first reduceMean must be subtracted from its input"),
    ("another square", "the first reduceMean must be subtracted from its input"),
    ("square of the input", "the input of the square must be divided by the root"),
    ("another numerator", "the input of the square must be divided by the root"),
    ("the difference is an output", "the difference must not be used elsewhere"),
]


@each_row(("change", "reason"), OTHERS)
def test_bodies_that_are_not_normalizations(change: str, reason: str) -> None:
    kernel, found = check(_other(change), ARRAYS, "LayerNormalization", tolerance=1e-5)
    assert (kernel, found[: len(reason)]) == ("", reason)


def test_one_operation_stays_as_it_is() -> None:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        return {"y": b.layerNormalization(inputs["x"], axes=[2])}

    graph = build(shared("fast"), body, ARRAYS, name="LayerNormalization")
    [call] = graph.description.calls
    assert (call.kernel, call.reason) == ("", "it must have two reduceMean, but has 0")
    assert executed(graph) == [LAYER]
