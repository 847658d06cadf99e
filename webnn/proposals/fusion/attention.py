"""Attention: softmax(q * transposed k * scale + mask) * v, and the caches that grow by new keys and values.

The kernel is ONNX Runtime's MultiHeadAttention. Its GroupQueryAttention was measured, and is not faster (docs/proposals/subgraphs.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from webnn.builder.operand import MLOperand, Operator
from webnn.importing.named import is_same
from webnn.proposals.fusion.body import Body, Kernel, OtherBodyError, orders, require, shape_of
from webnn.proposals.fusion.rotation import find_rotations
from webnn.validation.numbers import cast

if TYPE_CHECKING:
    from webnn.builder.onnx.emitter import Emitter

__all__ = ["match_attention"]

_KERNEL = "MultiHeadAttention"


def match_attention(body: Body) -> list[Kernel]:
    """Return the kernels of rotary embeddings in a call, and that of attention."""
    softmax = body.single("softmax")
    scores = softmax.inputs[0]
    rank = len(shape_of(scores))
    require(rank in (3, 4), f"softmax must have 3 or 4 dimensions, but has {rank}")
    require(softmax.arguments[0] == rank - 1, f"softmax must be over the last axis, {rank - 1}, but is over {softmax.arguments[0]}")
    product = body.user(softmax, "matmul")
    if product is None or product.inputs[0]._operator is not softmax:
        raise OtherBodyError("the result of softmax must be the left factor of a matmul, and used nowhere else")
    inner = [softmax]
    masks: tuple[MLOperand, ...] = ()
    scaled = _scaled_product(body, scores)
    added = body.maker(scores, "add")
    if scaled is None and added is not None:
        for one, other in orders(added):
            scaled = _scaled_product(body, one)
            if scaled is not None:
                masks = (other,)
                inner.append(added)
                require(shape_of(one) == shape_of(scores), "the mask must not have more elements than the scores")
                break
    if scaled is None:
        raise OtherBodyError("softmax must take a matmul, perhaps times or divided by a constant number, perhaps plus a mask")
    queries, keys = scaled.product.inputs
    values = product.inputs[1]
    inner += scaled.members
    lead = shape_of(scores)[:-2]
    require(all(shape_of(each)[:-2] == lead for each in (queries, keys, values)), "queries, keys and values must not be broadcast")
    turned = body.maker(keys, "transpose")
    order: tuple[int, ...] = (*range(rank - 2), rank - 1, rank - 2)
    if turned is not None and tuple(turned.options.permutation or ()) == order:  # type: ignore[union-attr]  # its options have it
        inner.append(turned)
        keys = turned.inputs[0]
        order = ()
    repeats = [_repeated(body, each) for each in (keys, values)] if not order else []
    groups = 1
    if len(repeats) == 2 and repeats[0] is not None and repeats[1] is not None and repeats[0].groups == repeats[1].groups:
        groups = repeats[0].groups
        keys, values = (each.source for each in repeats if each is not None)
        inner += [member for each in repeats if each is not None for member in each.members]
    require(all(0 not in shape_of(each) for each in (queries, keys, values, *masks)), "all operands must have elements")
    found = _Attention(body=body, product=product, factor=scaled.factor, groups=groups, queries=queries, values=values, masks=masks)
    caches = [] if order else _find_caches(body, keys, values, product, inner)
    joined = [operand for cache in caches for operand in cache.inputs]

    def make(e: Emitter, inputs: Sequence[str]) -> Sequence[str]:
        return found.emit_grown(e, inputs) if caches else found.emit(e, inputs, order)

    operands = (queries, *(joined or (keys, values)), *masks)
    kernel = Kernel(kernel=_KERNEL, results=(product, *caches), inner=tuple(inner), operands=operands, make=make)
    return [*find_rotations(body), kernel]


def _find_caches(body: Body, keys: MLOperand, values: MLOperand, product: Operator, inner: Sequence[Operator]) -> list[Operator]:
    """Return the operators that join keys and values of earlier steps with new ones, if the kernel can do it in their place."""
    found = [body.shared(each, "concat") for each in (keys, values)]
    caches = [each for each in found if each is not None]
    if len(caches) < 2 or caches[0] is caches[1] or len(shape_of(keys)) != 4 or keys.descriptor.dataType != "float32":
        return []
    if any(len(each.inputs) != 2 or each.arguments[0] != 2 for each in caches) or shape_of(keys)[3] != shape_of(values)[3]:
        return []
    parts = [[shape_of(operand)[2] for operand in each.inputs] for each in caches]
    if parts[0] != parts[1] or 0 in parts[0]:
        return []
    return caches if body.allows([product, *caches], inner) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attention:
    """Attention that operators compute, up to their product with the values.

    Attributes:
        groups: How many heads of queries share one of keys and values.
        values: The values, of all steps.
    """

    body: Body
    product: Operator
    factor: float
    groups: int
    queries: MLOperand
    values: MLOperand
    masks: tuple[MLOperand, ...]

    def emit(self, e: Emitter, inputs: Sequence[str], order: Sequence[int]) -> list[str]:
        """Emit nodes for queries, keys, values and perhaps a mask. Each head of keys is an element of the kernel's batch.

        ``order`` is the permutation that makes rows of the keys; it is empty if they are rows.
        """
        *_, rows, size = shape_of(self.queries)
        *batch, columns, width = shape_of(self.values)
        count = math.prod(batch)
        # With four dimensions they are not copied, but must have one shape.
        head = [count, 1, columns] if size == width else [count, columns]
        left = e.reshape(inputs[0], [count, self.groups * rows, size])
        right = e.reshape(e.transpose(inputs[1], order) if order else inputs[1], [*head, size])
        taken = [left, right, e.reshape(inputs[2], [*head, width])]
        if self.masks:
            taken += ["", "", self._bias(e, inputs[3], batch)]
        result = e.node(_KERNEL, taken, num_heads=1, scale=self.factor)
        return [e.reshape(result, self.product.outputs[0].dimensions)]

    def emit_grown(self, e: Emitter, inputs: Sequence[str]) -> list[str]:
        """Emit nodes for queries, earlier and new keys, earlier and new values, and perhaps a mask.

        The kernel's heads are those of the keys; queries that share one are further rows of it. The caches are results, too.
        """
        queries, earlierKeys, keys, earlierValues, values, *mask = inputs
        _, heads, rows, size = shape_of(self.queries)
        batch, shared, _, _ = shape_of(self.values)
        new = self._new_rows
        whole = [batch, shared, self.groups * rows, size]
        left = self._by_rows(e, queries if self.groups == 1 else e.reshape(queries, whole), whole)
        taken = [left, *[self._by_rows(e, each, [batch, shared, new, size]) for each in (keys, values)], "", ""]
        taken += [self._bias(e, mask[0], [batch, shared], by_head=True) if mask else "", earlierKeys, earlierValues]
        result, *caches = e.nodes(_KERNEL, taken, 3, num_heads=shared, scale=self.factor)
        user = self.body.users.only(self.product)
        if self.groups == 1 and is_same(rows, 1) and (user is None or user.operation.name != "transpose"):
            return [e.reshape(result, [batch, heads, rows, size]), *caches]
        turned = e.transpose(e.reshape(result, [batch, self.groups * rows, shared, size]), (0, 2, 1, 3))
        return [turned if self.groups == 1 else e.reshape(turned, [batch, heads, rows, size]), *caches]

    @property
    def _new_rows(self) -> int:
        """How many keys are new."""
        cache = self.values._operator
        assert cache is not None  # `_find_caches` found it
        return shape_of(cache.inputs[1])[2]

    @staticmethod
    def _by_rows(e: Emitter, value: str, shape: Sequence[int]) -> str:
        """Return [batch, heads, rows, size] as [batch, rows, heads * size]."""
        batch, heads, rows, size = shape
        isPlain = is_same(rows, 1) and e.view(value, 4).source == value
        return e.reshape(value if isPlain else e.transpose(value, (0, 2, 1, 3)), [batch, rows, heads * size])

    def _bias(self, e: Emitter, mask: str, batch: Sequence[int], *, by_head: bool = False) -> str:
        """Return a mask as the kernel adds it to the scores: for one head of each group, or for all. ``batch`` is that of the values."""
        *_, rows, _ = shape_of(self.queries)
        columns, shape = shape_of(self.values)[-2], shape_of(self.masks[0])
        *lead, height, width = (*[1] * (len(batch) + 2 - len(shape)), *shape)
        # Several heads that share their keys are more rows of one head.
        heads, perHead = (1, 1) if lead[-1] == 1 else (batch[-1], self.groups)
        split = [*lead[:-1], heads, perHead, height, width]
        whole = [1] * len(batch) if all(size == 1 for size in lead) else batch
        target = [*whole, self.groups, rows, columns]
        final = [*whole, self.groups * rows, columns] if by_head else [math.prod(whole), 1, self.groups * rows, columns]
        if self.groups == 1 and split == target:
            return mask if list(shape) == final else e.reshape(mask, final)
        value = e.reshape(mask, split)
        if split != target:
            value = e.node("Expand", [value, e.ints(target)])
        return e.reshape(value, final)


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A matrix product, the factor that it is multiplied with, and the operators that do both."""

    product: Operator
    factor: float
    members: Sequence[Operator]


