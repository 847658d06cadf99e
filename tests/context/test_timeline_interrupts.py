"""Ctrl-C: an interrupt at any bytecode, and real ones at random moments."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import webnn
from tests.interrupts import EVENTS, Interrupt, apart, everywhere
from tests.support import PATIENCE, refused, wait_until
from webnn.builder import collection
from webnn.context import buffers, graph_steps, state, tensor_steps, timeline
from webnn.context.engine import memory, session
from webnn.context.timeline import Timeline

#: The files in which an interrupt leaves a call undone or done; `graph_steps` may have returned the result already.
FILES = frozenset(module.__file__ for module in (buffers, collection, memory, session, state, tensor_steps, timeline))
#: The functions that hand a job over: once it is in the queue, the worker may begin it before they are done.
HANDING_OVER = frozenset({"promise", "hurry", "_wake", "_employ"})
F32 = {"dataType": "float32", "dimensions": [4], "shape": [4]}


class Subject:
    """A context with a graph that adds 1."""

    def __init__(self, revision: str) -> None:
        self.context: Any = webnn.ML(revision=revision).createContextSync()
        self.graph = self.build()

    def build(self) -> Any:
        builder: Any = webnn.MLGraphBuilder(self.context)
        descriptor = {name: F32[name] for name in ("dataType", "dimensions" if self.context._revision.draft == "2024-06" else "shape")}
        x = builder.input("x", descriptor)
        return builder.buildSync({"y": builder.add(x, builder.constant(descriptor, np.ones(4, np.float32)))})


@pytest.fixture(scope="module")
def before() -> Subject:
    """Of the draft with `compute()`."""
    return Subject("2024-06")


@pytest.fixture(scope="module")
def since() -> Subject:
    """Of a draft with tensors."""
    return Subject("2026-06")


def cycle(context: Any, graph: Any, x: Any, y: Any, value: float) -> None:
    context.writeTensor(x, np.full(4, value, np.float32))
    context.dispatch(graph, {"x": x}, {"y": y})
    assert context.readTensorSync(y).tolist() == [value + 1] * 4


@EVENTS
@apart
def test_write_dispatch_read(since: Subject, event: str) -> None:
    context = since.context
    x, y = (context.createTensorSync(dataType="float32", shape=[4], readable=True, writable=True) for _ in range(2))
    for value, interrupt in enumerate(everywhere(event, FILES)):
        with interrupt.armed():
            cycle(context, since.graph, x, y, value)
        # Any thread can use the context, and nothing is left of the call that was interrupted.
        done: list[bool] = []
        thread = threading.Thread(target=lambda value=value, done=done: done.append(cycle(context, since.graph, x, y, -value) is None))
        thread.start()
        thread.join(PATIENCE)
        assert done, interrupt.place
        cycle(context, since.graph, x, y, value)


@EVENTS
@apart
def test_the_life_of_tensors(since: Subject, event: str) -> None:
    """Tensors that take turns at one graph, and go."""
    context = since.context
    files = frozenset(module.__file__ for module in (memory, session, state, timeline))
    for value, interrupt in enumerate(everywhere(event, files)):
        with interrupt.armed():
            x, y = (context.createTensorSync(dataType="float32", shape=[4], readable=True, writable=True) for _ in range(2))
            cycle(context, since.graph, x, y, value)
            y.destroy()
            x.destroy()
        p, q = (context.createTensorSync(dataType="float32", shape=[4], readable=True, writable=True) for _ in range(2))
        cycle(context, since.graph, p, q, value)
        q.destroy()
        with pytest.raises(webnn.WebNNTypeError):
            context.dispatch(since.graph, {"x": p}, {"y": q})


class Numbers:
    """Memory of several kinds of owners, for calls of `compute()`."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fresh(self, value: float) -> Any:
        array = np.full(4, value, np.float32)
        if self.kind == "bytes":  # an owner that has no weak references
            return np.frombuffer(bytearray(array.tobytes()), np.float32)
        if self.kind == "views":
            return array.reshape(2, 2).reshape(4)
        return array


def compute(subject: Subject, x: Any, y: Any) -> Any:
    return subject.context.computeSync(subject.graph, {"x": x}, {"y": y})


@EVENTS
@pytest.mark.parametrize("kind", ["arrays", "views", "bytes"])
@apart
def test_compute(before: Subject, event: str, kind: str) -> None:
    """The program has its former arrays, or the call was not interrupted."""
    numbers = Numbers(kind)
    for value, interrupt in enumerate(everywhere(event, FILES)):
        x, y = numbers.fresh(value), numbers.fresh(0)
        result = None
        with interrupt.armed():
            result = compute(before, x, y)
        if result is None:
            result = compute(before, x, y)
        assert result["outputs"]["y"].tolist() == [value + 1] * 4, interrupt.place
        # Arrays that are passed on.
        x, y = result["inputs"]["x"], result["outputs"]["y"]
        x[...] = value
        result = None
        with Interrupt(interrupt.event, interrupt.first, FILES).armed():
            result = compute(before, x, y)
        if result is None:
            result = compute(before, x, y)
        else:
            with refused(rule="detached", operation="compute", argument="inputs['x']"):
                compute(before, x, y)
        assert result["outputs"]["y"].tolist() == [value + 1] * 4, interrupt.place
        del x, y, result
        assert all(entry() is not None for entry in list(buffers._DETACHED.entries.values()))


