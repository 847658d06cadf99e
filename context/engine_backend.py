"""The engine compiles graphs: translate, make a session, find out where each operator runs.

The translation loads onnx: this module loads at the first build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from webnn.builder.describe import describe_graph
from webnn.builder.numerics import DEFAULT_NUMERICS
from webnn.builder.onnx.translate import OnnxModel, translate
from webnn.builder.semantics import DEFAULT_SEMANTICS, Semantics
from webnn.context.devices.capabilities import Facts, Refused, find_refused
from webnn.context.engine.discovery import find_failure
from webnn.context.engine.plugins import takes_names
from webnn.context.engine.probes import measure as measure_types
from webnn.context.engine.products import factor_type
from webnn.context.engine.runtime import one_line
from webnn.context.engine.session import CompiledGraph
from webnn.context.placement import Placement
from webnn.context.placement.assign import measure, uniform, unknown
from webnn.validation.descriptor import DATA_TYPES
from webnn.validation.errors import OperationError, label_prefix

if TYPE_CHECKING:
    from webnn.builder.graph import ComputationalGraph
    from webnn.builder.numerics import Numerics
    from webnn.context.backend import Placed
    from webnn.context.devices.selection import FallbackPolicy, Selection
    from webnn.context.engine.cache.models import ModelCache
    from webnn.context.engine.remote.graph import RemoteGraph
    from webnn.context.engine.remote.host import Host
    from webnn.context.engine.trials import Trials

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

    takes_times: ClassVar[bool] = True

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
        refused = self._find_refused(graph, selection)
        # The times are those of single operators.
        model = self._translate(graph, selection, rolls=not profile)
        if selection.is_default:
            return _start(model, selection, self._host, profile=profile)
        trials = _try(model, selection, refused, self._host, self._cache, profile=profile)
        implementation = _start_or_search(trials, selection, self._host)
        if implementation is None:
            default = selection.default_only()
            implementation = _start(self._translate(graph, default), default, self._host, profile=profile)
        return implementation

    def compile_and_place(self, graph: ComputationalGraph, selection: Selection, fallback: FallbackPolicy) -> Placed:
        """Compile a graph, and find out where its operators run."""
        refused = self._find_refused(graph, selection)
        if refused and fallback == "deny" and selection.accelerated:
            first = next(iter(refused.values()))
            raise OperationError(
                f'{label_prefix(first.label)}build: {first.operation} takes or makes {first.dataType}, and the fallback policy "deny" '
                f"refuses another device: {first.reason}",
                operation=first.operation,
                label=first.label,
                rule="device",
            )
        return _place(graph, partial(self._translate, graph), selection, fallback, self._cache, self._host, refused)

    def find_failing(self, selection: Selection) -> Facts:
        """Return the data types that the best device does not compute, with the reasons."""
        if selection.is_default:
            return {}
        facts = self._measure(selection, DATA_TYPES)
        return {dataType: reason for dataType, reason in facts.items() if reason}

    def _find_refused(self, graph: ComputationalGraph, selection: Selection) -> Mapping[int, Refused]:
        """Find the operators that the best device does not compute."""
        if selection.is_default:
            return {}
        descriptors = [each.descriptor for each in graph.inputs.values()]
        descriptors += [each for operator in graph.operators for each in operator.outputs]
        types = {each.dataType for each in descriptors}
        return find_refused(graph, selection.providers[0][0], self._measure(selection, types))

    def _measure(self, selection: Selection, types: Iterable[str]) -> Facts:
        """Return the facts about data types of the best device."""
        device, settings = selection.devices[0], selection.providers[0][1]
        if self._host is None:
            return measure_types(device, settings, types, self._cache)
        from webnn.context.engine.remote import scout  # noqa: PLC0415 (most programs need no process)

        return scout.measure(self._host, device, settings, types, self._cache)

    def fuses(self, selection: Selection) -> bool:
        """Tell whether calls of subgraphs may become kernels of the engine's own: in fast numerics, on the default CPU device."""
        return self._numerics == "fast" and selection.is_default

    def takes_names(self, selection: Selection) -> bool:
        """Tell whether a session may compute many sizes: on the default CPU device, and on those whose provider takes names."""
        return selection.is_default or takes_names(selection)

    def _translate(self, graph: ComputationalGraph, selection: Selection, *, rolls: bool = True) -> OnnxModel:
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
            rolls=rolls,
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
    refused: Mapping[int, Refused],
) -> Placed:
    """Make the session of a graph, and its placement or a function that makes it on first use."""
    model = translated(selection)
    if len(selection.devices) == 1:
        implementation = _start(model, selection, host, cache=cache)
        return implementation, _uniform(model, selection, selection.reason)
    trials = _try(model, selection, refused, host, cache)
    try:
        shared, reason = _start_or_search(trials, selection, host), ""
    except OperationError as error:
        # Other providers have defects, so the default CPU provider is tried. Wrong provider options are the program's fault and fail.
        if fallback == "deny" or _refuses_options(selection, host):
            raise
        shared, reason = None, f"{selection.providers[0][0]} refused the graph: {one_line(error.__cause__ or error)}"
    if shared is None:
        # The CPU provider gets its own translation.
        default = selection.default_only()
        model = translated(default)
        reason = reason or next(iter(trials.refused.values())).reason
        return _start(model, default, host), _uniform(model, selection, reason)()
    assignments = shared.assignments()
    if assignments is not None:
        left = any(provider != selection.providers[0][0] for provider, _ in assignments)
        return shared, measure(describe_graph(graph), assignments, selection, model.kernels() if left else {}, trials.refused)
    if selection.accelerated and fallback == "deny":
        unknown("build")
    return shared, unknown


def _try(
    model: OnnxModel,
    selection: Selection,
    refused: Mapping[int, Refused],
    host: Host | None,
    cache: ModelCache | None,
    *,
    profile: str = "",
) -> Trials:
    # Imported lazily; the CPU provider refuses no operator.
    from webnn.context.engine.trials import Trials  # noqa: PLC0415

    return Trials(model, selection, refused, partial(_start, host=host, profile=profile), cache)


def _start_or_search(trials: Trials, selection: Selection, host: Host | None) -> CompiledGraph | RemoteGraph | None:
    """Make a session; if the device refuses it, find the operators at fault, and make one without them.

    Returns:
        The session; ``None`` if the device must get nothing.

    Raises:
        OperationError: The device refuses the graph, whichever operators it gets, or wrong provider options.
    """
    try:
        return trials.start()
    except OperationError as error:
        if _refuses_options(selection, host):
            raise
        found = trials.search(error)
        if found is None and not trials.refused:
            raise
        return found


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
