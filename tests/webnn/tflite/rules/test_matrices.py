from __future__ import annotations

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import c, f, one
from tests.webnn.tflite.support import check, refusals


@pytest.mark.parametrize("name", FAMILIES["matrices"])
def test_results(name: str) -> None:
    check(name)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (one("FULLY_CONNECTED", [f(2, 5), c(3, 4)], [f()]), "of which the last one divides 10 elements, got [3, 4]"),
        (one("FULLY_CONNECTED", [f(2, 4), c(3, 4)], [f()], "FullyConnectedOptions", WeightsFormat=1), "shuffled weights are not supported"),
        (one("BATCH_MATMUL", [f(4), f(4, 2)], [f()]), "the matrices must have at least 2 dimensions, got [4]"),
    ],
)
def test_refusals(model: bytes, reason: str) -> None:
    assert reason in refusals(model)[0][1]
