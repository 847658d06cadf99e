"""The checks of ONNX Runtime's provider "webnn" that no table row can state. `ort_web.toml` names them.

Each function gets a node whose inputs and outputs have static shapes, and the limits. It returns why the provider refuses the node, or "".
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from onnx import TensorProto

from webnn.onnx.partition.graph import PartitionNode, type_name
from webnn.onnx.partition.limits import refused_rank, refused_type

__all__ = ["CONDITIONS", "Condition"]

Limits = Mapping[str, Any]
Condition = Callable[[PartitionNode, Limits], str]

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16)
_INTEGERS = (TensorProto.INT64, TensorProto.INT32)
_ACTIVATIONS = ("Relu", "Tanh", "Sigmoid")


def _first(reasons: Iterable[str]) -> str:
    return next((reason for reason in reasons if reason), "")


def clip_bounds(node: PartitionNode, limits: Limits) -> str:
    """From version 11 on, min and max must be constants, and then the input must be float32 or float16."""
    for index, name in ((1, "min"), (2, "max")):
        if node.since >= 11 and node.has(index):
            if node.constant(index) is None:
                return f"{name} must be a constant initializer"
            if node.input(0).type not in _FLOATS:
                return f"with {name}, the input must be float or float16, got {type_name(node.input(0).type)}"
    return ""


def expand_shape(node: PartitionNode, limits: Limits) -> str:
    """The new shape must be one dimension of int64 without a 0, and one that the input's shape broadcasts to."""
    tensor, shape = node.constant(1), node.numbers(1)
    if tensor is None or tensor.data_type != TensorProto.INT64 or shape is None or shape.ndim != 1:
        return "the new shape must be a one-dimensional constant of int64"
    if 0 in shape:
        return f"the new shape must have no 0, got {shape.tolist()}"
    for size, wanted in zip(reversed(node.shape(0)), reversed(shape.tolist()), strict=False):
        if size != wanted and 1 not in (size, wanted):
            return f"the input's shape {list(node.shape(0))} must broadcast to {shape.tolist()}"
    return ""


def reshape_zero(node: PartitionNode, limits: Limits) -> str:
    """With allowzero, the new shape must have no 0."""
    shape = node.numbers(1)
    if node.get("allowzero", 0) == 1 and shape is not None and shape.ndim and 0 in shape:
        return f"with allowzero, the new shape must have no 0, got {shape.tolist()}"
    return ""


def squeeze_axes(node: PartitionNode, limits: Limits) -> str:
    """From version 13 on, axes must be a constant; Unsqueeze must have them."""
    if node.since < 13:
        return ""
    if node.has(1):
        return "" if node.constant(1) is not None else f"axes (input 1, {node.inputs[1]!r}) must be a constant initializer"
    return "axes must be given" if node.op == "Unsqueeze" else ""


def slice_steps(node: PartitionNode, limits: Limits) -> str:
    """Steps must be readable constants; a negative one needs WebNN's reverse for the input's type and rank."""
    if not node.has(4):
        return ""
    steps = node.numbers(4)
    if steps is None or steps.ndim != 1 or steps.dtype.kind != "i":
        return "steps must be a one-dimensional constant of int64 or int32"
    if (steps < 0).any():
        value = node.input(0)
        return refused_type(limits, "reverse.input", value.type) or refused_rank(limits, "reverse.input", len(value.shape or ()))
    return ""


def split_sizes(node: PartitionNode, limits: Limits) -> str:
    """The sizes must be constants above 0 whose sum is the dimension; from version 18 on, num_outputs may replace them."""
    sizes = node.integers("split")
    if node.has(1):
        tensor, numbers = node.constant(1), node.numbers(1)
        if tensor is None:
            return f"split (input 1, {node.inputs[1]!r}) must be a constant initializer"
        if tensor.data_type != TensorProto.INT64 or numbers is None or numbers.ndim != 1:
            return "split must be a one-dimensional constant of int64"
        sizes = numbers.tolist()
    elif "num_outputs" in node.attributes:
        if node.get("num_outputs", 1) < 1:
            return f"num_outputs must be at least 1, got {node.get('num_outputs', 1)}"
    elif node.since >= 18:
        return "split or num_outputs must be given"
    if any(size <= 0 for size in sizes):
        return f"each size of split must be above 0, got {sizes}"
    shape, axis = node.shape(0), node.get("axis", 0)
    if sizes and -len(shape) <= axis < len(shape) and sum(sizes) != shape[axis]:
        return f"the sizes of split must add up to {shape[axis]}, got {sizes}"
    return ""


