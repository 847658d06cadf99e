"""Random products of quantized numbers, as programs write them, and how near their results are to those of real numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from tests.support import BROWSERS, Array, shared_context
from webnn import MLGraphBuilder, MLOperand
from webnn.builder.describe import describe_graph
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.context.engine.products import factor_type
from webnn.context.engine.session import CompiledGraph
from webnn.reference import compute
from webnn.validation.descriptor import integer_range, pack

__all__ = ["FAMILIES", "Drawn", "Errors", "Program", "check", "nodes_of", "run"]

#: The largest relative error of a rounding to float32.
UNIT = 2.0**-24
#: Roundings of a result: the sum of integers, the scale, their product, and one for what the bound leaves out.
ROUNDINGS = 4


class Program:
    """A graph under construction, and the arrays of its inputs."""

    def __init__(self) -> None:
        self.builder = MLGraphBuilder(shared_context(BROWSERS))
        self.inputs: dict[str, Array] = {}

    def constant(self, value: Array, dataType: str = "") -> MLOperand:
        """Make a constant; for small integers the type is given."""
        name = dataType or value.dtype.name
        descriptor: Any = {"dataType": name, "shape": list(value.shape)}
        return self.builder.constant(descriptor, pack(value) if name in ("int4", "uint4") else np.array(value, order="C"))

    def input(self, value: Array) -> MLOperand:
        """Make an input."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = np.array(value, order="C")
        descriptor: Any = {"dataType": value.dtype.name, "shape": list(value.shape)}
        return self.builder.input(name, descriptor)

    def dequantize(self, integers: MLOperand, scale: Array, zeroPoint: Array) -> MLOperand:
        """Return the numbers that integers represent."""
        return self.builder.dequantizeLinear(integers, self.constant(scale), self.constant(zeroPoint, integers.dataType))

    def dequantize_left(self, rng: np.random.Generator, integers: MLOperand, scale: Array) -> MLOperand:
        """Return the numbers that the integers of a left factor represent. Their zero point is any; that of uint8 may be an input."""
        zeroPoint = _integers(rng, integers.dataType, scale.shape)
        if integers.dataType != "uint8" or rng.integers(2):
            return self.dequantize(integers, scale, zeroPoint)
        zero = self.input(_choose(rng, zeroPoint, zeroPoint.reshape(())))
        return self.builder.dequantizeLinear(integers, self.constant(scale), self.builder.reshape(zero, list(scale.shape)))

    def quantize(self, numbers: MLOperand, scale: Array, zeroPoint: Array) -> MLOperand:
        """Return integers for numbers."""
        return self.builder.quantizeLinear(numbers, self.constant(scale), self.constant(zeroPoint))

    def compute(self, output: MLOperand, *, integers: bool) -> Array:
        """Compute an output with kernels of integers or without."""
        return self.compute_all({"y": output}, integers=integers)["y"]

    def compute_all(self, outputs: Mapping[str, MLOperand], *, integers: bool) -> dict[str, Array]:
        """Compute outputs with kernels of integers or without."""
        return run(translate(collect(outputs), factors=factor_type if integers else None), self.inputs)

    def real(self, output: MLOperand) -> Array:
        """Compute an output with real numbers: in float64, without roundings between the operators."""
        return compute(describe_graph(collect({"y": output})), self.inputs, exact=True)["y"]


