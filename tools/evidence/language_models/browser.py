"""The trained model of examples/language_model in a page of Chromium: on the browser's own WebNN, and on the emulator."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.evidence.pages.quiet import open_page
from tools.evidence.pages.serving import Reports, mount_folders, open_emulator
from webnn.browser.chromium import VARIABLE
from webnn.javascript.files import File
from webnn.serve.options import Options

__all__ = ["LENGTHS", "PageFigures", "find_browser", "measure_pages"]

ROOT = Path(__file__).resolve().parents[3]
#: The lengths of the cache, and the tokens that are timed, in each of the rounds.
LENGTHS, TOKENS, ROUNDS = (128, 1024), 40, 3
_PAGE = """<!doctype html><meta charset=utf-8><script type=module>
import {LanguageModel} from '/page/language_model.mjs';
const report = value => fetch('/-/report', {method: 'POST', body: JSON.stringify(value)}), now = () => performance.now() / 1000;
const median = values => values.sort((a, b) => a - b)[values.length >> 1];
try {
  // A browser that has just started is busy.
  await new Promise(done => setTimeout(done, 3000));
  const [length, count, rounds] = %s, folder = new URL('/model/', location);
  await (await LanguageModel.load(folder, {length})).generate('The', 2).next();
  const begun = now(), model = await LanguageModel.load(folder, {length}), loading = now() - begun;
  let first = [], seconds = [], tokens;
  for (let round = 0; round <= rounds; round++) {
    tokens = [];
    let last = now();
    for await (const {number} of model.generate('The', count)) {
      const time = now();
      // The first round warms up.
      if (round) (tokens.length ? seconds : first).push(time - last);
      last = time;
      tokens.push(number);
    }
  }
  await report({loading, first: median(first), token: median(seconds), tokens});
} catch (error) { await report({error: String(error?.stack ?? error)}); }
</script>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigures:
    """The figures of a page, in seconds.

    Attributes:
        length: The length of the cache.
        native: The browser's own WebNN computes.
        loading: The time to load the files, and to build the graph, the second time.
        first: The time to the first token.
        token: The time of a token, the median.
        tokens: The tokens.
    """

    length: int
    native: bool
    loading: float
    first: float
    token: float
    tokens: list[int]


def find_browser() -> Path | None:
    """Return the browser that the environment names."""
    return Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def measure_pages(browser: Path) -> list[PageFigures]:
    """Measure each length on both sides, in turns.

    Raises:
        RuntimeError: A page fails.
    """
    return [_measure(browser, length, native=native) for length in LENGTHS for native in (True, False)]


def _measure(browser: Path, length: int, *, native: bool) -> PageFigures:
    page = File((_PAGE % json.dumps([length, TOKENS, ROUNDS])).encode(), "text/html")
    files = mount_folders({"/": ROOT / "examples" / "language_model"})
    reports = Reports()
    with (
        open_emulator(lambda path: page if path == "/page.html" else files(path), Options(), reports, native=native) as server,
        open_page(browser, f"{server.url}/page.html", reports, native=native) as found,
    ):
        pass
    told: Mapping[str, object] = found
    if reports.faults or "error" in told:
        raise RuntimeError(f"the page failed: {[*reports.faults, told]}")
    return PageFigures(length=length, native=native, **told)  # type: ignore[arg-type]  # the page tells what its figures are