@EVENTS
@apart
def test_an_awaited_compute(before: Subject, event: str) -> None:
    async def call(value: float, interrupt: Interrupt) -> None:
        x, y = np.full(4, value, np.float32), np.zeros(4, np.float32)
        future = None
        with interrupt.armed():
            future = before.context.compute(before.graph, {"x": x}, {"y": y})
        if future is None and buffers.detached_reason(x):
            # Another thread computes with the arrays already, so the program does not get them back.
            assert interrupt.place.partition(":")[0] in HANDING_OVER, interrupt.place
            assert buffers.detached_reason(y)
            x, y = np.full(4, value, np.float32), np.zeros(4, np.float32)
        result = await (future or before.context.compute(before.graph, {"x": x}, {"y": y}))
        assert result["outputs"]["y"].tolist() == [value + 1] * 4, interrupt.place

    for value, interrupt in enumerate(everywhere(event, FILES)):
        asyncio.run(call(value, interrupt))


@EVENTS
@apart
def test_the_result_is_lost_or_the_arrays_are_not(before: Subject, event: str) -> None:
    """An interrupt of the last step of a call: it was done, for all arrays."""
    for value, interrupt in enumerate(everywhere(event, frozenset({graph_steps.__file__}))):
        x, y = np.full(4, value, np.float32), np.zeros(4, np.float32)
        with interrupt.armed():
            compute(before, x, y)
        usable = [not buffers.detached_reason(array) for array in (x, y)]
        assert usable in ([True, True], [False, False]), interrupt.place
        # Only as it returns.
        assert any(usable) or not interrupt.place or "bytecode" in interrupt.place
        assert compute(before, x.copy(), y.copy())["outputs"]["y"].tolist() == [value + 1] * 4


@EVENTS
@apart
def test_a_build(since: Subject, event: str) -> None:
    context = since.context
    x, y = (context.createTensorSync(dataType="float32", shape=[4], readable=True, writable=True) for _ in range(2))
    assert gc.isenabled()
    for value, interrupt in enumerate(everywhere(event, FILES - {tensor_steps.__file__})):
        with interrupt.armed():
            since.build()
        assert gc.isenabled(), interrupt.place
        assert not collection._SUSPENDING, interrupt.place
        if value % 20 == 0:
            cycle(context, since.build(), x, y, value)


@EVENTS
@apart
def test_a_loss(event: str) -> None:
    """A second call does the rest."""
    for interrupt in everywhere(event, frozenset({state.__file__, timeline.__file__})):
        context: Any = webnn.ML(revision="2026-06").createContextSync()
        tensors = [context.createTensorSync(dataType="float32", shape=[4]) for _ in range(2)]
        with interrupt.armed():
            context.destroy()
        context.destroy()
        assert context.lostSync(0) is not None
        assert all(tensor._isDestroyed for tensor in tensors), interrupt.place


def _is_alone(line: Timeline) -> bool:
    return not line._employed


FREE = frozenset({timeline.__file__})


@EVENTS
@apart
def test_jobs_and_the_worker(event: str) -> None:
    """A timeline without a worker, each time."""
    for interrupt in everywhere(event, FREE):
        line = Timeline(grace=0.0005)
        ran: list[str] = []
        with interrupt.armed():
            line.post(partial(ran.append, "posted"))
            line.hurry(partial(ran.append, "in need"))
            line.run(partial(ran.append, "waited for"))
        line.finish()
        done = threading.Event()
        line.hurry(done.set)
        assert done.wait(PATIENCE), interrupt.place
        # A job that was interrupted runs again.
        assert list(dict.fromkeys(ran)) == [name for name in ("posted", "in need", "waited for") if name in ran]
        wait_until(partial(_is_alone, line))


@EVENTS
@apart
def test_a_wait_for_another_thread(monkeypatch: pytest.MonkeyPatch, event: str) -> None:
    monkeypatch.setattr(timeline, "_PATIENCE", -1)
    line = Timeline()
    for interrupt in everywhere(event, FREE):
        running = threading.Event()

        def hold(running: threading.Event = running) -> None:
            running.set()
            threading.Event().wait(0.002)

        def work(hold: Callable[[], None] = hold) -> None:
            for _ in range(3):
                line.run(hold)

        thread = threading.Thread(target=work)
        thread.start()
        assert running.wait(PATIENCE)
        with interrupt.armed():
            line.run(int)
        assert line.run(lambda: 3) == 3, interrupt.place
        thread.join(PATIENCE)
        assert not thread.is_alive(), interrupt.place
        assert line.attempt(lambda: 4) == 4 or line.run(lambda: 5) == 5


