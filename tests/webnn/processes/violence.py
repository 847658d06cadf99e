"""Replays cases badly, in its own processes: the names of the cases say how."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from webnn.wpt_runner.devices import DeviceType
from webnn.wpt_runner.vectors.batch import Task
from webnn.wpt_runner.vectors.cases import Outcome

__all__ = ["prepare"]


def prepare(deviceType: DeviceType) -> Callable[[Task, Callable[[None], None]], Outcome]:
    if deviceType == "npu":
        raise RuntimeError("cannot begin")
    return work


def work(task: Task, note: Callable[[None], None]) -> Outcome:
    case = task[0]
    if case.name == "dies":
        if sys.platform != "win32":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(9)
    if case.name.startswith("hangs"):
        # Whoever waits for it finds the process by this file.
        if case.level:
            Path(case.level).write_text(str(os.getpid()), encoding="utf-8")
        note(None)
        time.sleep(600)
    if case.name == "raises":
        raise KeyError("nothing")
    return Outcome(case=case)
