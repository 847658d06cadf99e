"""The page of each fault, and `upstream/browser/README.md`, from the entries and the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.evidence.faults.entries import BROWSER, KINDS, SEVERITIES, Collection, Fault, load_faults, load_results
from tools.evidence.faults.page import page_of
from tools.written import fill

__all__ = ["EMULATOR", "README", "RESULTS", "TOOL", "browser_files", "cell", "pages_of"]

TOOL = "tools.evidence.faults"
README = BROWSER / "README.md"
RESULTS = BROWSER / "results.json"
#: The name of the emulator among the results. The others are browsers with their versions.
EMULATOR = "emulator"
_DRAFT = "https://www.w3.org/TR/webnn/"


def pages_of(faults: Sequence[Fault]) -> dict[str, str]:
    """Return the texts of the pages, and of their workers, by their file names."""
    pages = {each.page.name: page_of(each) for each in faults}
    return pages | {f"{each.name}.js": each.worker for each in faults if each.worker}


def browser_files() -> dict[Path, str]:
    """Return the texts of the files in `upstream/browser` that are written."""
    collection = load_faults()
    lines = _lines(collection, load_results(RESULTS))
    pages = {BROWSER / name: text for name, text in pages_of(collection.faults).items()}
    return {**pages, README: fill(README, TOOL, "".join(f"{line}\n" for line in lines))}


def _lines(collection: Collection, results: Mapping[str, Any]) -> Iterator[str]:
    ordered = sorted(collection.faults, key=lambda each: (SEVERITIES.index(each.severity), list(KINDS).index(each.kind)))
    browsers = sorted({name for each in results.values() for name in each} - {EMULATOR})
    counts = ", ".join(f"{sum(each.severity == level for each in ordered)} {level}" for level in SEVERITIES)
    yield f"{len(ordered)} faults by severity: {counts}."
    yield ""
    yield f"| page | fault | kind | severity | where | expected | {' | '.join(browsers)} | imitated |"
    yield f"|---|---|---|---|---|---|{'---|' * len(browsers)}---|"
    for each in ordered:
        gots = [results.get(each.name, {}).get(name, "not run") for name in browsers]
        found = ["right" if got == each.expected else cell(got) for got in gots]
        section = f"[`{each.section}`]({_DRAFT}{each.section})"
        fault = f"{cell(each.title)} ({section}) | {KINDS[each.kind]} | {each.severity} | {cell(each.engine)}"
        outcomes = f"{cell(each.expected)} | {' | '.join(found)} | {'yes' if each.imitated else ''}"
        yield f"| [{each.name}]({each.page.name}) | {fault} | {outcomes} |"
    yield ""
    yield "Differences that the project knows, and that need no page:"
    yield ""
    yield "| known as | reason |"
    yield "|---|---|"
    for key, reason in collection.without.items():
        yield f"| {cell(key)} | {cell(reason)} |"


def cell(text: str) -> str:
    """Return a text for a cell of a table in Markdown."""
    return text.replace("|", "\\|").replace("\n", "; ").replace("<", "&lt;")
