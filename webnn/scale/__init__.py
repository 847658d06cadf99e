"""Whole data sets through a graph, in parts, on the cores of this machine or on a cluster: `webnn.batch`, ``webnn batch``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from webnn.commands.registry import Entry

__all__ = ["COMMANDS"]

#: The commands of this extra: an entry point.
COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "batch": Entry(
            "webnn.scale.command",
            "Compute a graph for every sample of a data set.",
        )
    }
)
