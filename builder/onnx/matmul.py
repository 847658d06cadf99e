"""Matrix products.

`FusedMatMul`, an operator of ONNX Runtime's own, takes transposed operands in place and multiplies its result with a number. It runs the
kernel of `MatMul`. Its numbers have the bits of single nodes if there are at least two rows and two columns (otherwise the kernel depends
on the layout and on the factor), and if the kernel adds up a product at once and not in parts (otherwise it multiplies each part).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from webnn.builder.graph import ComputationalGraph
from webnn.builder.onnx.emitter import Emitter, Op, Translation
from webnn.builder.onnx.together import Setting
from webnn.builder.onnx_names import scope
from webnn.builder.operand import MLOperand, Operator

__all__ = ["TRANSLATIONS", "Product", "ScaledProduct", "find_product", "find_scaled"]

#: The number of products that the kernel adds up at once.
_BLOCK = 128


class Product(NamedTuple):
    """A `matmul`, or a `gemm` without factors other than 1: the product of ``a`` and ``b``.

    Attributes:
        a: The left factor.
        b: The right factor.
        transposed: The right factor is transposed.
        addend: The value to add to the product.
    """

    a: MLOperand
    b: MLOperand
    transposed: bool
    addend: MLOperand | None


def find_product(operator: Operator) -> Product | None:
    """Return the product that a `matmul` or `gemm` is, if it is nothing else."""
    a, b = operator.inputs
    if operator.operation.name == "matmul":
        return Product(a, b, transposed=False, addend=None)
    options: Any = operator.options
    addend = dict(operator.members).get("c")
    if options.aTranspose or options.alpha != 1 or (addend is not None and options.beta != 1):
        return None
    return Product(a, b, options.bTranspose, addend)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledProduct:
    """A `matmul` whose result is only multiplied with a number: one node.

    Attributes:
        product: The `matmul`.
        scaled: The operator that multiplies, or divides by a power of two.
        factor: The number, a float32 that is finite and not 0.
    """

    product: Operator
    scaled: Operator
    factor: float

    @property
    def members(self) -> tuple[int, int]:
        """The numbers of the operators, that of the result first."""
        return self.scaled.index, self.product.index

    @property
    def operands(self) -> tuple[MLOperand, ...]:
        """The operands of the `matmul`."""
        return self.product.inputs

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the node; return its value as the result of the operator that multiplies."""
        e.scope(scope(self.product.operation.name, self.product.index))
        names = self.product.operation.operands
        op = Op(self.product, dict(zip(names, self.operands, strict=True)), dict(zip(names, inputs, strict=True)), self.product.outputs, {})
        return {self.scaled.index: (_product(e, op, self.factor),)}


def find_scaled(graph: ComputationalGraph, setting: Setting) -> dict[int, ScaledProduct]:
    """Find the matrix products that are scaled. Their own values are not outputs and are not used elsewhere."""
    if not setting.contributed or all(operator.operation.name != "matmul" for operator in graph.operators):
        return {}
    operands = [operand for operator in graph.operators for operand in (*operator.inputs, *(each for _, each in operator.members))]
    # By number: several operands may be one result.
    uses = Counter(each._operator.index for each in (*operands, *graph.outputs.values()) if each._operator is not None)
    scalings = [operator for operator in graph.operators if operator.operation.name in {"mul", "div"}]
    return {each.scaled.index: each for each in (_match(operator, uses) for operator in scalings) if each is not None}


def _match(scaled: Operator, uses: Counter[int]) -> ScaledProduct | None:
    divides = scaled.operation.name == "div"
    value, number = scaled.inputs
    if not divides and value._value is not None:
        value, number = number, value
    product = value._operator
    if product is None or product.operation.name != "matmul" or value.descriptor.dataType != "float32" or uses[product.index] != 1:
        return None
    a, b = (operand.descriptor.dimensions for operand in product.inputs)
    if not _is_general(a, b) or a[-1] > _BLOCK or scaled.outputs[0].dimensions != value.descriptor.dimensions:
        return None
    factor = _find_factor(number, divides=divides)
    return ScaledProduct(product=product, scaled=scaled, factor=factor) if factor else None


