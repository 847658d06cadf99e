from __future__ import annotations

from typing import Any

import pytest

from tests.webnn.tflite.cases import FAMILIES
from tests.webnn.tflite.makers import c, f, one
from tests.webnn.tflite.models import T
from tests.webnn.tflite.support import check, refusals


@pytest.mark.parametrize("name", FAMILIES["recurrent"])
def test_results(name: str) -> None:
    check(name)


WEIGHTS = [c(2, 3), *[c(2, 3)] * 3, *[c(2, 2)] * 4]
STATES = [f(1, 2, variable=True, name=name) for name in ("h", "cell")]


@pytest.mark.parametrize(
    ("inputs", "fields", "reason"),
    [
        ([None, *WEIGHTS[1:], None, None, None, None, *[c(2)] * 3, None, None, *STATES], {}, "couples its input and forget gates"),
        ([*WEIGHTS, None, None, None, *[c(2)] * 4, c(2, 2), None, *STATES], {}, "projections are not supported"),
        ([*WEIGHTS, None, None, None, *[c(2)] * 4, None, None, *STATES], {"CellClip": 3.0}, "CellClip and ProjClip must be 0"),
        ([*WEIGHTS, None, None, None, *[c(2)] * 4, None, None, *STATES, c(2)], {}, "layer normalization inside of a network"),
        ([*WEIGHTS, None, None, None, *[c(2)] * 4, None, None, f(variable=True), STATES[1]], {}, "the states must have 2 dimensions"),
    ],
)
def test_refusals(inputs: list[T | None], fields: dict[str, Any], reason: str) -> None:
    options = {"FusedActivationFunction": 4, **fields}
    model = one("UNIDIRECTIONAL_SEQUENCE_LSTM", [f(1, 4, 3), *inputs], [f()], "UnidirectionalSequenceLSTMOptions", **options)
    assert reason in refusals(model)[0][1]


def test_weights_of_svdf_without_dimensions() -> None:
    model = one("SVDF", [f(), c(2, 3), c(2, 3), None, f(1, 6, variable=True)], [f()], "SVDFOptions", Rank=1)
    assert "must have 2 dimensions, got [] and [2, 3]" in refusals(model)[0][1]


def test_the_basic_kernel_is_refused() -> None:
    model = one("LSTM", [f(1, 3), f(1, 2), c(8, 5), c(8), f(1, 2)], [f()], "LSTMOptions", KernelType=1)
    assert refusals(model) == [("LSTM", "the basic kernel is not supported")]
