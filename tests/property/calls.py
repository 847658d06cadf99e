"""A call of one operation as data: how it is made through the public API, what is computed, and what the reference says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.support import Act, Array, compute_directly
from webnn import MLContext, MLGraphBuilder, MLOperand, MLTensor
from webnn.reference.operations import operations_of

__all__ = ["Call", "Connected", "Operands", "Raw", "Results", "compute", "connect", "expected", "map_arrays"]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One call of an operation.

    Attributes:
        name: The operation.
        arguments: The positional arguments by their names, in the IDL's order; an array is the value of an operand. One array in
            two places is one operand.
        options: The options; an array is the value of an operand, an `Act` is an activation.
        constants: Which operands are constants, and not inputs: the pattern is repeated over the operands in their order.
        revision: The draft.
    """

    name: str
    arguments: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    constants: tuple[bool, ...] = (False,)
    revision: str = "2024-06"


@dataclass(frozen=True)
class Raw:
    """A value that the operation gets unchanged: an array does not become an operand."""

    value: Any


@dataclass(frozen=True)
class Connected:
    """A call that a builder accepted: its outputs, and the values of the graph's inputs."""

    outputs: list[MLOperand]
    feeds: dict[str, Array]


@dataclass(frozen=True)
class Operands:
    """The operands of calls on one builder: an array that they share is one operand.

    Attributes:
        made: Each operand, and its array, by the array's identity.
        feeds: The values of the inputs among them.
    """

    made: dict[int, tuple[MLOperand, Array]] = field(default_factory=dict)
    feeds: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """The results of a graph: in the buffers of the program, and in memory that the engine chose."""

    bound: list[Array]
    fresh: list[Array]


def map_arrays(value: Any, function: Callable[[Array], Any]) -> Any:
    """Apply a function to the arrays within arguments or options."""
    if isinstance(value, np.ndarray):
        return function(value)
    if isinstance(value, Mapping):
        return {key: map_arrays(element, function) for key, element in value.items()}
    if isinstance(value, list):
        return [map_arrays(element, function) for element in value]
    return value


def connect(builder: MLGraphBuilder, call: Call, operands: Operands | None = None) -> Connected:
    """Make the operands of a call, and call the operation.

    Args:
        builder: The builder.
        call: The call.
        operands: The operands of earlier calls, which are used again.
    """
    shape = builder._revision.shape
    known = operands or Operands()

    def operand(array: Array) -> MLOperand:
        if id(array) not in known.made:
            descriptor: Any = {"dataType": array.dtype.name, shape: list(array.shape)}
            if call.constants[len(known.made) % len(call.constants)]:
                known.made[id(array)] = builder.constant(descriptor, array), array
            else:
                name = f"input{len(known.feeds)}"
                known.feeds[name] = array
                known.made[id(array)] = builder.input(name, descriptor), array
        return known.made[id(array)][0]

    def activation(value: Any) -> Any:
        if isinstance(value, Act):
            return getattr(builder, value.name)(*([value.options] if value.options else []))
        if isinstance(value, Raw):
            return value.value
        return [activation(element) for element in value] if isinstance(value, list) else value

    arguments = [activation(map_arrays(argument, operand)) for argument in call.arguments.values()]
    options = {member: activation(map_arrays(value, operand)) for member, value in call.options.items()}
    returned = getattr(builder, call.name)(*arguments, *([options] if options else []))
    return Connected(returned if isinstance(returned, list) else [returned], known.feeds)


def compute(context: MLContext, builder: MLGraphBuilder, outputs: Sequence[MLOperand], feeds: Mapping[str, Array]) -> Results:
    """Build a graph and compute it twice: once as programs do, once with outputs that the engine allocates by its own shapes."""
    graph = builder.buildSync({f"output{index}": operand for index, operand in enumerate(outputs)})
    inputs = {name: feeds[name].copy() for name in graph._implementation.inputs}
    # The engine's session gives the arrays it wants to give, whatever the descriptors say.
    fresh = [np.asarray(array) for array in compute_directly(graph, feeds)]
    described = {f"output{index}": operand.descriptor for index, operand in enumerate(outputs)}
    if not context._revision.tensors:
        buffers = {name: np.zeros(each.dimensions, each.dataType) for name, each in described.items()}
        result = context.computeSync(graph, inputs, buffers)
        return Results([result["outputs"][name] for name in buffers], fresh)

    def tensor(dataType: Any, shape: Sequence[int]) -> MLTensor:
        return context.createTensorSync(dataType=dataType, shape=shape, readable=True, writable=True)

    given = {name: tensor(array.dtype.name, array.shape) for name, array in inputs.items()}
    taken = {name: tensor(each.dataType, each.dimensions) for name, each in described.items()}
    for name, array in inputs.items():
        context.writeTensor(given[name], array)
    context.dispatch(graph, given, taken)
    return Results([context.readTensorSync(each) for each in taken.values()], fresh)


def expected(call: Call, function: Callable[[Array], Array] = lambda array: array) -> list[Array]:
    """Compute the reference.

    Args:
        call: The call.
        function: Changes each array first.
    """

    def activation(value: Any) -> Any:
        if isinstance(value, Act):
            return value.name, value.options or {}
        return [activation(element) for element in value] if isinstance(value, list) else value

    arguments = map_arrays(dict(call.arguments), function)
    options = {member: activation(map_arrays(value, function)) for member, value in call.options.items()}
    returned = operations_of(call.revision)[call.name](*arguments.values(), **options)
    return returned if isinstance(returned, list) else [returned]
