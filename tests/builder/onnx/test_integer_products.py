"""Products of quantized numbers: when the engine's kernels of integers compute them, when not, and their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.property.quantized import Program, nodes_of, run
from tests.support import Array, each_row
from webnn import MLOperand
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.builder.onnx_names import ELEMENT_TYPES
from webnn.context.devices.selection import CPU, CUDA, Device, Selection
from webnn.context.engine.products import factor_type
from webnn.context.engine_backend import EngineBackend

KERNELS = {"ConvInteger", "MatMulIntegerToFloat", "MatMulNBits", "QLinearConv"}
HALF = np.float32(0.5)


def kernels_of(outputs: Mapping[str, MLOperand], *, integers: bool = True) -> list[str]:
    """Return the nodes of a translation that are kernels of integers."""
    return [node for node in nodes_of(translate(collect(outputs), factors=factor_type if integers else None)) if node in KERNELS]


def spread(value: Any, shape: tuple[int, ...], dataType: str) -> Array:
    return np.broadcast_to(np.asarray(value, dataType), shape).copy()


class Network(Program):
    """Builds a product; its methods' options make another one of it."""

    def number(
        self,
        integers: Array,
        *,
        scale: Any = HALF,
        zeroPoint: Any = 3,
        shape: tuple[int, ...] = (),
        constant: bool = False,
        real: str = "float32",
        fixed: bool = True,
        fixedZero: bool = True,
    ) -> MLOperand:
        """Return the numbers of an input, or of a constant. ``fixed``, ``fixedZero``: the scale, the zero point is a constant."""
        shape = shape or (1,) * integers.ndim
        scales, zeros = spread(scale, shape, real), spread(zeroPoint, shape, integers.dtype.name)
        x = self.constant(integers) if constant else self.input(integers)
        factor, zero = (self.constant if fixed else self.input)(scales), (self.constant if fixedZero else self.input)(zeros)
        return self.builder.dequantizeLinear(x, factor, zero)

    def matmul(self, left: Array | None = None, right: Array | None = None, *, a: Any = None, b: Any = None) -> MLOperand:
        """Multiply numbers; ``a`` and ``b`` are options of `number`."""
        left = np.arange(48, dtype=np.uint8).reshape(3, 16) if left is None else left
        right = np.arange(-40, 40, dtype=np.int8).reshape(16, 5) if right is None else right
        return self.builder.matmul(self.number(left, **(a or {})), self.number(right, **{"constant": True, **(b or {})}))

    def gemm(self, *, c: tuple[int, ...] = (), fixed: bool = True, a: Any = None, **options: Any) -> MLOperand:
        """Multiply matrices and add something of a shape; ``a`` are options of `number`."""
        left = np.arange(48, dtype=np.uint8 if a else np.int8).reshape((16, 3) if options.get("aTranspose") else (3, 16))
        right = np.arange(-40, 40, dtype=np.int8).reshape((5, 16) if options.get("bTranspose") else (16, 5))
        if c:
            options["c"] = self.constant(np.arange(np.prod(c), dtype=np.float32).reshape(c))
        return self.builder.gemm(self.number(left, **(a or {})), self.number(right, constant=fixed), options)

    def conv2d(
        self,
        *,
        channels: int = 8,
        groups: int = 1,
        filters: int = 3,
        bias: Any = None,
        x: Any = None,
        filter: Any = None,
        between: Callable[[MLOperand], MLOperand] = lambda y: y,
        **result: Any,
    ) -> MLOperand:
        """Convolve and quantize; ``x``, ``filter`` and the other options are those of `number`."""
        y = self.sums(channels=channels, groups=groups, filters=filters, bias=bias, scale=HALF, x=x, filter=filter)
        return self.requantize(between(y), **{"scale": 99, "zeroPoint": 100, **result})

    def sums(
        self, *, channels: int = 8, groups: int = 1, filters: int = 3, bias: Any = None, scale: Any = 1, x: Any = None, filter: Any = None
    ) -> MLOperand:
        """Convolve; by default integers less their zero points."""
        image = np.arange(channels * 25, dtype=np.uint8).reshape(1, channels, 5, 5)
        inputs = channels // groups
        window = (np.arange(filters * inputs * 9) % 109 - 54).astype(np.int8).reshape(filters, inputs, 3, 3)
        options: dict[str, Any] = {"groups": groups}
        if bias is not None:
            options["bias"] = bias if isinstance(bias, MLOperand) else self.constant(np.asarray(bias))
        numbers = self.number(image, **{"scale": scale, **(x or {})})
        return self.builder.conv2d(numbers, self.number(window, **{"constant": True, "scale": scale, **(filter or {})}), options)

    def requantize(
        self, y: MLOperand, *, scale: Any, zeroPoint: Any, shape: tuple[int, ...] = (), dataType: str = "uint8", fixed: bool = True
    ) -> MLOperand:
        """Quantize numbers."""
        shape = shape or (1,) * len(y.shape)
        scales, zeros = spread(scale, shape, y.dataType), spread(zeroPoint, shape, dataType)
        if not fixed:
            return self.builder.quantizeLinear(y, self.input(scales), self.constant(zeros))
        return self.quantize(y, scales, zeros)