def _find_factor(number: MLOperand, *, divides: bool) -> float:
    """Return the factor that does what an operand does, 0 if there is none: it must be a constant of one element."""
    if number._value is None or number._value.size != 1:
        return 0.0
    value = float(number._value.item())
    if not math.isfinite(value) or value == 0:
        return 0.0
    if not divides:
        return value
    # Only the quotient by a power of two is the product with the reciprocal, which may be too large for the type.
    reciprocal = 1 / value
    return reciprocal if abs(math.frexp(value)[0]) == 0.5 and abs(reciprocal) < 2.0**128 else 0.0


def _is_general(a: Sequence[int], b: Sequence[int]) -> bool:
    """Tell whether a product of matrices of these shapes has at least two rows and two columns."""
    return a[-2] > 1 and b[-1] > 1


@dataclass(frozen=True, slots=True)
class _Taken:
    """How `FusedMatMul` takes an operand.

    Attributes:
        value: The ONNX value.
        transposed: Its last dimension is the operand's last but one.
        batched: Its first dimension stands before those of the batch.
    """

    value: str
    transposed: bool = False
    batched: bool = False


def _take(e: Emitter, op: Op, argument: str, *, transposable: bool, batches: bool) -> _Taken:
    """Return an operand without its transpose, if `FusedMatMul` can do that."""
    value, shape = op[argument], op.shape(argument)
    view = e.view(value, len(shape))
    if view.source == value:
        return _Taken(value)
    *batch, rows, columns = range(len(shape))
    source = [view.permutation.index(axis) for axis in range(len(shape))]
    layouts = {(False, False): [*batch, rows, columns]}
    if transposable:
        layouts[True, False] = [*batch, columns, rows]
    if batches and batch:
        layouts[False, True] = [rows, *batch, columns]
    if transposable and batches and batch:
        layouts[True, True] = [columns, *batch, rows]
    # Dimensions of size 1 may be anywhere.
    present = [axis for axis in source if shape[axis] != 1]
    for (transposed, batched), order in layouts.items():
        if [axis for axis in order if shape[axis] != 1] == present:
            there = view.source if order == source else e.reshape(view.source, [shape[axis] for axis in order])
            return _Taken(there, transposed, batched)
    return _Taken(value)


def _matmul(e: Emitter, op: Op) -> str:
    return _product(e, op, 1.0)


def _product(e: Emitter, op: Op, factor: float) -> str:
    shapes = op.shape("a"), op.shape("b")
    if not e.contributed or not _is_general(*shapes):
        return e.node("MatMul", [op["a"], op["b"]])
    batches = len(shapes[0]) == len(shapes[1])
    a = _take(e, op, "a", transposable=False, batches=batches)
    b = _take(e, op, "b", transposable=True, batches=batches)
    flags = {"transB": b.transposed, "transBatchA": a.batched, "transBatchB": b.batched}
    if factor == 1 and not any(flags.values()):
        return e.node("MatMul", [a.value, b.value])
    return e.node("FusedMatMul", [a.value, b.value], alpha=factor, **{name: 1 for name, flag in flags.items() if flag})


def _gemm(e: Emitter, op: Op) -> str:
    options, c = op.options, op.get("c")
    attributes = {"transA": int(options.aTranspose), "transB": int(options.bTranspose)}
    if c is None or options.beta != 0:
        return e.node("Gemm", [op["a"], op["b"], c], alpha=options.alpha, beta=options.beta, **attributes)
    product = e.node("Gemm", [op["a"], op["b"]], alpha=options.alpha, **attributes)
    value = op.constants.get("c")
    if value is not None and np.isfinite(value).all():
        return product
    # The engine does not read c where beta is 0, but 0 * NaN and 0 * infinity are NaN.
    return e.node("Add", [product, e.node("Mul", [c, e.scalar(0, op.type("c"))])])


TRANSLATIONS = {
    "matmul": Translation(emit=_matmul, carry={"float16": "float32"}),
    "gemm": Translation(emit=_gemm, carry={"float16": "float32"}),
}
