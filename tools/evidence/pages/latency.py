"""The cost of calls in a page and in its worker, without a debugger."""

from __future__ import annotations

import argparse

from tools.evidence.pages.quiet import open_page
from tools.evidence.pages.serving import Reports, open_emulator
from webnn.javascript.files import File
from webnn.serve.options import Options

__all__ = ["add_arguments", "run"]

#: Milliseconds that a call may cost, by the name of its measurement.
_LIMITS = {"window: call": 3.0, "worker: call": 0.3, "window: builder call": 1.0, "worker: builder call": 1.0}
_MEASURE = """
const measure = async (where) => {
  const context = await navigator.ml.createContext(), descriptor = {dataType: 'float32', shape: [1, 8]};
  const median = list => list.sort((a, b) => a - b)[list.length >> 1];
  const tensor = await context.createTensor({...descriptor, writable: true, readable: true});
  // The relay's connection opens meanwhile.
  await new Promise(done => setTimeout(done, 300));
  const calls = [], reads = [], builds = [];
  for (let index = 0; index < 400; index++) {
    const started = performance.now();
    await context.readTensor(tensor);
    reads.push(performance.now() - started);
  }
  const other = new MLGraphBuilder(context), foreign = new MLGraphBuilder(context).input('x', descriptor);
  for (let index = 0; index < 400; index++) {
    const started = performance.now();
    // The emulator refuses it: such a call is never remembered.
    try { other.relu(foreign); } catch { calls.push(performance.now() - started); }
  }
  for (let round = 0; round < 9; round++) {
    const started = performance.now(), builder = new MLGraphBuilder(context);
    let x = builder.input('x', descriptor);
    for (let index = 0; index < 300; index++) x = builder.relu(x);
    await builder.build({x});
    builds.push((performance.now() - started) / 302);
  }
  return {[`${where}: call`]: median(calls), [`${where}: readTensor`]: median(reads), [`${where}: builder call`]: median(builds)};
};
"""
_PAGE = """<!doctype html><meta charset=utf-8><script type=module>
%s
const report = value => fetch('/-/report', {method: 'POST', body: JSON.stringify(value)});
try {
  const here = await measure('window');
  const there = await new Promise((done, fail) => {
    const worker = new Worker('/worker.js');
    worker.onmessage = ({data}) => done(data);
    worker.onerror = ({message}) => fail(new Error(message));
  });
  await report({...here, ...there});
} catch (error) { await report({error: String(error)}); }
</script>"""
_FILES = {
    "/page.html": File((_PAGE % _MEASURE).encode(), "text/html"),
    "/worker.js": File(
        (_MEASURE + "measure('worker').then(postMessage, error => postMessage({error: String(error)}));").encode(), "text/javascript"
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments: there are none."""


def run(options: argparse.Namespace) -> list[str]:
    """Measure, print the medians, and return what is too slow."""
    reports = Reports()
    emulator = Options(dialect="browsers-2026")
    with open_emulator(_FILES.get, emulator, reports) as server, open_page(options.chromium, f"{server.url}/page.html", reports) as found:
        pass
    if "error" in found:
        return [found["error"]]
    for name, milliseconds in found.items():
        print(f"{name}: {milliseconds:.3f} ms")
    return [f"{name}: {found[name]:.3f} ms, at most {limit:g}" for name, limit in _LIMITS.items() if found[name] > limit]
