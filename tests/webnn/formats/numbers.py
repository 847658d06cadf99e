"""Numbers that are hard to write: as constants of every type, and as options."""

from __future__ import annotations

from typing import Any

import numpy as np

import webnn
from tests.support import make_context
from webnn.validation.descriptor import NUMPY_DTYPES, DataType

__all__ = ["ELEMENTS", "constant_of", "numbers_of"]

#: Data type, elements (one number for a scalar), and how JavaScript and Python say the constant.
ELEMENTS: list[tuple[DataType, Any, str, str]] = [
    ("float32", 0.1, '"float32", 0.1', '"float32", 0.1'),
    ("float32", -0.0, '"float32", -0.0', '"float32", -0.0'),
    ("float32", 3.0, '"float32", 3', '"float32", 3'),
    ("float32", -3.4028234663852886e38, '"float32", -3.4028234663852886e+38', '"float32", -3.4028234663852886e+38'),
    ("float32", 2.0**-126, '"float32", 1.1754944e-38', '"float32", 1.1754944e-38'),
    ("float32", 2.0**-149, '"float32", 1e-45', '"float32", 1e-45'),
    ("float16", 65504, '"float16", 65504', '"float16", 65504'),
    ("float16", -(2.0**-24), '"float16", -6e-08', '"float16", -6e-08'),
    ("float32", 1e30, '"float32", 1e+30', '"float32", 1e+30'),
    ("float32", np.inf, '"float32", Infinity', '{"dataType": "float32", "shape": []}, np.array([float("inf")], "float32")'),
    ("float32", np.nan, '"float32", NaN', '{"dataType": "float32", "shape": []}, np.array([float("nan")], "float32")'),
    ("float16", 0.1, '"float16", 0.1', '"float16", 0.1'),
    ("int64", 2**53 + 1, '"int64", 9007199254740993n', '{"dataType": "int64", "shape": []}, np.array([9007199254740993], "int64")'),
    ("int64", -1, '"int64", -1n', '"int64", -1'),
    (
        "uint64",
        2**64 - 1,
        '"uint64", 18446744073709551615n',
        '{"dataType": "uint64", "shape": []}, np.array([18446744073709551615], "uint64")',
    ),
    ("int8", -128, '"int8", -128', '"int8", -128'),
    (
        "float32",
        [-np.inf, -0.0],
        '{dataType: "float32", shape: [2]}, new Float32Array([-Infinity, -0.0])',
        '{"dataType": "float32", "shape": [2]}, np.array([-float("inf"), -0.0], "float32")',
    ),
    (
        "float16",
        [1, np.inf],
        '{dataType: "float16", shape: [2]}, new Uint16Array([0x3c00, 0x7c00]).buffer',
        '{"dataType": "float16", "shape": [2]}, np.array([1, float("inf")], "float16")',
    ),
    (
        "int64",
        [1, -(2**63)],
        '{dataType: "int64", shape: [2]}, new BigInt64Array([1n, -9223372036854775808n])',
        '{"dataType": "int64", "shape": [2]}, np.array([1, -9223372036854775808], "int64")',
    ),
    (
        "float32",
        np.array([0x7FC00001], np.uint32).view(np.float32),
        '{dataType: "float32", shape: [1]}, new Uint8Array([1, 0, 192, 127]).buffer',
        '{"dataType": "float32", "shape": [1]}, np.array([1, 0, 192, 127], "uint8").view("float32")',
    ),
    (
        "uint8",
        [[1], [255]],
        '{dataType: "uint8", shape: [2, 1]}, new Uint8Array([1, 255])',
        '{"dataType": "uint8", "shape": [2, 1]}, np.array([1, 255], "uint8")',
    ),
]


def constant_of(dataType: DataType, elements: Any) -> webnn.GraphDescription:
    """Describe the identity of a constant."""
    builder = webnn.MLGraphBuilder(make_context("2026-06"))
    value = np.array(elements, NUMPY_DTYPES[dataType])
    return webnn.describe({"y": builder.identity(builder.constant({"dataType": dataType, "shape": value.shape}, value))})


def numbers_of(draft: str) -> webnn.GraphDescription:
    """Describe a graph with the numbers of `ELEMENTS`, NaNs with bits of their own, and options with such numbers."""
    builder = webnn.MLGraphBuilder(make_context(draft))
    shape = builder._revision.shape
    small = draft.endswith("+browsers")

    def constant(dataType: Any, value: Any, dimensions: Any) -> webnn.MLOperand:
        descriptor: Any = {"dataType": dataType, shape: list(dimensions)}
        operand: webnn.MLOperand = builder.constant(descriptor, value)
        return operand

    arrays = [(dataType, np.array(elements, NUMPY_DTYPES[dataType])) for dataType, elements, _, _ in ELEMENTS]
    operands = [constant(dataType, value, value.shape) for dataType, value in arrays]
    operands.append(constant("float32", np.array([0x7FC00001, 0xFFFFFFFF], np.uint32).view(np.float32), [2]))
    operands.append(constant("float32", np.array(0xFF800001, np.uint32).view(np.float32), []))
    operands.append(constant("float16", np.array([0x7E01], np.uint16).view(np.float16), [1]))
    if small:
        operands.append(constant("int4", np.array([0x8F, 0x07], np.uint8), [3]))
        operands.append(constant("uint4", np.array([0x0F], np.uint8), []))
        operands.append(constant("uint4", np.arange(40, dtype=np.uint8), [80]))
    outputs = {}
    for number, operand in enumerate(operands):
        if operand.descriptor.dataType in ("int4", "uint4"):
            scale = constant("float32", np.ones(operand.descriptor.dimensions, np.float32), operand.descriptor.dimensions)
            outputs[f"y{number}"] = builder.dequantizeLinear(operand, scale, operand)
        else:
            outputs[f"y{number}"] = builder.identity(operand)
    bounds: list[dict[str, float]] = [{"minValue": -0.0}, {"maxValue": 1e-7}, {"minValue": 0.1, "maxValue": 3e38}]
    x = builder.input("x", {"dataType": "float32", shape: [2]})  # type: ignore[misc]
    for number, options in enumerate(bounds):
        outputs[f"clamp{number}"] = builder.clamp(x, options)  # type: ignore[arg-type]
    if small:
        outputs["infinite"] = builder.clamp(x, minValue=float("-inf"), maxValue=float("inf"))
        large = builder.input("large", {"dataType": "int64", shape: [2]})  # type: ignore[misc]
        outputs["large"] = builder.clamp(large, minValue=2**53 + 1, maxValue=2**63 - 1)
    return webnn.describe(outputs)
