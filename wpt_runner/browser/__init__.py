"""Runs files of web-platform-tests in a real browser and in the emulator, and compares: ``webnn browser wpt``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "browser wpt": Entry(
            "webnn.wpt_runner.browser.command",
            "Run web-platform-tests in a browser and in the emulator.",
        )
    }
)
