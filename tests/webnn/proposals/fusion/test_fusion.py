"""Calls under fast numerics as a whole: their accuracy beside that of their operators, and dimensions with names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.support import Array, each_row
from tests.webnn.proposals.subgraph_bodies import (
    Body,
    attention,
    build,
    compute,
    grown,
    grown_arrays,
    layer_norm,
    new_context,
    norm,
    random_arrays,
)
from tests.webnn.proposals.subgraph_kernels import KERNELS, LAYER, MULTI_HEAD, ROTATED, SILU, SIMPLIFIED, shared
from webnn import ML, MLGraphBuilder, MLOperand
from webnn.reference import compute as compute_reference
from webnn.reference.wpt_tolerances import distance, find_tolerance

# Accuracy


def _silu(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    return {"y": b.mul(b.mul(inputs["x"], b.sigmoid(inputs["x"])), inputs["skip"])}


NORMAL = random_arrays(3, x=[4, 384], skip=[4, 384], weight=[384], bias=[384])
#: A decoder's step: one token, 6 heads of 64, or 6 that share 2.
STEPS = [(6, 6, 1, 128, 64), (6, 2, 1, 128, 64), (6, 2, 3, 200, 64)]
ACCURATE: list[tuple[str, str, Body, Mapping[str, Array]]] = [
    # the name, the kernels, the body, its inputs
    ("attention", MULTI_HEAD, attention(0.125), random_arrays(1, q=[1, 6, 16, 64], k=[1, 6, 64, 64], v=[1, 6, 64, 64])),
    *[("GQA", MULTI_HEAD, grown(6, masked=True), grown_arrays(shape, masked=True)) for shape in STEPS],
    *[("GQA", ROTATED, grown(6, rotary=True), grown_arrays(shape, rotary=True)) for shape in STEPS],
    ("RMSNorm", SIMPLIFIED, norm(), NORMAL),
    ("LayerNorm", LAYER, layer_norm(), NORMAL),
    ("SkipLayerNorm", LAYER, layer_norm(skipped=True), {**NORMAL, "x": NORMAL["x"] + 100}),
    ("SiLU", SILU, _silu, NORMAL),
]


@each_row(("name", "kernel", "body", "arrays"), ACCURATE)
def test_both_ways_are_as_accurate_as_rounding_allows(name: str, kernel: str, body: Body, arrays: Mapping[str, Array]) -> None:
    """The bound is what the results move when each operator's result moves by the tolerance of web-platform-tests for it."""
    graphs = {numerics: build(shared(numerics), body, arrays, name=name) for numerics in ("exact", "fast")}
    description = graphs["fast"].description
    assert description.calls[0].kernel == kernel
    used = {each: arrays[each] for each in description.inputs}
    tolerance, expected = find_tolerance(description, used), compute_reference(description, used, exact=True)
    assert tolerance.value > 0
    for numerics, graph in graphs.items():
        for output, array in compute(graph, arrays).items():
            wanted = expected[output] if tolerance.metric == "ATOL" else expected[output].astype(np.float32)
            off = distance(array.ravel(), wanted.ravel(), tolerance.metric).max()
            assert off <= tolerance.value, (numerics, output, off, tolerance)


def test_the_report_says_both_ulp() -> None:
    arrays = grown_arrays(STEPS[0], rotary=True)
    found = build(shared("fast"), grown(6, rotary=True), arrays, name="GQA").accuracy(arrays)
    by_output = {each.output: each for each in found.calls}
    assert all(each.fusedUlp is not None and each.kernel == ROTATED for each in found.calls)
    assert (by_output["present_v"].ulp, by_output["present_v"].fusedUlp) == (0, 0)
    # A turned key is rounded three times, and loses no more digits than its terms have.
    assert by_output["present_k"].relative < 2e-7
    assert (by_output["present_k"].fusedRelative or 0) < 2e-7


# Dimensions with names


def _build_named(body: Body, arrays: Mapping[str, Array], names: Mapping[str, tuple[int, str]], revision: str, numerics: Any) -> Any:
    """Build a call whose inputs have names in place of some sizes."""
    b: Any = MLGraphBuilder(ML(revision=revision, numerics=numerics).createContextSync())

    def inputs() -> dict[str, MLOperand]:
        shapes: dict[str, list[Any]] = {name: list(each.shape) for name, each in arrays.items()}
        for name, (axis, size) in names.items():
            shapes[name][axis] = size
        return {name: b.input(name, {"dataType": "float32", "shape": shape}) for name, shape in shapes.items()}

    formal = inputs()
    subgraph = b.buildSubgraph(body(b, formal), name="GQA" if "q" in arrays else "RMSNorm", inputs=formal)
    return b.buildSync(b.subgraph(subgraph, inputs()))


