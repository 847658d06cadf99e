"""Calls of subgraphs under both numerics: configs, reports of the accuracy, random bodies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import Array
from tests.webnn.proposals.subgraph_bodies import (
    REVISION,
    Body,
    attention,
    build,
    compute,
    gqa,
    gqa_arrays,
    norm,
    random_arrays,
)
from tests.webnn.proposals.subgraph_kernels import MULTI_HEAD, ROTATED, SIMPLIFIED, X, check, kernels, shared
from webnn import ML, MLGraphBuilder, MLOperand
from webnn.inspect.show import as_text

# The config keeps what the constants lose


def test_the_scale_of_the_config() -> None:
    """0.08838 and 0.08839 are one number of float16. The kernel takes the number before it was rounded."""
    arrays = random_arrays(1, "float16", q=[1, 1, 16, 128], k=[1, 1, 64, 128], v=[1, 1, 64, 128])
    arrays["q"] *= np.float16(8)
    results: dict[float | None, bytes] = {}
    for scale in (None, 0.08838, 0.08839, 0.05):
        graph = build(shared("fast"), attention(0.08838), arrays, name="GQA", config={} if scale is None else {"scale": scale})
        assert kernels(graph) == [MULTI_HEAD]
        results[scale] = compute(graph, arrays)["y"].tobytes()
    # Another number than the constant's is not taken.
    assert results[None] == results[0.05]
    assert len({results[None], results[0.08838], results[0.08839]}) == 3


# Reports


def test_accuracy() -> None:
    arrays = gqa_arrays()
    graph = build(shared("fast"), gqa(), arrays, name="GQA")
    found = graph.accuracy(arrays)
    assert [(each.name, each.output) for each in found.calls] == [("GQA", name) for name in ("output", "present_key", "present_value")]
    for each in found.calls:
        assert each.kernel == ROTATED
        assert each.fusedUlp is not None
        assert each.relative < 1e-6
        assert each.fusedRelative is not None
        assert each.fusedRelative < 1e-6
    # The cache is only moved: its values are exact.
    assert (found.calls[2].ulp, found.calls[2].fusedUlp) == (0, 0)
    assert json.loads(found.to_json())["calls"][0]["kernel"] == ROTATED
    assert "Accuracy of the calls of subgraphs" in as_text(found)


def test_accuracy_without_a_kernel() -> None:
    for context, name, reason in (
        (shared("exact"), "RMSNorm", f"only fast numerics of the default CPU device use it: {SIMPLIFIED}"),
        (shared("fast"), "norm", "the engine has no kernel for the name 'norm'"),
        (
            ML(revision=REVISION, reference=True).createContextSync(),
            "RMSNorm",
            f"only fast numerics of the default CPU device use it: {SIMPLIFIED}",
        ),
    ):
        [each] = build(context, norm(), X, name=name).accuracy(X).calls
        assert (each.kernel, each.reason, each.fusedUlp, each.fusedRelative) == ("", reason, None, None)
        assert each.relative < 1e-6


def test_accuracy_of_calls_in_calls_and_in_parts() -> None:
    from webnn.inspect.accuracy import judge
    from webnn.inspect.subject import Subject

    b: Any = MLGraphBuilder(shared("fast"))
    x, weight = (b.input(name, {"dataType": "float32", "shape": list(each.shape)}) for name, each in X.items())
    inner = b.buildSubgraph(norm()(b, {"x": x, "weight": weight}), inputs={"x": x, "weight": weight}, name="RMSNorm")
    outer = b.buildSubgraph(
        {"y": b.relu(b.subgraph(inner, {"x": b.neg(x), "weight": weight})["y"])}, inputs={"x": x, "weight": weight}, name="block"
    )
    value, c = (b.input(name, {"dataType": "float32", "shape": list(each.shape)}) for name, each in (("a", X["x"]), ("c", X["weight"])))
    for _ in range(3):
        value = b.subgraph(outer, {"x": value, "weight": c})["y"]
    graph = b.buildSync({"y": value})
    arrays = {"a": X["x"], "c": X["weight"]}
    for limit in (1, 1 << 30):
        found = judge(Subject.of(graph, "accuracy"), arrays, whole=False, limit=limit).calls
        assert [each.name for each in found] == ["block", "RMSNorm"] * 3
        assert all(each.kernel == (SIMPLIFIED if each.name == "RMSNorm" else "") for each in found)
        assert all(each.relative < 1e-6 for each in found)


def test_values_between_are_outputs() -> None:
    """Tools that look between the operators get them one by one."""
    graph = build(shared("fast"), norm(), X, name="RMSNorm")
    traced = graph.trace(X)
    assert [each.operation for each in traced.values if each.index] == ["mul", "reduceMean", "add", "sqrt", "div", "mul"]
    np.testing.assert_allclose(traced["reduceMean"].statistics.mean, float((X["x"].astype(np.float64) ** 2).mean()), rtol=1e-5)


# Random changes


@st.composite
def changed(draw: st.DrawFn) -> tuple[Body, dict[str, Array], str]:
    """Draw a body that is attention or nearly so, with its inputs and a name."""
    rank = draw(st.sampled_from([3, 4]))
    batch = draw(st.lists(st.integers(1, 3), min_size=rank - 2, max_size=rank - 2))
    rows, columns, size, width = draw(st.tuples(*[st.integers(1, 4)] * 4))
    axis = draw(st.sampled_from([rank - 1] * 4 + [rank - 2]))
    # Each keeps the scores small. A factor of 1,000 would make their last bits, which two kernels may round differently, count as 1e-4.
    scale = draw(st.sampled_from([None, 0.5, -2.0, 1.0, 1e-3]))
    divides, swaps, weighs, repeats = draw(st.tuples(*[st.booleans()] * 4))
    mask = draw(st.sampled_from([None, [columns], [rows, 1], [*batch, rows, columns], [*batch[:-1], 1, rows, columns], [1] * rank]))
    groups = draw(st.integers(1, 3)) if rank == 4 else 1
    transposes = draw(st.booleans())
    # How many of the keys and values are earlier ones, which new ones join.
    earlier = draw(st.integers(0, columns - 1)) if rank == 4 and transposes else 0

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        q, k, v = inputs["q"], inputs["k"], inputs["v"]
        joined = {}
        if earlier:
            k, v = (b.concat([inputs[f"past_{name}"], each], 2) for name, each in (("k", k), ("v", v)))
            joined = {"keys": k, "values": v} if divides else {"keys": k, "more": b.neg(v)}
        if rank == 4 and repeats:
            k, v = (_repeat(b, each, groups) for each in (k, v))
        if transposes:
            k = b.transpose(k, permutation=[*range(rank - 2), rank - 1, rank - 2])
        scores = b.matmul(q, k)
        if scale is not None:
            number = b.constant("float32", 1 / scale if divides else scale)
            scores = b.div(scores, number) if divides else b.mul(*((number, scores) if swaps else (scores, number)))
        if mask is not None:
            scores = b.add(*((inputs["mask"], scores) if swaps else (scores, inputs["mask"])))
        weights = b.softmax(scores, axis)
        return {"y": b.matmul(weights, v), **joined} | ({"weights": b.neg(weights)} if weighs and divides else {})

    heads = groups if rank == 4 and repeats else 1
    whole = [*batch[:-1], batch[-1] * heads]
    keys = [columns, size] if transposes else [size, columns]
    shapes = {"q": [*whole, rows, size], "k": [*batch, *keys], "v": [*batch, columns, width]}
    if mask is not None:
        # A mask for each head has all heads of the queries.
        shapes["mask"] = [*whole, rows, columns] if len(mask) == rank and mask[-3] == batch[-1] else mask
    if earlier:
        for name, wide in (("k", size), ("v", width)):
            shapes |= {f"past_{name}": [*batch, earlier, wide], name: [*batch, columns - earlier, wide]}
    arrays = random_arrays(draw(st.integers(0, 99)), **shapes)
    return body, arrays, draw(st.sampled_from(["GQA", "attention", "RMSNorm", "other"]))


def _repeat(b: Any, operand: Any, groups: int) -> MLOperand:
    batch, heads, rows, columns = operand.shape
    expanded = b.expand(b.reshape(operand, [batch, heads, 1, rows, columns]), [batch, heads, groups, rows, columns])
    result: MLOperand = b.reshape(expanded, [batch, heads * groups, rows, columns])
    return result


@settings(deadline=None, max_examples=60)
@given(changed())
def test_random_attention(case: tuple[Body, dict[str, Array], str]) -> None:
    body, arrays, name = case
    with np.errstate(all="ignore"):
        check(body, arrays, name, tolerance=1e-5)


OPERATIONS = ["add", "sub", "mul", "max", "relu", "neg", "matmul", "transpose", "softmax", "reduceMean"]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=12), st.data())
def test_random_bodies(steps: list[tuple[str, int, int]], data: st.DataObject) -> None:
    """The same operators, inlined and called from subgraphs in subgraphs, give the same bits."""
    cut = data.draw(st.integers(1, len(steps)))
    arrays = random_arrays(7, x=[3, 3], y=[3, 3])
    inputs = {name: {"dataType": "float32", "shape": [3, 3]} for name in arrays}

    def connect(b: Any, values: list[Any], some: list[tuple[str, int, int]]) -> list[Any]:
        values = list(values)
        for operation, one, other in some:
            left, right = values[one % len(values)], values[other % len(values)]
            if operation in ("relu", "neg", "transpose"):
                values.append(getattr(b, operation)(left))
            elif operation == "softmax":
                values.append(b.softmax(left, 1))
            elif operation == "reduceMean":
                values.append(b.expand(b.reduceMean(left, axes=[1], keepDimensions=True), [3, 3]))
            else:
                values.append(getattr(b, operation)(left, right))
        return values

    plain: Any = MLGraphBuilder(shared("exact"))
    values = connect(plain, [plain.input(name, each) for name, each in inputs.items()], steps)
    expected = compute(plain.buildSync({"last": values[-1]}), arrays)["last"]

    b: Any = MLGraphBuilder(shared("exact"))
    x, y = (b.input(name, each) for name, each in inputs.items())
    first = connect(b, [x, y], steps[:cut])
    head = b.buildSubgraph({str(place): each for place, each in enumerate(first[2:])}, inputs={"x": x, "y": y}, name="RMSNorm")
    called = b.subgraph(head, {"x": x, "y": y})
    rest = connect(b, [x, y, *called.values()], steps[cut:])
    whole = b.buildSubgraph({"last": rest[-1]}, inputs={"x": x, "y": y}, name="attention")
    given_ = {name: b.input(name, each) for name, each in inputs.items()}
    graph = b.buildSync(b.subgraph(whole, given_))
    assert compute(graph, arrays)["last"].tobytes() == expected.tobytes()
    assert graph.description.calls[0].name == "attention"


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_the_decoder_of_the_sample_step_by_step(numerics: str) -> None:
    """The cache of one step is that of the next one; the last step sees all tokens."""
    shape = (1, 4, 2, 1, 6, 8)
    arrays = gqa_arrays(shape=shape)
    graph = build(shared(numerics), gqa(), arrays, name="GQA")
    keys: list[Array] = []
    values: list[Array] = []
    for step in range(6):
        fresh = random_arrays(step, **{name: list(arrays[name].shape) for name in ("query", "key", "value")})
        arrays |= fresh | {"seqlens_k": np.array([step], np.int32), "total_sequence_length": np.array(step + 1, np.int32)}
        results = compute(graph, arrays)
        arrays |= {"past_key": results["present_key"], "past_value": results["present_value"]}
        angle = {name: arrays[f"{name}_cache"][step] for name in ("cos", "sin")}

        def turn(vector: Array, angle: Mapping[str, Array] = angle) -> Array:
            vector = vector[0, :, 0].astype(np.float64)
            left, right = vector[..., :4], vector[..., 4:]
            return np.concatenate([left * angle["cos"] - right * angle["sin"], right * angle["cos"] + left * angle["sin"]], -1)

        keys.append(np.repeat(turn(fresh["key"]), 2, 0))
        values.append(np.repeat(fresh["value"][0, :, 0].astype(np.float64), 2, 0))
        scores = np.einsum("hd,thd->ht", turn(fresh["query"]), np.array(keys)) * 8**-0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        expected = np.einsum("ht,thd->hd", weights, np.array(values)).reshape(1, 1, 32)
        np.testing.assert_allclose(results["output"], np.asarray(expected), atol=2e-6)


def test_quantized_factors() -> None:
    """Products of integers have kernels, too: an operator is part of one kernel only."""
    integers = np.random.default_rng(0).integers(-100, 100, (3, 1, 32, 32)).astype(np.int8)

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        scale, zero = (
            b.constant({"dataType": each, "shape": [1, 1, 1]}, np.array([number], each))
            for each, number in (("float32", 0.02), ("int8", 3))
        )
        keys, values = (
            b.dequantizeLinear(b.constant({"dataType": "int8", "shape": [1, 32, 32]}, each), scale, zero) for each in integers[:2]
        )
        queries = b.dequantizeLinear(inputs["q"], scale, zero)
        return {"y": b.matmul(b.softmax(b.matmul(queries, keys), 2), values)}

    check(body, {"q": integers[2]}, "attention", tolerance=1e-5)
