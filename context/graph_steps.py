"""The steps of `MLGraphBuilder.build` that belong to the context, and those of `MLContext.compute`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypedDict, cast

import numpy as np

from webnn.context import buffers
from webnn.context.graph import MLGraph
from webnn.context.promise import promise, rejected
from webnn.context.state import Steps
from webnn.context.timeline import BUSY
from webnn.validation import webidl
from webnn.validation.errors import InvalidStateError, OperationError, Requirement, argument_error
from webnn.validation.extension import Extension

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.graph import ComputationalGraph
    from webnn.context.backend import Implementation
    from webnn.context.state import ContextState
    from webnn.validation.caller import Caller

__all__ = ["COMPILE", "BuildSteps", "ComputeSteps", "MLComputeResult"]

#: Compiles the graphs of a context, in place of `webnn.context.build.compile_graph`.
COMPILE: Extension[Callable[[ContextState, ComputationalGraph, Caller], MLGraph]] = Extension("compile")
_ANCHOR = "#api-mlcontext-compute"
_error = partial(argument_error, "compute", anchor=_ANCHOR)
Array = np.ndarray[Any, np.dtype[Any]]


class MLComputeResult(TypedDict):
    """The result of `MLContext.compute`: the transferred arrays, by name. `#dictdef-mlcomputeresult`.

    An input that came by DLPack was only read, and is returned unchanged.
    """

    inputs: dict[str, Array]
    outputs: dict[str, Array]


class BuildSteps(Steps):
    """Builds the graphs of a context."""

    __slots__ = ()

    def build(self, graph: ComputationalGraph, caller: Caller) -> asyncio.Future[MLGraph]:
        """Compile a graph on the timeline; the caller is the program's line, for a warning."""
        state = self._state
        return promise(state.timeline, self.prepare(graph, caller), state.loss.promises)

    def build_sync(self, graph: ComputationalGraph, caller: Caller) -> MLGraph:
        """Compile a graph and wait for it."""
        return self._state.timeline.run(self.prepare(graph, caller))

    def prepare(self, graph: ComputationalGraph, caller: Caller) -> Callable[[], MLGraph]:
        """Return the job for the timeline."""
        different = set(map(id, graph.outputs.values()))
        isWrong = "" in graph.outputs or len(different) < len(graph.outputs)

        def job() -> MLGraph:
            if isWrong and self._state.revision.checks.outputs_later:
                reason = "must have names that are not empty, and each operand once"
                raise InvalidStateError(f"build: outputs {reason}, got {list(graph.outputs)}", operation="build", rule="name")
            # Imported lazily because it loads onnx, which is slow: at the first build, and not on the event loop's thread.
            from webnn.context.build import compile_graph  # noqa: PLC0415

            return (self._state.revision.extension(COMPILE) or compile_graph)(self._state, graph, caller)

        return job


