"""The command line: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from benchmarks.cases import CASES, SkippedError
from benchmarks.measure import Effort, OutputsDifferError, Result
from benchmarks.report import as_json, environment, make_markdown, make_table

__all__ = ["main"]

QUICK = Effort(rounds=3, scale=0.2)


def _rounds(text: str) -> int:
    rounds = int(text)
    if rounds < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return rounds


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, and return 1 if a bar was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure webnn against onnxruntime doing the same work.")
    parser.add_argument("benchmark", nargs="*", metavar="benchmark", help=f"which to run, of: {', '.join(CASES)} (default: all)")
    parser.add_argument("--rounds", type=_rounds, default=15, help="how many times the two sides take turns (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file as well")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--quick", action="store_true", help="3 short rounds: to see that it works, not to compare")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.benchmark if name not in CASES]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(CASES)}")
    effort = QUICK if options.quick else Effort(rounds=options.rounds)

    # A table needs a width, and a pipe has none.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    status = Console(stderr=True)
    results: list[Result] = []
    skipped: dict[str, str] = {}
    for name in options.benchmark or CASES:
        status.print(f"{name} ...", style="dim")
        try:
            results.append(CASES[name](effort))
        except SkippedError as reason:
            skipped[name] = str(reason)
        except OutputsDifferError as error:
            status.print(f"{name}: {error}", style="red")
            return 1
    where = environment()
    if options.markdown:
        print(make_markdown(results, where))
    else:
        console.print(make_table(results))
        console.print(", ".join(f"{name} {value}" for name, value in where.items()), highlight=False)
    for name, message in skipped.items():
        console.print(f"{name}: skipped, {message}", highlight=False)
    if options.json is not None:
        options.json.write_text(json.dumps(as_json(results, skipped, where), indent=2) + "\n")
    return 0 if all(result.ok for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
