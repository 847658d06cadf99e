"""Runs of programs: how many at once, and their end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from webnn.playground.order import Order
from webnn.playground.runs import BusyError, Runs

pytestmark = pytest.mark.processes


async def test_one_at_a_time_and_it_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    runs, began, ended = Runs(600, most=1), tmp_path / "began", tmp_path / "ended"
    source = f"import pathlib, time\npathlib.Path({str(began)!r}).touch()\ntime.sleep(600)\npathlib.Path({str(ended)!r}).touch()\n"
    order = Order(language="python", source=source)
    running = asyncio.create_task(runs.run(order, "run"))
    while not began.exists():
        await asyncio.sleep(0.02)
    with pytest.raises(BusyError):
        await runs.run(order, "run")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert runs.running == 0
    # Its place is free.
    outcome = await runs.run(Order(language="python", source="print(1)"), "run")
    assert (outcome["output"], outcome["error"], ended.exists()) == ("1\n", None, False)
