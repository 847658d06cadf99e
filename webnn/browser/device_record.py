"""Records the profile of a real device: which operations its provider runs there, and which ones leave it."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import webnn
from webnn.browser.profile_calls import Call, Draws
from webnn.browser.profile_probe import Maker
from webnn.browser.profile_record import PROBES, ROUNDS, Recorded
from webnn.browser.profile_rules import Example, find_rules
from webnn.context.devices.selection import Options
from webnn.context.engine import runtime
from webnn.context.limits import CONTEXT, op_support_limits
from webnn.context.placement import Placement
from webnn.context.profiles import make_profile
from webnn.context.profiles.profile import operand_names
from webnn.context.profiles.rules import Facts, described_facts
from webnn.processes.pool import End, Work, cores, run_tasks
from webnn.validation.device_type import DEVICE_TYPES, DeviceType
from webnn.validation.drafts import for_devices

__all__ = ["Placed", "describe_device", "make_graph", "place_all", "place_graph", "record_device"]

T = TypeVar("T")

#: The error of a call that leaves the device, for the search for rules.
_LEAVES = "leaves"
#: How many graphs a process gets at once, and how long it may take for them, in seconds.
_TOGETHER, _LONGEST = 50, 300.0
_DIED = "the driver ended the process"
#: No options for the execution providers.
_NONE: Mapping[str, Options] = MappingProxyType({})
#: Operations with two data types of their own need more probes.
_MORE = {"cast": 4}


class Placed(NamedTuple):
    """A graph that was built on a device: its description, and its placement; ``None`` if the driver ended the process."""

    graph: webnn.GraphDescription
    placement: Placement | None


def place_all(
    deviceType: DeviceType,
    make: Callable[[T, webnn.MLGraphBuilder], Any],
    items: Sequence[T],
    providerOptions: Mapping[str, Options] = _NONE,
) -> Iterator[Placed | None]:
    """Build a graph of each item on a device of this machine, hardware or a simulator, in other processes: a driver may end its process.

    Args:
        deviceType: The type of the device.
        make: Makes the outputs of a graph. It must be importable.
        items: Its first arguments.
        providerOptions: Options for the execution providers, as `ML` takes them.

    Yields:
        For each item, in any order, the graph; ``None`` for a graph that the builder or the engine refuses.

    Raises:
        StartError: There is no such device.
    """
    waiting = [items[start : start + _TOGETHER] for start in range(0, len(items), _TOGETHER)]
    while waiting:
        tasks, waiting = waiting, []
        for done in run_tasks(tasks, partial(_prepare, deviceType, make, dict(providerOptions)), jobs=cores(), limit=lambda _: _LONGEST):
            notes: list[Any] = list(done.notes)
            yield from notes[1::2]
            if done.end is End.RAISED:
                raise RuntimeError(done.problem)
            if done.end is End.RETURNED:
                continue
            # A graph that was begun is the one that ended the process; without a graph, it is the item itself.
            yield Placed(notes[-1], None) if len(notes) % 2 else None
            if rest := done.task[len(notes) // 2 + 1 :]:
                waiting.append(rest)


def describe_device(deviceType: DeviceType, providerOptions: Mapping[str, Options] = _NONE) -> str:
    """Name a device of this machine: the provider, its vendor, the options given, the versions of the plug-in and of the engine.

    Raises:
        NotSupportedError: There is no such device.
    """
    context = webnn.ML(revision=for_devices(), fallback="deny", simulators=True).createContextSync(deviceType=deviceType)
    device = context._state.selection.devices[0]
    version = dict(getattr(device.handle, "ep_metadata", {})).get("version", "")
    simulated = ", simulated" if device.simulated else ""
    options = "".join(f", {name} {value}" for name, value in providerOptions.get(device.provider, _NONE).items())
    return f"{device.provider} {version} ({device.vendor}{simulated}{options}) of ONNX Runtime {runtime.version()}".replace("  ", " ")


def _prepare(
    deviceType: DeviceType, make: Callable[[Any, webnn.MLGraphBuilder], Any], providerOptions: Mapping[str, Options]
) -> Work[Sequence[Any], Any, None]:
    # This process is one of its own already.
    ml = partial(webnn.ML, revision=for_devices(), simulators=True, isolate=False, providerOptions=providerOptions)
    # "deny" refuses another device here, which would have other facts.
    ml(fallback="deny").createContextSync(deviceType=deviceType)
    context = ml(fallback="silent").createContextSync(deviceType=deviceType)

    def work(items: Sequence[Any], note: Callable[[Any], None]) -> None:
        warnings.simplefilter("ignore", webnn.WebNNWarning)
        for item in items:
            place_graph(context, partial(make, item), note)

    return work


def place_graph(context: webnn.MLContext, make: Callable[[webnn.MLGraphBuilder], Any], note: Callable[[Any], None]) -> None:
    """Build a graph. Note its description before it is built, and then the graph; ``None`` twice if it is refused."""
    builder = webnn.MLGraphBuilder(context)
    graph: webnn.GraphDescription | None = None
    try:
        outputs = make(builder)
        graph = webnn.describe(outputs)
        note(graph)
        note(Placed(graph, builder.buildSync(outputs).placement))
    except (webnn.DOMException, webnn.WebNNTypeError, webnn.DescriptionError):
        for _ in range(1 if graph is not None else 2):
            note(None)


def make_graph(graph: webnn.GraphDescription, builder: webnn.MLGraphBuilder) -> Mapping[str, webnn.MLOperand]:
    """Build a described graph in the newest draft; return its outputs."""
    return (graph if graph.draft.partition("+")[0] == for_devices().draft else graph.lift()).build(builder)


def _make_call(call: Call, builder: webnn.MLGraphBuilder) -> Mapping[str, webnn.MLOperand]:
    """Carry out a call; return its results."""
    *arguments, options = Maker(builder).make(call["arguments"])
    result = getattr(builder, call["operation"])(*arguments, options)
    return {f"y{index}": each for index, each in enumerate(result if isinstance(result, list | tuple) else [result])}


def record_device(
    deviceType: DeviceType,
    source: Mapping[str, Any],
    *,
    seed: int = 1,
    probes: int = PROBES,
    providerOptions: Mapping[str, Options] = _NONE,
    tell: Callable[[str], None] = print,
) -> Recorded:
    """Record the profile of a device of this machine.

    Args:
        deviceType: Its type.
        source: Where the profile comes from: its member ``_source``.
        seed: The same seed makes the same probes.
        probes: How many calls of each operation are tried.
        providerOptions: Options for the execution providers, as `ML` takes them.
        tell: Called before each round of probes.

    Raises:
        StartError: There is no such device.
    """
    limits = op_support_limits(for_devices())
    known = {name: limits[name] for name in (*CONTEXT, *operand_names()) if name in limits}
    profile = make_profile("the device", known)
    draws = Draws(profile, f"record {seed}")
    rules: dict[str, list[Any]] = {}
    examples: dict[str, list[Example]] = {name: [] for name in draws.operations}
    unexplained: dict[str, list[Example]] = {name: [] for name in draws.operations}
    count = 0
    for number in range(ROUNDS):
        names = list(unexplained)
        tell(f"round {number + 1}: {len(names)} operations")
        calls = list(itertools.chain.from_iterable([draws.draw(name) for _ in range(probes * _MORE.get(name, 1))] for name in names))
        count += len(calls)
        for placed in place_all(deviceType, _make_call, calls, providerOptions):
            example = None if placed is None else _example(placed)
            if placed is not None and example is not None:
                examples[placed.graph.operators[0].operation].append(example)
        unexplained = {}
        for name in names:
            found, left = find_rules(examples[name], profile.operations[name])
            rules[name] = [{word: value for word, value in each.rule.items() if word in ("must", "when")} for each in found]
            if left and any(not each.error for each in examples[name]):
                unexplained[name] = left
        if not unexplained:
            break
    native = [name for name in draws.operations if any(not each.error for each in examples[name])]
    # A request for an NPU gets a GPU where there is no NPU; nothing gets an NPU instead of a GPU.
    devices = {each: deviceType if each == deviceType or (each, deviceType) == ("npu", "gpu") else "cpu" for each in DEVICE_TYPES}
    data = {"_source": dict(source), "_devices": devices, "_numerics": "fast", **known, "_native": native}
    data["_nativeRules"] = {name: rules[name] for name in native if rules[name]}
    return Recorded(data, count, {name: _count(left) for name, left in unexplained.items()})


def _example(placed: Placed) -> Example | None:
    """Return a call as an example: a refused one if it left the device; ``None`` if nothing is left to run."""
    graph, placement = placed
    facts: Facts = described_facts(graph.operators[0], graph, graph.descriptors())
    if placement is None:
        return Example(facts, _LEAVES, _DIED)
    reason = next((each.reason for each in placement.strays), "")
    return Example(facts, _LEAVES if reason else "", reason) if placement.devices else None


def _count(examples: Sequence[Example]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in examples:
        counts[each.message] = counts.get(each.message, 0) + 1
    return counts
