"""Pages on the emulator beside the same pages on the browser's own WebNN: to make a session, and to compute."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from benchmarks.javascript import Report
from benchmarks.measure import Effort, Result, SkippedError, check_same, summarize
from benchmarks.sides import CURRENT
from webnn.browser.chromium import VARIABLE
from webnn.javascript.files import File

__all__ = ["CASES", "PARTS", "run_page"]

_PROGRAM = Path(__file__).parent / "programs" / "sessions.mjs"
#: Each round is a document of its own, in a frame: a session of the emulator that knows nothing.
_PAGE = """<!doctype html><meta charset=utf-8><body><script type=module>
const report = value => fetch('/-/report', {method: 'POST', body: JSON.stringify(value)});
try {
  const seconds = [];
  let result;
  // A browser that has just started is busy.
  await new Promise(done => setTimeout(done, 3000));
  for (let round = 0; round < %d; round++) {
    const frame = document.createElement('iframe');
    frame.src = '/frame.html';
    await new Promise(done => { globalThis.ready = done; document.body.append(frame); });
    const found = await frame.contentWindow.measure(%s);
    seconds.push(found.seconds);
    result = found.result;
    frame.remove();
  }
  await report({seconds, result});
} catch (error) { await report({error: String(error?.stack ?? error)}); }
</script>"""
_FRAME = "<!doctype html><script type=module>import {measure} from '/sessions.mjs'; globalThis.measure = measure; parent.ready();</script>"


class Part(NamedTuple):
    """One of the things that the page measures: in words, and at most how many times as long as natively it may take."""

    title: str
    bar: float = 2


PARTS: Mapping[str, Part] = MappingProxyType(
    {
        "constants": Part("a session with 16 constants of 64 KiB"),
        "megabytes": Part("a session with 16 constants of 1 MiB"),
        "casts": Part("a session with 60 casts of new constants"),
        "graphs": Part("a session of 50 graphs"),
        "decoder": Part("a session of a T5 decoder"),
        "small": Part("relu(x + y), float32 [2, 3]: write two tensors, dispatch, await the read"),
        "chain": Part("one of 16 dispatches of relu(x), float32 [2, 3], before a read"),
        "decode": Part("a T5 decoder: write two tensors, dispatch, await the read"),
    }
)


def run_page(browser: Path, part: str, *, rounds: int, native: bool) -> Report:
    """Run rounds of a part in a page of its own, on the browser's own WebNN or on the emulator."""
    # Imported lazily: the other benchmarks do without the extra `serve`.
    from tools.evidence.pages.quiet import open_page
    from tools.evidence.pages.serving import Reports, open_emulator
    from webnn.serve.options import Options

    files = {
        "/page.html": File((_PAGE % (rounds, json.dumps(part))).encode(), "text/html"),
        "/frame.html": File(_FRAME.encode(), "text/html"),
        "/sessions.mjs": File(_PROGRAM.read_bytes(), "text/javascript"),
    }
    reports = Reports()
    with (
        open_emulator(files.get, Options(revision=CURRENT), reports, isolated=False, native=native) as server,
        open_page(browser, f"{server.url}/page.html", reports, native=native) as found,
    ):
        pass
    if reports.faults or "error" in found:
        raise RuntimeError(f"the page failed: {[*reports.faults, found]}")
    report: Report = found
    return report


def _measure(effort: Effort, *, name: str) -> Result:
    """Measure a part on both, in turns."""
    if not (browser := os.environ.get(VARIABLE)):
        raise SkippedError(f"{VARIABLE} names no browser")
    part, rounds = PARTS[name], 3
    ours: list[float] = []
    native: list[float] = []
    for _ in range(max(1, effort.rounds // rounds)):
        mine, other = (run_page(Path(browser), name, rounds=rounds, native=each) for each in (False, True))
        check_same(np.array(mine["result"]), np.array(other["result"]))
        ours += mine["seconds"]
        native += other["seconds"]
    title = f"A page in Chromium: {part.title}"
    return summarize(f"native-{name}", title, (ours, native), unit="ms", bar=part.bar, against="Chromium's own WebNN")


CASES: Mapping[str, Callable[[Effort], Result]] = MappingProxyType({f"native-{name}": partial(_measure, name=name) for name in PARTS})
