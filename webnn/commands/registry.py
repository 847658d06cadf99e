"""The modules of commands, which are loaded when they are called."""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["CASES", "COMMANDS"]

COMMANDS = MappingProxyType(
    {
        "demo": "webnn.demo.command",
        "devices": "webnn.commands.devices",
        "profiles": "webnn.commands.profiles",
        "run": "webnn.commands.program",
        "check": "webnn.check.command",
        "show": "webnn.commands.show",
        "convert": "webnn.commands.convert",
        "diff": "webnn.commands.diff",
        "wpt": "webnn.wpt_runner.cli",
    }
)
#: The module that reads files of recorded cases for `webnn check`, with its function ``load_builds`` and its error ``CaseError``.
CASES = "webnn.wpt_runner.vectors.replay"