Make = Callable[[Network], MLOperand]
CHANNELS = (3, 1, 1, 1)

#: Products that kernels of integers compute.
FOUND: Mapping[str, Make] = MappingProxyType(
    {
        "a product of matrices": Network.matmul,
        "a product of many matrices and one": lambda n: n.matmul(np.ones((2, 3, 16), np.int8)),
        "a scale for each column": lambda n: n.matmul(b={"scale": [1, 2, 3, 4, 5], "zeroPoint": [1, 2, 3, 4, 5], "shape": (1, 5)}),
        "gemm": Network.gemm,
        "gemm with a vector": lambda n: n.gemm(c=(5,)),
        "gemm, transposed": lambda n: n.gemm(bTranspose=True),
        "a convolution": Network.conv2d,
        "a convolution of int8": lambda n: n.conv2d(dataType="int8", zeroPoint=-100),
        "a scale for each channel": lambda n: n.conv2d(filter={"scale": [[[[1]]], [[[2]]], [[[3]]]], "shape": CHANNELS}),
        "groups": lambda n: n.conv2d(channels=64, groups=2, filters=4),
        "a group for each channel": lambda n: n.conv2d(channels=32, groups=32, filters=32),
        "a bias": lambda n: n.conv2d(bias=np.array([1, -2.5, 0], np.float32)),
        "relu": lambda n: n.conv2d(between=n.builder.relu),
        "clamp": lambda n: n.conv2d(between=lambda y: n.builder.clamp(y, minValue=-200, maxValue=77)),
        "clamp without bounds": lambda n: n.conv2d(between=n.builder.clamp),
        "relu and clamp": lambda n: n.conv2d(between=lambda y: n.builder.clamp(n.builder.relu(y), maxValue=500)),
        "a left zero point that is not known": lambda n: n.matmul(a={"fixedZero": False}),
        "gemm with a vector and a left zero point that is not known": lambda n: n.gemm(c=(5,), a={"fixedZero": False}),
        "sums of a convolution": Network.sums,
        "sums of a convolution with a zero point that is not known": lambda n: n.sums(x={"fixedZero": False, "zeroPoint": 200}),
    }
)

