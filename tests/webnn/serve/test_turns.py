"""Turns of sessions with much use: one at a time, in the order of their requests, and never kept by a session that has ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from tests.support import PATIENCE
from webnn.serve import turns as module
from webnn.serve.turns import Share, Turns


@pytest.fixture
def all_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session has used much."""
    monkeypatch.setattr(module, "_MUCH", -1.0)


async def test_a_session_with_little_use_does_not_wait() -> None:
    turns = Turns()
    await turns.take()
    async with Share(turns).working():
        pass
    turns.give()


async def test_much_use_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    share = Share(Turns())
    share._end(1.0, False)
    assert share._recent() > module._MUCH
    monkeypatch.setattr(module, "_HALF_LIFE", 1e-9)
    assert share._recent() < module._MUCH


@pytest.mark.usefixtures("all_much")
async def test_one_at_a_time_in_order() -> None:
    turns, order, now = Turns(), [], 0

    async def work(number: int) -> None:
        nonlocal now
        async with Share(turns).working() as rest:
            now += 1
            assert now == 1
            order.append(number)
            await asyncio.sleep(0)
            now -= 1
            await rest()

    await asyncio.wait_for(asyncio.gather(*map(work, range(20))), PATIENCE)
    assert order == list(range(20))


@pytest.mark.usefixtures("all_much")
async def test_a_long_body_lets_others_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SLICE", -1.0)
    turns, done = Turns(), []

    async def work(name: str, count: int) -> None:
        async with Share(turns).working() as rest:
            for _ in range(count):
                await asyncio.sleep(0)
                await rest()
        done.append(name)

    await asyncio.wait_for(asyncio.gather(work("long", 1000), work("short", 2)), PATIENCE)
    assert done == ["short", "long"]


@pytest.mark.usefixtures("all_much")
async def test_an_operation_keeps_the_turn_and_does_not_keep_out_its_own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns()
    mine, other = Share(turns), Share(turns)
    operation = asyncio.get_running_loop().create_future()
    async with mine.working():
        mine.follow(operation)
    waiting = asyncio.ensure_future(_enter(other))
    async with mine.working():
        pass
    await asyncio.sleep(0)
    assert not waiting.done()
    operation.set_result(None)
    await asyncio.wait_for(waiting, PATIENCE)
    assert mine._recent() > 0
    # One that never ends keeps it for a while.
    monkeypatch.setattr(module, "_LONGEST", 0.01)
    async with mine.working():
        mine.follow(asyncio.get_running_loop().create_future())
    await asyncio.wait_for(_enter(other), PATIENCE)


@pytest.mark.usefixtures("all_much")
async def test_a_session_that_ends_while_an_operation_keeps_the_turn() -> None:
    turns = Turns()
    mine = Share(turns)
    async with mine.working():
        mine.follow(asyncio.get_running_loop().create_future())
    mine.close()
    mine.close()
    await asyncio.wait_for(_enter(Share(turns)), PATIENCE)


async def _enter(share: Share) -> None:
    async with share.working():
        pass


@pytest.mark.usefixtures("all_much")
@pytest.mark.parametrize("given", [False, True], ids=["waiting", "given"])
async def test_a_session_that_ends_while_it_waits(given: bool) -> None:
    turns = Turns()
    await turns.take()
    waiting = asyncio.ensure_future(_enter(Share(turns)))
    await asyncio.sleep(0)
    if given:
        turns.give()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    if not given:
        turns.give()
    await asyncio.wait_for(_enter(Share(turns)), PATIENCE)


@pytest.mark.usefixtures("all_much")
def test_threads_take_turns() -> None:
    """Each session has a thread and a loop; none is lost, whatever the order of the hand-overs."""
    turns, inside, together = Turns(), threading.Lock(), []

    async def work() -> None:
        share = Share(turns)
        for _ in range(200):
            async with share.working():
                together.append(inside.acquire(blocking=False))
                inside.release()

    run: Callable[[], None] = lambda: asyncio.run(work())  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(together) == 1600
    assert all(together)


async def test_processor_time_is_asked_for_when_it_can_have_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    clock = [0.0]
    watch = SimpleNamespace(thread_time=lambda: asked.append(clock[0]) or 0.0, monotonic=lambda: clock[0])
    monkeypatch.setattr(module, "time", watch)
    async with Share(Turns()).working() as rest:
        for clock[0] in (0.0, module._SLICE / 2, module._SLICE, module._SLICE * 1.5, module._SLICE * 2):
            await rest()
    assert asked == [0.0, module._SLICE, module._SLICE * 2, module._SLICE * 2]
