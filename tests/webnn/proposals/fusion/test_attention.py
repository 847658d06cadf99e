"""Attention that joins keys and values with those of earlier steps, under fast numerics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.support import Array, each_row
from tests.webnn.proposals.subgraph_bodies import build, compute, grown, grown_arrays
from tests.webnn.proposals.subgraph_kernels import MULTI_HEAD, ROTATED, check, executed, shared
from webnn import MLGraphBuilder, MLOperand
from webnn.reference import compute as compute_reference

SHAPES = [(4, 4, 1, 5, 8), (4, 4, 3, 5, 8), (4, 2, 1, 5, 8), (4, 2, 3, 5, 8), (6, 1, 2, 1, 4), (1, 1, 1, 1, 2)]


@pytest.mark.parametrize("masked", [False, True])
@each_row(("shape",), [(shape,) for shape in SHAPES])
def test_the_kernel_joins_the_cache(shape: tuple[int, ...], masked: bool) -> None:
    arrays = grown_arrays(shape, masked=masked)
    assert check(grown(shape[0], masked=masked), arrays, "GQA") == (MULTI_HEAD, "")
    graph = build(shared("fast"), grown(shape[0], masked=masked), arrays, name="GQA")
    assert "Concat" not in executed(graph)
    # The cache is only moved.
    heads, rows, size = shape[1], shape[2], shape[4]
    new = arrays["k"].reshape(1, rows, heads, size).swapaxes(1, 2)
    assert compute(graph, arrays)["present_k"].tobytes() == np.concatenate([arrays["past_k"], new], 2).tobytes()


def test_rotary_embeddings_come_first() -> None:
    arrays = grown_arrays((4, 2, 3, 5, 8), rotary=True)
    assert check(grown(rotary=True), arrays, "GroupQueryAttention") == (ROTATED, "")


def test_what_comes_behind_the_kernel_may_take_the_cache() -> None:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        made = grown()(b, inputs)
        return made | {"extra": b.neg(made["present_k"])}

    arrays = grown_arrays()
    check(body, arrays, "GQA")
    assert "Concat" not in executed(build(shared("fast"), body, arrays, name="GQA"))


def test_what_comes_before_the_kernel_needs_the_cache() -> None:
    """Then it is joined as usual, and the kernel takes the whole."""
    body, arrays = grown(extra=lambda b, keys: b.neg(keys)), grown_arrays()
    assert check(body, arrays, "GQA") == (MULTI_HEAD, "")
    assert executed(build(shared("fast"), body, arrays, name="GQA")).count("Concat") == 2


def _joined(change: str) -> Any:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        past, k, v = (inputs[name] for name in ("past", "k", "v"))
        keys = b.concat([past, k, k] if change == "three parts" else [past, k], 1 if change == "heads" else 2)
        values = (
            keys
            if change == "the keys"
            else b.concat([v, past, v] if change == "three parts" else [past, v], 1 if change == "heads" else 2)
        )
        if change == "other lengths":
            values = b.concat([v, past], 2)
        products = b.matmul(inputs["q"], b.transpose(keys, permutation=[0, 1, 3, 2]))
        return {"y": b.matmul(b.softmax(products, 3), values)}

    return body


@each_row(("change",), [("three parts",), ("heads",), ("the keys",), ("other lengths",)])
def test_caches_that_the_kernel_does_not_join(change: str) -> None:
    rng = np.random.default_rng(0)
    heads = 4 if change == "heads" else 2
    shapes = {"q": [1, heads, 2, 4], "past": [1, 2, 3, 4], "k": [1, 2, 3 if change == "heads" else 1, 4]}
    arrays: dict[str, Array] = {name: rng.standard_normal(shape, np.float32) for name, shape in (shapes | {"v": shapes["k"]}).items()}
    assert check(_joined(change), arrays, "attention") == (MULTI_HEAD, "")
    assert "Concat" in executed(build(shared("fast"), _joined(change), arrays, name="attention"))


def test_two_calls_with_one_cache() -> None:
    """The first one joins it; the second one takes the whole."""
    b: Any = MLGraphBuilder(shared("fast"))
    arrays = grown_arrays((2, 2, 1, 3, 4))
    formal, given = (
        {name: b.input(name, {"dataType": "float32", "shape": list(each.shape)}) for name, each in arrays.items()} for _ in "ab"
    )
    first = b.subgraph(b.buildSubgraph(grown(2)(b, formal), name="MHA", inputs=formal), given)
    kinds = {"q": [1, 2, 1, 4], "k": [1, 2, 4, 4], "v": [1, 2, 4, 4]}
    inner = {name: b.input(name, {"dataType": "float32", "shape": shape}) for name, shape in kinds.items()}
    products = b.matmul(inner["q"], b.transpose(inner["k"], permutation=[0, 1, 3, 2]))
    again = b.buildSubgraph({"y": b.matmul(b.softmax(products, 3), inner["v"])}, name="MHA", inputs=inner)
    second = b.subgraph(again, {"q": b.reshape(given["q"], [1, 2, 1, 4]), "k": first["present_k"], "v": first["present_v"]})
    graph = b.buildSync({"first": first["y"], "second": second["y"]})
    assert [call.kernel for call in graph.description.calls] == [MULTI_HEAD] * 2
    assert executed(graph).count(MULTI_HEAD) == 2
    results, expected = compute(graph, arrays), compute_reference(graph.description, arrays, exact=True)
    for name in ("first", "second"):
        np.testing.assert_allclose(results[name], expected[name], rtol=0, atol=1e-6)
