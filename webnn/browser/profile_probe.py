"""A page that is probed for the calls that its WebNN accepts, and the emulator with the same calls."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

import webnn
from webnn.browser.chromium import PageCrashError, PageTimeoutError
from webnn.browser.profile_calls import Call
from webnn.context.profiles import Profile
from webnn.context.profiles.rules import Facts, facts_of
from webnn.validation.drafts import for_devices

__all__ = ["Maker", "Outcome", "Page", "ProbeVerdict", "judge"]

#: Calls a function of the page, given by its source, with an argument, and returns what its promise gives: `Chromium.evaluate`.
Evaluate = Callable[[str, object], Any]

#: How many calls the page is asked for at a time.
_CALLS = 250


class Outcome(NamedTuple):
    """The outcome of a call: ``at`` is ``"call"`` or ``"build"`` if that failed, ``"page"`` if the page ended, or empty."""

    at: str
    error: str
    message: str


class Page:
    """A page with WebNN that can be probed; ``evaluate`` calls a function in it."""

    def __init__(self, evaluate: Evaluate) -> None:
        self._evaluate = evaluate
        self._source = (resources.files("webnn.browser") / "profile_page.js").read_text(encoding="utf-8").strip()

    def limits(self) -> dict[str, Any]:
        """Return what ``opSupportLimits()`` returns there."""
        return dict(self._ask("limits"))

    def devices(self, call: Call) -> dict[str, str]:
        """Return the first device that a call's graph runs on, by what a context is asked for; empty where graphs do not say it."""
        return dict(self._ask("findDevices", call))

    def interfaces(self, names: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        """Return the members of interfaces, and those that are read of a context's options, also where no context can be made."""
        return dict(self._ask("findInterfaces", list(names)))

    def members(self, interfaces: Sequence[str], calls: dict[str, Call]) -> dict[str, dict[str, list[str]]]:
        """Return the members of interfaces, and those that are read of dictionaries; for each dictionary there is a call with one."""
        return dict(self._ask("findMembers", {"interfaces": list(interfaces), "calls": calls}))

    def attempt(self, calls: Sequence[Call]) -> list[Outcome]:
        """Carry out calls, and build their graphs; find the call that ends the page, if one does."""
        return [outcome for start in range(0, len(calls), _CALLS) for outcome in self._attempt(calls[start : start + _CALLS])]

    def _attempt(self, calls: Sequence[Call]) -> Iterator[Outcome]:
        try:
            for each in self._ask("tryCalls", list(calls)):
                yield Outcome(each["at"], each["error"], each["message"])
        except (PageCrashError, PageTimeoutError) as error:
            if len(calls) == 1:
                yield Outcome("page", type(error).__name__.removesuffix("Error"), str(error))
                return
            half = len(calls) // 2
            yield from self._attempt(calls[:half])
            yield from self._attempt(calls[half:])

    def _ask(self, name: str, argument: object = None) -> Any:
        return self._evaluate(f"given => (globalThis.webnnProbe ??= {self._source}).{name}(given)", argument)


class ProbeVerdict(NamedTuple):
    """The emulator's outcome of a call, and the facts that the rules of a profile read; ``None`` if the call was refused."""

    outcome: Outcome
    facts: Facts | None


def judge(profile: Profile, calls: Sequence[Call]) -> Iterator[ProbeVerdict]:
    """Carry out calls in contexts of a profile. A graph is not compiled, only checked against the profile: nothing is computed anyway."""
    context = webnn.ML(revision=for_devices(), profile=profile, fallback="silent").createContextSync()
    for call in calls:
        with warnings.catch_warnings():
            # An ignored member does not count as a difference.
            warnings.simplefilter("ignore", webnn.WebNNWarning)
            verdict = _judge(context, profile, call)
        yield verdict


def _judge(context: webnn.MLContext, profile: Profile, call: Call) -> ProbeVerdict:
    builder = webnn.MLGraphBuilder(context)
    facts: Facts | None = None
    at = "call"
    try:
        *arguments, options = Maker(builder).make(call["arguments"])
        result = getattr(builder, call["operation"])(*arguments, options)
        outputs = result if isinstance(result, list | tuple) else [result]
        facts = facts_of(outputs[0]._operator)
        at = "build"
        profile.accept_graph(builder._collect({f"output{index}": each for index, each in enumerate(outputs)}))
    except (webnn.DOMException, webnn.WebNNTypeError) as error:
        name = error.name if isinstance(error, webnn.DOMException) else "TypeError"
        return ProbeVerdict(Outcome(at, name, str(error)), facts)
    else:
        return ProbeVerdict(Outcome("", "", ""), facts)


class Maker:
    """Build the operands of a call, as `maker` of profile_page.js does."""

    def __init__(self, builder: webnn.MLGraphBuilder) -> None:
        self._builder = builder
        self._count = 0

    def make(self, value: Any) -> Any:
        """Make the operands in an argument, or in a part of one."""
        if isinstance(value, list):
            return [self.make(each) for each in value]
        if not isinstance(value, dict):
            return value
        if "$" not in value:
            return {name: self.make(each) for name, each in value.items()}
        dataType, shape, constant = value["$"]
        descriptor: Any = {"dataType": dataType, "shape": shape}
        if not constant:
            self._count += 1
            return self._builder.input(f"input{self._count}", descriptor)
        size = math.prod(shape)
        if dataType.endswith("nt4"):
            return self._builder.constant(descriptor, np.zeros(math.ceil(size / 2), np.uint8))
        return self._builder.constant(descriptor, np.full(shape, dataType.startswith("float"), dataType))