#: Products that they do not compute.
OTHERS: Mapping[str, Make] = MappingProxyType(
    {
        "a product of two inputs": lambda n: n.matmul(b={"constant": False}),
        "a product of two constants": lambda n: n.matmul(a={"constant": True}),
        "int32": lambda n: n.matmul(np.ones((3, 16), np.int32)),
        "float16": lambda n: n.matmul(a={"real": "float16"}, b={"real": "float16"}),
        "a left scale that is not known": lambda n: n.matmul(a={"fixed": False}),
        "a right scale that is not known": lambda n: n.matmul(b={"fixed": False}),
        "a scale for each row": lambda n: n.matmul(a={"scale": [[1], [2], [3]], "shape": (3, 1)}),
        "a scale for each element of a sum": lambda n: n.matmul(b={"shape": (16, 1)}),
        "blocks": lambda n: n.matmul(b={"shape": (2, 5)}),
        "many right matrices": lambda n: n.matmul(np.ones((2, 3, 16), np.uint8), np.ones((2, 16, 5), np.int8)),
        "gemm of two inputs": lambda n: n.gemm(fixed=False),
        "gemm with alpha": lambda n: n.gemm(alpha=2),
        "gemm with beta": lambda n: n.gemm(c=(5,), beta=2),
        "gemm with a matrix": lambda n: n.gemm(c=(3, 5)),
        "gemm with a left factor that is transposed": lambda n: n.gemm(aTranspose=True),
        "few products": lambda n: n.matmul(np.ones((3, 15), np.uint8), np.arange(75, dtype=np.int8).reshape(15, 5)),
        "a convolution of few channels": lambda n: n.conv2d(channels=7),
        "groups of few channels": lambda n: n.conv2d(channels=48, groups=2, filters=4),
        "a group for each of few channels": lambda n: n.conv2d(channels=31, groups=31, filters=31),
        "groups of one channel with two filters": lambda n: n.conv2d(channels=32, groups=32, filters=64),
        "a convolution that is not quantized": lambda n: n.conv2d()._operator.inputs[0],  # type: ignore[union-attr]
        "a convolution of two inputs": lambda n: n.conv2d(filter={"constant": False}),
        "a result whose scale is not known": lambda n: n.conv2d(fixed=False),
        "a result with a scale for each channel": lambda n: n.conv2d(shape=(1, 3, 1, 1)),
        "a result of int32": lambda n: n.conv2d(dataType="int32"),
        "a zero point for each channel": lambda n: n.conv2d(filter={"zeroPoint": [[[[1]]], [[[2]]], [[[3]]]], "shape": CHANNELS}),
        "a scale for each input channel": lambda n: n.conv2d(filters=8, filter={"shape": (1, 8, 1, 1)}),
        "a ratio that is too large": lambda n: n.conv2d(x={"scale": 2.0**47}, filter={"scale": 2.0**10}, scale=2.0**-47),
        "a ratio that is too small": lambda n: n.conv2d(x={"scale": 2.0**-47}, filter={"scale": 2.0**-47}, scale=2.0**47),
        "a bias between two steps": lambda n: n.conv2d(bias=np.array([1, 2.6, 3], np.float32)),
        "a bias beyond int32": lambda n: n.conv2d(bias=np.array([1, 2.0**31, 3], np.float32)),
        "a bias that overflows with the sums": lambda n: n.conv2d(bias=np.array([1, 2.0**29 - 32, 3], np.float32)),
        "a bias that is NaN": lambda n: n.conv2d(bias=np.array([1, np.nan, 3], np.float32)),
        "a bias that is infinite": lambda n: n.conv2d(bias=np.array([1, -np.inf, 3], np.float32)),
        "a bias that is an input": lambda n: n.conv2d(bias=n.input(np.zeros(3, np.float32))),
        "a bound that is NaN": lambda n: n.conv2d(between=lambda y: n.builder.clamp(y, minValue=np.nan)),
        "a right zero point that is not known": lambda n: n.matmul(b={"fixedZero": False}),
        "a left zero point of int8 that is not known": lambda n: n.matmul(np.ones((3, 16), np.int8), a={"fixedZero": False}),
        "left zero points that are not known": lambda n: n.matmul(a={"fixedZero": False, "shape": (3, 1)}),
        "a quantized convolution whose zero point is not known": lambda n: n.conv2d(x={"fixedZero": False}),
        "sums of a convolution with groups": lambda n: n.sums(channels=64, groups=2, filters=4),
        "sums of a convolution with groups, and a zero point that is not known": lambda n: n.sums(
            channels=32, groups=32, filters=32, x={"fixedZero": False}, filter={"zeroPoint": 5}
        ),
        "sums of a convolution with a bias": lambda n: n.sums(bias=np.array([1, 2, 3], np.float32)),
        "sums of a convolution with a zero point for each channel": lambda n: n.sums(
            filter={"zeroPoint": [[[[1]]], [[[2]]], [[[3]]]], "shape": CHANNELS}
        ),
        "a convolution of numbers that are not whole": lambda n: n.sums(x={"scale": HALF}),
        "a convolution with a filter that is not whole": lambda n: n.sums(filter={"scale": 2}),
        "another operation": lambda n: n.conv2d(between=n.builder.abs),
    }
)


