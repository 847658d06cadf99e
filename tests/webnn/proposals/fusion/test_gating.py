"""Gated perceptrons under fast numerics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.support import each_row
from tests.webnn.proposals.subgraph_bodies import Body, build, compute, random_arrays
from tests.webnn.proposals.subgraph_kernels import SILU, check, shared
from webnn import MLOperand

ARRAYS = random_arrays(2, x=[1, 3, 8], gate=[8, 12], up=[8, 12], down=[12, 8])


def _gated(change: str = "") -> Body:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        gate, up = (b.matmul(inputs["x"], inputs[name]) for name in ("gate", "up"))
        opened = b.sigmoid(gate)
        silu = b.mul(opened, up if change == "another factor" else gate) if change != "a sum" else b.add(opened, gate)
        y = b.matmul(b.mul(silu, up), inputs["down"])
        more = {"opened": opened} if change == "sigmoid is an output" else {"relu": b.relu(opened)} if change == "used twice" else {}
        return {"y": y, **more}

    return body


@each_row("name", ["GatedMLP", "SwiGLU", "MLP", "gated-mlp", "SiLU"])
def test_the_activation_is_one_node(name: str) -> None:
    assert check(_gated(), ARRAYS, name) == (SILU, "")


def test_any_number() -> None:
    """The kernel is the engine's sigmoid times its input, which may be rounded once less."""

    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        return {"y": b.mul(inputs["x"], b.sigmoid(inputs["x"]))}

    numbers = np.concatenate([np.linspace(-50, 50, 4001), [0, -0.0, 1e30, -1e30, 3e-39]]).astype(np.float32)
    one, other = (compute(build(shared("fast"), body, {"x": numbers}, name=name), {"x": numbers})["y"] for name in ("SiLU", "other"))
    np.testing.assert_allclose(one, other, rtol=2e-7, atol=1e-37)


REASON = "the result of sigmoid must be multiplied with its input, and used nowhere else"


@each_row("change", ["another factor", "a sum", "sigmoid is an output", "used twice"])
def test_bodies_that_are_not_gated(change: str) -> None:
    assert check(_gated(change), ARRAYS, "GatedMLP") == ("", REASON)


def test_another_activation() -> None:
    def body(b: Any, inputs: Mapping[str, MLOperand]) -> dict[str, MLOperand]:
        return {"y": b.matmul(b.relu(b.matmul(inputs["x"], inputs["up"])), inputs["down"])}

    assert check(body, ARRAYS, "MLP") == ("", "it must have one sigmoid, but has 0")
