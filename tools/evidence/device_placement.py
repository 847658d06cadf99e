"""Where a real device leaves single operators to the CPU: the recorded cases of web-platform-tests with one operator, built and placed.

    python -m tools.evidence.device_placement gpu

Needs the device: docs/devices.md. Prints a line for each operation, with the kernels that the provider lacks.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Literal

import webnn
from webnn.wpt_runner.levels import level_of
from webnn.wpt_runner.vectors.cases import Case, load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import read_graph

__all__ = ["load_single", "main", "place"]

_LEVEL = "2025-03"


def load_single(level: str = _LEVEL) -> Iterator[Case]:
    """Yield the recorded cases of a level that have one operator."""
    for case in load_cases([path for path in bundled_archives() if path.stem == level]):
        if len(case.operations) == 1:
            yield case


def place(case: Case, context: webnn.MLContext) -> tuple[str, str]:
    """Build the graph of a case.

    Returns:
        "whole" if the device runs all of it, "folded" if nothing is left to run, "refused" or "left"; and the reason for the last two.
    """
    builder = webnn.MLGraphBuilder(context)
    try:
        graph = builder.buildSync(read_graph(case).graph.build(builder))
    except (webnn.DOMException, TypeError) as error:
        return "refused", str(error)
    (operator,) = graph.placement.operators
    if not operator.device:
        return "folded", ""
    return ("whole", "") if operator.device == graph.placement.device else ("left", operator.reason)


def main(deviceType: Literal["gpu", "npu"]) -> None:
    """Place all cases, and print the table."""
    counts: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    with webnn.emulate(fallback="silent", simulators=True):
        context = level_of(_LEVEL).make_ml().createContextSync(deviceType=deviceType)
        for case in load_single():
            outcome, reason = place(case, context)
            counts[outcome] += 1
            if outcome in ("left", "refused"):
                reasons[case.operations[0]][f"{outcome}: {reason}"] += 1
    for operation in sorted(reasons):
        for reason, count in reasons[operation].most_common():
            print(f"{operation:28}{count:5}  {reason}")
    print(f"{counts.total()} cases: " + ", ".join(f"{name} {counts[name]}" for name in ("whole", "folded", "refused", "left")))


if __name__ == "__main__":
    main("npu" if sys.argv[1:] == ["npu"] else "gpu")
