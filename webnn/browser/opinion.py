"""The third opinion: the reference in float64 says whose numbers are right, the emulator's or the browser's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import webnn
from webnn import reference
from webnn.browser.differences import AccuracyVerdict, Array
from webnn.browser.watch import Log, WatchedCall
from webnn.builder.semantics import Semantics, explain
from webnn.reference.wpt_tolerances import distance, find_tolerance
from webnn.validation.descriptor import FLOAT_TYPES, unpack

__all__ = ["Opinion", "Witness"]

#: How many bytes of inputs are kept.
_MOST_KEPT = 1 << 28
_COMPUTING = frozenset({"MLContext.compute", "MLContext.dispatch"})


@dataclass(slots=True)
class Witness:
    """Keeps the graphs that a program computes in the emulator, with their inputs: the hooks of `webnn.emulate`."""

    computed: list[tuple[webnn.GraphDescription | None, Mapping[str, Array], Semantics]] = field(default_factory=list)
    _known: list[tuple[webnn.MLGraph, webnn.GraphDescription]] = field(default_factory=list)
    _kept: int = 0

    def on_build(self, description: webnn.GraphDescription, graph: webnn.MLGraph) -> None:
        """Take a graph that was built."""
        self._known.append((graph, description))

    def on_compute(self, graph: webnn.MLGraph, inputs: Mapping[str, Array]) -> None:
        """Take the inputs of a computation."""
        description = next((each for known, each in self._known if known is graph), None)
        self._kept += sum(array.nbytes for array in inputs.values())
        if self._kept > _MOST_KEPT:
            description, inputs = None, {}
        self.computed.append((description, {name: array.copy() for name, array in inputs.items()}, graph._state.semantics))


class Opinion:
    """Judges the numbers of the emulator's log and graphs, by the tolerances of web-platform-tests."""

    def __init__(self, log: Log, witness: Witness) -> None:
        self._calls = [call for call in log.calls if call.member in _COMPUTING and call.error is None]
        self._computed = witness.computed
        self._exact: dict[int, Mapping[str, Array]] = {}

    def __call__(self, call: WatchedCall, output: str, emulator: Array, browser: Array) -> AccuracyVerdict | None:
        """Judge the elements of a result; see `Judge`."""
        found = self._find(call, output)
        if found is None or len(self._calls) != len(self._computed):
            return None
        index, output = found
        graph, inputs, semantics = self._computed[index]
        if graph is None or output not in graph.outputs:
            return None
        if index not in self._exact:
            self._exact[index] = reference.compute(graph, inputs, exact=True, semantics=semantics)
        descriptor = graph.descriptors()[graph.outputs[output]]
        tolerance = find_tolerance(graph, inputs)

        def measure(found: Array, results: Mapping[str, Array]) -> float:
            exact = unpack(results[output], descriptor.dataType, descriptor.shape)
            return self._distance(found, exact.ravel(), tolerance.metric, descriptor.dataType)

        distances = [measure(each, self._exact[index]) for each in (emulator, browser)]
        right = [each <= tolerance.value for each in distances]
        far = f"{distances[0]:.4g} and {distances[1]:.4g} {tolerance.metric} from the reference, WPT allows {tolerance.value:.4g}"
        words = {(True, True): "both are right", (True, False): "the browser is wrong", (False, True): "the emulator is wrong"}
        verdict = words.get((right[0], right[1]), "neither is right")
        explanation = ""
        if not right[1]:
            explanation = explain(
                [operator.operation for operator in graph.operators],
                semantics,
                lambda other: measure(browser, reference.compute(graph, inputs, exact=True, semantics=other)) <= tolerance.value,
            )
        equal = f"; the browser's is right with {explanation}" if explanation else ""
        name = graph.operators[0].operation if len(graph.operators) == 1 else f"{len(graph.operators)} operators"
        return AccuracyVerdict(emulator=right[0], browser=right[1], words=f"{name}: {verdict}: {far}{equal}")

    def _distance(self, found: Array, exact: Array, metric: str, dataType: str) -> float:
        """Return the largest distance from the reference, which web-platform-tests rounds to the type where it counts ULP."""
        if found.shape != exact.shape:
            return np.inf
        if metric == "ULP" and dataType in FLOAT_TYPES:
            with np.errstate(over="ignore", invalid="ignore"):
                exact = exact.astype(found.dtype)
        return float(distance(found, exact, metric).max(initial=0.0))

    def _find(self, call: WatchedCall, output: str) -> tuple[int, str] | None:
        """Return the computation that made a result, and the name of its output."""
        if call.member == "MLContext.compute":
            return next(((index, output) for index, each in enumerate(self._calls) if each is call), None)
        tensor = _name(call.arguments[0]) if call.arguments else None
        for index, each in reversed(list(enumerate(self._calls))):
            outputs: Any = each.arguments[2] if len(each.arguments) > 2 else None
            if each.number > call.number or not isinstance(outputs, dict):
                continue
            for name, value in outputs.get("members", {}).items():
                if _name(value) == tensor:
                    return index, name
        return None


def _name(value: Any) -> str | None:
    return value.get("object") if isinstance(value, dict) else None