def pad_inputs(node: PartitionNode, limits: Limits) -> str:
    """From version 11 on, pads must be given, and it and all other inputs after the first must be constants."""
    if node.since < 11:
        return ""
    if len(node.inputs) < 2:
        return "pads must be given"
    for index in range(1, len(node.inputs)):
        if node.has(index) and node.constant(index) is None:
            return f"input {index} ({node.inputs[index]!r}) must be a constant initializer"
    return ""


def resize(node: PartitionNode, limits: Limits) -> str:
    """The input must be 4-D. Two dimensions are resized, without the first two if axes is not given, by constant sizes or scales."""
    shape = node.shape(0)
    if len(shape) != 4:
        return f"the input must have rank 4, got {len(shape)}"
    axes = [axis + 4 if axis < 0 else axis for axis in node.integers("axes")]
    if axes and (len(axes) != 2 or any(not 0 <= axis < 4 for axis in axes)):
        return f"axes must be two of the input's, got {node.integers('axes')}"
    index, name = next(((index, name) for index, name in ((3, "sizes"), (2, "scales")) if _is_filled(node, index)), (0, ""))
    if not name:
        return "sizes or scales must be a constant initializer that is not empty"
    tensor, numbers = node.constant(index), node.numbers(index)
    count = 2 if axes else 4
    if tensor is None or len(tensor.dims) != 1 or tensor.dims[0] != count:
        return f"{name} must have {count} elements in one dimension"
    if axes or numbers is None:
        return ""
    kept = [1.0, 1.0] if name == "scales" else list(shape[:2])
    return "" if numbers[:2].tolist() == kept else f"{name} must not resize the first two dimensions, got {numbers.tolist()}"


def _is_filled(node: PartitionNode, index: int) -> bool:
    tensor = node.constant(index)
    return tensor is not None and 0 not in tensor.dims


def depth_to_space(node: PartitionNode, limits: Limits) -> str:
    """The input must be 4-D with as many channels as the square of the block divides."""
    shape, block = node.shape(0), node.get("blocksize", 0)
    if len(shape) != 4:
        return f"the input must have rank 4, got {len(shape)}"
    return "" if block > 0 and shape[1] % (block * block) == 0 else f"the square of blocksize ({block}) must divide {shape[1]} channels"


def scatter_indices(node: PartitionNode, limits: Limits) -> str:
    """The type of the indices is checked, unless int32 can replace int64."""
    row = f"{node.op[0].lower()}{node.op[1:]}.indices"
    operation, operand = row.split(".")
    types = limits.get(operation, {}).get(operand, {}).get("dataTypes", ())
    return "" if "int32" in types and "int64" not in types else refused_type(limits, row, node.input(1).type, "indices")


def gather_block_quantized(node: PartitionNode, limits: Limits) -> str:
    """4 or 8 bits in blocks of a power of two, 16 at least. Pairs of 4 bits in uint8 must be constants, quantized along the last axis."""
    bits, block = node.get("bits", 4), node.get("block_size", 128)
    data, scales = node.input(0), node.input(2)
    rank = len(data.shape or ())
    if rank != len(scales.shape or ()):
        return f"data and scales must have one rank, got {rank} and {len(scales.shape or ())}"
    packed = data.type == TensorProto.UINT8 and bits == 4
    reason = refused_type(limits, "dequantizeLinear.input", TensorProto.UINT4 if packed else data.type, "data") or refused_type(
        limits, "gather.input", scales.type, "scales"
    )
    if reason:
        return reason
    if bits not in {4, 8}:
        return f"bits must be 4 or 8, got {bits}"
    if block < 16 or block & (block - 1):
        return f"block_size must be a power of 2, 16 at least, got {block}"
    if packed:
        if node.constant(0) is None or (node.has(3) and node.constant(3) is None):
            return "data and zero_points of uint8 with two elements each must be constant initializers"
        axis = node.get("quantize_axis", 1)
        if axis + (rank if axis < 0 else 0) != rank - 1:
            return f"data of uint8 with two elements each must be quantized along the last axis, got quantize_axis {axis}"
    return ""


