"""Operators and graphs, computed by the reference: `evaluate` and `compute`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder.description import DescriptionError
from webnn.reference.numbers import Array, cast_number
from webnn.reference.operations import operations_of
from webnn.validation.buffers import elements_mismatch
from webnn.validation.descriptor import CARRIERS, FLOAT_TYPES, SMALL_TYPES, OperandDescriptor, integer_range, pack, unpack
from webnn.validation.drafts import find_revision
from webnn.validation.errors import DOMException, NotSupportedError, OperationError, WebNNTypeError, label_prefix

if TYPE_CHECKING:
    from webnn.builder.description import ActivationDescription, GraphDescription, OperatorDescription
    from webnn.validation.operation import Operation

__all__ = ["Program", "compute", "evaluate", "last_uses"]

#: No draft has this type. Nothing is rounded where operands have it.
_EXACT = np.dtype(np.float64)


def compute(description: GraphDescription, inputs: Mapping[str, Any], *, exact: bool = False) -> dict[str, Array]:
    """Compute a graph: each operator in float64, its results rounded to the types that the graph gives them.

    Args:
        description: The graph.
        inputs: An array for each input: of its data type, with as many elements, in row-major order. Two elements of int4 and uint4 share a
            byte.
        exact: Round nothing: floating-point values are float64 from the inputs to the outputs. Integers stay what they are.

    Returns:
        The outputs by their names. They have the shapes of the graph; those of int4 and uint4 are flat arrays of bytes.

    Raises:
        WebNNTypeError: An input is missing, is none of the graph, or has another type or size. Or the draft refuses an operator.
        DescriptionError: The description contradicts itself.
        NotSupportedError: The reference has not got an operation, because an addition to the draft brought it.
        OperationError: The computation fails: there is not enough memory, for example.
    """
    program = Program(description.infer())
    return program.run(_check(description.inputs, inputs), description.outputs, exact=exact)


def evaluate(
    operator: OperatorDescription,
    draft: str,
    arrays: Mapping[str, Array],
    *,
    descriptors: Mapping[str, OperandDescriptor] | None = None,
    exact: bool = False,
) -> tuple[Array, ...]:
    """Compute one operator. Its arguments are taken as valid.

    Args:
        operator: The operator.
        draft: The draft, as `GraphDescription.draft`.
        arrays: Its operands, by the names of their values.
        descriptors: The types and shapes of the values, as `GraphDescription.descriptors` returns them. Needed if one is int4 or uint4, or
            if an array has been computed with ``exact`` and is float64; otherwise the arrays tell.
        exact: Do not round the results: those of floating point are float64.

    Returns:
        The results.

    Raises:
        NotSupportedError: The reference has not got the operation.
        DescriptionError: The operator lacks an argument, or an array of an operand is not given.
        ValueError: There is no such draft.
    """
    function = _find(operator, draft)
    row = find_revision(_plain(draft)).operations[operator.operation]
    known = descriptors or {}
    for argument, _, value in operator.named_values():
        if value not in arrays:
            raise DescriptionError(f"there is no array for the value {value!r}", argument)

    def find(value: str) -> Array:
        array = np.asarray(arrays[value])
        descriptor = known.get(value)
        if descriptor is not None and descriptor.dataType in SMALL_TYPES:
            return unpack(array, descriptor.dataType, descriptor.dimensions)
        return array.astype(_EXACT) if exact and array.dtype.kind == "f" else array

    ordered = _order(operator, row)
    if exact:
        ordered = _widen(ordered, row, _first_type(operator, arrays, known))
    arguments, options = ordered.call(find, _activation)
    options.pop("label", None)
    returned = function(*[_carrier(each) for each in arguments], **options)
    results = [np.asarray(each) for each in (returned if isinstance(returned, list) else [returned])]
    types = [known[name].dataType if name in known else "" for name in operator.outputs]
    return tuple([_pack(each, type, arguments[0]) if type in SMALL_TYPES else each for each, type in zip(results, types, strict=True)])


class Program:
    """A graph that the reference can compute several times.

    Args:
        description: The graph. Its operators have descriptors: a built graph's, or what `GraphDescription.infer` returns.

    Raises:
        NotSupportedError: The reference has not got an operation.
    """

    __slots__ = ("_description", "_descriptors")

    def __init__(self, description: GraphDescription) -> None:
        for operator in description.operators:
            _find(operator, description.draft)
        self._description = description
        self._descriptors = description.descriptors()

    def run(self, inputs: Mapping[str, Array], outputs: Collection[str], *, exact: bool = False) -> dict[str, Array]:
        """Compute some outputs.

        Args:
            inputs: An array of the right type and shape for each input; they are only read.
            outputs: The names of the outputs.
            exact: As for `compute`.

        Returns:
            The outputs by their names: new arrays.

        Raises:
            OperationError: An operator fails.
        """
        graph = self._description.select(outputs)
        values = {**inputs, **{name: constant.value for name, constant in graph.constants.items()}}
        # An intermediate value is dropped after its last use.
        last = last_uses(graph)
        kept = {*graph.outputs.values()}
        for position, operator in enumerate(graph.operators):
            try:
                results = evaluate(operator, graph.draft, values, descriptors=self._descriptors, exact=exact)
            except Exception as error:  # whatever NumPy raises
                raise OperationError(
                    f"{label_prefix(operator.label)}compute: the reference failed at {operator.operation}: {_say(error)}",
                    operation=operator.operation,
                    label=operator.label,
                ) from error
            values.update(zip(operator.outputs, results, strict=True))
            for _, _, value in operator.named_values():
                if last[value] == position and value not in kept:
                    values.pop(value, None)
        return {name: values[value] for name, value in graph.outputs.items()}


def last_uses(description: GraphDescription) -> dict[str, int]:
    """Return for each value that an operator takes the position of the last one that does."""
    return {value: position for position, operator in enumerate(description.operators) for _, _, value in operator.named_values()}


def _plain(draft: str) -> str:
    """Return a draft without its additions."""
    return draft.partition("+")[0]


def _find(operator: OperatorDescription, draft: str) -> Callable[..., Array | list[Array]]:
    function = operations_of(_plain(draft)).get(operator.operation)
    if function is None:
        raise NotSupportedError(
            f"{label_prefix(operator.label)}{operator.operation}: the reference has no such operation in the draft {draft}",
            operation=operator.operation,
        )
    return function


def _order(operator: OperatorDescription, row: Operation) -> OperatorDescription:
    """Return the operator with its positional arguments in the IDL's order."""
    names = [argument.name for argument in row.arguments]
    for part, given, wanted in (("inputs", operator.inputs, row.operands), ("arguments", operator.arguments, names)):
        if set(given) != set(wanted):
            raise DescriptionError(f"must be {', '.join(wanted) or 'none'}, got {', '.join(given) or 'none'}", part)
    inputs = {name: operator.inputs[name] for name in row.operands}
    return replace(operator, inputs=inputs, arguments={name: operator.arguments[name] for name in names})


