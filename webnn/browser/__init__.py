"""A real browser with WebNN beside the emulator: how it is driven, and what differs between the two."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = {
    "browser": Entry("webnn.browser.command", "Compare a browser with the emulator."),
    "browser run": Entry("webnn.browser.command_run", "Run a program in a browser and in the emulator."),
    "profiles record": Entry("webnn.browser.command_record", "Record the profile of a browser, a GPU or an NPU."),
}