def _fused_types(graph: Any) -> list[list[str]]:
    """Return the kernels for calls in each session that a graph of many sizes has."""
    variants = graph._implementation._variants
    sessions = [each.implementation for each in variants if each.implementation is not None]
    return [sorted(each for each in session.op_types.values() if each in KERNELS) for session in sessions]


REVISIONS = ["2026-06+dynamic-shapes+subgraphs", "2026-06+subgraphs+dynamic-shapes"]


@pytest.mark.parametrize("revision", REVISIONS)
@each_row(("heads", "groups", "rotary"), [(4, 4, False), (4, 2, False), (4, 4, True), (4, 1, True)])
def test_a_cache_of_any_length_is_one_session(revision: str, heads: int, groups: int, rotary: bool) -> None:
    names = {"past_k": (2, "past"), "past_v": (2, "past")}
    body, graphs = grown(heads, rotary=rotary), {}
    for numerics in ("exact", "fast"):
        arrays = grown_arrays((heads, groups, 1, 5, 8), rotary=rotary)
        graphs[numerics] = _build_named(body, arrays, names, revision, numerics)
    for past in (1, 7, 2, 130):
        arrays = grown_arrays((heads, groups, 1, past, 8), rotary=rotary)
        found, wanted = (graph.run(arrays) for graph in (graphs["fast"], graphs["exact"]))
        for name, array in wanted.items():
            np.testing.assert_allclose(found[name], array, rtol=0, atol=2e-6)
    kernels = [MULTI_HEAD, *["RotaryEmbedding"] * (2 * rotary)]
    assert _fused_types(graphs["fast"]) == [kernels]
    assert _fused_types(graphs["exact"]) == [[]]


def _prompt(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    """Attention of several rows, by heads, with a mask of a number for each row."""
    keys, values = (b.concat([inputs[f"past_{name}"], inputs[name]], 2) for name in "kv")
    products = b.mul(b.matmul(inputs["q"], b.transpose(keys, permutation=[0, 1, 3, 2])), b.constant("float32", 0.5))
    y = b.matmul(b.softmax(b.add(products, inputs["mask"]), 3), values)
    return {"y": y, "present_k": keys, "present_v": values}


def test_prompts_of_any_length() -> None:
    """Rows and columns have names, and the mask has that of the rows."""

    def arrays(rows: int, past: int) -> dict[str, Array]:
        kinds = {**dict.fromkeys(("q", "k", "v"), rows), **dict.fromkeys(("past_k", "past_v"), past)}
        return random_arrays(rows, **{name: [1, 4, size, 8] for name, size in kinds.items()}, mask=[1, 1, rows, 1])

    names = {**dict.fromkeys(("q", "k", "v", "mask"), (2, "rows")), **dict.fromkeys(("past_k", "past_v"), (2, "past"))}
    graph = _build_named(_prompt, arrays(3, 5), names, REVISIONS[0], "fast")
    for rows, past in ((3, 5), (2, 9), (1, 4)):
        given = arrays(rows, past)
        expected = compute(build(shared("exact"), _prompt, given, name="other"), given)
        for name, array in graph.run(given).items():
            np.testing.assert_allclose(array, expected[name], rtol=0, atol=2e-6)
    assert all(found == [MULTI_HEAD] for found in _fused_types(graph))


def test_normalization_of_any_number_of_rows() -> None:
    arrays = random_arrays(3, x=[1, 4, 32], weight=[32])
    graph = _build_named(norm(), arrays, {"x": (1, "rows")}, REVISIONS[0], "fast")
    for rows in (4, 9, 5):
        given = random_arrays(rows, x=[1, rows, 32], weight=[32])
        expected = compute(build(new_context(), norm(), given, name="other"), given)["y"]
        np.testing.assert_allclose(graph.run(given)["y"], expected, rtol=2e-6)
    assert _fused_types(graph) == [[SIMPLIFIED]]
