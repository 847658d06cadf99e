"""The process of a context ends, hangs, grows or lies: the context is lost, and the program goes on."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.context.engine.remote.isolated import ONES, build, descriptors, ended, host_of, isolated, reason_of, runs, started, stop, tensors
from tests.context.test_timeline_interrupts import ITIMER, LOOPS, run_interrupted
from tests.support import PATIENCE, wait_until
from webnn import InvalidStateError, MLContext
from webnn.context.engine.remote.channel import Channel
from webnn.context.processes import KEEPER

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform == "win32", reason="these signals, and /proc, are those of Unix"),
]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how much memory a process has, and which files it has open")


def end(pid: int, number: int) -> None:
    """End a process that is stopped: most signals wait until it goes on."""
    os.kill(pid, number)
    os.kill(pid, signal.SIGCONT)


class Stopped:
    """Calls a function in a thread while the process of a context is stopped, and keeps the outcome."""

    def __init__(self, context: MLContext, call: Callable[[], Any]) -> None:
        self.pid = stop(context)
        self.outcome: Any = None
        self._call = call
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        wait_until(lambda: host_of(context)._process.work)

    def _run(self) -> None:
        try:
            self.outcome = self._call()
        except Exception as error:
            self.outcome = error

    def end(self, number: int) -> Any:
        end(self.pid, number)
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        return self.outcome


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM"])
def test_the_end_of_an_idle_process(name: str) -> None:
    context, other = isolated(), isolated()
    graph = build(other)
    pid = stop(context, getattr(signal, name))
    assert name in reason_of(context)
    assert "cpu (CPUExecutionProvider)" in reason_of(context)
    wait_until(lambda: not runs(pid))
    for call in (lambda: build(context), lambda: context.createTensorSync(dataType="float32", shape=[1])):
        with pytest.raises(InvalidStateError, match=name):
            call()
    # Others live, and a new one has a new process.
    assert graph.run(x=ONES)["y"][0, 0] == 0.125
    assert build(isolated()).run(x=ONES)["y"][0, 0] == 0.125


def test_an_end_during_a_build() -> None:
    context = isolated()
    outcome = Stopped(context, lambda: build(context)).end(signal.SIGKILL)
    assert isinstance(outcome, InvalidStateError)
    assert outcome.operation == "build"
    assert "the build of a graph of mul, matmul, softmax" in reason_of(context)


def test_an_end_during_a_dispatch() -> None:
    context = isolated()
    graph = build(context)
    x, y = tensors(context)
    context.dispatch(graph, {"x": x}, {"y": y})
    assert context.readTensorSync(y)[0, 0] == 0.125

    # The first call binds tensors, the next one repeats.
    assert Stopped(context, lambda: context.dispatch(graph, {"x": x}, {"y": y})).end(signal.SIGBUS) is None
    assert "SIGBUS during a run of a graph of mul, matmul, softmax" in reason_of(context)
    with pytest.raises(InvalidStateError, match="SIGBUS"):
        context.readTensorSync(y)
    with pytest.raises(InvalidStateError, match="SIGBUS"):
        context.dispatch(graph, {"x": x}, {"y": y})


def test_promises_that_are_pending() -> None:
    context = isolated("2026-06+compute")
    graph = build(context)
    x, y = tensors(context)

    async def program() -> list[Any]:
        lost = context.lost
        pid = stop(context)
        computed = context.compute(graph, {"x": ONES.copy()}, {"y": ONES.copy()})
        context.dispatch(graph, {"x": x}, {"y": y})
        read = context.readTensor(y)
        threading.Timer(0.2, end, [pid, signal.SIGSEGV]).start()
        return [await lost, *await asyncio.gather(computed, read, return_exceptions=True)]

    # The graph must be queued: a quick one would block the event loop here.
    graph._implementation.quick = False  # type: ignore[union-attr, misc]
    info, *errors = asyncio.run(program())
    assert "SIGSEGV" in info["message"]
    assert [type(error) for error in errors] == [InvalidStateError] * 2


def test_an_end_during_compute() -> None:
    context = isolated("2026-06+compute")
    graph = build(context)
    stopped = Stopped(context, lambda: context.computeSync(graph, {"x": ONES.copy()}, {"y": ONES.copy()}))
    outcome = stopped.end(signal.SIGILL)
    assert isinstance(outcome, InvalidStateError)
    assert "SIGILL" in str(outcome)


def test_a_process_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_HANG_LIMIT", "0.3")
    context = isolated()
    # Its start may take longer.
    host_of(context)._hang_limit = PATIENCE
    graph = build(context)
    host_of(context)._hang_limit = 0.3
    stop(context)
    with pytest.raises(InvalidStateError, match=r"did not answer within 0\.3 s"):
        graph.run(x=ONES)
    assert "during a run of a graph" in reason_of(context)


@LINUX
def test_a_process_with_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBNN_MEMORY_LIMIT", "1M")
    context = isolated()
    with pytest.raises(InvalidStateError, match="more than the limit of 1,048,576"):
        build(context)


@pytest.mark.parametrize("message", [b"junk", b"wnn\n\0\0\0\0\x09", b""], ids=repr)
def test_a_process_that_sends_what_it_must_not(monkeypatch: pytest.MonkeyPatch, message: bytes) -> None:
    context = isolated()
    pid = started(context)
    with monkeypatch.context() as patch:
        patch.setattr(Channel, "receive", lambda _: message)
        with pytest.raises(InvalidStateError, match="sent what it must not"):
            build(context)
    wait_until(lambda: not runs(pid))


def test_a_build_that_is_not_answered_well(monkeypatch: pytest.MonkeyPatch) -> None:
    context = isolated()
    with monkeypatch.context() as patch:
        patch.setattr(
            "webnn.context.engine.remote.channel._load", lambda *_: {"providers": 1, "assignments": None, "leaves": False, "warnings": []}
        )
        with pytest.raises(InvalidStateError, match="sent what it must not"):
            build(context)


@LINUX
@pytest.mark.parametrize("way", ["destroy", "forget"])
def test_nothing_is_left(way: str) -> None:
    # Other tests may keep contexts.
    before = {*threading.enumerate()}
    context = isolated()
    pid = started(context)
    graph = build(context)
    x, y = tensors(context)
    large = context.createTensorSync(dataType="uint8", shape=[1 << 22])
    context.dispatch(graph, {"x": x}, {"y": y})
    if way == "destroy":
        context.destroy()
        wait_until(lambda: not runs(pid))
    else:
        assert runs(pid)
    del context, graph, x, y, large
    gc.collect()
    wait_until(lambda: not runs(pid))
    wait_until(lambda: all(thread in before or thread.name != KEEPER for thread in threading.enumerate()))


def survive(count: int, seed: int) -> None:
    """Kill processes at random moments of builds, dispatches, reads, computations and rests."""
    rng = random.Random(seed)
    lost = 0
    for _ in range(count):
        context = isolated("2026-06+compute")
        pid = started(context)
        thread = threading.Timer(rng.random() * 0.8, os.kill, [pid, rng.choice(SIGNALS)])
        thread.start()
        with pytest.raises(InvalidStateError):
            use(context, rng)
        thread.join()
        lost += "died of signal" in reason_of(context)
        wait_until(partial(ended, pid))
    assert lost == count


SIGNALS = [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT]


def use(context: MLContext, rng: random.Random) -> None:
    while True:
        graph = build(context, rng.random() + 1)
        x, y = tensors(context)
        for _ in range(rng.randrange(50)):
            context.dispatch(graph, {"x": x}, {"y": y})
            context.readTensorSync(y)
            context.computeSync(graph, {"x": ONES.copy()}, {"y": ONES.copy()})
        time.sleep(rng.random() * 0.05)
        graph.destroy()
        x.destroy()


@LINUX
@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_in_the_middle_of_everything(count: int) -> None:
    gc.collect()
    before = descriptors()
    survive(count, 7)
    gc.collect()
    wait_until(lambda: descriptors() <= before)


@LINUX
@pytest.mark.parametrize("count", [10, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_contexts(count: int) -> None:
    gc.collect()
    before = descriptors()
    pids = []
    for number in range(count):
        context = isolated()
        tensor = context.createTensorSync(dataType="float32", shape=[8, 8], readable=True, writable=True)
        pids.append(started(context))
        if number % 10 == 0:
            assert build(context).run(x=ONES)["y"][0, 0] == 0.125
        if number % 2:
            context.destroy()
        del context, tensor
    gc.collect()
    wait_until(lambda: not any(map(runs, pids)))
    wait_until(lambda: descriptors() <= before)


# Signals, forks and the exit of the program

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
import webnn
from tests.context.engine.remote.isolated import ONES, build, host_of, isolated, runs, started
"""


