"""Compares the profile of a provider with the provider: does each operator of a graph run where the profile says?

    python -m tools.evidence.provider_profiles gpu webgpu-dawn
    python -m tools.evidence.provider_profiles npu qnn-htp --provider-option QNNExecutionProvider:soc_model=60

Needs the device: docs/devices.md. The graphs are the recorded cases of web-platform-tests, random graphs, and those of the examples and
the benchmarks. Prints a row of docs/profiles.md for each kind of graph, and the operators that differ.
"""

from __future__ import annotations

import argparse
import io
import runpy
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import webnn
from benchmarks import mobilenet, transformer
from webnn.browser.command_record import read_options
from webnn.browser.device_record import make_graph, place_all
from webnn.context.placement import Placement
from webnn.context.placement.assign import simulate
from webnn.context.profiles import Profile, load_profile
from webnn.fuzz.generate import Generator
from webnn.fuzz.hosts import Emulator
from webnn.validation.device_type import DeviceType
from webnn.wpt_runner.vectors.cases import load_cases
from webnn.wpt_runner.vectors.files import bundled_archives
from webnn.wpt_runner.vectors.graphs import read_graph

__all__ = ["KINDS", "Agreement", "compare", "main"]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_PROGRAMS = ("squeezenet.py", "transformer_block.py", "int8_graph.py", "gather_pad_triangular.py", "activations_and_gru.py")
_DRAFT: Literal["2026-06"] = "2026-06"


@dataclass(slots=True)
class Agreement:
    """How often a profile is right.

    Attributes:
        graphs: How many graphs were built on the device.
        refused: How many of them the provider refused as a whole, most of them for want of memory; they are not compared.
        operators: How many of their operators have something left to run there.
        stay: How many of these run on the device.
        wrong: The operators that the profile places elsewhere than the device: their operation, and where and why the device runs them.
    """

    graphs: int = 0
    refused: int = 0
    operators: int = 0
    stay: int = 0
    wrong: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, real: Placement, predicted: Placement) -> None:
        """Compare the placements of a graph."""
        self.graphs += 1
        if " refused the graph: " in real.reason:
            self.refused += 1
            return
        for ours, theirs in zip(predicted.operators, real.operators, strict=True):
            # A graph that the CPU runs as a whole reports operators that the optimizer removes, too.
            if not theirs.device or not ours.device:
                continue
            stays = theirs.device == real.device
            self.operators += 1
            self.stay += stays
            if stays != (ours.device == predicted.device):
                self.wrong[ours.operation, "stays" if stays else f"leaves: {theirs.reason}"] += 1


def recorded() -> Iterator[webnn.GraphDescription]:
    """Yield the graphs of the recorded cases that the newest draft has."""
    for case in load_cases([path for path in bundled_archives() if path.stem == "2025-03"]):
        yield read_graph(case).graph


def random_graphs(count: int = 500) -> Iterator[webnn.GraphDescription]:
    """Yield random graphs, as `webnn fuzz` makes them."""
    ml = webnn.ML(revision=_DRAFT, fallback="silent", order={"gpu": [], "npu": []})
    emulator = Emulator(ml, _DRAFT)
    emulator.run(list(Generator(ml, _DRAFT, 1).graphs(count)))
    for built in emulator.graphs:
        yield from (each.description for each in built)


def models() -> Iterator[webnn.GraphDescription]:
    """Yield the graphs of the examples, and of networks of the benchmarks."""
    found: list[webnn.GraphDescription] = []
    with webnn.emulate(on_build=lambda graph, _: found.append(graph), order={"gpu": [], "npu": []}), redirect_stdout(io.StringIO()):
        for name in _PROGRAMS:
            sys.argv[1:] = []  # the examples read it
            runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        mobilenet.webnn_side(webnn.ML(revision="2024-06").createContextSync(), mobilenet.make_network())
        transformer.webnn_side(transformer.make_block())
    yield from found


KINDS: dict[str, Callable[[], Iterator[webnn.GraphDescription]]] = {
    "recorded cases": recorded,
    "random graphs": random_graphs,
    "examples and networks": models,
}


def compare(
    graphs: Iterator[webnn.GraphDescription], deviceType: DeviceType, profile: Profile, providerOptions: Mapping[str, Mapping[str, str]]
) -> Agreement:
    """Build graphs on a device, and compare where their operators run with what a profile says."""
    agreement = Agreement()
    for placed in place_all(deviceType, make_graph, list(graphs), providerOptions):
        # A graph of an earlier draft without counterpart, one that the engine refuses, or one that ends the process.
        if placed is not None and placed.placement is not None:
            agreement.add(placed.placement, simulate(placed.graph, profile, deviceType))
    return agreement


def main() -> None:
    """Compare, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("device", choices=("gpu", "npu"))
    parser.add_argument("profile")
    parser.add_argument("--kind", action="append", choices=tuple(KINDS))
    parser.add_argument("--provider-option", action="append", default=[], metavar="PROVIDER:NAME=VALUE")
    given = parser.parse_args()
    warnings.simplefilter("ignore", webnn.WebNNWarning)
    profile = load_profile(given.profile)
    print("| graphs | built | refused whole | operators | on the device | as the profile says | |\n|---|---|---|---|---|---|---|")
    wrong: Counter[tuple[str, str]] = Counter()
    for kind in given.kind or KINDS:
        found = compare(KINDS[kind](), given.device, profile, read_options(given.provider_option))
        right = found.operators - found.wrong.total()
        share = f"{right / max(found.operators, 1):.2%}"
        print(f"| {kind} | {found.graphs:,} | {found.refused} | {found.operators:,} | {found.stay:,} | {right:,} | {share} |", flush=True)
        wrong += found.wrong
    for (operation, what), count in sorted(wrong.items()):
        print(f"{operation:24}{count:5}  {what}")


if __name__ == "__main__":
    main()
