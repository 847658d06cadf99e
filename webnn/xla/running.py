"""Runs computations in contexts and builders: values of parameters in, results out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from webnn.builder.graph_builder import GraphBuilder
from webnn.builder.operand import MLOperand
from webnn.context.context import MLContext
from webnn.context.graph_builder import MLGraphBuilder
from webnn.context.once import compute
from webnn.importing.driver import build_import, finish_import, fit_integers
from webnn.validation import webidl
from webnn.validation.descriptor import NUMPY_DTYPES
from webnn.xla.errors import XlaError, XlaTypeError
from webnn.xla.literals import fit
from webnn.xla.shapes import Shape, assemble, flatten

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.importing.report import Report
    from webnn.importing.values import Array
    from webnn.validation.descriptor import OperandDescriptor
    from webnn.xla.shapes import AnyShape
    from webnn.xla.signature import Signature

__all__ = ["BuiltComputation", "check_builder", "check_context", "lower", "take_arrays", "take_constants", "take_operands"]


def check_context(context: object) -> None:
    """Check that an object is a context."""
    if not webidl.isInstance(context, MLContext):
        raise XlaTypeError(f"must be an MLContext, got {webidl.describe(context)}", "execute", "context")


def check_builder(builder: object) -> None:
    """Check that an object is a builder of WebNN."""
    if not webidl.isInstance(builder, GraphBuilder):
        raise XlaTypeError(f"must be an MLGraphBuilder, got {webidl.describe(builder)}", "lower", "builder")


def take_constants(signature: Signature, constants: Mapping[str, Any] | None) -> dict[str, Array]:
    """Return the parameters that are known, by the names of their arrays."""
    known: dict[str, Array] = {}
    if constants is None:
        return known
    if not isinstance(constants, Mapping):
        raise XlaTypeError(f"must be a mapping, got {webidl.describe(constants)}", "execute", "constants")
    shapes = dict(zip(signature.argument_names, signature.array_shapes, strict=True))
    for name, given in constants.items():
        if name not in shapes:
            names = ", ".join(map(repr, shapes)) or "none"
            raise XlaError(f"must name arrays of parameters, which are {names}, got {webidl.describe(name)}", "execute", "constants")
        known[name] = fit(given, shapes[name], "execute", f"constants[{name!r}]")
    return known


def take_arrays(signature: Signature, arrays: Sequence[Any], known: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays of the parameters by their names, without those that are known."""
    names = iter(signature.argument_names)
    wanted = []
    for name, shape in zip(signature.parameter_names, signature.parameter_shapes, strict=True):
        inner = [next(names) for _ in flatten(shape)]
        if not inner or not all(each in known for each in inner):
            wanted.append((name, shape, inner))
    if len(arrays) != len(wanted):
        parameters = ", ".join(f"{name}: {shape}" for name, shape, _ in wanted) or "none"
        raise XlaError(f"must be given for the {len(wanted)} parameters {parameters}; got {len(arrays)}", "execute", "arrays")
    feeds: dict[str, Array] = {}
    for position, (given, (_, shape, inner)) in enumerate(zip(arrays, wanted, strict=True)):
        for name, (leaf, each, place) in zip(inner, _leaves(given, shape, "execute", f"arrays[{position}]"), strict=True):
            if name in known:
                if each is not None:
                    raise XlaError(
                        f"must be None for {name!r}, which is one of the constants, got {webidl.describe(each)}", "execute", place
                    )
                continue
            feeds[name] = fit(each, leaf, "execute", place)
    return feeds


