"""Operands without elements: issue #391."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from webnn.proposals.proposal import Case, Decision, Proposal
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor, extreme
from webnn.validation.drafts import find_revision
from webnn.validation.drafts.delta import Check, RowChanges
from webnn.validation.operation import Call

__all__ = ["PROPOSAL"]

_SINCE = "2026-06"
_ROWS = find_revision(_SINCE).operations

# Validation: what needs an element has a check of its own, behind those of the draft.


def _needs_elements(requirement: str) -> Check:
    """Return a check that ``input`` has elements if the output has some."""

    def check(call: Call, output: OperandDescriptor, input: OperandDescriptor, *rest: Any) -> None:
        if 0 in input.dimensions and 0 not in output.dimensions:
            raise call.error("input", requirement, list(input.dimensions))

    return check


_needs_indices_of_something = _needs_elements("must have elements, because the indices take some")


def _needs_coordinates(call: Call, output: OperandDescriptor, input: OperandDescriptor, indices: OperandDescriptor, *rest: Any) -> None:
    """Check that the coordinates of ``gatherND`` and ``scatterND`` have parts."""
    if indices.dimensions[-1] == 0:
        raise call.error("indices", "must have a last dimension of at least 1", list(indices.dimensions))


def _needs_place(call: Call, output: OperandDescriptor, input: OperandDescriptor, indices: OperandDescriptor, *rest: Any) -> None:
    """Check that ``scatterElements`` and ``scatterND`` put their updates somewhere."""
    if 0 in input.dimensions and 0 not in indices.dimensions:
        raise call.error("input", "must have elements, because the indices name some", list(input.dimensions))


def _needs_pixels(call: Call, output: OperandDescriptor, input: OperandDescriptor, *rest: Any) -> None:
    """Check that a filter or a window moves over elements."""
    *filters, options = rest
    layout = options.inputLayout if filters else options.layout
    checked = [("input", input, layout), *(("filter", each, options.filterLayout) for each in filters)]
    for argument, operand, order in checked:
        if 0 in _pixels(operand, order):
            raise call.error(argument, "must have a height and a width of at least 1", list(operand.dimensions))
    if 0 in _pixels(output, layout):
        raise call.error("input", "must be at least as large as the filter or window", list(input.dimensions))


def _pixels(operand: OperandDescriptor, layout: str) -> tuple[int, int]:
    return operand.dimensions[layout.index("h")], operand.dimensions[layout.index("w")]


def _needs_edges(call: Call, output: OperandDescriptor, input: OperandDescriptor, *rest: Any) -> None:
    """Check that a mode of ``pad`` that copies elements has some."""
    mode = rest[-1].mode
    if mode != "constant":
        _needs_elements(f'must have elements, which the mode "{mode}" copies')(call, output, input)


_CHECKS: Mapping[str, tuple[Check, ...]] = {
    **dict.fromkeys(["argMax", "argMin"], (_needs_elements("must have elements along the axis, of which one is chosen"),)),
    **dict.fromkeys(["averagePool2d", "conv2d", "convTranspose2d", "l2Pool2d", "maxPool2d"], (_needs_pixels,)),
    **dict.fromkeys(["gather", "gatherElements"], (_needs_indices_of_something,)),
    "gatherND": (_needs_coordinates, _needs_indices_of_something),
    "pad": (_needs_edges,),
    "resample2d": (_needs_elements("must have elements, of which others are computed"),),
    "scatterElements": (_needs_place,),
    "scatterND": (_needs_coordinates, _needs_place),
}


# Translation: operators without elements need no engine.


def _translate(name: str) -> Any:
    """Return the translation of an operation."""
    # Imported lazily because it loads onnx.
    from webnn.builder.onnx.translate import TRANSLATIONS  # noqa: PLC0415

    base = TRANSLATIONS[name]
    return replace(base, emit=partial(_emit, base.emit), fast=None if base.fast is None else partial(_emit, base.fast), kernel="")


def _emit(base: Callable[..., Any], e: Any, op: Any) -> Any:
    """Emit an operator: a constant for results without elements, what is left of the operation where only operands have none."""
    if all(0 in output.dimensions for output in op.outputs):
        results = [_nothing(e, output) for output in op.outputs]
        return results if len(results) > 1 else results[0]
    if not any(0 in operand.descriptor.dimensions for operand in op.operands.values()):
        return base(e, op)
    return _REST[op.name](base, e, op)


def _nothing(e: Any, output: OperandDescriptor) -> Any:
    """Return a constant without elements."""
    if output.dataType in SMALL_TYPES:
        return e.cast(e.literal(np.empty(output.dimensions, np.int8)), output.dataType)
    return e.literal(np.empty(output.dimensions, NUMPY_DTYPES[output.dataType]))


def _fill(e: Any, output: OperandDescriptor, value: float) -> Any:
    """Return a value that fills an output."""
    return e.node("Expand", [e.scalar(value, output.dataType), e.ints(output.dimensions)])


#: The result of a reduction of no element, by the operation: a number, or whether it is the largest number of the type.
_REDUCTIONS: Mapping[str, float | bool] = {
    **dict.fromkeys(["reduceL1", "reduceL2", "reduceSum", "reduceSumSquare"], 0.0),
    **dict.fromkeys(["reduceLogSum", "reduceLogSumExp"], -np.inf),
    "reduceMax": False,
    "reduceMean": np.nan,
    "reduceMin": True,
    "reduceProduct": 1.0,
}


def _reduce(base: Callable[..., Any], e: Any, op: Any) -> Any:
    value = _REDUCTIONS[op.name]
    return _fill(e, op.outputs[0], extreme(op.outputs[0].dataType, largest=value) if isinstance(value, bool) else value)


def _concat(base: Callable[..., Any], e: Any, op: Any) -> Any:
    parts = [op[argument] for argument, operand in op.operands.items() if 0 not in operand.descriptor.dimensions]
    return e.node("Concat", parts, axis=op.arguments["axis"])


def _pad(base: Callable[..., Any], e: Any, op: Any) -> Any:
    return _fill(e, op.outputs[0], op.options.value)


def _keep_input(base: Callable[..., Any], e: Any, op: Any) -> Any:
    return e.node("Identity", [op["input"]])


def _with_zeros(axes: Callable[[Any], Mapping[str, int]]) -> Callable[..., Any]:
    """Return what emits an operator whose operands have no element along axes that are summed over: with one zero there."""

    def emit(base: Callable[..., Any], e: Any, op: Any) -> Any:
        for argument, axis in axes(op).items():
            descriptor = op.operands[argument].descriptor
            shape = list(descriptor.dimensions)
            shape[axis] = 1
            dataType = op.type(argument)
            op.inputs[argument] = e.node("Expand", [e.scalar(0, dataType), e.ints(shape)])
            changed = OperandDescriptor(descriptor.dataType, tuple(shape))
            op.operands[argument] = cast(Any, SimpleNamespace(descriptor=changed, _value=None))
        return base(e, op)

    return emit


def _channels(op: Any) -> Mapping[str, int]:
    return {"input": op.options.inputLayout.index("c"), "filter": op.options.filterLayout.index("i")}


def _recurrent(base: Callable[..., Any], e: Any, op: Any) -> Any:
    """Emit a network without steps, whose states stay as they are; or one of inputs without elements."""
    if op.shape("input")[0] > 0:
        return _with_zeros(lambda op: {"input": 2, "weight": 2})(base, e, op)
    # The sequence of no step, which may be the last of the outputs, has no elements.
    results = [
        _nothing(e, output) if 0 in output.dimensions else op.get(name) or _fill(e, output, 0)
        for name, output in zip(("initialHiddenState", "initialCellState", ""), op.outputs, strict=False)
    ]
    return results if len(results) > 1 else results[0]


_REST: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(_REDUCTIONS, _reduce),
    **dict.fromkeys(["scatterElements", "scatterND"], _keep_input),
    "concat": _concat,
    **dict.fromkeys(["conv2d", "convTranspose2d"], _with_zeros(_channels)),
    "gemm": _with_zeros(lambda op: {"a": 0 if op.options.aTranspose else 1, "b": 1 if op.options.bTranspose else 0}),
    "gru": _recurrent,
    "gruCell": _with_zeros(lambda op: {"input": 1, "weight": 1}),
    "lstm": _recurrent,
    "lstmCell": _with_zeros(lambda op: {"input": 1, "weight": 1}),
    "matmul": _with_zeros(lambda op: {"a": -1, "b": -2}),
    "pad": _pad,
}


def _change(name: str) -> RowChanges:
    changes: RowChanges = {"translation": partial(_translate, name)}
    if name in _CHECKS:
        changes["checks"] = _CHECKS[name]
    return changes


# Tests for implementations.


def _input(builder: Any, name: str, *shape: int) -> Any:
    return builder.input(name, {"dataType": "float32", "shape": list(shape)})


def _reduce_nothing(name: str, builder: Any) -> Mapping[str, Any]:
    return {"y": getattr(builder, name)(_input(builder, "x", 0, 3), axes=[0])}


_NOTHING, _SIX = np.empty((0, 3), np.float32), np.arange(6, dtype=np.float32).reshape(2, 3)
_TESTS = [
    Case("relu of nothing", lambda b: {"y": b.relu(_input(b, "x", 0, 3))}, {"x": _NOTHING}),
    Case("concat with nothing", lambda b: {"y": b.concat([_input(b, "x", 0, 3), _input(b, "z", 2, 3)], 0)}, {"x": _NOTHING, "z": _SIX}),
    Case("slice of nothing", lambda b: {"y": b.slice(_input(b, "z", 2, 3), [2, 0], [0, 3])}, {"z": _SIX}),
    Case(
        "matmul over no element",
        lambda b: {"y": b.matmul(_input(b, "x", 2, 0), _input(b, "w", 0, 2))},
        {"x": _NOTHING.reshape(2, 0), "w": _NOTHING.reshape(0, 2)},
    ),
    *(Case(f"{name} of no element", partial(_reduce_nothing, name), {"x": _NOTHING}) for name in _REDUCTIONS),
    Case("argMax chooses between elements", lambda b: {"y": b.argMax(_input(b, "x", 0, 3), 0)}, error="TypeError"),
    Case("maxPool2d needs pixels", lambda b: {"y": b.maxPool2d(_input(b, "x", 1, 1, 0, 3))}, error="TypeError"),
]

PROPOSAL = Proposal(
    name="zero-size",
    since=_SINCE,
    changed={name: _change(name) for name in _ROWS},
    flags={"min_dimension": 0},
    title="Operands without elements",
    source="webmachinelearning/webnn issue #391 with its comments up to 2024-08-21; the meeting of 2026-05-21 saw nothing that blocks it",
    summary="A dimension may have the size 0. A tensor can be sliced down to nothing, and joined with others later.",
    errors=(
        "`argMax`, `argMin`: the axis has elements, unless the result has none.",
        "`gather`, `gatherElements`, `gatherND`: the input has elements, unless no index takes one.",
        "`scatterElements`, `scatterND`: the input has elements, unless there is no update.",
        "`gatherND`, `scatterND`: the last dimension of the indices is at least 1.",
        "`conv2d`, `convTranspose2d` and pools: input, filter, window and output have a height and a width of at least 1.",
        '`pad` with another mode than "constant", `resample2d`: the input has elements, unless the output has none.',
    ),
    program=("None. A valid program stays valid and means the same.",),
    decisions=(
        Decision(
            "What do reductions of no element give?",
            "Their neutral element, as in NumPy and ONNX: 0 for sums and norms, 1 for `reduceProduct`, -Infinity for `reduceLogSum` and "
            "`reduceLogSumExp`. `reduceMax` gives -Infinity or the smallest integer of the type, `reduceMin` the opposite, as ONNX says "
            "since opset 20. `reduceMean` gives NaN, as NumPy does.",
        ),
        Decision(
            "What do sums of products over no element give?",
            "0, to which `gemm` and convolutions add their last operand: `matmul`, `gemm`, convolutions without input channels, `gru` and "
            "`lstm` and their cells of inputs without features.",
        ),
        Decision("What do `gru` and `lstm` without steps give?", "The initial states, or 0."),
        Decision(
            "What about images without height or width?",
            "They are refused: windows that lie wholly in the padding are an open question of their own (issue #935).",
        ),
        Decision(
            "Which backends run such operators?",
            "None has to: a result without elements needs no computation. Here such operators become constants of the model.",
        ),
    ),
    tests=_TESTS,
    example="""import numpy as np
import webnn

context = webnn.ML(revision="2026-06+zero-size").createContextSync()
builder = webnn.MLGraphBuilder(context)
x = builder.input("x", {"dataType": "float32", "shape": [2, 3]})
nothing = builder.slice(x, [2, 0], [0, 3])
print(nothing.shape, builder.reduceSum(nothing, axes=[0]).shape)
graph = builder.buildSync({"joined": builder.concat([nothing, x], 0), "sum": builder.reduceSum(nothing, axes=[0])})

tensors = {
    name: context.createTensorSync({"dataType": "float32", "shape": shape, "readable": True, "writable": True})
    for name, shape in {"x": [2, 3], "joined": [2, 3], "sum": [3]}.items()
}
context.writeTensor(tensors["x"], np.arange(6, dtype=np.float32))
context.dispatch(graph, {"x": tensors["x"]}, {name: tensors[name] for name in ("joined", "sum")})
for name in ("joined", "sum"):
    print(name, context.readTensorSync(tensors[name]).view(np.float32))
""",
)
