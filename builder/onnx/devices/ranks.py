"""Operators of more dimensions than a provider takes: neighbouring dimensions that are treated alike become one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby, zip_longest
from typing import Any

from webnn.builder.onnx.emitter import Emit, Emitter, Op
from webnn.validation.descriptor import DataType, OperandDescriptor, Shape

__all__ = ["carry", "merge_axis", "merge_elementwise", "merge_matmul", "merge_reduction"]


class _Merged(Op):
    """An operator whose operands have other shapes than those of the graph."""

    __slots__ = ("axis", "shapes")

    def __init__(self, op: Op, inputs: dict[str, str], shapes: Mapping[str, Shape], output: Shape, axis: int | None = None) -> None:
        outputs = (OperandDescriptor(op.outputs[0].dataType, output),)
        super().__init__(op._operator, op.operands, inputs, outputs, op.carried)
        self.options = op.options
        self.shapes = shapes
        self.axis = axis

    @property
    def arguments(self) -> dict[str, Any]:
        """The positional arguments other than operands, with the axis after merging."""
        return super().arguments if self.axis is None else {**super().arguments, "axis": self.axis}

    def shape(self, argument: str) -> Shape:
        """Return the shape of an operand after merging."""
        return self.shapes[argument]


def _group(shapes: Sequence[Shape]) -> list[int]:
    """Return how many dimensions each group has, for operands that are broadcast with each other."""
    # From the last dimension on; a missing dimension is of size 1.
    sizes = [*zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1)][::-1]
    # Where all sizes are 1, a dimension goes with the one before it.
    keys: list[tuple[bool, ...]] = []
    for each in sizes:
        keys.append(keys[-1] if keys and all(size == 1 for size in each) else tuple(size == 1 for size in each))
    return [len([*members]) for _, members in groupby(keys)]


def _merge(shape: Shape, groups: Sequence[int]) -> Shape:
    """Return the shape with one dimension for each group. A shape of fewer dimensions lacks the first ones; a scalar stays one."""
    if not shape:
        return shape
    padded = [1] * (sum(groups) - len(shape)) + list(shape)
    ends = [sum(groups[: number + 1]) for number in range(len(groups))]
    return tuple([math.prod(padded[end - count : end]) for end, count in zip(ends, groups, strict=True)])


def _emit(emit: Emit, e: Emitter, op: Op, shapes: Mapping[str, Shape], output: Shape, axis: int | None = None) -> str:
    """Emit an operator with other shapes, and bring its result into the right one."""
    inputs = {name: value if shapes[name] == op.shape(name) else e.reshape(value, shapes[name]) for name, value in op.inputs.items()}
    result = emit(e, _Merged(op, inputs, shapes, output, axis))
    assert isinstance(result, str)  # operators with several results are not merged
    return result if output == op.outputs[0].dimensions else e.reshape(result, op.outputs[0].dimensions)


def carry(emit: Emit, carriers: Mapping[DataType, DataType]) -> Emit:
    """Return a function that casts operands of some types and casts the result back, as `Translation.carry` does, but after merging."""
    return partial(_carry, emit, carriers) if carriers else emit


def _carry(emit: Emit, carriers: Mapping[DataType, DataType], e: Emitter, op: Op) -> str | Sequence[str]:
    carried = {name: carriers[op.type(name)] for name in op.inputs if op.type(name) in carriers}
    if not carried:
        return emit(e, op)
    casts = {op.inputs[name]: e.cast(op.inputs[name], carrier) for name, carrier in carried.items()}
    op.inputs = {name: casts[value] if name in carried else value for name, value in op.inputs.items()}
    op.carried = {**op.carried, **carried}
    output = op.outputs[0]
    op.outputs = (OperandDescriptor(carriers.get(output.dataType, output.dataType), output.dimensions),)
    result = emit(e, op)
    assert isinstance(result, str)  # as above
    return e.cast(result, output.dataType) if output.dataType in carriers else result


def merge_elementwise(emit: Emit, rank: int) -> Emit:
    """Return a function that emits an elementwise operator with at most ``rank`` dimensions, where merging gets it there."""
    return partial(_elementwise, emit, rank)


def _elementwise(emit: Emit, rank: int, e: Emitter, op: Op) -> str | Sequence[str]:
    output = op.outputs[0].dimensions
    if len(output) <= rank:
        return emit(e, op)
    groups = _group([*[op.shape(name) for name in op.inputs], output])
    if len(groups) > rank:
        return emit(e, op)
    return _emit(emit, e, op, {name: _merge(op.shape(name), groups) for name in op.inputs}, _merge(output, groups))


def merge_reduction(emit: Emit, rank: int) -> Emit:
    """Return a function that emits a reduction over ``axes`` with at most ``rank`` dimensions, where merging gets it there."""
    return partial(_reduction, emit, rank)


def _reduction(emit: Emit, rank: int, e: Emitter, op: Op) -> str | Sequence[str]:
    shape, options = op.shape("input"), op.options
    if len(shape) <= rank:
        return emit(e, op)
    axes = range(len(shape)) if options.axes is None else options.axes
    reduced = [(key, len([*members])) for key, members in groupby([axis in axes for axis in range(len(shape))])]
    if len(reduced) > rank:
        return emit(e, op)
    merged = _merge(shape, [count for _, count in reduced])
    reducedAxes = [axis for axis, (key, _) in enumerate(reduced) if key]
    op.options = options.model_copy(update={"axes": reducedAxes, "keepDimensions": False})
    output = tuple([size for axis, size in enumerate(merged) if axis not in reducedAxes])
    return _emit(emit, e, op, {"input": merged}, output)


def merge_axis(emit: Emit, rank: int) -> Emit:
    """Return a function that emits an operation along its argument ``axis``, which its result lacks, with at most ``rank`` dimensions."""
    return partial(_along_axis, emit, rank)


def _along_axis(emit: Emit, rank: int, e: Emitter, op: Op) -> str | Sequence[str]:
    shape, axis = op.shape("input"), op.arguments.get("axis")
    if len(shape) <= rank or axis is None:
        return emit(e, op)
    before, after = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    return _emit(emit, e, op, {"input": (before, shape[axis], after)}, (before, after), axis=1)


def merge_matmul(emit: Emit, rank: int) -> Emit:
    """Return a function that emits a product of matrices with at most ``rank`` dimensions, where merging gets it there."""
    return partial(_matmul, emit, rank)


def _matmul(emit: Emit, rank: int, e: Emitter, op: Op) -> str | Sequence[str]:
    output = op.outputs[0].dimensions
    if len(output) <= rank:
        return emit(e, op)
    groups = _group([each[:-2] for each in (op.shape("a"), op.shape("b"), output)])
    if len(groups) > rank - 2:
        return emit(e, op)
    shapes = {name: (*_merge(op.shape(name)[:-2], groups), *op.shape(name)[-2:]) for name in ("a", "b")}
    return _emit(emit, e, op, shapes, (*_merge(output[:-2], groups), *output[-2:]))
