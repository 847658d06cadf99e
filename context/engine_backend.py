"""The engine compiles graphs: translate, make a session, find out where each operator runs.

The translation loads onnx: this module loads at the first build.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from webnn.builder.describe import describe_graph
from webnn.builder.numerics import DEFAULT_NUMERICS
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.context.engine.discovery import find_failure
from webnn.context.engine.products import factor_type
from webnn.context.engine.runtime import one_line
from webnn.context.engine.session import CompiledGraph
from webnn.context.placement import Placement
from webnn.context.placement.assign import measure, uniform, unknown
from webnn.validation.errors import OperationError

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.numerics import Numerics
    from webnn.context.backend import Placed
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.engine.cache.models import ModelCache
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.remote.host import Host

__all__ = ["EngineBackend"]


class EngineBackend:
    """Compiles graphs with ONNX Runtime.

    Args:
        numerics: The numerics policy; by default "exact" on the CPU provider, and a device's own kernels, "fast", on others.
        cache: The cache of optimized models for the graphs of programs; by default there is none.
        semantics: The values of switches that differ from the defaults.
        host: The process that has the sessions; by default it is this one.
    """

    __slots__ = ("_cache", "_host", "_numerics", "_semantics")

    def __init__(
        self,
        numerics: Numerics | None,
        cache: ModelCache | None = None,
        semantics: Semantics = DEFAULT_SEMANTICS,
        host: Host | None = None,
    ) -> None:
        self._numerics = numerics
        self._cache = cache
        self._semantics = semantics
        self._host = host

    def compile(self, graph: ComputationalGraph, selection: Selection, *, profile: str = "") -> CompiledGraph | RemoteGraph:
        """Compile a graph without finding out where its operators run, and without the cache. The profile is as for `CompiledGraph`."""
        return _start(self._translate(graph, selection), selection, self._host, profile=profile)

    def compile_and_place(self, graph: ComputationalGraph, selection: Selection, fallback: FallbackPolicy) -> Placed:
        """Compile a graph, and find out where its operators run."""
        return _place(graph, partial(self._translate, graph), selection, fallback, self._cache, self._host)

    def fuses(self, selection: Selection) -> bool:
        """Tell whether calls of subgraphs may become kernels of the engine's own: in fast numerics, on the default CPU device."""
        return self._numerics == "fast" and selection.is_default

    def _translate(self, graph: ComputationalGraph, selection: Selection) -> OnnxModel:
        """Translate a graph for some devices.

        Only the default CPU provider has all operators of ONNX Runtime's own, and all kernels of integers, and exact ones.
        """
        default = selection.is_default
        return translate(
            graph,
            self._numerics or (DEFAULT_NUMERICS if default else "fast"),
            provider="" if default else selection.providers[0][0],
            contributed=default,
            factors=factor_type if default else None,
            semantics=self._semantics,
        )


def _start(
    model: OnnxModel, selection: Selection, host: Host | None, *, profile: str = "", cache: ModelCache | None = None
) -> CompiledGraph | RemoteGraph:
    """Make the session of a translated graph.

    Some of the optimizations that a fast session allows make models that the engine then refuses, above all of quantized networks. Such a
    model gets a session without them.
    """
    begin: Callable[..., CompiledGraph | RemoteGraph] = CompiledGraph
    if host is not None:
        # Imported lazily; few contexts have processes.
        from webnn.context.engine.remote.graph import RemoteGraph  # noqa: PLC0415

        begin = partial(RemoteGraph, host)
    try:
        return begin(model, selection, profile=profile, cache=cache)
    except OperationError:
        if model.numerics == "exact":
            raise
    return begin(replace(model, numerics="exact"), selection, profile=profile, cache=cache)


def _place(
    graph: ComputationalGraph,
    translated: Callable[[Selection], OnnxModel],
    selection: Selection,
    fallback: FallbackPolicy,
    cache: ModelCache | None,
    host: Host | None,
) -> Placed:
    """Make the session of a graph, and its placement or a function that makes it on first use."""
    model = translated(selection)
    if len(selection.devices) == 1:
        implementation = _start(model, selection, host, cache=cache)
        return implementation, _uniform(model, selection, selection.reason)
    try:
        implementation = _start(model, selection, host)
    except OperationError as error:
        # Other providers have defects, so the default CPU provider is tried. Wrong provider options are the program's fault and fail.
        if fallback == "deny" or _refuses_options(selection, host):
            raise
        # The CPU provider gets its own translation.
        default = selection.default_only()
        model = translated(default)
        implementation = _start(model, default, host)
        reason = f"{selection.providers[0][0]} refused the graph: {one_line(error.__cause__ or error)}"
        return implementation, _uniform(model, selection, reason)()
    assignments = implementation.assignments()
    if assignments is not None:
        left = any(provider != selection.providers[0][0] for provider, _ in assignments)
        return implementation, measure(describe_graph(graph), assignments, selection, model.kernels() if left else {})
    if selection.accelerated and fallback == "deny":
        unknown("build")
    return implementation, unknown


def _refuses_options(selection: Selection, host: Host | None) -> bool:
    """Tell whether a device fails to start only because of its provider options."""
    fails = find_failure
    if host is not None:
        from webnn.context.engine.remote import scout  # noqa: PLC0415 (as above)

        fails = partial(scout.find_failure, host)
    chosen = zip(selection.devices[:-1], selection.providers[:-1], strict=True)
    return any(fails(device, settings) and not fails(device, None) for device, (_, settings) in chosen)


def _uniform(model: OnnxModel, selection: Selection, reason: str) -> Callable[[], Placement]:
    """Return a function that places a graph on the default CPU provider. It does not keep the model's weights alive."""
    return partial(uniform, model.operators, model.inputs, model.outputs, selection, reason)
