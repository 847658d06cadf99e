"""Ctrl-C at the places where a signal can come while a program runs in Node: Node ends, and so do the threads."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import warnings
from pathlib import Path

import pytest

from tests.interrupts import BYTECODES, SIGNALS, children, signals
from tests.support import wait_until
from tests.webnn.javascript.node_support import require_node, run
from webnn.javascript import channel, node, workers
from webnn.javascript.node import ENDED_BY_USER

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
pytestmark = [pytest.mark.processes, BYTECODES, LINUX]
FILES = frozenset(module.__file__ for module in (channel, node, workers))
PROGRAM = """
const context = await navigator.ml.createContext();
const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
await new Promise(resolve => worker.onmessage = resolve);
worker.terminate();
console.log(context.constructor.name);
"""


# An interrupt inside of `subprocess` leaves a process to the collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@SIGNALS
def test_a_program_with_a_worker(step: int, tmp_path: Path) -> None:
    require_node()
    before = children(), {*threading.enumerate()}, warnings.showwarning, signal.getsignal(signal.SIGTERM)
    count = 0
    for interrupt in signals(FILES, step, 4):
        outcome = None
        with interrupt.armed():
            outcome = run(tmp_path, PROGRAM)
        assert outcome is None or (outcome.code, outcome.stdout) == (0, "MLContext\n") or outcome.code == ENDED_BY_USER, interrupt.place
        count += 1
        gc.collect()
        wait_until(lambda: {*threading.enumerate()} <= before[1])
        wait_until(lambda: children() == before[0])
        assert (warnings.showwarning, signal.getsignal(signal.SIGTERM)) == before[2:], interrupt.place
    print(f"{count} interrupts")
