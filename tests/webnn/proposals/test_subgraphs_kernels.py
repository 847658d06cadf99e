"""Kernels for calls of subgraphs, under fast numerics: where they are used, and where not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.support import Array, each_row
from tests.webnn.proposals.subgraph_bodies import (
    Body,
    attention,
    build,
    compute,
    gqa,
    gqa_arrays,
    norm,
    random_arrays,
)
from tests.webnn.proposals.subgraph_kernels import MULTI_HEAD, QKV, ROTATED, SD, SIMPLIFIED, X, check, executed, kernels, shared
from webnn import MLGraphBuilder, MLOperand


def masked(shape: list[int], arrays: Mapping[str, Array]) -> dict[str, Array]:
    mask = np.where(np.random.default_rng(0).random(shape) < 0.3, -np.inf, 0).astype(np.float32)
    mask[..., 0] = 0
    return {**arrays, "mask": mask}


# Where kernels are used


def _scaled(form: str) -> Body:
    """Attention with another form of the scale."""

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        q, k, v = inputs["q"], inputs["k"], inputs["v"]
        half = b.constant("float32", 0.5)
        scores = b.matmul(b.mul(q, half) if form == "queries" else q, b.transpose(k, permutation=[0, 1, 3, 2]))
        if form == "div":
            scores = b.div(scores, b.constant("float32", 2))
        elif form == "left":
            scores = b.mul(b.constant({"dataType": "float32", "shape": [1, 1, 1]}, np.array([0.5], np.float32)), scores)
        if form == "mask first":
            scores = b.add(inputs["mask"], b.mul(half, scores))
        return {"y": b.matmul(b.softmax(scores, 3), v)}

    return body


def _turned_keys(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    """Attention of keys that are stored as columns."""
    return {"y": b.matmul(b.softmax(b.matmul(inputs["q"], inputs["k"]), len(inputs["q"].shape) - 1), inputs["v"])}


def _layout(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    """Attention of [batch, tokens, heads, size], as models have it."""
    q, v = (b.transpose(inputs[name], permutation=[0, 2, 1, 3]) for name in "qv")
    k = b.transpose(inputs["k"], permutation=[0, 2, 3, 1])
    return {"y": b.transpose(b.matmul(b.softmax(b.matmul(q, k), 3), v), permutation=[0, 2, 1, 3])}


def _norm_form(form: str) -> Body:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        x, weight = inputs["x"], inputs["weight"]
        square = b.pow(x, b.constant("float32", 2)) if form == "pow" else b.mul(x, x)
        mean = b.reduceMean(square, axes=[2], keepDimensions=True)
        root = b.sqrt(b.add(b.constant("float32", 1e-5), mean))
        if form == "reciprocal":
            return {"y": b.mul(weight, b.mul(b.reciprocal(root), x))}
        if form == "quotient":
            return {"y": b.mul(b.mul(x, b.div(b.constant("float32", 1), root)), weight)}
        if form == "bias":
            return {"y": b.add(b.mul(b.div(x, root), weight), weight)}
        if form == "spread":
            return {"y": b.mul(b.div(x, root), b.reshape(weight, [1, 1, 32]))}
        return {"y": b.mul(weight, b.div(x, root))}

    return body


USED: list[tuple[str, str, Body, Mapping[str, Array]]] = [
    # the name, the kernel, the body, its inputs
    ("attention", MULTI_HEAD, attention(), QKV),
    ("Scaled Dot-Product Attention", MULTI_HEAD, attention(None), QKV),
    ("SDPA", MULTI_HEAD, attention(-0.3), SD),
    ("SDPA", MULTI_HEAD, attention(), {"q": SD["q"][:1], "k": SD["k"][:1], "v": SD["v"][:1, :, :3].copy()}),
    *[("mha", MULTI_HEAD, attention(masked=True), masked(shape, QKV)) for shape in ([8, 9], [1, 9], [9], [1, 1, 8, 9], [2, 1, 8, 9])],
    *[
        ("mha", MULTI_HEAD, attention(masked=True), masked(shape, QKV))
        for shape in ([3, 8, 9], [2, 3, 8, 9], [2, 3, 1, 9], [8, 1], [2, 1, 1, 1])
    ],
    *[("mha", MULTI_HEAD, attention(masked=True), masked(shape, SD)) for shape in ([12], [16, 12], [5, 16, 12], [5, 1, 12], [1, 16, 12])],
    *[("attention", MULTI_HEAD, _scaled(form), QKV) for form in ("div", "left", "queries")],
    ("attention", MULTI_HEAD, _scaled("mask first"), masked([8, 9], QKV)),
    ("attention", MULTI_HEAD, _turned_keys, {**QKV, "k": np.ascontiguousarray(QKV["k"].swapaxes(2, 3))}),
    ("attention", MULTI_HEAD, _turned_keys, {**SD, "k": np.ascontiguousarray(SD["k"].swapaxes(1, 2))}),
    ("attention", MULTI_HEAD, _layout, {name: np.ascontiguousarray(each.swapaxes(1, 2)) for name, each in QKV.items()}),
    ("GQA", ROTATED, gqa(), gqa_arrays()),
    ("GroupQueryAttention", MULTI_HEAD, gqa(0.08838, rotary=False), gqa_arrays()),
    ("GQA", ROTATED, gqa(), gqa_arrays(shape=(1, 8, 1, 1, 16, 4))),
    ("GQA", ROTATED, gqa(), gqa_arrays(shape=(3, 2, 2, 2, 5, 2))),
    ("RMSNorm", SIMPLIFIED, norm(), X),
    ("RMSNormalization", SIMPLIFIED, norm(weighted=False), X),
    ("rms_norm", SIMPLIFIED, norm(0.0), X),
    ("SimplifiedLayerNormalization", SIMPLIFIED, norm(1.0, first=1), {"x": X["x"], "weight": random_arrays(4, weight=[8, 32])["weight"]}),
    ("RMSNorm", SIMPLIFIED, norm(first=0, weighted=False), X),
    # The weight of another shape is a factor like any other.
    ("RMSNorm", SIMPLIFIED, norm(), {"x": X["x"], "weight": random_arrays(4, weight=[8, 32])["weight"]}),
    *[("RMSNorm", SIMPLIFIED, _norm_form(form), X) for form in ("pow", "reciprocal", "quotient", "bias", "spread", "")],
]


@each_row(("name", "kernel", "body", "arrays"), USED)
def test_kernels(name: str, kernel: str, body: Body, arrays: Mapping[str, Array]) -> None:
    assert check(body, arrays, name) == (kernel, "")


@each_row(
    ("name", "body", "arrays"),
    [("GQA", gqa(), gqa_arrays("float16")), ("RMSNorm", norm(), random_arrays(3, "float16", x=[8, 32], weight=[32]))],
)
def test_float16(name: str, body: Body, arrays: Mapping[str, Array]) -> None:
    kernel, _ = check(body, arrays, name, tolerance=1e-3)
    assert kernel


# Where they are not


def _other_attention(change: str) -> Body:
    """Attention with one thing changed."""

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        q, k, v = inputs["q"], inputs["k"], inputs["v"]
        turned = b.transpose(k, permutation=[0, 1, 3, 2])
        product = b.matmul(q, turned)
        half, mask = b.constant("float32", 0.5), inputs["mask"]
        scores = b.add(b.mul(product, half), mask)
        results: dict[str, MLOperand] = {}
        if change == "another axis":
            weights = b.softmax(scores, 2)
        elif change == "mask before the scale":
            weights = b.softmax(b.mul(b.add(product, mask), half), 3)
        elif change == "mask times":
            weights = b.softmax(b.mul(b.mul(product, half), mask), 3)
        elif change == "scale of each key":
            weights = b.softmax(b.add(b.mul(product, b.constant({"dataType": "float32", "shape": [9]}, np.ones(9, np.float32))), mask), 3)
        elif change == "scale is an input":
            weights = b.softmax(b.add(b.mul(product, b.reduceMean(mask)), mask), 3)
        elif change == "a number by the products":
            weights = b.softmax(b.add(b.div(half, product), mask), 3)
        elif change == "scale of 0":
            weights = b.softmax(b.add(b.mul(product, b.constant("float32", 0)), mask), 3)
        elif change == "infinite scale":
            weights = b.softmax(b.add(b.div(product, b.constant("float32", np.inf)), mask), 3)
        elif change == "weights are squared":
            weights = b.mul(*[b.softmax(scores, 3)] * 2)
        elif change == "two of softmax":
            weights = b.softmax(b.softmax(scores, 3), 3)
        elif change == "scores are an output":
            weights = b.softmax(scores, 3)
            results = {"scores": scores}
        elif change == "products are used twice":
            weights = b.softmax(b.add(scores, product), 3)
        elif change == "weights on the right":
            return {"y": b.matmul(b.transpose(v, permutation=[0, 1, 3, 2]), b.transpose(b.softmax(scores, 3), permutation=[0, 1, 3, 2]))}
        elif change == "weights as both factors":
            square = b.softmax(b.matmul(q, b.transpose(q, permutation=[0, 1, 3, 2])), 3)
            return {"y": b.matmul(square, square)}
        elif change == "no softmax":
            weights = b.sigmoid(scores)
        elif change == "queries for all heads":
            weights = b.softmax(b.add(b.matmul(b.slice(q, [0, 0, 0, 0], [2, 1, 8, 4]), turned), mask), 3)
        else:
            raise AssertionError(change)
        return {"y": b.matmul(weights, v), **results}

    return body


ATTENTION: list[tuple[str, str]] = [
    # what is changed, and the reason
    ("another axis", "softmax must be over the last axis, 3, but is over 2"),
    ("mask before the scale", "softmax must take a matmul, perhaps times or divided by a constant number, perhaps plus a mask"),
    ("mask times", "softmax must take a matmul"),
    ("scale of each key", "softmax must take a matmul"),
    ("scale is an input", "softmax must take a matmul"),
    ("a number by the products", "softmax must take a matmul"),
    ("scale of 0", "softmax must take a matmul"),
    ("infinite scale", "softmax must take a matmul"),
    ("weights are squared", "the result of softmax must be the left factor of a matmul, and used nowhere else"),
    ("two of softmax", "it must have one softmax, but has 2"),
    ("scores are an output", "softmax must take a matmul"),
    ("products are used twice", "softmax must take a matmul"),
    ("weights on the right", "the result of softmax must be the left factor of a matmul"),
    ("weights as both factors", "the result of softmax must be the left factor of a matmul, and used nowhere else"),
    ("no softmax", "it must have one softmax, but has 0"),
    ("queries for all heads", "queries, keys and values must not be broadcast"),
]


@each_row(("change", "reason"), ATTENTION)
def test_bodies_that_are_no_attention(change: str, reason: str) -> None:
    kernel, found = check(_other_attention(change), QKV | random_arrays(5, mask=[2, 3, 8, 9]), "attention", tolerance=1e-5)
    assert (kernel, found[: len(reason)]) == ("", reason)


def _other_norm(change: str) -> Body:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        x, weight = inputs["x"], inputs["weight"]
        epsilon, keep = b.constant("float32", 1e-2), True
        axes = {"another axis": [1], "no axis": []}.get(change, [2])
        square = (
            b.mul(x, b.neg(x))
            if change == "no square"
            else b.pow(x, b.constant("float32", 4))
            if change == "another power"
            else b.pow(x, b.constant({"dataType": "float32", "shape": [1, 1, 1, 1]}, np.full(1, 2, np.float32)))
            if change == "a power of more dimensions"
            else b.mul(x, x)
        )
        reduce = b.reduceSum if change == "sum" else b.reduceMean
        keep = change != "dimensions are dropped"
        mean = reduce(square, axes=axes, keepDimensions=keep)
        if change == "dimensions are dropped":
            mean = b.reshape(mean, [2, 8, 1])
        if change == "epsilon behind the root":
            root = b.add(b.sqrt(mean), epsilon)
        elif change == "epsilon is an input":
            root = b.sqrt(b.add(mean, b.reduceMax(b.abs(weight))))
        elif change == "negative epsilon":
            root = b.sqrt(b.add(mean, b.constant("float32", -1e-6)))
        elif change == "subtracted epsilon":
            root = b.sqrt(b.sub(mean, epsilon))
        elif change == "no epsilon":
            root = b.sqrt(mean)
        elif change == "no root":
            root = b.exp(b.add(mean, epsilon))
        else:
            root = b.sqrt(b.add(mean, epsilon))
        if change == "another numerator":
            return {"y": b.mul(b.div(b.abs(x), root), weight)}
        if change == "upside down":
            return {"y": b.mul(b.div(root, b.add(b.abs(x), epsilon)), weight)}
        if change == "the root is an output":
            return {"y": b.mul(b.div(x, root), weight), "root": root}
        if change == "half a reciprocal":
            return {"y": b.mul(b.mul(x, b.div(b.constant("float32", 0.5), root)), weight)}
        return {"y": b.mul(b.div(x, root), weight)}

    return body


_SHIFT = "behind reduceMean must come an add of a constant number that is not negative, and a sqrt"
_QUOTIENT = "the input of the square must be divided by the root, or multiplied with its reciprocal"
NORMS: list[tuple[str, str]] = [
    # what is changed, and the reason
    ("another axis", "reduceMean must be over the last axes, but is over [1]"),
    ("no axis", "reduceMean must be over the last axes, but is over []"),
    ("no square", "reduceMean must take a square, x * x or pow(x, 2)"),
    ("another power", "reduceMean must take a square, x * x or pow(x, 2)"),
    ("a power of more dimensions", "reduceMean must take a square, x * x or pow(x, 2)"),
    ("sum", "it must have one reduceMean, but has 0"),
    ("dimensions are dropped", "reduceMean must keep dimensions"),
    ("epsilon behind the root", _SHIFT),
    ("epsilon is an input", _SHIFT),
    ("negative epsilon", _SHIFT),
    ("subtracted epsilon", _SHIFT),
    ("no epsilon", _SHIFT),
    ("no root", _SHIFT),
    ("another numerator", _QUOTIENT),
    ("upside down", _QUOTIENT),
    ("the root is an output", _QUOTIENT),
    ("half a reciprocal", _QUOTIENT),
]


@each_row(("change", "reason"), NORMS)
def test_bodies_that_are_no_norm(change: str, reason: str) -> None:
    assert check(_other_norm(change), X, "RMSNorm", tolerance=1e-5) == ("", reason)


@each_row(
    ("name", "reason"),
    [
        ("", "the engine has no kernel for a subgraph without a name"),
        ("tanh", "the engine has no kernel for the name 'tanh'"),
        ("RMSNorm", "it must have one reduceMean, but has 0"),
        ("a" * 1000, f"the engine has no kernel for the name '{'a' * 60}'"),
    ],
)
def test_names(name: str, reason: str) -> None:
    assert check(attention(), QKV, name) == ("", reason)


def test_exact_numerics_use_no_kernel() -> None:
    for name, body, arrays in (("GQA", gqa(), gqa_arrays()), ("RMSNorm", norm(), X)):
        graph = build(shared("exact"), body, arrays, name=name)
        assert kernels(graph) == []
        assert graph.description.calls[0].kernel


def test_calls_in_calls() -> None:
    """The outer call gets the kernel if it has a name that is known; otherwise the inner one does."""
    for outer, expected in (("decoder", ["", MULTI_HEAD]), ("GQA", [MULTI_HEAD] * 2)):
        b: Any = MLGraphBuilder(shared("fast"))
        formal, given_ = (
            {name: b.input(name, {"dataType": "float32", "shape": list(each.shape)}) for name, each in SD.items()} for _ in range(2)
        )
        inner = b.buildSubgraph(attention()(b, formal), inputs=formal, name="SDPA")
        twice = b.relu(b.subgraph(inner, formal)["y"])
        graph = b.buildSync(b.subgraph(b.buildSubgraph({"y": twice}, inputs=formal, name=outer), given_))
        assert [call.kernel for call in graph.description.calls] == expected
        assert kernels(graph) == [MULTI_HEAD]
        plain = build(shared("exact"), attention(), SD, name=None)
        np.testing.assert_allclose(compute(graph, SD)["y"], np.maximum(compute(plain, SD)["y"], 0), atol=1e-6)


def test_nested_calls_that_end_with_the_same_operator() -> None:
    """The kernel of the outer call has more operators: the one of the inner call must not take its place."""
    shapes = {"q": [1, 4, 8, 6], "k": [1, 2, 9, 6], "v": [1, 2, 9, 6]}
    arrays = random_arrays(7, **shapes)

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        repeated = {
            name: b.reshape(b.expand(b.reshape(inputs[name], [1, 2, 1, 9, 6]), [1, 2, 2, 9, 6]), [1, 4, 9, 6]) for name in ("k", "v")
        }
        formal = {name: b.input(name, {"dataType": "float32", "shape": [1, 4, size, 6]}) for name, size in (("q", 8), ("k", 9), ("v", 9))}
        inner = b.buildSubgraph(attention()(b, formal), inputs=formal, name="SDPA")
        return {"y": b.subgraph(inner, {"q": inputs["q"], **repeated})["y"]}

    graph = build(shared("fast"), body, arrays, name="GQA")
    assert [call.kernel for call in graph.description.calls] == [MULTI_HEAD] * 2
    assert kernels(graph) == [MULTI_HEAD]
    assert "Expand" not in executed(graph)
    plain = build(shared("exact"), body, arrays, name=None)
    np.testing.assert_allclose(compute(graph, arrays)["y"], compute(plain, arrays)["y"], atol=1e-6)


def test_two_calls_and_an_output_that_nothing_needs() -> None:
    b: Any = MLGraphBuilder(shared("fast"))
    x, weight = (b.input(name, {"dataType": "float32", "shape": list(each.shape)}) for name, each in X.items())
    outputs = norm()(b, {"x": x, "weight": weight}) | {"other": b.neg(weight)}
    subgraph = b.buildSubgraph(outputs, inputs={"x": x, "weight": weight}, name="RMSNorm")
    a, c = (b.input(name, {"dataType": "float32", "shape": list(each.shape)}) for name, each in (("a", X["x"]), ("c", X["weight"])))
    first = b.subgraph(subgraph, {"x": a, "weight": c})
    second = b.subgraph(subgraph, {"x": first["y"], "weight": first["other"]})
    graph = b.buildSync({"y": second["y"]})
    assert kernels(graph) == [SIMPLIFIED] * 2
    only = MLGraphBuilder(shared("fast"))
    graph = only.buildSync(graph.description.select(["y"]).build(only))
    assert kernels(graph) == [SIMPLIFIED] * 2
