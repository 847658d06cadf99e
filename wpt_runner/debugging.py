"""Debuggers for a test: Python's, where the emulator refuses a call, and that of Node, before each subtest."""

from __future__ import annotations

import importlib
import json
import os
import pdb
import sys
from typing import Any

from webnn.javascript.files import ORIGIN, Files
from webnn.javascript.node import Node, Program, run_program
from webnn.javascript.page_scripts import Script
from webnn.javascript.realm import load_script
from webnn.wpt_runner.checkout import Checkout, Test
from webnn.wpt_runner.harness import HARNESS, PLACEHOLDER, Settings, subtest_script

__all__ = ["Stopper", "run_in_node"]


class Stopper:
    """Stops at each call that the emulator refuses, in the frame that refused it: `run_test` takes its method `stop`.

    The debugger is that of ``PYTHONBREAKPOINT``, as for `breakpoint`: the function ``post_mortem`` of its module. Without one, the debugger
    begins here, with the error as ``error``.

    Attributes:
        stops: How many calls were refused.
    """

    def __init__(self) -> None:
        self.stops = 0

    def stop(self, error: Exception) -> None:
        """Tell the error, and start the debugger."""
        self.stops += 1
        print(f"refused: {type(error).__name__}: {error}")
        name = os.environ.get("PYTHONBREAKPOINT") or "pdb.set_trace"
        if name == "0":
            return
        if sys.breakpointhook is not sys.__breakpointhook__:
            breakpoint()
            return
        module: Any = pdb if name == "pdb.set_trace" else importlib.import_module(name.rpartition(".")[0] or "builtins")
        if hasattr(module, "post_mortem"):
            module.post_mortem(error.__traceback__)
        else:
            breakpoint()


#: What a page has that `node_host.mjs` lacks, and where results go.
_BEGIN = "globalThis.GLOBAL = {{isWindow: () => true, isWorker: () => false, isShadowRealm: () => false}}; globalThis.META_TITLE = {title};"
_CONNECT = """
{{
  const isOfTest = line => line.includes('{origin}/') && !line.includes('{harness_path}');
  const frames = stack => stack.split('\\n').filter(isOfTest).map(line => `\\n${{line}}`).join('');
  let rejected = '';
  const emit = (kind, text) => {{
    const told = JSON.parse(text);
    if (kind === 'rejected') rejected = told;
    if (kind !== 'complete' && kind !== 'subtest' || told.name === {placeholder}) return;
    const {{name = 'the test as a whole', status, message, stack}} = told;
    console.log(`${{status}} ${{name}}${{message && `: ${{message}}`}}${{message && (frames(stack) || frames(rejected))}}`);
    rejected = '';
  }};
  ({harness})(globalThis, emit);
  ({subtests})(globalThis, emit);
}}
"""


def run_in_node(checkout: Checkout, test: Test, settings: Settings, node: Node) -> int:
    """Run a test in Node, which waits for a debugger and stops before each subtest; return the exit code."""
    address = f"{ORIGIN}{test.address}{test.variant}"
    connect = _CONNECT.format(
        harness=load_script("harness.js"),
        harness_path=HARNESS,
        origin=ORIGIN,
        placeholder=json.dumps(PLACEHOLDER),
        subtests=subtest_script(settings, pause=True),
    )
    scripts = [_script("webnn:begin", _BEGIN.format(title=json.dumps(test.file.title)))]
    for path in (HARNESS, *test.file.scripts, f"/{test.file.path}"):
        source = checkout.read(path)
        if source is None:
            raise ValueError(f"there is no file {path} in the checkout")
        scripts.append(_script(f"{ORIGIN}{path}", source))
        if path == HARNESS:
            scripts.append(_script("webnn:connect", connect))
    program = Program(
        scripts=scripts,
        location=address,
        arguments=["node", address],
        files=Files(checkout.root, checkout.root),
        revision=settings.revision,
        dialect=settings.dialect,
        inspect=True,
    )
    return run_program(node, program)


def _script(url: str, source: str) -> Script:
    return Script(url=url, kind="classic", source=source)