def _first_type(operator: OperatorDescription, arrays: Mapping[str, Array], known: Mapping[str, OperandDescriptor]) -> str:
    """Return the data type of the first operand."""
    _, _, value = operator.named_values()[0]
    return known[value].dataType if value in known else np.asarray(arrays[value]).dtype.name


def _widen(operator: OperatorDescription, row: Operation, dataType: str) -> OperatorDescription:
    """Return the operator for operands of float64: what it takes from their type is taken from their own type before."""
    arguments = {name: _EXACT.name if value in FLOAT_TYPES else value for name, value in operator.arguments.items()}
    options = dict(operator.options)
    if dataType in FLOAT_TYPES and row.options is not None:
        for name in row.numbers:
            number = options.get(name, row.options.model_fields[name].default)
            if number is not None:
                options[name] = cast_number(number, np.dtype(dataType))
    return replace(operator, arguments=arguments, options=options)


def _activation(activation: ActivationDescription) -> tuple[str, dict[str, Any]]:
    return activation.operation, dict(activation.options)


def _carrier(argument: Any) -> Any:
    """Return the type in which the elements of a small type are computed; any other argument as it is."""
    return CARRIERS[argument] if isinstance(argument, str) and argument in SMALL_TYPES else argument


def _pack(values: Array, dataType: Any, first: Any) -> Array:
    """Bring integers into a small type: numbers saturate, integers wrap."""
    if isinstance(first, np.ndarray) and first.dtype.kind == "f":
        values = np.clip(values, *integer_range(dataType))
    return pack(values)


def _check(wanted: Mapping[str, OperandDescriptor], given: Mapping[str, Any]) -> dict[str, Array]:
    """Return the arrays of the inputs in their shapes."""
    if set(given) != set(wanted):
        raise WebNNTypeError(
            f"compute: inputs must be the inputs of the graph, {list(wanted)}, got {list(given)}", operation="compute", argument="inputs"
        )
    arrays: dict[str, Array] = {}
    for name, descriptor in wanted.items():
        array = np.ascontiguousarray(given[name])
        reason = elements_mismatch(array, descriptor)
        if reason:
            argument = f"inputs[{name!r}]"
            raise WebNNTypeError(f"compute: {argument} {reason}", operation="compute", argument=argument)
        arrays[name] = array.reshape(descriptor.array_shape)
    return arrays


def _say(error: Exception) -> str:
    return str(error) if isinstance(error, DOMException | DescriptionError) else f"{type(error).__name__}: {error}"
