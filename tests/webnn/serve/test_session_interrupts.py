"""Ctrl-C at the places where a signal can come while the server uses a session: the session goes on, or ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc

import pytest

from tests.interrupts import BYTECODES, SIGNALS, Interrupt, apart, signals
from tests.support import PATIENCE
from tests.webnn.serve.pages import VISITOR, Caller, request
from webnn.serve import session
from webnn.serve.options import Options
from webnn.serve.session import EndedError, Session

# An interrupt may leave coroutines that nobody waits for.
pytestmark = [BYTECODES, pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")]
FILES = frozenset({session.__file__})
CONTEXT = request("ML", "createContext", 0)
BUILDER = request("MLGraphBuilder", "constructor", None, {"$h": 1})


@SIGNALS
@apart
def test_calls_and_the_end(step: int) -> None:
    count = 0
    for interrupt in signals(FILES, step, 12):
        faults: list[str] = []
        subject = Session("0123456789abcdef", VISITOR, Options(), faults.append)
        _call(subject, interrupt)
        assert subject._lock.acquire(timeout=PATIENCE), interrupt.place
        subject._lock.release()
        if not subject.ended:
            # Each request is carried out once: an interrupt leaves it undone or done. The end may be under way.
            with contextlib.suppress(EndedError):
                asyncio.run(_go_on(subject))
        subject.end()
        subject._thread.join(PATIENCE)
        assert not subject._thread.is_alive(), interrupt.place
        assert faults == []
        count += 1
    gc.collect()
    print(f"{count} interrupts")


def _call(subject: Session, interrupt: Interrupt) -> None:
    async def calls() -> None:
        caller = Caller(subject)
        await caller.complete(CONTEXT)
        await caller.complete(BUILDER)
        subject.connect(lambda _: None)
        subject.end()

    with interrupt.armed():
        asyncio.run(calls())


async def _go_on(subject: Session) -> None:
    caller = Caller(subject)

    async def find_number(_: object) -> None:
        # After the request that was interrupted, which may be under way.
        async with subject._turn:
            caller.number = subject._number

    await subject.run(find_number)
    answer, _ = await caller.complete(CONTEXT)
    assert answer["value"]["$i"] == "MLContext"


@SIGNALS
@apart
def test_the_end(step: int) -> None:
    """A second call does the rest."""
    for interrupt in signals(FILES, step, 12):
        subject = Session("0123456789abcdef", VISITOR, Options(), lambda _: None)
        with interrupt.armed():
            subject.end()
        subject.end()
        subject._thread.join(PATIENCE)
        assert not subject._thread.is_alive(), interrupt.place
