"""The modules of commands, which are loaded when they are called."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["BROWSER_COMMANDS", "CASES", "COMMANDS", "DISTANCES", "TOLERANCES", "Entry"]


class Entry(NamedTuple):
    """A command in the list of a group: the module that has it, and the first sentence of its help, which is shown without the module."""

    module: str
    help: str


COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "demo": Entry("webnn.demo.command", "Read handwritten digits with a small network."),
        "devices": Entry("webnn.commands.devices", "Show what is installed, and what each deviceType runs on here."),
        "profiles": Entry("webnn.commands.profiles", "Show the device profiles: whose limits they are, and what they are certain of."),
        "semantics": Entry(
            "webnn.commands.semantics", "Show in which results backends differ: the switches, and which device has which value."
        ),
        "run": Entry("webnn.commands.program", "Run a program that uses navigator.ml, or compute a saved graph."),
        "batch": Entry(
            "webnn.commands.batch",
            "Compute a graph for every sample of a data set, in parts that a second call with the same arguments does not compute again.",
        ),
        "serve": Entry("webnn.commands.serve", "Serve a page, in any browser, with the emulator as its navigator.ml."),
        "check": Entry(
            "webnn.check.command",
            "Build a program's graphs on every device profile: what is refused and why, what falls back, and what to change.",
        ),
        "show": Entry(
            "webnn.commands.show",
            "Show a graph: its operators with types, shapes, parameters and multiply-adds, and its largest tensors.",
        ),
        "convert": Entry(
            "webnn.commands.convert",
            "Write a graph in another format: text, JSON, ONNX, StableHLO, a program in JavaScript or Python, or a picture.",
        ),
        "diff": Entry("webnn.commands.diff", "Compare two graphs: their structure, then their weights, then what they compute."),
        "fuzz": Entry(
            "webnn.commands.fuzz",
            "Run random programs and compare: with a browser, with the reference, with other ways to build the same graph.",
        ),
        "proposal": Entry("webnn.commands.proposal", "Compare drafts with proposals, and begin a proposal."),
        "browser": Entry("webnn.commands.browser", "Compare a browser with the emulator."),
        "wpt": Entry("webnn.wpt_runner.cli", "Run web-platform-tests without a browser."),
    }
)
#: Those of the group `webnn browser`.
BROWSER_COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "run": Entry("webnn.commands.browser_run", "Run a program in a browser and in the emulator, and show what differs."),
        "wpt": Entry(
            "webnn.wpt_runner.commands.browser",
            "Run files of web-platform-tests in a browser and in the emulator, and show which subtests differ.",
        ),
    }
)
#: The module that reads files of recorded cases for `webnn check`, with its function ``load_builds`` and its error ``CaseError``.
CASES = "webnn.wpt_runner.vectors.replay"
#: The modules that judge numbers for `webnn browser run`: with the function ``find_tolerance`` of a graph, and with ``distance``.
TOLERANCES = "webnn.wpt_runner.writing.tolerance"
DISTANCES = "webnn.wpt_runner.vectors.comparison"
