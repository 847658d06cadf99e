"""Operators and graphs, computed by the reference: `evaluate` and `compute`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from webnn.builder.description import ActivationDescription, DescriptionError, GraphDescription, OperatorDescription
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics, semantics_of
from webnn.reference.numbers import Array, cast_option, nearest
from webnn.reference.operations import operations_of
from webnn.validation import numbers
from webnn.validation.buffers import elements_mismatch
from webnn.validation.descriptor import (
    CARRIERS,
    FLOAT_FORMATS,
    FLOAT_TYPES,
    ML_DTYPES,
    SMALL_TYPES,
    OperandDescriptor,
    integer_range,
    pack,
    unpack,
)
from webnn.validation.drafts import find_revision
from webnn.validation.errors import DOMException, NotSupportedError, OperationError, WebNNTypeError, label_prefix
from webnn.validation.named_descriptor import has_names

__all__ = ["Prepared", "Program", "compute", "evaluate", "last_uses"]

#: No draft has this type. Nothing is rounded where operands have it.
_EXACT = np.dtype(np.float64)
#: The types of results of casts to types that the functions do not know. Integers go to low precision by way of float32.
_LARGER: Mapping[str, str] = {str(name): CARRIERS.get(name, "float32") for name in (*SMALL_TYPES, *ML_DTYPES)}
#: The operations whose steps are rounded to float32.
_IN_STEPS = frozenset({"dequantizeLinear", "quantizeLinear"})


def compute(
    description: GraphDescription, inputs: Mapping[str, Any], *, exact: bool = False, semantics: Semantics = DEFAULT_SEMANTICS
) -> dict[str, Array]:
    """Compute a graph: each operator in float64, its results rounded to the types that the graph gives them.

    Args:
        description: The graph.
        inputs: An array for each input: of its data type, with as many elements, in row-major order. Two elements of int4 and uint4 share a
            byte.
        exact: Round nothing: floating-point values are float64 from the inputs to the outputs. Integers keep their types.
        semantics: The values of switches that are not defaults: see `webnn.builder.semantics`.

    Returns:
        The outputs by their names. They have the shapes of the graph; those of int4 and uint4 are flat arrays of bytes.

    Raises:
        WebNNTypeError: An input is missing, is none of the graph, or has another type or size. Or the draft refuses an operator.
        DescriptionError: The description contradicts itself.
        NotSupportedError: The reference has not got an operation, because an addition to the draft brought it.
        OperationError: The computation fails: there is not enough memory, for example.
    """
    if any(has_names(each) for each in description.inputs.values()):
        description = _with_sizes(description, inputs)
    program = Program(description.infer(), semantics)
    return program.run(_check(description.inputs, inputs), description.outputs, exact=exact)


def evaluate(
    operator: OperatorDescription,
    draft: str,
    arrays: Mapping[str, Array],
    *,
    descriptors: Mapping[str, OperandDescriptor] | None = None,
    exact: bool = False,
    semantics: Semantics = DEFAULT_SEMANTICS,
) -> tuple[Array, ...]:
    """Compute one operator. Its arguments are taken as valid.

    Args:
        operator: The operator.
        draft: The draft, as `GraphDescription.draft`.
        arrays: Its operands, by the names of their values.
        descriptors: The types and shapes of the values, as `GraphDescription.descriptors` returns them. Needed if one is int4, uint4,
            bfloat16 or float8e4m3, or if an array has been computed with ``exact`` and is float64; otherwise the arrays tell.
        exact: Do not round the results: those of floating point are float64.
        semantics: The values of switches that are not defaults.

    Returns:
        The results.

    Raises:
        NotSupportedError: The reference has not got the operation.
        DescriptionError: The operator lacks an argument, or an array of an operand is not given.
        ValueError: There is no such draft.
    """
    return Prepared(operator, draft, descriptors or {}, semantics).evaluate(arrays, exact=exact)


class Prepared:
    """An operator that can be computed several times: see `evaluate`."""

    __slots__ = (
        *("_exact", "_function", "_has_ml_dtypes", "_inputs", "_known", "_members", "_options", "_others", "_row", "_types", "_wide"),
        "operands",
    )

    def __init__(
        self,
        operator: OperatorDescription,
        draft: str,
        descriptors: Mapping[str, OperandDescriptor],
        semantics: Semantics = DEFAULT_SEMANTICS,
    ) -> None:
        #: The operands, as `OperatorDescription.named_values` returns them.
        self.operands = operator.named_values()
        first = descriptors.get(self.operands[0][2]) if self.operands else None
        self._function = _find(operator, draft, semantics if first is None else semantics_of(semantics, [first.dataType]))
        revision = find_revision(draft, imports=False)
        self._row = revision.operations[operator.operation]
        names = [argument.name for argument in self._row.arguments]
        for part, given, wanted in (("inputs", operator.inputs, self._row.operands), ("arguments", operator.arguments, names)):
            if set(given) != set(wanted):
                raise DescriptionError(f"must be {', '.join(wanted) or 'none'}, got {', '.join(given) or 'none'}", part)
        self._inputs = [operator.inputs[name] for name in self._row.operands]
        self._members = operator.operands
        # The positional arguments in the IDL's order, and the options, all without operands.
        rest = replace(operator, inputs={}, operands={}, label="", arguments={name: operator.arguments[name] for name in names})
        others, self._options = rest.call(str, _activation)
        if first is not None and revision.cast is not numbers.cast:
            # The functions cast as the draft does, which changes nothing behind the cast of the revision.
            cast = {name: self._options[name] for name in self._row.numbers if self._options.get(name) is not None}
            self._options |= {name: revision.cast(number, first.dataType) for name, number in cast.items()}
        # The elements of small types are computed in larger ones.
        self._others = [_LARGER.get(each, each) if isinstance(each, str) else each for each in others]
        #: Both for exact results.
        self._exact: tuple[list[Any], dict[str, Any]] | None = None
        self._known = {value: descriptors[value] for _, _, value in self.operands if value in descriptors}
        self._types = [descriptors[name].dataType if name in descriptors else "" for name in operator.outputs]
        types = [*self._types, *[each.dataType for each in self._known.values()]]
        self._has_ml_dtypes = any(each in ML_DTYPES for each in types)
        #: The type of elements of low precision: the steps of quantizations are rounded to float32.
        self._wide = np.dtype(np.float32) if operator.operation in _IN_STEPS else _EXACT

    def evaluate(self, arrays: Mapping[str, Array], *, exact: bool = False) -> tuple[Array, ...]:
        """Compute the operator."""
        # A signalling NaN is an invalid value to NumPy.
        with np.errstate(invalid="ignore"):
            return self._evaluate(arrays, exact=exact)

    def _evaluate(self, arrays: Mapping[str, Array], *, exact: bool) -> tuple[Array, ...]:
        found: dict[str, Array] = {}
        for argument, _, value in self.operands:
            if value not in arrays:
                raise DescriptionError(f"there is no array for the value {value!r}", argument)
            found[value] = self._take(value, np.asarray(arrays[value]), exact)
        others, options = self._others, self._options
        if exact or self._has_ml_dtypes:
            widened, options = self._widen(arrays)
            others = widened if exact else others
        inputs = [[found[each] for each in value] if isinstance(value, tuple) else found[value] for value in self._inputs]
        returned = self._function(*inputs, *others, **options, **{name: found[value] for name, value in self._members.items()})
        results = [np.asarray(each) for each in (returned if isinstance(returned, list) else [returned])]
        pairs = zip(results, self._types, strict=True)
        return tuple([_finish(each, type, inputs[0], exact=exact) for each, type in pairs])

    def _take(self, value: str, array: Array, exact: bool) -> Array:
        """Return an operand as the function takes it."""
        descriptor = self._known.get(value)
        if descriptor is not None and descriptor.dataType in SMALL_TYPES:
            return unpack(array, descriptor.dataType, descriptor.dimensions)
        if descriptor is not None and descriptor.dataType in ML_DTYPES:
            return array.astype(_EXACT if exact else self._wide)
        return array.astype(_EXACT, copy=False) if exact and array.dtype.kind == "f" else array

    def _widen(self, arrays: Mapping[str, Array]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments for operands of float64. Numbers keep the precision of the first operand's own type."""
        if self._exact is None:
            _, _, first = self.operands[0]
            dataType = self._known[first].dataType if first in self._known else np.asarray(arrays[first]).dtype.name
            others = [_EXACT.name if isinstance(each, str) and each in FLOAT_TYPES else each for each in self._others]
            options = dict(self._options)
            if dataType in FLOAT_FORMATS and self._row.options is not None:
                for name in self._row.numbers:
                    number = options.get(name, self._row.options.model_fields[name].default)
                    if number is not None:
                        options[name] = cast_option(number, dataType)
            self._exact = others, options
        return self._exact