def convolution_ranks(node: PartitionNode, limits: Limits) -> str:
    """Input and filter must have rank 3 or 4. The provider asks the limits for the data type of the input only."""
    for index, name in ((0, "the input"), (1, "the filter")):
        if len(node.shape(index)) not in {3, 4}:
            return f"{name} must have rank 3 or 4, got {len(node.shape(index))}"
    return ""


def convolution_output_rank(node: PartitionNode, limits: Limits) -> str:
    """The output's rank is checked, but not of a convolution in one dimension, which the provider reshapes."""
    return "" if len(node.shape(0)) == 3 else _refused_output_rank(node, limits, "conv2d" if node.op == "Conv" else "convTranspose2d")


def _refused_output_rank(node: PartitionNode, limits: Limits, operation: str) -> str:
    return refused_rank(limits, f"{operation}.output", len(node.output(0).shape or ()), "output 0")


def gather_output_rank(node: PartitionNode, limits: Limits) -> str:
    """The output's rank is checked, but a scalar is taken whatever the limits say."""
    return _refused_output_rank(node, limits, "gather") if node.output(0).shape else ""


def instance_normalization_ranks(node: PartitionNode, limits: Limits) -> str:
    """Ranks are checked if the input has rank 4; the provider reshapes others."""
    if len(node.shape(0)) != 4:
        return ""
    reasons = (
        refused_rank(limits, f"instanceNormalization.{operand}", len(node.shape(index)), f"input {index}")
        for index, operand in enumerate(("input", "scale", "bias"))
        if node.has(index)
    )
    return _first(reasons) or _refused_output_rank(node, limits, "instanceNormalization")


def kernel_2d(node: PartitionNode, limits: Limits) -> str:
    """The kernel must have two dimensions."""
    kernel = node.integers("kernel_shape") if "kernel_shape" in node.attributes else [1, 1]
    return "" if len(kernel) == 2 else f"kernel_shape must have 2 dimensions, got {kernel}"


def gemm_ranks(node: PartitionNode, limits: Limits) -> str:
    """Both factors must have rank 2."""
    ranks = [len(node.shape(index)) for index in (0, 1)]
    return "" if ranks == [2, 2] else f"both factors must have rank 2, got {ranks}"


def matmul_ranks(node: PartitionNode, limits: Limits) -> str:
    """The ranks of both factors are checked, but rank 1, which the provider reshapes."""
    ranks = (("a", 0, len(node.shape(0))), ("b", 1, len(node.shape(1))))
    return _first(refused_rank(limits, f"matmul.{operand}", rank, f"input {index}") for operand, index, rank in ranks if rank != 1)


def matmul_output_rank(node: PartitionNode, limits: Limits) -> str:
    """The output's rank is checked, but not if a factor has rank 1."""
    return "" if 1 in {len(node.shape(0)), len(node.shape(1))} else _refused_output_rank(node, limits, "matmul")


def matmul_integer_ranks(node: PartitionNode, limits: Limits) -> str:
    """The ranks of all inputs must suit dequantizeLinear, but rank 1 of a factor, which the provider reshapes."""
    ranks = [len(node.shape(index)) for index in range(len(node.inputs))]
    return _first(
        refused_rank(limits, f"dequantizeLinear.{'input' if index < 2 else 'zeroPoint'}", rank, f"input {index}")
        for index, rank in enumerate(ranks)
        if index > 1 or rank != 1
    )


def matmul_n_bits(node: PartitionNode, limits: Limits) -> str:
    """4 or 8 bits, in a type that dequantizeLinear takes, and no g_idx."""
    bits = node.get("bits", 4)
    type = TensorProto.UINT8 if bits == 8 else TensorProto.UINT4
    reason = _first(refused_type(limits, f"dequantizeLinear.{operand}", type, "B") for operand in ("input", "zeroPoint"))
    if reason:
        return reason
    if node.has(4):
        return "g_idx (input 4) must not be given"
    return "" if bits in {4, 8} else f"bits must be 4 or 8, got {bits}"


