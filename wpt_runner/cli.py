"""The command line's part of the runner: ``webnn wpt``."""

from __future__ import annotations

from webnn.commands.lazy import make_group
from webnn.commands.registry import Commands, Entry

__all__ = ["COMMANDS", "app"]

COMMANDS = Commands(
    {
        "run": Entry("webnn.wpt_runner.commands.run", "Run JavaScript files of web-platform-tests against the emulator."),
        "vectors": Entry(
            "webnn.wpt_runner.commands.vectors",
            "Replay conformance cases that were recorded as JSON.",
        ),
        "record": Entry(
            "webnn.wpt_runner.commands.record",
            "Record conformance tests as JSON.",
        ),
        "compare": Entry("webnn.wpt_runner.commands.compare", "Compare two runs of web-platform-tests."),
        "status": Entry("webnn.wpt_runner.commands.status", "Measure the implementation status of the operations."),
    },
    "wpt",
)

app = make_group(COMMANDS, help="Run web-platform-tests without a browser.", no_args_is_help=True)
