"""Weights of the domain com.microsoft that are quantized by blocks, and packed: 2, 4 or 8 bits each. They must be known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from webnn.builder.operand import MLOperand
from webnn.importing.values import Array, Refused, Value
from webnn.onnx.node import Node
from webnn.onnx.rules.indexing import RULES as INDEXING
from webnn.onnx.rules.matmul import lift, multiply, unlift
from webnn.onnx.rules.microsoft import apply
from webnn.onnx.rules.quantization import RULES as QUANTIZATION

__all__ = ["RULES", "unpack"]

#: The numbers of the types FP4 and NF4 of bitsandbytes.
_BNB4 = (
    (0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4, -0.0, -1 / 192, -2 / 3, -1, -1 / 3, -1 / 2, -1 / 6, -1 / 4),
    (
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334),
        *(-0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ),
)


def unpack(packed: Array, bits: int) -> Array:
    """Return the integers of the bytes of each row, the lowest bits first."""
    parts = [packed >> shift & ((1 << bits) - 1) for shift in range(0, 8, bits)]
    return np.stack(parts, -1).reshape(*packed.shape[:-1], -1)


def _check_size(what: str, array: Array, size: int) -> None:
    if array.size != size:
        raise Refused(f"{what} must have {size} elements, got {list(array.shape)}")


def _multiply(node: Node, a: MLOperand, weights: MLOperand, bias: int | None = None) -> MLOperand:
    """Multiply an operand with weights, and add a bias if it is given."""
    shapes = a.descriptor.dimensions, weights.descriptor.dimensions
    product = unlift(node, multiply(node, node.reshape(a, lift(*shapes)[0]), weights), *shapes)
    return node.builder.add(product, node.operand(bias)) if bias is not None and node.given(bias) else product


def _matmul_bits(node: Node) -> MLOperand:
    """Map to matmul with dequantizeLinear of the right factor, which must be known: its integers get a byte each.

    Rows that g_idx gives to blocks are put in order. Zero points that are not integers are subtracted from the product, as factors of the
    sums of blocks.
    """
    bits, block, rows, columns = (
        node.integer(name, default) for name, default in (("bits", 4), ("block_size", None), ("K", None), ("N", None))
    )
    if bits not in (2, 4, 8) or block < 1 or rows < 1 or columns < 1 or block * bits % 8:
        raise Refused(f"bits must be 2, 4 or 8, and block_size, K and N at least 1, got {bits}, {block}, {rows} and {columns}")
    blocks = -(-rows // block)
    packed = node.known(1, "B")
    if packed.dtype != np.uint8:
        raise Refused(f"B must be uint8, got {packed.dtype.name}")
    _check_size("B", packed, columns * blocks * block * bits // 8)
    integers = unpack(packed.reshape(columns, -1), bits)
    zeros = np.full((columns, blocks), 1 << (bits - 1), np.uint8)
    scales = node.known(2, "scales")
    _check_size("scales", scales, columns * blocks)
    scales = scales.reshape(columns, blocks)
    offsets: Array | None = None
    if node.given(3):
        given = node.known(3, "zero_points")
        _check_size("zero_points", given, columns * (-(-blocks * bits // 8) if given.dtype == np.uint8 else blocks))
        if given.dtype == np.uint8:
            zeros = unpack(given.reshape(columns, -1), bits)[:, :blocks]
        else:
            offsets = scales * (given.reshape(columns, blocks) - zeros.astype(given.dtype))
    a, builder = node.operand(0), node.builder
    shape = a.descriptor.dimensions
    if not shape or shape[-1] != rows:
        raise Refused(f"A must have K columns, {rows}, got {list(shape)}")
    if node.given(4):
        groups = node.known(4, "g_idx").reshape(-1)
        order = np.argsort(groups, kind="stable")
        if groups.size != rows or (groups[order] != np.arange(rows) // block).any():
            raise Refused("g_idx must give each block as many rows as it has", "export the model with blocks of rows in their order")
        a = builder.gather(a, node.constant(order.astype(np.int32)), axis=len(shape) - 1)
        integers[:, :rows] = integers[:, order]
    if blocks * block > rows:
        a = builder.pad(a, [0] * len(shape), [*[0] * (len(shape) - 1), blocks * block - rows])
    weights = builder.dequantizeLinear(node.constant(integers.T), node.constant(scales.T), node.constant(zeros.T))
    product = _multiply(node, a, weights, 5)
    if offsets is None:
        return product
    sums = builder.reduceSum(node.reshape(a, [*shape[:-1], blocks, block]), axes=[len(shape)])
    return builder.sub(product, _multiply(node, sums, node.constant(offsets.T)))


def _matmul_bnb4(node: Node) -> MLOperand:
    """Map to matmul with numbers that a gather takes from a table, multiplied by the scales of their blocks."""
    rows, columns, block = (node.integer(name, least=1) for name in ("K", "N", "block_size"))
    kind = node.integer("quant_type")
    packed, scales = node.known(1, "B"), node.known(2, "absmax")
    if kind not in (0, 1) or packed.dtype != np.uint8:
        raise Refused(f"quant_type must be 0 or 1, and B uint8, got {kind} and {packed.dtype.name}")
    count = rows * columns
    blocks = -(-count // block)
    _check_size("B", packed, -(-count // 2))
    _check_size("absmax", scales, blocks)
    halves = np.stack([packed.reshape(-1) >> 4, packed.reshape(-1) & 15], -1).reshape(-1)
    places = node.constant(np.pad(halves[:count], (0, blocks * block - count)).reshape(blocks, block))
    table = node.constant(np.array(_BNB4[kind], scales.dtype))
    numbers = node.builder.gather(table, node.builder.cast(places, "int32"))
    numbers = node.builder.mul(numbers, node.constant(scales.reshape(blocks, 1)))
    if blocks * block > count:
        numbers = node.builder.slice(node.reshape(numbers, [blocks * block]), [0], [count])
    weights = node.reshape(numbers, [columns, rows])
    return _multiply(node, node.operand(0), node.transpose(weights, [1, 0]) if node.flag("transB", default=True) else weights)


def _gather(node: Node) -> MLOperand:
    """Map to gather of integers, scales and zero points, and to dequantizeLinear of what is gathered."""
    data, bits, block = node.known(0, "data"), node.integer("bits", 4), node.integer("block_size", 128, least=1)
    if data.dtype == np.uint8 and bits in (2, 4, 8):
        data = unpack(data, bits)
    elif data.dtype.name not in ("int4", "uint4"):
        raise Refused(f"data must be int4, uint4, or uint8 with 2, 4 or 8 bits, got {data.dtype.name} with {bits}")
    dtype = np.int8 if data.dtype.name == "int4" else np.uint8
    axis, along = node.axis("gather_axis", 0, data.ndim), node.axis("quantize_axis", 1, data.ndim)
    if axis == along:
        raise Refused(f"gather_axis and quantize_axis must differ, got {axis}")
    scales = node.known(2, "scales")
    blocks = [-(-size // block) if each == along else size for each, size in enumerate(data.shape)]
    if list(scales.shape) != blocks:
        raise Refused(f"scales must have the shape {blocks}, got {list(scales.shape)}")
    middle = 1 << (bits - 1) if node.value(0).dtype == np.uint8 else 0
    zeros = np.full(blocks, middle, dtype)
    if node.given(3):
        given = node.known(3, "zero_points")
        zeros = (unpack(given, bits)[..., : blocks[-1]] if given.dtype == np.uint8 else given.astype(dtype)).reshape(blocks)
    arrays = [Value.known(each) for each in (data.astype(dtype), scales, zeros)]
    parts = [apply(INDEXING, "Gather", node, [each, node.value(1)], {"axis": axis}) for each in arrays]
    behind = along + node.value(1).rank - 1 if along > axis else along
    return apply(QUANTIZATION, "DequantizeLinear", node, parts, {"axis": behind, "block_size": block})


RULES: Mapping[str, Callable[[Node], MLOperand]] = {
    "com.microsoft.GatherBlockQuantized": _gather,
    "com.microsoft.MatMulBnb4": _matmul_bnb4,
    "com.microsoft.MatMulNBits": _matmul_bits,
}
