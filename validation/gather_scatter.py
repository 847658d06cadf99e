"""Operations that pick or replace elements by index: `#api-mlgraphbuilder-gather`, `#api-mlgraphbuilder-scatterelements`.

Since 2026-06 the driver checks the types and the ranks that the draft's tables restrict; the validators have the other steps.
"""

from __future__ import annotations

from webnn.validation.descriptor import OperandDescriptor, Shape
from webnn.validation.dictionary import Dictionary, UnsignedLong
from webnn.validation.operation import Call, Operation

__all__ = ["OPERATIONS", "GatherOptions", "ScatterOptions", "gather", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd"]


class GatherOptions(Dictionary):
    """``MLGatherOptions``, `#dictdef-mlgatheroptions`."""

    axis: UnsignedLong = 0


class ScatterOptions(Dictionary):
    """``MLScatterOptions``, `#dictdef-mlscatteroptions`."""

    axis: UnsignedLong = 0


def gather(call: Call, input: OperandDescriptor, indices: OperandDescriptor, options: GatherOptions) -> OperandDescriptor:
    """Validate ``gather``, `#api-mlgraphbuilder-gather`."""
    # [2; 2026-06: 3] The indices are of an integer type that the revision allows.
    call.check_type("indices", indices)
    # 3.-5. The axis, and the shapes.
    axis, shapeInput = options.axis, input.dimensions
    # [6; 2026-06: 7] The axis is one of the input's.
    if axis >= len(shapeInput):
        raise call.error("options.axis", f"must be less than the rank of input, {len(shapeInput)}", axis, rule="axis")
    # 7.-16. The dimensions before the axis, those of the indices, and those behind the axis; 17.-19. the output's descriptor. (The drafts'
    # loops miss the last part, and they do not check the new shape: see docs/spec-issues.md.)
    return call.output(input.dataType, (*shapeInput[:axis], *indices.dimensions, *shapeInput[axis + 1 :]))


def _check_elements(call: Call, input: OperandDescriptor, indices: OperandDescriptor, axis: int) -> None:
    """Check the steps that ``gatherElements`` and ``scatterElements`` share; the latter has one step more before them."""
    # [a] The indices have as many dimensions as the input.
    if indices.rank != input.rank:
        raise call.error("indices", f"must have the rank of input, {input.rank}", list(indices.dimensions), rule="rank")
    # [b] The axis is one of the input's.
    if axis >= input.rank:
        raise call.error("options.axis", f"must be less than the rank of input, {input.rank}", axis, rule="axis")
    # [c] The indices have the input's shape, but along the axis there may be any number of them.
    indicesShapeExpected = (*input.dimensions[:axis], indices.dimensions[axis], *input.dimensions[axis + 1 :])
    call.check_shape("indices", indices, indicesShapeExpected)


def gather_elements(call: Call, input: OperandDescriptor, indices: OperandDescriptor, options: GatherOptions) -> OperandDescriptor:
    """Validate ``gatherElements``, `#api-mlgraphbuilder-gatherelements`."""
    # [2026-06: 4, 6, 9] Ranks, axis, shape.
    _check_elements(call, input, indices, options.axis)
    # 10. One element for each index. (The draft copies the input's shape: see docs/spec-issues.md.)
    return call.output(input.dataType, indices.dimensions)


def _check_coordinates(call: Call, input: OperandDescriptor, indices: OperandDescriptor) -> Shape:
    """Check the coordinates that the indices hold in their last dimension. Return the shape of all slices together."""
    coordinateSize = indices.dimensions[-1]
    if coordinateSize > input.rank:
        raise call.error(
            "indices", f"must have a last dimension of at most the rank of input, {input.rank}", list(indices.dimensions), rule="rank"
        )
    return (*indices.dimensions[:-1], *input.dimensions[coordinateSize:])


def gather_nd(call: Call, input: OperandDescriptor, indices: OperandDescriptor) -> OperandDescriptor:
    """Validate ``gatherND``, `#api-mlgraphbuilder-gathernd`."""
    # [2026-06: 10] The coordinates have at most as many parts as the input has dimensions.
    outputShape = _check_coordinates(call, input, indices)
    # 14. The output is one that the implementation supports.
    return call.output(input.dataType, outputShape)


def scatter_elements(
    call: Call, input: OperandDescriptor, indices: OperandDescriptor, updates: OperandDescriptor, options: ScatterOptions
) -> OperandDescriptor:
    """Validate ``scatterElements``, `#api-mlgraphbuilder-scatterelements`."""
    # [2026-06: 4] The updates have the input's data type.
    call.check_same_type("updates", updates, "input", input)
    # [2026-06: 5] They have its rank, too.
    if updates.rank != input.rank:
        raise call.error("updates", f"must have the rank of input, {input.rank}", list(updates.dimensions), rule="rank")
    # [2026-06: 5, 7, 10] Ranks, axis, shape.
    _check_elements(call, input, indices, options.axis)
    # [2026-06: 11] There is one update for each index.
    call.check_shape("updates", updates, indices.dimensions)
    return input


def scatter_nd(call: Call, input: OperandDescriptor, indices: OperandDescriptor, updates: OperandDescriptor) -> OperandDescriptor:
    """Validate ``scatterND``, `#api-mlgraphbuilder-scatternd`."""
    # [2026-06: 4] The updates have the input's data type.
    call.check_same_type("updates", updates, "input", input)
    # [2026-06: 10] The coordinates have at most as many parts as the input has dimensions.
    expectedUpdatesShape = _check_coordinates(call, input, indices)
    # [2026-06: 14] There is one update for each slice that they name.
    call.check_shape("updates", updates, expectedUpdatesShape)
    return input


OPERATIONS = (
    Operation(name="gather", anchor="#api-mlgraphbuilder-gather", operands=("input", "indices"), infer=gather, options=GatherOptions),
    Operation(
        name="gatherElements",
        anchor="#api-mlgraphbuilder-gatherelements",
        operands=("input", "indices"),
        infer=gather_elements,
        options=GatherOptions,
    ),
    Operation(name="gatherND", anchor="#api-mlgraphbuilder-gathernd", operands=("input", "indices"), infer=gather_nd),
    Operation(
        name="scatterElements",
        anchor="#api-mlgraphbuilder-scatterelements",
        operands=("input", "indices", "updates"),
        infer=scatter_elements,
        options=ScatterOptions,
    ),
    Operation(name="scatterND", anchor="#api-mlgraphbuilder-scatternd", operands=("input", "indices", "updates"), infer=scatter_nd),
)