def take_operands(signature: Signature, arguments: Sequence[Any]) -> tuple[dict[str, MLOperand], dict[str, Array]]:
    """Return operands for the parameters, and the arrays that are known, by their names."""
    if not isinstance(arguments, (tuple, list)):
        raise XlaTypeError(f"must be a sequence, got {webidl.describe(arguments)}", "lower", "arguments")
    if len(arguments) != len(signature.parameter_shapes):
        shapes = ", ".join(map(str, signature.parameter_shapes)) or "none"
        raise XlaError(f"must be given for the parameters {shapes}; got {len(arguments)}", "lower", "arguments")
    operands: dict[str, MLOperand] = {}
    known: dict[str, Array] = {}
    names = iter(signature.argument_names)
    for position, (given, shape) in enumerate(zip(arguments, signature.parameter_shapes, strict=True)):
        for leaf, each, place in _leaves(given, shape, "lower", f"arguments[{position}]"):
            if webidl.isInstance(each, MLOperand):
                operands[next(names)] = each
            else:
                known[next(names)] = fit(each, leaf, "lower", place)
    return operands, known


def _leaves(given: Any, shape: AnyShape, operation: str, argument: str) -> Iterator[tuple[Shape, Any, str]]:
    """Yield the arrays of a shape: the shape of each, its value, and its place in messages."""
    if isinstance(shape, Shape):
        yield shape, given, argument
        return
    if not isinstance(given, (tuple, list)):
        raise XlaTypeError(f"must be a tuple for {shape}, got {webidl.describe(given)}", operation, argument)
    if len(given) != len(shape.shapes):
        raise XlaError(f"must have {len(shape.shapes)} elements for {shape}, got {len(given)}", operation, argument)
    for index, (each, inner) in enumerate(zip(given, shape.shapes, strict=True)):
        yield from _leaves(each, inner, operation, f"{argument}[{index}]")


def lower(
    signature: Signature, description: GraphDescription, builder: GraphBuilder, operands: Mapping[str, MLOperand], *, int32: bool
) -> MLOperand | tuple[Any, ...]:
    """Make the operations of a graph in a builder, and return the operands of the result."""
    acceptance = builder._revision.acceptance
    description = fit_integers(description, None if acceptance is None else acceptance.limits(), int32=int32)
    for name, operand in operands.items():
        if operand._builder is not builder:
            raise XlaError(f"must be operands of the builder, got one of another for the parameter {name!r}", "lower", "arguments")
    needed = {}
    for name, wanted in description.inputs.items():
        operand = needed[name] = operands[name]
        if operand.descriptor != wanted:
            raise XlaError(f"must be an operand of {wanted} for the parameter {name!r}, got {operand.descriptor}", "lower", "arguments")
    made = build_import(description, builder, needed)
    found = assemble(signature.result_shape, (made[name] for name in signature.result_names), tuple)
    assert isinstance(found, (MLOperand, tuple))
    return found


class BuiltComputation:
    """A computation that is built in a context, from its graph."""

    def __init__(self, signature: Signature, description: GraphDescription, report: Report, context: MLContext, *, int32: bool) -> None:
        builder = MLGraphBuilder(context)
        imported = finish_import(description, report, signature.name, builder, int32=int32)
        self._inputs = imported.inputs
        self._outputs: dict[str, OperandDescriptor] = {name: each.descriptor for name, each in imported.outputs.items()}
        self._graph = builder.buildSync(imported.outputs)
        self._shape = signature.result_shape
        self._names = signature.result_names

    def run(self, context: MLContext, feeds: Mapping[str, Array]) -> Any:
        """Run the graph with the arrays of the parameters, by their names."""
        given = {name: _carry(name, feeds[name], each) for name, each in self._inputs.items()}
        found = compute(context, self._graph, given)
        leaves = zip(flatten(self._shape), self._names, strict=True)
        return assemble(self._shape, (found[name].astype(leaf.element_type.dtype, copy=False) for leaf, name in leaves))


def _carry(name: str, array: Array, descriptor: OperandDescriptor) -> Array:
    """Return an array in the data type of an input: pred is uint8, f64 may be float32, and s64 int32."""
    dtype = NUMPY_DTYPES[descriptor.dataType]
    if dtype == array.dtype:
        return np.ascontiguousarray(array).reshape(array.shape)
    with np.errstate(over="ignore"):
        carried = array.astype(dtype, order="C")
    if array.dtype.kind in "iu" and not np.array_equal(carried, array):
        raise XlaError(f"must fit into {descriptor.dataType}, which the graph computes in, for the parameter {name!r}", "execute", "arrays")
    return carried
