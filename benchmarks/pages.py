"""Pages in a browser, with the emulator as `navigator.ml`: the programs of `benchmarks.javascript`, with the same code."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np

from benchmarks import javascript, native
from benchmarks.javascript import PARTS, Report
from benchmarks.measure import Effort, Result, SkippedError, check_same, summarize
from webnn.browser.chromium import VARIABLE
from webnn.javascript.files import File
from webnn.javascript.node import NodeMissingError, find_node

__all__ = ["CASES", "run_page"]

_PROGRAM = Path(__file__).parent / "programs" / "page.mjs"
#: The program prints one line, and the page sends it.
_PAGE = """<!doctype html><script>
const report = body => fetch('/-/report', {method: 'POST', body});
addEventListener('unhandledrejection', ({reason}) => report(JSON.stringify({error: String(reason)})));
globalThis.process = {argv: %s};
console.log = report;
</script><script type=module src=/page.mjs></script>"""


def run_page(browser: Path, part: str, *, rounds: int, repeats: int) -> Report:
    """Run a part in a page of its own."""
    # Imported lazily: the other benchmarks do without the extra `serve`.
    from tools.evidence.pages.quiet import open_page
    from tools.evidence.pages.serving import Reports, open_emulator
    from webnn.serve.options import Options

    arguments = ["browser", "page.mjs", part, str(rounds), str(repeats), "1"]
    files = {
        "/page.html": File((_PAGE % json.dumps(arguments)).encode(), "text/html"),
        "/page.mjs": File(_PROGRAM.read_bytes(), "text/javascript"),
    }
    reports = Reports()
    emulator = Options(revision=PARTS[part].draft)
    with (
        open_emulator(files.get, emulator, reports, isolated=False) as server,
        open_page(browser, f"{server.url}/page.html", reports) as found,
    ):
        pass
    if reports.faults or "error" in found:
        raise RuntimeError(f"the page failed: {[*reports.faults, found]}")
    report: Report = found
    return report


def _measure(effort: Effort, *, name: str, bar: float) -> Result:
    """Measure a part in a page and in Node, in turns."""
    if not (browser := os.environ.get(VARIABLE)):
        raise SkippedError(f"{VARIABLE} names no browser")
    try:
        node = find_node()
    except NodeMissingError as error:
        raise SkippedError(str(error)) from None
    part, rounds = PARTS[name], 3
    repeats = effort.repeats(part.repeats)
    mine: list[float] = []
    other: list[float] = []
    for _ in range(max(1, effort.rounds // rounds)):
        page = run_page(Path(browser), name, rounds=rounds, repeats=repeats)
        program = javascript.run_page(node, name, rounds=rounds, repeats=repeats)
        for report in (page, program):
            check_same(np.array(report["result"]), np.array(part.expected))
        mine += page["seconds"]
        other += program["seconds"]
    title = f"A page in Chromium: {part.title}"
    return summarize(f"page-{name}", title, (mine, other), unit="ms", bar=bar, against="the program in Node")


CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType(
    {
        "page-cycle": partial(_measure, name="cycle", bar=15),
        "page-image": partial(_measure, name="image", bar=2),
        **native.CASES,
    }
)