def float_outputs(node: PartitionNode, limits: Limits) -> str:
    """The first output must be float32 or float16, and all of one type."""
    types = [node.output(index).type for index in range(len(node.outputs)) if node.returns(index)]
    if types[:1] and types[0] in _FLOATS and len(set(types)) == 1:
        return ""
    return f"the outputs must be all float or all float16, got {', '.join(map(type_name, types))}"


def reduction_axes(node: PartitionNode, limits: Limits) -> str:
    """Axes that are an input must have one dimension, and be constant unless they are empty."""
    if not node.has(1):
        return ""
    shape = node.shape(1)
    if len(shape) != 1:
        return f"axes must have one dimension, got shape {list(shape)}"
    return "" if shape[0] == 0 or node.constant(1) is not None else f"axes (input 1, {node.inputs[1]!r}) must be a constant initializer"


def two_inputs(node: PartitionNode, limits: Limits) -> str:
    """There must be at least two inputs."""
    return "" if len(node.inputs) >= 2 else f"there must be at least 2 inputs, got {len(node.inputs)}"


def no_statistics(node: PartitionNode, limits: Limits) -> str:
    """The mean and the inverse standard deviation must not be outputs."""
    return "the outputs mean and inv_std_var must not be used" if node.returns(1) or node.returns(2) else ""


def rank_4(node: PartitionNode, limits: Limits) -> str:
    """The input must have rank 4."""
    return "" if len(node.shape(0)) == 4 else f"the input must have rank 4, got {len(node.shape(0))}"


def scale_rank(node: PartitionNode, limits: Limits) -> str:
    """The scale must not have a higher rank than the input."""
    ranks = len(node.shape(0)), len(node.shape(1))
    return "" if ranks[1] <= ranks[0] else f"the scale's rank must be at most the input's, {ranks[0]}, got {ranks[1]}"


def sequence_lengths(node: PartitionNode, limits: Limits) -> str:
    """Lengths of sequences must be constants, all equal to the number of steps."""
    if not node.has(4):
        return ""
    lengths, steps = node.numbers(4), (node.shape(0) or (0,))[0]
    if lengths is None or lengths.ndim != 1:
        return "sequence_lens must be a one-dimensional constant initializer"
    return "" if (lengths == steps).all() else f"each of sequence_lens must be {steps}, got {lengths.tolist()}"


def activations(node: PartitionNode, limits: Limits) -> str:
    """Activations must be Relu, Tanh or Sigmoid, the same in both directions."""
    names = node.texts("activations")
    count = 2 if node.op == "GRU" else 3
    if len(names) >= 2 * count and names[:count] != names[count : 2 * count]:
        return f"activations must be the same in both directions, got {names}"
    refused = [name for name in names if name not in _ACTIVATIONS]
    return f"activations must be {', '.join(_ACTIVATIONS)}, got {', '.join(refused)}" if refused else ""


def no_clip(node: PartitionNode, limits: Limits) -> str:
    """The attribute clip must not be used."""
    largest = float(np.finfo(np.float32).max)
    return "" if math.isclose(node.get("clip", largest), largest) else "clip must not be given"


def rotary_embedding(node: PartitionNode, limits: Limits) -> str:
    """Types and ranks, and numbers of heads that fit. ONNX's own operator and that of ONNX Runtime have their inputs in other orders."""
    standard = node.domain == ""
    cosine, sine, positions = (1, 2, 3) if standard else (2, 3, 1)
    types = {node.input(index).type for index in (0, cosine, sine)}
    if len(types) > 1:
        return f"the input and the caches must have one type, got {', '.join(sorted(map(type_name, types)))}"
    if node.has(positions) and node.input(positions).type != TensorProto.INT64:
        return f"position_ids must be int64, got {type_name(node.input(positions).type)}"
    shape, heads = node.shape(0), node.get("num_heads", 0)
    if len(shape) not in {3, 4}:
        return f"the input must have rank 3 or 4, got {len(shape)}"
    if standard and len(shape) == 3 and heads == 0:
        return "num_heads must be given if the input has rank 3"
    if not standard and node.get("is_packed_batching", 0) == 0 and shape[-2] > (node.shape(cosine) or (0,))[0]:
        return "the caches must be as long as the sequence"
    if not standard and node.get("rotary_embedding_dim", 0) > 0 and heads == 0:
        return "num_heads must be given with rotary_embedding_dim"
    if len(shape) == 4 and heads not in {0, shape[1]}:
        return f"num_heads must be 0 or {shape[1]}, got {heads}"
    return ""


