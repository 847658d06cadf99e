"""The image classification page of webnn-samples, unmodified: its answer, its calls, and its times beside Node's."""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.pages.serving import Reports, mount_folders, open_emulator
from webnn.browser.chromium import flags
from webnn.serve.options import Options

__all__ = ["add_arguments", "run"]

#: What the page takes from elsewhere, by the end of its address, and where npm's packages have it.
_ELSEWHERE = {
    "bootstrap.min.css": "bootstrap/dist/css/bootstrap.min.css",
    "bootstrap.min.js": "bootstrap/dist/js/bootstrap.min.js",
    "popper.min.js": "popper.js/dist/umd/popper.min.js",
    "jquery-3.5.1.slim.min.js": "jquery/dist/jquery.slim.min.js",
}
_NETWORK = "models/squeezenet1.1_nchw"
_ANSWER, _PERCENT = "lesser panda, red panda, panda, bear cat, cat bear, Ailurus fulgens", 99.21
_MOST_CALLS, _MOST_TIMES_NODE = 160, 2.0
_RUNS = 21
_LIMIT_MS = 60_000
#: The same network in Node: the class of the page, with the same fetch.
_PROGRAM = """
globalThis.location ??= {hostname: 'localhost'};
const {SqueezeNetNchw} = await import('./squeezenet_nchw.js');
const net = new SqueezeNetNchw(), output = await net.load({deviceType: 'cpu'});
await net.build(output);
const input = new Float32Array(3 * 224 * 224).map((_, index) => Math.sin(index));
for (let index = 0; index < %d; index++) {
  const started = performance.now();
  await net.compute(input);
  console.log(`compute ${performance.now() - started}`);
}
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("samples", type=Path, help="a checkout of webnn-samples")
    parser.add_argument("--weights", type=Path, required=True, metavar="DIR", help="a checkout of its submodule test-data")
    parser.add_argument(
        "--packages", type=Path, required=True, metavar="DIR", help="a folder node_modules with jquery 3.5.1, popper.js and bootstrap 4.5.2"
    )


def run(options: argparse.Namespace) -> list[str]:
    """Let the page classify its picture, print what it says, and return what is not as it should be."""
    from playwright.sync_api import Route, sync_playwright  # noqa: PLC0415 - the extra `browser`

    wrong: list[str] = []
    reports = Reports()

    def elsewhere(route: Route) -> None:
        found = next((path for end, path in _ELSEWHERE.items() if route.request.url.endswith(end)), None)
        if found is None:
            route.abort()
        else:
            route.fulfill(path=options.packages / found, headers={"Access-Control-Allow-Origin": "*"})

    read = mount_folders({"/": options.samples, "/test-data/": options.weights})
    settings = Options(dialect="browsers-2026")
    with open_emulator(read, settings, reports, isolated=False) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=flags(native=False, sandboxed=False), chromium_sandbox=False
        )
        page = browser.new_page()
        page.route(re.compile("^https://"), elsewhere)
        page.on("console", lambda message: print(f"  the page says: {message.text}") if message.type == "error" else None)
        page.goto(f"{server.url}/image_classification/index.html?numRuns={_RUNS}")
        page.wait_for_selector("#squeezenet", state="attached")
        # A browser with routes sends every request by way of this process.
        page.unroute_all()
        page.locator("label:has(#squeezenet)").click()
        page.wait_for_function("document.getElementById('prob0').textContent.endsWith('%')", timeout=_LIMIT_MS)
        label, percent = page.locator("#label0").text_content(), page.locator("#prob0").text_content()
        times = {name: page.locator(f"#{name}").text_content() for name in ("loadTime", "buildTime", "computeTime")}
        (session,) = server.sessions.living.values()
        counts = session.counts
        browser.close()
    print(f"{label} {percent}; {times}; {counts.calls} calls with {_RUNS} runs, {counts.received} bytes sent")
    node = _measure_node(options)
    mine = float((times["computeTime"] or "nan").split()[0])
    print(f"median compute time: {mine:.1f} ms in the page, {node:.1f} ms in Node")
    if label != _ANSWER or percent != f"{_PERCENT}%":
        wrong.append(f"the page says {label} {percent}, not {_ANSWER} {_PERCENT}%")
    if counts.calls - (_RUNS - 1) > _MOST_CALLS:
        wrong.append(f"{counts.calls} calls with {_RUNS} runs, at most {_MOST_CALLS + _RUNS - 1}")
    if not mine <= _MOST_TIMES_NODE * node:
        wrong.append(f"computing takes {mine:.1f} ms, more than {_MOST_TIMES_NODE:g} times Node's {node:.1f} ms")
    return [*wrong, *(f"a fault of the emulator: {fault.strip().splitlines()[-1]}" for fault in reports.faults)]


def _measure_node(options: argparse.Namespace) -> float:
    """Return the median of the milliseconds that a computation takes in Node."""
    with tempfile.TemporaryDirectory() as name:
        site = Path(name)
        shutil.copytree(options.samples / "common", site / "common")
        shutil.copytree(options.weights / _NETWORK, site / "test-data" / _NETWORK)
        folder = site / "image_classification"
        folder.mkdir()
        shutil.copy(options.samples / "image_classification" / "squeezenet_nchw.js", folder)
        program = folder / "program.mjs"
        program.write_text(_PROGRAM % _RUNS, encoding="utf-8")
        command = [sys.executable, "-m", "webnn", "run", "--dialect", "browsers-2026", "--root", str(site), str(program)]
        printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return statistics.median(float(each) for each in re.findall(r"^compute (\S+)$", printed, re.MULTILINE))
