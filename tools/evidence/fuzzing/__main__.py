"""The command line: ``python -m tools.evidence.fuzzing``. It needs the package atheris, except for ``--coverage``."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.evidence.fuzzing.corpus import CORPUS, DICTIONARIES, HARNESSES, inputs, measure

__all__ = ["Result", "arguments", "main"]

#: How long one input may take, in seconds, and how much memory a harness may have, in MB. More is a finding.
_SECONDS, _MEGABYTES = 60, 2048
#: The longest input, in bytes.
_LONGEST = 8192
_EXECUTED = re.compile(r"stat::number_of_executed_units:\s*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of a run of a harness.

    Attributes:
        lines: For each file of the parser: how many lines it has, and which did not run.
    """

    name: str
    executed: int = 0
    findings: Sequence[Path] = ()
    lines: dict[str, tuple[int, list[int]]] = field(default_factory=dict)

    @property
    def covered(self) -> float:
        """The percentage of the parser's lines that ran."""
        total = sum(count for count, _ in self.lines.values())
        return 100 * (1 - sum(len(missing) for _, missing in self.lines.values()) / max(1, total))


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence.fuzzing", description="Fuzz the readers of foreign bytes.")
    parser.add_argument("names", nargs="*", metavar="HARNESS", help=f"the harnesses: {', '.join(HARNESSES)} (default: all)")
    parser.add_argument("--seconds", type=int, default=3600, help="how long all of them take together (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where inputs and findings are kept (default: a temporary folder)")
    parser.add_argument("--bar", type=float, default=90, help="the least percentage of each parser's lines (default: %(default)s)")
    parser.add_argument("--coverage", action="store_true", help="only measure the lines that the kept inputs reach")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    found = parser.parse_args(given)
    if unknown := set(found.names) - set(HARNESSES):
        parser.error(f"there is no harness {', '.join(sorted(unknown))}")
    return found


def _environment() -> dict[str, str]:
    # A harness runs from the checkout, as a module of it.
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


def _fuzz(name: str, seconds: int, folder: Path) -> tuple[int, list[Path]]:
    """Run a harness; return how many inputs it took, and the inputs that it found."""
    own, findings = folder / name, folder / "findings"
    own.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    prefix = findings / f"{name}-"
    dictionary = DICTIONARIES / f"{name}.dict"
    options = {
        "max_total_time": seconds,
        "timeout": _SECONDS,
        "report_slow_units": _SECONDS,
        "rss_limit_mb": _MEGABYTES,
        "max_len": _LONGEST,
        "artifact_prefix": prefix,
        "print_final_stats": 1,
        **({"dict": dictionary} if dictionary.exists() else {}),
    }
    command: list[str | Path] = [sys.executable, "-m", f"tools.evidence.fuzzing.fuzz_{name}", own, CORPUS / name]
    with (folder / f"{name}.log").open("w+", encoding="utf-8", errors="replace") as log:
        subprocess.run(
            [*command, *(f"-{key}={value}" for key, value in options.items())], env=_environment(), stdout=log, stderr=log, check=False
        )
        log.seek(0)
        executed = _EXECUTED.search(log.read())
    found = sorted(findings.glob(f"{name}-*"))
    if executed is None and not found:
        raise SystemExit(f"{name} did not end as it should: {folder / name}.log")
    return 0 if executed is None else int(executed[1]), found


def _measure(name: str, folders: Sequence[Path]) -> dict[str, tuple[int, list[int]]]:
    """Measure the lines of a parser in a process of its own, because an import runs once."""
    command = [sys.executable, "-m", "tools.evidence.fuzzing", "--measure", name, "--folder", str(folders[-1])]
    done = subprocess.run(command, env=_environment(), stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, tuple[int, list[int]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def _show(result: Result, bar: float) -> bool:
    """Print a result; return whether it is good."""
    good = not result.findings and result.covered >= bar
    counts = f"{result.executed:>10} inputs {len(result.findings):>3} findings"
    covered = f"{result.covered:6.1f} % of the lines" if result.lines else "the lines were not measured"
    print(f"{result.name:16} {counts} {covered}", flush=True)
    for file, (count, missing) in result.lines.items():
        print(f"    {file:36} {count:>4} lines, not reached: {', '.join(map(str, missing)) or 'none'}")
    for finding in result.findings:
        print(f"    {finding}")
    return good


def main(given: Sequence[str] | None = None) -> int:
    """Run the harnesses, one after the other. Return 1 if one has a finding, or reaches too few lines of its parser."""
    options = arguments(given)
    if options.measure:
        kept: Any = measure(options.measure, inputs([CORPUS / options.measure, options.folder / options.measure]))
        print(json.dumps(kept))
        return 0
    names = options.names or list(HARNESSES)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="webnn-fuzzing-"))
    good = True
    for name in names:
        executed, findings = (0, []) if options.coverage else _fuzz(name, options.seconds // len(names), folder)
        lines = {} if findings else _measure(name, [CORPUS, folder])
        good &= _show(Result(name=name, executed=executed, findings=findings, lines=lines), options.bar)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
