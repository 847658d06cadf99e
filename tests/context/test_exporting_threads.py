"""Tensors that are exported to a `GPUDevice`: the order of the work, threads and interruptions."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import webnn
from tests.context.test_exporting import (
    FIRST,
    FLOATS,
    SECOND,
    Setup,
    attempt,
    context_lost,
    destroyed,
    device_lost,
    read,
)
from tests.support import PATIENCE, wait_until
from webnn.context import timeline


class Busy:
    """A timeline that is busy until it is told to go on."""

    def __init__(self, context: Any) -> None:
        self._started, self._goes_on = threading.Event(), threading.Event()
        context._state.timeline.hurry(self._wait)
        assert self._started.wait(PATIENCE)

    def _wait(self) -> None:
        self._started.set()
        assert self._goes_on.wait(PATIENCE)

    def end(self) -> None:
        self._goes_on.set()


class Export:
    """An export in another thread, which waits for a busy timeline."""

    def __init__(self, setup: Setup) -> None:
        self.outcome: Any = None
        self._thread = threading.Thread(target=self._run, args=(setup,), daemon=True)
        self._thread.start()
        wait_until(lambda: setup.tensor._calls)

    def _run(self, setup: Setup) -> None:
        try:
            self.outcome = setup.context.exportToGPU(setup.tensor)
        except webnn.DOMException as error:
            self.outcome = error

    def end(self) -> Any:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
        return self.outcome


async def test_work_before_the_export_comes_first() -> None:
    setup = Setup()
    busy = Busy(setup.context)
    setup.context.writeTensor(setup.other, SECOND)
    setup.context.dispatch(setup.graph, {"x": setup.other}, {"y": setup.tensor})
    before = setup.context.readTensor(setup.tensor)
    pending = Export(setup)
    # The export has begun with the call.
    for operation in ("dispatch from it", "dispatch to it", "write"):
        assert attempt(setup, operation).startswith("TypeError: ")
    assert pending.outcome is None
    busy.end()
    np.testing.assert_array_equal(read(pending.end()), np.maximum(SECOND, 0))
    np.testing.assert_array_equal(await before, np.maximum(SECOND, 0))


ENDS: list[tuple[Callable[[Setup], None], str]] = [
    # what happens while the export waits, and its error
    (destroyed, "exportToGPU: tensor must not be destroyed"),
    (device_lost, "exportToGPU: the GPUDevice must not be lost"),
    (context_lost, "exportToGPU: the context must not be lost"),
]


@pytest.mark.parametrize(("end", "message"), ENDS)
def test_an_export_that_never_comes(end: Callable[[Setup], None], message: str) -> None:
    setup = Setup()
    busy = Busy(setup.context)
    pending = Export(setup)
    end(setup)
    busy.end()
    error = pending.end()
    assert isinstance(error, webnn.InvalidStateError)
    assert str(error).startswith(message)


def test_what_is_queued_after_the_buffer_is_destroyed_sees_its_bytes() -> None:
    setup = Setup()
    setup.export()
    setup.device.queue.writeBuffer(setup.buffer, 0, SECOND)
    busy = Busy(setup.context)
    setup.buffer.destroy()
    setup.context.dispatch(setup.graph, {"x": setup.tensor}, {"y": setup.other})
    busy.end()
    np.testing.assert_array_equal(setup.context.readTensorSync(setup.other), np.maximum(SECOND, 0))


def test_an_interrupted_export(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that stops waiting, as Ctrl-C does, can use the tensor."""
    setup = Setup()

    def interrupt(job: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(timeline.Timeline, "run", lambda self, job: interrupt(job))
        with pytest.raises(KeyboardInterrupt):
            setup.export()
    assert attempt(setup, "read") == FIRST.tolist()


def test_the_same_call_again() -> None:
    """A call with the tensors of the last one takes a shorter way, which an export must end."""
    setup = Setup()
    call = {"x": setup.tensor}, {"y": setup.other}
    for _ in range(3):
        setup.context.dispatch(setup.graph, *call)
    setup.export()
    with pytest.raises(webnn.WebNNTypeError, match="must not be exported"):
        setup.context.dispatch(setup.graph, *call)


def test_two_threads() -> None:
    """One computes and one exports: the buffer always has the numbers of a whole computation, and none is lost."""
    setup = Setup()
    builder = webnn.MLGraphBuilder(setup.context)
    x = builder.input("x", FLOATS)
    count = builder.buildSync({"y": builder.add(x, builder.constant(FLOATS, np.ones(4, np.float32)))})
    back = builder_of_copy(setup)
    setup.context.writeTensor(setup.tensor, np.zeros(4, np.float32))
    done, counted = threading.Event(), [0]
    errors: list[BaseException] = []

    def compute() -> None:
        try:
            for _ in range(300):
                try:
                    setup.context.dispatch(count, {"x": setup.tensor}, {"y": setup.other})
                    setup.context.dispatch(back, {"x": setup.other}, {"y": setup.tensor})
                except webnn.WebNNTypeError:
                    continue
                counted[0] += 1
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    def export() -> None:
        try:
            while not done.is_set():
                buffer = setup.context.exportToGPU(setup.tensor)
                assert len(set(read(buffer).tolist())) == 1
                buffer.destroy()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=each) for each in (compute, export)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert errors == []
    assert setup.context.readTensorSync(setup.tensor).tolist() == [counted[0]] * 4


def test_a_full_timeline_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that must wait for the timeline, with the tensor's lock, does not keep the timeline from an export of the tensor."""
    monkeypatch.setattr(timeline, "_MOST_JOBS", 1)
    setup = Setup()

    def compute() -> None:
        for _ in range(200):
            with contextlib.suppress(webnn.WebNNTypeError):
                setup.context.writeTensor(setup.tensor, FIRST)
                setup.context.dispatch(setup.graph, {"x": setup.tensor}, {"y": setup.other})

    def export() -> None:
        for _ in range(200):
            setup.context.exportToGPU(setup.tensor).destroy()

    threads = [threading.Thread(target=each, daemon=True) for each in (compute, compute, export, export)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert attempt(setup, "read") == FIRST.tolist()


def builder_of_copy(setup: Setup) -> webnn.MLGraph:
    builder = webnn.MLGraphBuilder(setup.context)
    return builder.buildSync({"y": builder.identity(builder.input("x", FLOATS))})


def test_locks_are_taken_in_one_order() -> None:
    setup = Setup()
    tensors = [setup.context.createExportableTensorSync(FLOATS, setup.device) for _ in range(2)]

    def compute(first: Any, second: Any) -> None:
        for _ in range(100):
            setup.context.dispatch(setup.graph, {"x": first}, {"y": second})

    threads = [threading.Thread(target=compute, args=pair, daemon=True) for pair in (tensors, tensors[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