def _scaled_product(body: Body, operand: MLOperand) -> _Scaled | None:
    product = body.maker(operand, "matmul")
    if product is not None:
        return _Scaled(product, 1.0, [product])
    scaling = body.maker(operand, "mul", "div")
    if scaling is None:
        return None
    divides = scaling.operation.name == "div"
    for one, other in [scaling.inputs] if divides else orders(scaling):
        product, number = body.maker(one, "matmul"), body.number(other, "" if divides else "scale")
        if product is None or not number or not math.isfinite(number) or shape_of(one) != shape_of(operand):
            continue
        factor = 1 / number if divides else number
        # The kernel takes it as a float32; for 0 it has a factor of its own.
        if cast(factor, "float32") != 0 and math.isfinite(cast(factor, "float32")):
            return _Scaled(product, factor, [scaling, product])
    return None


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Keys or values that several heads share, and the operators that repeat them for each head."""

    source: MLOperand
    groups: int
    members: Sequence[Operator]


def _repeated(body: Body, operand: MLOperand) -> _Repeated | None:
    joined = body.maker(operand, "reshape")
    expanded = None if joined is None else body.maker(joined.inputs[0], "expand")
    split = None if expanded is None else body.maker(expanded.inputs[0], "reshape")
    if joined is None or expanded is None or split is None or len(shape_of(split.inputs[0])) != 4:
        return None
    batch, heads, rows, columns = shape_of(split.inputs[0])
    groups = shape_of(operand)[1] // heads if heads else 0
    shapes = [each.outputs[0].dimensions for each in (split, expanded, joined)]
    wanted = [(batch, heads, 1, rows, columns), (batch, heads, groups, rows, columns), (batch, heads * groups, rows, columns)]
    return _Repeated(split.inputs[0], groups, [joined, expanded, split]) if shapes == wanted else None
