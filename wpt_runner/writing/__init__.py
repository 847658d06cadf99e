"""Writes tests in web-platform-tests' own form: conformance files from graphs, validation files from calls."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "wpt new": Entry(
            "webnn.wpt_runner.writing.command",
            "Write tests in the form of web-platform-tests.",
        )
    }
)
