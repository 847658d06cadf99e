"""Make the pictures of README.md again: a graph, where it runs on a small NPU, and the page of `webnn check`.

    python -m tools.pictures                               # graph.svg and placement.svg
    python -m tools.pictures --browser /opt/chromium/chrome     # report.png, too

All three show `examples/int8_graph.py`. The SVG files follow the reader's light or dark colour scheme and have a ground of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import runpy
import tempfile
from pathlib import Path

from typer.testing import CliRunner

import webnn
from webnn.commands.main import app
from webnn.formats.svg import draw

__all__ = ["main", "pictures"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
PROGRAM = ROOT / "examples" / "int8_graph.py"
PROFILE = ROOT / "examples" / "profiles" / "small-npu.json"
WIDTH = 900


def pictures() -> dict[str, str]:
    """Return the text of each SVG file by its name."""
    ml = webnn.ML(revision="2026-06", profile=PROFILE, fallback="silent")
    context = ml.createContextSync(powerPreference="low-power")
    graph = runpy.run_path(str(PROGRAM))["Edges"](context, quantized=True).build()
    return {"graph.svg": draw(graph.description), "placement.svg": draw(graph.description, placement=graph.placement)}


def photograph(browser: Path, file: Path) -> None:
    """Write a screenshot of the page that `webnn check` makes of the program.

    Args:
        browser: The program of a Chromium.
        file: The PNG file.

    Raises:
        RuntimeError: `webnn check` failed.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (only this picture needs the extra `browser`)

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(ROOT):
        page = Path(folder) / "report.html"
        result = CliRunner().invoke(app, ["check", "--html", str(page), PROGRAM.relative_to(ROOT).as_posix()])
        if result.exit_code:
            raise RuntimeError(f"webnn check must end with 0, got {result.exit_code}: {result.output}")
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            shown = chromium.new_page(viewport={"width": WIDTH, "height": WIDTH}, color_scheme="light")
            shown.goto(page.as_uri())
            height = shown.evaluate("document.querySelector('table').getBoundingClientRect().bottom")
            # Down to the end of the table.
            shown.screenshot(path=file, clip={"x": 0, "y": 0, "width": WIDTH, "height": height + 12})
            chromium.close()


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of README.md again.")
    parser.add_argument("--browser", type=Path, metavar="PROGRAM", help="a Chromium, to make report.png too")
    browser: Path | None = parser.parse_args().browser
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    if browser is not None:
        photograph(browser, FOLDER / "report.png")


if __name__ == "__main__":
    main()
