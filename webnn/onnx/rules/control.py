"""Operators with bodies: If, Loop, Scan. WebNN has no control flow, so loops are unrolled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, ValueInfoProto

from webnn.importing.steps import Result, normalize_axis
from webnn.importing.values import Array, Refused, Value, make_uniform
from webnn.onnx.model import element_type
from webnn.onnx.node import Node

__all__ = ["RULES"]

#: The most bytes of known results of steps that are joined at import; the graph joins larger ones.
_MOST_BYTES = 1 << 24
#: The most slices of an input.
_MOST_STEPS = 1 << 16


def _if(node: Node) -> list[Value]:
    """Import the branch of a known condition. With a computed one both are computed, and `where` selects; their shapes must agree."""
    condition = node.value(0)
    if condition.size != 1:
        raise Refused(f"the condition must have one element, got {list(condition.shape)}")
    known = node.find_array(condition)
    if known is not None:
        return _branch(node, "then_branch" if known.any() else "else_branch")
    roots = sorted(condition.roots)
    advice = f"give constants={{{', '.join([f'{name!r}: ...' for name in roots])}}} if known: one branch is left then" if roots else ""
    try:
        results, others = [_branch(node, name, tentative=True) for name in ("then_branch", "else_branch")]
    except Refused as refused:
        where = f"the condition depends on the input {' and '.join(map(repr, roots))}, and {refused.reason}" if roots else refused.reason
        raise Refused(where, advice) from None
    for index, (name, a, b) in enumerate(zip(node.outputs, results, others, strict=True)):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            given = f"{a.dtype.name} {list(a.shape)} and {b.dtype.name} {list(b.shape)}"
            raise Refused(f"the branches must give {name} one type and shape if the condition is computed, got {given}", advice)
        if a is not b:
            selector = node.reshape(node.operand(0), [])
            results[index] = node.typed(node.builder.where(selector, node.operand_of(a), node.operand_of(b)), a.dtype)
    return results


def _branch(node: Node, name: str, *, tentative: bool = False) -> list[Value]:
    values = node.run_body(node.graph(name), name, [], tentative=tentative)
    if len(values) != len(node.outputs):
        raise Refused(f"{name} must have {len(node.outputs)} outputs, got {len(values)}")
    return values


def _loop(node: Node) -> list[Result]:
    """Unroll the body. The trip count and the condition before each step must be known; the import limits the number of steps."""
    body = node.graph("body")
    if len(body.input) < 2:
        raise Refused(f"body must have at least 2 inputs, got {len(body.input)}")
    # One of both may say that there is no step.
    known = [node.find_array(node.value(index)) if node.given(index) else None for index in (0, 1)]
    isSkipped = any(array is not None and array.size == 1 and array.item() <= 0 for array in known)
    count = _item(node, 0, "the trip count") if node.given(0) and not isSkipped else None
    running = not isSkipped and (bool(_item(node, 1, "the condition")) if node.given(1) else True)
    states = [node.value(index) for index in range(2, len(node.inputs))]
    steps: list[list[Value]] = []
    while running and (count is None or len(steps) < count):
        number = _scalar(body.input[0], np.array(len(steps), np.int64))
        condition = _scalar(body.input[1], np.ones((), np.bool_))
        results = _step(node, body, len(steps), [number, condition, *states], 1 + len(states))
        states = results[1 : 1 + len(states)]
        steps.append(results[1 + len(states) :])
        if count is None or len(steps) < count:
            running = _continues(node, results[0])
    if not steps:
        empty = [_empty(info) for info in body.output[1 + len(states) :]]
        return [*states, *(each if name else None for each, name in zip(empty, node.outputs[len(states) :], strict=False))]
    return [*states, *_collect(node, steps, len(states), [0] * (len(body.output) - 1 - len(states)))]


def _empty(info: ValueInfoProto) -> Array:
    """Return the joined results of no steps, whose type and shape the body declares."""
    tensor = info.type.tensor_type
    if not tensor.HasField("shape") or any(not dim.HasField("dim_value") or dim.dim_value < 0 for dim in tensor.shape.dim):
        raise Refused("there must be a step if results of all steps are joined, or the body must declare their shape, got none")
    return make_uniform((0, *(dim.dim_value for dim in tensor.shape.dim)), element_type(tensor.elem_type))


def _item(node: Node, index: int, what: str) -> Any:
    array = node.known(index, what)
    if array.size != 1:
        raise Refused(f"{what} must have one element, got {list(array.shape)}")
    return array.item()


def _scalar(info: ValueInfoProto, array: Array) -> Value:
    """Return a number in the rank that the body declares: 0 or 1."""
    tensor = info.type.tensor_type
    return Value.known(array.reshape([1] * (tensor.HasField("shape") and len(tensor.shape.dim) == 1)))


def _continues(node: Node, condition: Value) -> bool:
    known = node.find_array(condition)
    if known is None:
        raise Refused("the condition of each step must be known at import, but the body computes it from data")
    if known.size != 1:
        raise Refused(f"the condition must have one element, got {list(known.shape)}")
    return bool(known.any())


def _step(node: Node, body: GraphProto, index: int, arguments: Sequence[Value], least: int) -> list[Value]:
    """Run the body once; it must have at least `least` outputs."""
    if len(body.output) < least:
        raise Refused(f"body must have at least {least} outputs, got {len(body.output)}")
    return node.run_body(body, f"body[{index}]", arguments)


def _collect(node: Node, steps: Sequence[Sequence[Value]], first: int, axes: Sequence[int]) -> list[Result]:
    """Join the results of all steps along a new axis of each output, from the first one that they go to."""
    used = [bool(name) for name in node.outputs[first:]]
    if not steps and any(used):
        raise Refused("there must be a step if results of all steps are joined, got none")
    return [_stack(node, [step[index] for step in steps], axes[index]) if wanted else None for index, wanted in enumerate(used)]


def _stack(node: Node, values: Sequence[Value], axis: int, what: str = "the scan output axis") -> Value:
    """Join values along a new axis."""
    first = values[0]
    for value in values:
        if (value.dtype, value.shape) != (first.dtype, first.shape):
            given = f"{first.dtype.name} {list(first.shape)} and {value.dtype.name} {list(value.shape)}"
            raise Refused(f"results that are joined must have one type and shape in all steps, got {given}")
    axis = normalize_axis(what, axis, first.rank + 1)
    arrays = [array for array in map(node.find_array, values) if array is not None]
    if len(arrays) == len(values) and first.size * first.dtype.itemsize * len(values) <= _MOST_BYTES:
        return Value.known(np.stack(arrays, axis))
    shape = [*first.shape[:axis], 1, *first.shape[axis:]]
    parts = [node.reshape(node.operand_of(value), shape) for value in values]
    return node.typed(parts[0] if len(parts) == 1 else node.builder.concat(parts, axis), first.dtype)


def _unstack(node: Node, value: Value, axis: int) -> list[Value]:
    """Split a value along an axis, which goes."""
    count = value.shape[axis]
    if count > _MOST_STEPS:
        raise Refused(f"there must be at most {_MOST_STEPS} steps, got {count}")
    known = node.find_array(value)
    if known is not None:
        return [Value.known(each) for each in np.moveaxis(known, axis, 0)]
    shape = [*value.shape[:axis], *value.shape[axis + 1 :]]
    operand = node.operand_of(value)
    parts = [operand] if count == 1 else node.builder.split(operand, count, axis=axis)
    return [node.typed(node.reshape(part, shape), value.dtype) for part in parts]


def _scan(node: Node) -> list[Result]:
    """Unroll the body over the slices of the inputs. Opset 8 has a batch in front: its elements are computed one by one."""
    body = node.graph("body")
    count = node.integer("num_scan_inputs")
    values = [node.value(index) for index in range(1 if node.version == 8 else 0, len(node.inputs))]
    if not 1 <= count <= len(values):
        raise Refused(f"num_scan_inputs must be from 1 to the number of inputs, {len(values)}, got {count}")
    states, inputs = values[:-count], values[-count:]
    if node.version == 8:
        return _scan_batch(node, body, states, inputs)
    outputs = len(body.output) - len(states)
    axes = _list(node, "scan_input_axes", count)
    states, steps = _scan_once(node, body, states, inputs, axes, _directions(node, "scan_input_directions", count))
    return _finish(node, states, steps, _list(node, "scan_output_axes", outputs), _directions(node, "scan_output_directions", outputs))


def _scan_batch(node: Node, body: GraphProto, states: Sequence[Value], inputs: Sequence[Value]) -> list[Result]:
    for value in (*states, *inputs):
        if value.rank < (2 if value in inputs else 1) or value.shape[0] != inputs[0].shape[0] or not value.shape[0]:
            raise Refused(f"each input must have the batch of the others in front, at least 1, got {list(value.shape)}")
    length = inputs[0].shape[1]
    if node.given(0) and any(each != length for each in node.known_integers(0, "sequence_lens")):
        raise Refused(f"sequence_lens must be the length of the sequence, {length}")
    backward = _directions(node, "directions", len(inputs))
    elements: list[list[Value]] = []
    batches = [_unstack(node, value, 0) for value in (*states, *inputs)]
    for each in zip(*batches, strict=True):
        begin, sequences = each[: len(states)], each[len(states) :]
        finals, steps = _scan_once(node, body, begin, sequences, [0] * len(inputs), backward)
        count = len(body.output) - len(states)
        results = _finish(node, finals, steps, [0] * count, [False] * count)
        elements.append([value for value in results if isinstance(value, Value)])
    names = [index for index, name in enumerate(node.outputs) if name or index < len(states)]
    joined = {name: _stack(node, [element[index] for element in elements], 0) for index, name in enumerate(names)}
    return [joined.get(index) for index in range(len(node.outputs))]


def _scan_once(
    node: Node, body: GraphProto, states: Sequence[Value], inputs: Sequence[Value], axes: Sequence[int], backward: Sequence[bool]
) -> tuple[list[Value], list[list[Value]]]:
    """Return the states after the last step, and the other results of each step."""
    counted = [normalize_axis("scan_input_axes", axis, value.rank) for axis, value in zip(axes, inputs, strict=True)]
    lengths = [value.shape[axis] for axis, value in zip(counted, inputs, strict=True)]
    if len({*lengths}) > 1:
        raise Refused(f"the sequences must have one length, got {lengths}")
    slices = [_unstack(node, value, axis) for axis, value in zip(counted, inputs, strict=True)]
    sequences = [parts[::-1] if last else parts for last, parts in zip(backward, slices, strict=True)]
    current = list(states)
    steps: list[list[Value]] = []
    for index, parts in enumerate(zip(*sequences, strict=True)):
        results = _step(node, body, index, [*current, *parts], len(current))
        current = results[: len(current)]
        steps.append(results[len(current) :])
    return current, steps


def _finish(
    node: Node, states: Sequence[Value], steps: Sequence[Sequence[Value]], axes: Sequence[int], backward: Sequence[bool]
) -> list[Result]:
    """Return the outputs: the states, and the results of all steps, joined along an axis, some of them from the last to the first."""
    wanted = len(node.outputs) - len(states)
    if wanted > len(axes):
        raise Refused(f"has {len(states) + len(axes)} outputs, got names for {len(node.outputs)}")
    ordered = [
        [steps[-1 - number if backward[index] else number][index] for index in range(max(wanted, 0))] for number in range(len(steps))
    ]
    return [*states, *_collect(node, ordered, len(states), axes)]


def _list(node: Node, name: str, count: int) -> list[int]:
    """Return an attribute with one integer for each input or output."""
    numbers = node.integers(name, [0] * count)
    if len(numbers) != count:
        raise Refused(f"{name} must have {count} numbers, got {len(numbers)}")
    return numbers


def _directions(node: Node, name: str, count: int) -> list[bool]:
    numbers = _list(node, name, count)
    if any(number not in (0, 1) for number in numbers):
        raise Refused(f"{name} must be 0 or 1 for each, got {numbers}")
    return [number == 1 for number in numbers]


RULES: Mapping[str, Callable[[Node], Sequence[Result]]] = {"If": _if, "Loop": _loop, "Scan": _scan}