def run(model: OnnxModel, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Compute the outputs of a model."""
    compiled = CompiledGraph(model, shared_context(BROWSERS)._state.selection)
    feeds = {slot.value: inputs[name] for name, slot in compiled.inputs.items()}
    values = compiled._session.run([slot.value for slot in compiled.outputs.values()], feeds)
    return dict(zip(compiled.outputs, values, strict=True))


def nodes_of(model: OnnxModel) -> list[str]:
    """Return the operators of a model's nodes."""
    return [node.op_type for node in model.proto.graph.node]


@dataclass(kw_only=True)
class Drawn:
    """A random product.

    Attributes:
        program: The program.
        output: The result.
        node: The engine's operator that computes it.
        numbers: The quantized numbers, if the result is quantized.
        scale: The scale of a quantized result.
        zeroPoint: The zero point of a quantized result.
        error: The largest error of a result that is not quantized, and of what is quantized.
        most: More than the sum of the magnitudes of products.
    """

    program: Program
    output: MLOperand
    node: str
    most: float
    numbers: MLOperand | None = None
    scale: float = 1.0
    zeroPoint: int = 0
    error: Callable[[Array], Array] = field(default=lambda real: ROUNDINGS * UNIT * np.abs(real))


@dataclass
class Errors:
    """The sums of the squares of errors, in parts of what is allowed: with kernels of integers, and without."""

    actual: float = 0.0
    plain: float = 0.0
    results: int = 0


def check(drawn: Drawn, errors: Errors) -> None:
    """Compute a product with kernels of integers and without them, and compare both with real numbers."""
    program, output = drawn.program, drawn.output
    model = translate(collect({"y": output}), factors=factor_type)
    assert drawn.node in nodes_of(model)
    assert all(weight.data.flags.c_contiguous for weight in model.weights)
    actual, plain = (program.compute(output, integers=integers) for integers in (True, False))
    real = program.real(output if drawn.numbers is None else drawn.numbers)
    # The sums in float64 are not exact either.
    allowed, nearest = drawn.error(real) + (drawn.most or 1) * 2.0**-44, 0.0
    if drawn.numbers is not None:
        # One rounding more, of the quotient, and the whole numbers.
        allowed, nearest = (drawn.error(real) + UNIT * np.abs(real) + drawn.most * 2.0**-44) / drawn.scale, 0.5
        real = np.clip(real / drawn.scale + drawn.zeroPoint, *integer_range(output.dataType))
        assert np.max(np.abs(actual.astype(int) - plain)) <= 1
    allowed = allowed + nearest
    distances = [np.abs(each.astype(np.float64) - real) for each in (actual, plain)]
    worst = np.argmax(distances[0] - allowed)
    assert (distances[0] <= allowed).all(), (actual.flat[worst], real.flat[worst], plain.flat[worst], allowed.flat[worst])
    errors.actual += float(np.mean((distances[0] / allowed) ** 2))
    errors.plain += float(np.mean((distances[1] / allowed) ** 2))
    errors.results += 1


# The strategies


def _choose(rng: np.random.Generator, *choices: Any) -> Any:
    return choices[rng.integers(len(choices))]


def _integers(rng: np.random.Generator, dataType: str, shape: tuple[int, ...]) -> Array:
    """Return integers of a type: of the whole range, its ends, or one of them only."""
    low, high = integer_range(dataType)
    kind = {"int4": np.int8, "uint4": np.uint8}.get(dataType, np.dtype(dataType))
    some = _choose(rng, np.arange(low, high + 1), np.array([low, high]), np.array([low]), np.array([high]), np.array([low, low + 1]))
    return np.asarray(rng.choice(some, shape).astype(kind))


def _scales(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return scales: of one size, of many sizes, or powers of 2."""
    exponents = rng.uniform(-1, 0, shape) + _choose(rng, -3, -3, -9, 0, 7)
    numbers = _choose(rng, 10.0**exponents, np.exp2(np.rint(exponents * 3)), 10.0 ** (exponents + rng.integers(-2, 2, shape)))
    return np.asarray(numbers, np.float32)


def _quantize(rng: np.random.Generator, drawn: Drawn, dataType: str) -> Drawn:
    """Quantize what was drawn, with bounds before it or without."""
    program, builder = drawn.program, drawn.program.builder
    largest = float(np.max(np.abs(program.real(drawn.output)))) or 1.0
    # From a few integers to more than there are.
    scale = np.float32(np.clip(largest / _choose(rng, 3, 60, 127, 300, 1000), 2.0**-47, 2.0**47))
    numbers, ones = drawn.output, [1] * len(drawn.output.shape)
    low, high = integer_range(dataType)
    zeroPoint = int(_choose(rng, low, high, 0, low + 128, rng.integers(low, high + 1)))
    for _ in range(rng.integers(3)):
        least = float(rng.uniform(-largest, largest / 2))
        bounds: Any = _choose(rng, {"minValue": least, "maxValue": least + largest}, {"maxValue": least}, {"minValue": least}, {})
        numbers = builder.relu(numbers) if rng.integers(2) else builder.clamp(numbers, bounds)
    output = program.quantize(numbers, np.full(ones, scale), np.full(ones, zeroPoint, dataType))
    return replace(drawn, output=output, numbers=numbers, scale=float(scale), zeroPoint=zeroPoint)


def _most(sums: int, scale: Array, scales: Array) -> float:
    return float(sums * 255 * 255 * np.max(scale) * np.max(scales))


def _matmul(rng: np.random.Generator) -> Drawn:
    program = Program()
    size = tuple(int(each) for each in rng.integers(1, 40, 2))
    sums = int(_choose(rng, 16, 17, 33, 100, 511, 3000))
    first, second = (str(each) for each in rng.choice(["int8", "uint8"], 2))
    batches = (int(rng.integers(1, 4)),) * int(rng.integers(3))
    left = program.input(_integers(rng, first, (*batches, size[0], sums)))
    ones = (1,) * (len(batches) + 2)
    scale = _scales(rng, ones)
    a = program.dequantize_left(rng, left, scale)
    wide = _choose(rng, (1, 1), (1, size[1]))
    right, scales = program.constant(_integers(rng, second, (sums, size[1]))), _scales(rng, wide)
    b = program.dequantize(right, scales, _integers(rng, second, wide))
    return Drawn(program=program, output=program.builder.matmul(a, b), node="MatMulIntegerToFloat", most=_most(sums, scale, scales))


def _gemm(rng: np.random.Generator) -> Drawn:
    program = Program()
    rows, columns, sums = (int(each) for each in rng.integers((1, 1, 16), 70))
    first, second = (str(each) for each in rng.choice(["int8", "uint8"], 2))
    transposed = bool(rng.integers(2))
    scale = _scales(rng, (1, 1))
    a = program.dequantize_left(rng, program.input(_integers(rng, first, (rows, sums))), scale)
    shape, wide = ((columns, sums), (columns, 1)) if transposed else ((sums, columns), (1, columns))
    wide = _choose(rng, (1, 1), wide)
    scales = _scales(rng, wide)
    b = program.dequantize(program.constant(_integers(rng, second, shape)), scales, _integers(rng, second, wide))
    options: dict[str, Any] = {"bTranspose": transposed}
    addend = np.zeros(columns, np.float32)
    if rng.integers(2):
        addend = np.asarray(rng.normal(size=columns), np.float32)
        options["c"] = _choose(rng, program.constant, program.input)(addend)
    output = program.builder.gemm(a, b, options)
    return Drawn(
        program=program,
        output=output,
        node="MatMulIntegerToFloat",
        most=_most(sums, scale, scales) + float(np.max(np.abs(addend))),
        error=lambda real: UNIT * (ROUNDINGS * np.abs(real - addend) + np.abs(real) + np.abs(addend)),
    )


def _conv2d(rng: np.random.Generator) -> Drawn:
    program = Program()
    first, second, third = (str(each) for each in rng.choice(["int8", "uint8"], 3))
    # Without groups, with two, and a group for each channel.
    groups = int(_choose(rng, 1, 1, 2, 32, 37))
    channels = {1: int(_choose(rng, 8, 9, 16)), 2: 64}.get(groups, groups)
    filters = {1: int(_choose(rng, 1, 5, 32)), 2: int(_choose(rng, 2, 6))}.get(groups, groups)
    window = tuple(int(each) for each in _choose(rng, (1, 1), (3, 3), (3, 3), (2, 4)))
    layout, order = _choose(rng, "nchw", "nhwc"), _choose(rng, "oihw", "hwio", "ohwi", "ihwo")
    sizes = {"n": int(rng.integers(1, 3)), "c": channels, "h": int(rng.integers(5, 12)), "w": int(rng.integers(5, 12))}
    parts = {"o": filters, "i": channels // groups, "h": window[0], "w": window[1]}
    x = _integers(rng, first, tuple(sizes[axis] for axis in layout))
    scale = _scales(rng, (1, 1, 1, 1))
    a = program.dequantize(program.input(x), scale, _integers(rng, first, (1, 1, 1, 1)))
    wide = _choose(rng, (1, 1, 1, 1), tuple(filters if axis == "o" else 1 for axis in order))
    scales = _scales(rng, wide)
    # One zero point for all channels.
    zeroPoint = np.broadcast_to(_integers(rng, second, (1, 1, 1, 1)), wide)
    b = program.dequantize(program.constant(_integers(rng, second, tuple(parts[axis] for axis in order))), scales, zeroPoint)
    options: dict[str, Any] = {
        "padding": rng.integers(0, 2, 4).tolist(),
        "strides": _choose(rng, [1, 1], [1, 1], [2, 2], [1, 2]),
        "dilations": _choose(rng, [1, 1], [1, 1], [2, 1]),
        "groups": groups,
        "inputLayout": layout,
        "filterLayout": order,
    }
    most = _most(math.prod(window) * channels // groups, scale, scales)
    if rng.integers(2):
        most += 2**16 * float(np.max(scale) * np.max(scales))
        counts = rng.integers(-(2**16), 2**16, filters).astype(np.int32)
        exact = scale.item() * scales.reshape(-1).astype(np.float64)
        steps = exact.astype(np.float32)
        whole = program.dequantize(program.constant(counts), steps, np.zeros(steps.shape, np.int32))
        options["bias"] = _choose(rng, whole, program.constant((counts * exact).astype(np.float32)))
    output = program.builder.conv2d(a, b, options)
    return _quantize(rng, Drawn(program=program, output=output, node="QLinearConv", most=most), third)


def _sums(rng: np.random.Generator) -> Drawn:
    """Draw a convolution of integers less their zero points."""
    program = Program()
    first, second = (str(each) for each in rng.choice(["int8", "uint8"], 2))
    inputs, ones = int(_choose(rng, 1, 3, 16, 200)), np.ones((1, 1, 1, 1), np.float32)
    layout, order = _choose(rng, "nchw", "nhwc"), _choose(rng, "oihw", "hwio", "ohwi", "ihwo")
    sizes = {"n": int(rng.integers(1, 3)), "c": inputs, "h": int(rng.integers(5, 12)), "w": int(rng.integers(5, 12))}
    parts = {"o": int(rng.integers(1, 6)), "i": inputs, "h": int(rng.integers(1, 4)), "w": int(rng.integers(1, 4))}
    a = program.dequantize_left(rng, program.input(_integers(rng, first, tuple(sizes[axis] for axis in layout))), ones)
    window = program.constant(_integers(rng, second, tuple(parts[axis] for axis in order)))
    output = program.builder.conv2d(
        a,
        program.dequantize(window, ones, _integers(rng, second, ones.shape)),
        {
            "padding": rng.integers(0, 2, 4).tolist(),
            "strides": _choose(rng, [1, 1], [2, 2], [1, 2]),
            "dilations": _choose(rng, [1, 1], [2, 1]),
            "inputLayout": layout,
            "filterLayout": order,
        },
    )
    most = inputs * parts["h"] * parts["w"] * 255 * 255
    return Drawn(program=program, output=output, node="ConvInteger", most=most, error=lambda real: UNIT * np.abs(real))


def _blocks(rng: np.random.Generator) -> Drawn:
    program = Program()
    builder, dataType = program.builder, str(rng.choice(["int4", "uint4"]))
    size, count, columns = int(_choose(rng, 16, 32, 48, 64, 128, 256, 512)), int(rng.integers(1, 9)), int(rng.integers(1, 70))
    sums, wide = size * count, _choose(rng, 1, columns, columns)
    row = np.asarray(rng.normal(size=(*[1] * int(rng.integers(1, 3)), sums)) * 10.0 ** rng.integers(-3, 4), np.float32)
    integers, form = _integers(rng, dataType, (columns, count, size)), int(rng.integers(6))
    scale, zeroPoint = _scales(rng, (wide, count, 1)), _integers(rng, dataType, (wide, count, 1))
    if rng.integers(3) == 0:
        scale = scale * rng.choice([0, 1, -1], scale.shape).astype(np.float32)
    arrays = [integers, scale, zeroPoint]
    if form % 2:
        # The columns come last.
        arrays = [each.transpose(1, 2, 0) for each in arrays]
    if form < 4:
        arrays = [each.reshape((-1, each.shape[2]) if form % 2 else (each.shape[0], -1)) for each in arrays]
    weight = program.dequantize(program.constant(arrays[0], dataType), *arrays[1:])
    if form >= 4:
        weight = builder.reshape(weight, [sums, columns] if form % 2 else [columns, sums])
    x = program.input(row)
    if row.ndim == 2 and rng.integers(2):
        output = builder.gemm(x, weight, bTranspose=form % 2 == 0)
    else:
        output = builder.matmul(x, weight if form % 2 else builder.transpose(weight, permutation=[1, 0]))
    exact = (integers.astype(np.float64) - zeroPoint) * scale
    magnitude = np.abs(row).astype(np.float64) @ np.abs(exact).reshape(columns, sums).T
    # The scale, the product, and a sum in 16 parts.
    allowed = UNIT * (4 + sums / 16) * magnitude
    return Drawn(program=program, output=output, node="MatMulNBits", most=float(np.max(magnitude)), error=lambda _: allowed)


FAMILIES: Mapping[str, Callable[[np.random.Generator], Drawn]] = MappingProxyType(
    {
        "matmul": _matmul,
        "matmul, quantized": lambda rng: _quantize(rng, _matmul(rng), str(rng.choice(["int8", "uint8"]))),
        "gemm": _gemm,
        "conv2d": _sums,
        "conv2d, quantized": _conv2d,
        "matmul of blocks": _blocks,
    }
)
