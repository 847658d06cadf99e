"""The command line: ``python -m tools.evidence.pages wpt CHECKOUT --chromium PROGRAM``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.evidence.pages import latency, ort, samples, wpt

__all__ = ["main"]

_COMMANDS = {"wpt": wpt, "latency": latency, "samples": samples, "ort": ort}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, print what is not as it should be, and return 1 if there is anything."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.pages", description="Try the emulator of `webnn serve` in a real browser."
    )
    commands = parser.add_subparsers(required=True, dest="command")
    for name, module in _COMMANDS.items():
        command = commands.add_parser(name, help=(module.__doc__ or "").strip().splitlines()[0])
        command.add_argument("--chromium", type=Path, metavar="PROGRAM", help="the browser")
        module.add_arguments(command)
    options = parser.parse_args(arguments)
    if options.chromium is None and getattr(options, "firefox", None) is None:
        parser.error("name the browser: --chromium PROGRAM")
    lines = _COMMANDS[options.command].run(options)
    for line in lines:
        print(f"not as it should be: {line}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
