"""Make the moving pictures of the site's home page again: `webnn check` in a terminal, and `webnn serve` with a page.

    python -m tools.moving --browser /opt/chromium/chrome

The commands are run, and the pictures show what they print. Each is an SVG file whose lines appear one after the other, within five
seconds and once. It follows the reader's colour scheme, and stands still for readers who prefer less motion; with the fragment
`#still` it does for all.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from rich.color import Color
from rich.console import Console
from rich.text import Text

__all__ = ["Page", "draw", "main", "run_check", "run_serve"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
CHECK = ("webnn", "check", "examples/int8_graph.py", *(word for name in ("coreml", "dml", "tflite") for word in ("--profile", name)))
SERVE = ("webnn", "serve", "--profile", "coreml", "examples/page")
_COLUMNS = 80
#: The sizes of a character and a line, and the space around the text, in pixels.
_CHARACTER, _LINE, _SPACE, _BAR = 7.25, 17, 14, 26
#: Seconds: how long the command is typed, and how long the picture takes.
_TYPED, _WHOLE = 1.0, 4.6
#: The width of the page beside a terminal, in pixels.
_PAGE = 210
#: The classes of the colours that the commands have.
_COLOURS = {1: "red", 2: "green", 3: "yellow", 6: "cyan"}
_STYLE = """
.g{fill:#f6f8fa;stroke:#d0d7de}.d{fill:#8c959f}text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328;white-space:pre}
.bold{font-weight:bold}.red{fill:#b3261e}.green{fill:#116329}.yellow{fill:#7d4e00}.cyan{fill:#0550ae}.dim{fill:#57606a}
.l{animation:a .2s both}.c{animation:t 1s steps(40) both}
@keyframes a{from{opacity:0}}@keyframes t{from{clip-path:inset(0 100% 0 0)}to{clip-path:inset(0 0 0 0)}}
@media(prefers-color-scheme:dark){.g{fill:#161b22;stroke:#30363d}text{fill:#e6edf3}.d{fill:#6e7681}.red{fill:#ff7b72}.green{fill:#56d364}
.yellow{fill:#e3b341}.cyan{fill:#79c0ff}.dim{fill:#9198a1}}
@media(prefers-reduced-motion:reduce){.l,.c{animation:none}}:target :is(.l,.c){animation:none}
"""


class Page:
    """A picture of a page: the bytes of its PNG file, its width and its height."""

    def __init__(self, png: bytes) -> None:
        self.png = png
        # Both are in the first chunk of the file.
        self.width, self.height = (int.from_bytes(png[start : start + 4], "big") for start in (16, 20))


def draw(command: str, output: str, title: str, page: Page | None = None) -> str:
    """Return the picture of a terminal.

    Args:
        command: The command that is typed.
        output: The lines that it prints, with the escapes of colours.
        title: The text for readers who do not see the picture.
        page: A page that is shown last, beside the terminal.
    """
    return "".join(_draw(command, output.rstrip("\n").split("\n"), title, page))


def _draw(command: str, lines: Sequence[str], title: str, page: Page | None) -> Iterator[str]:
    columns = max(len(Text.from_ansi(line).plain) for line in [f"$ {command}", *lines])
    width = round(columns * _CHARACTER + 2 * _SPACE)
    own = _BAR + _LINE * (len(lines) + 1) + _SPACE
    tall = 0 if page is None else round(_PAGE * page.height / page.width)
    height = max(own, tall)
    whole = width if page is None else width + _PAGE + _SPACE
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height}" width="{whole}" height="{height}" role="img" id="still">'
    yield f"<title>{escape(title)}</title><style>{_STYLE.strip()}</style>"
    yield f'<rect class="g" x=".5" y=".5" width="{width - 1}" height="{own - 1}" rx="8"/>'
    yield "".join(f'<circle class="d" cx="{_SPACE + 4 + 14 * index}" cy="15" r="4"/>' for index in range(3))
    top = _BAR + _LINE
    yield f'<text class="c" x="{_SPACE}" y="{top}"><tspan class="dim">$ </tspan><tspan class="bold">{escape(command)}</tspan></text>'
    steps = len(lines) + (page is not None)
    for index, line in enumerate(lines, 1):
        begin = _TYPED + index * (_WHOLE - _TYPED) / (steps + 1)
        yield f'<text class="l" style="animation-delay:{begin:.2f}s" x="{_SPACE}" y="{top + index * _LINE}">{"".join(_spans(line))}</text>'
    if page is not None:
        data = base64.b64encode(page.png).decode("ascii")
        place = f'x="{width + _SPACE - 0.5}" y=".5" width="{_PAGE}" height="{tall - 1}"'
        yield f'<g class="l" style="animation-delay:{_WHOLE - 0.4:.2f}s">'
        yield f'<image {place} href="data:image/png;base64,{data}"/><rect class="g" {place} fill-opacity="0"/></g>'
    yield "</svg>\n"


def _spans(line: str) -> Iterator[str]:
    """Yield the parts of a line with a style each."""
    text = Text.from_ansi(line)
    console = Console()
    for part in text.divide(sorted({edge for span in text.spans for edge in (span.start, span.end)})):
        style = part.get_style_at_offset(console, 0) if part.plain else None
        classes = [] if style is None else [*(["bold"] if style.bold else []), *(["dim"] if style.dim else []), *_colour(style.color)]
        shown = escape(part.plain)
        yield f'<tspan class="{" ".join(classes)}">{shown}</tspan>' if classes else shown


def _colour(color: Color | None) -> list[str]:
    return [] if color is None or color.number not in _COLOURS else [_COLOURS[color.number]]


def run_check() -> str:
    """Return what `webnn check` prints on a terminal of 80 columns."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(_COLUMNS), "TERM": "xterm"}
    done = subprocess.run(_program(CHECK), cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", check=False)
    # The profiles that are named are required.
    if done.returncode != 1:
        raise RuntimeError(f"webnn check must end with 1, got {done.returncode}")
    return done.stdout


def run_serve(browser: Path) -> tuple[str, Page]:
    """Return what `webnn serve` prints, and a picture of the page that it serves.

    Args:
        browser: The program of a Chromium.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (only this picture needs the extra `browser`)

    with subprocess.Popen(_program(SERVE), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8") as server:
        try:
            assert server.stdout is not None
            lines = [server.stdout.readline() for _ in range(3)]
            address = re.search(r"http://\S+", lines[0])
            if address is None:
                raise RuntimeError(f"webnn serve must print an address, got {lines[0]!r}")
            with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
                chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
                shown = chromium.new_page(viewport={"width": 340, "height": 400}, color_scheme="light")
                shown.goto(address[0])
                shown.get_by_text("pixels are edges").wait_for()
                file = Path(folder) / "page.png"
                # Without the picture that it begins with.
                top = shown.locator("canvas").last.bounding_box()
                assert top is not None
                height = shown.evaluate("document.documentElement.scrollHeight")
                shown.screenshot(
                    path=file, full_page=True, clip={"x": 0, "y": top["y"] - 12, "width": 340, "height": height - top["y"] + 12}
                )
                chromium.close()
                # Without the tokens.
                return re.sub(r"(__webnn__/|[?]token=)[^/\s]+", r"\1...", "".join(lines)), Page(file.read_bytes())
        finally:
            server.terminate()


def _program(command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", *command]


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description="Make the moving pictures of the site's home page again.")
    parser.add_argument("--browser", type=Path, metavar="PROGRAM", help="a Chromium, to make serve.svg too")
    browser: Path | None = parser.parse_args().browser
    made = {"check.svg": draw(" ".join(CHECK), run_check(), "webnn check says on which devices a program builds, and what to change")}
    if browser is not None:
        output, page = run_serve(browser)
        made["serve.svg"] = draw(" ".join(SERVE), output, "webnn serve gives a page the limits of Core ML, and the page falls back", page)
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
