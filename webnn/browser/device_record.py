"""Records the profile of a real device: which operations its provider runs there, and which ones leave it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import webnn
from webnn.browser.profile_calls import Call, Draws
from webnn.browser.profile_probe import Maker
from webnn.browser.profile_record import PROBES, ROUNDS, Recorded
from webnn.browser.profile_rules import Example, find_rules
from webnn.builder.describe import describe
from webnn.context.limits import CONTEXT, operand_names
from webnn.context.placement import Placement
from webnn.context.profiles import make_profile
from webnn.context.profiles.rules import Facts, described_facts
from webnn.validation.device_type import DEVICE_TYPES
from webnn.validation.drafts import for_devices

__all__ = ["attempt", "open_context", "record_device"]

#: What a call that leaves the device has in the place of an error.
_LEAVES = "leaves"


class Attempt(NamedTuple):
    """A call whose graph was built: what rules look at, and why it left the device; empty if it did not."""

    facts: Facts
    reason: str


def open_context(deviceType: webnn.DeviceType) -> webnn.MLContext:
    """Make a context on a device of this machine, hardware or a simulator.

    Raises:
        NotSupportedError: There is no such device.
    """
    context = webnn.ML(revision=for_devices(), fallback="deny", simulators=True).createContextSync(deviceType=deviceType)
    del context  # it refuses what leaves the device; the probes want to know that
    return webnn.ML(revision=for_devices(), fallback="silent", simulators=True).createContextSync(deviceType=deviceType)


def record_device(
    context: webnn.MLContext, source: Mapping[str, Any], *, seed: int = 1, probes: int = PROBES, tell: Callable[[str], None] = lambda _: None
) -> Recorded:
    """Record the profile of a context's device.

    Args:
        context: The context; its fallback policy is not "deny".
        source: Where the profile comes from: its member ``_source``.
        seed: The same seed makes the same probes.
        probes: How many calls of each operation are tried.
        tell: Called with each operation before it is probed.
    """
    limits = context.opSupportLimits()
    known = {name: limits[name] for name in (*CONTEXT, *operand_names(for_devices())) if name in limits}
    profile = make_profile("the device", known)
    draws = Draws(profile, f"record {seed}")
    native: list[str] = []
    rules: dict[str, list[Any]] = {}
    unexplained: dict[str, dict[str, int]] = {}
    count = 0
    for operation in draws.operations:
        tell(operation)
        examples: list[Example] = []
        for _ in range(ROUNDS):
            made = attempt(context, [draws.draw(operation) for _ in range(probes)])
            examples += [Example(each.facts, _LEAVES if each.reason else "", each.reason) for each in made]
            count += probes
            found, left = find_rules(examples, profile.operations[operation])
            if not left:
                break
        if not any(not each.error for each in examples):
            continue
        native.append(operation)
        if found:
            rules[operation] = [{word: value for word, value in each.rule.items() if word in ("must", "when")} for each in found]
        for each in left:
            messages = unexplained.setdefault(operation, {})
            messages[each.message] = messages.get(each.message, 0) + 1
    device = context._state.selection.device
    # A request for an NPU gets a GPU where there is no NPU; nothing gets an NPU instead of a GPU.
    devices = {each: device if each == device or (each, device) == ("npu", "gpu") else "cpu" for each in DEVICE_TYPES}
    data = {"_source": dict(source), "_devices": devices, "_numerics": "fast", **known, "_native": native, "_nativeRules": rules}
    return Recorded(data, count, unexplained)


def attempt(context: webnn.MLContext, calls: Sequence[Call]) -> Iterator[Attempt]:
    """Build the graph of each call; those that the builder or the engine refuses, and those that are computed at the build, are left out."""
    for call in calls:
        builder = webnn.MLGraphBuilder(context)
        with warnings.catch_warnings():
            # An ignored member does not matter here.
            warnings.simplefilter("ignore", webnn.WebNNWarning)
            try:
                *arguments, options = Maker(builder).make(call["arguments"])
                result = getattr(builder, call["operation"])(*arguments, options)
                outputs = {f"y{index}": each for index, each in enumerate(result if isinstance(result, list | tuple) else [result])}
                graph = describe(outputs)
                placement = builder.buildSync(outputs).placement
            except (webnn.DOMException, webnn.WebNNTypeError):
                continue
        [place] = placement.operators
        if place.device:
            facts = described_facts(graph.operators[0], graph, graph.descriptors())
            yield Attempt(facts, _reason(placement))


def _reason(placement: Placement) -> str:
    """Say why the operator of a graph left its device."""
    return next((each.reason for each in placement.strays), "")
