"""The command line's part of the runner: ``webnn wpt``."""

from __future__ import annotations

from types import MappingProxyType

from webnn.commands.lazy import make_group
from webnn.commands.registry import Entry

__all__ = ["COMMANDS", "app"]

COMMANDS = MappingProxyType(
    {
        "run": Entry("webnn.wpt_runner.commands.run", "Run JavaScript files of web-platform-tests against the emulator."),
        "vectors": Entry(
            "webnn.wpt_runner.commands.vectors",
            "Replay conformance cases of web-platform-tests that were recorded as JSON: yours, or those that the package holds.",
        ),
        "record": Entry(
            "webnn.wpt_runner.commands.record",
            "Record the conformance tests of web-platform-tests as JSON, one file for each: `webnn wpt vectors` replays them.",
        ),
        "new": Entry(
            "webnn.wpt_runner.commands.new",
            "Write tests in the form of web-platform-tests: a conformance test from graphs, or the tentative tests of a proposal.",
        ),
        "compare": Entry("webnn.wpt_runner.commands.compare", "Compare two runs of web-platform-tests, of this runner or of any browser."),
    }
)

app = make_group(COMMANDS, help="Run web-platform-tests without a browser.", no_args_is_help=True)
