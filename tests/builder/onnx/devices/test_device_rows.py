"""The rows of providers on real devices in software: skipped where a driver or a plug-in is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from tests.support import BROWSERS, Array
from webnn import ML, MLContext, MLGraphBuilder, MLOperand

RNG = np.random.default_rng(3)
FLOATS = RNG.normal(size=(2, 3, 4)).astype(np.float32)
MASK = RNG.integers(0, 3, (2, 3, 4)).astype(np.uint8)

Make = Callable[[MLGraphBuilder, MLOperand], MLOperand]
#: An operation that a row keeps on the device, and its input.
KEPT: dict[str, tuple[Array, Make]] = {
    "sigmoid": (FLOATS, lambda b, x: b.sigmoid(x)),
    "softsign": (FLOATS, lambda b, x: b.softsign(x)),
    "reduceMax": (FLOATS, lambda b, x: b.reduceMax(x, axes=[1])),
    "argMax": (FLOATS, lambda b, x: b.argMax(x, 1)),
    "logicalNot": (MASK, lambda b, x: b.logicalNot(x)),
    "logicalOr": (MASK, lambda b, x: b.logicalOr(x, x)),
    "logicalXor": (MASK, lambda b, x: b.logicalXor(x, x)),
    "layerNormalization": (FLOATS, lambda b, x: b.layerNormalization(x, axes=[2])),
}


@pytest.fixture(scope="module", params=[pytest.param(each, marks=pytest.mark.simulators(each)) for each in ("gpu", "npu")])
def context(request: pytest.FixtureRequest) -> MLContext:
    """Make a context on a simulator."""
    kind: Literal["gpu", "npu"] = request.param
    return ML(revision=BROWSERS, simulators=True, fallback="silent").createContextSync(deviceType=kind)


@pytest.mark.parametrize("name", KEPT)
def test_an_operation_stays_on_the_device(context: MLContext, name: str) -> None:
    value, make = KEPT[name]

    def build(context: MLContext) -> Any:
        builder = MLGraphBuilder(context)
        descriptor: Any = {"dataType": value.dtype.name, "shape": value.shape}
        return builder.buildSync({"y": make(builder, builder.input("x", descriptor))})

    graph = build(context)
    assert graph.devices == [graph.placement.requested], [each.reason for each in graph.placement.strays]
    expected = build(ML(revision=BROWSERS, reference=True).createContextSync()).run(x=value)["y"]
    np.testing.assert_allclose(graph.run(x=value)["y"], expected, rtol=2e-5, atol=1e-6)
