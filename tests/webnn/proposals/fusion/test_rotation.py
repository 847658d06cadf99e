"""Rotary embeddings as one node, under fast numerics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support import Array, each_row
from tests.webnn.proposals.subgraph_bodies import Body, random_arrays, rotate_pairs
from tests.webnn.proposals.subgraph_kernels import ROTARY, check
from webnn import MLOperand

#: [batch, heads, rows, size].
X = [2, 3, 5, 8]


def _arrays(table: list[int]) -> dict[str, Array]:
    return random_arrays(3, x=X, cosines=table, sines=table)


def _halves(change: str = "") -> Body:
    """Turn pairs of features in both halves, with one thing changed."""

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        x, cosines, sines = inputs["x"], inputs["cosines"], inputs["sines"]
        if change == "rows beside each other":
            x = b.transpose(b.reshape(b.transpose(x, permutation=[0, 2, 1, 3]), [2, 5, 3, 8]), permutation=[0, 2, 1, 3])
        left, right = b.split(x, 2, axis=3)
        if change == "swapped":
            left, right = right, left
        one = b.sub(b.mul(left, cosines), b.mul(right, sines))
        if change == "the sum first":
            one, other = b.add(b.mul(left, cosines), b.mul(right, sines)), b.sub(b.mul(right, cosines), b.mul(left, sines))
        elif change == "other sines":
            other = b.add(b.mul(right, cosines), b.mul(left, b.neg(sines)))
        elif change == "subtracted from the other":
            one, other = b.sub(b.mul(right, sines), b.mul(left, cosines)), b.add(b.mul(right, cosines), b.mul(left, sines))
        else:
            other = b.add(b.mul(right, cosines), b.mul(sines, left))
        y = b.concat([other, one] if change == "joined in another order" else [one, other], 3)
        more = {"left": b.neg(left)} if change == "a half is used elsewhere" else {"one": one} if change == "a part is an output" else {}
        return {"y": y, **more}

    return body


def _pairs(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    return {"y": rotate_pairs(b, inputs["x"], inputs["cosines"], inputs["sines"])}


def _part(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
    """Turn the first features only."""
    turned, rest = b.split(inputs["x"], [6, 2], axis=3)
    y = _halves()(b, {**inputs, "x": turned})["y"]
    return {"y": b.concat([y, rest], 3)}


USED: list[tuple[Body, list[int]]] = [
    # the body, and the shape of the cosines
    *[(body, table) for body in (_halves(), _pairs) for table in ([1, 1, 5, 4], [5, 4], [1, 5, 4], [2, 1, 5, 4])],
    (_halves("rows beside each other"), [5, 4]),
    (_halves("rows beside each other"), [2, 1, 5, 4]),
]


@each_row(("body", "table"), USED)
def test_rotary_embeddings(body: Body, table: list[int]) -> None:
    assert check(body, _arrays(table), "RotaryEmbedding") == (ROTARY, "")


@pytest.mark.parametrize("name", ["RoPE", "rotary"])
def test_the_first_features_alone(name: str) -> None:
    # Its split has two parts that differ, and a part of it another one of two halves.
    arrays = random_arrays(3, x=X, cosines=[5, 3], sines=[5, 3])
    assert check(_part, arrays, name) == (ROTARY, "")


REASON = "it must join x * cos - y * sin and y * cos + x * sin"
OTHERS: list[tuple[str, list[int]]] = [
    # what is changed, and the shape of the cosines
    ("the sum first", [5, 4]),
    ("other sines", [5, 4]),
    ("subtracted from the other", [5, 4]),
    ("joined in another order", [5, 4]),
    ("a half is used elsewhere", [5, 4]),
    ("a part is an output", [5, 4]),
    ("swapped", [5, 4]),
    # Rows that do not broadcast as the kernel's.
    ("", [5, 1]),
    ("", [1, 4]),
    ("", [3, 5, 4]),
    ("", [2, 3, 5, 4]),
]


@each_row(("change", "table"), OTHERS)
def test_bodies_that_are_not_rotary_embeddings(change: str, table: list[int]) -> None:
    kernel, reason = check(_halves(change), _arrays(table), "RotaryEmbedding")
    assert (kernel, reason[: len(REASON)]) == ("", REASON)


def test_float16() -> None:
    """Its operators round in float16, each on its own."""
    arrays = random_arrays(3, "float16", x=X, cosines=[5, 4], sines=[5, 4])
    assert check(_halves(), arrays, "RotaryEmbedding", tolerance=2e-3)[0] == ""
