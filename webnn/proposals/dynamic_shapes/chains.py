"""Shape chains: the elements of operands that are computed of shapes and constants alone, found without a backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from webnn.builder.operand import MLOperand, Operator
from webnn.proposals.dynamic_shapes.sizes import Size
from webnn.reference.operations import operations_of
from webnn.validation.descriptor import NUMPY_DTYPES, SMALL_TYPES, OperandDescriptor
from webnn.validation.errors import DOMException, WebNNTypeError
from webnn.validation.named_descriptor import UnrankedDescriptor, has_names
from webnn.validation.operation import Call
from webnn.validation.webidl import describe

__all__ = ["compute_alone", "find_values", "is_known"]

#: The most elements of an operand.
_MOST = 2**12
#: Operations that move the elements of some first operands, and how many these are.
_MOVERS: Mapping[str, int] = {
    **dict.fromkeys(["cast", "expand", "gather", "identity", "reshape", "reverse", "slice", "split", "tile", "transpose"], 1),
    **dict.fromkeys(["squeeze", "unsqueeze", "reshapeTo2d", "reshapeDynamic", "expandDynamic", "sliceDynamic", "tileDynamic"], 1),
    "concat": _MOST,
}
#: Operations that compute with sizes that stay names.
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.floor_divide}
#: Operations that compare sizes that stay names: a recorded size notes the answer.
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    **{"equal": np.equal, "notEqual": np.not_equal, "lesser": np.less, "lesserOrEqual": np.less_equal},
    **{"greater": np.greater, "greaterOrEqual": np.greater_equal},
}
#: The types that hold every size.
_WIDE = frozenset({"int32", "uint32", "int64", "uint64"})

#: The elements of an operand: numbers; or objects: numbers, names of dimensions, and ``None`` for others. ``None`` if their number is not
#: known.
Values = "np.ndarray[Any, np.dtype[Any]] | None"


def find_values(call: Call, argument: str, operand: MLOperand) -> Any:
    """Return the elements of an operand, as `Values`; one that depends on the data of an input is a `WebNNTypeError`."""
    chain = _follow(call, argument, operand)
    known: dict[int, list[Any]] = {}
    for operator in chain:
        known[operator.index] = _evaluate(operator, known)
    return _get(operand, known)


def compute_alone(operator: Operator, arrays: Sequence[Any]) -> Any:
    """Return the elements of the result of an operator, from those of its operands; ``None`` if these are not all numbers."""
    if any(each is None or each.dtype == object for each in arrays):
        return None
    return _compute(operator, list(arrays), {})[0]


def _follow(call: Call, argument: str, operand: MLOperand) -> list[Operator]:
    """Return the operators of a chain, each behind those that make its operands."""
    found: dict[int, Operator] = {}
    work = [operand]
    for each in work:
        operator = each._operator
        if operator is None:
            if each._name is not None:
                reason = f"but it depends on the data of the input {describe(each._name)}"
                raise call.error(argument, f"must be computed of shapes and constants alone, {reason}")
        elif operator.index not in found:
            found[operator.index] = operator
            # The data of what has the shape is not read.
            if operator.operation.name != "shape":
                work += operator.inputs
                work += [member for _, member in operator.members]
    return [found[index] for index in sorted(found)]


def _get(operand: MLOperand, known: Mapping[int, list[Any]]) -> Any:
    if operand._operator is not None:
        return known[operand._operator.index][operand._position]
    # Several elements of a small type share a byte.
    return None if operand.descriptor.dataType in SMALL_TYPES else operand._value


def _evaluate(operator: Operator, known: Mapping[int, list[Any]]) -> list[Any]:
    name = operator.operation.name
    if name == "shape":
        return [_read_shape(operator.inputs[0].descriptor)]
    arrays = [_get(operand, known) for operand in operator.inputs]
    members = {member: _get(operand, known) for member, operand in operator.members}
    every = [*arrays, *members.values()]
    if any(each is None or each.size > _MOST for each in every) or any(_too_large(each) for each in operator.outputs):
        return [_unknown(each) for each in operator.outputs]
    if not any(each.dtype == object for each in every):
        return _compute(operator, arrays, members)
    if all(is_known(each) for each in every):
        if name in _COMPARISONS:
            return [np.asarray(_COMPARISONS[name](*[each.astype(object) for each in arrays]), np.uint8)]
        if name in _ARITHMETIC and (made := _compute_sizes(_ARITHMETIC[name], arrays)) is not None:
            return [made]
        if name not in _MOVERS or (name == "cast" and operator.arguments[0] not in _WIDE):
            # The operation computes with numbers.
            arrays = [_count(each, operand) for each, operand in zip(arrays, operator.inputs, strict=True)]
            members = {member: _count(members[member], operand) for member, operand in operator.members}
            return _compute(operator, arrays, members)
    moved = _MOVERS.get(name, 0)
    is_narrow = name == "cast" and operator.arguments[0] not in _WIDE
    if not moved or is_narrow or any(each.dtype == object for each in [*arrays[moved:], *members.values()]):
        return [_unknown(each) for each in operator.outputs]
    # The operation moves places in a table in the stead of what stands there.
    table: list[Any] = []
    places = []
    for array in arrays[:moved]:
        places.append(np.arange(len(table), len(table) + array.size).reshape(array.shape))
        table += array.reshape(-1).tolist()
    entries = np.array([*table, None], object)[:-1]
    results = _compute(operator, [*places, *arrays[moved:]], members)
    return [_unknown(operator.outputs[0]) if each is None or each.dtype == object else _pick(entries, each) for each in results]


def _pick(entries: Any, places: Any) -> Any:
    """Return the entries at some places, as an array of objects also if it has no dimensions."""
    picked = np.empty(places.shape, object)
    picked[...] = entries[places.astype(np.int64)]
    return picked


def is_known(array: Any) -> bool:
    """Tell whether the elements of an array are numbers and recorded sizes."""
    return array.dtype != object or all(isinstance(each, int | Size) for each in array.reshape(-1).tolist())


def _count(array: Any, operand: MLOperand) -> Any:
    """Return an array with numbers in place of recorded sizes, which all types of sizes hold."""
    return array.astype(NUMPY_DTYPES[operand.descriptor.dataType]) if array.dtype == object else array


def _compute_sizes(function: Callable[[Any, Any], Any], arrays: list[Any]) -> Any:
    """Compute with recorded sizes; ``None`` if a type might not hold a result, or if a quotient is not that of sizes."""
    if function is np.floor_divide and not (_are(arrays[0], 0) and _are(arrays[1], 1)):
        return None
    made = np.asarray(function(*[each.astype(object) for each in arrays]), object)
    return made if all(0 <= each < 2**31 for each in made.reshape(-1).tolist()) else None


def _are(array: Any, least: int) -> bool:
    """Tell whether all elements are some number at least."""
    return all(each >= least for each in array.reshape(-1).tolist())


def _read_shape(descriptor: OperandDescriptor) -> Any:
    if isinstance(descriptor, UnrankedDescriptor):
        return None
    if all(isinstance(size, int) for size in descriptor.dimensions):
        return np.array(descriptor.dimensions, np.uint32)
    return np.array([*descriptor.dimensions, None], object)[:-1]


def _too_large(descriptor: OperandDescriptor) -> bool:
    return descriptor.element_count > _MOST


def _unknown(descriptor: OperandDescriptor) -> Any:
    return np.full(descriptor.dimensions, None, object) if not (has_names(descriptor) or _too_large(descriptor)) else None


def _compute(operator: Operator, arrays: list[Any], members: dict[str, Any]) -> list[Any]:
    """Compute an operation with the reference; without a result if that has not got it."""
    row = operator.operation
    function = operations_of(operator.inputs[0]._builder._revision.name).get(row.name)
    if function is None or any(array.dtype.kind not in "iuf" for array in [*arrays, *members.values()]):
        return [_unknown(each) for each in operator.outputs]
    options: dict[str, Any] = {}
    if operator.options is not None:
        plain = [name for name in type(operator.options).model_fields if name not in row.members]
        options = {name: getattr(operator.options, name) for name in plain if name in (operator.given or {})}
    arguments = [list(each) if isinstance(each, tuple) else each for each in operator.arguments]
    try:
        result = function(*([arrays] if row.variadic else arrays), *arguments, **options, **members)
    except (DOMException, WebNNTypeError, ArithmeticError, LookupError, TypeError, ValueError):
        # An index that is out of range, for example: the engine would give something, but no size follows from that.
        return [_unknown(each) for each in operator.outputs]
    return [np.asarray(each) for each in (result if isinstance(result, list) else [result])]
