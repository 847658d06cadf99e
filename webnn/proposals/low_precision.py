"""The data types bfloat16 and float8e4m3: issue #930, pull requests #938 and #956."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from webnn.proposals.proposal import Case, Decision, Proposal
from webnn.validation.descriptor import DATA_TYPES, ML_DTYPES, Types
from webnn.validation.drafts.idl import merge_idl
from webnn.validation.drafts.limits import Limits, OperandLimits, with_types

__all__ = ["PROPOSAL"]

#: The operands of quantizations that may be float8e4m3.
_QUANTIZED = frozenset(
    {("dequantizeLinear", "input"), ("dequantizeLinear", "zeroPoint"), ("quantizeLinear", "zeroPoint"), ("quantizeLinear", "output")}
)


def _new_types(operation: str, operand: str, row: OperandLimits) -> Types:
    if set(row.data_types).issuperset(DATA_TYPES):
        return ML_DTYPES
    if "float16" in row.data_types:
        return ("bfloat16",)
    return ("float8e4m3",) if (operation, operand) in _QUANTIZED else ()


def _extend(limits: Limits | None) -> Limits | None:
    if limits is None:
        return None
    operations = limits.operations.items()
    allowed = {name: {operand: _new_types(name, operand, row) for operand, row in rows.items()} for name, rows in operations}
    return with_types(limits, ML_DTYPES, allowed)


# Tests for implementations. The numbers of the two types are bits.


def _add(builder: Any) -> Mapping[str, Any]:
    descriptor = {"dataType": "bfloat16", "shape": [3]}
    return {"y": builder.add(builder.input("x", descriptor), builder.constant(descriptor, np.array([0x3F80, 0xC000, 0x4396], np.uint16)))}


def _casts(builder: Any) -> Mapping[str, Any]:
    x = builder.input("x", {"dataType": "float32", "shape": [5]})
    return {"half": builder.cast(x, "bfloat16"), "byte": builder.cast(x, "float8e4m3")}


def _dequantize(builder: Any) -> Mapping[str, Any]:
    x = builder.input("x", {"dataType": "float8e4m3", "shape": [3]})
    scale = builder.constant({"dataType": "float32", "shape": [1]}, np.array([2], np.float32))
    return {"y": builder.dequantizeLinear(x, scale, builder.constant({"dataType": "float8e4m3", "shape": [1]}, np.array([0x38], np.uint8)))}


def _sine(builder: Any) -> Mapping[str, Any]:
    return {"y": builder.sin(builder.input("x", {"dataType": "float8e4m3", "shape": [2]}))}


_TESTS = [
    Case("add bfloat16", _add, {"x": np.array([0x3C00, 0x3F80, 0x7FC0], np.uint16)}),
    Case(
        "cast float32 to bfloat16, and to float8e4m3, which saturates", _casts, {"x": np.array([1.00390625, -2, 600, 0.001, 0], np.float32)}
    ),
    Case("dequantizeLinear float8e4m3", _dequantize, {"x": np.array([0x30, 0x3C, 0x7F], np.uint8)}),
    Case("sin does not take float8e4m3", _sine, error="TypeError"),
]

PROPOSAL = Proposal(
    name="low-precision",
    since="2026-06",
    types=ML_DTYPES,
    idl=partial(merge_idl, changes={"enumerations": {"MLOperandDataType": ML_DTYPES}}),
    limits=_extend,
    title="The data types bfloat16 and float8e4m3",
    source=(
        "webmachinelearning/webnn pull request #956, description of 2026-09-14; buffers from the explainer in pull request #938 of "
        "2026-06-29; both follow issue #930"
    ),
    summary=(
        "bfloat16 has the range of float32 with 8 significant bits, float8e4m3 (OCP's E4M3, as ONNX's FLOAT8E4M3FN) has 4, no infinities "
        "and a largest number of 448. Weights and activations in them take a half or a quarter of the memory of float32."
    ),
    errors=(
        "An operand fails with a TypeError where the limits do not list its type: `conv2d` of float8e4m3, for example.",
        "A context of a device profile refuses every operand of the two types, because no browser has them.",
    ),
    program=(
        "Ask `opSupportLimits()` for the types: no implementation must have them.",
        "In JavaScript, pass the bits: a `Uint16Array` for bfloat16, a `Uint8Array` for float8e4m3, or any buffer of bytes. "
        "`readTensor` returns the same bits.",
        "In Python, pass arrays of `ml_dtypes.bfloat16` and `ml_dtypes.float8_e4m3fn`, or their bits as uint16 and uint8.",
        "Compute in another type, and keep numbers in float8e4m3: `dequantizeLinear` before an operation, `quantizeLinear` behind it.",
    ),
    decisions=(
        Decision(
            "Which operations take float8e4m3?",
            "`cast`, the two quantizations, and every operation whose table allows any data type, as the text says. These are also "
            "`add`, `max`, `pow`, `clamp` and comparisons, although the text does not want it in operations that compute.",
        ),
        Decision(
            "How is a result rounded?",
            "As one of float16: an operation computes in float32, and its result is rounded once, to nearest, ties to even. A number that "
            "is too large becomes infinite in bfloat16. In float8e4m3 it becomes ±448 in every operation, as in `cast`. NaN stays NaN.",
        ),
        Decision(
            "What becomes of integers of more than 24 bits in a `cast` to bfloat16?",
            "They are rounded to float32 first, as ONNX Runtime, ml_dtypes and PyTorch do.",
        ),
        Decision(
            "What is a zero point of float8e4m3?",
            "A number like any other: `dequantizeLinear` returns (input - zeroPoint) * scale, `quantizeLinear` rounds input / scale + "
            "zeroPoint to float8e4m3, not to an integer before. The explainer's `MLQuantizationScheme` is not in #956, and not here.",
        ),
        Decision(
            "Which views does `constant()` take in JavaScript?",
            "The views of the explainer. A `Uint16Array` may have the bits of bfloat16 or of float16. A `Float16Array` is refused for "
            "bfloat16.",
        ),
        Decision(
            "Do movements of data keep the bits of NaN?",
            "In float8e4m3 all do. In bfloat16 these do: `concat`, `gather`, `gatherElements`, `gatherND`, `identity`, `reshape`, "
            "`reverse`, `scatterElements`, `scatterND`, `slice`, `split`, `transpose`. The others keep the sign of a NaN only.",
        ),
        Decision(
            "How is a number of the program rounded?",
            "`constant(dataType, value)` and options such as `minValue` round the number itself, once. In float8e4m3 it saturates.",
        ),
    ),
    tests=_TESTS,
    example="""import ml_dtypes
