"""A process of the program: how it starts, what it writes, and that the next context gets it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
import weakref
from typing import Any

import pytest

from tests.context.engine.remote.isolated import ONES, build, host_of, isolated, reason_of, runs, started, stop, tensors
from tests.support import PATIENCE, wait_until
from webnn import InvalidStateError
from webnn.context.engine.remote.process import Process

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform == "win32", reason="these signals are those of Unix"),
]


class _Ended(Process):
    """A process that has ended before its host looks at it."""

    def start(self) -> None:
        super().start()
        assert self.ended.wait(PATIENCE)


@pytest.mark.parametrize("kind", [Process, _Ended])
def test_a_process_that_cannot_start(monkeypatch: pytest.MonkeyPatch, kind: type[Process]) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    monkeypatch.setattr("webnn.context.engine.remote.host.Process", kind)
    context = isolated()
    assert "could not start" in reason_of(context)
    with pytest.raises(InvalidStateError, match="could not start"):
        build(context)


def test_noise_is_caught(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    context = isolated()
    build(context)
    noise = host_of(context).noise()
    assert "import time:" in noise
    assert len(noise) <= 1 << 16
    stop(context, signal.SIGKILL)
    assert "the last line that it wrote: import time:" in reason_of(context)
    assert capfd.readouterr() == ("", "")


def test_a_process_serves_the_next_context() -> None:
    """It starts slowly. Nothing of the former context is left in it."""
    context = isolated()
    pid = started(context)
    graph = build(context, 5.0)
    x, y = tensors(context)
    context.dispatch(graph, {"x": x}, {"y": y})
    host = weakref.ref(host_of(context))
    del context, graph, x, y
    gc.collect()
    # The work that is queued has references, too.
    wait_until(lambda: host() is None)
    context = isolated()
    assert started(context) == pid
    other = build(context)
    x, y = tensors(context)
    context.dispatch(other, {"x": x}, {"y": y})
    assert context.readTensorSync(y)[0, 0] == 0.125
    context.destroy()
    new = isolated()
    assert started(new) != pid
    # A process in which the engine failed serves no other context, nor does one that saw other variables.
    host_of(new)._process.failed = True
    pid = started(new)
    del new
    gc.collect()
    assert started(isolated()) != pid


def test_variables_are_those_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    pid = started(isolated())
    gc.collect()
    monkeypatch.setenv("WEBNN_A_VARIABLE", "1")
    assert started(isolated()) != pid


def test_a_process_that_rests_may_end() -> None:
    context = isolated()
    pid = started(context)
    build(context)
    del context
    gc.collect()
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not runs(pid))
    assert build(isolated()).run(x=ONES)["y"][0, 0] == 0.125


def test_the_thread_that_made_a_context_may_end() -> None:
    made: list[Any] = []
    thread = threading.Thread(target=lambda: made.append(build(isolated())))
    thread.start()
    thread.join()
    time.sleep(0.3)
    assert made[0].run(x=ONES)["y"][0, 0] == 0.125


def test_ctrl_c_goes_to_the_program() -> None:
    context = isolated()
    pid = started(context)
    build(context)
    assert os.getsid(pid) == pid != os.getsid(0)
