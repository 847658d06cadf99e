"""Make the pictures of the documentation again: graphs, one on a small NPU, the page of `webnn check`, and the viewer.

    python -m tools.pictures                                                 # the graphs
    python -m tools.pictures --browser /opt/chromium/chrome                  # report.png and viewer-two.png, too
    python -m tools.pictures --browser /opt/chromium/chrome --models DIR     # viewer-light.png and viewer-dark.png, too

DIR is the folder `--cache` of `python -m tools.evidence.models`, with yolov8n and traceforge-decoder. Three pictures show
`examples/int8_graph.py`. The SVG files follow the reader's light or dark colour scheme and have a ground of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import runpy
import tempfile
from pathlib import Path

from typer.testing import CliRunner

import webnn
from webnn.commands.graphs import load_graph
from webnn.commands.main import app
from webnn.formats.svg import draw
from webnn.viewer import as_page, describe_two

__all__ = ["main", "pictures", "run_command"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "pictures"
PROGRAM = ROOT / "examples" / "int8_graph.py"
PROFILE = ROOT / "examples" / "profiles" / "small-npu.json"
#: Programs of the gallery.
PROGRAMS = ("add_and_multiply", "gather_pad_triangular")
WIDTH = 900
VIEWER = {"width": 1280, "height": 720}
#: The sizes that the models leave open.
OPEN = {
    "yolov8n": ["--dim", "batch=1", "--dim", "height=320", "--dim", "width=320"],
    "traceforge-decoder": [
        *("--shape", "input_ids=1,8", "--shape", "encoder_hidden_states=1,24,512", "--shape", "encoder_attention_mask=1,24"),
    ],
}


def pictures() -> dict[str, str]:
    """Return the text of each SVG file by its name."""
    ml = webnn.ML(revision="2026-06", profile=PROFILE, fallback="silent")
    context = ml.createContextSync(powerPreference="low-power")
    graph = runpy.run_path(str(PROGRAM))["Edges"](context, quantized=True).build()
    others = {f"{name}.svg": draw(load_graph(ROOT / "examples" / f"{name}.py", [])) for name in PROGRAMS}
    return {"graph.svg": draw(graph.description), "placement.svg": draw(graph.description, placement=graph.placement), **others}


def run_command(*arguments: str, largest: int = 0) -> None:
    """Run a command of the package in this process.

    Args:
        arguments: The command, and what follows it.
        largest: The largest exit code of a success.

    Raises:
        RuntimeError: It ends with a larger one.
    """
    result = CliRunner().invoke(app, arguments)
    if result.exit_code > largest:
        raise RuntimeError(f"webnn {arguments[0]} must end with at most {largest}, got {result.exit_code}: {result.output}")


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
        run_command("check", "--html", str(page), PROGRAM.relative_to(ROOT).as_posix())
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            shown = chromium.new_page(viewport={"width": WIDTH, "height": WIDTH}, color_scheme="light")
            shown.goto(page.as_uri())
            height = shown.evaluate("document.querySelector('table').getBoundingClientRect().bottom")
            # Down to the end of the table.
            shown.screenshot(path=file, clip={"x": 0, "y": 0, "width": WIDTH, "height": height + 12})
            chromium.close()


def photograph_viewer(browser: Path, models: Path) -> None:
    """Write screenshots of the viewer: an operator of YOLOv8n with its weights, and a decoder of T5, coloured by time, on dark ground.

    Args:
        browser: The program of a Chromium.
        models: The folder with both models.

    Raises:
        RuntimeError: `webnn show` failed.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (as above)

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, scheme in (("yolov8n", "light"), ("traceforge-decoder", "dark")):
            page = Path(folder) / f"{name}.html"
            run_command("show", "-o", str(page), "--times", str(models / f"{name}.onnx"), *OPEN[name])
            shown = chromium.new_page(viewport=VIEWER, color_scheme=scheme)
            shown.goto(page.as_uri())
            if scheme == "dark":
                shown.get_by_label("Colour").select_option(label="time")
            shown.locator("input").fill("matmul lm_head" if scheme == "dark" else "model.2/m.0/cv1/conv")
            shown.keyboard.press("Enter")
            shown.wait_for_timeout(500)
            shown.screenshot(path=FOLDER / f"viewer-{scheme}.png")
            shown.close()
        chromium.close()


def photograph_two(browser: Path, file: Path) -> None:
    """Write a screenshot of the viewer with two graphs: the program's, quantized and not.

    Args:
        browser: The program of a Chromium.
        file: The PNG file.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (as above)

    made = runpy.run_path(str(PROGRAM))["Edges"]
    context = webnn.ML(revision="2026-06").createContextSync()
    graphs = [made(context, quantized=quantized).build().description for quantized in (False, True)]
    page = as_page([describe_two(*graphs, titles=("float32", "int8"))])
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (Path(folder) / "page.html").write_text(page, encoding="utf-8")
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        shown = chromium.new_page(viewport=VIEWER, color_scheme="light")
        shown.goto((Path(folder) / "page.html").as_uri())
        shown.locator(".differences button").first.click()
        shown.wait_for_timeout(500)
        shown.screenshot(path=file)
        chromium.close()


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of README.md again.")
    parser.add_argument("--browser", type=Path, metavar="PROGRAM", help="a Chromium, to make report.png too")
    parser.add_argument(
        "--models", type=Path, metavar="DIR", help="the models of tools.evidence.models, to make pictures of the viewer too"
    )
    given = parser.parse_args()
    browser: Path | None = given.browser
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")
    if browser is not None:
        photograph(browser, FOLDER / "report.png")
        photograph_two(browser, FOLDER / "viewer-two.png")
        if given.models is not None:
            photograph_viewer(browser, given.models)


if __name__ == "__main__":
    main()
