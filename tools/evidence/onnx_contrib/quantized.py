"""Cases of quantized operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tools.evidence.onnx_contrib.cases import Array, Case, Kind, factors, integers, numbers, pack, some

__all__ = ["KINDS"]

Random = np.random.Generator


def _type(random: Random) -> str:
    return str(random.choice(["uint8", "int8"]))


def _scale(random: Random, *shape: int) -> Array:
    return np.asarray(random.uniform(0.02, 0.06, shape), np.float32)


def _zero(random: Random, dtype: str) -> Array:
    return np.asarray(integers(random, dtype, 1)[0])


def _quantized(random: Random, dtype: str, names: str, *shape: int) -> dict[str, Array]:
    """Return integers, their scale and their zero point, by three names."""
    return dict(zip(names, (integers(random, dtype, *shape), _scale(random), _zero(random, dtype)), strict=True))


def _shape(random: Random, rank: int, most: int = 6) -> list[int]:
    return [int(each) for each in random.integers(1, most, rank, endpoint=True)]


def binary(operator: str) -> Kind:
    """An operator of two tensors that broadcast."""

    def kind(random: Random) -> Case:
        dtype, shape = _type(random), _shape(random, int(random.integers(1, 5)))
        other = [size if random.integers(3) else 1 for size in shape][int(random.integers(len(shape))) :]
        inputs = {**_quantized(random, dtype, "abc", *shape), **_quantized(random, dtype, "def", *other)}
        inputs |= {"s": _scale(random) * 2, "z": _zero(random, dtype)}
        return Case(operator=operator, inputs=inputs, known="bcefsz")

    return kind


def unary(operator: str) -> Kind:
    """An operator of one tensor, whose kernel is a table or rounds in another place."""

    def kind(random: Random) -> Case:
        dtype, shape = _type(random), _shape(random, int(random.integers(1, 5)))
        attributes: dict[str, Any] = {}
        if operator == "QLinearLeakyRelu":
            attributes["alpha"] = float(random.uniform(0.01, 0.5))
        inputs = {**_quantized(random, dtype, "abc", *shape), "s": _scale(random), "z": _zero(random, dtype)}
        if operator == "QLinearSoftmax":
            attributes |= {"axis": int(random.integers(-len(shape), len(shape))), "opset": int(random.choice([11, 13]))}
            inputs |= {"s": np.asarray(1 / 256, np.float32), "z": np.asarray(0 if dtype == "uint8" else -128, dtype)}
        return Case(
            operator=operator,
            inputs={name: np.asarray(each) for name, each in inputs.items()},
            attributes=attributes,
            known="bcsz",
            tolerance=1.01,
        )

    return kind


def linear(operator: str) -> Kind:
    """Numbers to integers, or back: with one scale, or one for each index of an axis."""

    def kind(random: Random) -> Case:
        dtype, shape = _type(random), _shape(random, int(random.integers(1, 5)))
        axis = int(random.integers(len(shape)))
        each = [shape[axis]] if random.integers(2) else []
        x = integers(random, dtype, *shape) if operator == "DequantizeLinear" else numbers(random, *shape, spread=3)
        inputs = {"x": x, "s": _scale(random, *each), "z": integers(random, dtype, *each) if each else _zero(random, dtype)}
        return Case(operator=operator, inputs=inputs, attributes={"axis": axis}, known="sz")

    return kind


def where(random: Random) -> Case:
    """A choice between two tensors that broadcast."""
    dtype, shape = _type(random), _shape(random, int(random.integers(1, 5)))
    inputs = {
        "k": random.integers(0, 2, shape).astype(np.bool_),
        **_quantized(random, dtype, "abc", *[size if random.integers(3) else 1 for size in shape]),
        **_quantized(random, dtype, "def", *shape),
        "s": _scale(random),
        "z": _zero(random, dtype),
    }
    return Case(operator="QLinearWhere", inputs=inputs, known="bcefsz")


def concat(random: Random) -> Case:
    """Tensors with scales of their own, joined."""
    dtype, shape = _type(random), _shape(random, int(random.integers(1, 5)))
    axis = int(random.integers(len(shape)))
    inputs: dict[str, Array] = {"s": _scale(random), "z": _zero(random, dtype)}
    for names in ("abc", "def", "ghi")[: int(random.integers(1, 4))]:
        part = [int(random.integers(1, 5)) if each == axis else size for each, size in enumerate(shape)]
        inputs |= _quantized(random, dtype, names, *part)
    return Case(operator="QLinearConcat", inputs=inputs, attributes={"axis": axis}, known="szbcefhi")


def _windows(random: Random) -> dict[str, Any]:
    attributes: dict[str, Any] = {"kernel_shape": _shape(random, 2, 3), "strides": _shape(random, 2, 2)}
    if random.integers(2):
        attributes["pads"] = [int(random.integers(0, size)) for size in attributes["kernel_shape"] * 2]
    return attributes


def pooled(operator: str) -> Kind:
    """Pooling, perhaps with the channels behind."""

    def kind(random: Random) -> Case:
        dtype = _type(random)
        batch, channels, height, width = *_shape(random, 2, 3), *(3 + each for each in _shape(random, 2))
        attributes = {} if "Global" in operator else _windows(random)
        last = operator == "NhwcMaxPool" or bool(random.integers(2))
        shape = [batch, height, width, channels] if last else [batch, channels, height, width]
        inputs = {"a": integers(random, dtype, *shape)}
        if operator != "NhwcMaxPool":
            attributes["channels_last"] = int(last)
            inputs |= {"b": _scale(random), "c": _zero(random, dtype), "s": _scale(random), "z": _zero(random, dtype)}
        return Case(operator=operator, inputs=inputs, attributes=attributes, known="bcsz")

    return kind


def convolution(random: Random) -> Case:
    """A convolution, perhaps with the channels behind."""
    dtype, groups = _type(random), int(random.integers(1, 3))
    weights = dtype if dtype == "int8" else _type(random)
    batch, inner, outer = _shape(random, 3, 3)
    sizes = [3 + each for each in _shape(random, 2)]
    last = bool(random.integers(2))
    attributes = {**_windows(random), "group": groups, "channels_last": int(last)}
    inner, outer = inner * groups, outer * groups
    shape = [batch, *sizes, inner] if last else [batch, inner, *sizes]
    each = bool(random.integers(2))
    inputs: dict[str, Array | None] = {
        **_quantized(random, dtype, "abc", *shape),
        "w": factors(random, weights, outer, inner // groups, *attributes["kernel_shape"]),
        "t": _scale(random, outer) if each else _scale(random),
        "u": np.zeros(outer, weights) if each else np.zeros((), weights),
        "s": _scale(random) * 20,
        "z": _zero(random, dtype),
        "q": some(random, random.integers(-9999, 9999, outer, np.int32)),
    }
    return Case(operator="QLinearConv", inputs=inputs, attributes=attributes, known="bcwtuszq")


def mean(random: Random) -> Case:
    """A mean, for which no kernel is there: NumPy is the judge."""
    dtype, shape = _type(random), _shape(random, int(random.integers(1, 5)))
    axes = [int(each) for each in random.choice(len(shape), int(random.integers(1, len(shape) + 1)), replace=False)]
    keeps = int(random.integers(2))
    inputs = {**_quantized(random, dtype, "abc", *shape), "s": _scale(random), "z": _zero(random, dtype)}
    real = (inputs["a"].astype(np.float64) - inputs["c"]) * inputs["b"]
    real = real.mean(tuple(axes), keepdims=bool(keeps))
    info = np.iinfo(dtype)
    y = np.clip(np.rint(real / inputs["s"]) + inputs["z"], info.min, info.max).astype(dtype)
    attributes = {"axes": axes, "keepdims": keeps}
    return Case(operator="QLinearReduceMean", inputs=inputs, attributes=attributes, known="bcsz", expected={"y": y})


# Matrix products.


def _factors(random: Random) -> tuple[list[int], int, int]:
    """Return the shape of the left factor, and the rows and columns of the right one."""
    rows, columns = _shape(random, 2, 9)
    return [*_shape(random, int(random.integers(0, 3)), 3), int(random.integers(1, 5)), rows], rows, columns


def matmul_to_float(random: Random) -> Case:
    """A product of integers, as numbers."""
    shape, rows, columns = _factors(random)
    dtypes = "uint8", _type(random)
    each = bool(random.integers(2))
    inputs: dict[str, Array | None] = {
        "a": integers(random, dtypes[0], *shape),
        "b": factors(random, dtypes[1], rows, columns),
        "s": _scale(random),
        "t": _scale(random, columns) if each else _scale(random),
        "y0": some(random, _zero(random, dtypes[0])),
        "z0": some(random, integers(random, dtypes[1], columns) if each else _zero(random, dtypes[1])),
        "q": some(random, numbers(random, columns)),
    }
    return Case(operator="MatMulIntegerToFloat", inputs=inputs, known=("b", "s", "t", "y0", "z0", "q"), tolerance=2e-5)


def dynamic_matmul(random: Random) -> Case:
    """A product of numbers, quantized at run time, and integers."""
    shape, rows, columns = _factors(random)
    dtype, each = _type(random), bool(random.integers(2))
    inputs: dict[str, Array | None] = {
        "a": numbers(random, *shape),
        "b": factors(random, dtype, rows, columns),
        "t": _scale(random, columns) if each else _scale(random),
        "z": some(random, integers(random, dtype, columns) if each else _zero(random, dtype)),
        "q": some(random, numbers(random, columns)),
    }
    return Case(operator="DynamicQuantizeMatMul", inputs=inputs, known="btzq", tolerance=2e-5)


def gemm(random: Random) -> Case:
    """A product of matrices of integers, as integers or as numbers."""
    rows, middle, columns = _shape(random, 3, 9)
    dtypes = ("uint8", _type(random)) if random.integers(2) else ("int8", "int8")
    turned = random.integers(0, 2, 2).tolist()
    each = bool(random.integers(2))
    inputs: dict[str, Array | None] = {
        **_quantized(random, dtypes[0], "abc", *((middle, rows) if turned[0] else (rows, middle))),
        "d": factors(random, dtypes[1], *((columns, middle) if turned[1] else (middle, columns))),
        "e": _scale(random, columns) if each else _scale(random),
        "f": integers(random, dtypes[1], columns) if each else _zero(random, dtypes[1]),
        "q": some(random, random.integers(-9999, 9999, columns, np.int32)),
    }
    if random.integers(2):
        inputs |= {"s": _scale(random) * 20, "z": _zero(random, dtypes[0])}
    attributes = {"transA": turned[0], "transB": turned[1], "alpha": float(random.uniform(0.5, 2))}
    return Case(operator="QGemm", inputs=inputs, attributes=attributes, known="bcdefsz", tolerance=2e-5)


# Weights by blocks.


def matmul_bits(random: Random) -> Case:
    """A product with packed weights."""
    bits, block, columns = int(random.choice([2, 4, 8])), 16 << int(random.integers(3)), int(random.integers(1, 9))
    rows = int(random.integers(1, 90))
    blocks = -(-rows // block)
    inputs: dict[str, Array | None] = {
        "a": numbers(random, *_shape(random, int(random.integers(0, 3)), 3), rows),
        "b": pack(random.integers(0, 1 << bits, (columns, blocks, block)), bits),
        "s": np.asarray(random.uniform(0.02, 0.06, (columns, blocks)), np.float32),
        "z": some(random, pack(random.integers(0, 1 << bits, (columns, blocks)), bits)),
        # The kernel has the next two for 4 bits only.
        "g": some(random, np.asarray(random.permutation(np.arange(rows) // block), np.int32)) if bits == 4 else None,
        "q": some(random, numbers(random, columns)),
    }
    if bits == 4 and (inputs["g"] is not None or random.integers(3) == 0):
        # Beside g_idx the kernel reads only such zero points; it takes 8 in place of packed ones.
        inputs["z"] = np.asarray(random.uniform(0, (1 << bits) - 1, (columns, blocks)), np.float32)
    attributes = {"bits": bits, "block_size": block, "K": rows, "N": columns}
    return Case(operator="MatMulNBits", inputs=inputs, attributes=attributes, known="bszgq", tolerance=2e-5)


def matmul_bnb4(random: Random) -> Case:
    """A product with weights of the types FP4 and NF4."""
    block, rows, columns = 16 << int(random.integers(2)), int(random.integers(1, 9)) * 4, int(random.integers(1, 9)) * 4
    inputs = {
        "a": numbers(random, *_shape(random, int(random.integers(0, 3)), 3), rows),
        "b": integers(random, "uint8", rows * columns // 2),
        "s": np.asarray(random.uniform(0.5, 2, -(-rows * columns // block)), np.float32),
    }
    attributes = {"block_size": block, "K": rows, "N": columns, "quant_type": int(random.integers(2))}
    return Case(operator="MatMulBnb4", inputs=inputs, attributes=attributes, known="bs", tolerance=2e-5)


def gather(random: Random) -> Case:
    """Rows of packed weights."""
    bits, block = int(random.choice([4, 8])), 16
    rows, width = int(random.integers(1, 6)), 8 * int(random.integers(1, 9))
    blocks = -(-width // block)
    inputs: dict[str, Array | None] = {
        "d": pack(random.integers(0, 1 << bits, (rows, width)), bits),
        "i": random.integers(-rows, rows, _shape(random, int(random.integers(1, 3)), 3)),
        "s": np.asarray(random.uniform(0.02, 0.06, (rows, blocks)), np.float32),
        "z": some(random, pack(random.integers(0, 1 << bits, (rows, blocks)), bits)),
    }
    attributes = {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1}
    return Case(operator="GatherBlockQuantized", inputs=inputs, attributes=attributes, known="dsz")


KINDS: Mapping[str, Kind] = {
    **{name: binary(name) for name in ("QLinearAdd", "QLinearMul")},
    **{name: unary(name) for name in ("QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax")},
    **{name: pooled(name) for name in ("NhwcMaxPool", "QLinearAveragePool", "QLinearGlobalAveragePool")},
    **{name: linear(name) for name in ("DequantizeLinear", "QuantizeLinear")},
    "DynamicQuantizeMatMul": dynamic_matmul,
    "GatherBlockQuantized": gather,
    "MatMulBnb4": matmul_bnb4,
    "MatMulIntegerToFloat": matmul_to_float,
    "MatMulNBits": matmul_bits,
    "QGemm": gemm,
    "QLinearConcat": concat,
    "QLinearConv": convolution,
    "QLinearReduceMean": mean,
    "QLinearWhere": where,
}
