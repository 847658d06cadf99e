"""A person finds an operator in the viewer by keyboard alone, and sees its weights: how long that takes, from the model's file on.

    python -m tools.evidence.viewer --browser /opt/chromium/chrome --models DIR --photos FOLDER

DIR is the folder `--cache` of `python -m tools.evidence.models`, with yolov8n and traceforge-decoder; without it, only a graph of 10,000
operators is opened. Each walk should end in 30 s; the graph of 10,000 operators should be painted in 2 s, and draw 30 frames a second while
it is dragged. The times count from an empty screen: the command in a new process, the page in a new browser.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Column, Table

import webnn
from tools.pictures import OPEN, VIEWER

__all__ = ["Seen", "empty", "faults", "main", "make_graph", "walk"]

_LONGEST, _LATEST, _FEWEST = 30.0, 2.0, 30.0
#: The text that a person types to find an operator, at 8 keys a second, and which result is chosen.
_SOUGHT = {
    "yolov8n": ("conv2d model.2/m.0/cv1", 0),
    "traceforge-decoder": ("dequantizeLinear lm_head", 1),
    "10,000 operators": ("matmul layer77", 0),
}
_KEY = 125
_ROUNDS, _DRAG = 5, 1.0
_FLAGS = ["--no-sandbox", "--use-angle=swiftshader"]
#: Notes when the graph is drawn: in the frame behind its first one.
_WATCH = """
const watch = () => {
  const drawn = document.querySelector('.webnn-viewer')?.shadowRoot?.querySelector('.view[data-drawn]');
  if (drawn) globalThis.drawnAfter = performance.now();
  else requestAnimationFrame(watch);
};
requestAnimationFrame(watch);
"""
#: Shows how much a page can draw at most: a canvas that is filled in each frame in which the pointer has moved.
_EMPTY = """<!doctype html><body style="margin: 0"><div class="webnn-viewer"></div><script>
const root = document.querySelector('.webnn-viewer').attachShadow({mode: 'open'});
root.innerHTML = '<div class="view" data-drawn="0"><canvas class="stage" width="1280" height="700"></canvas></div>';
const [view, canvas] = root.querySelectorAll('.view, canvas');
let frame = 0;
canvas.onpointermove = () => {
  frame ||= requestAnimationFrame(() => {
    frame = 0;
    canvas.getContext('2d').fillRect(Math.random() * 1280, 0, 9, 700);
    view.dataset.drawn++;
  });
};
</script>"""
_DRAWN = "Number(document.querySelector('.webnn-viewer').shadowRoot.querySelector('.view').dataset.drawn)"
_OPENED = "document.querySelector('.webnn-viewer').shadowRoot.querySelector('.live').textContent.includes('groups are open')"


class Seen(NamedTuple):
    """The times and figures of a walk.

    Attributes:
        name: The model.
        command: The seconds of `webnn show`, with the start of Python; 0 if the page was not made by it.
        size: The bytes of the page.
        drawn: The seconds from the beginning of the navigation until the graph is drawn.
        walked: The seconds from there until the weights of the operator are seen.
        total: The seconds of the command, of the browser's start, and until the weights are seen.
        frames: The frames a second that are drawn while a person drags the graph, as it is opened first.
        whole: The same with all groups open.
        details: The text of the panel at the end.
    """

    name: str
    command: float
    size: int
    drawn: float
    walked: float
    total: float
    frames: float
    whole: float
    details: str


def make_graph(operators: int) -> webnn.GraphDescription:
    """Make a graph of layers of ten operators, with labels and weights."""
    builder = webnn.MLGraphBuilder(webnn.ML(revision="2026-06").createContextSync())
    x = builder.input("x", dataType="float32", shape=[8, 8])
    weights = np.linspace(-1, 1, 64, dtype=np.float32)
    for layer in range(operators // 10):
        dense = builder.matmul(x, builder.constant({"dataType": "float32", "shape": [8, 8]}, weights), label=f"layer{layer}/dense")
        for place in range(4):
            dense = builder.add(builder.relu(dense, label=f"layer{layer}/relu{place}"), x, label=f"layer{layer}/add{place}")
        x = builder.add(dense, x, label=f"layer{layer}/out")
    return webnn.describe({"y": x}, name="long")


def walk(playwright: Any, program: Path, name: str, page: Path, photo: Path | None = None, command: float = 0.0) -> Seen:
    """Open a page in a new browser, find the operator of a model and look at its weights by keyboard alone; then drag the graph.

    Args:
        playwright: Playwright's own object.
        program: A Chromium.
        name: The model: it says what is sought.
        page: The page.
        photo: The PNG file of what is seen at the end of the walk; ``None`` for none.
        command: The seconds of the command that has written the page.
    """
    begun = time.perf_counter()
    browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
    shown = browser.new_page(viewport=VIEWER, color_scheme="light")
    shown.add_init_script(_WATCH)
    shown.goto(page.as_uri())
    shown.locator(".view[data-drawn]").first.wait_for()
    ready = time.perf_counter()
    shown.keyboard.press("Tab")
    text, place = _SOUGHT[name]
    shown.keyboard.type(text, delay=_KEY)
    shown.locator(".results button").first.wait_for()
    for key in ("ArrowDown", *["Tab"] * place, "Enter"):
        shown.keyboard.press(key, delay=_KEY)
    shown.locator(".weights svg").first.wait_for()
    ended = time.perf_counter()
    details: str = shown.locator(".side").first.inner_text()
    if photo is not None:
        shown.screenshot(path=photo)
    drawn = float(shown.evaluate("globalThis.drawnAfter")) / 1000
    frames = _drag(shown)
    shown.get_by_role("button", name="Open all").click()
    while not shown.evaluate(_OPENED):
        time.sleep(0.1)
    whole = _drag(shown)
    browser.close()
    return Seen(name, command, page.stat().st_size, drawn, ended - ready, command + ended - begun, frames, whole, details)


def empty(playwright: Any, program: Path) -> float:
    """Return the frames a second of a page that draws next to nothing, on this machine at this time."""
    browser = playwright.chromium.launch(executable_path=program, args=_FLAGS)
    shown = browser.new_page(viewport=VIEWER)
    shown.set_content(_EMPTY)
    frames = _drag(shown)
    browser.close()
    return frames


def _drag(shown: Any) -> float:
    """Drag the graph around; return the frames that it draws a second, in the best of some rounds: other programs only make it slower."""
    return max(_drag_once(shown) for _ in range(_ROUNDS))


def _drag_once(shown: Any) -> float:
    area = shown.locator(".stage").first.bounding_box()
    x, y = area["x"] + area["width"] / 2, area["y"] + area["height"] / 2
    shown.mouse.move(x, y)
    shown.mouse.down()
    before, begun = shown.evaluate(_DRAWN), time.perf_counter()
    step = 0
    while (now := time.perf_counter()) < begun + _DRAG:
        step += 1
        shown.mouse.move(x + 3 * (step % 60), y + 2 * (step % 40))
    frames: float = (shown.evaluate(_DRAWN) - before) / (now - begun)
    shown.mouse.up()
    return frames


def faults(seen: Seen) -> Iterator[str]:
    """Say which bars a walk misses."""
    if seen.total > _LONGEST:
        yield f"{seen.name}: the weights are seen after {seen.total:.1f} s, later than {_LONGEST:.0f} s"
    if seen.drawn > _LATEST:
        yield f"{seen.name}: the graph is drawn after {seen.drawn:.1f} s, later than {_LATEST:.0f} s"
    if seen.frames < _FEWEST:
        yield f"{seen.name}: {seen.frames:.0f} frames a second, fewer than {_FEWEST:.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the walks, and print what they took and which bars they miss. Return 1 for a missed one if the bars are to be kept."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (this program needs the extra `browser`)

    parser = argparse.ArgumentParser(prog="python -m tools.evidence.viewer", description="Find operators in the viewer by keyboard.")
    parser.add_argument("--browser", type=Path, required=True, metavar="PROGRAM", help="a Chromium")
    parser.add_argument("--models", type=Path, metavar="DIR", help="the folder with the models")
    parser.add_argument("--photos", type=Path, metavar="FOLDER", help="where pictures of what is seen go")
    parser.add_argument("--bars", action="store_true", help="fail if a bar is missed; on a machine that does nothing else")
    options = parser.parse_args(arguments)
    if options.photos is not None:
        options.photos.mkdir(parents=True, exist_ok=True)
    found = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        make_graph(10_000).save(Path(folder) / "long.webnn")
        files = {name: [str(options.models / f"{name}.onnx"), *more] for name, more in OPEN.items()} if options.models else {}
        for name, given in {**files, "10,000 operators": [str(Path(folder) / "long.webnn")]}.items():
            page = Path(folder) / "page.html"
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-m", "webnn", "show", "-o", str(page), *given], check=True, stderr=subprocess.DEVNULL)
            command = time.perf_counter() - begun
            photo = options.photos / f"{name}.png" if options.photos else None
            found.append(walk(playwright, options.browser, name, page, photo, command))
        limit = empty(playwright, options.browser)
    table = Table(Column("model", no_wrap=True), "webnn show", "page", "drawn", "keyboard", "all of it", "frames/s", "all open")
    for each in found:
        seconds = (f"{value:.1f} s" for value in (each.drawn, each.walked, each.total))
        table.add_row(each.name, f"{each.command:.1f} s", f"{each.size / 1e6:.1f} MB", *seconds, f"{each.frames:.0f}", f"{each.whole:.0f}")
    Console().print(table)
    print(f"a page that draws next to nothing: {limit:.0f} frames/s")
    missed = [fault for each in found for fault in faults(each)]
    print(*missed, sep="\n", end="\n" * bool(missed))
    return int(options.bars and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
