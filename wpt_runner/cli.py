"""The command line's part of the runner: ``webnn wpt``."""

from __future__ import annotations

from types import MappingProxyType

from webnn.commands.lazy import make_group

__all__ = ["COMMANDS", "app"]

COMMANDS = MappingProxyType(
    {
        "run": "webnn.wpt_runner.commands.run",
        "vectors": "webnn.wpt_runner.commands.vectors",
        "record": "webnn.wpt_runner.commands.record",
        "compare": "webnn.wpt_runner.commands.compare",
    }
)

app = make_group(COMMANDS, help="Run web-platform-tests without a browser.", no_args_is_help=True)
