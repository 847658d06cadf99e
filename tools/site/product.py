"""The pages that the package itself shows, for `tools.site.look`: each in the state in which a person reads it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.pictures import run_command
from tools.site.text import ROOT
from webnn.serve.folder import Folder
from webnn.serve.options import Options
from webnn.serve.server import Server

__all__ = ["View", "views"]

_EXAMPLES = ROOT / "examples"
#: The command that writes each page: its name, the option with the page's file, and what follows.
_FILES: dict[str, tuple[str, str, Sequence[str]]] = {
    "viewer": ("show", "-o", ["--times", "--placement", str(_EXAMPLES / "transformer_block.py")]),
    "viewer-two": ("diff", "--html", [str(_EXAMPLES / f"{name}.py") for name in ("add_and_multiply", "several_outputs")]),
    "inspect": ("run", "--inspect", [str(_EXAMPLES / "transformer_block.py")]),
    "check": ("check", "--html", [str(_EXAMPLES / "int8_graph.py")]),
}


class View(NamedTuple):
    """A page to look at.

    Attributes:
        name: Its name in messages, and in names of pictures.
        address: Its address.
        prepare: Brings the page of Playwright into the state to look at, once it is loaded.
    """

    name: str
    address: str
    prepare: Callable[[Any], object] = lambda _: None


@contextlib.contextmanager
def views(folder: Path) -> Iterator[Sequence[View]]:
    """Write the pages to a folder, start the servers of the others, and yield all of them.

    Raises:
        RuntimeError: A command failed.
    """
    for name, (command, option, others) in _FILES.items():
        # `diff` ends with 1 if there is a difference.
        run_command(command, option, str(folder / f"{name}.html"), *others, largest=int(command == "diff"))
    file = {name: (folder / f"{name}.html").as_uri() for name in _FILES}
    with (
        Server(Folder(_EXAMPLES / "page"), Options(profile="coreml")) as server,
        Server(Folder(_EXAMPLES / "js"), Options()) as idle,
        _playground() as playground,
    ):
        yield [
            View("viewer", file["viewer"], _find_an_operator),
            View("viewer, search", file["viewer"], lambda page: page.locator("input").first.fill("matmul")),
            View("viewer of two", file["viewer-two"], lambda page: page.locator(".differences button").first.click()),
            View("inspect", file["inspect"]),
            View("inspect, viewer", file["inspect"], lambda page: page.locator("details.viewer > summary").first.click()),
            View("check", file["check"]),
            View("folder", f"{idle.url}/"),
            View("status, empty", idle.status_url),
            View("status", server.status_url, lambda page: _with_a_session(page, server)),
            View("playground", playground, _ready),
            View("playground, result", playground, lambda page: _run(page, "#run", "Add and multiply")),
            View("playground, profiles", playground, lambda page: _run(page, "#check", "An int8 graph")),
            View("playground, error", playground, lambda page: _run(page, "#run", "Wrong calls and their errors")),
        ]


@contextlib.contextmanager
def _playground() -> Iterator[str]:
    """Start the playground; yield its address."""
    command = [sys.executable, "-m", "webnn", "playground", "--python"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


def _find_an_operator(page: Any) -> None:
    page.locator("input").first.fill("matmul")
    page.locator(".results button").first.click()


def _with_a_session(page: Any, server: Server) -> None:
    """Open a page of the server beside the status page, and the placement of its graph."""
    shown = page.context.new_page()
    shown.goto(server.address("/"))
    shown.locator("#run").click()
    page.get_by_role("button", name="Placement of graph 1").first.click()
    page.locator("#graph-title").wait_for()


def _ready(page: Any) -> None:
    page.locator("#facts", has_text="webnn ").wait_for()


def _run(page: Any, button: str, example: str) -> None:
    _ready(page)
    page.select_option("#example", label=example)
    page.locator(f"{button}:enabled").click()
    page.locator("#message", has_text="Done").or_(page.locator("#message", has_text="failed")).wait_for()
