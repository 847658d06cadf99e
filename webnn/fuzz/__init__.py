"""Random programs, and judges of their outcomes: `webnn fuzz`."""

from __future__ import annotations

from collections.abc import Mapping

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = {
    "fuzz": Entry(
        "webnn.fuzz.command",
        "Run random programs, and compare their results.",
    )
}
