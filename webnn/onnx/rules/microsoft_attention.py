"""Attention of the domain com.microsoft, as ONNX Runtime's optimizer and the builder of its GenAI library write it.

All kinds come down to `webnn.onnx.attention.attend`. Buffers that a kernel changes in place are other results here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from webnn.builder.operand import MLOperand
from webnn.importing.moving import slice_axis
from webnn.importing.named import are_same
from webnn.importing.steps import Result
from webnn.importing.values import Refused
from webnn.onnx.attention import attend, causal, concat, count_places, join_heads, lowest, masked, split_heads
from webnn.onnx.caches import Cache, update_cache, visible
from webnn.onnx.node import Node
from webnn.onnx.quantized import arrange, per_axis, subtract_zero
from webnn.onnx.rules.matmul import multiply
from webnn.validation.named_descriptor import is_named

__all__ = ["RULES"]

#: ONNX Runtime adds this to the scores of keys that a mask hides, by default.
_HIDDEN = -10000.0


_WITHOUT_BEAMS = "export the model without the fusion of beam search, and let the program choose the tokens"
#: Attributes of attention of one input that must be 0, and what to change.
_UNFUSED = {
    "do_rotary": "export the model without the fusion of rotary embeddings",
    "past_present_share_buffer": "export the model without buffers that past and present share",
}


def _mask(node: Node, index: int, q: MLOperand, columns: int) -> list[MLOperand]:
    """Return the mask of an input, if it is given: lengths, starts and ends, or numbers for each key, perhaps by query."""
    if not node.given(index):
        return []
    batch, _, rows, _ = q.descriptor.dimensions
    shape, builder = node.value(index).shape, node.builder
    mask = node.operand(index)
    hidden = node.number("mask_filter_value", _HIDDEN)
    if any(are_same(shape, each) for each in ((batch,), (2 * batch,))):
        positions = count_places(node, columns, [1, columns])
        ends = node.reshape(slice_axis(node, mask, 0, 0, batch), [batch, 1])
        allowed = builder.lesser(positions, node.cast(ends, "int32"))
        if not are_same(shape, (batch,)):
            starts = node.reshape(slice_axis(node, mask, 0, batch, batch), [batch, 1])
            allowed = builder.logicalAnd(allowed, builder.greaterOrEqual(positions, node.cast(starts, "int32")))
    elif any(are_same(shape, each) for each in ((batch, columns), (batch, rows, columns))):
        allowed = mask
    else:
        forms = ", ".join(map(str, ([batch], [2 * batch], [batch, columns], [batch, rows, columns])))
        raise Refused(f"the mask must have one of the shapes {forms}, got {list(shape)}")
    return [masked(node, node.reshape(allowed, [batch, 1, rows if len(shape) == 3 else 1, columns]), hidden, q)]


def _masks(node: Node, mask: int, bias: int | None, q: MLOperand, columns: int) -> list[MLOperand]:
    """Return all masks of a node: the causal one, that of an input, and what another input adds to the scores."""
    rows = q.descriptor.dimensions[2]
    first = [causal(node, rows, columns, q)] if node.integer("unidirectional", 0) and (is_named(columns) or columns > 1) else []
    added = [node.operand(bias)] if bias is not None and node.given(bias) else []
    return [*first, *_mask(node, mask, q, columns), *added]


# Attention of one input, from which queries, keys and values are projected.


def _project(node: Node, x: MLOperand, weights: MLOperand, bias: int) -> list[MLOperand]:
    """Return queries, keys and values, [batch, rows, features] each."""
    shape = list(x.descriptor.dimensions)
    columns = weights.descriptor.dimensions
    if len(shape) != 3 or len(columns) != 2 or columns[0] != shape[2]:
        raise Refused(f"input and weights must be [batch, rows, features] and [features, columns], got {shape} and {list(columns)}")
    product = multiply(node, x, weights)
    product = node.builder.add(product, node.operand(bias)) if node.given(bias) else product
    sizes = node.integers("qkv_hidden_sizes", [columns[1] // 3] * 3)
    if len(sizes) != 3 or sum(sizes) != columns[1] or min(sizes) < 1:
        raise Refused(f"the weights must have the columns of queries, keys and values, {sizes}, got {columns[1]}")
    return node.builder.split(product, sizes, axis=2)


def _self_attention(node: Node, projected: Sequence[MLOperand], *, mask: int, past: int, bias: int | None = None) -> list[Result]:
    """Attend with keys and values of the same input, behind those of earlier steps."""
    for name, advice in _UNFUSED.items():
        if node.integer(name, 0):
            raise Refused(f"{name} must be 0, got {node.integer(name)}", advice)
    q, k, v = (split_heads(node, each, node.integer("num_heads")) for each in projected)
    if node.given(past):
        earlier = node.value(past)
        batch, heads, _, size = k.descriptor.dimensions
        if earlier.rank != 5 or earlier.shape[:3] != (2, batch, heads) or earlier.shape[4] != size:
            raise Refused(f"past must be [2, {batch}, {heads}, rows, {size}], got {list(earlier.shape)}")
        if earlier.shape[3]:
            parts = node.builder.split(node.operand(past), 2, axis=0)
            k, v = (concat(node, [node.reshape(part, earlier.shape[1:]), each], 2) for part, each in zip(parts, (k, v), strict=True))
    masks = _masks(node, mask, bias, q, k.descriptor.dimensions[2])
    attended = attend(node, q, k, v, scale=node.number("scale", 0.0), masks=masks)
    present = None
    if any(node.outputs[1:]):
        present = node.builder.concat([node.reshape(each, [1, *each.descriptor.dimensions]) for each in (k, v)], 0)
    return [join_heads(node, attended.output), present]


def _attention(node: Node) -> list[Result]:
    """Map to matmul for the projections, and to the operations of attention. Shared buffers and rotary embeddings are refused."""
    return _self_attention(node, _project(node, node.operand(0), node.operand(1), 2), mask=3, past=4, bias=5)


def _quantized_attention(node: Node) -> list[Result]:
    """Map as Attention, of the numbers that input and weights represent. The weights may have a scale for each column."""
    factors = []
    for index, scale, zero in ((0, 3, 6), (1, 4, 7)):
        shape = node.value(index).shape
        spread = per_axis("the zero point", node.value(zero).shape if node.given(zero) else (), shape, -1)
        integers = subtract_zero(node, node.operand(index), node.value(zero) if node.given(zero) else None, spread)
        numbers = arrange(node, node.value(scale), per_axis("the scale", node.value(scale).shape, shape, -1))
        factors.append(node.builder.mul(integers, numbers))
    return _self_attention(node, _project(node, factors[0], factors[1], 2), mask=5, past=8)


def _packed_mask(node: Node, tokens: int, index: int) -> MLOperand:
    """Return the mask of tokens of several sequences, one behind the other: each sees those of its own."""
    builder, x = node.builder, node.operand(0)
    starts = node.value(index)
    if starts.rank != 1 or starts.shape[0] < 2:
        raise Refused(f"cumulative_sequence_length must be 1-D with at least 2 elements, got {list(starts.shape)}")
    count = starts.shape[0]
    positions = count_places(node, tokens, [tokens, 1])
    behind = builder.greaterOrEqual(positions, node.cast(node.reshape(node.operand(index), [1, count]), "int32"))
    number = builder.reduceSum(builder.cast(behind, "int32"), axes=[1])
    same = builder.equal(node.reshape(number, [tokens, 1]), node.reshape(number, [1, tokens]))
    return masked(node, node.reshape(same, [1, 1, tokens, tokens]), lowest(x), x)


def _attend_packed(node: Node, projected: Sequence[MLOperand], starts: int, bias: int) -> MLOperand:
    if node.given(bias):
        raise Refused("attention_bias must not be given", "export the model without the packing of tokens")
    heads = [split_heads(node, each, node.integer("num_heads")) for each in projected]
    tokens = heads[0].descriptor.dimensions[2]
    attended = attend(node, *heads, scale=node.number("scale", 0.0), masks=[_packed_mask(node, tokens, starts)])
    joined = join_heads(node, attended.output)
    return node.reshape(joined, joined.descriptor.dimensions[1:])


def _packed_attention(node: Node) -> MLOperand:
    """Map as Attention of one sequence, in which tokens see those of their own sequence. Refused is attention_bias."""
    shape = node.value(0).shape
    return _attend_packed(node, _project(node, node.reshape(node.operand(0), [1, *shape]), node.operand(1), 2), 4, 5)


# Attention of queries, keys and values.


def _add_bias(node: Node, index: int, parts: Sequence[MLOperand]) -> list[MLOperand]:
    """Add the biases of queries, keys and values, which are one input; each part is [..., features]."""
    if not node.given(index):
        return list(parts)
    sizes = [each.descriptor.dimensions[-1] for each in parts]
    if node.value(index).shape != (sum(sizes),):
        raise Refused(f"bias must have one element for each of {sum(sizes)} features, got {list(node.value(index).shape)}")
    biases = node.builder.split(node.operand(index), sizes, axis=0)
    return [node.builder.add(part, each) for part, each in zip(parts, biases, strict=True)]


def _read_heads(node: Node, heads: int, bias: int) -> list[MLOperand]:
    """Return queries, keys and values by heads, from one input, from two or from three."""
    x = node.operand(0)
    shape = x.descriptor.dimensions
    if len(shape) >= 4 and shape[-2] == 3:
        parts = [node.reshape(each, [*shape[:-3], shape[-3] * shape[-1]]) for each in node.builder.split(x, 3, axis=len(shape) - 2)]
        return [split_heads(node, _batched(node, each), heads) for each in _add_bias(node, bias, parts)]
    if not node.given(1):
        return [split_heads(node, each, heads) for each in _add_bias(node, bias, node.builder.split(x, 3, axis=2))]
    k = node.operand(1)
    form = k.descriptor.dimensions
    if len(form) == 4:
        # The keys of another sequence: they have their bias.
        if node.given(bias):
            x = node.builder.add(x, slice_axis(node, node.operand(bias), 0, 0, shape[-1]))
        return [split_heads(node, x, heads), k, node.operand(2)]
    if len(form) == 5:
        parts = [node.reshape(each, [form[0], form[1], form[2] * form[4]]) for each in node.builder.split(k, 2, axis=3)]
    else:
        parts = [k, node.operand(2)]
    return [split_heads(node, _batched(node, each), heads) for each in _add_bias(node, bias, [x, *parts])]


def _batched(node: Node, x: MLOperand) -> MLOperand:
    """Return tokens of one sequence as a batch of one."""
    shape = x.descriptor.dimensions
    return node.reshape(x, [1, *shape]) if len(shape) == 2 else x


def _packed_multi_head(node: Node) -> MLOperand:
    """Map as MultiHeadAttention of one sequence, in which tokens see those of their own sequence. Refused is attention_bias."""
    heads = node.integer("num_heads")
    joined = [join_heads(node, each) for each in _read_heads(node, heads, 3)]
    return _attend_packed(node, joined, 5, 6)


def _multi_head(*, bias: int, mask: int, added: int, past: int, length: int, beams: Sequence[int]) -> Callable[[Node], list[Result]]:
    def rule(node: Node) -> list[Result]:
        for index in beams:
            if node.given(index) and not _is_one(node, index):
                raise Refused("inputs of beam search must not be given", _WITHOUT_BEAMS)
        q, k, v = _read_heads(node, node.integer("num_heads"), bias)
        masks: list[MLOperand] = []
        seen = [k, v]
        if node.given(past) and node.given(length):
            cache = _shared(node, past, length, mask, k)
            (k, seen[0]), (v, seen[1]) = (update_cache(node, cache, past + number, each, keeps=True) for number, each in enumerate((k, v)))
            hidden = visible(node, cache, q, isCausal=True)
            masks = [] if hidden is None else [hidden]
        elif node.given(past):
            seen = [k, v] = [_behind(node, past + number, each) for number, each in enumerate((k, v))]
        masks += _masks(node, mask, added, q, seen[0].descriptor.dimensions[2])
        attended = attend(node, q, *seen, scale=node.number("scale", 0.0), masks=masks)
        return [join_heads(node, attended.output), k, v, attended.weights]

    rule.__doc__ = "Map to the operations of attention, with keys and values behind those of earlier steps. Beam search is refused."
    return rule


def _is_one(node: Node, index: int) -> bool:
    """Tell whether an input is known to be one number, 1."""
    array = node.find_array(node.value(index))
    return array is not None and array.size == 1 and array.item() == 1


def _shared(node: Node, past: int, length: int, mask: int, new: MLOperand) -> Cache:
    """Return the rows of buffers that past and present share. How many are valid is known, or the mask says it."""
    batch, _, rows, _ = new.descriptor.dimensions
    if node.value(past).rank != 4 or node.value(length).size != 1:
        raise Refused(
            f"past keys must be 4-D and their length a number, got {list(node.value(past).shape)} and {list(node.value(length).shape)}"
        )
    most = node.value(past).shape[2]
    known = node.find_array(node.value(length))
    before = int(known.item()) if known is not None else None
    if before is None and node.given(mask) and node.value(mask).rank > 1:
        before = node.value(mask).shape[-1] - rows
    counts = node.builder.expand(node.reshape(node.cast(node.operand(length), "int32"), [1, 1]), [batch, 1]) if before is None else None
    columns = most if before is None else before + rows
    if not rows <= columns <= most:
        raise Refused(f"past_sequence_length and the new rows must fit into the buffers, {most}, got {columns}")
    return Cache(batch=batch, rows=rows, before=most, after=most, columns=columns, past=before, counts=counts)


def _behind(node: Node, index: int, x: MLOperand) -> MLOperand:
    """Return keys or values behind those of earlier steps, [batch, heads, rows, size], which may have no rows."""
    earlier, (batch, heads, _, size) = node.value(index), x.descriptor.dimensions
    if earlier.rank != 4 or earlier.shape[:2] != (batch, heads) or earlier.shape[3] != size:
        raise Refused(f"past keys and values must be [{batch}, {heads}, rows, {size}], got {list(earlier.shape)}")
    return concat(node, [node.operand(index), x], 2) if earlier.shape[2] else x


_RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {
    "Attention": _attention,
    "DecoderMaskedMultiHeadAttention": _multi_head(bias=10, mask=3, added=4, past=5, length=7, beams=(8, 9)),
    "MultiHeadAttention": _multi_head(bias=3, mask=4, added=5, past=6, length=8, beams=(9,)),
    "PackedAttention": _packed_attention,
    "PackedMultiHeadAttention": _packed_multi_head,
    "QAttention": _quantized_attention,
}

RULES: Mapping[str, Callable[[Node], Result | list[Result]]] = {f"com.microsoft.{name}": rule for name, rule in _RULES.items()}
