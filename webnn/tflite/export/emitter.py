"""The emitter: appends operators of LiteRT to a program. It takes the operations of StableHLO that the shared rules of exports write."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from webnn.hlo.attributes import Attribute, DotDimensionNumbers
from webnn.hlo.export.emitter import Emitter, Number, Tensor, broadcast_shapes
from webnn.hlo.export.rule import RuleError
from webnn.hlo.ir import Region
from webnn.hlo.types import DTYPES
from webnn.tflite.export import builtins
from webnn.tflite.export.making import Maker, slot_of
from webnn.tflite.export.program import Array

__all__ = ["LiteEmitter", "slot_of"]

Shape = Sequence[int]
_Attributes = Mapping[str, Attribute]

#: The builtin operators of elementwise operations of StableHLO.
_SAME: Mapping[str, str] = {
    **{"abs": "ABS", "negate": "NEG", "exponential": "EXP", "log": "LOG", "sine": "SIN", "cosine": "COS", "sqrt": "SQRT"},
    **{"logistic": "LOGISTIC", "tanh": "TANH", "floor": "FLOOR", "ceil": "CEIL", "round_nearest_even": "ROUND", "not": "LOGICAL_NOT"},
    **{"add": "ADD", "subtract": "SUB", "multiply": "MUL", "divide": "DIV", "maximum": "MAXIMUM", "minimum": "MINIMUM"},
    **{"power": "POW", "and": "LOGICAL_AND", "or": "LOGICAL_OR", "xor": "NOT_EQUAL", "shift_right_logical": "RIGHT_SHIFT"},
    # Of numbers that are not above 0.
    "exponential_minus_one": "ELU",
}
#: The activations that other operators can have in them, by their numbers in the schema, and these operators.
_FUSED = {"RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}
_ACTIVATED = frozenset({"ADD", "CONV_2D", "DEPTHWISE_CONV_2D", "DIV", "FULLY_CONNECTED", "MUL", "SUB"})
_REDUCTIONS = {"add": "SUM", "maximum": "REDUCE_MAX", "minimum": "REDUCE_MIN", "multiply": "REDUCE_PROD"}


class _Rows(Tensor):
    """A tensor of which rows are being replaced, by their numbers."""

    __slots__ = ("rows",)

    def __init__(self, base: Tensor, rows: Mapping[int, Tensor]) -> None:
        super().__init__(base.emitter, base.value, base.shape, base.element)
        self.rows = rows


class LiteEmitter(Maker):
    """Appends operators to a program; ``location`` is where they come from.

    Transposes are put off: an elementwise operation of a transposed tensor is computed before the transpose, and two transposes become one
    or none. Operators that nothing needs in the end are not written.
    """

    # Operations of StableHLO.

    def ops(
        self,
        name: str,
        operands: Iterable[Tensor],
        results: Iterable[tuple[Shape, str]],
        attributes: _Attributes | None = None,
        regions: Iterable[Region] = (),
    ) -> list[Tensor]:
        """Append what an operation of StableHLO becomes.

        Raises `RuleError` if LiteRT has nothing like it.
        """
        given, [(shape, element)] = list(operands), list(results)
        lower = _LOWERED.get(name)
        if lower is not None:
            return [lower(self, given, shape, element, attributes or {})]
        if name not in _SAME:
            raise RuleError(f"needs the operation {name}, which LiteRT does not have")
        return [self.act(_SAME[name], given, shape)]

    def unary(self, name: str, x: Tensor) -> Tensor:
        """Append an elementwise operation of one operand."""
        if id(x.value) in self._transposes:
            source, permutation = self._transposes[id(x.value)]
            return self.transpose(self.unary(name, source), permutation)
        return self.op(name, [x], x.shape, x.element)

    def lone(self, code: str, x: Tensor, **fields: Any) -> Tensor:
        """Append an elementwise operator of LiteRT's own, of one operand."""
        if id(x.value) in self._transposes:
            source, permutation = self._transposes[id(x.value)]
            return self.transpose(self.lone(code, source, **fields), permutation)
        return self.act(code, [x], x.shape, **fields)

    def activated(self, code: str, x: Tensor, *, alone: bool) -> Tensor:
        """Append an activation; if nothing else needs the tensor, the operator that computes it takes the activation in."""
        if id(x.value) in self._transposes:
            source, permutation = self._transposes[id(x.value)]
            return self.transpose(self.activated(code, source, alone=alone), permutation)
        maker = slot_of(x).maker
        if not alone or code not in _FUSED or maker is None or maker.code not in _ACTIVATED or maker.options is None:
            return self.lone(code, x)
        name, fields = maker.options
        if fields.get("FusedActivationFunction"):
            return self.lone(code, x)
        made = self.make(x.shape, x.element)
        options = name, {**fields, "FusedActivationFunction": _FUSED[code]}
        self.program.append(maker.code, maker.inputs, [slot_of(made)], options)
        return made

    def binary(self, name: str, a: Number, b: Number) -> Tensor:
        """Append an elementwise operation of two operands, which the operator broadcasts."""
        left, right = self._align(a, b)
        return self._together([left, right], lambda each: self.op(name, each, broadcast_shapes(*(x.shape for x in each)), left.element))

    def compare(self, direction: str, a: Tensor, b: Number) -> Tensor:
        """Compare elements. The result is i1."""
        pair = self._align(a, b)
        code = builtins.COMPARISONS[direction]
        return self._together(pair, lambda each: self.act(code, each, broadcast_shapes(*(x.shape for x in each)), result="i1"))

    def select(self, condition: Tensor, a: Number, b: Number) -> Tensor:
        """Take elements of ``a`` where the condition holds, otherwise of ``b``; the operator broadcasts all."""
        first, second = self._align(a, b)
        shape = broadcast_shapes(condition.shape, first.shape, second.shape)
        (first, second), meaning = self._agree([first, second])
        [made] = self.emit("SELECT_V2", [condition, first, second], [(shape, first.element)])
        slot_of(made).quantization = meaning
        return made

    def clamp(self, x: Tensor, low: float, high: float) -> Tensor:
        """Hold elements between two numbers. An infinite one has no operator: behind RELU, XNNPACK would not write the result."""
        above = x if low == -math.inf else self.maximum(x, low)
        return above if high == math.inf else self.minimum(above, high)

    def composite(self, name: str, x: Tensor, make: Callable[[Emitter, Tensor], Tensor]) -> Tensor:
        """Append the operators of a composite."""
        return make(self, x)

    def _align(self, a: Number, b: Number) -> tuple[Tensor, Tensor]:
        """Bring two operands to one type; the operators broadcast."""
        if isinstance(a, Tensor):
            return a, b if isinstance(b, Tensor) else self.full(b, a.element)
        assert isinstance(b, Tensor)
        return self.full(a, b.element), b

    def _together(self, operands: Sequence[Tensor], make: Callable[[Sequence[Tensor]], Tensor]) -> Tensor:
        """Compute an elementwise operation before the transposes of its operands, if they have the same, and the others are constants."""
        found = [self._transposes.get(id(each.value)) for each in operands]
        permutations = {each[1] for each in found if each is not None}
        if len(permutations) != 1:
            return make(operands)
        [permutation] = permutations
        rank, sources = len(permutation), []
        for each, pair in zip(operands, found, strict=True):
            data = slot_of(each).data
            if pair is not None:
                sources.append(pair[0])
            elif data is None or data.ndim > rank:
                return make(operands)
            elif data.size == 1:
                sources.append(each)
            else:
                wide = data.reshape((1,) * (rank - data.ndim) + data.shape)
                sources.append(self.constant(wide.transpose(np.argsort(permutation))))
        return self.transpose(make(sources), permutation)

    # Shapes.

    def broadcast(self, x: Tensor, shape: Shape, dimensions: Sequence[int] | None = None) -> Tensor:
        """Repeat elements along dimensions."""
        if dimensions is not None:
            sizes = dict(zip(dimensions, x.shape, strict=True))
            x = self.reshape(x, [sizes.get(axis, 1) for axis in range(len(shape))])
        if x.shape == tuple(shape):
            return x
        return self.act("BROADCAST_TO", [x], shape, self.ints(*shape))

    def reshape(self, x: Tensor, shape: Shape) -> Tensor:
        """Give the elements another shape."""
        if x.shape == tuple(shape):
            return x
        moved = self._move(x, lambda array: array.reshape(tuple(shape)), lambda each: self.reshape(each, shape))
        return moved or self.act("RESHAPE", [x], shape, self.ints(*shape), NewShape=tuple(shape))

    def transpose(self, x: Tensor, permutation: Sequence[int]) -> Tensor:
        """Permute dimensions."""
        order = tuple(permutation)
        if id(x.value) in self._transposes:
            source, first = self._transposes[id(x.value)]
            return self.transpose(source, [first[axis] for axis in order])
        if order == tuple(range(len(order))):
            return x
        shape = [x.shape[axis] for axis in order]
        moved = self._move(x, lambda array: array.transpose(order), lambda each: self.transpose(each, order), order)
        if moved is not None:
            return moved
        made = self.act("TRANSPOSE", [x], shape, self.ints(*order))
        self._transposes[id(made.value)] = x, order
        return made

    def slice(self, x: Tensor, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None) -> Tensor:
        """Cut a block out: from the starts to before the limits."""
        steps = [1] * len(x.shape) if strides is None else list(strides)
        places = list(zip(starts, limits, steps, strict=True))
        shape = tuple([-(-(limit - start) // step) for start, limit, step in places])
        if shape == x.shape:
            return x
        cut = tuple([slice(*each) for each in places])
        moved = self._move(x, lambda array: array[cut], lambda each: self.slice(each, starts, limits, strides))
        if moved is not None:
            return moved
        if set(steps) <= {1}:
            return self.act("SLICE", [x], shape, self.ints(*starts), self.ints(*shape))
        return self.act("STRIDED_SLICE", [x], shape, *(self.ints(*each) for each in (starts, limits, steps)))

    def _move(
        self, x: Tensor, change: Callable[[Array], Array], again: Callable[[Tensor], Tensor], order: Sequence[int] | None = None
    ) -> Tensor | None:
        """Move the elements of a constant, as a view of its array if that can be; or those that a tensor was made of.

        Args:
            x: The tensor.
            change: Moves the elements of an array.
            again: Moves those of another tensor.
            order: The permutation, if they are transposed.
        """
        slot = slot_of(x)
        meaning = slot.quantization
        if meaning is not None and len(meaning.scales) > 1:
            if order is None:
                return None
            meaning = replace(meaning, axis=list(order).index(meaning.axis))
        if slot.data is not None:
            moved = change(slot.data)
            return self.make(moved.shape, x.element, moved, meaning, name=slot.name)
        source = self._sources.get(id(x.value))
        if source is None:
            return None
        of = slot_of(source).quantization
        if of is None:
            return self.convert(again(source), x.element)
        if len(of.scales) > 1:
            if order is None:
                return None
            of = replace(of, axis=list(order).index(of.axis))
        elif source.element not in ("i8", "ui8"):
            return None
        return self.dequantize(again(source), of)

    def concatenate(self, parts: Sequence[Tensor], axis: int) -> Tensor:
        """Join tensors along an axis."""
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.act("CONCATENATION", parts, shape, Axis=axis)

    def pad(self, x: Tensor, low: Sequence[int], high: Sequence[int], number: float) -> Tensor:
        """Add elements of one number around a tensor; a negative padding takes elements away."""
        if any(each < 0 for each in (*low, *high)):
            starts = [max(-each, 0) for each in low]
            x = self.slice(x, starts, [size + min(each, 0) for size, each in zip(x.shape, high, strict=True)])
            low, high = ([max(each, 0) for each in group] for group in (low, high))
        if not any(low) and not any(high):
            return x
        known = slot_of(x).data
        if known is not None:
            filled = np.pad(known, [*zip(low, high, strict=True)], constant_values=np.array(number).astype(known.dtype))
            return self.make(filled.shape, x.element, filled, name=slot_of(x).name)
        origin = self.source_of(x)
        meaning = None if origin is None else slot_of(origin).quantization
        if not number and origin is not None and meaning is not None and len(meaning.scales) == 1 and origin.element in ("i8", "ui8"):
            # The operator pads with the integer that means 0.
            return self.dequantize(self.mean(self.pad(origin, low, high, 0), meaning), meaning)
        if id(x.value) in self._transposes:
            source, permutation = self._transposes[id(x.value)]
            back = np.argsort(permutation)
            return self.transpose(self.pad(source, [low[axis] for axis in back], [high[axis] for axis in back], number), permutation)
        shape = [before + size + after for before, size, after in zip(low, x.shape, high, strict=True)]
        paddings = self.ints(*[each for pair in zip(low, high, strict=True) for each in pair], shape=(len(shape), 2))
        if not number:
            return self.act("PAD", [x], shape, paddings)
        [wide] = [x] if x.element in builtins.ELEMENTS["PADV2"] else [self.widen(x, builtins.WIDER[x.element])]
        filling, meaning = self.full(number, wide.element, [1]), slot_of(wide).quantization
        if meaning is not None:
            filling = self.mean(filling, meaning)
        return self.widen(self.act("PADV2", [wide], shape, paddings, filling), x.element)

    def reverse(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Reverse the order of elements along axes."""
        for axis in axes:
            x = self.act("REVERSE_V2", [x], x.shape, self.ints(axis))
        return x

    def iota(self, shape: Shape, axis: int, element: str) -> Tensor:
        """Make a constant of the positions of elements along an axis."""
        line = np.arange(shape[axis], dtype=DTYPES[element]).reshape([-1 if each == axis else 1 for each in range(len(shape))])
        return self.constant(np.broadcast_to(line, tuple(shape)))

    # Reductions, indices and loops.

    def reduce(self, x: Tensor, name: str, initial: float, axes: Sequence[int], *, keep: bool = False) -> Tensor:
        """Reduce axes with an elementwise operation. Without axes the result is the tensor."""
        if not axes:
            return x
        return self.reduced(_REDUCTIONS[name], x, axes, keep=keep)

    def reduced(self, code: str, x: Tensor, axes: Sequence[int], *, keep: bool) -> Tensor:
        """Reduce axes with an operator of LiteRT's own."""
        if keep and id(x.value) in self._transposes:
            source, permutation = self._transposes[id(x.value)]
            return self.transpose(self.reduced(code, source, [permutation[axis] for axis in axes], keep=True), permutation)
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape) if keep or axis not in axes]
        return self.act(code, [x], shape, self.ints(*axes), KeepDims=keep)

    def average(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Return the means over axes by an operator, as Chromium does."""
        return self.reduced("MEAN", x, axes, keep=True) if axes else x

    def take(self, x: Tensor, indices: Tensor, axis: int) -> Tensor:
        """Take slices along an axis; all indices are inside it."""
        places = self.places(indices)
        shape = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]]
        return self.act("GATHER", [x], shape, places, Axis=axis)

    def places(self, indices: Tensor) -> Tensor:
        """Convert indices to a type that LiteRT takes."""
        return indices if indices.element in ("i32", "i64") else self.convert(indices, "i64")

    def loop(
        self,
        count: int,
        fixed: Sequence[Tensor],
        states: Sequence[Tensor],
        step: Callable[[Emitter, Tensor, Sequence[Tensor], Sequence[Tensor]], Sequence[Tensor]],
    ) -> list[Tensor]:
        """Append the steps of a loop one after another, and return the last states. The number of a step is known."""
        now = list(states)
        for number in range(count):
            given: Any = number
            now = list(step(self, given, fixed, now))
        return [self._join(each) if isinstance(each, _Rows) else each for each in now]

    def _join(self, rows: _Rows) -> Tensor:
        found = [self.reshape(rows.rows[number], [1, *rows.shape[1:]]) for number in range(rows.shape[0])]
        return self.concatenate(found, 0)

    def at(self, x: Tensor, index: Any) -> Tensor:
        """Return the slice at an index of the first dimension, the number of a step."""
        return self.reshape(self.cut(x, 0, index, index + 1), x.shape[1:])

    def put(self, x: Tensor, update: Tensor, index: Any) -> Tensor:
        """Replace the slice at an index of the first dimension, the number of a step; in the end all are replaced."""
        return _Rows(x, {**(x.rows if isinstance(x, _Rows) else {}), index: update})


def _dot(e: LiteEmitter, operands: Sequence[Tensor], shape: Shape, element: str, attributes: _Attributes) -> Tensor:
    """Multiply the rows of a tensor by the rows of a matrix: the products of recurrent networks."""
    a, b = operands
    numbers = attributes["dot_dimension_numbers"]
    assert isinstance(numbers, DotDimensionNumbers)
    assert numbers.lhs_contracting_dimensions == (len(a.shape) - 1,)
    assert numbers.rhs_contracting_dimensions == (1,)
    return e.act("FULLY_CONNECTED", [a, b], shape, None, KeepNumDims=len(shape) != 2)


def _log_plus_one(e: LiteEmitter, operands: Sequence[Tensor], *_: Any) -> Tensor:
    """Compute log(1 + x) of small numbers, too: the rounding of 1 + x is undone by a factor."""
    [x] = operands
    above = x + 1
    return e.select(e.compare("EQ", above, 1), x, e.unary("log", above) * (x / (above - 1)))


def _tangent(e: LiteEmitter, operands: Sequence[Tensor], *_: Any) -> Tensor:
    [x] = operands
    return e.unary("sine", x) / e.unary("cosine", x)


def _absolute(e: LiteEmitter, operands: Sequence[Tensor], *_: Any) -> Tensor:
    [x] = operands
    return e.maximum(x, -x) if x.element in ("i64", "i8") else e.act("ABS", [x], x.shape)


def _reverse_bits(e: LiteEmitter, operands: Sequence[Tensor], *_: Any) -> Tensor:
    [x] = operands
    if x.element == "i1":
        return e.act("LOGICAL_NOT", [x], x.shape)
    return (np.iinfo(DTYPES[x.element]).max if x.element.startswith("ui") else -1) - x


_LOWERED: Mapping[str, Callable[[LiteEmitter, Sequence[Tensor], Shape, str, _Attributes], Tensor]] = {
    "abs": _absolute,
    "dot_general": _dot,
    "log_plus_one": _log_plus_one,
    "not": _reverse_bits,
    "optimization_barrier": lambda _, operands, *__: operands[0],
    "reshape": lambda e, operands, shape, *_: e.reshape(operands[0], shape),
    "tan": _tangent,
}
