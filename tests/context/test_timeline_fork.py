"""The parent's contexts in a forked child."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"), pytest.mark.processes]

#: A fork while threads run is a warning from Python 3.12 on; a child that hangs is ended by a signal.
HEAD = """
import os, signal, sys, threading, time, warnings
from webnn.context.timeline import Timeline

warnings.simplefilter("ignore", DeprecationWarning)

def fork(job):
    # The child would write the rest of the buffer again.
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            job()
            sys.stdout.flush()
            os._exit(0)
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
    return os.waitpid(pid, 0)[1]
"""
CASES = {
    "an awaited call, right after one of the parent": """
import asyncio
import numpy as np
import webnn

async def build(context):
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", {"dataType": "float32", "dimensions": [64, 64]})
    return await builder.build({"y": builder.matmul(x, x)})

async def compute(context, graph):
    ones = np.ones((64, 64), np.float32)
    result = await context.compute(graph, {"x": ones}, {"y": np.empty_like(ones)})
    return int(result["outputs"]["y"][0, 0])

async def prepare():
    context = await ml.createContext()
    return context, await build(context)

ml = webnn.ML(revision="2024-06")
context, graph = asyncio.run(prepare())
async def old_and_new():
    print(await compute(context, graph), await compute(*await prepare()))
for _ in range(5):
    asyncio.run(compute(context, graph))
    assert fork(lambda: asyncio.run(old_and_new())) == 0
    print(asyncio.run(compute(context, graph)))
""",
    "a job that runs in another thread": """
timeline, ran, began = Timeline(), [], threading.Event()
def slow():
    began.set()
    time.sleep(0.2)
    ran.append("slow")
timeline.hurry(slow)
began.wait()
def child():
    # The fork waited for it; it does not run a second time.
    timeline.run(lambda: ran.append("child"))
    print(*ran)
assert fork(child) == 0
timeline.run(lambda: ran.append("parent"))
print(*ran)
""",
    "a job that nobody waited for": """
timeline, ran = Timeline(grace=60), []
timeline.post(lambda: ran.append("posted"))
def child():
    timeline.run(lambda: ran.append("child"))
    print(*ran)
assert fork(child) == 0
timeline.run(lambda: ran.append("parent"))
print(*ran)
timeline._grace = 0
timeline._wake()
""",
    "a job that forks": """
timeline = Timeline()
def child():
    Timeline().run(lambda: print("child"))
assert timeline.run(lambda: fork(child)) == 0
timeline.run(lambda: print("parent"))
""",
    "forks of several threads": """
timelines = [Timeline() for _ in range(8)]
def work():
    done = threading.Event()
    for timeline in timelines:
        timeline.hurry(done.set)
    assert done.wait(60)
def fork_and_work():
    for _ in range(5):
        assert fork(work) == 0
        work()
threads = [threading.Thread(target=fork_and_work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
""",
}
PRINTED = {
    "an awaited call, right after one of the parent": "64 64\n64\n" * 5,
    "a job that runs in another thread": "slow child\nslow parent\n",
    "a job that nobody waited for": "posted child\nposted parent\n",
    "a job that forks": "child\nparent\n",
    "forks of several threads": "done\n",
}


@pytest.mark.parametrize("name", CASES)
def test_a_child(name: str) -> None:
    # Without Python's variables, which can change how a program buffers its output.
    command = [sys.executable, "-E", "-c", HEAD + CASES[name]]
    result = subprocess.run(command, capture_output=True, check=False, encoding="utf-8", timeout=240)
    assert (result.returncode, result.stdout, result.stderr) == (0, PRINTED[name], "")
