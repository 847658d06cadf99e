"""The steps of `MLGraphBuilder.build` on the timeline: compile the graph, apply the fallback policy to its placement."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from webnn.builder.describe import describe_graph
from webnn.context.devices.selection import DeviceFallbackWarning
from webnn.context.graph import MLGraph
from webnn.context.placement import Placement
from webnn.context.placement.assign import simulate
from webnn.validation.errors import NotSupportedError, OperationError, label_prefix

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.context.backend import Implementation, Placed
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.session import CompiledGraph
    from webnn.context.placement import OperatorPlacement
    from webnn.context.state import ContextState
    from webnn.validation.caller import Caller

__all__ = ["answer_placement", "compile_again", "compile_graph", "compile_profiled", "find_failing", "implement", "register"]

#: How many operators a warning names.
_NAMED = 3


def compile_graph(state: ContextState, graph: ComputationalGraph, caller: Caller) -> MLGraph:
    """Make the `MLGraph` of a graph; raises what `implement` does."""
    return register(state, graph, *implement(state, graph, caller))


def implement(state: ContextState, graph: ComputationalGraph, caller: Caller) -> Placed:
    """Convert a graph into what the backend understands: the parallel steps of `build`, `#api-mlgraphbuilder-build`.

    Returns its implementation and its placement.

    Raises:
        OperationError: The backend refuses the graph, or operators leave the requested device and the fallback policy refuses that, or the
            device profile does.
        DOMException: The device profile has a rule that the graph breaks; see `Profile.accept_graph`.
        InvalidStateError: The context is lost.
    """
    # [2026-06: 18.2] The context is not lost.
    state.loss.check("build")
    backend, profile = state.load_backend(), state.profile
    placed: Placement | Callable[[], Placement]
    began = time.perf_counter()
    # [16.1.1; 2026-06: 18.1.2] The engine takes the graph.
    try:
        if profile is not None:
            profile.accept_graph(graph)
            placed = simulate(describe_graph(graph), profile, state.selection.requested)
            # Before the work: a refused placement needs no session.
            if not profile.cpu_fallback:
                _refuse_strays(placed, f'the device profile "{profile.name}" has no fallback for')
            answer_placement(placed, state.fallback, caller)
            implementation, _ = backend.compile_and_place(graph, state.selection, state.fallback)
        else:
            implementation, placed = backend.compile_and_place(graph, state.selection, state.fallback)
            if isinstance(placed, Placement):
                answer_placement(placed, state.fallback, caller)
    except OperationError as error:
        error.draft = state.revision.draft
        raise
    state.compilations.add(time.perf_counter() - began)
    return implementation, placed


def register(
    state: ContextState, graph: ComputationalGraph, implementation: Implementation, placed: Placement | Callable[[], Placement]
) -> MLGraph:
    """Make the `MLGraph` of a compiled graph, and tell the context."""
    built = MLGraph._create(state, graph, implementation, placed)
    state.loss.add(built, "build")
    if state.on_build is not None:
        # The emulator's own hooks look at the graph itself: to describe it takes long beside a small build.
        state.on_build(graph if state.briefHooks else describe_graph(graph), built)
    return built


def compile_again(state: ContextState, graph: ComputationalGraph, first: Implementation) -> Implementation:
    """Compile a graph, or a part of it with other outputs, as it was compiled first. There is no placement, and no hook is called.

    Args:
        state: The context.
        graph: The graph, or the part.
        first: The graph's implementation.

    Raises:
        OperationError: The backend refuses the graph.
    """
    try:
        return state.load_backend().compile(graph, _repeat(state.selection, first))
    except OperationError as error:
        error.draft = state.revision.draft
        raise


def compile_profiled(state: ContextState, graph: ComputationalGraph, first: Implementation, profile: str) -> CompiledGraph | RemoteGraph:
    """Compile a graph as it was compiled first, to take times.

    Args:
        state: The context.
        graph: The graph.
        first: Its implementation.
        profile: As for `CompiledGraph`.

    Raises:
        NotSupportedError: The engine did not compile the graph.
        OperationError: The engine refuses the graph.
    """
    backend = state.load_backend()
    if not backend.takes_times:
        raise NotSupportedError(f"profile: {first.providers[0]} computes this graph, and takes no times", operation="profile", rule="draft")
    made: CompiledGraph | RemoteGraph = cast("Any", backend).compile(graph, _repeat(state.selection, first), profile=profile)
    return made


def find_failing(state: ContextState) -> Collection[str]:
    """Return the data types that the accelerator of a context does not compute: under "deny" nothing else computes them."""
    if not state.selection.accelerated or state.profile is not None:
        return ()
    # Imported lazily, as above.
    from webnn.context.engine_backend import EngineBackend  # noqa: PLC0415

    backend = state.load_backend()
    # On the timeline: a process does one job at a time.
    return state.timeline.run(partial(backend.find_failing, state.selection)) if isinstance(backend, EngineBackend) else ()


def _repeat(selection: Selection, first: Implementation) -> Selection:
    """Return the devices that a graph got: the default ones if the best provider refused it."""
    return selection.default_only() if len(selection.providers) > 1 and len(first.providers) == 1 else selection


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
        _refuse_strays(placement, 'the fallback policy "deny" refuses')
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


def _refuse_strays(placement: Placement, why: str) -> None:
    """Raise OperationError if operators left the requested device; it names the first one. ``why`` says who refuses that."""
    if placement.strays:
        first = placement.strays[0]
        raise OperationError(
            f"{label_prefix(first.label)}build: {first.operation} would run on the {first.device.upper()} in a graph for deviceType "
            f'"{placement.requested}", which {why}{_because(first.reason)}',
            operation=first.operation,
            label=first.label,
            rule="device",
        )


def _describe(operator: OperatorPlacement, *, with_reason: bool) -> str:
    reason = _because(operator.reason) if with_reason else ""
    return f"{label_prefix(operator.label)}{operator.operation} on the {operator.device.upper()}{reason}"


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""
