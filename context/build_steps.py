"""The steps of `MLGraphBuilder.build` and its twin that belong to the context."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from webnn.context.promise import promise
from webnn.context.state import Steps

if TYPE_CHECKING:
    import asyncio

    from webnn.builder.graph import ComputationalGraph
    from webnn.context.graph import MLGraph
    from webnn.validation.caller import Caller

__all__ = ["BuildSteps"]


class BuildSteps(Steps):
    """Builds the graphs of a context."""

    __slots__ = ()

    def build(self, graph: ComputationalGraph, caller: Caller) -> asyncio.Future[MLGraph]:
        """Compile a graph on the timeline.

        Args:
            graph: The graph.
            caller: The program's line, for a warning.
        """
        state = self._state
        return promise(state.timeline, self.prepare(graph, caller), state.loss.promises)

    def build_sync(self, graph: ComputationalGraph, caller: Caller) -> MLGraph:
        """Compile a graph and wait for it."""
        return self._state.timeline.run(self.prepare(graph, caller))

    def prepare(self, graph: ComputationalGraph, caller: Caller) -> Callable[[], MLGraph]:
        """Return the job for the timeline."""

        def job() -> MLGraph:
            # Imported lazily because it loads onnx, which is slow: at the first build, and not on the event loop's thread.
            from webnn.context.build import compile_graph  # noqa: PLC0415

            return compile_graph(self._state, graph, caller)

        return job
