"""Products of a row with matrices of 4-bit integers: when `MatMulNBits` computes them, when not, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from tests.property.quantized import Program, nodes_of
from tests.support import Array, each_row
from webnn import MLOperand
from webnn.builder.graph import collect
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.context.engine.products import factor_type

RNG = np.random.default_rng(0)
SUMS, COLUMNS, BLOCK = 64, 6, 32


def translated(output: MLOperand) -> OnnxModel:
    return translate(collect({"y": output}), factors=factor_type)


class Matrix:
    """A matrix of 4-bit integers, and the numbers that they encode. The options change it."""

    def __init__(
        self, dataType: str = "uint4", *, block: int = BLOCK, columns: int = COLUMNS, scale: Any = None, real: str = "float32"
    ) -> None:
        self.program = Program()
        self.dataType = dataType
        low = -8 if dataType == "int4" else 0
        kind = np.int8 if dataType == "int4" else np.uint8
        self.integers = RNG.integers(low, low + 16, (columns, SUMS // block, block)).astype(kind)
        self.zeroPoint = RNG.integers(low, low + 16, (columns, SUMS // block, 1)).astype(kind)
        self.scale = RNG.uniform(0.5, 1, self.zeroPoint.shape).astype(real)
        if scale is not None:
            self.scale[0, 0, 0] = scale

    @property
    def numbers(self) -> Array:
        """[sums, columns]."""
        numbers = (self.integers.astype(np.float64) - self.zeroPoint) * self.scale
        return np.asarray(numbers.reshape(len(self.integers), SUMS).T)

    def row(self, *shape: int, dataType: str = "float32") -> MLOperand:
        return self.program.input(RNG.normal(size=shape or (1, SUMS)).astype(dataType))

    def dequantize(self, *, flat: bool = True, turned: bool = False, constant: bool = True) -> MLOperand:
        """Return the numbers of all columns, each one flat or in blocks; ``turned``: the columns come last."""
        arrays = [each.transpose(1, 2, 0) if turned else each for each in (self.integers, self.scale, self.zeroPoint)]
        if flat:
            columns = len(self.integers)
            arrays = [each.reshape(-1, columns) if turned else each.reshape(columns, -1) for each in arrays]
        integers, scale, zeroPoint = arrays
        program = self.program
        made = program.constant(scale) if constant else program.input(scale)
        return program.builder.dequantizeLinear(program.constant(integers, self.dataType), made, program.constant(zeroPoint, self.dataType))

    def product(self, **options: Any) -> MLOperand:
        """Multiply a row with the matrix."""
        return self.program.builder.matmul(self.row(), self.dequantize(turned=True, **options))


def _turn(m: Matrix, x: MLOperand) -> MLOperand:
    return m.program.builder.transpose(x, permutation=[1, 0])


def _gemm(m: Matrix, **options: Any) -> MLOperand:
    return m.program.builder.gemm(m.row(), m.dequantize(), bTranspose=True, **options)


Make = Callable[[Matrix], MLOperand]

FOUND: Mapping[str, Make] = MappingProxyType(
    {
        "the columns come last": Matrix.product,
        "a transpose": lambda m: m.program.builder.matmul(m.row(), _turn(m, m.dequantize())),
        "a row with more dimensions": lambda m: m.program.builder.matmul(m.row(1, 1, 1, SUMS), m.dequantize(turned=True)),
        "blocks, and a reshape": lambda m: m.program.builder.matmul(
            m.row(), m.program.builder.reshape(m.dequantize(flat=False, turned=True), [SUMS, len(m.integers)])
        ),
        "blocks, a reshape, and a transpose": lambda m: m.program.builder.matmul(
            m.row(), _turn(m, m.program.builder.reshape(m.dequantize(flat=False), [len(m.integers), SUMS]))
        ),
        "gemm": _gemm,
        "gemm with a row": lambda m: _gemm(m, c=m.row(1, len(m.integers))),
        "gemm with a number": lambda m: _gemm(m, c=m.row(1)),
    }
)

OTHERS: Mapping[str, Make] = MappingProxyType(
    {
        "two rows": lambda m: m.program.builder.matmul(m.row(2, SUMS), m.dequantize(turned=True)),
        "two matrices": lambda m: m.program.builder.matmul(m.row(2, 1, SUMS), m.dequantize(turned=True)),
        "a scale that is not known": lambda m: m.product(constant=False),
        "gemm with alpha": lambda m: _gemm(m, alpha=2),
        "gemm with beta": lambda m: _gemm(m, c=m.row(1, len(m.integers)), beta=2),
        "a reshape that joins other axes": lambda m: m.program.builder.matmul(
            m.row(), m.program.builder.reshape(m.dequantize(), [SUMS, len(m.integers)])
        ),
        "blocks that a reshape splits": lambda m: m.program.builder.matmul(
            m.row(), m.program.builder.reshape(m.dequantize(flat=False), [SUMS, len(m.integers)])
        ),
        "another operation before": lambda m: m.program.builder.matmul(m.row(), m.program.builder.abs(m.dequantize(turned=True))),
    }
)


def check(matrix: Matrix, output: MLOperand, *, found: bool = True) -> None:
    assert ("MatMulNBits" in nodes_of(translated(output))) == found
    actual, plain = (matrix.program.compute(output, integers=integers) for integers in (True, False))
    if not found:
        np.testing.assert_array_equal(actual, plain, strict=True)
        return
    real = matrix.program.real(output)
    assert actual.dtype == np.float32
    size = float(np.max(np.abs(matrix.numbers))) * SUMS
    np.testing.assert_allclose(actual, real, rtol=0, atol=2.0**-22 * size)
    assert np.ptp(real) > size / 100


@pytest.mark.parametrize("columns", [6, 7, 300])
@pytest.mark.parametrize("dataType", ["int4", "uint4"])
@pytest.mark.parametrize("what", FOUND)
def test_blocks_are_multiplied_as_they_are(what: str, dataType: str, columns: int) -> None:
    matrix = Matrix(dataType, columns=columns)
    check(matrix, FOUND[what](matrix))


@pytest.mark.parametrize("what", OTHERS)
def test_other_products(what: str) -> None:
    matrix = Matrix()
    check(matrix, OTHERS[what](matrix), found=False)


@each_row(("block", "size"), [(16, 16), (32, 32), (64, 64), (8, 0), (4, 0)])
def test_sizes_of_blocks(block: int, size: int) -> None:
    matrix = Matrix(block=block)
    output = matrix.product()
    check(matrix, output, found=bool(size))
    nodes = [node for node in translated(output).proto.graph.node if node.op_type == "MatMulNBits"]
    assert [each.i for node in nodes for each in node.attribute if each.name == "block_size"] == ([size] if size else [])


def test_scales_for_more_than_a_block() -> None:
    # One scale for 96 rows of all columns: 3 blocks of 32 rows in each column.
    program = Program()
    integers = RNG.integers(0, 16, (192, 10)).astype(np.uint8)
    scale, zeroPoint = np.array([[0.5], [2]], np.float32), np.array([[3], [9]], np.uint8)
    row = RNG.normal(size=(1, 192)).astype(np.float32)
    output = program.builder.matmul(program.input(row), program.dequantize(program.constant(integers, "uint4"), scale, zeroPoint))
    [node] = translated(output).proto.graph.node
    assert {each.name: each.i for each in node.attribute} == {"K": 192, "N": 10, "bits": 4, "block_size": 32, "accuracy_level": 0}
    numbers = (integers.astype(np.float64) - np.repeat(zeroPoint, 96, 0)) * np.repeat(scale, 96, 0)
    np.testing.assert_allclose(program.compute(output, integers=True), row @ numbers, rtol=0, atol=1e-3)


@each_row("scale", [0, -1, 2.0**-99, -(2.0**99)])
def test_scales_of_all_sizes(scale: float) -> None:
    matrix = Matrix(scale=scale)
    output = matrix.product()
    assert nodes_of(translated(output)) == ["MatMulNBits"]
    actual, real = matrix.program.compute(output, integers=True), matrix.program.real(output)
    np.testing.assert_allclose(actual, real, rtol=1e-4)


@each_row("scale", [np.nan, np.inf, 2.0**-101, 2.0**101, 1e-40])
def test_odd_scales(scale: float) -> None:
    matrix = Matrix(scale=scale)
    check(matrix, matrix.product(), found=False)


@pytest.mark.parametrize("turned", [False, True])
def test_scales_for_parts_of_a_block(turned: bool) -> None:
    # Two blocks of 32, each with a scale for each half.
    matrix = Matrix()
    matrix.scale, matrix.zeroPoint = np.repeat(matrix.scale, 2, 2), np.repeat(matrix.zeroPoint, 2, 2)
    matrix.scale[:, :, 1] *= 3
    builder, columns = matrix.program.builder, len(matrix.integers)
    numbers = matrix.dequantize(flat=False, turned=turned)
    weight = builder.reshape(numbers, [SUMS, columns]) if turned else _turn(matrix, builder.reshape(numbers, [columns, SUMS]))
    check(matrix, builder.matmul(matrix.row(), weight), found=False)


def test_a_transpose_that_changes_nothing() -> None:
    matrix = Matrix(columns=SUMS)
    weight = matrix.program.builder.transpose(matrix.dequantize(turned=True), permutation=[0, 1])
    check(matrix, matrix.program.builder.matmul(matrix.row(), weight))


def test_float16() -> None:
    matrix = Matrix(real="float16")
    output = matrix.program.builder.matmul(matrix.row(dataType="float16"), matrix.dequantize(turned=True))
    check(matrix, output, found=False)


def test_numbers_that_only_the_scale_makes_finite() -> None:
    # Each sum of products with integers alone exceeds the range of float32.
    for number, expected in ((3e38, 3e38 * 2e-4 * 15 * SUMS), (-1e38, -1e38 * 2e-4 * 15 * SUMS)):
        matrix = Matrix()
        matrix.integers[:], matrix.zeroPoint[:], matrix.scale[:] = 15, 0, 2e-4
        x = matrix.program.input(np.full((1, SUMS), number, np.float32))
        output = matrix.program.builder.matmul(x, matrix.dequantize(turned=True))
        assert nodes_of(translated(output)) == ["MatMulNBits"]
        np.testing.assert_allclose(matrix.program.compute(output, integers=True), np.full((1, COLUMNS), expected), rtol=1e-5)


@each_row("number", [np.nan, np.inf, -np.inf])
def test_odd_numbers(number: float) -> None:
    row = np.zeros((1, SUMS), np.float32)
    row[0, 40] = number
    matrix = Matrix()
    # Infinity by 0, and by other numbers.
    matrix.integers[:2, 1, :], matrix.zeroPoint[:2, 1, :] = 5, 5
    output = matrix.program.builder.matmul(matrix.program.input(row), matrix.dequantize(turned=True))
    assert nodes_of(translated(output)) == ["MatMulNBits"]
    actual, plain = (matrix.program.compute(output, integers=integers) for integers in (True, False))
    np.testing.assert_array_equal(actual, plain, strict=True)
    assert np.isnan(actual[0, :2]).all()


def test_the_integers_of_columns_are_used_in_place() -> None:
    matrix = Matrix()
    numbers = matrix.dequantize()
    assert numbers._operator is not None
    integers = numbers._operator.inputs[0]._value
    output = matrix.program.builder.matmul(matrix.row(), _turn(matrix, numbers))
    weights = translated(output).weights
    assert sum(np.shares_memory(weight.data, integers) for weight in weights) == 1
    # No other weight is as large: nothing of them is unpacked.
    assert sorted(weight.data.nbytes for weight in weights) == [COLUMNS * SUMS // 2]
