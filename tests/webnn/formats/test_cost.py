"""Multiply-adds by the definition, computed by hand; parameters."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import webnn
from tests.webnn.formats.networks import builder, encoder, weights
from webnn import MLGraphBuilder, MLOperand
from webnn.formats.cost import multiply_adds, parameters
from webnn.formats.families import FAMILIES, OTHER, family
from webnn.validation.drafts import DRAFTS, find_revision


def given(b: MLGraphBuilder, *shape: int) -> MLOperand:
    return b.input("x", dataType="float32", shape=shape)


CASES: dict[str, tuple[Callable[[MLGraphBuilder], MLOperand | list[MLOperand]], int]] = {
    # 1 * 5 * 8 * 8 results, of 3 * 3 * 3 each
    "conv2d": (lambda b: b.conv2d(given(b, 1, 3, 10, 10), weights(b, 5, 3, 3, 3)), 320 * 27),
    "padding counts": (lambda b: b.conv2d(given(b, 1, 3, 8, 8), weights(b, 5, 3, 3, 3), padding=[1, 1, 1, 1]), 320 * 27),
    "groups": (lambda b: b.conv2d(given(b, 1, 4, 8, 8), weights(b, 6, 2, 1, 1), groups=2), 6 * 64 * 2),
    "nhwc": (
        lambda b: b.conv2d(given(b, 1, 10, 10, 3), weights(b, 3, 3, 3, 5), inputLayout="nhwc", filterLayout="hwio"),
        320 * 27,
    ),
    "depthwise": (
        lambda b: b.conv2d(given(b, 1, 4, 4, 8), weights(b, 1, 3, 3, 8), inputLayout="nhwc", filterLayout="ihwo", groups=8),
        2 * 2 * 8 * 9,
    ),
    # each of 1 * 3 * 4 * 4 elements meets 5 * 2 * 2 weights
    "convTranspose2d": (lambda b: b.convTranspose2d(given(b, 1, 3, 4, 4), weights(b, 3, 5, 2, 2)), 48 * 20),
    "ohwi": (lambda b: b.convTranspose2d(given(b, 1, 3, 4, 4), weights(b, 5, 2, 2, 3), filterLayout="ohwi"), 48 * 20),
    "gemm": (lambda b: b.gemm(given(b, 3, 4), weights(b, 4, 5)), 3 * 4 * 5),
    "gemm, transposed": (lambda b: b.gemm(given(b, 4, 3), weights(b, 5, 4), aTranspose=True, bTranspose=True), 3 * 4 * 5),
    "matmul, broadcast": (lambda b: b.matmul(given(b, 7, 1, 3, 4), weights(b, 6, 4, 5)), 7 * 6 * 3 * 4 * 5),
    # 2 steps, both directions, a batch of 3: 3 gates of 5 by 4 + 5
    "gru": (
        lambda b: b.gru(given(b, 2, 3, 4), weights(b, 2, 15, 4), weights(b, 2, 15, 5), 2, 5, direction="both"),
        2 * 2 * 3 * 3 * 5 * (4 + 5),
    ),
    "lstm": (lambda b: b.lstm(given(b, 2, 3, 4), weights(b, 1, 20, 4), weights(b, 1, 20, 5), 2, 5), 2 * 3 * 4 * 5 * (4 + 5)),
    "gruCell": (lambda b: b.gruCell(given(b, 3, 4), weights(b, 15, 4), weights(b, 15, 5), weights(b, 3, 5), 5), 3 * 3 * 5 * 9),
    "lstmCell": (
        lambda b: b.lstmCell(given(b, 3, 4), weights(b, 20, 4), weights(b, 20, 5), weights(b, 3, 5), weights(b, 3, 5), 5),
        3 * 4 * 5 * 9,
    ),
    "add": (lambda b: b.add(given(b, 3, 4), weights(b, 3, 4)), 0),
    "averagePool2d": (lambda b: b.averagePool2d(given(b, 1, 3, 4, 4)), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_multiply_adds(name: str) -> None:
    make, expected = CASES[name]
    made = make(builder())
    description = webnn.describe({"y": made[0] if isinstance(made, list) else made})
    [operator] = description.operators
    assert multiply_adds(operator, description.descriptors()) == expected


def test_parameters() -> None:
    assert parameters(encoder(1)) == [8, 64, 64, 0, 0, 0, 0, 32, 0, 0, 0]


def test_a_shared_constant_counts_once() -> None:
    b = builder()
    shared = weights(b, 4)
    x = b.add(b.mul(given(b, 4), shared), shared)
    assert parameters(webnn.describe({"y": x})) == [4, 0]


def test_every_operation_has_one_family() -> None:
    listed = [operation for operations in FAMILIES.values() for operation in operations]
    assert len(listed) == len(set(listed))
    assert set(listed) == {name for draft in DRAFTS for name in find_revision(draft, imports=False).operations}
    assert family("gelu") == "activation"
    assert family("none of them") == OTHER
