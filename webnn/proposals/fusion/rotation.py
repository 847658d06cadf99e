"""Rotary embeddings: pairs of features, turned by angles whose cosines and sines are operands.

The kernel takes tables and positions. It gets the rows that the call has looked up, at the positions 0, 1, 2 and so on: so it does not
matter where they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from webnn.builder.operand import MLOperand, Operator
from webnn.proposals.fusion.body import Body, Kernel, OtherBodyError, orders, same, shape_of
from webnn.validation.descriptor import Shape

if TYPE_CHECKING:
    from webnn.builder.onnx.emitter import Emitter

__all__ = ["find_rotations", "match_rotation"]


def match_rotation(body: Body) -> list[Kernel]:
    """Return the kernels of the rotary embeddings in a call, at least one."""
    found = find_rotations(body)
    if not found:
        raise OtherBodyError(
            "it must join x * cos - y * sin and y * cos + x * sin, for the halves x and y of the last axis or of its pairs"
        )
    return found


def find_rotations(body: Body) -> list[Kernel]:
    """Return the kernels of the rotary embeddings in a call."""
    return [kernel for split in body.all("split") if (kernel := _match(body, split)) is not None]


def _match(body: Body, split: Operator) -> Kernel | None:
    """Compare the operators around a split of the last axis, or of pairs, with a rotary embedding."""
    halves = split.outputs
    if len(halves) != 2 or halves[0] != halves[1] or halves[0].dataType != "float32":
        return None
    inner, x, ends = [split], split.inputs[0], [split, split]
    isPaired = len(shape_of(x)) == 5
    if isPaired:
        # Features lie beside each other: each pair is a row of two.
        pairs, ends = body.maker(x, "reshape"), [each for position in (0, 1) for each in _only(body, split, position, "reshape")]
        if pairs is None or len(ends) != 2 or shape_of(x) != (*halves[0].dimensions[:4], 2):
            return None
        inner += [pairs, *ends]
        x = pairs.inputs[0]
    shape = (*shape_of(x)[:-1], halves[0].dimensions[3])
    whole = (*shape[:-1], 2 * shape[-1])
    if len(shape) != 4 or shape_of(x) != whole or any(isPaired and each.outputs[0].dimensions != shape for each in ends):
        return None
    turned = _find_turned(body, ends, isPaired=isPaired)
    if turned is None or turned.shape != shape:
        return None
    results = [turned.sub, turned.add]
    inner += [*turned.products, *results]
    if isPaired:
        results = [each for half in results for each in _only(body, half, 0, "reshape")]
        inner += results
    joined = body.user(results[0], "concat") if len(results) == 2 else None
    if joined is None or [each._operator for each in joined.inputs] != results:
        return None
    last = joined
    if isPaired:
        spread = [each.outputs[0].dimensions for each in results]
        [rows] = _only(body, joined, 0, "reshape") or [joined]
        if spread != [(*shape, 1)] * 2 or joined.arguments[0] != 4:
            return None
        inner.append(joined)
        last = rows
    elif joined.arguments[0] != 3:
        return None
    final = last.outputs[0].dimensions
    if final != whole and not isPaired:
        return None
    tables = _Tables.find(turned.cosines, shape)
    if tables is None or shape_of(turned.sines) != shape_of(turned.cosines):
        return None

    def make(e: Emitter, inputs: Sequence[str]) -> list[str]:
        result = tables.emit(e, inputs, whole, isPaired=isPaired)
        return [result if final == whole else e.reshape(result, final)]

    operands = (x, turned.cosines, turned.sines)
    return Kernel(kernel="RotaryEmbedding", results=(last,), inner=tuple(inner), operands=operands, make=make)


def _only(body: Body, operator: Operator, position: int, operation: str) -> list[Operator]:
    """Return the only operator that takes a result, if it is of the call and of an operation; otherwise nothing."""
    users = body.users.of(operator, position)
    return [user for user in users if user is not None and len(users) == 1 and user in body and user.operation.name == operation]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turned:
    """The two halves of turned pairs: x * cos - y * sin, and y * cos + x * sin."""

    sub: Operator
    add: Operator
    products: list[Operator]
    cosines: MLOperand
    sines: MLOperand

    @property
    def shape(self) -> Shape | None:
        """The shape of both halves."""
        shapes = [each.outputs[0].dimensions for each in (self.sub, self.add, *self.products)]
        return shapes[0] if all(each == shapes[0] for each in shapes) else None


def _find_turned(body: Body, ends: Sequence[Operator], *, isPaired: bool) -> _Turned | None:
    """Find the two halves, given the operators that make x and y, or the one that makes both."""
    places = [(ends[0], 0), (ends[1], 0 if isPaired else 1)]
    products: list[dict[str, tuple[Operator, Operator, MLOperand]]] = []
    for maker, position in places:
        users = body.users.of(maker, position)
        found: dict[str, tuple[Operator, Operator, MLOperand]] = {}
        for product in users:
            if product is None or product not in body or product.operation.name != "mul":
                return None
            total = body.user(product, "sub", "add")
            if total is None:
                return None
            for one, other in orders(product):
                if one._operator is maker and one._position == position:
                    found[total.operation.name] = product, total, other
        if len(users) != 2 or len(found) != 2:
            return None
        products.append(found)
    x, y = products
    (xCos, sub, cosines), (ySin, otherSub, sines) = x["sub"], y["sub"]
    (xSin, add, otherSines), (yCos, otherAdd, otherCosines) = x["add"], y["add"]
    isTurned = sub is otherSub and add is otherAdd and sub.inputs[0]._operator is xCos and sub.inputs[1]._operator is ySin
    if not isTurned or not same(cosines, otherCosines) or not same(sines, otherSines):
        return None
    return _Turned(sub=sub, add=add, products=[xCos, ySin, xSin, yCos], cosines=cosines, sines=sines)


@dataclass(frozen=True, slots=True)
class _Tables:
    """Cosines and sines of the kernel: a row for each row of a head, for all elements of the batch or for each one.

    Attributes:
        size: The rows of the tables.
        half: The columns of the tables.
        places: The row of each element of the batch, [batch, rows]; ``None`` if all of them take the rows in order.
    """

    size: int
    half: int
    places: np.ndarray[tuple[int, ...], np.dtype[np.int64]] | None

    @classmethod
    def find(cls, cosines: MLOperand, shape: Shape) -> _Tables | None:
        """Return the tables that the rows of an operand make, if it has one for each row of a head."""
        given = shape_of(cosines)
        batch, heads, rows, half = (*[1] * (4 - len(given)), *given) if len(given) <= 4 else (0, 0, 0, 0)
        if heads != 1 or (rows, half) != shape[2:]:
            return None
        if batch == 1:
            return cls(rows, half, None)
        if batch != shape[0] or not isinstance(batch, int) or not isinstance(rows, int):
            return None
        return cls(batch * rows, half, np.arange(batch * rows, dtype=np.int64).reshape(batch, rows))

    def emit(self, e: Emitter, inputs: Sequence[str], whole: Shape, *, isPaired: bool) -> str:
        """Emit the node for an operand, [batch, heads, rows, features], and its cosines and sines."""
        x, *factors = inputs
        batch, heads, rows, size = whole
        order = (0, 2, 1, 3)
        view = e.view(x, 4)
        isTurned = view.permutation == order
        if isTurned:
            # The kernel takes heads of a row beside each other, too.
            x = e.reshape(view.source, [batch, rows, heads * size])
        places = e.literal(np.zeros(1, np.int64) if self.places is None else self.places)
        tables = [e.reshape(each, [self.size, self.half]) for each in factors]
        settings = {"num_heads": heads} if isTurned else {}
        result = e.node("RotaryEmbedding", [x, places, *tables], interleaved=int(isPaired), **settings)
        return e.transpose(e.reshape(result, [batch, rows, heads, size]), order) if isTurned else result
