"""Pages in any browser, with the emulator behind `navigator.ml`: ``webnn serve``, and fixtures for tests with Playwright."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "attach": Entry("webnn.serve.attach", "Answer a process of the npm package webnn-emulator."),
        "serve": Entry("webnn.serve.command", "Serve a page with the emulator as its navigator.ml."),
    }
)
