"""Programs with tensors in processes of their own: how they end, and what memory they take."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support import PATIENCE

pytestmark = pytest.mark.processes


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells a process its resident memory in this way")
def test_memory_does_not_grow() -> None:
    program = """
    from pathlib import Path
    import numpy as np
    from webnn import ML, MLGraphBuilder

    context = ML(revision="2026-06").createContextSync()
    builder = MLGraphBuilder(context)
    x = builder.input("x", dataType="float32", shape=[64, 64])
    graph = builder.buildSync({"y": builder.relu(x)})
    data = np.ones((64, 64), np.float32)

    def cycles(count):
        for _ in range(count):
            x, y = (context.createTensorSync(dataType="float32", shape=[64, 64], readable=True, writable=True) for _ in "xy")
            context.writeTensor(x, data)
            context.dispatch(graph, {"x": x}, {"y": y})
            assert context.readTensorSync(y)[0, 0] == 1
            x.destroy()
            y.destroy()

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    cycles(500)
    before = resident()
    cycles(10_000)
    print(resident() - before)
    """
    assert int(run(program)) < 5 * 2**20


def run(program: str) -> str:
    """Run a program in a process of its own; it must end well."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


START = """
    import asyncio, atexit, threading
    import numpy as np
    from webnn import ML, MLGraphBuilder

    context = ML(revision="2026-06").createContextSync()
    builder = MLGraphBuilder(context)
    x = y = builder.input("x", dataType="float32", shape=[64, 64])
    for _ in range(20):
        y = builder.matmul(y, x)
    graph = builder.buildSync({"y": y})
    a, b = (context.createTensorSync(dataType="float32", shape=[64, 64], readable=True, writable=True) for _ in "ab")
    memory = b._memory.array

    def dispatch(count=10):
        for _ in range(count):
            context.writeTensor(a, np.full((64, 64), 1 / 64, np.float32))
            context.dispatch(graph, {"x": a}, {"y": b})
"""

EXITS: list[tuple[str, str, str]] = [
    ("at once", "dispatch()", ""),
    ("what is queued is done", "atexit.register(lambda: print(memory[0, 0]))\ndispatch()", "0.015625\n"),
    ("reads at the exit", "atexit.register(lambda: print(context.readTensorSync(b)[0, 0]))\ndispatch()", "0.015625\n"),
    ("dispatches at the exit", "atexit.register(dispatch)", ""),
    ("both at the exit", "atexit.register(lambda: (dispatch(), print(context.readTensorSync(b)[0, 0])))", "0.015625\n"),
    (
        "a loop at the exit",
        "async def main():\n    dispatch()\n    print((await context.readTensor(b))[0, 0])\natexit.register(lambda: asyncio.run(main()))",
        "0.015625\n",
    ),
    ("in another thread", "threading.Thread(target=lambda: (dispatch(), print(context.readTensorSync(b)[0, 0]))).start()", "0.015625\n"),
    ("in a thread that dies", "threading.Thread(target=lambda: [dispatch() for _ in range(200)], daemon=True).start()", ""),
    ("pending reads", "async def main():\n    dispatch()\n    context.readTensor(b)\nasyncio.run(main())", ""),
    ("a lost context", "dispatch()\ncontext.destroy()", ""),
    ("a context that is gone", "dispatch()\ndel context, graph, a, b", ""),
]


@pytest.mark.parametrize(("ending", "output"), [case[1:] for case in EXITS], ids=[case[0] for case in EXITS])
def test_exit(ending: str, output: str) -> None:
    assert run(textwrap.dedent(START) + ending) == output