class Program:
    """A graph that the reference can compute several times. Its operators have descriptors, as in a built graph.

    Raises:
        NotSupportedError: The reference has not got an operation.
    """

    __slots__ = ("_description", "_prepared")

    def __init__(self, description: GraphDescription, semantics: Semantics = DEFAULT_SEMANTICS) -> None:
        known = description.descriptors()
        self._description = description
        #: Each operator by the name of its first result.
        self._prepared = {each.outputs[0]: Prepared(each, description.draft, known, semantics) for each in description.operators}

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
            prepared = self._prepared[operator.outputs[0]]
            try:
                results = prepared.evaluate(values, exact=exact)
            except Exception as error:  # whatever NumPy raises
                raise OperationError(
                    f"{label_prefix(operator.label)}compute: the reference failed at {operator.operation}: {_say(error)}",
                    operation=operator.operation,
                    label=operator.label,
                ) from error
            values.update(zip(operator.outputs, results, strict=True))
            for _, _, value in prepared.operands:
                if last[value] == position and value not in kept:
                    values.pop(value, None)
        return {name: values[value] for name, value in graph.outputs.items()}


def last_uses(description: GraphDescription) -> dict[str, int]:
    """Return for each value that an operator takes the position of the last one that does."""
    return {value: position for position, operator in enumerate(description.operators) for _, _, value in operator.named_values()}


