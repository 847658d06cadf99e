"""The commands: their modules, which are loaded when they are called, and the first sentences of their help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from webnn.validation import extras

__all__ = ["CASES", "COMMANDS", "Commands", "Entry"]


class Entry(NamedTuple):
    """A command in the list of a group: the module that has it, and the first sentence of its help, which is shown without the module."""

    module: str
    help: str


class Commands(Mapping[str, Entry]):
    """The commands of a group: the core's, then those of extras, which are only looked for when a name is not one of the core's.

    An extra has an entry point in the group ``webnn.commands``: a mapping of `Entry`, by names such as ``"fuzz"`` or ``"profiles record"``.
    """

    def __init__(self, core: Mapping[str, Entry], group: str = "") -> None:
        self._core = core
        self._group = group

    def __getitem__(self, name: str) -> Entry:
        return self._core[name] if name in self._core else self._extra[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._core, **self._extra})

    def __len__(self) -> int:
        return len({**self._core, **self._extra})

    @cached_property
    def _extra(self) -> dict[str, Entry]:
        found = {}
        for extra in extras.find("webnn.commands").values():
            for name, entry in extra.load().items():
                group, _, own = name.rpartition(" ")
                if group == self._group:
                    found[own] = entry
        return found


COMMANDS: Mapping[str, Entry] = Commands(
    {
        "demo": Entry("webnn.demo.command", "Read handwritten digits with a small network."),
        "devices": Entry("webnn.commands.devices", "Show what is installed, and what each deviceType runs on."),
        "profiles": Entry("webnn.commands.profiles", "Show the device profiles: limits, and how sure they are."),
        "semantics": Entry("webnn.commands.semantics", "Show the switches for results in which devices differ."),
        "run": Entry("webnn.commands.program", "Run a program that uses navigator.ml, or a saved graph."),
        "check": Entry(
            "webnn.check.command",
            "Build a program's graphs on every device profile.",
        ),
        "show": Entry("webnn.commands.show", "Show a graph: its operators, types, shapes and costs."),
        "convert": Entry(
            "webnn.commands.convert",
            "Write a graph in another format.",
        ),
        "diff": Entry("webnn.commands.diff", "Compare two graphs: structure, weights, then results."),
        "conformance": Entry(
            "webnn.wpt_runner.commands.conformance",
            "Compare devices by recorded conformance cases.",
        ),
        "wpt": Entry("webnn.wpt_runner.cli", "Run web-platform-tests without a browser."),
    }
)
#: The module that reads files of recorded cases for `webnn check`, with its function ``load_builds`` and its error ``CaseError``.
CASES = "webnn.wpt_runner.vectors.replay"