import numpy as np

import webnn

context = webnn.ML(revision="2026-06+low-precision").createContextSync()
print(context.opSupportLimits()["matmul"]["a"]["dataTypes"])
builder = webnn.MLGraphBuilder(context)
x = builder.input("x", {"dataType": "bfloat16", "shape": [2, 2]})
bits = np.array([[1, 2], [3, 500]], ml_dtypes.bfloat16).view(np.uint16)
w = builder.constant({"dataType": "bfloat16", "shape": [2, 2]}, bits)
graph = builder.buildSync({"y": builder.matmul(x, w), "w8": builder.cast(w, "float8e4m3")})
tensors = {
    "x": context.createTensorSync({"dataType": "bfloat16", "shape": [2, 2], "writable": True}),
    "y": context.createTensorSync({"dataType": "bfloat16", "shape": [2, 2], "readable": True}),
    "w8": context.createTensorSync({"dataType": "float8e4m3", "shape": [2, 2], "readable": True}),
}
context.writeTensor(tensors["x"], np.array([[0.1, 1], [2, 3]], ml_dtypes.bfloat16))
context.dispatch(graph, {"x": tensors["x"]}, {name: tensors[name] for name in ("y", "w8")})
print(context.readTensorSync(tensors["y"]))
print(context.readTensorSync(tensors["w8"]))
builder = webnn.MLGraphBuilder(context)
z = builder.input("z", {"dataType": "float8e4m3", "shape": [2, 2]})
try:
    builder.matmul(z, z)
except webnn.WebNNTypeError as error:
    print(error)
""",
)