def _find(operator: OperatorDescription, draft: str, semantics: Semantics) -> Callable[..., Array | list[Array]]:
    function = operations_of(draft, semantics).get(operator.operation)
    if function is None:
        raise NotSupportedError(
            f"{label_prefix(operator.label)}{operator.operation}: the reference has no such operation in the draft {draft}",
            operation=operator.operation,
        )
    return function


def _activation(activation: ActivationDescription) -> tuple[str, dict[str, Any]]:
    return activation.operation, dict(activation.options)


def _finish(values: Array, dataType: Any, first: Any, *, exact: bool) -> Array:
    """Bring a result of an operator into its data type, if the operator's function does not know the type."""
    if dataType in ML_DTYPES and not exact:
        return nearest(values, dataType)
    return _pack(values, dataType, first) if dataType in SMALL_TYPES else values


def _pack(values: Array, dataType: Any, first: Any) -> Array:
    """Bring integers into a small type: numbers saturate, integers wrap."""
    if isinstance(first, np.ndarray) and first.dtype.kind == "f":
        values = np.clip(values, *integer_range(dataType))
    return pack(values)


def _with_sizes(description: GraphDescription, given: Mapping[str, Any]) -> GraphDescription:
    """Return a graph whose dimensions with names have the sizes of arrays."""
    sizes: dict[str, int] = {}
    inputs: dict[str, OperandDescriptor] = {}
    for name, descriptor in description.inputs.items():
        wanted: tuple[Any, ...] = descriptor.dimensions
        shape = np.shape(given[name]) if name in given and has_names(descriptor) else wanted
        known = [sizes.setdefault(each, size) if isinstance(each, str) else each for each, size in zip(wanted, shape, strict=False)]
        if known != list(shape) or len(wanted) != len(shape):
            argument = f"inputs[{name!r}]"
            raise WebNNTypeError(
                f"compute: {argument} must have the shape {list(wanted)}, got {list(shape)}", operation="compute", argument=argument
            )
        inputs[name] = OperandDescriptor(descriptor.dataType, shape)
    return replace(description, inputs=inputs)


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
