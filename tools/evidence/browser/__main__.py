"""The command line: ``python -m tools.evidence.browser FOLDER --chromium PROGRAM``."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tools.evidence.browser.chromium import open_folder
from tools.evidence.browser.emulator import build_modules
from tools.evidence.browser.modules import expect, load_inputs
from tools.evidence.browser.verdicts import KNOWN, Verdict, faults, judge, load_known

__all__ = ["main"]

#: The dialect of browsers beside the newest draft.
_DIALECT = "browsers-2026"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the modules of a folder in the browser, print what became of them, and return 1 if something was not expected."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.evidence.browser",
        description="Build exported modules in a Chromium with WebNN, and compare its numbers with the emulator's.",
    )
    parser.add_argument("folder", type=Path, help="the modules, each with its .safetensors, and with an .npz of inputs if there is one")
    parser.add_argument(
        "--models",
        type=Path,
        metavar="DIR",
        help="a second folder, written by --modules of tools.evidence.models or tools.evidence.jax_models",
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="which modules to run, such as 'conv2d*' (default: all)")
    parser.add_argument("--chromium", type=Path, required=True, metavar="PROGRAM", help="the browser")
    parser.add_argument("--known", type=Path, default=KNOWN, metavar="FILE", help="what is expected not to work, and why (TOML)")
    parser.add_argument("--partial", action="store_true", help="the folder has a part of the modules that the expectations are about")
    parser.add_argument("--timeout", type=float, default=60.0, metavar="S", help="seconds after which a module is given up (%(default)g)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to a file as well")
    options = parser.parse_args(arguments)
    folders = [options.folder, *([options.models] if options.models is not None else [])]
    for folder in folders:
        if not _find_modules(folder, ()):
            parser.error(f"{folder} has no module")
    chosen = {folder: names for folder in folders if (names := _find_modules(folder, options.patterns))}
    if not chosen:
        parser.error("no module has such a name")
    verdicts: list[Verdict] = []
    lines: list[str] = []
    version = ""
    for folder, names in chosen.items():
        modules = build_modules(names, folder, dialect=_DIALECT)
        refused = {name: result["error"] for name, result in modules.results.items() if "error" in result}
        lines += [f"{name}: the emulator refuses it: {message}" for name, message in refused.items()]
        with open_folder(folder, options.chromium, options.timeout) as (site, browser):
            version = browser.version
            for name, description in modules.descriptions.items():
                inputs = load_inputs(folder, name, description)
                verdicts.append(judge(name, description, expect(folder, name, description, inputs), site.run(browser, name, inputs)))
    known = load_known(options.known)
    lines += faults(verdicts, known, all_modules=not options.patterns and not options.partial)
    _print(verdicts, version)
    for line in lines:
        print(f"not expected: {line}")
    if options.json is not None:
        rows = [{"name": each.name, "status": each.status, "message": each.message, "difference": each.difference} for each in verdicts]
        options.json.write_text(json.dumps({"chromium": version, "modules": rows}, indent=1) + "\n", encoding="utf-8")
    return 1 if lines else 0


def _find_modules(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Return the names of the modules of a folder that fit a pattern, or of all."""
    present = sorted(path.name.removesuffix(".mjs") for path in folder.glob("*.mjs"))
    return [name for name in present if not patterns or any(fnmatchcase(name, each) for each in patterns)]


def _print(verdicts: Sequence[Verdict], version: str) -> None:
    """Print the modules that are not ok, with their reasons, and the numbers of all."""
    for status in ("refused", "failed", "wrong"):
        for verdict in verdicts:
            if verdict.status == status:
                print(f"{status}: {verdict.name}: {verdict.message}")
    counts = Counter(verdict.status for verdict in verdicts)
    built = len(verdicts) - counts["refused"]
    print(f"Chromium {version}: {built} of {len(verdicts)} modules build; {counts['ok']} of them compute what they must")
    whole = [verdict for verdict in verdicts if verdict.name.startswith(("example_", "model_"))]
    for verdict in whole:
        print(f"  {verdict.name}: {verdict.status}, difference {verdict.difference:.1e} of the largest value")


if __name__ == "__main__":
    sys.exit(main())
