"""The command line: ``python -m tools.evidence.faults write`` and ``... run --chromium PROGRAM``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.evidence.faults.entries import load_faults, load_results, save_results
from tools.evidence.faults.hosts import open_browser, run_here, show_here
from tools.evidence.faults.index import EMULATOR, RESULTS, TOOL, browser_files, pages_of
from tools.evidence.faults.page import script_of
from tools.evidence.faults.spec import RESULTS as SPEC_RESULTS
from tools.evidence.faults.spec import read_texts, spec_files
from tools.written import keep_pages
from webnn.browser.chromium import VARIABLE, find_browser

__all__ = ["changes", "main", "written_files"]

Found = dict[str, dict[str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or run the programs; return an exit status."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {TOOL}", description="Pages of faults of browsers, and programs of texts on the drafts."
    )
    commands = parser.add_subparsers(required=True, dest="command")
    write = commands.add_parser("write", help="write the pages and the indices")
    write.add_argument("--check", action="store_true", help="write nothing, and fail if a file is outdated")
    run = commands.add_parser("run", help="run the programs in a browser and on the emulator")
    run.add_argument("names", nargs="*", metavar="NAME", help="programs; all without")
    run.add_argument("--chromium", type=Path, metavar="PROGRAM", help=f"the browser; that of {VARIABLE} without")
    run.add_argument("--write", action="store_true", help="keep the results")
    options = parser.parse_args(arguments)
    if options.command == "write":
        return keep_pages(written_files(), TOOL, check=options.check)
    executable = find_browser(options.chromium)
    lines = _run_faults(executable, options.names, keep=options.write) + _run_programs(executable, options.names, keep=options.write)
    for line in lines:
        print(f"not as it should be: {line}", file=sys.stderr)
    return int(bool(lines))


def written_files() -> dict[Path, str]:
    """Return the texts of all files that are written."""
    return {**browser_files(), **spec_files()}


def _run_faults(executable: Path, names: Sequence[str], *, keep: bool) -> list[str]:
    """Open the pages with the browser's WebNN, where they must fail or pass as before, and with the emulator, where they must pass."""
    faults = [each for each in load_faults().faults if not names or each.name in names]
    found: Found = {each.name: {} for each in faults}
    lines: list[str] = []
    kept = load_results(RESULTS)
    for emulated in (False, True):
        with open_browser(executable, pages_of(faults), emulated=emulated) as (pages, browser):
            host = EMULATOR if emulated else browser
            for fault in faults:
                answer = show_here(script_of(fault)) if emulated and fault.frames else pages.show(fault.page.name)
                found[fault.name][host] = answer.got
                # A fault may be newer than a browser, or mended in it: then a kept result says so.
                known = not emulated and kept.get(fault.name, {}).get(host) == answer.got
                if answer.passes != emulated and not known:
                    lines.append(f"{fault.name} {'passes' if answer.passes else f'fails with {answer.got}'} in {host}")
                print(f"{fault.name}: {answer.got} in {host}")
    return lines + _keep(RESULTS, found, keep=keep)


def _run_programs(executable: Path, names: Sequence[str], *, keep: bool) -> list[str]:
    """Run the programs of the texts on the drafts in the browser, and in the emulator."""
    texts = [each for each in read_texts() if each.program and (not names or each.name in names)]
    found: Found = {}
    with open_browser(executable, {}, emulated=False) as (pages, browser):
        for text in texts:
            found[text.name] = {browser: pages.run(text.program), EMULATOR: run_here(text.program)}
            for host, got in found[text.name].items():
                print(f"{text.name}: {got!r} in {host}")
    return _keep(SPEC_RESULTS, found, keep=keep)


def _keep(path: Path, found: Found, *, keep: bool) -> list[str]:
    lines = [] if keep else changes(load_results(path), found)
    if keep:
        save_results(path, found)
    return lines


def changes(kept: Mapping[str, Mapping[str, str]], found: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return in words which results are others than those that were kept; a host without kept results has none."""
    return [
        f"{name} in {host}: {got!r}, where {kept[name][host]!r} was kept"
        for name, hosts in found.items()
        for host, got in hosts.items()
        if kept.get(name, {}).get(host, got) != got
    ]


if __name__ == "__main__":
    sys.exit(main())
