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
    "pad": (FLOATS, lambda b, x: b.pad(x, [1, 0, 2], [0, 0, 3], value=0.5)),
    "maxPool2d": (FLOATS[None], lambda b, x: b.maxPool2d(x, windowDimensions=[3, 3], padding=[1, 1, 1, 1])),
    "resample2d": (FLOATS[None], lambda b, x: b.resample2d(x, mode="nearest-neighbor", sizes=[6, 9], axes=[1, 2])),
}


def requantize(b: MLGraphBuilder, x: MLOperand, dataType: Literal["int8", "uint8"], *, pools: bool) -> MLOperand:
    """Quantize, pool if wanted, and take the numbers back with another scale."""

    def constant(dataType: Any, value: float) -> MLOperand:
        return b.constant({"dataType": dataType, "shape": [1] * 4}, np.full((1, 1, 1, 1), value, dataType))

    zero = constant(dataType, 9)
    y = b.quantizeLinear(x, constant("float32", 1 / 64), zero)
    return b.dequantizeLinear(b.maxPool2d(y, windowDimensions=[1, 2]) if pools else y, constant("float32", 0.5), zero)


#: An operation whose kernel is wrong, and its input.
REPLACED: dict[str, tuple[Array, Make]] = {
    "maxPool2d": (FLOATS[None], lambda b, x: requantize(b, x, "int8", pools=True)),
    "quantizeLinear": (FLOATS[None], lambda b, x: requantize(b, x, "int8", pools=False)),
    "dequantizeLinear": (FLOATS[None], lambda b, x: requantize(b, x, "uint8", pools=False)),
    "nhwc": (FLOATS[None] - 9, lambda b, x: b.maxPool2d(x, windowDimensions=[2, 1], padding=[1, 0, 0, 0], layout="nhwc")),
    "averagePool2d": (FLOATS[None], lambda b, x: b.averagePool2d(x, windowDimensions=[3, 3], padding=[1, 1, 1, 1])),
    "resample2d": (FLOATS[None], lambda b, x: b.resample2d(x, mode="nearest-neighbor", sizes=[6, 2])),
    "floor": (np.array([-6, 6, -6.5], "float16"), lambda b, x: b.floor(x)),
    "pow": (np.array([3, 2, 7], "uint8"), lambda b, x: b.pow(x, x)),
    "gatherElements": (np.array([2, -1, 9], "int32"), lambda b, x: b.gatherElements(x, x)),
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


@pytest.mark.parametrize("name", REPLACED)
def test_numbers_are_right_where_a_kernel_is_not(context: MLContext, name: str) -> None:
    value, make = REPLACED[name]

    def compute(context: MLContext) -> Array:
        builder = MLGraphBuilder(context)
        descriptor: Any = {"dataType": value.dtype.name, "shape": value.shape}
        return builder.buildSync({"y": make(builder, builder.input("x", descriptor))}).run(x=value)["y"]

    expected = compute(ML(revision=BROWSERS, reference=True).createContextSync())
    np.testing.assert_allclose(compute(context), expected, rtol=2e-5, atol=1e-6)
