"""A page to try programs on: an editor, a device profile, faults, and what becomes of the program. ``webnn playground``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = MappingProxyType({"playground": Entry("webnn.playground.command", "Open a page to try programs on.")})
