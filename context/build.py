"""The steps of `MLGraphBuilder.build` on the timeline: translate, make a session, find out where it runs what."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from webnn.context import placement
from webnn.context.engine import CompiledGraph
from webnn.context.fallback import answer_placement
from webnn.context.graph import MLGraph
from webnn.context.placement import Placement

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.onnx.translate import OnnxModel
    from webnn.context.context import MLContext
    from webnn.context.fallback import Caller

__all__ = ["compile"]


def compile(context: MLContext, graph: ComputationalGraph, caller: Caller) -> MLGraph:
    """Convert a graph into what the engine understands: the parallel steps of `build`.

    Args:
        context: The context.
        graph: The graph.
        caller: The program's line, for a warning.

    Raises:
        OperationError: The engine refuses the graph, or operators leave the requested device and the fallback policy refuses that.
        InvalidStateError: The context is lost.
    """
    # The translation loads onnx, which takes a while: not before the first build.
    from webnn.builder.onnx.translate import translate  # noqa: PLC0415

    context._loss.check("build")
    selection, profile = context._selection, context._revision.profile
    placed: Placement | Callable[[], Placement]
    if profile is not None:
        placed = placement.simulate(placement.outline(graph), profile, selection.requested)
        # Before the work: who refuses the placement needs no session.
        answer_placement(placed, context._fallback, caller)
        implementation = CompiledGraph(translate(graph), selection)
    else:
        model = translate(graph)
        implementation = CompiledGraph(model, selection)
        placed = _find_placement(context, graph, model, implementation)
        if isinstance(placed, Placement):
            answer_placement(placed, context._fallback, caller)
    built = MLGraph._create(context, implementation, placed)
    context._loss.add(built, "build")
    if context._on_build is not None:
        context._on_build(graph, built)
    return built


def _find_placement(
    context: MLContext, graph: ComputationalGraph, model: OnnxModel, implementation: CompiledGraph
) -> Placement | Callable[[], Placement]:
    """Return where the engine runs a graph, or what tells it when it is asked for."""
    selection = context._selection
    if len(selection.devices) == 1:
        reason = "; ".join(selection.reasons) if selection.fallback else ""
        # Of the model only what is needed: it refers to the weights.
        return partial(
            placement.uniform,
            model.operators,
            model.inputs,
            model.outputs,
            provider=selection.providers[0][0],
            requested=selection.requested,
            reason=reason,
        )
    assignments = implementation.assignments()
    if assignments is not None:
        return placement.measure(placement.outline(graph), assignments, selection, model.op_types())
    if selection.accelerated and context._fallback == "deny":
        placement.unknown("build")
    return placement.unknown