ODD_SCALES = {"0": 0.0, "negative": -0.5, "NaN": np.nan, "infinite": np.inf, "subnormal": 1e-40, "tiny": 2.0**-49, "huge": 2.0**49}
#: Operations that take a scale.
SCALED: Mapping[str, Callable[[Network, float], MLOperand]] = MappingProxyType(
    {
        "the left factor": lambda n, scale: n.matmul(a={"scale": scale}),
        "the right factor": lambda n, scale: n.matmul(b={"scale": scale}),
        "one column": lambda n, scale: n.matmul(b={"scale": [1, 2, 3, 4, scale], "shape": (1, 5)}),
        "the filter": lambda n, scale: n.conv2d(filter={"scale": scale}),
        "the result": lambda n, scale: n.conv2d(scale=scale),
    }
)


def check(network: Network, output: MLOperand) -> None:
    """Compare a result with that of other kernels: within one step, or 8 roundings of the largest number."""
    actual, plain = (network.compute(output, integers=integers).astype(np.float64) for integers in (True, False))
    size = 1.0 if "int" in output.dataType else 2.0**-21 * max(1.0, float(np.max(np.abs(plain))))
    np.testing.assert_allclose(actual, plain, rtol=0, atol=size)
    assert len(np.unique(plain)) > 1


@pytest.mark.parametrize("what", FOUND)
def test_kernels_of_integers_compute(what: str) -> None:
    network = Network()
    output = FOUND[what](network)
    assert len(kernels_of({"y": output})) == 1
    assert kernels_of({"y": output}, integers=False) == []
    check(network, output)


@pytest.mark.parametrize("what", OTHERS)
def test_kernels_of_integers_do_not_compute(what: str) -> None:
    network = Network()
    output = OTHERS[what](network)
    assert kernels_of({"y": output}) == []
    actual, plain = (network.compute(output, integers=integers) for integers in (True, False))
    np.testing.assert_array_equal(actual, plain, strict=True)


@pytest.mark.parametrize("scale", ODD_SCALES)
@pytest.mark.parametrize("what", SCALED)
def test_odd_scales(what: str, scale: str) -> None:
    network = Network()
    output = SCALED[what](network, ODD_SCALES[scale])
    assert kernels_of({"y": output}) == []
    if what != "the result" or scale not in ("0", "NaN", "infinite"):
        actual, plain = (network.compute(output, integers=integers) for integers in (True, False))
        np.testing.assert_array_equal(actual, plain, strict=True)


@each_row("left", ["uint8", "int8"])
@each_row("right", ["uint8", "int8"])
def test_sums_of_the_largest_products_are_exact(left: str, right: str) -> None:
    # Pairs of such products overflow in 16 bits. The last number of products is the largest whose sum is below 2^31.
    for count in (16, 17, 64, 1000, 33_025):
        low, high = (np.iinfo(left).min, np.iinfo(right).min), (np.iinfo(left).max, np.iinfo(right).max)
        network = Network()
        signs = np.arange(6) % 2
        rows = np.where(np.arange(3)[:, None] % 2, low[0], high[0]) + np.zeros((3, count))
        columns = np.where(signs[None, :], low[1], high[1]) + np.zeros((count, 6))
        for zeros in ((low[0], low[1]), (high[0], high[1]), (0, 0), (low[0], high[1])):
            a = network.number(rows.astype(left), scale=1, zeroPoint=zeros[0])
            b = network.number(columns.astype(right), scale=1, zeroPoint=zeros[1], constant=True)
            output = network.builder.matmul(a, b)
            assert kernels_of({"y": output}) == ["MatMulIntegerToFloat"]
            exact = (rows - zeros[0]) @ (columns - zeros[1])
            np.testing.assert_array_equal(network.compute(output, integers=True), exact.astype(np.float32), strict=True)


