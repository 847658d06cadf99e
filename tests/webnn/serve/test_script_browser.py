"""The script in a page of a real browser: it tells the program's line of each call, if it is asked for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from webnn import viewer
from webnn.browser.chromium import Chromium
from webnn.serve.folder import Folder
from webnn.serve.options import Options
from webnn.serve.server import Server

pytestmark = pytest.mark.processes

PAGE = """<!doctype html>
<script type="module" src="program.js"></script>
<script type="module">
globalThis.ended = globalThis.run().then(() => 'done', String);
</script>
"""
PROGRAM = """Error.stackTraceLimit = 1;
globalThis.run = async () => {
  const context = await navigator.ml.createContext(), builder = new MLGraphBuilder(context);
  const x = builder.input('x', {dataType: 'float32', shape: [2]});
  const half = y => builder.relu(
    y);
  let y = half(x);
  y = builder.gelu(y);
  // A page may change what errors are, and gets its limit back.
  Error.prepareStackTrace = () => { throw new Error('no stack'); };
  y = builder.neg(y);
  delete Error.prepareStackTrace;
  globalThis.graph = await builder.build({y: builder.abs(y)});
  if (Error.stackTraceLimit !== 1) throw new Error('the limit has changed');
};
"""


@pytest.mark.parametrize("lines", [True, False])
def test_lines_of_a_page(browser_program: Path, tmp_path: Path, lines: bool) -> None:
    (tmp_path / "index.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "program.js").write_text(PROGRAM, encoding="utf-8")
    with Server(Folder(tmp_path), Options(lines=lines)) as server, Chromium(browser_program, timeout=60) as browser:
        browser.open(server.address("/"))
        assert browser.evaluate("() => globalThis.ended") == "done"
        [session] = server.sessions.living.values()
        [built] = session.record.graphs()[0]
        graph = built.find()
        assert graph is not None
        nodes = viewer.describe(graph.description, lines=viewer.find_lines(graph))["nodes"]
    # The line is not known where the page gives no stack.
    wanted = ["/program.js:5", "/program.js:8", ".:0", "/program.js:13"] if lines else []
    assert [each["line"] for each in nodes if "line" in each] == wanted
