"""The steps of `MLGraphBuilder.build` on the timeline: translate, make a session, find out where each operator runs.

The translation loads onnx: this module loads at the first build.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from webnn.builder.describe import describe_graph
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.context.devices.selection import DeviceFallbackWarning
from webnn.context.engine.discovery import refuses_options
from webnn.context.engine.runtime import one_line
from webnn.context.engine.session import CompiledGraph
from webnn.context.graph import MLGraph
from webnn.context.placement import Placement
from webnn.context.placement.assign import measure, simulate, uniform, unknown
from webnn.validation.errors import OperationError, label_prefix

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.placement import OperatorPlacement
    from webnn.context.state import ContextState
    from webnn.validation.caller import Caller

__all__ = ["answer_placement", "compile_again", "compile_graph"]

#: How many operators a warning names.
_NAMED = 3


def compile_graph(state: ContextState, graph: ComputationalGraph, caller: Caller) -> MLGraph:
    """Convert a graph into what the engine understands: the parallel steps of `build`, `#api-mlgraphbuilder-build`.

    Raises:
        OperationError: The engine refuses the graph, or operators leave the requested device and the fallback policy refuses that.
        InvalidStateError: The context is lost.
    """
    # [2026-06: 18.2] The context is not lost.
    state.loss.check("build")
    profile = state.profile
    placed: Placement | Callable[[], Placement]
    # [16.1.1; 2026-06: 18.1.2] The engine takes the graph.
    try:
        if profile is not None:
            placed = simulate(describe_graph(graph), profile, state.selection.requested)
            # Before the work: a refused placement needs no session.
            answer_placement(placed, state.fallback, caller)
            implementation = CompiledGraph(translate(graph), state.selection)
        else:
            implementation, placed = _build_on_devices(state, graph, translate(graph))
            if isinstance(placed, Placement):
                answer_placement(placed, state.fallback, caller)
    except OperationError as error:
        error.draft = state.revision.draft
        raise
    built = MLGraph._create(state, graph, implementation, placed)
    state.loss.add(built, "build")
    if state.on_build is not None:
        state.on_build(describe_graph(graph), built)
    return built


def compile_again(state: ContextState, graph: ComputationalGraph, first: CompiledGraph, *, profile: str = "") -> CompiledGraph:
    """Compile a graph, or a part of it with other outputs, as it was compiled first. There is no placement, and no hook is called.

    Args:
        state: The context.
        graph: What to compile.
        first: The graph's implementation.
        profile: As for `CompiledGraph`.

    Raises:
        OperationError: The engine refuses the graph.
    """
    selection = state.selection
    if len(selection.providers) > 1 and len(first.providers) == 1:
        # The best provider refused the graph.
        selection = selection.default_only()
    try:
        return CompiledGraph(translate(graph), selection, profile=profile)
    except OperationError as error:
        error.draft = state.revision.draft
        raise


def _build_on_devices(
    state: ContextState, graph: ComputationalGraph, model: OnnxModel
) -> tuple[CompiledGraph, Placement | Callable[[], Placement]]:
    """Make the session of a graph, and its placement or a function that makes it on first use."""
    selection = state.selection
    if len(selection.devices) == 1:
        implementation = CompiledGraph(model, selection)
        return implementation, _uniform(model, selection, selection.reason)
    try:
        implementation = CompiledGraph(model, selection)
    except OperationError as error:
        # Other providers have defects, so the default CPU provider is tried. Wrong provider options are the program's fault and fail.
        if state.fallback == "deny" or _refuses_options(selection):
            raise
        implementation = CompiledGraph(model, selection.default_only())
        reason = f"{selection.providers[0][0]} refused the graph: {one_line(error.__cause__ or error)}"
        return implementation, _uniform(model, selection, reason)()
    assignments = implementation.assignments()
    if assignments is not None:
        return implementation, measure(describe_graph(graph), assignments, selection, model.op_types())
    if selection.accelerated and state.fallback == "deny":
        unknown("build")
    return implementation, unknown


def _refuses_options(selection: Selection) -> bool:
    """Tell whether a device fails to start only because of its provider options."""
    chosen = zip(selection.devices[:-1], selection.providers[:-1], strict=True)
    return any(refuses_options(device, settings) for device, (_, settings) in chosen)


def _uniform(model: OnnxModel, selection: Selection, reason: str) -> Callable[[], Placement]:
    """Return a function that places a graph on the default CPU provider. It does not keep the model's weights alive."""
    return partial(uniform, model.operators, model.inputs, model.outputs, selection, reason)


def answer_placement(placement: Placement, policy: FallbackPolicy, caller: Caller) -> None:
    """Apply the policy to a graph with operators that left the requested device: ``"allow"`` gives one warning.

    Raises:
        OperationError: The policy is ``"deny"``; the error names the first of these operators.
    """
    if policy == "silent":
        return
    strays = placement.strays
    if not strays:
        return
    if policy == "deny":
        first = strays[0]
        raise OperationError(
            f"{label_prefix(first.label)}build: {first.operation} would run on the {first.device.upper()} in a graph for deviceType "
            f'"{placement.requested}", which the fallback policy "deny" refuses{_because(first.reason)}',
            operation=first.operation,
            label=first.label,
        )
    # A reason that all operators share is given once.
    reasons = {each.reason for each in strays}
    named = [_describe(each, with_reason=len(reasons) > 1) for each in strays[:_NAMED]]
    if len(strays) > _NAMED:
        named.append(f"and {len(strays) - _NAMED} more")
    count = "1 operator runs" if len(strays) == 1 else f"{len(strays)} operators run"
    why = _because(strays[0].reason) if len(reasons) == 1 else ""
    caller.warn(
        f'build: {count} elsewhere in a graph for deviceType "{placement.requested}": {"; ".join(named)}{why}', DeviceFallbackWarning
    )


def _describe(operator: OperatorPlacement, *, with_reason: bool) -> str:
    reason = _because(operator.reason) if with_reason else ""
    return f"{label_prefix(operator.label)}{operator.operation} on the {operator.device.upper()}{reason}"


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""