@pytest.mark.parametrize("what", FOUND)
def test_factors_of_uint8_give_the_same_bits(what: str) -> None:
    # A processor without VNNI takes these.
    network = Network()
    output = FOUND[what](network)
    model = translate(collect({"y": output}), factors=lambda: "uint8")
    [node] = [node for node in model.proto.graph.node if node.op_type in KERNELS]
    types = {tensor.name: tensor.data_type for tensor in model.proto.graph.initializer}
    assert types[node.input[3 if node.op_type == "QLinearConv" else 1]] == ELEMENT_TYPES["uint8"]
    actual = run(model, network.inputs)["y"]
    np.testing.assert_array_equal(actual, network.compute(output, integers=True), strict=True)


class Saturating:
    """An engine whose products of uint8 and int8 overflow."""

    SessionOptions = onnxruntime.SessionOptions

    def __init__(self, changed: int) -> None:
        self.changed = changed

    def InferenceSession(self, *arguments: Any, **options: Any) -> Saturating:
        self.session = onnxruntime.InferenceSession(*arguments, **options)
        return self

    def run(self, names: list[str], feeds: dict[str, Array]) -> list[Array]:
        results = self.session.run(names, feeds)
        if self.changed < len(results):
            results[self.changed] = results[self.changed] // 2
        return list(results)


@each_row("changed", [0, 1, 2, 3])
def test_a_kernel_that_overflows_is_found(changed: int) -> None:
    # Three kernels are tried: for one row, for several ones, for a convolution.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("webnn.context.engine.products.runtime.load", lambda: Saturating(changed))
        found = factor_type.__wrapped__()
    assert found == ("uint8" if changed < 3 else factor_type())


def test_sums_that_might_overflow() -> None:
    network = Network()
    output = network.matmul(np.full((1, 33_026), 255, np.uint8), np.full((33_026, 1), 127, np.int8), b={"scale": 1})
    assert kernels_of({"y": output}) == []
    filters = network.constant(np.full((1, 367, 9, 10), 127, np.int8))
    filter = network.dequantize(filters, np.full((1, 1, 1, 1), HALF), np.zeros((1, 1, 1, 1), np.int8))
    x = network.number(np.full((1, 367, 9, 10), 255, np.uint8))
    output = network.requantize(network.builder.conv2d(x, filter), scale=1e7, zeroPoint=0)
    assert kernels_of({"y": output}) == []
    assert network.compute(output, integers=True).item() == round(252 * 127 * 367 * 90 / 4e7)


def test_padding_is_zero_whatever_the_zero_point_is() -> None:
    network = Network()
    for dataType, zeroPoint in (("uint8", 0), ("uint8", 255), ("uint8", 77), ("int8", -128), ("int8", 127)):
        x = network.number(np.full((1, 8, 3, 3), zeroPoint, dataType), zeroPoint=zeroPoint)
        y = network.builder.conv2d(x, network.number(np.full((1, 8, 3, 3), 127, np.int8), constant=True), padding=[1, 1, 1, 1])
        output = network.requantize(y, scale=1, zeroPoint=9)
        assert kernels_of({"y": output}) == ["QLinearConv"]
        assert network.compute(output, integers=True).tolist() == [[[[9] * 3] * 3]]