class ComputeSteps(Steps):
    """Computes the graphs of a context over buffers: checks everything, then transfers."""

    __slots__ = ()

    def compute(self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> asyncio.Future[MLComputeResult]:
        """Run the steps of `MLContext.compute`."""
        timeline = self._state.timeline
        moves: buffers.Moves = []
        #: Whether the queued job runs: decided by the first that asks, the job or an interrupt.
        begun: dict[None, bool] = {}
        try:
            implementation = self._direct(graph)
            moved = (
                None if implementation is None else buffers.pass_on(implementation.inputs, inputs, implementation.outputs, outputs, moves)
            )
            if implementation is None or moved is None:
                work, result = self.prepare(graph, inputs, outputs, moves)
            else:
                newInputs, newOutputs, addresses = moved
                work, result = partial(implementation.run, addresses), {"inputs": newInputs, "outputs": newOutputs}

            loss = self._state.loss

            def job() -> MLComputeResult:
                # The context may have been destroyed meanwhile.
                loss.check("compute")
                start = perf_counter()
                work()
                if implementation is not None:
                    implementation.took(perf_counter() - start)
                return result

            # A hand-over to another thread takes longer than a quick graph.
            if implementation is not None and implementation.quick and timeline.attempt(job) is not BUSY:
                return self._state.turns.resolved(result)
        except Exception as error:  # a failed step rejects the promise
            return rejected(error)
        except BaseException:  # an interrupt
            buffers.take_back(moves)
            raise
        try:
            return promise(timeline, lambda: job() if begun.setdefault(None, True) else result)
        except BaseException:
            # The program gets no promise. It has its arrays back, unless another thread computes with them already.
            if not begun.setdefault(None, False):
                buffers.take_back(moves)
            raise

    def compute_sync(self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> MLComputeResult:
        """Run the steps and wait for the result."""
        timeline = self._state.timeline
        moves: buffers.Moves = []
        try:
            implementation = self._direct(graph)
            moved = (
                None if implementation is None else buffers.pass_on(implementation.inputs, inputs, implementation.outputs, outputs, moves)
            )
            if implementation is None or moved is None:
                work, result = self.prepare(graph, inputs, outputs, moves)
                timeline.run(work)
                return result
            # A loop that passes on its arrays needs no other steps.
            newInputs, newOutputs, addresses = moved
            if timeline.attempt(implementation.run, addresses) is BUSY:
                timeline.run(partial(implementation.run, addresses))
            return {"inputs": newInputs, "outputs": newOutputs}
        except Exception:
            raise
        except BaseException:  # an interrupt: the program does not get the new arrays, and has the former ones back
            buffers.take_back(moves)
            raise

    def _direct(self, graph: MLGraph) -> Implementation | None:
        """Return what computes a graph of this context, if its calls need nothing but the work itself."""
        return graph._implementation if self.direct and type(graph) is MLGraph and graph._state is self._state else None

    def prepare(
        self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any], moves: buffers.Moves
    ) -> tuple[Callable[[], None], MLComputeResult]:
        """Run the steps of `MLContext.compute` before the parallel ones; return these, and what the method returns after them."""
        if type(graph) is not MLGraph and not webidl.isInstance(graph, MLGraph):
            raise _error("graph", f"must be an MLGraph, got {webidl.describe(graph)}", rule="conversion")
        # Most programs pass a dict. Its names are converted below if the graph does not have them.
        if type(inputs) is not dict or type(outputs) is not dict:
            inputs, outputs = _convert("inputs", inputs), _convert("outputs", outputs)
        state = self._state
        # [3] The graph belongs to this context.
        if graph._state is not state:
            raise _error("graph", "must be a graph of this context, but another one built it", rule="owner")
        # [4] A context made from a GPUDevice computes in other ways.
        if state.contextType != "default":
            raise OperationError(
                'compute: the context must be of type "default", but it was made from a GPUDevice',
                operation="compute",
                rule="draft",
            )
        implementation = graph._implementation
        if implementation is None:
            # It was not destroyed. Until 2024-06 only an injected fault destroys graphs.
            if state.loss.info is not None:
                raise state.loss.error("compute")
            raise InvalidStateError("compute: graph must not be destroyed", operation="compute", rule="destroyed")
        check = buffers.check
        given: list[buffers.Checked] = []
        wanted: list[buffers.Checked] = []
        # 5. Every input is there and fits. Names that the graph does not know: docs/spec-issues.md.
        slots = implementation.inputs
        for name, value in inputs.items():
            slot = slots.get(name) if type(name) is str else None
            if slot is None:
                return self._prepare_converted(graph, inputs, outputs, moves)
            view = check(slot, value)
            # [5.2] Type and length of its buffer match.
            if isinstance(view, str):
                raise _error(f"inputs[{webidl.describe(name)}]", view)
            given.append(view)
        # [5.1] None is missing.
        if len(given) != len(slots):
            missing = [name for name in slots if name not in inputs]
            raise _error("inputs", f"must have every input of the graph, {list(slots)}, but lacks {missing}", rule="name")
        # 6. Every wanted output exists and its buffer fits.
        slots = implementation.outputs
        for name, value in outputs.items():
            slot = slots.get(name) if type(name) is str else None
            if slot is None:
                return self._prepare_converted(graph, inputs, outputs, moves)
            view = check(slot, value, written=True)
            # [6.2] Type and length of its buffer match.
            if isinstance(view, str):
                raise _error(f"outputs[{webidl.describe(name)}]", view)
            wanted.append(view)
        # 7.-8. Transfer the views of both.
        newInputs, newOutputs = buffers.transfer(given, wanted, moves)
        # [7, 8] Each one can be transferred.
        if isinstance(newInputs, str) or isinstance(newOutputs, str):
            raise _error(f"view {webidl.describe(newInputs)}", cast(Requirement, newOutputs))
        addresses = [0] * (len(implementation.inputs) + len(implementation.outputs))
        for slot, _, _, _, address in (*given, *wanted):
            addresses[slot.index] = address

        def work() -> None:
            if wanted:  # without a wanted output there is nothing to do
                if state.on_compute is not None:
                    state.on_compute(graph, buffers.read_only({slot.name: view for slot, view, _, _, _ in given}))
                # [10.1] Execute the graph.
                implementation.run(addresses)

        return work, {"inputs": newInputs, "outputs": newOutputs}

    def _prepare_converted(
        self, graph: MLGraph, inputs: Mapping[str, Any], outputs: Mapping[str, Any], moves: buffers.Moves
    ) -> tuple[Callable[[], None], MLComputeResult]:
        """Run the steps of `MLContext.compute` with names that the graph knows only after their conversion."""
        converted = []
        for argument, named, slots in (("inputs", inputs, graph._inputDescriptors), ("outputs", outputs, graph._outputDescriptors)):
            names = _convert(argument, named)
            for name in names:
                # [6.1] The graph has it. No step concerns an input that the graph does not know: docs/spec-issues.md.
                if name not in slots:
                    raise _error(argument, f"must name {argument} of the graph, {list(slots)}, got {webidl.describe(name)}", rule="name")
            converted.append(names)
        return self.prepare(graph, converted[0], converted[1], moves)


def _convert(argument: str, named: Mapping[str, Any]) -> dict[str, Any]:
    """Convert to ``record<DOMString, ArrayBufferView>``; the views are checked later."""
    convert = partial(webidl.record, named, lambda view: view, wanted="a mapping from names to arrays")
    return webidl.convert_argument(convert, "compute", argument, _ANCHOR)
