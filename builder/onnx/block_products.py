"""Products of one row of numbers and a matrix of 4-bit integers, whose scales belong to blocks: a step of a large language model.

The engine's `MatMulNBits` reads the integers as they are, where a product of numbers reads eight times as many bytes. With several rows it
makes numbers of the integers, and its sums are less exact than those of `MatMul`; so it is taken for one row only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from webnn.builder.onnx.emitter import Emitter
from webnn.builder.onnx.matmul import find_product
from webnn.builder.onnx.together import Single, find_maker
from webnn.builder.onnx.values import Array
from webnn.builder.onnx_names import scope
from webnn.builder.operand import MLOperand, Operator
from webnn.validation.descriptor import SMALL_TYPES, Shape, unpack

__all__ = ["find_block_product"]

#: Sizes of blocks that the engine's kernel takes; they divide each other.
_SIZES = (256, 128, 64, 32, 16)
#: Scales between these, or 0: no product of a scale and an integer leaves the normal range of float32.
_LEAST, _GREATEST = 2.0**-100, 2.0**100
#: How many columns are brought into the kernel's order at a time, an even number.
_COLUMNS = 256
#: The zero point of the kernel if it gets none.
_ZERO = 8


class _Matrix(NamedTuple):
    """Numbers that 4-bit integers encode.

    Attributes:
        packed: The integers, two in a byte.
        flip: The bits to flip in the integers and zero points to make them uint4: they become 8 larger if they are int4.
        scale: The scales.
        zeroPoint: The zero points, uint4.
        shape: The number of rows and columns of the integers.
        blocks: The number of blocks along both.
        transposed: The matrix is the transpose of the integers' one.
    """

    packed: Array
    flip: int
    scale: Array
    zeroPoint: Array
    shape: Shape
    blocks: Shape
    transposed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _BlockProduct(Single):
    """A `matmul` or `gemm` of one row and a matrix of 4-bit integers.

    Attributes:
        operator: The operator.
        matrix: The matrix.
        size: The size of the blocks along the sums: that of the matrix, or a divisor.
        addend: The value to add to the product.
    """

    matrix: _Matrix
    size: int
    addend: MLOperand | None

    @property
    def operands(self) -> tuple[MLOperand, ...]:
        """The operands of the nodes. The integers become another constant."""
        return self.operator.inputs[:1] if self.addend is None else (self.operator.inputs[0], self.addend)

    def emit(self, e: Emitter, inputs: Sequence[str]) -> dict[int, Sequence[str]]:
        """Emit the nodes."""
        name = scope(self.operator.operation.name, self.operator.index)
        e.scope(name)
        columns, sums = self.matrix.shape if self.matrix.transposed else self.matrix.shape[::-1]
        counts = columns, sums // self.size
        integers = self._integers().reshape(*counts, self.size // 2)
        scales = np.ascontiguousarray(self._spread(self.matrix.scale, counts).reshape(-1))
        values = [inputs[0], e.weight(f"{name}.integers", integers), e.weight(f"{name}.scales", scales)]
        zeros = self._spread(self.matrix.zeroPoint, counts)
        if (zeros != _ZERO).any():
            values.append(e.weight(f"{name}.zeroPoints", _packed(np.pad(zeros, ((0, 0), (0, counts[1] % 2)))).reshape(-1)))
        # Level 0: float32 and nothing else.
        result = e.node("MatMulNBits", values, K=sums, N=columns, bits=4, block_size=self.size, accuracy_level=0)
        return {self.operator.index: [result if self.addend is None else e.node("Add", [result, inputs[1]])]}

    def _spread(self, values: Array, counts: Shape) -> Array:
        """Return scales or zero points of the matrix, one for each column and block of the kernel."""
        grid = values.reshape(self.matrix.blocks)
        if not self.matrix.transposed:
            grid = grid.T
        for axis, count in enumerate(counts):
            if grid.shape[axis] != count:
                grid = np.repeat(grid, count // grid.shape[axis], axis)
        return grid

    def _integers(self) -> Array:
        """Return the bytes of the integers, column by column of the matrix."""
        # Two integers at once.
        flip = np.uint8(self.matrix.flip * 0x11)
        packed, (rows, columns) = self.matrix.packed.reshape(-1), self.matrix.shape
        if self.matrix.transposed:
            # Each row has an even number of integers: the bytes are those of the kernel.
            return packed ^ flip if flip else packed
        if columns % 2:
            return _packed(unpack(packed, "uint4", (rows, columns)).T) ^ flip
        # Some columns after the other: all integers in bytes of their own would take twice the memory.
        result = np.empty((columns, rows // 2), np.uint8)
        pairs = packed.reshape(rows, columns // 2)
        for first in range(0, columns, _COLUMNS):
            part = np.ascontiguousarray(pairs[:, first // 2 : (first + _COLUMNS) // 2])
            some = unpack(part, "uint4", (rows, part.shape[1] * 2))
            result[first : first + some.shape[1]] = _packed(some.T)
        return np.bitwise_xor(result, flip, out=result)


def _packed(bits: Array) -> Array:
    """Put two columns of 4-bit numbers into one column of bytes, the first one into the low bits; C-contiguous."""
    return np.ascontiguousarray(bits[:, ::2] | bits[:, 1::2] << np.uint8(4))


def find_block_product(operator: Operator) -> _BlockProduct | None:
    """Return how a `matmul` or `gemm` becomes one product of a row and blocks of integers; ``None`` if it does not."""
    product = find_product(operator)
    if product is None or product.a.descriptor.dataType != "float32" or math.prod(product.a.descriptor.dimensions[:-1]) != 1:
        return None
    matrix = _find_matrix(product.b, transposed=product.transposed)
    if matrix is None:
        return None
    axis = 1 if matrix.transposed else 0
    along = matrix.shape[axis] // matrix.blocks[axis]
    size = next((size for size in _SIZES if along % size == 0), None)
    return None if size is None else _BlockProduct(operator=operator, matrix=matrix, size=size, addend=product.addend)


def _find_matrix(operand: MLOperand, *, transposed: bool) -> _Matrix | None:
    """Look through a transpose and a reshape, which joins the blocks with the elements of a block."""
    if len(operand.descriptor.dimensions) != 2:
        return None
    transpose = find_maker(operand, "transpose")
    if transpose is not None:
        # A transpose of a matrix: both axes, or none of them.
        options: Any = transpose.options
        transposed ^= options.permutation is None or options.permutation[0] == 1
        operand = transpose.inputs[0]
    shape = operand.descriptor.dimensions
    reshape = find_maker(operand, "reshape")
    if reshape is not None:
        operand = reshape.inputs[0]
    maker = find_maker(operand, "dequantizeLinear")
    if maker is None:
        return None
    integers, scale, zeroPoint = maker.inputs
    if integers.descriptor.dataType not in SMALL_TYPES:
        return None
    if integers._value is None or scale._value is None or zeroPoint._value is None:
        return None
    blocks = _join(integers.descriptor.dimensions, scale.descriptor.dimensions, shape)
    sizes = np.abs(scale._value)
    # False for NaN.
    if blocks is None or not ((sizes == 0) | ((sizes >= _LEAST) & (sizes <= _GREATEST))).all():
        return None
    flip = 8 if integers.descriptor.dataType == "int4" else 0
    zeros = unpack(zeroPoint._value, "uint4", blocks) ^ np.uint8(flip)
    return _Matrix(integers._value, flip, scale._value, zeros, shape, blocks, transposed)


def _join(shape: Shape, blocks: Shape, wanted: Shape) -> Shape | None:
    """Return the number of blocks along both axes of a matrix that is made of a tensor of three dimensions, or of that matrix itself."""
    if shape == wanted:
        return blocks
    if len(shape) != 3:
        return None
    # Two axes become one: if there is one scale along the inner one, its elements are the blocks of the joined axis.
    if (shape[0] * shape[1], shape[2]) == wanted and blocks[1] == 1:
        return blocks[0], blocks[2]
    if (shape[0], shape[1] * shape[2]) == wanted and blocks[2] == 1:
        return blocks[0], blocks[1]
    return None