@each_row("dataType", ["uint8", "int8"])
@each_row("fixed", [True, False])
def test_sums_of_a_convolution_are_exact(dataType: str, fixed: bool) -> None:
    # float32 would round them: 33,021 products of 255 and 127 are more than 2^24. The padding is the number 0.
    network = Network()
    info = np.iinfo(dataType)
    x = network.number(np.full((1, 3669, 3, 3), info.max, dataType), scale=1, zeroPoint=info.min, fixedZero=fixed)
    window = np.full((1, 3669, 3, 3), 127, np.int8)
    window[0, 0, 0, 0] = 126
    filter = network.number(window, scale=1, zeroPoint=0, constant=True)
    output = network.builder.conv2d(x, filter, padding=[1, 1, 0, 0])
    kernels = [] if dataType == "int8" and not fixed else ["ConvInteger"]
    assert kernels_of({"y": output}) == kernels
    whole = [255 * (127 * 3669 * 3 * rows - less) for rows, less in ((2, 0), (3, 1), (2, 1))]
    if kernels:
        np.testing.assert_array_equal(network.compute(output, integers=True).ravel(), np.array(whole, np.float32), strict=True)


def test_bounds_that_exclude_each_other() -> None:
    # The last one wins: 100 is the zero point, and a step is 99.
    network = Network()
    builder = network.builder
    for between, expected in (
        (lambda y: builder.relu(builder.clamp(y, maxValue=-200)), 100),
        (lambda y: builder.clamp(builder.relu(y), maxValue=-200), 98),
        (lambda y: builder.clamp(builder.clamp(y, minValue=500), maxValue=300), 103),
        (lambda y: builder.clamp(builder.clamp(y, maxValue=300), minValue=500), 105),
    ):
        output = network.conv2d(between=between)
        assert kernels_of({"y": output}) == ["QLinearConv"]
        for integers in (True, False):
            assert np.unique(network.compute(output, integers=integers)).tolist() == [expected]


# Other outputs, other uses


@pytest.mark.parametrize("what", FOUND)
def test_a_result_does_not_depend_on_the_outputs(what: str) -> None:
    network = Network()
    output = FOUND[what](network)
    alone = network.compute(output, integers=True)
    operators = collect({"y": output}).operators
    values = {str(each.index): MLOperand._create(network.builder, each.outputs[0], operator=each) for each in operators}
    results = network.compute_all(values, integers=True)
    np.testing.assert_array_equal(results[str(operators[-1].index)], alone, strict=True)
    # The values before it are what they are.
    plain = network.compute_all(values, integers=False)
    for operator in operators[:-1]:
        np.testing.assert_array_equal(results[str(operator.index)], plain[str(operator.index)], strict=True)


def test_int8_between_two_convolutions_stays_uint8() -> None:
    network = Network()
    first = network.conv2d(dataType="int8", zeroPoint=-100, filters=8)
    numbers = network.dequantize(first, np.full((1, 1, 1, 1), HALF), np.full((1, 1, 1, 1), 5, np.int8))
    window = (np.arange(144) % 109 - 54).astype(np.int8).reshape(2, 8, 3, 3)
    y = network.builder.conv2d(numbers, network.number(window, constant=True))
    second = network.requantize(y, scale=20, zeroPoint=100)
    assert nodes_of(translate(collect({"y": second}), factors=factor_type)) == ["QLinearConv", "QLinearConv"]
    both = translate(collect({"y": second, "first": first}), factors=factor_type)
    assert sorted(nodes_of(both)) == ["Add", "Cast", "QLinearConv", "QLinearConv"]
    for output in (first, second):
        check(network, output)


# Devices


def model_for(monkeypatch: pytest.MonkeyPatch, *providers: str) -> OnnxModel:
    """Return the model that is compiled for providers."""
    models: list[OnnxModel] = []
    monkeypatch.setattr("webnn.context.engine_backend.CompiledGraph", lambda model, *_, **__: models.append(model))
    devices = tuple(Device(provider=name, type="cpu" if name == CPU else "gpu") for name in providers)
    selection = Selection(requested="cpu", device="cpu", devices=devices, providers=tuple((name, {}) for name in providers))
    EngineBackend("exact").compile(collect({"y": Network().matmul()}), selection)
    return models[0]


def test_other_providers_get_no_kernels_of_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nodes_of(model_for(monkeypatch, CPU)) == ["MatMulIntegerToFloat"]
    assert nodes_of(model_for(monkeypatch, CUDA, CPU)) == ["DequantizeLinear", "DequantizeLinear", "MatMul"]
