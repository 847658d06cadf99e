"""`MLGraph`: `#api-mlgraph`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from webnn.builder.describe import describe_graph
from webnn.context import above
from webnn.context.buffers import read_only
from webnn.context.placement import Placement
from webnn.context.runs import Bound, check_inputs, choose_inputs
from webnn.validation.descriptor import OperandDescriptor
from webnn.validation.errors import InvalidStateError, NotSupportedError
from webnn.validation.member import DraftMembers, some_drafts

if TYPE_CHECKING:
    from webnn.builder.description import GraphDescription
    from webnn.builder.graph import ComputationalGraph
    from webnn.context.backend import Implementation
    from webnn.context.buffers import BufferSlot
    from webnn.context.inspections import Accuracy, FirstNaN, GraphProfile, Trace
    from webnn.context.runs import Array
    from webnn.context.state import ContextState
    from webnn.validation.revision import Revision

__all__ = ["MLGraph"]


class MLGraph(DraftMembers):
    """A compiled graph. It never changes. `#api-mlgraph`.

    Graphs are made by `MLGraphBuilder.build`.
    """

    __slots__ = (
        "__weakref__",
        "_checked",
        "_digest",
        "_implementation",
        "_inputDescriptors",
        "_outputDescriptors",
        "_placement",
        "_source",
        "_state",
    )

    #: A lost context destroys its graphs before its tensors.
    _endsFirst: ClassVar[bool] = True
    #: The slots of tensors that were checked together, by their names and tokens.
    _checked: dict[tuple[object, ...], Sequence[BufferSlot]]
    #: The digest of its description, once it was pickled.
    _digest: str
    _inputDescriptors: Mapping[str, OperandDescriptor]
    _outputDescriptors: Mapping[str, OperandDescriptor]
    #: ``None`` once the graph is destroyed. Work that was queued before has its own reference.
    _implementation: Implementation | None
    #: The placement, or a function that makes it on first use.
    _placement: Placement | Callable[[], Placement]
    #: The compiled graph. It holds the constants, which the engine uses in place, but those in another layout. ``None`` once destroyed.
    _source: ComputationalGraph | None
    #: Of the context that built it.
    _state: ContextState

    def __init__(self, *_: object, **__: object) -> None:
        raise TypeError("MLGraph: illegal constructor; graphs are made by MLGraphBuilder.build()")

    @classmethod
    def _create(
        cls,
        state: ContextState,
        source: ComputationalGraph,
        implementation: Implementation,
        placement: Placement | Callable[[], Placement],
    ) -> MLGraph:
        graph = object.__new__(cls)
        graph._checked = {}
        graph._digest = ""
        graph._implementation = implementation
        graph._inputDescriptors = {name: slot.descriptor for name, slot in implementation.inputs.items()}
        graph._outputDescriptors = {name: slot.descriptor for name, slot in implementation.outputs.items()}
        graph._placement = placement
        graph._source = source
        graph._state = state
        return graph

    @property
    def _revision(self) -> Revision:  # type: ignore[override]  # read-only here
        return self._state.revision

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return above.travel().reduce_graph(self)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name!r}: {descriptor}" for name, descriptor in self._inputDescriptors.items())
        outputs = ", ".join(f"{name!r}: {descriptor}" for name, descriptor in self._outputDescriptors.items())
        return f"<MLGraph ({inputs}) -> ({outputs}){', destroyed' if self._implementation is None else ''}>"

    def _repr_html_(self) -> str:
        from webnn.display.table import facts  # noqa: PLC0415 (only notebooks need it)

        if self._source is None:
            return facts(repr(self)[1:-1], {})
        placement = None
        with suppress(NotSupportedError):  # the engine does not tell
            placement = self.placement
        return above.html().as_html(self.description, placement, repr(self)[1:-1])

    @property
    def devices(self) -> list[str]:
        """The device types that run the graph, for example ``["gpu", "cpu"]``: `Placement.devices`.

        A new list each time. No draft has this, but browsers do; it works in the contexts of both drafts, and after `destroy`.

        Raises:
            NotSupportedError: As for `placement`.
        """
        return self.placement.devices

    @property
    def placement(self) -> Placement:
        """Where each operator runs, what crosses between devices, and why operators fell back.

        This is the emulator's own. It works in the contexts of both drafts, and after `destroy`.

        Raises:
            NotSupportedError: The engine uses several providers and is too old to tell which one runs what.
        """
        if self._state.on_ask is not None:
            self._state.on_ask()
        placement = self._placement
        if not isinstance(placement, Placement):
            # Two threads may both make it; the results are equal.
            placement = self._placement = placement()
        return placement

    @property
    def description(self) -> GraphDescription:
        """The graph as a value, as `webnn.describe` gives it: made anew each time, without a copy of the constants.

        This is the emulator's own. It works in the contexts of both drafts.

        Raises:
            InvalidStateError: The graph was destroyed.
        """
        source = self._source
        if source is None:
            raise InvalidStateError(
                "description: the graph must not be destroyed", operation="description", draft=self._revision.draft, rule="destroyed"
            )
        return describe_graph(source)

    def run(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, Array]:
        """Compute the graph and return its outputs: ``graph.run(x=array)``. For prompts and scripts.

        The emulator's own, in the contexts of all drafts; a page has `MLContext.compute` or `MLContext.dispatch`. The inputs are read, not
        transferred. It waits for the work that is queued.

        Args:
            inputs: For each input of the graph an array of its element type and its shape, or a flat one. It may be read-only.
            named: The inputs as keyword arguments.

        Returns:
            For each output a new array of its element type and its shape. Two elements of int4 and uint4 share a byte.

        Raises:
            WebNNTypeError: An input does not fit, is missing, or was transferred by an earlier `MLContext.compute`.
            InvalidStateError: The graph was destroyed, or the context is lost.
            OperationError: The engine fails.
        """
        given = choose_inputs(inputs, named)
        state, implementation = self._state, self._implementation
        state.loss.check("run")
        if implementation is None:
            raise InvalidStateError("run: the graph must not be destroyed", operation="run", draft=self._revision.draft, rule="destroyed")
        arrays = check_inputs("run", self._inputDescriptors, given, shaped=True)

        def work() -> dict[str, Array]:
            if state.on_compute is not None:
                state.on_compute(self, read_only(arrays))
            bound = Bound(implementation, arrays)
            try:
                return bound.run()
            finally:
                bound.release()

        return state.timeline.run(work if state.inject is None else state.inject(state, "run", self, work))

    def profile(self, inputs: Mapping[str, Any], runs: int = 10) -> GraphProfile:
        """Take the time of each operator, by the engine's own profile of a second session.

        The emulator's own, in the contexts of all drafts, as `trace`, `firstNaN` and `accuracy` are. The inputs are read, not transferred.
        It waits for the work that is queued.

        Args:
            inputs: For each input of the graph an array of its element type and byte length, as `MLContext.compute` takes them. It may be
                read-only.
            runs: How many runs to measure, from 1 to 10,000, after two for warm-up.

        Returns:
            The median time of each operator, what the engine merged, and how much longer a run with profiling takes than a plain one.

        Raises:
            WebNNTypeError: An input does not fit, is missing, or was transferred by an earlier `MLContext.compute`.
            InvalidStateError: The graph was destroyed.
            NotSupportedError: The reference computes the graph.
            OperationError: The engine fails.
            TypeError: ``runs`` is not an integer.
            ValueError: It is out of range.
        """
        return above.inspect().profile(self, inputs, runs)

    def trace(self, inputs: Mapping[str, Any], labels: str | Iterable[str] = ()) -> Trace:
        """Compute the result of every operator, and what its elements are: minimum, maximum, mean, zeros, NaN and others.

        The graph is built again with the results as outputs, in groups of at most 256 MiB of results (or one operator).

        Args:
            inputs: As for `profile`.
            labels: The labels of operators whose results are returned as arrays, too; or names of values in `description`.

        Returns:
            The inputs and the results of the operators, in order.

        Raises:
            WebNNTypeError: As for `profile`.
            InvalidStateError: The graph was destroyed.
            OperationError: The engine fails.
            ValueError: No operator and no value has such a label or name.
        """
        return above.inspect().trace(self, inputs, labels)

    def firstNaN(self, inputs: Mapping[str, Any]) -> FirstNaN | None:
        """Find the first operator whose result has a NaN, or an infinity, that its operands do not have.

        An input or a constant that holds NaN comes before all operators. (Infinities in them are common, for example in masks.)

        Args:
            inputs: As for `profile`.

        Returns:
            The operator, its operands, and the first elements at fault; ``None`` if there is no such operator.

        Raises:
            WebNNTypeError: As for `profile`.
            InvalidStateError: The graph was destroyed.
            OperationError: The engine fails.
        """
        return above.inspect().firstNaN(self, inputs)

    def accuracy(self, inputs: Mapping[str, Any], whole: bool = False) -> Accuracy:
        """Compare each operator with `webnn.reference`, in float64, on the operands that it has on this device.

        So an operator is not blamed for the errors of those before it.

        Args:
            inputs: As for `profile`.
            whole: Compute the whole graph in float64, too, and compare the outputs and every result with it. This doubles the work of the
                reference.

        Returns:
            The results of the operators, the least accurate one first; with ``whole`` also the errors that accumulate, and the outputs.

        Raises:
            WebNNTypeError: As for `profile`.
            InvalidStateError: The graph was destroyed.
            OperationError: The engine fails.
            TypeError: ``whole`` is not a bool.
        """
        return above.inspect().accuracy(self, inputs, whole)

    @some_drafts
    def destroy(self) -> None:
        """Release the graph's resources, once the work that is queued is done; it cannot be dispatched any more. `#api-mlgraph-destroy`.

        A second call does nothing.

        Raises:
            WebNNTypeError: The context follows the draft 2024-06, which does not destroy graphs.
        """
        self._state.loss.remove(self)
        self._destroy()

    def _destroy(self) -> None:
        """Run the steps of `destroy`."""
        # 1.-3. The resources are free when the last queued job that refers to them is done.
        self._implementation = self._source = None