def run(program: str) -> str:
    """Run a program to its end; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", PROGRAM + program],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_exit_ends_processes() -> None:
    pid = int(run("context = isolated(); graph = build(context); print(started(context))"))
    wait_until(lambda: not runs(pid))


def test_a_killed_program_takes_its_processes_with_it() -> None:
    program = "context = isolated(); build(context); print(started(context), flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", PROGRAM + program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert runs(pid)
        process.kill()
    wait_until(lambda: not runs(pid))


@ITIMER
@pytest.mark.parametrize("name", LOOPS)
def test_interrupts_at_random(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("WEBNN_ISOLATE", "1")
    run_interrupted(name, 20, 200)


def test_a_second_interrupt_does_not_wait() -> None:
    printed = run("""
context = isolated("2026-06+compute")
graph = build(context)
pid = started(context)
os.kill(pid, signal.SIGSTOP)
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
try:
    context.computeSync(graph, {"x": ONES.copy()}, {"y": ONES.copy()})
except KeyboardInterrupt:
    signal.setitimer(signal.ITIMER_REAL, 0)
    print("interrupted")
os.kill(pid, signal.SIGCONT)
print(graph.run(x=ONES)["y"][0, 0], context.lostSync(0))
""")
    assert printed.splitlines() == ["interrupted", "0.125 None"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork() -> None:
    printed = run("""
context = isolated()
graph = build(context)
pid = started(context)
tensor = context.createTensorSync(dataType="float32", shape=[8, 8], readable=True, writable=True)
context.writeTensor(tensor, ONES)
forked = os.fork()
if forked == 0:
    signal.alarm(60)
    outcomes = [context.lostSync(0)["message"].split()[-1]]
    for call in (lambda: build(context), lambda: context.writeTensor(tensor, 2 * ONES), lambda: context.readTensorSync(tensor)):
        try:
            outcomes.append(call())
        except webnn.InvalidStateError:
            outcomes.append("lost")
    new = isolated()
    print(*outcomes, build(new).run(x=ONES)["y"][0, 0], started(new) != pid, flush=True)
    del new
    # The engine's own finalizers cannot run in a forked child.
    os._exit(0)
assert os.waitpid(forked, 0)[1] == 0
print(context.lostSync(0), runs(pid), context.readTensorSync(tensor)[0, 0], graph.run(x=ONES)["y"][0, 0])
""")
    assert printed.splitlines() == ["one lost lost lost 0.125 True", "None True 1.0 0.125"]