def multi_head_attention(node: PartitionNode, limits: Limits) -> str:
    """No bias, mask or cache beside the past; both presents or none; the number of heads."""
    unsupported = {3: "bias", 4: "key_padding_mask", 8: "past_sequence_length", 9: "cache_indirection"}
    given = [name for index, name in unsupported.items() if node.has(index)]
    if given:
        return f"{', '.join(given)} must not be given"
    if node.returns(3):
        return "the output qk must not be used"
    if node.returns(1) != node.returns(2):
        return "both present_key and present_value must be outputs, or none"
    return "" if node.get("num_heads", 0) else "num_heads must be given"


def group_query_attention(node: PartitionNode, limits: Limits) -> str:
    """A constant total length that is the sequence's in the first step, and the past's in the others; ranks, types and caches."""
    if not all(node.has(index) for index in (0, 5, 6)):
        return "query, seqlens_k and total_sequence_length must be given"
    for first, second in ((1, 2), (3, 4)):
        if node.has(first) != node.has(second):
            return f"inputs {first} and {second} must both be given, or none"
    rotates = node.get("do_rotary", 0) != 0
    if rotates and not (node.has(7) and node.has(8)):
        return "with do_rotary, cos_cache and sin_cache must be given"
    if rotates and len({node.input(index).type for index in (0, 7, 8)}) > 1:
        return "query, cos_cache and sin_cache must have one type"
    for index, rank in ((0, 3), (1, 3), (2, 3), (3, 4), (4, 4)):
        if node.has(index) and len(node.shape(index)) != rank:
            return f"input {index} must have rank {rank}, got {len(node.shape(index))}"
    total = node.numbers(6)
    if total is None or not total.size:
        return "total_sequence_length must be a constant initializer"
    length, whole = node.shape(0)[1], int(total.flat[0])
    if length not in {1, whole}:
        return f"total_sequence_length must be the sequence's length, {length}, got {whole}"
    if length == 1 and node.has(3) and node.shape(3)[2] != whole:
        return f"total_sequence_length must be the past's length, {node.shape(3)[2]}, got {whole}"
    return "" if len(node.outputs) == 3 else f"there must be 3 outputs, got {len(node.outputs)}"


def einsum(node: PartitionNode, limits: Limits) -> str:
    """One or two inputs and an equation of letters, which becomes one WebNN operation that must take the types and ranks."""
    equation = node.get("equation", " ").replace(" ", "")
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if not re.fullmatch(r"[A-Za-z,]*(?:->[A-Za-z]*)?", equation) or any(letter not in left for letter in right):
        return f"equation must have letters only, and in its output those of its inputs, got {equation!r}"
    if not arrow:
        right = "".join(sorted(letter for letter in set(left) - {","} if left.count(letter) == 1))
    if len(terms) != len(node.inputs):
        return f"equation must have {len(node.inputs)} inputs, got {equation!r}"
    operation = _einsum_operation(terms, right)
    if operation == "identity":
        return ""
    if not operation:
        return f"equation {equation!r} is none that the provider knows"
    operands = ("a", "b") if operation in {"matmul", "mul"} else ("input",)
    return _first(
        refused_type(limits, f"{operation}.{operand}", node.input(index).type, f"input {index}")
        or refused_rank(limits, f"{operation}.{operand}", len(node.input(index).shape or ()), f"input {index}")
        for index, operand in zip(range(len(node.inputs)), operands, strict=False)
    )


def _einsum_operation(terms: list[str], right: str) -> str:
    """Return the WebNN operation that an equation is given to; empty if it is given to none."""
    if len(terms) == 2:
        return "mul" if terms[0] == terms[1] == right else "matmul"
    (left,) = terms
    if len(left) == len(right):
        return "identity" if left == right else "transpose"
    # The provider tells a repeated letter by the number of the last one, counted in the order in which they appear.
    order = list(dict.fromkeys(left))
    last = order.index(left[-1]) if left else -1
    return {1: "reduceSum", 2: "triangular"}.get(len(left) - last, "")


#: The public functions of this module.
CONDITIONS: Mapping[str, Condition] = {
    name: each for name, each in globals().items() if getattr(each, "__module__", "") == __name__ and not name.startswith("_")
}
