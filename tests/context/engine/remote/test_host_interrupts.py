"""Ctrl-C at every place where a signal can come while a context talks with its process: the context works on, or is lost with a reason."""

from __future__ import annotations

import gc
import sys
import threading
from typing import Any

import pytest

from tests.context.engine.remote.isolated import ONES, build, descriptors, isolated, reason_of, tensors
from tests.interrupts import BYTECODES, SIGNALS, apart, children, signals
from tests.support import PATIENCE, wait_until
from webnn.context.engine.remote import channel, graph, host, memory, process

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them"),
    BYTECODES,
]
FILES = frozenset(module.__file__ for module in (channel, graph, host, memory, process))
#: In the commands of the processes of contexts.
WORKER = "remote import worker"


def end_spares() -> None:
    while (spare := process.find_spare()) is not None:
        spare.release()


class Subject:
    """A context with a process, a graph and its tensors; a new one if it was lost."""

    def __init__(self) -> None:
        self.context: Any = isolated()
        self.graph: Any = build(self.context)
        self.x, self.y = tensors(self.context)

    def cycle(self) -> None:
        self.context.writeTensor(self.x, ONES)
        self.context.dispatch(self.graph, {"x": self.x}, {"y": self.y})
        assert self.context.readTensorSync(self.y)[0, 0] == 0.125

    def everything(self) -> None:
        """Make tensors and a graph, use them, and let them go."""
        graph = build(self.context, 3.0)
        x, y = tensors(self.context)
        self.context.dispatch(graph, {"x": x}, {"y": y})
        self.context.dispatch(graph, {"x": x}, {"y": y})
        self.context.readTensorSync(y)
        assert graph.run(x=ONES)["y"][0, 0] == 0.125
        del graph
        x.destroy()
        y.destroy()


@SIGNALS
@apart
def test_calls(step: int) -> None:
    subject, before, count = Subject(), 0, 0
    for interrupt in signals(FILES, step, 25):
        with interrupt.armed():
            subject.everything()
        count += 1
        if subject.context.lostSync(0) is not None:
            assert "the process of the" in reason_of(subject.context), interrupt.place
            subject = Subject()
        subject.cycle()
        # No lock is held: another thread can do all of it.
        outcome: list[object] = []
        thread = threading.Thread(target=lambda outcome=outcome, subject=subject: outcome.append(subject.everything()))
        thread.start()
        thread.join(PATIENCE)
        assert outcome == [None], interrupt.place
        before = before or descriptors()
    gc.collect()
    # An interrupt may leave the memory of a value behind, which ends with the context; here, a few files.
    assert descriptors() <= before + 8
    subject.context.destroy()
    print(f"{count} interrupts")


#: An interrupt between the making of a connection and its first use leaves it to the collector.
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@SIGNALS
@apart
def test_the_start_and_the_end_of_a_process(step: int) -> None:
    """Nothing is left behind but one process for the next context."""
    end_spares()
    count = 0
    context: Any = None
    wait_until(lambda: not children(WORKER))
    for interrupt in signals(FILES, step, 4):
        with interrupt.armed():
            context = isolated()
            context.destroy()
        with interrupt.armed():
            # Its process rests for the next context.
            context = isolated()
        context = None
        gc.collect()
        end_spares()
        count += 1
        wait_until(lambda: not children(WORKER))
    print(f"{count} interrupts")