#: A loop that is interrupted again and again, and a call that must work after each interrupt.
HEAD = """
import asyncio, faulthandler, gc, random, signal, sys, threading, time
import numpy as np
import webnn

# An interrupt in a finalizer of Python's own is lost. The next one comes a little later.
faulthandler.dump_traceback_later(int(sys.argv[2]), exit=True)
signal.signal(signal.SIGALRM, signal.default_int_handler)
random.seed(3)

def build():
    builder = webnn.MLGraphBuilder(context)
    x = builder.input("x", descriptor)
    return builder.buildSync({"y": builder.add(x, builder.constant(descriptor, np.ones(4, np.float32)))})

def begin(revision, shape):
    global context, descriptor, graph
    context = webnn.ML(revision=revision).createContextSync()
    descriptor = {"dataType": "float32", shape: [4]}
    graph = build()

def tensors():
    global x, y
    begin("2026-06", "shape")
    x, y = (context.createTensorSync(dataType="float32", shape=[4], readable=True, writable=True) for _ in range(2))

def cycle(graph=None):
    context.writeTensor(x, data)
    context.dispatch(graph or globals()["graph"], {"x": x}, {"y": y})
    return context.readTensorSync(y).tolist()

data = np.arange(4, dtype=np.float32)
expected = [1, 2, 3, 4]
"""
TAIL = """
def interrupt():
    global loop
    # An interrupt may leave a loop of asyncio with a callback that stops it.
    loop = asyncio.new_event_loop()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.00002 + random.random() * 0.0008, 0.05)
        while True:
            step()
    except KeyboardInterrupt:
        while True:
            try:
                signal.setitimer(signal.ITIMER_REAL, 0)
                # An interrupt may come before a loop says that it has ended.
                asyncio._set_running_loop(None)
                return
            except KeyboardInterrupt:
                pass

for number in range(int(sys.argv[1])):
    interrupt()
    assert check() == expected, number
    elsewhere = []
    thread = threading.Thread(target=lambda: elsewhere.append(check()))
    thread.start()
    thread.join()
    assert elsewhere == [expected], number
    assert gc.isenabled()
print(number + 1, flush=True)
"""
LOOPS = {
    "write, dispatch, read": """
tensors()
step = check = cycle
""",
    "dispatch, awaited read": """
tensors()
async def call():
    context.writeTensor(x, data)
    context.dispatch(graph, {"x": x}, {"y": y})
    return (await context.readTensor(y)).tolist()
step = lambda: loop.run_until_complete(call())
check = lambda: asyncio.run(call())
""",
    "dispatches that are left to the worker": """
with webnn.emulate(on_compute=lambda *_: None):
    tensors()
def step():
    context.dispatch(graph, {"x": x}, {"y": y})
    if random.random() < 0.1:
        time.sleep(0.001)
check = cycle
""",
    "build": """
tensors()
step = build
check = lambda: cycle(build())
""",
    "compute with new arrays": """
begin("2024-06", "dimensions")
def step():
    return context.computeSync(graph, {"x": data.copy()}, {"y": np.empty(4, np.float32)})["outputs"]["y"].tolist()
def check():
    arrays = [(data.copy(), np.empty(4, np.float32)) for _ in range(50)]
    for given, wanted in arrays:
        found = context.computeSync(graph, {"x": given}, {"y": wanted})["outputs"]["y"].tolist()
        if found != expected:
            break
    return found
""",
    "compute with passed arrays": """
begin("2024-06", "dimensions")
arrays = {"inputs": {"x": data.copy()}, "outputs": {"y": np.empty(4, np.float32)}}
def step():
    global arrays
    arrays = context.computeSync(graph, arrays["inputs"], arrays["outputs"])
def check():
    step()
    return arrays["outputs"]["y"].tolist()
""",
    "awaited compute": """
begin("2024-06", "dimensions")
async def call():
    return (await context.compute(graph, {"x": data.copy()}, {"y": np.empty(4, np.float32)}))["outputs"]["y"].tolist()
step = lambda: loop.run_until_complete(call())
check = lambda: asyncio.run(call())
""",
}


ITIMER = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers here")


def run_interrupted(name: str, count: int, seconds: int) -> None:
    """Interrupt a loop in a process, which ends by itself."""
    program = textwrap.dedent(HEAD) + LOOPS[name] + TAIL
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", program, str(count), str(seconds)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"{count}\n"), done.stderr


@ITIMER
@pytest.mark.processes
@pytest.mark.parametrize(("count", "seconds"), [(20, 120), pytest.param(460, 1200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", LOOPS)
def test_interrupts_at_random(name: str, count: int, seconds: int) -> None:
    run_interrupted(name, count, seconds)
