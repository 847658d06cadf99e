"""`Computation`: a program that is built. It can be run, and other computations can use it."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from weakref import WeakKeyDictionary

from webnn.builder.description import GraphDescription
from webnn.builder.graph_builder import GraphBuilder
from webnn.builder.operand import MLOperand
from webnn.context.context import MLContext
from webnn.hlo.ir import Function, Module, Region, RegionBuilder, Value
from webnn.importing.report import RefusedModelError, Report
from webnn.stablehlo import Settings, survey
from webnn.xla import running
from webnn.xla.shapes import AnyShape
from webnn.xla.signature import Signature, names_of

__all__ = ["Computation"]


class Computation(Signature):
    """A program that is built: `ComputationBuilder.Build` makes it. It does not change.

    It is an argument of `Call`, `Map`, `Reduce`, `ReduceWindow`, `SelectAndScatter` and `While`.

    Attributes:
        module: The program in StableHLO, as a function ``main``: its arguments and results are the arrays of the parameters and of the
            result, without tuples.
    """

    def __init__(
        self, name: str, parameters: Sequence[tuple[str, AnyShape]], result_shape: AnyShape, body: Region, size: int, depth: int
    ) -> None:
        names = [each for parameter, shape in parameters for each in names_of(parameter, shape)]
        function = Function(name="main", body=body, argument_names=tuple(names))
        super().__init__(name, parameters, result_shape, function)
        self.module = Module(functions=(function,), name=name)
        self._body = body
        #: The number of operations, and how deep computations are nested in them.
        self._size = size
        self._depth = depth
        self._programs: WeakKeyDictionary[MLContext, dict[object, running.BuiltComputation]] = WeakKeyDictionary()

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parameter_shapes))}) -> {self.result_shape}"

    def __repr__(self) -> str:
        return f"<Computation{f' {self.name!r}' if self.name else ''}: {self}>"

    @functools.cached_property
    def description(self) -> GraphDescription:
        """The WebNN graph, in the draft 2026-06: the arrays of the parameters are its inputs, pred is uint8.

        Raises:
            RefusedModelError: WebNN cannot express some operations. The message names all of them.
        """
        return self._describe(Settings())[0]

    def execute(
        self,
        context: MLContext,
        *arrays: Any,
        constants: Mapping[str, Any] | None = None,
        precision: Literal["f32"] | None = None,
        int32: bool = False,
    ) -> Any:
        """Run the computation. It is built once for each context, and each set of constants.

        Args:
            context: The context, of any draft.
            arrays: For each parameter, except those in ``constants``: an array with the shape and the data type of the parameter,
                or Python numbers in lists; for a tuple a sequence of them, with None for an element in ``constants``.
            constants: Parameters, or elements of them, that are known when the graph is built, by their names in ``argument_names``: for
                example a number of iterations.
            precision: ``"f32"``: compute f64 in float32, which is the widest type of WebNN. Without it, f64 is refused.
            int32: Compute s64 in int32: the caller promises that all values fit.

        Returns:
            The result, with the data type of its shape: an array, or a tuple for a tuple.

        Raises:
            XlaError: The arrays do not fit the parameters.
            XlaTypeError: Something else than arrays is given, or the context is none.
            RefusedModelError: WebNN cannot express some operations. The message names all of them.
            NotSupportedError: The draft of the context has no counterpart of an operator.
            InvalidStateError: The context is lost.
            OperationError: The engine refuses or fails an operation.
        """
        running.check_context(context)
        known = running.take_constants(self, constants)
        feeds = running.take_arrays(self, arrays, known)
        key = (precision, int32, *((name, array.tobytes()) for name, array in sorted(known.items())))
        programs = self._programs.setdefault(context, {})
        program = programs.get(key)
        if program is None:
            description, report = self._describe(Settings(constants=known, precision=precision))
            program = programs[key] = running.BuiltComputation(self, description, report, context, int32=int32)
        return program.run(context, feeds)

    def lower(
        self, builder: GraphBuilder, arguments: Sequence[Any], *, precision: Literal["f32"] | None = None, int32: bool = False
    ) -> MLOperand | tuple[Any, ...]:
        """Make the operations of the computation in a builder.

        Args:
            builder: An `MLGraphBuilder`, of any draft.
            arguments: For each parameter an operand of the builder with the shape and the data type of the parameter, where pred is
                uint8; or an array, which is known; for a tuple a sequence of them.
            precision: ``"f32"``: compute f64 in float32. Such operands are float32.
            int32: Compute s64 in int32: the caller promises that all values fit. Such operands are int32.

        Returns:
            The operand of the result; a tuple for a tuple.

        Raises:
            XlaError: The arguments do not fit the parameters.
            XlaTypeError: Something else than operands and arrays is given, or the builder is none.
            RefusedModelError: WebNN cannot express some operations. The message names all of them.
            NotSupportedError: The draft of the builder has no counterpart of an operator.
            WebNNTypeError: The builder refuses something, because of the limits of its device, or an operand of another builder.
            InvalidStateError: The builder has built a graph, or its context is lost.
        """
        running.check_builder(builder)
        operands, known = running.take_operands(self, arguments)
        description, _ = self._describe(Settings(constants=known, precision=precision))
        return running.lower(self, description, builder, operands, int32=int32)

    def _describe(self, settings: Settings) -> tuple[GraphDescription, Report]:
        description, report = survey(self.module, settings)
        if description is None:
            raise RefusedModelError(self.name or "computation", report)
        return description, report

    def _copy(self, target: RegionBuilder, arguments: Sequence[Value]) -> tuple[Value, ...]:
        """Append the operations to another program, and return the arrays of the result."""
        return _copy(self._body, target, dict(zip(self._body.arguments, arguments, strict=True)))


def _copy(region: Region, target: RegionBuilder, values: dict[Value, Value]) -> tuple[Value, ...]:
    """Append the operations of a region, but not the one at its end, to another program, and return its results.

    ``values`` has the copy of each value; new ones are added.
    """
    for operation in region.operations[:-1]:
        regions = []
        for inner in operation.regions:
            body = RegionBuilder([each.type for each in inner.arguments])
            values.update(zip(inner.arguments, body.arguments, strict=True))
            body.append(inner.operations[-1].name, _copy(inner, body, values))
            regions.append(body.build())
        types = [each.type for each in operation.results]
        operands = [values[each] for each in operation.operands]
        results = target.append(operation.name, operands, types, operation.attributes, regions, operation.location)
        values.update(zip(operation.results, results, strict=True))
    return tuple([values[each] for each in region.results])
