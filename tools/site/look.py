"""Looks at the built site, and at the pages of the package itself, in a real browser: accessibility by axe-core, and pictures.

    python -m tools.site.look _site --browser /opt/chromium/chrome --axe axe.min.js --photos photos --programs

axe.min.js is a file of the npm package axe-core. Each page is shown 1280 and 400 pixels wide, on light and on dark ground.
`--programs` runs the programs of operations, too.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import itertools
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import urlsplit

from tools.site.compatibility import versions
from tools.site.examples import examples
from tools.site.product import View, views
from tools.site.programs import javascript_program

__all__ = ["PAGES", "look", "main", "run_programs"]

#: A page of each kind.
PAGES = (
    "index",
    "install",
    "check",
    "gallery",
    "api/index",
    "api/operations/index",
    "api/operations/conv2d",
    "api/compatibility",
    "api/messages",
    "api/errors",
    "api/commands/check",
    "api/environment",
    "proposals",
    "reports/wpt",
)
_WIDTHS = (1280, 400)
_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_HEIGHT = 900
#: The theme gives the parts of its navigation, and the buttons of blocks of code, the same role and no names.
_RUN = "axe.run({resultTypes: ['violations'], rules: {'landmark-unique': {enabled: false}}})"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve a folder; yield its address."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def look(browser: Any, views: Sequence[View], axe: str, photos: Path | None) -> Iterator[str]:
    """Show pages in all widths and colour schemes; yield what is wrong.

    Args:
        browser: A browser of Playwright.
        views: The pages.
        axe: The text of axe-core; empty to leave it out.
        photos: A folder for pictures of the pages; ``None`` for none.
    """
    for width, scheme in itertools.product(_WIDTHS, _SCHEMES):
        for view in views:
            context = browser.new_context(viewport={"width": width, "height": _HEIGHT}, color_scheme=scheme, reduced_motion="reduce")
            shown = context.new_page()
            requests: list[str] = []
            shown.on("request", lambda request, found=requests: found.append(request.url))
            shown.goto(view.address)
            view.prepare(shown)
            yield from (f"{view.name} loads {each}" for each in requests if _is_foreign(each, view.address))
            wide = shown.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                yield f"{view.name} is {wide} pixels wide on a screen of {width}"
            if photos is not None:
                shown.screenshot(path=photos / f"{view.name.replace('/', '-').replace(', ', '-')}-{width}-{scheme}.png")
            if axe:
                shown.evaluate(axe)
                for each in shown.evaluate(_RUN)["violations"]:
                    places = ", ".join(str(node["target"][0]) for node in each["nodes"][:3])
                    yield f"{view.name}, {width} pixels, {scheme}: {each['id']} ({len(each['nodes'])} times): {places}"
            context.close()


def _is_foreign(address: str, page: str) -> bool:
    """Tell whether a page loads an address from another host than its own."""
    return urlsplit(address).scheme not in {"data", "blob"} and urlsplit(address)[:2] != urlsplit(page)[:2]


def run_programs(browser: Any, address: str) -> Iterator[str]:
    """Run the JavaScript program of each operation in the browser's own WebNN; yield what tools/site/browsers.toml does not say."""
    shown = browser.new_page()
    shown.goto(f"{address}/index.html")
    for operation in examples():
        failed = shown.evaluate(f"(async () => {{{javascript_program(operation)}}})().then(() => '', String)")
        refusal = versions().refused.get(operation, "")
        if not failed.endswith(refusal) or bool(failed) != bool(refusal):
            yield f"{operation}: expected {refusal or 'that it runs'}, got {failed or 'that it runs'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 (this program needs the extra `browser`)

    parser = argparse.ArgumentParser(prog="python -m tools.site.look", description="Look at the built site in a real browser.")
    parser.add_argument("folder", type=Path, help="the built site")
    parser.add_argument("--browser", type=Path, required=True, metavar="PROGRAM", help="a Chromium")
    parser.add_argument("--axe", type=Path, metavar="FILE", help="axe.min.js of axe-core")
    parser.add_argument("--photos", type=Path, metavar="FOLDER", help="where pictures of the pages go")
    parser.add_argument("--programs", action="store_true", help="run the program of each operation, too")
    parser.add_argument(
        "--page", action="append", dest="pages", metavar="NAME", help="a page without its suffix; by default one of each kind"
    )
    parser.add_argument("--no-product", dest="product", action="store_false", help="leave out the pages of the package itself")
    options = parser.parse_args(arguments)
    if options.photos is not None:
        options.photos.mkdir(parents=True, exist_ok=True)
    pages = options.pages or PAGES
    axe = "" if options.axe is None else options.axe.read_text(encoding="utf-8")
    flags = ["--no-sandbox", "--enable-features=WebMachineLearningNeuralNetwork"]
    with ExitStack() as stack:
        address = stack.enter_context(_served(options.folder))
        shown = [View(page, f"{address}/{page}.html") for page in pages]
        if options.product:
            shown += stack.enter_context(views(Path(stack.enter_context(TemporaryDirectory()))))
        browser = stack.enter_context(sync_playwright()).chromium.launch(executable_path=options.browser, args=flags)
        found = list(run_programs(browser, address)) if options.programs else []
        found += look(browser, shown, axe, options.photos)
        browser.close()
    for each in found:
        print(each, file=sys.stderr)
    print(f"{len(shown)} pages, {len(found)} problems")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
