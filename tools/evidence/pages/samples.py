"""The image classification page of webnn-samples, without a debugger: its answer, its calls, and its times beside Node's."""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from tools.evidence.pages.quiet import open_page
from tools.evidence.pages.serving import Reports, mount_folders, open_emulator
from webnn.browser.chromium import Read
from webnn.javascript.files import File
from webnn.serve.options import Options

__all__ = ["add_arguments", "run"]

#: Files that the page loads from elsewhere, by the end of its address, and where npm's packages have it.
_ELSEWHERE = {
    "bootstrap.min.css": "bootstrap/dist/css/bootstrap.min.css",
    "bootstrap.min.js": "bootstrap/dist/js/bootstrap.min.js",
    "popper.min.js": "popper.js/dist/umd/popper.min.js",
    "jquery-3.5.1.slim.min.js": "jquery/dist/jquery.slim.min.js",
}
_PAGE, _PACKAGES = "/image_classification/index.html", "/-/packages/"
#: Attributes of what comes from elsewhere: it must have the bytes that the page expects.
_CHECKSUM = re.compile(r"\s(?:integrity|crossorigin)=\"[^\"]*\"")
#: Actions of a person on the page, and what it shows.
_PERSON = """
(async () => {
  const until = async found => { while (!found()) await new Promise(done => setTimeout(done, 50)); };
  const text = id => document.getElementById(id)?.textContent ?? '';
  await until(() => document.readyState === 'complete' && document.querySelector('label:has(#squeezenet)'));
  document.querySelector('label:has(#squeezenet)').click();
  await until(() => text('prob0').endsWith('%') || document.querySelector('.alert'));
  const times = Object.fromEntries(['loadTime', 'buildTime', 'computeTime'].map(id => [id, text(id)]));
  await fetch('/-/report', {method: 'POST', body: JSON.stringify({label: text('label0'), percent: text('prob0'), times})});
})();
"""
_NETWORK = "models/squeezenet1.1_nchw"
_ANSWER, _PERCENT = "lesser panda, red panda, panda, bear cat, cat bear, Ailurus fulgens", 99.21
_MOST_CALLS, _MOST_TIMES_NODE = 160, 2.0
_RUNS = 21
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
    wrong: list[str] = []
    reports = Reports()
    read = mount_folders({"/": options.samples, "/test-data/": options.weights, _PACKAGES: options.packages})
    emulator = Options(dialect="browsers-2026")
    with (
        open_emulator(partial(_read_page, read), emulator, reports, isolated=False) as server,
        open_page(options.chromium, f"{server.url}{_PAGE}?numRuns={_RUNS}", reports) as found,
    ):
        (session,) = server.sessions.living.values()
        counts = session.counts
    label, percent, times = found["label"], found["percent"], found["times"]
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


def _read_page(read: Read, path: str) -> File | None:
    """Read a file of the page. Files from elsewhere are local here, and the script that uses the page is at the end."""
    file = read(path)
    if file is None or path != _PAGE:
        return file
    text = _CHECKSUM.sub("", bytes(file.content).decode())
    for end, found in _ELSEWHERE.items():
        text = re.sub(rf'"https://[^"]*/{re.escape(end)}"', f'"{_PACKAGES}{found}"', text)
    return File(f"{text}<script>{_PERSON}</script>".encode(), file.type)


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
